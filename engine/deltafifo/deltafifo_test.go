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

func TestADeletionOfWhatIsGoneIsTold(t *testing.T) {
	store := newKnown(obj("a", 1))
	var ignored []string
	var q *deltafifo.DeltaFIFO
	q = deltafifo.New(deltafifo.Options{KnownObjects: store, Ignored: func(key string, o any) {
		q.Vitals(time.Now()) // the lock is free
		ignored = append(ignored, key+"@"+o.(*object).ResourceVersion)
	}})
	must(t, q.Delete(obj("b", 2)), q.Delete(obj("a", 3)), q.Delete(obj("a", 4)))
	_, _, err := q.PopEntries(upTo(1), func(batch []deltafifo.Entry) []deltafifo.Entry {
		q.Enqueue([]cache.Delta{{Type: cache.Deleted, Object: obj("a", 5)}, {Type: cache.Added, Object: obj("c", 6)}}, func(int, error) {
			t.Error("what is ignored has not failed")
		})
		return store.applyAll(batch)
	})
	must(t, err, q.CheckInvariants())
	want(t, "ignored", ignored, []string{"b@2", "a@5"}) // a@4 is merged
	want(t, "popped", drain(t, q, store), []string{"Added c@6"})
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

func TestEnqueueTakesTheLockOnceForManyAndKeepsTheirOrder(t *testing.T) {
	for name, q := range map[string]queue{
		"DeltaFIFO": deltafifo.New(deltafifo.Options{}),
		"InOrder":   deltafifo.NewInOrder(deltafifo.Options{}),
	} {
		t.Run(name, func(t *testing.T) {
			const n = 100
			deltas := make([]cache.Delta, 0, n+1)
			for i := range n {
				deltas = append(deltas, cache.Delta{Type: cache.Added, Object: obj(fmt.Sprintf("pod-%03d", i), i)})
			}
			deltas[77].Object = "an object without metadata"
			deltas = append(deltas, cache.Delta{Type: cache.Bookmark, Object: cache.BookmarkInfo{ResourceVersion: "9"}})
			var failed []int
			q.Enqueue(deltas, func(i int, err error) {
				var keyErr cache.KeyError
				if !errors.As(err, &keyErr) {
					t.Errorf("delta %d: %v is no KeyError", i, err)
				}
				failed = append(failed, i)
			})
			if !slices.Equal(failed, []int{77}) {
				t.Errorf("failed: %v", failed)
			}
			times := map[time.Time]bool{}
			_, _, err := q.PopEntries(upTo(2*n), func(batch []deltafifo.Entry) []deltafifo.Entry {
				for i, want := range slices.Delete(slices.Clone(deltas), 77, 78) {
					if batch[i].Delta != want {
						t.Fatalf("entry %d is %v, want %v", i, batch[i].Delta, want)
					}
					times[batch[i].Arrived] = true
				}
				return nil
			})
			if err != nil || len(times) > 5 {
				t.Errorf("%d times of arrival, %v", len(times), err)
			}
		})
	}
}
