PODS ?= 10000
RATE ?= 50
ROUNDS ?= 9

.PHONY: run test portable bench lint cluster load install

run: ; go run . $(ARGS)

test: ; go test -race ./... && cd e2e && go test -count=1 -timeout 30m ./...

# Where int has 32 bits and where there are no unix signals. The tests themselves
# run where the kernel takes 32-bit programs.
portable: ; GOOS=windows go vet ./... && GOOS=darwin go vet ./... && GOARCH=386 CGO_ENABLED=0 go test ./engine/...

# What the project promises of its speed, beside client-go in one run. The
# other benchmarks: go test -run '^$$' -bench . -benchmem ./...
bench: ; go test -run '^$$' -bench Budgets -benchtime $(ROUNDS)x -timeout 30m ./engine

lint: ; sh .ci/lint

cluster: ; cd e2e && go run ./cmd/cluster

load: ; cd e2e && go run ./cmd/load --pods $(PODS) --rate $(RATE)

# Beside the binary: the names by which kubectl finds it as a plugin, and the
# script that completes the plugin's arguments.
BIN = $(or $(shell go env GOBIN),$(shell go env GOPATH)/bin)
install:
	go install .
	ln -sf informeter $(BIN)/kubectl-informeter
	printf '#!/bin/sh\nexec kubectl-informeter __complete "$$@"\n' > $(BIN)/kubectl_complete-informeter
	chmod +x $(BIN)/kubectl_complete-informeter
