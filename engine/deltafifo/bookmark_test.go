package deltafifo_test

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"k8s.io/client-go/tools/cache"

	"github.com/informeter/informeter/engine/deltafifo"
)

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
