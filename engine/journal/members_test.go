package journal

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/informeter/informeter/engine/inspect"
)

// TestMembersStandAsAllKeysDo: in every order and for every filter they are those
// of the page of all keys, and so is the window.
func TestMembersStandAsAllKeysDo(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		j := unhurried(Options{})
		j.scanChunk = 4
		var of []string
		for i := range rapid.IntRange(0, 30).Draw(t, "keys") {
			key := fmt.Sprintf("ns-%d/%02d", i%3, i)
			for n := range rapid.IntRange(1, 4).Draw(t, "versions") {
				p := pod(key, fmt.Sprint(rapid.IntRange(1, 30).Draw(t, "version")*10+n))
				p.Labels = map[string]string{"app": []string{"web", "db"}[i%2]}
				j.observed(key, p, inspect.CauseWatch, start.Add(time.Duration(n)*time.Second))
			}
			if rapid.Bool().Draw(t, "in") {
				of = append(of, key)
			}
		}
		q := inspect.Query{
			Sort: rapid.SampledFrom([]inspect.Sort{
				"", inspect.SortKey, inspect.SortVersion, inspect.SortAge, inspect.SortChanged, inspect.SortUpdates,
				inspect.SortRate, inspect.SortNoOps, inspect.SortWriter, inspect.SortSize,
			}).Draw(t, "by"),
			Desc:   rapid.Bool().Draw(t, "desc"),
			Filter: rapid.SampledFrom([]string{"", "1", "!ns-1", "-l app=web"}).Draw(t, "filter"),
		}
		all := q
		all.Limit = 100
		page, err := j.Page(context.Background(), all)
		for err == nil && page.Scanned < page.Total {
			page, err = j.Page(context.Background(), all) // where there was no time for it
		}
		if err != nil {
			t.Fatal(err)
		}
		want := slices.DeleteFunc(keysOf(page), func(key string) bool { return !slices.Contains(of, key) })
		for _, key := range append([]string{""}, want...) {
			q.Cursor, q.Offset, q.Limit = key, rapid.IntRange(-3, 3).Draw(t, "offset"), rapid.IntRange(0, 5).Draw(t, "limit")
			got, err := j.Members(context.Background(), "x", q, func() ([]string, error) { return slices.Clone(of), nil })
			from, to := inspect.Window(max(slices.Index(want, key), 0), q.Offset, q.Limit, len(want))
			if err != nil || got.Start != from || got.Matched != len(want) || got.Total != len(of) || !slices.Equal(got.Keys, want[from:to]) {
				t.Fatalf("%+v: %+v, %v; want %v from %d of %v", q, got, err, want[from:to], from, want)
			}
		}
	})
}

// TestManyMembersAreNotPutInOrderAllTheTime: it takes a tenth of the time at most.
func TestManyMembersAreNotPutInOrderAllTheTime(t *testing.T) {
	j := unhurried(Options{})
	asked := 0
	ask := func(cursor string) Window {
		t.Helper()
		w, err := j.Members(t.Context(), "x", inspect.Query{Sort: inspect.SortUpdates, Cursor: cursor, Limit: 1}, func() ([]string, error) {
			asked++
			return []string{"a", "b", fmt.Sprint("c", asked)}, nil
		})
		if err != nil {
			t.Fatal(err)
		}
		return w
	}
	ask("")
	m := j.orders.kept[0]
	m.cost, m.made = time.Hour, time.Now().Add(-9*time.Hour)
	if ask(""); asked != 1 {
		t.Error("put in order again after nine times as long as it took")
	}
	if got := ask("c1"); got.Start != 2 {
		t.Errorf("c1 is at %d", got.Start)
	}
	m.made = time.Now().Add(-10 * time.Hour)
	if ask(""); asked != 2 {
		t.Error("not put in order again")
	}
	// What is gone leaves the window where it was.
	if got := ask("c1"); got.Start != 2 || got.Keys[0] != "c2" && got.Keys[0] != "c3" {
		t.Errorf("the window of what is gone: %+v", got)
	}
	for i := range membersKept {
		if _, err := j.Members(t.Context(), fmt.Sprint(i), inspect.Query{}, func() ([]string, error) { return nil, nil }); err != nil {
			t.Fatal(err)
		}
	}
	if n := len(j.orders.kept); n != membersKept || j.orders.find("x", inspect.Query{Sort: inspect.SortUpdates}) != nil {
		t.Errorf("%d orders are kept, the oldest among them", n)
	}
}

func TestMembersThatCanNotBeHad(t *testing.T) {
	j := unhurried(Options{})
	none := errors.New("no such bucket")
	list := func() ([]string, error) { return []string{"a"}, nil }
	if _, err := j.Members(t.Context(), "x", inspect.Query{}, func() ([]string, error) { return nil, none }); !errors.Is(err, none) {
		t.Errorf("error = %v, want that of the list", err)
	}
	if _, err := j.Members(t.Context(), "x", inspect.Query{Sort: "phase"}, list); !errors.Is(err, inspect.ErrUnsupported) {
		t.Errorf("error = %v, want ErrUnsupported", err)
	}
	if _, err := j.Members(t.Context(), "x", inspect.Query{Filter: "/(/"}, list); err == nil {
		t.Error("a filter that is none was taken")
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := j.Members(ended, "x", inspect.Query{}, list); !errors.Is(err, context.Canceled) {
		t.Errorf("error = %v, want the context's", err)
	}
	// The store may have what the journal has not been told of yet.
	if w, err := j.Members(t.Context(), "x", inspect.Query{Limit: 1}, list); err != nil || !slices.Equal(w.Keys, []string{"a"}) {
		t.Errorf("%v, %v", w, err)
	}
	if w, err := j.Members(t.Context(), "x", inspect.Query{Limit: 1, Filter: "-l a=b"}, list); err != nil || w.Matched != 0 {
		t.Errorf("%v, %v", w, err)
	}
}

// BenchmarkMembers puts the keys of a bucket in order and then shows a window of
// what is in order already.
func BenchmarkMembers(b *testing.B) {
	keys := benchKeys(1_000_000)
	j, _ := benchJournal(keys)
	for _, n := range []int{1_000, 100_000, 1_000_000} {
		for _, by := range []inspect.Sort{inspect.SortRate, inspect.SortWriter} {
			q := inspect.Query{Sort: by, Desc: true, Cursor: keys[n/2], Limit: 50}
			list := func() ([]string, error) { return keys[:n], nil }
			members := func(b *testing.B) {
				if _, err := j.Members(b.Context(), "x", q, list); err != nil {
					b.Fatal(err)
				}
			}
			b.Run(fmt.Sprintf("keys=%d/sort=%s/first", n, by), func(b *testing.B) {
				for b.Loop() {
					j.orders.kept = nil
					members(b)
				}
			})
			b.Run(fmt.Sprintf("keys=%d/sort=%s/again", n, by), func(b *testing.B) {
				members(b)
				for b.Loop() {
					j.orders.kept[len(j.orders.kept)-1].cost = time.Hour
					members(b)
				}
			})
		}
	}
}
