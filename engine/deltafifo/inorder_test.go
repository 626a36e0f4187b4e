package deltafifo_test

import (
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

// turns pops from q, limit deltas at a time, until nothing waits, and returns
// each batch.
func turns(t *testing.T, q queue, limit int, process func([]deltafifo.Entry) []deltafifo.Entry) [][]string {
	t.Helper()
	var got [][]string
	for q.Page(time.Now(), inspect.QueueQuery{}).Matched > 0 {
		_, _, err := q.PopEntries(upTo(limit), func(batch []deltafifo.Entry) []deltafifo.Entry {
			got = append(got, texts(batch))
			return process(batch)
		})
		must(t, err, q.CheckInvariants())
	}
	return got
}

func succeed([]deltafifo.Entry) []deltafifo.Entry { return nil }

func TestInOrderKeepsEveryEventInItsPlace(t *testing.T) {
	q := deltafifo.NewInOrder(deltafifo.Options{KnownObjects: newKnown()})
	must(t,
		q.Replace(list(obj("a", 1), obj("b", 1)), "1"), q.Update(obj("a", 2)), q.Add(obj("c", 3)), q.Bookmark("4"),
		q.Delete(obj("a", 5)), q.Delete(obj("never", 5)), q.Resync(), q.Update(obj("a", 6)))
	got := turns(t, q, 2, succeed)
	want := [][]string{
		{"ReplacedAll@1 a@1 b@1"},
		{"Updated a@2", "Added c@3", "Bookmark@4"},
		{"Deleted a@5", "Deleted never@5"},
		{"SyncAll  cache.SyncAllInfo"},
		{"Updated a@6"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("batches (-want +got):\n%s", diff)
	}
}

func TestInOrderDepthIsCountedInEntriesAndInObjects(t *testing.T) {
	q := deltafifo.NewInOrder(deltafifo.Options{KnownObjects: newKnown(obj("x", 1), obj("y", 1), obj("z", 1))})
	must(t, q.Replace(list(obj("a", 1), obj("b", 1)), "1"), q.Resync(), q.Add(obj("c", 2)), q.Update(obj("c", 3)), q.Bookmark("4"))
	v := q.Vitals(time.Now())
	if v.Deltas != 4 || v.Objects != 2+3+1+1 || v.Keys != 1 || v.Kind != "InOrder" {
		t.Errorf("vitals = %+v, want 4 deltas for 7 objects, on one key", v)
	}
	if got := q.Waiting([]string{"a", "c"}); !slices.Equal(got, []int{0, 2}) {
		t.Errorf("waiting = %v", got)
	}
	turns(t, q, 1, succeed)
	if v := q.Vitals(time.Now()); v.Deltas != 0 || v.Objects != 0 || v.Keys != 0 || v.Age != 0 {
		t.Errorf("empty: vitals = %+v", v)
	}
}

func TestInOrderPutsBackWhatNothingNewerReplaces(t *testing.T) {
	q := deltafifo.NewInOrder(deltafifo.Options{MaxAttempts: 1})
	must(t, q.Add(obj("a", 1)), q.Add(obj("b", 2)), q.Update(obj("a", 3)), q.Add(obj("c", 4)))
	var lost []deltafifo.Entry
	var got []string
	for q.Vitals(time.Now()).Deltas > 0 {
		_, dropped, err := q.PopEntries(upTo(10), func(batch []deltafifo.Entry) (failed []deltafifo.Entry) {
			got = append(got, texts(batch)...)
			for _, e := range batch {
				// The first a, which the second one supersedes, b, and c for good.
				if e.Object.(*object).ResourceVersion == "1" || e.Key == "c" || e.Key == "b" && e.Attempts == 0 {
					failed = append(failed, e)
				}
			}
			return failed
		})
		must(t, err, q.CheckInvariants())
		lost = append(lost, dropped...)
	}
	want(t, "processed", got, []string{"Added a@1", "Added b@2", "Updated a@3", "Added c@4", "Added b@2", "Added c@4"})
	want(t, "dropped", texts(lost), []string{"Added a@1", "Added c@4"})
}

func TestInOrderDropsWhatFailedIfSomethingNewerWaits(t *testing.T) {
	q := deltafifo.NewInOrder(deltafifo.Options{})
	must(t, q.Add(obj("a", 1)))
	_, dropped, err := q.PopEntries(upTo(1), func(batch []deltafifo.Entry) []deltafifo.Entry {
		must(t, q.Update(obj("a", 2)))
		return batch
	})
	must(t, err, q.CheckInvariants())
	want(t, "dropped", texts(dropped), []string{"Added a@1"})
	if got := turns(t, q, 10, succeed); len(got) != 1 || len(got[0]) != 1 || got[0][0] != "Updated a@2" {
		t.Errorf("popped %v", got)
	}
}

func TestInOrderWhatIsDroppedIsInOrder(t *testing.T) {
	q := deltafifo.NewInOrder(deltafifo.Options{MaxAttempts: -1})
	must(t, q.Add(obj("a", 1)), q.Add(obj("b", 2)), q.Add(obj("c", 3)))
	_, dropped, err := q.PopEntries(upTo(3), func(batch []deltafifo.Entry) []deltafifo.Entry { return batch[1:] })
	must(t, err, q.CheckInvariants())
	want(t, "dropped", texts(dropped), []string{"Added b@2", "Added c@3"})
}

func TestInOrderAListIsAloneInItsBatch(t *testing.T) {
	q := deltafifo.NewInOrder(deltafifo.Options{})
	must(t, q.Bookmark("1"), q.Replace(list(obj("a", 2)), "2"), q.Bookmark("3"), q.Add(obj("b", 4)), q.Add(obj("c", 5)), q.Resync(), q.Resync())
	got := turns(t, q, 10, succeed)
	want := [][]string{
		{"Bookmark@1"},
		{"ReplacedAll@2 a@2"},
		{"Bookmark@3", "Added b@4", "Added c@5"},
		{"SyncAll  cache.SyncAllInfo"},
		{"SyncAll  cache.SyncAllInfo"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("batches (-want +got):\n%s", diff)
	}
}

func TestInOrderARelistThatFailedReturnsBeforeWhatCameAfter(t *testing.T) {
	q := deltafifo.NewInOrder(deltafifo.Options{})
	must(t, q.Replace(list(obj("a", 1)), "1"))
	tries := 0
	got := turns(t, q, 10, func(batch []deltafifo.Entry) []deltafifo.Entry {
		if batch[0].Type != cache.ReplacedAll {
			return nil
		}
		if tries++; tries > 1 {
			return nil
		}
		must(t, q.Update(obj("a", 2)))
		if q.HasSynced() {
			t.Error("synced before the list was applied")
		}
		return batch
	})
	if diff := cmp.Diff([][]string{{"ReplacedAll@1 a@1"}, {"ReplacedAll@1 a@1"}, {"Updated a@2"}}, got); diff != "" {
		t.Errorf("batches (-want +got):\n%s", diff)
	}
	if !q.HasSynced() {
		t.Error("not synced after the list was applied")
	}
}

func TestInOrderPageShowsEveryEvent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := deltafifo.NewInOrder(deltafifo.Options{KnownObjects: newKnown(obj("x", 1), obj("y", 1))})
		must(t, q.Add(obj("a", 1)), q.Replace(list(obj("a", 2), obj("b", 2)), "2"))
		time.Sleep(time.Second)
		must(t, q.Resync(), q.Bookmark("3"), q.Update(obj("a", 4)))
		_, _, err := q.PopEntries(upTo(1), func([]deltafifo.Entry) []deltafifo.Entry {
			delta := func(kind string, cause inspect.Cause, rv string, age time.Duration, objects int) []inspect.DeltaInfo {
				return []inspect.DeltaInfo{{Type: kind, Cause: cause, ResourceVersion: rv, Age: age, Objects: objects}}
			}
			want := inspect.QueuePage{Deltas: 3, Keys: 1, Matched: 5, Items: []inspect.QueueItem{
				{Key: "a", Position: -1, InFlight: true, Age: time.Second, Deltas: delta("Added", inspect.CauseWatch, "1", time.Second, 1)},
				{Position: 0, Age: time.Second, Deltas: delta("ReplacedAll", inspect.CauseInitial, "2", time.Second, 2)},
				{Position: 1, Deltas: delta("SyncAll", inspect.CauseResync, "", 0, 2)},
				{Position: 2, Deltas: delta("Bookmark", inspect.CauseWatch, "3", 0, 0)},
				{Key: "a", Position: 3, Deltas: delta("Updated", inspect.CauseWatch, "4", 0, 1)},
			}}
			if diff := cmp.Diff(want, q.Page(time.Now(), inspect.QueueQuery{Limit: 10})); diff != "" {
				t.Errorf("page (-want +got):\n%s", diff)
			}
			want.Matched, want.Items = 2, []inspect.QueueItem{want.Items[0], want.Items[4]}
			if diff := cmp.Diff(want, q.Page(time.Now(), inspect.QueueQuery{Limit: 10, Filter: "a"})); diff != "" {
				t.Errorf("filtered page (-want +got):\n%s", diff)
			}
			return nil
		})
		must(t, err)
	})
}

func TestInOrderHoldsTheReflectorBackWhileABatchIsApplied(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := deltafifo.NewInOrder(deltafifo.Options{BackPressureAt: 2})
		for i := range 4 {
			must(t, q.Add(obj(fmt.Sprint(i), i)))
		}
		apply := make(chan struct{})
		go func() {
			_, _, err := q.PopEntries(upTo(1), func([]deltafifo.Entry) []deltafifo.Entry {
				<-apply
				return nil
			})
			must(t, err)
		}()
		synctest.Wait()
		added := false
		go func() {
			must(t, q.Add(obj("late", 1)))
			added = true
		}()
		synctest.Wait()
		if added || !q.Vitals(time.Now()).BackPressure {
			t.Error("enqueued above the mark while a batch was in flight")
		}
		close(apply)
		synctest.Wait()
		if !added || q.Vitals(time.Now()).BackPressure {
			t.Error("still held back after the batch")
		}
	})
}
