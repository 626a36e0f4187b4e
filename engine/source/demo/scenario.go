package demo

import (
	"fmt"
	"strings"

	"github.com/informeter/informeter/engine/source"
)

// Scenario is a cluster and what happens in it. It is data: what is there at
// the start, who moves it, and who listens.
type Scenario struct {
	Name string
	// Sentence says what there is to see.
	Sentence string

	// build fills the cluster with what exists before anything happens.
	build func(*world)
	// actors are called once, when the cluster begins to run; each books its
	// first step on the agenda, and from there its next ones.
	actors []func(*world)
	// handlers returns the handlers for a type, by the resource's name.
	handlers func(resource string) []source.Handler
}

// Steady is the scenario that runs if none is named.
const Steady = "steady"

// Scenarios returns every scenario, the default one first.
func Scenarios() []Scenario {
	return []Scenario{
		{
			Name:     Steady,
			Sentence: "a calm cluster: pods come, change and go, and now and then a release makes the audit handler lag",
			build:    buildShop,
			actors:   []func(*world){releases, scaling, batchJobs, podStatus, nodeHeartbeats, otherWrites},
			handlers: steadyHandlers,
		},
	}
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
	return Scenario{}, fmt.Errorf("no scenario is called %q; there is: %s", name, strings.Join(names, ", "))
}
