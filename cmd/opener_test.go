package cmd

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/spf13/cobra"
	"k8s.io/klog/v2"

	"github.com/informeter/informeter/engine/inspect"
	"github.com/informeter/informeter/tui"
)

// flagsOf returns the source flags of a command line.
func flagsOf(t *testing.T, args ...string) (*sourceFlags, []string) {
	t.Helper()
	f, c := newSourceFlags(), &cobra.Command{}
	f.add(c)
	if err := c.ParseFlags(args); err != nil {
		t.Fatal(err)
	}
	return f, c.Flags().Args()
}

// written writes flags and arguments as a command line.
func written(f *sourceFlags, args []string) string {
	out := slices.Clone(args)
	for _, name := range []string{
		"context", "cluster", "user", "as-group", "namespace", "all-namespaces", "selector", "field-selector", "projection", "demo", "queue",
	} {
		if flag := f.set.Lookup(name); flag.Changed {
			out = append(out, "--"+name+"="+flag.Value.String())
		}
	}
	return strings.Join(out, " ")
}

func TestWishesChangeOnlyWhatTheyName(t *testing.T) {
	for _, c := range []struct {
		before string
		wish   tui.Target
		want   string
	}{
		{"pods -n web -l a=b", tui.Target{Resources: []string{"svc"}}, "svc --namespace=web"},
		{"pods -n web -l a=b --queue inorder", tui.Target{Namespace: "db"}, "pods --namespace=db --selector=a=b --queue=inorder"},
		{"pods -A", tui.Target{Namespace: "db"}, "pods --namespace=db"},
		{"pods -n db", tui.Target{AllNamespaces: true}, "pods --all-namespaces=true"},
		{"pods -n db", tui.Target{Resources: []string{"svc", "po"}, Labels: "c", Fields: "d=e"}, "svc po --namespace=db --selector=c --field-selector=d=e"},
		{"pods --context a --user u --cluster c -n web", tui.Target{Context: "b"}, "pods --context=b"},
		{"pods --context a --as-group x --as-group y -A", tui.Target{Context: "b", Namespace: "n"}, "pods --context=b --as-group=[x,y] --namespace=n"},
		{"--demo=steady pods", tui.Target{Context: "b"}, "pods --context=b"},
		{"--context a widgets", tui.Target{Scenario: tui.DefaultScenario}, "--demo=steady"},
		{"--demo=steady nodes", tui.Target{Scenario: "expired"}, "nodes --demo=expired"},
		{"--demo=steady -n web nodes", tui.Target{Scenario: "expired"}, "nodes --demo=expired"},
		{"--context a widgets -n web --projection metadata", tui.Target{Scenario: "expired"}, "--demo=expired"},
	} {
		f, args := flagsOf(t, strings.Fields(c.before)...)
		next, args, err := f.changed(args, c.wish)
		if err != nil {
			t.Errorf("%s, then %v: %v", c.before, c.wish, err)
			continue
		}
		if got := written(next, args); got != c.want {
			t.Errorf("%s, then %v: %q, want %q", c.before, c.wish, got, c.want)
		}
	}
}

func TestIndicesGivenAtTheStartSurviveEveryWish(t *testing.T) {
	f, args := flagsOf(t, "--demo=steady", "--index", "zone=label:a,b", "--index", "node={.spec.nodeName}", "pods")
	for _, wish := range []tui.Target{
		{Scenario: "expired"}, {Namespace: "checkout"}, {Scenario: "slow-handler"}, {Resources: []string{"nodes"}}, {AllNamespaces: true},
	} {
		var err error
		if f, args, err = f.changed(args, wish); err != nil {
			t.Fatal(err)
		}
		want := []inspect.IndexSpec{{Name: "zone", Expr: "label:a,b"}, {Name: "node", Expr: "{.spec.nodeName}"}}
		if got := f.settings().indices; !slices.Equal(got, want) {
			t.Errorf("after %v: %v, want %v", wish, got, want)
		}
	}
}

func TestTheOpenerStartsOneAndStopsTheOther(t *testing.T) {
	isolate(t)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	f, args := flagsOf(t, "--demo")
	o := newSwitcher(ctx, f, args, io.Discard)
	defer o.stop()
	what, err := f.open(ctx, args, false, io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	pods, err := o.start(what, f)
	if err != nil {
		t.Fatal(err)
	}
	state := func(opened tui.Opened) string {
		all, err := opened.Process.Informers(ctx)
		if err != nil || len(all) != 1 {
			t.Fatalf("informers %v, %v", all, err)
		}
		return all[0].Name + " " + string(all[0].State)
	}
	// What can't be opened changes nothing.
	if _, err := o.Open(ctx, tui.Target{Resources: []string{"puase"}}); err == nil {
		t.Error("opened a resource that is not there")
	}
	if _, err := o.Open(ctx, tui.Target{Context: "nowhere"}); err == nil {
		t.Error("opened a context that is not there")
	}
	nodes, err := o.Open(ctx, tui.Target{Resources: []string{"nodes"}})
	if err != nil {
		t.Fatal(err)
	}
	waitFor(t, func() bool { return state(nodes) == "nodes "+string(inspect.StateRunning) })
	waitFor(t, func() bool { return state(pods) == "pods "+string(inspect.StateRunning) })
	pods.Close()
	pods.Close() // again is no harm
	if got := state(pods); got != "pods "+string(inspect.StateStopped) {
		t.Errorf("after it was closed: %s", got)
	}
	names, err := o.Names(ctx, tui.NamesOfResources)
	if err != nil || !slices.Contains(names, "pods") {
		t.Errorf("resources %v, %v", names, err)
	}
	names, err = o.Names(ctx, tui.NamesOfScenarios)
	if err != nil || !slices.Contains(names, "steady") {
		t.Errorf("scenarios %v, %v", names, err)
	}
	shop, err := o.Open(ctx, tui.Target{Resources: []string{"pods"}})
	if err != nil {
		t.Fatal(err)
	}
	waitFor(t, func() bool {
		names, err := o.Names(ctx, tui.NamesOfNamespaces)
		return err == nil && slices.Contains(names, "checkout") && slices.IsSorted(names)
	})
	shop.Close()
	o.stop()
	if got := state(nodes); got != "nodes "+string(inspect.StateStopped) {
		t.Errorf("after everything was stopped: %s", got)
	}
	if _, err := o.Open(ctx, tui.Target{Resources: []string{"pods"}}); err == nil {
		t.Error("opened something after the end")
	}
}

func waitFor(t *testing.T, done func() bool) {
	t.Helper()
	for deadline := time.Now().Add(10 * time.Second); !done(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("waited 10 seconds")
		}
	}
}

func TestTheLogKeepsTheNewestLines(t *testing.T) {
	ring := &logRing{}
	_, stop, err := startShownLog("", ring)
	if err != nil {
		t.Fatal(err)
	}
	defer stop()
	klog.Background().WithValues("who", "me").WithName("x").Error(fmt.Errorf("a reason"), "It failed", "key", "value")
	slog.New(ringHandler{ring: ring}).WithGroup("g").With("a", 1).Warn("Careful", "b", 2)
	lines, forgotten := ring.Lines()
	if len(lines) != 2 || forgotten != 0 {
		t.Fatalf("kept %q, forgot %d", lines, forgotten)
	}
	for i, want := range [][]string{{" E It failed", "who=me", "err=a reason", "key=value"}, {" W Careful  g.a=1  g.b=2"}} {
		for _, w := range want {
			if !strings.Contains(lines[i], w) {
				t.Errorf("%q does not say %q", lines[i], w)
			}
		}
	}
	for i := range linesLogged + 5 {
		fmt.Fprintf(ring, "line %d\n", i)
	}
	ring.add(strings.Repeat("é", lineBytes))
	lines, forgotten = ring.Lines()
	if len(lines) != linesLogged || forgotten != 8 || lines[0] != "line 6" {
		t.Errorf("kept %d from %q on, forgot %d", len(lines), lines[0], forgotten)
	}
	if last := lines[len(lines)-1]; len(last) > lineBytes+4 {
		t.Errorf("the longest line has %d bytes", len(last))
	}
}

func TestCommandLinesAreKeptFromRunToRun(t *testing.T) {
	isolate(t)
	h := newLineHistory()
	if got := h.read(); got != nil {
		t.Errorf("at first %q", got)
	}
	h.add("pause")
	h.add("index add a=b")
	if got := newLineHistory().read(); !slices.Equal(got, []string{"pause", "index add a=b"}) {
		t.Errorf("read %q", got)
	}
	info, err := os.Stat(h.file)
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("its mode is %v, %v", info, err)
	}
	for i := range 2*linesRemembered + 1 {
		h.add(fmt.Sprint(i))
	}
	newLineHistory().read()
	if got := newLineHistory().read(); len(got) != linesRemembered || got[len(got)-1] != fmt.Sprint(2*linesRemembered) {
		t.Errorf("%d lines are kept", len(got))
	}
	// A file that can't be written is no reason to stop.
	lineHistory{filepath.Join(h.file, "below", "a file")}.add("x")
	lineHistory{}.add("x")
}
