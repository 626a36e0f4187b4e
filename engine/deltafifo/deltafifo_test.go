package deltafifo_test

import (
	"errors"
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/client-go/tools/cache"

	"github.com/informeter/informeter/engine/deltafifo"
	"github.com/informeter/informeter/engine/inspect"
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
func must(t testing.TB, errs ...error) {
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
	if want(t, "popped", got, []string{"Bookmark@1"}); taken != 0 {
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

func TestWhatFailsIsPutBackUntilItWasTriedOftenEnough(t *testing.T) {
	q := deltafifo.New(deltafifo.Options{MaxAttempts: 2})
	must(t, q.Add(obj("a", 1)), q.Add(obj("b", 2)), q.Add(obj("c", 3)))
	var got []string
	var lost []deltafifo.Entry
	for len(got) < 5 {
		_, dropped, err := q.PopEntries(upTo(2), func(batch []deltafifo.Entry) (failed []deltafifo.Entry) {
			for _, e := range batch {
				got = append(got, fmt.Sprintf("%s#%d", text(e.Key, e.Delta), e.Attempts))
				if e.Key == "a" {
					failed = append(failed, e)
				}
			}
			return failed
		})
		must(t, err, q.CheckInvariants())
		lost = append(lost, dropped...)
	}
	want(t, "processed", got, []string{"Added a@1#0", "Added b@2#0", "Added a@1#1", "Added c@3#0", "Added a@1#2"})
	want(t, "dropped", texts(lost), []string{"Added a@1"})
}

func TestWhatFailsIsDroppedIfSomethingNewerWaits(t *testing.T) {
	store := newKnown()
	q := deltafifo.New(deltafifo.Options{KnownObjects: store})
	must(t, q.Add(obj("a", 1)))
	_, dropped, err := q.PopEntries(upTo(2), func(batch []deltafifo.Entry) []deltafifo.Entry {
		must(t, q.Update(obj("a", 2)))
		return batch
	})
	must(t, err, q.CheckInvariants())
	want(t, "dropped", texts(dropped), []string{"Added a@1"})
	want(t, "popped", drain(t, q, store), []string{"Updated a@2"})
}

func TestWhatFailsIsDroppedIfSomethingNewerWasApplied(t *testing.T) {
	q := deltafifo.New(deltafifo.Options{})
	must(t, q.Add(obj("a", 1)), q.Update(obj("a", 2)), q.Update(obj("a", 3)), q.Delete(obj("a", 4)))
	_, dropped, err := q.PopEntries(upTo(4), func(batch []deltafifo.Entry) []deltafifo.Entry {
		return []deltafifo.Entry{batch[0], batch[2], batch[3]}
	})
	must(t, err, q.CheckInvariants())
	want(t, "dropped", texts(dropped), []string{"Added a@1"})
	want(t, "put back", drain(t, q, newKnown()), []string{"Updated a@3", "Deleted a@4"})
}

func TestSyncWaitsForWhatWasPutBack(t *testing.T) {
	q := deltafifo.New(deltafifo.Options{MaxAttempts: 1})
	must(t, q.Replace(list(obj("a", 1), obj("b", 1)), "1"))
	refuse := func(batch []deltafifo.Entry) []deltafifo.Entry {
		for _, e := range batch {
			if e.Type != cache.Bookmark && !e.InInitialList {
				t.Errorf("%s is not in the initial list", e.Key)
			}
		}
		return batch[:1]
	}
	_, _, err := q.PopEntries(upTo(2), refuse)
	must(t, err, q.CheckInvariants())
	if q.HasSynced() {
		t.Error("synced with a delta of the first list put back")
	}
	_, dropped, err := q.PopEntries(upTo(2), refuse)
	must(t, err, q.CheckInvariants())
	if len(dropped) != 1 || !q.HasSynced() {
		t.Errorf("%d dropped, synced %v; want what is given up not to keep the informer waiting", len(dropped), q.HasSynced())
	}
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

func TestAPageShowsFlightThenOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := deltafifo.New(deltafifo.Options{})
		must(t, q.Replace(list(obj("web-0", 1), obj("web-1", 1), obj("api-0", 1)), "1"))
		time.Sleep(time.Second)
		must(t, q.Update(obj("web-0", 2)), q.Delete(cache.DeletedFinalStateUnknown{Key: "web-1", Obj: obj("web-1", 1)}))
		_, _, err := q.PopEntries(upTo(1), func([]deltafifo.Entry) []deltafifo.Entry {
			got := q.Page(time.Now(), inspect.QueueQuery{Limit: 10})
			want := inspect.QueuePage{Deltas: 4, Keys: 3, Matched: 4, Items: []inspect.QueueItem{
				{Key: "web-0", Position: -1, InFlight: true, Age: time.Second, Deltas: []inspect.DeltaInfo{
					{Type: "Replaced", Cause: inspect.CauseInitial, ResourceVersion: "1", Age: time.Second, Objects: 1},
				}},
				{Key: "web-0", Deltas: []inspect.DeltaInfo{
					{Type: "Updated", Cause: inspect.CauseWatch, ResourceVersion: "2", Objects: 1},
				}},
				{Key: "web-1", Position: 1, Age: time.Second, Deltas: []inspect.DeltaInfo{
					{Type: "Replaced", Cause: inspect.CauseInitial, ResourceVersion: "1", Age: time.Second, Objects: 1},
					{Type: "Deleted", Cause: inspect.CauseWatch, ResourceVersion: "1", Tombstone: true, Objects: 1},
				}},
				{Key: "api-0", Position: 2, Age: time.Second, Deltas: []inspect.DeltaInfo{
					{Type: "Replaced", Cause: inspect.CauseInitial, ResourceVersion: "1", Age: time.Second, Objects: 1},
				}},
			}}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("page (-want +got):\n%s", diff)
			}
			got = q.Page(time.Now(), inspect.QueueQuery{Limit: 2, Offset: 1, Filter: "WEB"})
			want.Matched, want.Start, want.Items = 3, 1, want.Items[1:3]
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("filtered page (-want +got):\n%s", diff)
			}
			return nil
		})
		must(t, err)
	})
}
