package findings

import (
	"testing"

	"github.com/informeter/informeter/engine/inspect"
)

func TestWhatIsUnsettled(t *testing.T) {
	synced := inspect.Summary{Name: "nodes", State: inspect.StateRunning, Phase: inspect.PhaseWatching, Synced: true}
	waits := inspect.Summary{Name: "pods", State: inspect.StateRunning, Phase: inspect.PhaseBackingOff, Error: "list *v1.Pod: Get \"http://h/api?watch=true\": connection\x1b refused\nmore"}
	stopped := inspect.Summary{Name: "old", State: inspect.StateStopped}
	for want, all := range map[string][]inspect.Summary{
		"": {synced, stopped},
		"pods is not synced, backing off: list: connection refused": {synced, waits},
		"pods is not synced, backing off: list: connection refused; a is not synced, listing; b is not synced, listing; and 1 more": {
			waits, listing("a"), listing("b"), listing("c"),
		},
	} {
		if got := Unsettled(all); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

func listing(name string) inspect.Summary {
	return inspect.Summary{Name: name, State: inspect.StateRunning, Phase: inspect.PhaseListing}
}
