package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

const (
	module = "github.com/informeter/informeter"
	charm  = "charm.land/"
	cel    = "cel.dev/"
)

// mayImport says which of the module's own packages a package may import, by
// path below the module. A package that is not listed may import none, so a new
// room has to be let in here.
var mayImport = map[string][]string{
	"":                      {"cmd"},
	"cmd":                   {"tui", "engine", "engine/expr", "engine/findings", "engine/inspect", "engine/source", "engine/source/cluster", "engine/source/demo"},
	"tui":                   {"engine/findings", "engine/inspect"},
	"engine":                {"engine/reflector", "engine/deltafifo", "engine/store", "engine/processor", "engine/journal", "engine/tap", "engine/inspect"},
	"engine/reflector":      {"engine/tap", "engine/inspect"},
	"engine/deltafifo":      {"engine/tap", "engine/inspect"},
	"engine/store":          {"engine/tap", "engine/inspect"},
	"engine/processor":      {"engine/tap", "engine/inspect"},
	"engine/journal":        {"engine/tap", "engine/inspect"},
	"engine/tap":            {"engine/inspect"},
	"engine/inspect":        {},
	"engine/findings":       {"engine/inspect"},
	"engine/expr":           {},
	"engine/source":         {},
	"engine/source/cluster": {"engine/source"},
	"engine/source/demo":    {"engine/source"},
}

// mayImportOthers says which other modules a package may import, as prefixes,
// where that is limited.
var mayImportOthers = map[string][]string{
	"":                 {},
	"engine":           {"k8s.io/client-go/tools/cache", "k8s.io/apimachinery/", "k8s.io/klog/"},
	"engine/reflector": {"k8s.io/client-go/tools/cache", "k8s.io/client-go/tools/pager", "k8s.io/client-go/features", "k8s.io/client-go/util/watchlist", "k8s.io/apimachinery/", "k8s.io/klog/"},
	"engine/deltafifo": {"k8s.io/client-go/tools/cache", "k8s.io/apimachinery/"},
	"engine/store":     {"k8s.io/client-go/tools/cache", "k8s.io/client-go/features", "k8s.io/apimachinery/"},
	"engine/processor": {"k8s.io/client-go/tools/cache", "k8s.io/apimachinery/", "k8s.io/klog/"},
	"engine/journal":   {"k8s.io/apimachinery/", "github.com/tidwall/btree"},
	"engine/expr":      {"k8s.io/client-go/tools/cache", "k8s.io/client-go/util/jsonpath", "k8s.io/apimachinery/", cel},
	"engine/tap":       {},
	"engine/inspect":   {},
	"engine/findings":  {},
}

// onlyStandard are the packages whose whole dependency tree is the standard
// library and each other.
var onlyStandard = []string{"engine/inspect", "engine/tap", "engine/findings"}

type listedPackage struct {
	ImportPath string
	Imports    []string
	Deps       []string
	Standard   bool
}

func TestImportsPointInOneDirection(t *testing.T) {
	for _, err := range checkImports(goList(t, "./...")) {
		t.Error(err)
	}
}

func TestTheReadModelNeedsOnlyTheStandardLibrary(t *testing.T) {
	for _, path := range onlyStandard {
		for _, p := range goList(t, "-deps", "./"+path) {
			own := strings.TrimPrefix(p.ImportPath, module+"/")
			if !p.Standard && !slices.Contains(onlyStandard, own) {
				t.Errorf("%s depends on %s, which is not in the standard library", path, p.ImportPath)
			}
		}
	}
}

// TestWhoEmbedsTheEngineLinksNoCEL: only who asks for expressions pays for them.
func TestWhoEmbedsTheEngineLinksNoCEL(t *testing.T) {
	for path, want := range map[string]bool{"engine": false, "engine/expr": true} {
		linked := false
		for _, p := range goList(t, "-deps", "./"+path) {
			linked = linked || strings.HasPrefix(p.ImportPath, cel)
		}
		if linked != want {
			t.Errorf("%s links CEL: %v, want %v", path, linked, want)
		}
	}
}

// TestTheImportTestSeesAnImportTurnedRound turns imports round, and adds ones
// that are not allowed, to see that the check above can fail.
func TestTheImportTestSeesAnImportTurnedRound(t *testing.T) {
	for _, c := range []struct{ from, to string }{
		{"engine/inspect", module + "/engine"},
		{"engine/store", module + "/engine/deltafifo"},
		{"engine/tap", "k8s.io/client-go/tools/cache"},
		{"engine", module + "/tui"},
		{"engine", charm + "bubbletea/v2"},
		{"cmd", charm + "bubbletea/v2"},
		{"cmd", cel + "cel-go/cel"},
		{"engine/source", cel + "cel-go/cel"},
		{"tui", module + "/engine"},
		{"newroom", module + "/engine"},
	} {
		packages := []listedPackage{{ImportPath: module + "/" + c.from, Imports: []string{"fmt", c.to}}}
		if errs := checkImports(packages); len(errs) != 1 {
			t.Errorf("%s importing %s: %v, want one error", c.from, c.to, errs)
		}
	}
}

// checkImports returns an error for each direct import that is not allowed.
func checkImports(packages []listedPackage) []error {
	var errs []error
	for _, p := range packages {
		from := strings.TrimPrefix(strings.TrimPrefix(p.ImportPath, module), "/")
		for _, to := range p.Imports {
			if !allowed(from, to) {
				errs = append(errs, fmt.Errorf("%s must not import %s", p.ImportPath, to))
			}
		}
	}
	return errs
}

func allowed(from, to string) bool {
	if own, ok := strings.CutPrefix(to, module+"/"); ok {
		return slices.Contains(mayImport[from], own)
	}
	if strings.HasPrefix(to, charm) && from != "tui" || strings.HasPrefix(to, cel) && from != "engine/expr" {
		return false
	}
	others, limited := mayImportOthers[from]
	if !limited || !strings.Contains(strings.Split(to, "/")[0], ".") {
		return true
	}
	return slices.ContainsFunc(others, func(prefix string) bool { return strings.HasPrefix(to, prefix) })
}

func goList(t *testing.T, args ...string) []listedPackage {
	t.Helper()
	command := exec.Command("go", append([]string{"list", "-json=ImportPath,Imports,Deps,Standard"}, args...)...)
	var stderr bytes.Buffer
	command.Stderr = &stderr
	out, err := command.Output()
	if err != nil {
		t.Fatalf("go list: %v\n%s", err, &stderr)
	}
	var packages []listedPackage
	decoder := json.NewDecoder(bytes.NewReader(out))
	for {
		var p listedPackage
		if err := decoder.Decode(&p); errors.Is(err, io.EOF) {
			return packages
		} else if err != nil {
			t.Fatalf("read go list's answer: %v", err)
		}
		packages = append(packages, p)
	}
}
