package deltafifo_test

import (
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/client-go/tools/cache"
	"pgregory.net/rapid"

	"github.com/informeter/informeter/engine/deltafifo"
	"github.com/informeter/informeter/engine/inspect"
)

// server is where the objects of an interleaving live: a truth that the store
// has to arrive at, whatever is popped, missed, relisted or refused on the way.
type server struct {
	rv      int
	objects map[string]int // version by name
	changed map[string]int // version of a name's last change, deletions included
	cut     bool           // changes are not told until the next relist
	// told is what the queue was told last: where the store has to arrive. Of what
	// a list kept it is what was told before.
	told map[string]int
	gone map[string]int // of what was told last that it is gone: when
	// then holds, for the version of each change that was told, what had been.
	then map[string]map[string]int
}

func newServer() *server {
	return &server{objects: map[string]int{}, changed: map[string]int{}, told: map[string]int{}, gone: map[string]int{}, then: map[string]map[string]int{}}
}

// change creates, updates or, if gone, deletes a name, and tells q of it.
func (s *server) change(q cache.Queue, name string, gone bool) error {
	old, existed := s.objects[name]
	if gone && !existed {
		return nil
	}
	s.rv++
	s.changed[name] = s.rv
	if gone {
		delete(s.objects, name)
	} else {
		s.objects[name] = s.rv
	}
	if s.cut {
		return nil
	}
	if gone {
		delete(s.told, name)
		s.gone[name] = s.rv
		s.then[strconv.Itoa(s.rv)] = s.allTold()
		return q.Delete(obj(name, s.rv))
	}
	s.told[name] = s.rv
	s.then[strconv.Itoa(s.rv)] = s.allTold()
	switch {
	case existed && old > 0:
		return q.Update(obj(name, s.rv))
	default:
		return q.Add(obj(name, s.rv))
	}
}

// allTold returns what the queue was told, by name: the version of what there is,
// and what is gone with a minus.
func (s *server) allTold() map[string]int {
	all := maps.Clone(s.told)
	for name, at := range s.gone {
		if _, there := all[name]; !there {
			all[name] = -at
		}
	}
	return all
}

// relist lists what there is; of the names in keep, letters all, the list cannot
// give the state.
func (s *server) relist(q cache.Queue, keep string) error {
	s.cut = false
	s.rv++ // so that no bookmark has the version of a list, which tells of more
	var list []any
	told := map[string]int{}
	for _, name := range s.names() {
		if !strings.Contains(keep, name) {
			told[name] = s.objects[name]
			list = append(list, obj(name, s.objects[name]))
			continue
		}
		if version, known := s.told[name]; known {
			told[name] = version
		}
		list = append(list, deltafifo.Keep{Key: name})
	}
	for name := range s.told {
		if _, there := told[name]; !there {
			s.gone[name] = s.rv
		}
	}
	s.told = told
	return q.Replace(list, strconv.Itoa(s.rv))
}

func (s *server) names() []string { return slices.Sorted(maps.Keys(s.objects)) }

// contents returns where the store has to arrive, as name=version, in order.
func (s *server) contents() []string {
	var out []string
	for _, name := range slices.Sorted(maps.Keys(s.told)) {
		out = append(out, fmt.Sprintf("%s=%d", name, s.told[name]))
	}
	return out
}

// move is one thing that happens; for a pop, others happen while its batch is
// in flight, and entries whose turn in fails is true are refused.
type move struct {
	op     string
	name   string
	n      int
	during []move
	fails  []bool
}

func (m move) String() string {
	if m.op == "pop" {
		return fmt.Sprintf("pop(%d fails=%v during=%v)", m.n, m.fails, m.during)
	}
	return m.op + " " + m.name
}

func genMoves(t *rapid.T, depth int, failing bool, label string) []move {
	ops := []string{"set", "set", "set", "delete", "cut", "relist", "relist but", "resync", "bookmark"}
	if depth > 0 {
		ops = append(ops, "pop", "pop", "pop")
	}
	moves := make([]move, rapid.IntRange(0, 3+12*depth).Draw(t, label))
	for i := range moves {
		m := &moves[i]
		m.op = rapid.SampledFrom(ops).Draw(t, "op")
		switch m.op {
		case "relist but":
			m.name = rapid.SampledFrom([]string{"a", "b", "c", "ab", "ac", "bc", "abc"}).Draw(t, "names")
		case "set", "delete":
			m.name = rapid.SampledFrom([]string{"a", "b", "c"}).Draw(t, "name")
		case "pop":
			m.n = rapid.IntRange(0, 4).Draw(t, "n")
			m.during = genMoves(t, depth-1, failing, "during")
			if failing {
				m.fails = rapid.SliceOfN(rapid.Bool(), 0, 4).Draw(t, "fails")
			}
		}
	}
	return moves
}

// interleaving runs moves on a queue and checks what it hands out.
type interleaving struct {
	server *server
	q      queue
	store  *known
	// marks holds, for each bookmark sent, what the queue had been told.
	marks map[string]map[string]int
	// first holds the names of the first list, applied those seen since. seen is
	// nil until there was one.
	first   []string
	applied map[string]bool
	failing bool
	inOrder bool
}

func (x *interleaving) run(moves []move) error {
	for i, m := range moves {
		if err := x.do(m); err != nil {
			return fmt.Errorf("at %d of %v: %w", i, moves, err)
		}
		if err := x.q.CheckInvariants(); err != nil {
			return fmt.Errorf("at %d of %v: invariant: %w", i, moves, err)
		}
		if x.q.HasSynced() {
			for _, name := range x.first {
				if !x.applied[name] {
					return fmt.Errorf("at %d of %v: synced before %s was applied", i, moves, name)
				}
			}
		}
	}
	return nil
}

func (x *interleaving) do(m move) error {
	switch m.op {
	case "set", "delete":
		return x.server.change(x.q, m.name, m.op == "delete")
	case "cut":
		x.server.cut = true
	case "relist", "relist but":
		if x.first == nil && !x.q.HasSynced() {
			x.first = slices.DeleteFunc(append([]string{}, x.server.names()...), func(name string) bool { return strings.Contains(m.name, name) })
		}
		return x.server.relist(x.q, m.name)
	case "resync":
		return x.q.Resync()
	case "bookmark":
		if x.server.cut {
			return nil
		}
		x.server.rv++
		rv := strconv.Itoa(x.server.rv)
		x.marks[rv] = x.server.allTold()
		return x.q.(cache.ReflectorBookmarkStore).Bookmark(rv)
	case "pop":
		if x.q.Page(time.Now(), inspect.QueueQuery{}).Matched == 0 {
			return nil
		}
		return x.pop(m)
	}
	return nil
}

func (x *interleaving) pop(m move) error {
	var during error
	taken, dropped, err := x.q.PopEntries(upTo(m.n), func(batch []deltafifo.Entry) (failed []deltafifo.Entry) {
		during = x.run(m.during)
		for i := range batch {
			// The third retry always succeeds, so nothing is given up.
			if i < len(m.fails) && m.fails[i] && batch[i].Attempts < 3 && batch[i].Type != cache.Bookmark {
				failed = append(failed, batch[i])
				continue
			}
			if err := x.apply(&batch[i]); err != nil && during == nil {
				during = err
			}
		}
		return failed
	})
	if err := errors.Join(err, during); err != nil {
		return err
	}
	if taken > m.n {
		return fmt.Errorf("took %d deltas, admitted %d", taken, m.n)
	}
	if !x.failing && len(dropped) > 0 {
		return fmt.Errorf("dropped %v, though nothing failed", texts(dropped))
	}
	return nil
}

// apply checks that an entry may come now, and applies it.
func (x *interleaving) apply(e *deltafifo.Entry) error {
	held, exists, _ := x.store.GetByKey(e.Key)
	x.applied[e.Key] = true
	switch o := e.Object.(type) {
	case *object:
		if e.Type == cache.Sync && held != e.Object {
			return fmt.Errorf("%s brings back a state that the store no longer holds", text(e.Key, e.Delta))
		}
		if exists && version(held) > version(o) {
			return fmt.Errorf("%s after %d", text(e.Key, e.Delta), version(held))
		}
	case cache.ReplacedAllInfo:
		for _, o := range o.Objects {
			if o, listed := o.(*object); listed { // else it is kept
				x.applied[o.Name] = true
			}
		}
	case cache.BookmarkInfo:
		return x.vouched(o.ResourceVersion, x.marks[o.ResourceVersion])
	}
	if e.Type == cache.Deleted && !exists && !x.failing && !x.inOrder {
		return fmt.Errorf("%s, which the store does not hold", text(e.Key, e.Delta))
	}
	x.store.apply(e.Key, e.Delta)
	if o, ok := e.Object.(*object); ok && e.Cause == inspect.CauseWatch && !e.Overtook {
		return x.vouched(o.ResourceVersion, x.server.then[o.ResourceVersion])
	}
	return nil
}

func version(o any) int {
	n, err := strconv.Atoi(o.(*object).ResourceVersion)
	if err != nil {
		panic(err)
	}
	return n
}

// vouched checks that the store is not behind rv, of a bookmark or of what has not
// overtaken anything: what the queue had been told then it holds, or something newer.
func (x *interleaving) vouched(rv string, told map[string]int) error {
	if x.failing {
		return nil
	}
	at, _ := strconv.Atoi(rv)
	for name, then := range told {
		held, exists, _ := x.store.GetByKey(name)
		switch {
		case then < 0 && exists && version(held) < -then:
			return fmt.Errorf("%s before the deletion of %s at %d was applied", rv, name, -then)
		case then > 0 && (exists && version(held) < then || !exists && x.server.changed[name] <= at):
			return fmt.Errorf("%s before %s@%d was applied", rv, name, then)
		}
	}
	return nil
}

// arrive connects, pops what is left, and compares the store with the server.
func (x *interleaving) arrive() error {
	if x.server.cut {
		if err := x.server.relist(x.q, ""); err != nil {
			return err
		}
	}
	for x.q.Page(time.Now(), inspect.QueueQuery{}).Matched > 0 {
		if err := x.do(move{op: "pop", n: 3}); err != nil {
			return err
		}
	}
	if diff := cmp.Diff(x.server.contents(), x.store.contents()); diff != "" {
		return fmt.Errorf("ghosts or losses (-server +store):\n%s", diff)
	}
	if !x.q.HasSynced() && (x.first != nil || x.server.rv > 0 && len(x.applied) > 1) {
		return fmt.Errorf("everything is applied, and not synced")
	}
	return nil
}

func interleave(t *rapid.T) {
	x := &interleaving{
		server: newServer(), store: newKnown(),
		marks: map[string]map[string]int{}, applied: map[string]bool{},
		failing: rapid.Bool().Draw(t, "failing"), inOrder: rapid.Bool().Draw(t, "in order"),
	}
	o := deltafifo.Options{KnownObjects: x.store, Compress: rapid.Bool().Draw(t, "compress")}
	if rapid.Bool().Draw(t, "at once") {
		o.KnownObjects = atOnce{x.store}
	}
	if x.inOrder {
		x.q = deltafifo.NewInOrder(o)
	} else {
		x.q = deltafifo.New(o)
	}
	moves := genMoves(t, 1, x.failing, "moves")
	if rapid.Bool().Draw(t, "list first") {
		moves = append([]move{{op: "cut"}, {op: "set", name: "a"}, {op: "set", name: "b"}, {op: "relist"}}, moves...)
	}
	err := x.run(moves)
	if err == nil {
		err = x.arrive()
	}
	if err != nil {
		t.Fatal(err)
	}
}

func TestNoInterleavingLeavesAGhostOrLosesAnObject(t *testing.T) { rapid.Check(t, interleave) }

func FuzzInterleaving(f *testing.F) { f.Fuzz(rapid.MakeFuzz(interleave)) }

// TestReflectorConsumerAndReadersAtOnce is for the race detector, and for what
// only real goroutines do: being held back, and overtaking each other.
func TestReflectorConsumerAndReadersAtOnce(t *testing.T) {
	for _, inOrder := range []bool{false, true} {
		t.Run(fmt.Sprintf("inorder=%v", inOrder), func(t *testing.T) {
			store, truth := newKnown(), newServer()
			o := deltafifo.Options{KnownObjects: atOnce{store}, BackPressureAt: 8}
			var q queue = deltafifo.New(o)
			if inOrder {
				q = deltafifo.NewInOrder(o)
			}
			var wg sync.WaitGroup
			done := make(chan struct{})
			wg.Go(func() { consume(t, q, store) })
			wg.Go(func() { watchQueue(t, q, done) })
			for range 3000 {
				name := string(rune('a' + rand.IntN(12)))
				keep := []string{"", name}[rand.IntN(2)]
				var err error
				switch rand.IntN(20) {
				case 0:
					truth.cut = true
				case 1:
					err = truth.relist(q, keep)
				case 2:
					err = q.Resync()
				case 3, 4, 5:
					err = truth.change(q, name, true)
				default:
					err = truth.change(q, name, false)
				}
				if err != nil {
					t.Error(err)
				}
			}
			if err := truth.relist(q, ""); err != nil {
				t.Error(err)
			}
			q.Close()
			close(done)
			wg.Wait()
			want(t, "store", store.contents(), truth.contents())
			if err := q.CheckInvariants(); err != nil {
				t.Error(err)
			}
		})
	}
}

// consume applies what comes until q is closed and empty, and refuses some.
func consume(t *testing.T, q queue, store *known) {
	for {
		_, _, err := q.PopEntries(upTo(rand.IntN(8)), func(batch []deltafifo.Entry) (failed []deltafifo.Entry) {
			for i := range batch {
				if batch[i].Attempts < 3 && rand.IntN(10) == 0 && batch[i].Type != cache.Bookmark {
					failed = append(failed, batch[i])
				} else {
					store.apply(batch[i].Key, batch[i].Delta)
				}
			}
			return failed
		})
		if err != nil {
			return
		}
	}
}

// watchQueue looks at q until done is closed.
func watchQueue(t *testing.T, q queue, done <-chan struct{}) {
	for {
		select {
		case <-done:
			return
		default:
		}
		v := q.Vitals(time.Now())
		if v.Deltas < 0 || v.Keys > v.Deltas || v.Deltas > v.Peak {
			t.Errorf("vitals = %+v", v)
		}
		for _, filter := range []string{"", "a", "!a"} {
			p := q.Page(time.Now(), inspect.QueueQuery{Filter: filter, Limit: 5, Offset: 1})
			if len(p.Items) > 5 || len(p.Items) > p.Matched {
				t.Errorf("filter %q: %d items of %d", filter, len(p.Items), p.Matched)
			}
		}
		q.HasSynced()
	}
}
