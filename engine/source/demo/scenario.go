package demo

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/informeter/informeter/engine/source"
)

// Scenario is a cluster and what happens in it. It is data: what is there at
// the start, who moves it, and who listens.
type Scenario struct {
	Name string
	// Sentence says what there is to see among the pods, in one line of the
	// smallest screen.
	Sentence string

	// events is Options.EventsPerSecond where that is 0.
	events int
	// build fills the cluster with what exists before anything happens.
	build func(*world)
	// actors are called once, when the cluster begins to run; each books its
	// first step on the agenda, and from there its next ones.
	actors []func(*world)
	// podHandlers returns the handlers of informers on pods.
	podHandlers func() []source.Handler
}

// The names of the scenarios. Steady is the one that runs if none is named.
const (
	Steady      = "steady"
	SlowHandler = "slow-handler"
	ResyncStorm = "resync-storm"
	Expired     = "expired"
	HotKey      = "hot-key"
	Recreated   = "recreated"
)

// Scenarios returns every scenario, the default one first.
func Scenarios() []Scenario {
	return []Scenario{
		{
			Name:        Steady,
			Sentence:    "a calm cluster; now and then a release makes audit lag for a moment",
			events:      20,
			build:       buildShop,
			actors:      []func(*world){releases, scaling, batchJobs, podStatus, nodeHeartbeats, otherWrites},
			podHandlers: steadyHandlers,
		},
		{
			Name:        SlowHandler,
			Sentence:    "billing-export is slower than the events come: its backlog only grows",
			events:      12,
			build:       buildShop,
			actors:      calm(),
			podHandlers: slowHandlers,
		},
		{
			Name:        ResyncStorm,
			Sentence:    "a round of search-indexer's resync takes longer than its period lasts",
			events:      4,
			build:       buildShop,
			actors:      calm(),
			podHandlers: stormHandlers,
		},
		{
			Name:        Expired,
			Sentence:    "watches end with 410; pods that vanished meanwhile come as tombstones",
			events:      8,
			build:       buildShop,
			actors:      append(calm(), expiries),
			podHandlers: calmHandlers,
		},
		{
			Name:        HotKey,
			Sentence:    "two managers fight over an annotation; another pod changes only in times",
			events:      6,
			build:       buildShop,
			actors:      append(calm(), fight, idleProbes),
			podHandlers: calmHandlers,
		},
		{
			Name:        Recreated,
			Sentence:    "pods come back under their old name: one update from one UID to another",
			events:      8,
			build:       buildStateful,
			actors:      []func(*world){recreations, podStatus, nodeHeartbeats, otherWrites},
			podHandlers: calmHandlers,
		},
	}
}

// calm is who moves a cluster in which nothing big happens.
func calm() []func(*world) {
	return []func(*world){scaling, batchJobs, podStatus, nodeHeartbeats, otherWrites}
}

// findScenario returns the scenario of that name; empty is the default.
func findScenario(name string) (Scenario, error) {
	known := Scenarios()
	if name == "" {
		return known[0], nil
	}
	names := make([]string, len(known))
	for i, s := range known {
		if s.Name == name {
			return s, nil
		}
		names[i] = s.Name
	}
	meant := ""
	for _, n := range names {
		if _, alike := slip(strings.ToLower(name), n); alike {
			meant = "did you mean " + n + "? There"
			break
		}
	}
	return Scenario{}, fmt.Errorf("no scenario is called %q; %s are %s", name, cmp.Or(meant, "there"), strings.Join(names, ", "))
}
