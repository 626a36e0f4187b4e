package engine

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
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

// oracleStep is one step of a script.
type oracleStep struct {
	op   string
	name string
}

var (
	oracleOps = []string{"add", "add", "modify", "modify", "modify", "delete", "recreate", "add unseen", "modify unseen", "delete unseen", "recreate unseen", "cut", "join", "leave", "index", "pass"}
	// oracleFaults are what a faulty server can be told to do.
	oracleFaults = []string{"list fails", "watch fails", "pages", "tokens expire", "bookmark", "expires", "breaks", "closes", "other type", "other event"}
)

func drawScript(rt *rapid.T, ops []string) []oracleStep {
	script := make([]oracleStep, rapid.IntRange(1, 25).Draw(rt, "steps"))
	for n := range script {
		script[n] = oracleStep{
			op:   rapid.SampledFrom(ops).Draw(rt, "op"),
			name: rapid.SampledFrom([]string{"a", "b", "c", "d"}).Draw(rt, "name"),
		}
	}
	return script
}

// contestant is one of the two informers, what it takes for the server, and the
// handlers that joined it.
type contestant struct {
	informer cache.SharedIndexInformer
	server   *faulty
	handlers []*recorder
	handles  []cache.ResourceEventHandlerRegistration
	// known holds for each handler the objects it has been told of and that
	// were not deleted since.
	known   []map[string]bool
	varying varying
}

// varying is what the contract leaves open of what handlers are told, so that a
// check does not compare it. Each has its reason where it is set.
type varying struct {
	repeats   bool // how often the same is told in a row
	strangers bool // deletions of what the handler did not know
}

// told returns what handler n was told since it was last asked, by object.
func (c *contestant) told(n int) map[string][]string {
	known := c.known[n]
	stories := byKey(c.handlers[n].all())
	for name, story := range stories {
		if c.varying.repeats {
			story = slices.Compact(story)
		}
		if c.varying.strangers {
			story = slices.DeleteFunc(story, func(line string) bool {
				was := known[name]
				known[name] = !strings.HasPrefix(line, "delete")
				return !was && !known[name]
			})
		}
		if stories[name] = story; len(story) == 0 {
			delete(stories, name)
		}
	}
	return stories
}

func (c *contestant) join() error { return c.joinWith(&recorder{}, cache.HandlerOptions{}) }

func (c *contestant) joinWith(r *recorder, o cache.HandlerOptions) error {
	handle, err := c.informer.AddEventHandlerWithOptions(r, o)
	c.handlers, c.handles = append(c.handlers, r), append(c.handles, handle)
	c.known = append(c.known, map[string]bool{})
	return err
}

// leave removes the handler that joined first of those still there.
func (c *contestant) leave() error {
	if len(c.handles) == 0 {
		return nil
	}
	handle := c.handles[0]
	c.handles = c.handles[1:]
	return c.informer.RemoveEventHandler(handle)
}

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

// settle gives everything time to happen: longer than the backoffs of three
// failures in a row.
func settle(yes bool) {
	if yes {
		time.Sleep(4 * time.Minute)
		synctest.Wait()
	}
}

// play makes one step happen on the server, or to the handlers of both.
func play(s server, both []*contestant, step oracleStep, n int, exists map[string]bool) error {
	op, unseen := strings.CutSuffix(step.op, " unseen")
	p := pod(step.name, "app", fmt.Sprint(n%3))
	add, modify, remove := s.Add, s.Modify, s.Delete
	if unseen {
		add, modify, remove = s.AddDropWatch, s.ModifyDropWatch, s.DeleteDropWatch
	}
	switch op {
	case "add", "modify":
		if exists[step.name] {
			modify(p)
		} else {
			add(p)
		}
		exists[step.name] = true
	case "delete":
		if exists[step.name] {
			remove(p)
		}
		delete(exists, step.name)
	case "recreate":
		if exists[step.name] {
			remove(p.DeepCopy())
		}
		add(p)
		exists[step.name] = true
	case "cut":
		s.ResetWatch()
	case "join", "join slow", "join resync", "leave":
		for _, c := range both {
			act := c.join
			switch op {
			case "join slow":
				act = func() error { return c.joinWith(&recorder{takes: time.Second}, cache.HandlerOptions{}) }
			case "join resync":
				period := time.Duration(n%4) * 45 * time.Second // none, below, above the informer's own
				act = func() error { return c.joinWith(&recorder{}, cache.HandlerOptions{ResyncPeriod: &period}) }
			case "leave":
				act = c.leave
			}
			if err := act(); err != nil {
				return err
			}
		}
	case "index":
		for _, c := range both {
			byDay := func(obj any) ([]string, error) { return []string{obj.(*corev1.Pod).Labels["app"]}, nil }
			if err := c.informer.AddIndexers(cache.Indexers{fmt.Sprint("late ", n): byDay}); err != nil {
				return err
			}
		}
	case "pass":
		time.Sleep(time.Duration(n) * 100 * time.Millisecond)
	default:
		for _, c := range both {
			c.server.fail(step.op, n)
		}
	}
	return nil
}

// sameStories compares what the handlers of both were told, key by key.
func sameStories(ours, theirs *contestant) error {
	for n := range ours.handlers {
		if diff := cmp.Diff(theirs.told(n), ours.told(n)); diff != "" {
			return fmt.Errorf("handler %d was told (-client-go +ours):\n%s", n, diff)
		}
	}
	return nil
}

// byKey sorts what a handler was told by the object's name, order kept.
func byKey(told []string) map[string][]string {
	stories := map[string][]string{}
	for _, line := range told {
		name, _, _ := strings.Cut(strings.TrimLeft(strings.Fields(line)[1], "["), "@")
		stories[name] = append(stories[name], line)
	}
	return stories
}

// checkLegal checks what the handlers still there were told: per key an add
// before any update, nothing after a delete but an add, and each update from
// the state told last. At the end a handler has been told what is in the cache.
func checkLegal(c *contestant, settled bool) error {
	if settled {
		return nil // compared line by line already
	}
	i, isOurs := c.informer.(*Informer)
	inOrder := !isOurs || i.options.Queue == InOrder
	there := c.handlers[len(c.handlers)-len(c.handles):]
	for _, r := range there {
		last := map[string]string{}
		for name, story := range byKey(r.all()) {
			for _, line := range story {
				words := strings.Fields(line)
				switch {
				case words[0] == "add" && last[name] == "":
					last[name] = words[1]
				case words[0] == "update" && last[name] == words[1]:
					last[name] = words[3]
				case words[0] == "delete" && (last[name] != "" || inOrder):
					delete(last, name)
				default:
					return fmt.Errorf("%T: illegal %q after %q in %v", c.informer, line, last[name], story)
				}
			}
		}
		cached := map[string]string{}
		for _, obj := range c.informer.GetStore().List() {
			cached[obj.(*corev1.Pod).Name] = label(obj)
		}
		if diff := cmp.Diff(cached, last); diff != "" {
			return fmt.Errorf("%T: handler's view (-cache +handler):\n%s", c.informer, diff)
		}
	}
	return nil
}

// sameCaches compares two caches and their indices.
func sameCaches(ours, theirs cache.Indexer) error {
	dump := func(x cache.Indexer) map[string]string {
		all := map[string]string{}
		for _, key := range x.ListKeys() {
			obj, _, _ := x.GetByKey(key)
			all[key] = label(obj)
		}
		for index := range x.GetIndexers() {
			for _, value := range x.ListIndexFuncValues(index) {
				keys, _ := x.IndexKeys(index, value)
				slices.Sort(keys)
				all[index+"="+value] = strings.Join(keys, " ")
			}
		}
		return all
	}
	if diff := cmp.Diff(dump(theirs), dump(ours)); diff != "" {
		return fmt.Errorf("caches (-client-go +ours):\n%s", diff)
	}
	return nil
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
