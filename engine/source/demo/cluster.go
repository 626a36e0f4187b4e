package demo

import (
	"context"
	"math/rand/v2"
	"time"

	"github.com/informeter/informeter/engine/source"
)

// Options say which cluster to simulate. The zero value is the calm default.
type Options struct {
	// Scenario names one of Scenarios; empty is Steady.
	Scenario string
	// Seed makes the history: names, UIDs, resource versions and what happens
	// when. Two clusters with the same Options live the same life.
	Seed uint64

	// Namespace is what Sources uses when it is asked for none; empty is all.
	Namespace string
	// LabelSelector and FieldSelector narrow every source.
	LabelSelector, FieldSelector string

	// Pods is about how many pods there are at the start; 0 is 180. The number
	// of nodes, deployments and namespaces follows.
	Pods int
	// EventsPerSecond is about how many pod events there are; 0 is what suits the
	// scenario, 20 in Steady.
	EventsPerSecond int

	// History is how many writes to each type are remembered: a watch or a
	// continue token from before is answered with 410. 0 is 75 seconds' worth,
	// at least 1,000.
	History int
	// Latency is how long the server takes to answer a request; 0 is 15 ms, a
	// negative one is none.
	Latency time.Duration
	// BookmarkPeriod is how often a watch gets a bookmark; 0 is a minute.
	BookmarkPeriod time.Duration
}

func (o Options) withDefaults(s Scenario) Options {
	if o.Pods <= 0 {
		o.Pods = 180
	}
	if o.EventsPerSecond <= 0 {
		o.EventsPerSecond = s.events
	}
	if o.History <= 0 {
		o.History = max(1000, 75*o.EventsPerSecond)
	}
	if o.Latency == 0 {
		o.Latency = 15 * time.Millisecond
	}
	if o.BookmarkPeriod <= 0 {
		o.BookmarkPeriod = time.Minute
	}
	return o
}

// Cluster is a simulated cluster. Its server answers from New on; Run makes
// things happen. Safe for concurrent use.
type Cluster struct {
	options  Options
	scenario Scenario
	server   *server
	// world belongs to New, and then to Run.
	world *world
}

// New builds a cluster. An unknown scenario is an error that names the known
// ones.
func New(o Options) (*Cluster, error) {
	scenario, err := findScenario(o.Scenario)
	if err != nil {
		return nil, err
	}
	o = o.withDefaults(scenario)
	// Two sources so that seeds that follow each other have nothing in common.
	random := rand.New(rand.NewPCG(o.Seed, 0x9e3779b97f4a7c15))
	s := newServer(limits{
		history: o.History,
		// About one second of writes, and never more than is remembered.
		buffer:    min(o.History, max(1000, o.EventsPerSecond)),
		latency:   o.Latency,
		bookmarks: o.BookmarkPeriod,
	}, 40_000+random.Uint64N(20_000))
	w := &world{server: s, options: o, random: random}
	scenario.build(w)
	// What was there before the beginning has no history.
	for _, r := range resources() {
		s.compact(r.name())
	}
	for _, actor := range scenario.actors {
		actor(w)
	}
	return &Cluster{options: o, scenario: scenario, server: s, world: w}, nil
}

// Run moves the workload until the context ends, then ends every watch and
// refuses further requests. When it returns no goroutine of the cluster is left.
// A cluster runs once.
func (c *Cluster) Run(ctx context.Context) {
	defer c.server.shutDown()
	c.world.run(ctx)
}

// Sentence says what there is to see among the cluster's pods.
func (c *Cluster) Sentence() string { return c.scenario.Sentence }

// handlers returns the scenario's handlers for a type.
func (c *Cluster) handlers(resource string) []source.Handler {
	if resource != pods {
		return nil
	}
	return c.scenario.podHandlers()
}
