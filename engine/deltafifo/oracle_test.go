package deltafifo_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/client-go/tools/cache"
	"pgregory.net/rapid"

	"github.com/informeter/informeter/engine/deltafifo"
	"github.com/informeter/informeter/engine/inspect"
)

// The queues are compared with client-go's, operation by operation. They may
// differ in these, and in nothing else:
//
//	what                          client-go          ours                     why
//	HasSynced while the last of   true (DeltaFIFO)   false until it has       the lock is not held, so it
//	the first list is processed                      been applied             would be seen too early
//	a bookmark in a DeltaFIFO     ignored            popped by PopEntries     the store's version is true
//	what process fails            lost               lost by Pop; put back    one bad object does not lose
//	                                                 by PopEntries, a         its last state
//	                                                 bounded number of times
//	the Transformer               under the lock     before it is taken,      a slow one delays one caller
//	                                                 for deletions too that
//	                                                 are then dropped
//	keys of a Resync              KeyFunc            the store's own          they are the same
//	several consumers             at once (RealFIFO) take turns               deltas of a key stay in order
//	tombstones for what waits     in random order    in the order of the      order of keys in the queue is
//	(DeltaFIFO)                                      queue                    not affected

// step is one operation of a script.
type step struct {
	op   string
	name string
	list []string
	n    int
}

func (s step) String() string { return fmt.Sprintf("%s(%s%v %d)", s.op, s.name, s.list, s.n) }

// broken has no key, and must not reach a store; refused has no transformed
// state.
const (
	broken  = "broken"
	refused = "refused"
)

func genStep(ops ...string) *rapid.Generator[step] {
	name := rapid.SampledFrom([]string{"a", "b", "c", "d", "a", "b", "c", "d", "e", refused, broken})
	return rapid.Custom(func(t *rapid.T) step {
		s := step{op: rapid.SampledFrom(ops).Draw(t, "op")}
		switch s.op {
		case "replace":
			s.list = rapid.SliceOfN(name, 0, 6).Draw(t, "list")
			// Most lists are good ones.
			if rapid.IntRange(0, 3).Draw(t, "clean") > 0 {
				s.list = slices.DeleteFunc(s.list, func(n string) bool { return n == broken || n == refused })
			}
			// Those of an API server are in order.
			if rapid.IntRange(0, 3).Draw(t, "in order") > 0 {
				slices.Sort(s.list)
				s.list = slices.Compact(s.list)
			}
		case "pop":
			s.n = rapid.IntRange(1, 4).Draw(t, "n")
		case "resync", "bookmark":
		default:
			s.name = name.Draw(t, "name")
		}
		return s
	})
}

// world makes the objects of a script; versions grow with every one.
type world struct{ rv int }

func (w *world) object(name string) any {
	w.rv++
	if name == broken {
		return "an object without metadata"
	}
	return obj(name, w.rv)
}

// transform refuses one name and marks all others, so that what went through it
// twice, or not at all, shows.
func transform(o any) (any, error) {
	in, ok := o.(*object)
	if !ok || in.Name == refused {
		return nil, fmt.Errorf("refused")
	}
	out := in.DeepCopy()
	out.ResourceVersion += "t"
	return out, nil
}

// feed does an operation other than pop to q.
func feed(q cache.Queue, s step, o []any, rv int) error {
	switch s.op {
	case "add":
		return q.Add(o[0])
	case "update":
		return q.Update(o[0])
	case "delete":
		return q.Delete(o[0])
	case "tombstone":
		return q.Delete(cache.DeletedFinalStateUnknown{Key: s.name, Obj: obj(s.name, rv)})
	case "replace":
		return q.Replace(o, fmt.Sprint(rv))
	case "resync":
		return q.Resync()
	case "bookmark":
		return q.(cache.ReflectorBookmarkStore).Bookmark(fmt.Sprint(rv))
	}
	panic("bug: unknown operation " + s.op)
}

// pair is one of ours and one of client-go's, each with a store of its own.
type pair struct {
	world        world
	ours         queue
	theirs       cache.Queue
	store, stock *known
	batches      bool // pop ours by PopEntries
	// many enqueues in ours, by one Enqueue, what comes before something else is
	// done; gathered is that, and refusals are what client-go's said of it.
	many     bool
	gathered []cache.Delta
	refusals []bool
}

// queue is what both of ours can do.
type queue interface {
	cache.Queue
	PopEntries(admit func() int, process func([]deltafifo.Entry) []deltafifo.Entry) (int, []deltafifo.Entry, error)
	Page(now time.Time, q inspect.QueueQuery) inspect.QueuePage
	Vitals(now time.Time) inspect.QueueVitals
	Enqueue(deltas []cache.Delta, failed func(i int, err error))
	CheckInvariants() error
}

func newPair(batches bool) *pair {
	return &pair{store: newKnown(obj("a", 0), obj("b", 0)), stock: newKnown(obj("a", 0), obj("b", 0)), batches: batches}
}

// run does the script, then pops what is left. pop pops up to n of what q counts.
func (p *pair) run(script []step, pop func(n int) error) error {
	var done []string
	for _, s := range append(script, step{op: "pop", n: 1000}) {
		done = append(done, s.String())
		if p.many && p.gather(s) {
			continue
		}
		err := p.enqueueGathered()
		switch {
		case err != nil:
		case s.op == "pop":
			err = pop(s.n)
		default:
			err = p.feed(s)
		}
		if err == nil {
			err = p.agree()
		}
		if err != nil {
			return fmt.Errorf("after %s: %w", strings.Join(done, " "), err)
		}
	}
	for _, q := range []cache.Queue{p.ours, p.theirs} {
		q.Close()
		if popped, err := q.Pop(func(any, bool) error { return nil }); err == nil {
			return fmt.Errorf("%T still held %v", q, popped)
		}
	}
	return nil
}

// gather does a step to client-go's and gathers it for ours, if it is one of
// those that Enqueue can do.
func (p *pair) gather(s step) bool {
	d := cache.Delta{Object: p.world.object(s.name)}
	switch s.op {
	case "add":
		d.Type = cache.Added
	case "update":
		d.Type = cache.Updated
	case "delete":
		d.Type = cache.Deleted
	case "tombstone":
		d = cache.Delta{Type: cache.Deleted, Object: cache.DeletedFinalStateUnknown{Key: s.name, Obj: obj(s.name, p.world.rv)}}
	case "bookmark":
		d = cache.Delta{Type: cache.Bookmark, Object: cache.BookmarkInfo{ResourceVersion: fmt.Sprint(p.world.rv)}}
	default:
		return false
	}
	p.gathered = append(p.gathered, d)
	p.refusals = append(p.refusals, feed(p.theirs, s, []any{d.Object}, p.world.rv) != nil)
	return true
}

func (p *pair) enqueueGathered() error {
	refusals := make([]bool, len(p.gathered))
	p.ours.Enqueue(p.gathered, func(i int, err error) { refusals[i] = err != nil })
	if !slices.Equal(refusals, p.refusals) {
		return fmt.Errorf("ours refuses %v, client-go's %v", refusals, p.refusals)
	}
	p.gathered, p.refusals = nil, nil
	return nil
}

func (p *pair) feed(s step) error {
	names := s.list
	if s.name != "" {
		names = []string{s.name}
	}
	var objects []any
	for _, n := range names {
		objects = append(objects, p.world.object(n))
	}
	a := feed(p.ours, s, slices.Clone(objects), p.world.rv)
	b := feed(p.theirs, s, slices.Clone(objects), p.world.rv)
	if (a == nil) != (b == nil) {
		return fmt.Errorf("ours answers %v, client-go's %v", a, b)
	}
	return nil
}

func (p *pair) agree() error {
	if err := p.ours.CheckInvariants(); err != nil {
		return fmt.Errorf("invariant: %w", err)
	}
	if a, b := p.ours.HasSynced(), p.theirs.HasSynced(); a != b {
		return fmt.Errorf("ours has synced: %v, client-go's: %v", a, b)
	}
	if cache.IsDone(p.ours.HasSyncedChecker()) != p.ours.HasSynced() {
		return fmt.Errorf("the checker and HasSynced differ")
	}
	if diff := cmp.Diff(p.stock.contents(), p.store.contents()); diff != "" {
		return fmt.Errorf("stores differ (-client-go's +ours):\n%s", diff)
	}
	return nil
}

// popOne pops once, applies what came and returns it as text.
func popOne(q cache.Queue, store *known) ([]string, error) {
	var got []string
	_, err := q.Pop(func(popped any, initial bool) error {
		for _, d := range popped.(cache.Deltas) {
			key := keyOf(d.Object)
			got = append(got, fmt.Sprintf("%s initial=%v", text(key, d), initial))
			store.apply(key, d)
		}
		return nil
	})
	return got, err
}

// popOurs does the same to ours, up to limit deltas. A DeltaFIFO's bookmarks are
// left out: client-go's has none.
func (p *pair) popOurs(limit int) ([]string, error) {
	if !p.batches {
		return popOne(p.ours, p.store)
	}
	var got []string
	_, _, err := p.ours.PopEntries(upTo(limit), func(batch []deltafifo.Entry) []deltafifo.Entry {
		_, perKey := p.ours.(*deltafifo.DeltaFIFO)
		for _, e := range batch {
			if !perKey || e.Type != cache.Bookmark {
				got = append(got, fmt.Sprintf("%s initial=%v", text(e.Key, e.Delta), e.InInitialList))
			}
		}
		return p.store.applyAll(batch)
	})
	return got, err
}

func keyOf(o any) string {
	switch o := o.(type) {
	case *object:
		return o.Name
	case cache.DeletedFinalStateUnknown:
		return o.Key
	}
	return ""
}

// popKeys pops up to n keys from client-go's and as many deltas from ours, two
// at a time, so that batches end within a key and reach into the next.
func (p *pair) popKeys(n int) error {
	var ours, theirs []string
	for range min(n, p.ours.Vitals(time.Now()).Keys) {
		got, err := popOne(p.theirs, p.stock)
		if err != nil {
			return err
		}
		theirs = append(theirs, got...)
	}
	for len(ours) < len(theirs) {
		got, err := p.popOurs(min(2, len(theirs)-len(ours)))
		if err != nil {
			return err
		}
		ours = append(ours, got...)
	}
	return same(theirs, ours)
}

// popEvents pops n events from ours, or more if bookmarks follow, and as many
// from client-go's.
func (p *pair) popEvents(n int) error {
	var ours, theirs []string
	n = min(n, p.ours.Page(time.Now(), inspect.QueueQuery{}).Matched)
	for len(ours) < n {
		got, err := p.popOurs(n - len(ours))
		if err != nil {
			return err
		}
		ours = append(ours, got...)
	}
	for len(theirs) < len(ours) {
		got, err := popOne(p.theirs, p.stock)
		if err != nil {
			return err
		}
		theirs = append(theirs, got...)
	}
	return same(theirs, ours)
}

func same(theirs, ours []string) error {
	if diff := cmp.Diff(theirs, ours); diff != "" {
		return fmt.Errorf("popped (-client-go's +ours):\n%s", diff)
	}
	return nil
}

func drawTransformer(t *rapid.T) cache.TransformFunc {
	if rapid.Bool().Draw(t, "transform") {
		return transform
	}
	return nil
}

func deltaOracle(t *rapid.T) {
	script := rapid.SliceOfN(genStep("add", "update", "delete", "tombstone", "replace", "resync", "pop", "pop"), 0, 40).Draw(t, "script")
	transformer := drawTransformer(t)
	p := newPair(rapid.Bool().Draw(t, "batches"))
	ours := deltafifo.Options{KnownObjects: p.store, Transformer: transformer}
	theirs := cache.DeltaFIFOOptions{KnownObjects: p.stock, EmitDeltaTypeReplaced: true, Transformer: transformer}
	switch rapid.IntRange(0, 5).Draw(t, "known") {
	case 0:
		ours.KnownObjects, theirs.KnownObjects = nil, nil
	case 1, 2, 3:
		ours.KnownObjects = atOnce{p.store}
	}
	p.many = rapid.Bool().Draw(t, "many")
	p.ours, p.theirs = deltafifo.New(ours), cache.NewDeltaFIFOWithOptions(theirs)
	if err := p.run(script, p.popKeys); err != nil {
		t.Fatal(err)
	}
}

func TestDeltaFIFOPopsWhatClientGoPops(t *testing.T) { rapid.Check(t, deltaOracle) }

func FuzzDeltaFIFO(f *testing.F) { f.Fuzz(rapid.MakeFuzz(deltaOracle)) }

func inOrderOracle(t *rapid.T) {
	script := rapid.SliceOfN(genStep("add", "update", "delete", "tombstone", "replace", "resync", "bookmark", "pop", "pop"), 0, 40).Draw(t, "script")
	transformer := drawTransformer(t)
	p := newPair(rapid.Bool().Draw(t, "batches"))
	p.many = rapid.Bool().Draw(t, "many")
	p.ours = deltafifo.NewInOrder(deltafifo.Options{KnownObjects: p.store, Transformer: transformer})
	p.theirs = cache.NewRealFIFOWithOptions(cache.RealFIFOOptions{
		Transformer: transformer, AtomicEvents: true, UnlockWhileProcessing: true, EmitDeltaTypeBookmark: true,
	})
	if err := p.run(script, p.popEvents); err != nil {
		t.Fatal(err)
	}
}

func TestInOrderPopsWhatClientGoPops(t *testing.T) { rapid.Check(t, inOrderOracle) }

func FuzzInOrder(f *testing.F) { f.Fuzz(rapid.MakeFuzz(inOrderOracle)) }
