package deltafifo_test

import (
	"errors"
	"fmt"
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/client-go/tools/cache"

	"github.com/informeter/informeter/engine/deltafifo"
	"github.com/informeter/informeter/engine/tap"
)

// drain pops and applies everything, and returns what came.
func drain(t testing.TB, q *deltafifo.DeltaFIFO, store *known) []string {
	t.Helper()
	var got []string
	for {
		if v := q.Vitals(time.Now()); v.Deltas == 0 {
			return got
		}
		_, _, err := q.PopEntries(upTo(100), func(batch []deltafifo.Entry) []deltafifo.Entry {
			got = append(got, texts(batch)...)
			return store.applyAll(batch)
		})
		if err != nil {
			t.Fatal(err)
		}
		if err := q.CheckInvariants(); err != nil {
			t.Fatal(err)
		}
	}
}

func want(t testing.TB, what string, got, want []string) {
	t.Helper()
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%s (-want +got):\n%s", what, diff)
	}
}

// must fails the test if enqueueing failed.
func must(t interface {
	Helper()
	Fatal(args ...any)
}, errs ...error,
) {
	t.Helper()
	for _, err := range errs {
		if err != nil {
			t.Fatal(err)
		}
	}
}

func list(objects ...*object) []any {
	out := make([]any, len(objects))
	for i, o := range objects {
		out[i] = o
	}
	return out
}

func TestAKeyIsPoppedWithAllThatGathered(t *testing.T) {
	store := newKnown()
	q := deltafifo.New(deltafifo.Options{KnownObjects: store})
	must(t, q.Add(obj("a", 1)), q.Add(obj("b", 2)), q.Update(obj("a", 3)), q.Delete(obj("a", 4)), q.Add(obj("c", 5)))
	want(t, "popped", drain(t, q, store), []string{"Added a@1", "Updated a@3", "Deleted a@4", "Added b@2", "Added c@5"})
}

func TestARelistBuriesWhatOnlyTheQueueKnew(t *testing.T) {
	store := newKnown(obj("stored", 1))
	q := deltafifo.New(deltafifo.Options{KnownObjects: store})
	must(t, q.Add(obj("queued", 2)), q.Delete(obj("stored", 3)), q.Replace(list(obj("new", 4)), "4"))
	want(t, "popped", drain(t, q, store), []string{
		"Added queued@2", "Deleted queued tombstone(queued)@2",
		"Deleted stored@3", // not a second time
		"Replaced new@4", "Bookmark@4",
	})
	want(t, "store", store.contents(), []string{"new=4"})
}

// ghost pops an add, relists without the object while it is applied, and
// returns what the store holds in the end.
func ghost(t *testing.T, during func(*deltafifo.DeltaFIFO)) []string {
	store := newKnown()
	q := deltafifo.New(deltafifo.Options{KnownObjects: store})
	must(t, q.Add(obj("a", 1)))
	_, _, err := q.PopEntries(upTo(1), func(batch []deltafifo.Entry) []deltafifo.Entry {
		during(q)
		must(t, q.Replace(list(obj("b", 2)), "2"))
		return store.applyAll(batch)
	})
	must(t, err)
	drain(t, q, store)
	return store.contents()
}

func TestARelistWhileAnAddIsAppliedLeavesNoGhost(t *testing.T) {
	want(t, "store", ghost(t, func(*deltafifo.DeltaFIFO) {}), []string{"b=2"})
	// The same without keeping track of what is in flight: it is that, and not
	// the order of things in this test, that makes the difference.
	want(t, "store without in-flight", ghost(t, (*deltafifo.DeltaFIFO).ForgetInFlight), []string{"a=1", "b=2"})
}

func TestAResyncWhileAnUpdateIsAppliedDoesNotBringBackTheOldState(t *testing.T) {
	store := newKnown(obj("a", 1), obj("b", 1))
	q := deltafifo.New(deltafifo.Options{KnownObjects: store})
	must(t, q.Update(obj("a", 2)))
	_, _, err := q.PopEntries(upTo(1), func(batch []deltafifo.Entry) []deltafifo.Entry {
		must(t, q.Resync())
		return store.applyAll(batch)
	})
	must(t, err)
	want(t, "popped", drain(t, q, store), []string{"Sync b@1"})
	want(t, "store", store.contents(), []string{"a=2", "b=1"})
}

func TestADeletionInFlightIsNotRepeated(t *testing.T) {
	store := newKnown(obj("a", 1))
	q := deltafifo.New(deltafifo.Options{KnownObjects: store})
	must(t, q.Delete(obj("a", 2)))
	_, _, err := q.PopEntries(upTo(1), func(batch []deltafifo.Entry) []deltafifo.Entry {
		must(t, q.Delete(obj("a", 3)), q.Replace(nil, "4"))
		return store.applyAll(batch)
	})
	must(t, err)
	want(t, "popped", drain(t, q, store), nil)
}

func TestADeletionOfWhatIsOnlyInFlightIsNotDropped(t *testing.T) {
	store := newKnown()
	q := deltafifo.New(deltafifo.Options{KnownObjects: store})
	must(t, q.Add(obj("a", 1)), q.Delete(obj("never", 1)))
	_, _, err := q.PopEntries(upTo(1), func(batch []deltafifo.Entry) []deltafifo.Entry {
		must(t, q.Delete(obj("a", 2)))
		return store.applyAll(batch)
	})
	must(t, err)
	want(t, "popped", drain(t, q, store), []string{"Deleted a@2"})
	want(t, "store", store.contents(), nil)
}

func TestSyncedMeansApplied(t *testing.T) {
	store := newKnown()
	q := deltafifo.New(deltafifo.Options{KnownObjects: store})
	must(t, q.Replace(list(obj("a", 1), obj("b", 1)), "1"), q.Add(obj("c", 2)))
	var initial []bool
	_, _, err := q.PopEntries(upTo(3), func(batch []deltafifo.Entry) []deltafifo.Entry {
		for _, e := range batch {
			if e.Type != cache.Bookmark {
				initial = append(initial, e.InInitialList)
			}
		}
		if q.HasSynced() {
			t.Error("synced before the last of the first list was applied")
		}
		return store.applyAll(batch)
	})
	must(t, err)
	if !slices.Equal(initial, []bool{true, true, false}) {
		t.Errorf("in initial list: %v, want the list's two and not the watch's", initial)
	}
	if !q.HasSynced() || !cache.IsDone(q.HasSyncedChecker()) {
		t.Error("not synced after the first list was applied")
	}
}

func TestABookmarkSaysHowFarAListHasBroughtTheStore(t *testing.T) {
	q := deltafifo.New(deltafifo.Options{})
	must(t, q.Replace(list(obj("a", 1)), "9"))
	_, _, err := q.PopEntries(upTo(10), func(batch []deltafifo.Entry) []deltafifo.Entry {
		if info, ok := batch[len(batch)-1].Object.(cache.BookmarkInfo); !ok || info.ResourceVersion != "9" {
			t.Errorf("the list's last entry is %v, want a bookmark at 9", batch[len(batch)-1])
		}
		return nil
	})
	must(t, err, q.CheckInvariants())
}

func TestCausesSayWhichMethodItWas(t *testing.T) {
	store := newKnown(obj("gone", 1), obj("idle", 1))
	q := deltafifo.New(deltafifo.Options{KnownObjects: store})
	var got []string
	pop := func() {
		t.Helper()
		_, _, err := q.PopEntries(upTo(100), func(batch []deltafifo.Entry) []deltafifo.Entry {
			for _, e := range batch {
				got = append(got, fmt.Sprintf("%s %s: %s", e.Type, e.Key, e.Cause))
			}
			return store.applyAll(batch)
		})
		must(t, err)
	}
	must(t, q.Replace(list(obj("a", 1), obj("idle", 2)), "1"))
	pop()
	must(t, q.Update(obj("a", 3)), q.Resync())
	pop()
	must(t, q.Replace(list(obj("idle", 4)), "4"))
	pop()
	want(t, "causes", got, []string{
		"Replaced a: initial", "Replaced idle: initial", "Deleted gone: initial", "Bookmark : initial",
		"Updated a: watch", "Sync idle: resync",
		"Replaced idle: relist", "Deleted a: relist", "Bookmark : relist",
	})
}

func TestTheHeadKeepsWhatWasNotAdmitted(t *testing.T) {
	store := newKnown()
	q := deltafifo.New(deltafifo.Options{KnownObjects: store})
	must(t, q.Add(obj("a", 1)), q.Add(obj("b", 2)), q.Update(obj("a", 3)))
	var got []string
	for range 3 {
		taken, _, err := q.PopEntries(upTo(1), func(batch []deltafifo.Entry) []deltafifo.Entry {
			got = append(got, texts(batch)...)
			return nil
		})
		must(t, err, q.CheckInvariants())
		if taken != 1 {
			t.Errorf("took %d deltas, admitted 1", taken)
		}
	}
	want(t, "popped one by one", got, []string{"Added a@1", "Updated a@3", "Added b@2"})
}

func TestNothingIsTakenUnlessAdmitted(t *testing.T) {
	q := deltafifo.New(deltafifo.Options{})
	must(t, q.Add(obj("a", 1)))
	taken, dropped, err := q.PopEntries(upTo(0), func([]deltafifo.Entry) []deltafifo.Entry {
		t.Error("processed what was not admitted")
		return nil
	})
	if taken != 0 || dropped != nil || err != nil {
		t.Errorf("PopEntries = %d, %v, %v", taken, dropped, err)
	}
	if v := q.Vitals(time.Now()); v.Deltas != 1 || v.InFlight != 0 {
		t.Errorf("%d deltas wait, %d in flight", v.Deltas, v.InFlight)
	}
}

func TestBookmarksComeAfterWhatTheyVouchFor(t *testing.T) {
	store := newKnown()
	q := deltafifo.New(deltafifo.Options{KnownObjects: store})
	must(t,
		q.Bookmark("1"), q.Add(obj("a", 2)), q.Bookmark("3"), q.Bookmark("4"),
		q.Update(obj("a", 5)), q.Add(obj("b", 6)), q.Bookmark("7"))
	if v := q.Vitals(time.Now()); v.Deltas != 3 || v.Keys != 2 {
		t.Errorf("%d deltas on %d keys wait, want 3 on 2: bookmarks are not counted", v.Deltas, v.Keys)
	}
	var got []string
	for range 2 {
		taken, _, err := q.PopEntries(upTo(2), func(batch []deltafifo.Entry) []deltafifo.Entry {
			got = append(got, texts(batch)...)
			return nil
		})
		must(t, err, q.CheckInvariants())
		got = append(got, fmt.Sprint("took ", taken))
	}
	want(t, "popped", got, []string{
		"Bookmark@1", "Added a@2", "Updated a@5", "Bookmark@4", "took 2",
		"Added b@6", "Bookmark@7", "took 1",
	})
}

func TestABookmarkAloneIsPopped(t *testing.T) {
	q := deltafifo.New(deltafifo.Options{})
	must(t, q.Bookmark("1"))
	var got []string
	taken, _, err := q.PopEntries(upTo(5), func(batch []deltafifo.Entry) []deltafifo.Entry {
		got = texts(batch)
		return nil
	})
	must(t, err)
	want(t, "popped", got, []string{"Bookmark@1"})
	if taken != 0 {
		t.Errorf("a bookmark was counted as %d deltas", taken)
	}
}

func TestPopSwallowsBookmarks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := deltafifo.New(deltafifo.Options{})
		must(t, q.Bookmark("1"))
		popped := make(chan any)
		go func() {
			deltas, _ := q.Pop(func(any, bool) error { return nil })
			popped <- deltas
		}()
		synctest.Wait()
		select {
		case d := <-popped:
			t.Errorf("Pop returned %v for a bookmark", d)
		default:
		}
		must(t, q.Add(obj("a", 2)))
		deltas, ok := (<-popped).(cache.Deltas)
		if !ok || len(deltas) != 1 || deltas[0].Type != cache.Added {
			t.Errorf("Pop returned %v, want the addition", deltas)
		}
	})
}

func TestTheReflectorIsHeldBackOnlyWhileABatchIsApplied(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := deltafifo.New(deltafifo.Options{BackPressureAt: 3})
		// Nobody pops: nobody is held.
		for i := range 10 {
			must(t, q.Add(obj(fmt.Sprint(i), i)))
		}
		if v := q.Vitals(time.Now()); v.Deltas != 10 || v.Held != 0 || v.BackPressure {
			t.Fatalf("behind a closed gate %+v, want ten deltas in sight and nobody held", v)
		}
		apply := make(chan struct{})
		pop := func() {
			_, _, err := q.PopEntries(upTo(5), func([]deltafifo.Entry) []deltafifo.Entry {
				<-apply
				return nil
			})
			must(t, err)
		}
		var added bool
		go pop()
		synctest.Wait()
		go func() {
			must(t, q.Add(obj("late", 1)))
			added = true
		}()
		synctest.Wait()
		if v := q.Vitals(time.Now()); added || !v.BackPressure || v.Held != 1 || v.Deltas != 5 || v.InFlight != 5 {
			t.Fatalf("with five waiting and a batch in flight: added %v, %+v", added, v)
		}
		apply <- struct{}{}
		synctest.Wait()
		if v := q.Vitals(time.Now()); !added || v.BackPressure || v.Deltas != 6 {
			t.Fatalf("after the batch: added %v, %+v", added, v)
		}
		// Closing lets go too.
		added = false
		go pop()
		synctest.Wait()
		q2 := func() {
			must(t, q.Replace(list(obj("x", 1), obj("y", 1), obj("z", 1)), "1"))
			added = true
		}
		must(t, q.Add(obj("one", 1))) // 1 waits: below the mark
		must(t, q.Add(obj("two", 1)))
		go q2()
		synctest.Wait()
		if added {
			t.Fatal("a Replace above the mark went through while a batch was in flight")
		}
		q.Close()
		synctest.Wait()
		if !added {
			t.Fatal("closing did not let the reflector go")
		}
		apply <- struct{}{}
	})
}

func TestAListIsNeverSplit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := deltafifo.New(deltafifo.Options{BackPressureAt: 2})
		must(t, q.Add(obj("a", 1)))
		apply := make(chan struct{})
		go func() {
			_, _, err := q.PopEntries(upTo(1), func([]deltafifo.Entry) []deltafifo.Entry {
				<-apply
				return nil
			})
			must(t, err)
		}()
		synctest.Wait()
		objects := make([]any, 100)
		for i := range objects {
			objects[i] = obj(fmt.Sprint(i), 2)
		}
		must(t, q.Replace(objects, "2")) // below the mark when it comes: goes through as a whole
		if v := q.Vitals(time.Now()); v.Deltas != 101 || v.Held != 0 {
			t.Errorf("%d deltas wait, %d held back; want the list and a's tombstone", v.Deltas, v.Held)
		}
		close(apply)
	})
}

func TestCloseLetsGoOfConsumersOnceEmpty(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := deltafifo.New(deltafifo.Options{})
		must(t, q.Add(obj("a", 1)))
		done := make(chan error, 3)
		apply := make(chan struct{})
		for range 3 {
			go func() {
				_, _, err := q.PopEntries(upTo(1), func([]deltafifo.Entry) []deltafifo.Entry {
					<-apply
					return nil
				})
				done <- err
			}()
		}
		synctest.Wait()
		q.Close()
		q.Close()
		close(apply)
		synctest.Wait()
		closed := 0
		for range 3 {
			if errors.Is(<-done, cache.ErrFIFOClosed) {
				closed++
			}
		}
		if closed != 2 {
			t.Errorf("%d of 3 consumers were told that the queue is closed, want 2: one delta was left", closed)
		}
		if _, err := q.Pop(nil); !errors.Is(err, cache.ErrFIFOClosed) {
			t.Errorf("Pop of a closed queue = %v", err)
		}
	})
}

func TestAPanicLeavesAQueueThatWorks(t *testing.T) {
	store := newKnown()
	q := deltafifo.New(deltafifo.Options{KnownObjects: store})
	must(t, q.Add(obj("a", 1)), q.Add(obj("b", 2)))
	func() {
		defer func() { _ = recover() }()
		_, _, _ = q.PopEntries(upTo(1), func([]deltafifo.Entry) []deltafifo.Entry { panic("handler") })
	}()
	must(t, q.CheckInvariants())
	want(t, "popped", drain(t, q, store), []string{"Added b@2"})
}

func TestVitalsCountWhatWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := deltafifo.New(deltafifo.Options{})
		must(t, q.Add(obj("a", 1)), q.Add(obj("b", 1)))
		time.Sleep(time.Second)
		must(t, q.Update(obj("a", 2)))
		time.Sleep(time.Second)
		v := q.Vitals(time.Now())
		if v.Deltas != 3 || v.Keys != 2 || v.Objects != 3 || v.Age != 2*time.Second || v.Peak != 3 || v.BackPressureAt != 2000 || v.Kind != "DeltaFIFO" {
			t.Errorf("vitals = %+v", v)
		}
		// Popped in part: the oldest delta is now b's.
		_, _, err := q.PopEntries(upTo(1), func([]deltafifo.Entry) []deltafifo.Entry {
			if got := q.Waiting([]string{"a", "b", "c"}); !slices.Equal(got, []int{2, 1, 0}) {
				t.Errorf("waiting = %v, want what is in flight counted", got)
			}
			return nil
		})
		must(t, err)
		if v := q.Vitals(time.Now()); v.Age != 2*time.Second || v.Wait.Count != 1 || v.Wait.Max != 2*time.Second {
			t.Errorf("after one delta: %+v", v)
		}
	})
}

func TestRatesFollowArrivalsAndPops(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := deltafifo.New(deltafifo.Options{})
		q.Vitals(time.Now())
		for i := range 100 {
			must(t, q.Add(obj(fmt.Sprint(i), i)))
		}
		_, _, err := q.PopEntries(upTo(40), func(batch []deltafifo.Entry) []deltafifo.Entry { return nil })
		must(t, err)
		time.Sleep(time.Second)
		if v := q.Vitals(time.Now()); v.ArrivalRate != 100 || v.PopRate != 40 {
			t.Errorf("after a second %v/s came and %v/s went, want 100 and 40", v.ArrivalRate, v.PopRate)
		}
	})
}

func TestBookmarksAreNotAmongTheWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := deltafifo.New(deltafifo.Options{})
		must(t, q.Bookmark("1"))
		time.Sleep(time.Hour)
		must(t, q.Add(obj("a", 2)))
		time.Sleep(time.Second)
		if v := q.Vitals(time.Now()); v.Age != time.Second {
			t.Errorf("the oldest delta is %v old, want 1s: a bookmark is none", v.Age)
		}
		_, _, err := q.PopEntries(upTo(1), func([]deltafifo.Entry) []deltafifo.Entry { return nil })
		must(t, err)
		if v := q.Vitals(time.Now()); v.Wait.Count != 1 || v.Wait.Max != time.Second {
			t.Errorf("waits = %+v, want the one second of the delta", v.Wait)
		}
	})
}

func TestReadersAreWokenByChangesAndByBackPressure(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var g tap.Generation
		q := deltafifo.New(deltafifo.Options{BackPressureAt: 1, Generation: &g})
		changed := func(what string, do func()) {
			t.Helper()
			before := g.Current()
			do()
			synctest.Wait()
			if g.Current() == before {
				t.Errorf("%s changed nothing for readers", what)
			}
		}
		apply := make(chan struct{})
		changed("an addition", func() { must(t, q.Add(obj("a", 1)), q.Add(obj("b", 1))) })
		changed("a pop", func() {
			go func() {
				_, _, err := q.PopEntries(upTo(1), func([]deltafifo.Entry) []deltafifo.Entry {
					<-apply
					return nil
				})
				must(t, err)
			}()
		})
		changed("holding the reflector back", func() {
			go func() { must(t, q.Bookmark("2")) }()
		})
		changed("applying", func() { close(apply) })
		changed("closing", q.Close)
	})
}

func TestConsumersTakeTurns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := deltafifo.New(deltafifo.Options{})
		must(t, q.Add(obj("a", 1)), q.Add(obj("b", 2)))
		var processing, done atomic.Int32
		apply := make(chan struct{})
		for range 2 {
			go func() {
				_, _, err := q.PopEntries(upTo(1), func([]deltafifo.Entry) []deltafifo.Entry {
					processing.Add(1)
					<-apply
					return nil
				})
				must(t, err)
				done.Add(1)
			}()
		}
		synctest.Wait()
		if processing.Load() != 1 {
			t.Fatalf("%d batches are in flight at once", processing.Load())
		}
		close(apply)
		synctest.Wait()
		if done.Load() != 2 {
			t.Fatalf("%d of 2 consumers had their turn", done.Load())
		}
	})
}

func TestAKeyCanComeFromWhatPopReturned(t *testing.T) {
	q := deltafifo.New(deltafifo.Options{})
	must(t, q.Add(cache.Deltas{{Type: cache.Added, Object: obj("a", 1)}, {Type: cache.Deleted, Object: obj("b", 2)}}))
	if got := q.Waiting([]string{"a", "b"}); !slices.Equal(got, []int{0, 1}) {
		t.Errorf("waiting = %v, want one for the newest", got)
	}
	if err := q.Add(cache.Deltas{}); !errors.Is(err, cache.ErrZeroLengthDeltasObject) {
		t.Errorf("no deltas at all: %v", err)
	}
}

// snapshots is a store that a Resync asks only once.
type snapshots struct{ *known }

func (s snapshots) Snapshot() (keys []string, objects []any) {
	for _, key := range s.known.ListKeys() {
		o, _, _ := s.GetByKey(key)
		keys, objects = append(keys, key), append(objects, o)
	}
	return keys, objects
}

func TestAResyncOfASnapshotLeavesOutWhatIsPending(t *testing.T) {
	store := newKnown(obj("a", 1), obj("b", 1), obj("c", 1))
	q := deltafifo.New(deltafifo.Options{KnownObjects: snapshots{store}})
	must(t, q.Update(obj("a", 2)), q.Update(obj("b", 2)))
	_, _, err := q.PopEntries(upTo(1), func(batch []deltafifo.Entry) []deltafifo.Entry {
		must(t, q.Resync())
		return store.applyAll(batch)
	})
	must(t, err)
	want(t, "popped", drain(t, q, store), []string{"Updated b@2", "Sync c@1"})
}

// unsure is a store that can't look anything up.
type unsure struct{ *known }

func (unsure) GetByKey(string) (any, bool, error) { return obj("x", 0), true, errors.New("unsure") }

func TestAStoreThatFailsIsTakenToHoldTheObject(t *testing.T) {
	store := newKnown(obj("a", 1), obj("b", 1))
	q := deltafifo.New(deltafifo.Options{KnownObjects: unsure{store}})
	must(t, q.Delete(obj("a", 2)), q.Resync())
	want(t, "popped", drain(t, q, store), []string{"Deleted a@2"})
	must(t, q.Replace(nil, ""))
	want(t, "popped", drain(t, q, store), []string{"Deleted b tombstone(b) of nothing"})
}
