package deltafifo_test

import (
	"errors"
	"fmt"
	"strconv"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/client-go/tools/cache"
	"pgregory.net/rapid"

	"github.com/informeter/informeter/engine/deltafifo"
	"github.com/informeter/informeter/engine/inspect"
)

// afterResync returns a queue that has just been told to repeat a, b, c and d.
func afterResync(t *testing.T) (*deltafifo.DeltaFIFO, *known) {
	t.Helper()
	store := newKnown(obj("a", 1), obj("b", 1), obj("c", 1), obj("d", 1))
	q := deltafifo.New(deltafifo.Options{KnownObjects: atOnce{store}})
	must(t, q.Resync(), q.CheckInvariants())
	if q.InRun() != 4 {
		t.Fatalf("%d keys in the run, want all", q.InRun())
	}
	return q, store
}

func TestAnEventDuringAResyncJoinsItsKeysSync(t *testing.T) {
	q, store := afterResync(t)
	must(t, q.Update(obj("c", 2)), q.Delete(obj("b", 3)), q.Add(obj("e", 4)), q.Update(obj("c", 5)), q.CheckInvariants())
	if q.InRun() != 4 {
		t.Errorf("%d keys left in the run: the others pay for what came for two", q.InRun())
	}
	want(t, "popped", drain(t, q, store), []string{
		"Sync a@1", "Sync b@1", "Deleted b@3", "Sync c@1", "Updated c@2", "Updated c@5", "Sync d@1", "Added e@4",
	})
}

func TestAnEventForASyncInFlightComesAfterTheOthers(t *testing.T) {
	q, store := afterResync(t)
	_, _, err := q.PopEntries(upTo(2), func(batch []deltafifo.Entry) []deltafifo.Entry {
		must(t, q.Update(obj("b", 2)), q.CheckInvariants())
		if got := q.Waiting([]string{"a", "b", "c", "e"}); fmt.Sprint(got) != "[1 2 1 0]" {
			t.Errorf("waiting and in flight: %v", got)
		}
		return store.applyAll(batch)
	})
	must(t, err)
	want(t, "popped", drain(t, q, store), []string{"Sync c@1", "Sync d@1", "Updated b@2"})
}

func TestASyncThatFailsIsTriedAgainBeforeTheOthers(t *testing.T) {
	q, store := afterResync(t)
	_, dropped, err := q.PopEntries(upTo(3), func(batch []deltafifo.Entry) []deltafifo.Entry {
		must(t, q.Update(obj("c", 2)))
		return batch[1:]
	})
	must(t, err, q.CheckInvariants())
	want(t, "dropped, as something newer waits", texts(dropped), []string{"Sync c@1"})
	want(t, "popped", drain(t, q, store), []string{"Sync b@1", "Sync d@1", "Updated c@2"})
}

func TestARelistDuringAResyncBuriesWhatItLeavesOut(t *testing.T) {
	q, store := afterResync(t)
	_, _, err := q.PopEntries(upTo(2), func(batch []deltafifo.Entry) []deltafifo.Entry {
		// b is in flight, d waits; neither is listed. If the store lost b, the
		// Sync in flight would bring it back.
		store.apply("b", cache.Delta{Type: cache.Deleted})
		must(t, q.Replace(list(obj("a", 2), obj("c", 2)), "9"))
		return store.applyAll(batch)
	})
	must(t, err, q.CheckInvariants())
	want(t, "popped", drain(t, q, store), []string{
		"Sync c@1", "Replaced c@2", "Sync d@1", "Deleted d tombstone(d)@1", "Replaced a@2", "Deleted b tombstone(b)@1", "Bookmark@9",
	})
	want(t, "store", store.contents(), []string{"a=2", "c=2"})
}

func TestAListIsARunIfNoKeyIsThereTwice(t *testing.T) {
	for _, c := range []struct {
		list []any
		run  int
	}{
		{list(obj("a", 1), obj("b", 1)), 2},
		{list(obj("b", 1), obj("a", 1)), 2},
		{list(obj("a", 1), obj("a", 2)), 0},
	} {
		q := deltafifo.New(deltafifo.Options{})
		must(t, q.Replace(c.list, ""), q.CheckInvariants())
		if q.InRun() != c.run {
			t.Errorf("%v: %d keys in the run, want %d", c.list, q.InRun(), c.run)
		}
		kept := fmt.Sprint(c.list)
		drain(t, q, newKnown())
		if fmt.Sprint(c.list) != kept {
			t.Errorf("the caller's list was written to: %v", c.list)
		}
	}
}

func TestARunThatIsOverKeepsNothing(t *testing.T) {
	q, store := afterResync(t)
	must(t, q.Update(obj("d", 2)))
	drain(t, q, store) // checks the invariants after every pop
	if q.InRun() != 0 {
		t.Errorf("%d keys left in the run", q.InRun())
	}
}

// twins are two queues with the same history. The second never has a run: every
// key has an item of its own at once, which the comparison with client-go
// vouches for.
type twins struct {
	queues [2]*deltafifo.DeltaFIFO
	stores [2]*known
	rv     int
	runs   int // keys that the first had in a run, all steps together
}

func newTwins(compress bool) *twins {
	var w twins
	for n := range w.queues {
		w.stores[n] = newKnown(obj("a", 0), obj("c", 0), obj("e", 0))
		w.queues[n] = deltafifo.New(deltafifo.Options{KnownObjects: atOnce{w.stores[n]}, Compress: compress, MaxAttempts: 2})
	}
	return &w
}

func (w *twins) run(moves []move) error {
	for i, m := range moves {
		err := w.do(m)
		if err == nil {
			err = w.alike()
		}
		if err != nil {
			return fmt.Errorf("at %d of %v: %w", i, moves, err)
		}
	}
	return nil
}

func (w *twins) do(m move) error {
	w.rv++
	if m.op == "pop" {
		return w.pop(m)
	}
	for n, q := range w.queues {
		var err error
		switch m.op {
		case "set":
			err = q.Update(obj(m.name, w.rv))
		case "delete":
			err = q.Delete(obj(m.name, w.rv))
		case "relist":
			var listed []any
			for i, name := range []string{"a", "b", "c", "d", "e"} {
				if (w.rv+i)%3 > 0 {
					listed = append(listed, obj(name, w.rv))
				}
			}
			err = q.Replace(listed, strconv.Itoa(w.rv))
		case "resync":
			err = q.Resync()
		case "bookmark":
			err = q.Bookmark(strconv.Itoa(w.rv))
		}
		if err != nil {
			return err
		}
		if n == 1 {
			q.Spread()
		}
	}
	if m.op == "cut" {
		time.Sleep(time.Second)
	}
	return nil
}

// pop pops from both at once and lets happen what does while both batches are in
// flight.
func (w *twins) pop(m move) error {
	if w.queues[0].Page(time.Now(), inspect.QueueQuery{}).Matched == 0 {
		return nil
	}
	var taken [2]int
	var batches, lost [2][]string
	var during, inner error
	entries := func(n int, batch []deltafifo.Entry) (failed []deltafifo.Entry) {
		for i := range batch {
			e := &batch[i]
			batches[n] = append(batches[n], fmt.Sprintf("%s %s initial=%v #%d %v", text(e.Key, e.Delta), e.Cause, e.InInitialList, e.Attempts, e.Arrived))
			if i < len(m.fails) && m.fails[i] {
				failed = append(failed, *e)
			} else {
				w.stores[n].apply(e.Key, e.Delta)
			}
		}
		return failed
	}
	var dropped [2][]deltafifo.Entry
	var err error
	taken[0], dropped[0], err = w.queues[0].PopEntries(upTo(m.n), func(batch []deltafifo.Entry) (failed []deltafifo.Entry) {
		taken[1], dropped[1], inner = w.queues[1].PopEntries(upTo(m.n), func(second []deltafifo.Entry) []deltafifo.Entry {
			if during = w.alike(); during == nil {
				during = w.run(m.during)
			}
			return entries(1, second)
		})
		return entries(0, batch)
	})
	for n := range lost {
		lost[n] = texts(dropped[n])
	}
	if err := errors.Join(err, inner, during); err != nil {
		return err
	}
	if diff := cmp.Diff([]any{taken[1], batches[1], lost[1]}, []any{taken[0], batches[0], lost[0]}); diff != "" {
		return fmt.Errorf("popped (-without run +with):\n%s", diff)
	}
	return nil
}

// alike compares everything that can be seen of the two.
func (w *twins) alike() error {
	w.runs += w.queues[0].InRun()
	now := time.Now()
	var seen [2][]any
	for n, q := range w.queues {
		if err := q.CheckInvariants(); err != nil {
			return fmt.Errorf("invariant of %d: %w", n, err)
		}
		seen[n] = []any{q.Vitals(now), q.Waiting([]string{"a", "b", "c", "d", "e", "f"}), q.HasSynced(), w.stores[n].contents()}
		for _, query := range []inspect.QueueQuery{{Limit: 20}, {Offset: 2, Limit: 2}, {Filter: "a", Limit: 20}, {Filter: "!a", Limit: 3}} {
			seen[n] = append(seen[n], q.Page(now, query))
		}
	}
	if diff := cmp.Diff(seen[1], seen[0]); diff != "" {
		return fmt.Errorf("seen (-without run +with):\n%s", diff)
	}
	return nil
}

// runOracle lets twins live through random moves, and returns how many keys the
// first had in a run, all steps together.
func runOracle(t *testing.T, rt *rapid.T) (runs int) {
	moves := append([]move{{op: "resync"}}, genMoves(rt, 1, true, "moves")...)
	if rapid.Bool().Draw(rt, "list first") {
		moves[0].op = "relist"
	}
	for range 12 {
		moves = append(moves, move{op: "pop", n: 3})
	}
	compress := rapid.Bool().Draw(rt, "compress")
	var err error
	synctest.Test(t, func(*testing.T) {
		w := newTwins(compress)
		err = w.run(moves)
		runs = w.runs
	})
	if err != nil {
		rt.Fatal(err)
	}
	return runs
}

func TestARunIsSeenAndPoppedAsItsKeysWouldBe(t *testing.T) {
	cases, runs := 0, 0
	rapid.Check(t, func(rt *rapid.T) {
		cases++
		runs += runOracle(t, rt)
	})
	if runs < 4*cases {
		t.Errorf("%d keys in runs in %d cases: the comparison says nothing", runs, cases)
	}
}

func FuzzRun(f *testing.F) {
	f.Fuzz(func(t *testing.T, data []byte) {
		rapid.MakeFuzz(func(rt *rapid.T) { runOracle(t, rt) })(t, data)
	})
}
