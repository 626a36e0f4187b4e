package e2e_test

import (
	"regexp"
	"strings"
	"testing"

	"github.com/informeter/informeter/e2e/terminal"
)

// TestWalks answers questions as a user would: on the simulated cluster, by keys
// alone. go test -v prints what was on the screen at every stop.
func TestWalks(t *testing.T) {
	p := build(t)
	for _, w := range []struct {
		name, scenario string
		walk           func(*walk)
	}{
		{"which handler is slow, and why", "slow-handler", slowestHandler},
		{"why is this key hot", "hot-key", hotKey},
		{"how does one pod get through the pipeline", "steady", onePod},
		{"which pods belong to that app", "steady", newIndex},
	} {
		t.Run(w.name, func(t *testing.T) {
			cmd := p.command(t, "", "--demo="+w.scenario)
			cmd.Args = cmd.Args[:2] // no kubeconfig
			term, err := terminal.Start(cmd, 130, 36)
			if err != nil {
				t.Fatal(err)
			}
			walk := &walk{t: t, term: term}
			defer walk.end()
			walk.see("the first screen", "Pipeline", "watching")
			w.walk(walk)
			walk.press("quit", "\x03")
		})
	}
}

func slowestHandler(w *walk) {
	w.see("a handler that falls behind", "▸ billing-export", "at this rate never")
	w.press("Findings", "8")
	w.see("the rule, the handler and the next step", "growing-backlog", "billing-export", "next  Do less in the handler")
	w.press("where it is", "\r")
	w.see("the handler among the others", "› Handlers", "▸ billing-export", "drain:")
	w.press("the furthest behind first", ":sort behind\r", "g")
	w.see("the slowest handler on top", "▸ billing-export")
}

func hotKey(w *walk) {
	w.press("the store, by rate", "3", ":sort rate\r", "g")
	w.see("a pod that changes all the time", "▸ checkout/payments-")
	w.press("its biography", "b")
	w.see("two writers taking turns on one annotation", "cost-optimizer", "backup-operator", ".metadata.annotations[")
	w.press("what one of them changed", "\r")
	w.see("the value before and after", "› Diff", "safe-to-evict")
	w.press("Findings", "8")
	w.see("the fight by its rule", "hot-key", "cost-optimizer")
}

// firstKey is the key of the selected row.
var firstKey = regexp.MustCompile(`▸ ([a-z0-9-]+/[a-z0-9-]+)`)

func onePod(w *walk) {
	w.press("the queue, and its gate closed", "2", " ")
	w.see("a key that waits", "PAUSED", "▸ ")
	key := w.match(firstKey)
	w.press("let what waits for it through", "s")
	w.press("all of it, and what comes after", " ")
	w.see("the gate open", "nothing waits")
	w.press("find it in the store", "3", "/"+key+"\r", "g")
	w.see("the one pod", "1 of 1", "▸ "+key)
	w.press("its biography", "b")
	w.see("how long its delta waited, and who got it when", key, "waited", "deployment-controller", "audit")
}

func newIndex(w *walk) {
	w.press("an index by label", ":index add app=label:app\r")
	w.press("Indices", "4", "g")
	w.see("the new index and its buckets", "▸ app", "made of  label:app", "web")
	w.press("its buckets", "\r")
	w.see("a bucket", "▸ web")
	w.press("the pods in it", "\r")
	w.see("pods of that app only", "app › web", "▸ storefront/web-")
	w.press("one of them", "\r")
	w.see("the pod", "kind: Pod", "app: web")
}

// walk is a user at a terminal.
type walk struct {
	t    *testing.T
	term *terminal.Terminal
}

// press types keys, one after the other.
func (w *walk) press(what string, keys ...string) {
	w.t.Helper()
	w.t.Logf("%s: %q", what, keys)
	for _, k := range keys {
		if err := w.term.Send(k); err != nil {
			w.t.Fatal(err)
		}
	}
}

// see waits until all of the texts are on the screen.
func (w *walk) see(what string, texts ...string) {
	w.t.Helper()
	if err := w.term.WaitFor(what, func(screen string) bool {
		for _, text := range texts {
			if !strings.Contains(screen, text) {
				return false
			}
		}
		return true
	}, patience); err != nil {
		w.t.Fatalf("%v\nwanted %q", err, texts)
	}
	w.t.Logf("%s:\n%s", what, w.term.Screen())
}

// match waits for the expression and returns what its first group matched.
func (w *walk) match(expr *regexp.Regexp) (found string) {
	w.t.Helper()
	if err := w.term.WaitFor(expr.String(), func(screen string) bool {
		m := expr.FindStringSubmatch(screen)
		if m != nil {
			found = m[1]
		}
		return m != nil
	}, patience); err != nil {
		w.t.Fatal(err)
	}
	return found
}

// end waits for the program to end by itself and gives its terminal back.
func (w *walk) end() {
	if !w.t.Failed() {
		if code, err := w.term.Wait(patience); err != nil || code != 0 {
			w.t.Errorf("exit code %d, %v", code, err)
		} else if err := w.term.Restored(); err != nil {
			w.t.Error(err)
		}
	}
	if err := w.term.Close(); err != nil && !w.t.Failed() {
		w.t.Error(err)
	}
}
