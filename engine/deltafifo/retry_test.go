package deltafifo_test

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"k8s.io/client-go/tools/cache"

	"github.com/informeter/informeter/engine/deltafifo"
)

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

func TestWhatIsPutBackKeepsItsOrder(t *testing.T) {
	q := deltafifo.New(deltafifo.Options{})
	must(t, q.Add(obj("a", 1)), q.Add(obj("b", 2)), q.Update(obj("a", 3)), q.Add(obj("c", 4)), q.Add(obj("d", 5)))
	_, _, err := q.PopEntries(upTo(4), func(batch []deltafifo.Entry) []deltafifo.Entry { return batch })
	must(t, err, q.CheckInvariants())
	want(t, "popped again", drain(t, q, newKnown()), []string{"Added a@1", "Updated a@3", "Added b@2", "Added c@4", "Added d@5"})
}

func TestNeverPutBackMeansNever(t *testing.T) {
	q := deltafifo.New(deltafifo.Options{MaxAttempts: -1})
	must(t, q.Add(obj("a", 1)))
	_, dropped, err := q.PopEntries(upTo(1), func(batch []deltafifo.Entry) []deltafifo.Entry { return batch })
	must(t, err, q.CheckInvariants())
	want(t, "dropped", texts(dropped), []string{"Added a@1"})
	want(t, "left", drain(t, q, newKnown()), nil)
}

func TestWhatDoesNotComeFromTheBatchIsHandedBack(t *testing.T) {
	q := deltafifo.New(deltafifo.Options{})
	must(t, q.Add(obj("a", 1)), q.Add(obj("b", 2)), q.Bookmark("3"))
	_, dropped, err := q.PopEntries(upTo(2), func(batch []deltafifo.Entry) []deltafifo.Entry {
		alien := batch[0]
		alien.Key = "alien"
		return []deltafifo.Entry{alien, batch[2]}
	})
	must(t, err, q.CheckInvariants())
	want(t, "dropped", texts(dropped), []string{"Added alien@1", "Bookmark@3"})
	want(t, "left", drain(t, q, newKnown()), nil)
}

func TestTheAgeIsThatOfTheOldestEvenBehindWhatWasPutBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := deltafifo.New(deltafifo.Options{})
		must(t, q.Add(obj("a", 1)), q.Add(obj("b", 2)))
		time.Sleep(time.Second)
		must(t, q.Update(obj("a", 3)))
		_, _, err := q.PopEntries(upTo(2), func(batch []deltafifo.Entry) []deltafifo.Entry { return batch[1:] })
		must(t, err, q.CheckInvariants())
		if v := q.Vitals(time.Now()); v.Deltas != 2 || v.Age != time.Second {
			t.Errorf("%d deltas wait, the oldest for %v; want b's second, behind the younger a", v.Deltas, v.Age)
		}
	})
}
