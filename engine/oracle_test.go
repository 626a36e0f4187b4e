package engine

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	clientfeatures "k8s.io/client-go/features"
	featuretesting "k8s.io/client-go/features/testing"
	"k8s.io/client-go/tools/cache"
	"pgregory.net/rapid"
)

// The whole informer against client-go's: both run on one fake server, through
// the same random script, and are compared.
//
// Where every step is given time to settle, both must tell every handler the
// same about each key, in the same order. (Across keys nothing is promised: the
// fake server lists in random order.) Where steps follow each other without a
// pause, what intermediate states a handler sees depends on timing; then the
// final caches must be equal, and what each handler was told must be legal: see
// checkLegal.
//
// Allowed differences, besides the moments of relists, which both jitter:
//
//	A queue that keeps every event may tell a handler of the deletion of an
//	object that it never told it of: one that came unseen is first seen as it
//	goes. A DeltaFIFO drops a deletion of what nobody knows.

// match runs a script on both.
func (c check) match(script []oracleStep, o Options) error {
	s := newServer()
	defer s.Shutdown()
	o.Indexers = cache.Indexers{"app": byApp}
	settled := c.settled
	ours := &contestant{server: &faulty{server: s, streams: c.streams}, varying: c.varying}
	theirs := &contestant{server: &faulty{server: s, streams: c.streams}, varying: c.varying}
	ours.informer = New(ours.server, &corev1.Pod{}, o)
	theirs.informer = cache.NewSharedIndexInformer(theirs.server, &corev1.Pod{}, o.Resync, cache.Indexers{"app": byApp})
	transform, both := c.transform, []*contestant{ours, theirs}
	for _, c := range both {
		if err := c.informer.SetTransform(transform); err != nil {
			return err
		}
		if err := c.join(); err != nil {
			return err
		}
		defer run(c.informer)()
	}
	settle(settled)
	if settled {
		time.Sleep(20 * time.Second) // so that no step ends where a round is under way
	}
	exists := map[string]bool{}
	for n, step := range script {
		if err := play(s, both, step, n, exists); err != nil {
			return fmt.Errorf("step %d %v: %w", n, step, err)
		}
		settle(settled)
		if settled {
			if err := sameStories(ours, theirs); err != nil {
				return fmt.Errorf("after step %d %v: %w", n, step, err)
			}
		}
	}
	// What was not seen becomes so by a relist, at the latest now: both are
	// watching by then, so that it reaches both.
	settle(true)
	s.expire()
	settle(true)
	for _, c := range both {
		if err := checkLegal(c, settled); err != nil {
			return err
		}
	}
	return sameCaches(ours.informer.GetIndexer(), theirs.informer.GetIndexer())
}

// unhardened switches off what the informer does beyond client-go.
var unhardened = Hardening{WatchSpacing: -1, EndMarkerDeadline: -1, WatchGrace: -1, DisableSteadyResync: true}

// check is what one run of the oracle is about.
type check struct {
	settled bool
	ops     []string
	options Options
	resyncs []time.Duration // drawn from
	// transform may be nil.
	transform cache.TransformFunc
	varying   varying
	streams   bool // the server answers a WatchList
}

func (c check) run(t *testing.T) { rapid.Check(t, c.property(t)) }

// fuzz lets the fuzzer choose the scripts.
func (c check) fuzz(f *testing.F) {
	f.Fuzz(func(t *testing.T, input []byte) { rapid.MakeFuzz(c.property(t))(t, input) })
}

// property draws a script first, then runs it in a bubble of t.
func (c check) property(t *testing.T) func(*rapid.T) {
	return func(rt *rapid.T) {
		script := drawScript(rt, c.ops)
		o := c.options
		o.Resync = rapid.SampledFrom(append([]time.Duration{0}, c.resyncs...)).Draw(rt, "resync")
		var err error
		synctest.Test(t, func(*testing.T) { err = c.match(script, o) })
		if err != nil {
			rt.Fatal(err)
		}
	}
}

// unlikeDeltaFIFO: a DeltaFIFO does not tell the deletion of what came and went
// before it was handled or listed, which stock's queue tells.
var unlikeDeltaFIFO = map[Queue]varying{DeltaFIFO: {strangers: true}}

func TestHandlersAreToldWhatClientGoTellsThem(t *testing.T) {
	for _, queue := range []Queue{DeltaFIFO, InOrder} {
		t.Run(queue.String(), func(t *testing.T) {
			check{settled: true, ops: oracleOps, options: Options{Queue: queue, Hardening: unhardened}, varying: unlikeDeltaFIFO[queue]}.run(t)
		})
	}
}

func TestHandlersAreToldWhatClientGoTellsThemWhenTheServerFails(t *testing.T) {
	for _, queue := range []Queue{DeltaFIFO, InOrder} {
		t.Run(queue.String(), func(t *testing.T) {
			check{
				settled: true, ops: slices.Concat(oracleOps, oracleFaults),
				options: Options{Queue: queue, Hardening: unhardened}, varying: unlikeDeltaFIFO[queue],
			}.run(t)
		})
	}
}

func TestHandlersAreToldWhatClientGoToldThemWithADeltaFIFO(t *testing.T) {
	featuretesting.SetFeatureDuringTest(t, clientfeatures.InOrderInformers, false)
	check{settled: true, ops: slices.Concat(oracleOps, oracleFaults), options: Options{Hardening: unhardened}}.run(t)
}

// TestAStrictInformerIsClientGos: in everything that handlers are told and how
// often, slow handlers and resync rounds included. Rounds are compared where no
// watch ends: the next one begins after a jittered pause, and its timer with it.
func TestAStrictInformerIsClientGos(t *testing.T) {
	ops := slices.Concat(oracleOps, []string{"join slow", "join resync", "join resync"})
	steady := slices.DeleteFunc(slices.Clone(ops), func(op string) bool { return op == "cut" || op == "pass" })
	resyncs := []time.Duration{time.Minute, 2 * time.Minute}
	for name, c := range map[string]check{
		"listing":                 {ops: ops},
		"streaming":               {ops: ops, streams: true},
		"listing with resyncs":    {ops: steady, resyncs: resyncs},
		"streaming with resyncs":  {ops: steady, resyncs: resyncs, streams: true},
		"listing with failures":   {ops: slices.Concat(ops, oracleFaults)},
		"streaming with failures": {ops: slices.Concat(ops, oracleFaults), streams: true},
	} {
		t.Run(name, func(t *testing.T) {
			c.settled, c.options = true, Options{Strict: true}
			c.run(t)
		})
	}
}

// TestATransformThatFailsCostsWhatItCostsWithClientGo: by a watch the object. By
// a list the whole list with an InOrder queue, with a DeltaFIFO what comes after
// it, so each is compared with its like.
func TestATransformThatFailsCostsWhatItCostsWithClientGo(t *testing.T) {
	stock := unhardened
	stock.DisableQuarantine = true
	for _, queue := range []Queue{DeltaFIFO, InOrder} {
		t.Run(queue.String(), func(t *testing.T) {
			featuretesting.SetFeatureDuringTest(t, clientfeatures.InOrderInformers, queue == InOrder)
			check{
				settled: true, ops: slices.Concat(oracleOps, oracleFaults),
				options:   Options{Queue: queue, Hardening: stock},
				transform: refuseD,
				// A refused list is tried again until jitter lets the time run out,
				// and each time its beginning is told.
				varying: varying{repeats: true},
			}.run(t)
		})
	}
}

// refuseD is a transform that cannot do with every third version of object d.
func refuseD(obj any) (any, error) {
	p, ok := obj.(*corev1.Pod)
	if ok && p.Name == "d" && p.Labels["app"] == "0" {
		return nil, errors.New("cannot do with it")
	}
	return obj, nil
}

func FuzzHandlersAreToldWhatClientGoTellsThem(f *testing.F) {
	check{settled: true, ops: slices.Concat(oracleOps, oracleFaults), options: Options{Queue: InOrder, Hardening: unhardened}}.fuzz(f)
}

func FuzzCachesEndUpAsClientGosDo(f *testing.F) {
	check{
		ops: slices.Concat(oracleOps, oracleFaults), options: Options{Hardening: unhardened},
		resyncs: []time.Duration{time.Second, time.Minute},
	}.fuzz(f)
}

func TestCachesEndUpAsClientGosDo(t *testing.T) {
	for _, queue := range []Queue{DeltaFIFO, InOrder} {
		for name, hardening := range map[string]Hardening{"hardened": {}, "unhardened": unhardened} {
			t.Run(queue.String()+"/"+name, func(t *testing.T) {
				check{
					ops: slices.Concat(oracleOps, oracleFaults), options: Options{Queue: queue, Hardening: hardening},
					resyncs: []time.Duration{time.Second, time.Minute},
				}.run(t)
			})
		}
	}
}

func TestTheOracleSeesADifference(t *testing.T) {
	ours, theirs := cache.NewIndexer(cache.MetaNamespaceKeyFunc, cache.Indexers{"app": byApp}), cache.NewIndexer(cache.MetaNamespaceKeyFunc, cache.Indexers{"app": byApp})
	if err := ours.Add(pod("ghost")); err != nil {
		t.Fatal(err)
	}
	if sameCaches(ours, theirs) == nil {
		t.Error("a ghost in the cache is not seen")
	}
	told := func(lines ...string) *contestant {
		return &contestant{handlers: []*recorder{{told: lines}}, known: []map[string]bool{{}}}
	}
	if sameStories(told("add a@1", "update a@1 to a@2"), told("add a@1")) == nil {
		t.Error("an update too many is not seen")
	}
	if sameStories(told("add a@1", "add a@1", "add a@1"), told("add a@1")) == nil {
		t.Error("an add told three times is not seen")
	}
	if sameStories(told("add a@1", "delete a@2", "delete a@2"), told("add a@1", "delete a@2")) == nil {
		t.Error("a deletion told twice is not seen")
	}
	if got := slices.Collect(maps.Keys(byKey([]string{"delete [x@4]"}))); !slices.Equal(got, []string{"x"}) {
		t.Errorf("a tombstone is filed under %v", got)
	}
}
