package deltafifo_test

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	diff "github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"k8s.io/client-go/tools/cache"
	"pgregory.net/rapid"

	"github.com/informeter/informeter/engine/deltafifo"
	"github.com/informeter/informeter/engine/inspect"
)

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
			if lines := diff.Diff(want, got); lines != "" {
				t.Errorf("page (-want +got):\n%s", lines)
			}
			got = q.Page(time.Now(), inspect.QueueQuery{Limit: 2, Offset: 1, Filter: "WEB"})
			want.Matched, want.Start, want.Items = 3, 1, want.Items[1:3]
			if lines := diff.Diff(want, got); lines != "" {
				t.Errorf("filtered page (-want +got):\n%s", lines)
			}
			return nil
		})
		must(t, err)
	})
}

func TestALongListOfDeltasIsCutAndCounted(t *testing.T) {
	q := deltafifo.New(deltafifo.Options{})
	for i := range 20 {
		must(t, q.Update(obj("a", i)))
	}
	check := func(p inspect.QueuePage, total int) {
		t.Helper()
		if item := p.Items[0]; len(item.Deltas)+item.More != total || item.Deltas[0].ResourceVersion != fmt.Sprint(20-total) || len(item.Deltas) > 8 {
			t.Errorf("%d deltas from %s, and %d more; want %d in all", len(item.Deltas), item.Deltas[0].ResourceVersion, item.More, total)
		}
	}
	query := inspect.QueueQuery{Limit: 1}
	check(q.Page(time.Now(), query), 20)
	_, _, err := q.PopEntries(upTo(20), func([]deltafifo.Entry) []deltafifo.Entry {
		check(q.Page(time.Now(), query), 20)
		return nil
	})
	must(t, err)
}

// TestAPageIsAWindowOfTheWhole compares windows with the slice of all rows that
// they mean.
func TestAPageIsAWindowOfTheWhole(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		q := deltafifo.New(deltafifo.Options{})
		keys := rapid.SliceOfNDistinct(rapid.StringMatching("[abc]{1,3}"), 0, 20, rapid.ID).Draw(t, "keys")
		for i, key := range keys {
			must(t, q.Add(obj(key, i)))
		}
		query := inspect.QueueQuery{
			Filter: rapid.SampledFrom([]string{"", "a", "!a", "abc", "B"}).Draw(t, "filter"),
			Offset: rapid.OneOf(rapid.IntRange(-2, 25), rapid.Just(math.MaxInt)).Draw(t, "offset"),
			Limit:  rapid.OneOf(rapid.IntRange(0, 6), rapid.Just(math.MaxInt)).Draw(t, "limit"),
		}
		var rows []string
		for _, key := range keys {
			if match := inspect.Match(query.Filter); match == nil || match(key) {
				rows = append(rows, key)
			}
		}
		start, end := inspect.Window(0, query.Offset, query.Limit, len(rows))
		check := func() {
			p := q.Page(time.Now(), query)
			var got []string
			for _, item := range p.Items {
				got = append(got, item.Key)
			}
			if p.Matched != len(rows) || p.Start != start || strings.Join(got, " ") != strings.Join(rows[start:end], " ") {
				t.Fatalf("matched %d, from %d: %v; want %d, %d: %v", p.Matched, p.Start, got, len(rows), start, rows[start:end])
			}
		}
		check()
		if len(keys) == 0 {
			return
		}
		// Rows in flight come first, so the whole is the same.
		_, _, err := q.PopEntries(upTo(len(keys)/2+1), func([]deltafifo.Entry) []deltafifo.Entry {
			check()
			return nil
		})
		must(t, err)
	})
}

func TestAFilterThatTheQueueOvertakesShowsWhatIsStillThere(t *testing.T) {
	const keys = 20_000
	q := deltafifo.New(deltafifo.Options{})
	for i := range keys {
		must(t, q.Add(obj(fmt.Sprintf("k%05d", i), i)))
	}
	pop := func(n int) {
		_, _, err := q.PopEntries(upTo(n), func([]deltafifo.Entry) []deltafifo.Entry { return nil })
		must(t, err)
	}
	looked := map[string]int{}
	p := q.FilteredPage(inspect.QueueQuery{Offset: 990, Limit: 20}, func(key string) bool {
		// While the first keys are looked at, they and many after them go.
		if looked[key]++; key == "k00100" {
			pop(10_000)
		}
		// At the end all but the last ten of what the window chose.
		if key == "k19999" {
			pop(keys - 10_000 - 10)
		}
		return key <= "k00999" || key >= "k19980"
	})
	for key, n := range looked {
		if n != 1 {
			t.Errorf("%s was looked at %d times", key, n)
		}
	}
	if looked["k19990"] != 1 || looked["k12000"] != 1 || looked["k08000"] != 0 {
		t.Error("what still waited was not looked at, or what was gone was")
	}
	if p.Matched != 1020 || p.Start != 990 || p.Keys != 10 {
		t.Errorf("matched %d from %d, %d keys left", p.Matched, p.Start, p.Keys)
	}
	if len(p.Items) != 0 {
		t.Errorf("shown: %v, of which nothing is left", p.Items)
	}
	p = q.FilteredPage(inspect.QueueQuery{Limit: 3}, func(key string) bool {
		if key == "k19990" {
			pop(1)
		}
		return true
	})
	if len(p.Items) != 2 || p.Items[0].Key != "k19991" || p.Items[0].Position != 0 {
		t.Errorf("after the first of three was popped: %v", p.Items)
	}
}

func TestAKeyThatReturnsToAnothersPlaceIsNotTakenForIt(t *testing.T) {
	q := deltafifo.New(deltafifo.Options{})
	must(t, q.Add(obj("a", 1)), q.Add(obj("b", 2)), q.Add(obj("c", 3)))
	p := q.FilteredPage(inspect.QueueQuery{Limit: 5}, func(key string) bool {
		if key == "c" { // a and b are popped; a is put back, where b was
			_, _, err := q.PopEntries(upTo(2), func(batch []deltafifo.Entry) []deltafifo.Entry { return batch[:1] })
			must(t, err)
		}
		return key == "b"
	})
	if len(p.Items) != 0 {
		t.Errorf("shown for b: %+v", p.Items)
	}
}

func TestARowInFlightIsNotShownOnceItHasLanded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := deltafifo.New(deltafifo.Options{})
		must(t, q.Add(obj("a", 1)), q.Add(obj("b", 2)))
		first, second := make(chan struct{}), make(chan struct{})
		go func() {
			for _, apply := range []chan struct{}{first, second} {
				_, _, err := q.PopEntries(upTo(1), func([]deltafifo.Entry) []deltafifo.Entry {
					<-apply
					return nil
				})
				must(t, err)
			}
		}()
		synctest.Wait()
		p := q.FilteredPage(inspect.QueueQuery{Limit: 5}, func(key string) bool {
			if key == "a" { // is applied, and b takes its place in flight
				close(first)
				synctest.Wait()
			}
			return key == "a"
		})
		if len(p.Items) != 0 {
			t.Errorf("shown: %+v", p.Items)
		}
		close(second)
	})
}

// TestAPageIsAWindowOfTheSortedWhole compares windows in every order with the slice
// of all rows, in flight and waiting, that they mean.
func TestAPageIsAWindowOfTheSortedWhole(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		keys := rapid.SliceOfN(rapid.StringMatching("[abc]{1,3}|a"), 0, 40).Draw(rt, "keys")
		inOrder := rapid.Bool().Draw(rt, "in order")
		query := inspect.QueueQuery{
			Filter: rapid.SampledFrom([]string{"", "a", "!a"}).Draw(rt, "filter"),
			Sort:   rapid.SampledFrom([]inspect.Sort{"", inspect.SortPosition, inspect.SortKey, inspect.SortAge, inspect.SortDeltas, inspect.SortCause}).Draw(rt, "sort"),
			Desc:   rapid.Bool().Draw(rt, "desc"),
			Offset: rapid.OneOf(rapid.IntRange(-2, 45), rapid.Just(math.MaxInt)).Draw(rt, "offset"),
			Limit:  rapid.OneOf(rapid.IntRange(0, 6), rapid.Just(math.MaxInt)).Draw(rt, "limit"),
		}
		listed := rapid.IntRange(0, len(keys)).Draw(rt, "listed")
		popped := rapid.IntRange(0, len(keys)).Draw(rt, "popped")
		var err error
		synctest.Test(t, func(*testing.T) { err = sortedPage(keys, listed, popped, inOrder, query) })
		if err != nil {
			rt.Fatal(err)
		}
	})
}

// sortedPage enqueues the keys, the first of them as a list, a second apart,
// takes some in flight, and compares what a query shows with what it means.
func sortedPage(keys []string, listed, popped int, inOrder bool, query inspect.QueueQuery) error {
	q := queue(deltafifo.New(deltafifo.Options{}))
	if inOrder {
		q = deltafifo.NewInOrder(deltafifo.Options{})
	}
	var objects []any
	for i, key := range keys[:listed] {
		objects = append(objects, obj(key, i))
	}
	if err := q.Replace(objects, "1"); err != nil {
		return err
	}
	for i, key := range keys[listed:] {
		time.Sleep(time.Second)
		if err := q.Update(obj(key, listed+i)); err != nil {
			return err
		}
	}
	var failure error
	check := func([]deltafifo.Entry) []deltafifo.Entry {
		now := time.Now()
		rows := q.Page(now, inspect.QueueQuery{Filter: query.Filter, Limit: 1000}).Items
		sign := 1
		if query.Desc {
			sign = -1
		}
		slices.SortStableFunc(rows, func(a, b inspect.QueueItem) int {
			switch query.Sort {
			case inspect.SortKey:
				return sign * strings.Compare(a.Key, b.Key)
			case inspect.SortDeltas:
				return sign * cmp.Compare(len(a.Deltas)+a.More, len(b.Deltas)+b.More)
			case inspect.SortCause:
				return sign * strings.Compare(newestCause(a), newestCause(b))
			case inspect.SortAge:
				return sign * cmp.Compare(a.Age, b.Age)
			}
			return 0
		})
		if (query.Sort == "" || query.Sort == inspect.SortPosition) && query.Desc {
			slices.Reverse(rows)
		}
		start, end := inspect.Window(0, query.Offset, query.Limit, len(rows))
		got := q.Page(now, query)
		if got.Matched != len(rows) || got.Start != start || !diff.Equal(got.Items, rows[start:end], cmpopts.EquateEmpty()) {
			failure = fmt.Errorf("matched %d from %d, want %d from %d: %s", got.Matched, got.Start, len(rows), start, diff.Diff(rows[start:end], got.Items))
		}
		return nil
	}
	if check(nil); failure != nil || popped == 0 || len(keys) == 0 {
		return failure
	}
	if _, _, err := q.PopEntries(upTo(popped), check); err != nil {
		return err
	}
	return failure
}

func newestCause(i inspect.QueueItem) string {
	if len(i.Deltas) == 0 {
		return ""
	}
	return i.Deltas[len(i.Deltas)-1].Cause.String()
}
