package journal

import (
	"fmt"
	"maps"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/informeter/informeter/engine/inspect"
)

func TestAJournalThatCaughtUpHasWhatTheStoreHas(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		j := unhurried(Options{})
		at := j.rates.began
		keys := rapid.SampledFrom([]string{"a/1", "a/2", "a/3", "b/1", "b/2", "b/3", "b/4"})
		store := map[string]string{}
		query := inspect.Query{Sort: inspect.SortVersion, Filter: rapid.SampledFrom([]string{"", "a", "!1"}).Draw(rt, "filter"), Limit: 10}
		for n := range rapid.IntRange(1, 40).Draw(rt, "events") {
			at = at.Add(time.Second)
			key, rv := keys.Draw(rt, "key"), fmt.Sprint(n+1)
			told := rapid.IntRange(0, 2).Draw(rt, "told") > 0
			switch deleted := rapid.IntRange(0, 3).Draw(rt, "deleted") == 0; {
			case deleted && store[key] != "":
				delete(store, key)
				if told {
					j.gone(key)
				}
			case !deleted:
				store[key] = rv
				if told {
					j.observed(key, pod(key, rv), inspect.CauseWatch, at)
				}
			}
			if rapid.IntRange(0, 3).Draw(rt, "ask") == 0 {
				if _, err := j.Page(rt.Context(), query); err != nil {
					rt.Fatal(err)
				}
			}
		}
		var objects []any
		stored := slices.Sorted(maps.Keys(store))
		for _, key := range stored {
			objects = append(objects, pod(key, store[key]))
		}
		ticks := 0
		before := j.lost
		j.CatchUp(stored, objects, 7, at.Add(time.Second), func() { ticks++ })
		p, err := j.Page(rt.Context(), inspect.Query{Limit: 10})
		if err != nil {
			rt.Fatal(err)
		}
		if !slices.Equal(keysOf(p), append([]string{}, stored...)) || p.Total != len(stored) || p.Scanned != p.Total {
			rt.Fatalf("keys = %v of %d, want %v", keysOf(p), p.Total, stored)
		}
		for _, r := range p.Rows {
			if r.ResourceVersion != store[r.Key] {
				rt.Fatalf("%s has version %s, want %s", r.Key, r.ResourceVersion, store[r.Key])
			}
		}
		if ticks == 0 || j.lost != before+7 {
			rt.Fatalf("%d ticks, %d lost", ticks, j.lost)
		}
		// What was published before is in already, what comes after is not.
		j.observed("a/1", pod("a/1", "5"), inspect.CauseWatch, at)
		if e := j.entries.get("a/1"); e != nil && e.version() != store["a/1"] {
			rt.Fatalf("a notification of before made a/1 version %s", e.version())
		}
		j.observed("a/1", pod("a/1", "99"), inspect.CauseWatch, at.Add(time.Second))
		if j.entries.get("a/1").version() != "99" {
			rt.Fatal("a notification of after is not in")
		}
		checkHistories(rt, j)
	})
}

func TestAPageSaysHowManyKeysAreStillToCome(t *testing.T) {
	j := New(Options{Expect: 1000})
	if p := page(t, j, inspect.Query{Limit: 1}); p.Total != 1000 || p.Scanned != 0 {
		t.Errorf("page = %+v", p)
	}
	var keys []string
	var objects []any
	for n := range 1000 {
		keys = append(keys, fmt.Sprintf("a/%03d", n))
		objects = append(objects, pod(keys[n], "1"))
	}
	seen := false
	j.CatchUp(keys, objects, 0, start, func() {
		p := page(t, j, inspect.Query{Limit: 3})
		seen = seen || p.Scanned > 0 && p.Scanned < 1000 && p.Total == 1000 && len(p.Rows) == 3
	})
	if p := page(t, j, inspect.Query{Limit: 1}); !seen || p.Scanned != 1000 || p.Total != 1000 {
		t.Errorf("rows on the way: %v; page = %+v", seen, p)
	}
}
