// Package e2e tests the program informeter against a real API server: what it
// prints, what is on its screen, and how it ends.
//
//	go test ./...            both servers, the program, the engine in process
//	go test -race ./...      ... and the program built with the race detector
//
// The folders:
//
//   - testcluster runs etcd and kube-apiserver,
//   - servers is the module that says which ones,
//   - terminal runs a program, reads its screen and mistreats it,
//   - load makes pods that look real, and changes them,
//   - inprocess tests the engine inside the test, beside a fresh LIST,
//   - cmd/cluster, cmd/load and cmd/compare are for people.
//
// Tests here wait for another process, so they poll with a deadline; the
// deadlines are generous and say nothing about speed.
package e2e
