package journal

import (
	"fmt"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"pgregory.net/rapid"

	"github.com/informeter/informeter/engine/inspect"
)

func TestCalmRatesLoseNothing(t *testing.T) {
	const keys, each, perSecond = 5_000, 8, 5_000
	j := New(Options{Bound: 1 << 30})
	at := j.rates.began
	for n := range keys * each {
		at = at.Add(time.Second / perSecond)
		key := fmt.Sprintf("a/%04d", n%keys)
		j.observed(key, podOf(key, fmt.Sprint(n), "U", int32(n)), inspect.CauseWatch, at)
	}
	for n := range keys {
		b := biography(t, j, inspect.BiographyRequest{Key: fmt.Sprintf("a/%04d", n)})
		if len(b.Events) != each || b.Forgotten > 0 {
			t.Fatalf("%s has %d events, forgot %d, want all %d", b.Key, len(b.Events), b.Forgotten, each)
		}
	}
	if _, lost := j.Vitals(); lost.History > 0 {
		t.Errorf("lost %d", lost.History)
	}
}

// TestOfAFloodLessIsLookedAtClosely lets a flood pass whose keys are all quiet,
// and then as much as there is always time for.
func TestOfAFloodLessIsLookedAtClosely(t *testing.T) {
	const keys, seconds = 50_000, 2
	j := New(Options{Bound: 1 << 40})
	j.budget = budget{}
	at, n := j.rates.began, 0
	update := func(perSecond, times int) {
		for range times {
			at = at.Add(time.Second / time.Duration(perSecond))
			key := fmt.Sprintf("a/%06d", n%keys)
			j.observed(key, podOf(key, fmt.Sprint(n), "U", 0), inspect.CauseWatch, at)
			n++
		}
	}
	update(keys, keys) // new keys
	before := j.attention.left
	update(keys, keys*seconds)
	closely := before + float64(closeRate)*floodWindow.Seconds() + floodRate*seconds
	v, lost := j.Vitals()
	// Each history begins with what its key was before.
	if float64(v.Events) > 2*closely || v.Events < floodRate*seconds {
		t.Errorf("%d events are written down of %d updates, want not many more than 2 × %.0f", v.Events, keys*seconds, closely)
	}
	if got := uint64(keys*seconds) - uint64(v.Events)/2; lost.History < got/2 {
		t.Errorf("lost %d, want about %d", lost.History, got)
	}
	update(closeRate, closeRate) // the flood is over
	_, lost = j.Vitals()
	update(closeRate, closeRate)
	if _, later := j.Vitals(); later.History != lost.History {
		t.Errorf("of %d updates in a second %d are lost", closeRate, later.History-lost.History)
	}
}

func TestAFloodOfOneKeyLeavesTimeForTheOthers(t *testing.T) {
	const rounds, burst = 5, 40_000
	j := New(Options{})
	at := j.rates.began
	flood := func() {
		for i := range burst {
			at = at.Add(time.Second / burst)
			j.observed("a/busy", podOf("a/busy", fmt.Sprint(i), "U", 0), inspect.CauseWatch, at)
		}
	}
	for n := range rounds {
		flood()
		for k := range 100 {
			key := fmt.Sprintf("a/%02d", k)
			j.observed(key, podOf(key, fmt.Sprint(n), "U", int32(n)), inspect.CauseWatch, at)
		}
	}
	for k := range 100 {
		b := biography(t, j, inspect.BiographyRequest{Key: fmt.Sprintf("a/%02d", k)})
		if len(b.Events) != 5 || b.Forgotten > 0 || b.Events[4].Times > 0 {
			t.Fatalf("%s has lost some of 5 updates: %+v", b.Key, b)
		}
	}
	b := biography(t, j, inspect.BiographyRequest{Key: "a/busy"})
	if got := happened(b); got != rounds*burst {
		t.Errorf("the busy key was updated %d times, want %d", got, rounds*burst)
	}
	if row := page(t, j, inspect.Query{Limit: 200}).Rows[100]; row.Key != "a/busy" || row.Updates != rounds*burst-1 {
		t.Errorf("its row is %+v", row)
	}
	_, lost := j.Vitals()
	if got := happened(b) - uint64(len(b.Events)); lost.History < got {
		t.Errorf("lost %d, but %d are not there one by one", lost.History, got)
	}
}

func TestWhatIsPlayedBackInAFloodIsWrittenDown(t *testing.T) {
	j := New(Options{})
	for n := range 3 {
		j.observed("a/x", podOf("a/x", fmt.Sprint(n), "U", int32(n)), inspect.CauseWatch, start)
	}
	j.attention = attention{}
	for n := range 3 {
		j.observed("a/x", podOf("a/x", fmt.Sprint(3+n), "U", int32(n)), inspect.CauseWatch, start)
	}
	j.observed("a/x", j.entries.get("a/x").object, inspect.CauseResync, start)
	j.observed("a/x", podOf("a/x", "6", "U", 0), inspect.CauseWatch, start)
	var got []string
	for _, e := range biography(t, j, inspect.BiographyRequest{Key: "a/x"}).Events {
		got = append(got, fmt.Sprint(e.ResourceVersion, " ", e.Cause, " ×", max(e.Times, 1)))
	}
	want := "[0 watch ×1 1 watch ×1 2 watch ×1 5 watch ×3 5 resync ×1 6 watch ×1]"
	if fmt.Sprint(got) != want {
		t.Errorf("got  %v\nwant %s", got, want)
	}
}

// TestAFloodIsCountedAndItsLastVersionKept draws how much is looked at closely:
// whatever it is, counts are exact and the newest version is there.
func TestAFloodIsCountedAndItsLastVersionKept(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		j := unhurried(Options{})
		j.attention = attention{
			rate:  rapid.Float64Range(0, 3).Draw(rt, "rate"),
			burst: float64(rapid.IntRange(0, 6).Draw(rt, "burst")),
		}
		live := map[string]*corev1.Pod{}
		updates, events := map[string]uint64{}, map[string]uint64{}
		at := j.rates.began
		if rapid.Bool().Draw(rt, "sorted") {
			page(t, j, inspect.Query{Sort: inspect.SortRate, Limit: 9})
		}
		for n := range rapid.IntRange(1, 80).Draw(rt, "events") {
			key := rapid.SampledFrom([]string{"a/x", "a/y", "b/z"}).Draw(rt, "key")
			at = at.Add(time.Duration(rapid.IntRange(0, 1500).Draw(rt, "ms")) * time.Millisecond)
			old := live[key]
			switch action := rapid.IntRange(0, 9).Draw(rt, "action"); {
			case action == 0 && old != nil:
				j.observed(key, old, inspect.CauseResync, at)
			case action == 1 && old != nil:
				j.Observe(&Event{Key: key, Cause: inspect.CauseWatch, Old: old, At: at})
				delete(live, key)
				updates[key] = 0
				events[key]++
			case action == 2:
				checkFlooded(rt, j, key, live[key], updates[key], events[key])
			default:
				live[key] = podOf(key, fmt.Sprint(n), rapid.SampledFrom([]string{"U1", "U1", "U1", "U2"}).Draw(rt, "uid"), int32(n))
				j.observed(key, live[key], inspect.CauseWatch, at)
				if old != nil {
					updates[key]++
				}
				events[key]++
			}
			checkHistories(rt, j)
		}
		for key := range events {
			checkFlooded(rt, j, key, live[key], updates[key], events[key])
		}
	})
}

func checkFlooded(rt *rapid.T, j *Journal, key string, live *corev1.Pod, updates, events uint64) {
	if events == 0 {
		return
	}
	b, err := j.Biography(rt.Context(), inspect.BiographyRequest{Key: key})
	if err != nil {
		rt.Fatal(err)
	}
	if got := happened(b); got != events {
		rt.Fatalf("%d things happened to %s, want %d: %+v", got, key, events, b)
	}
	if live == nil {
		return
	}
	if e := j.entries.get(key); uint64(e.updates) != updates {
		rt.Fatalf("%s has %d updates, want %d", key, e.updates, updates)
	}
	for i := len(b.Events) - 1; i >= 0; i-- {
		e := &b.Events[i]
		if e.Cause == inspect.CauseResync {
			continue
		}
		obj, _ := j.Version(key, e.Version)
		if obj != live || e.ResourceVersion != live.ResourceVersion || e.UID != string(live.UID) {
			rt.Fatalf("the newest event of %s is %+v with %v, want %s of %s", key, e, obj, live.ResourceVersion, live.UID)
		}
		return
	}
}

// happened counts what a biography tells of, playbacks apart.
func happened(b inspect.Biography) uint64 {
	n := b.Forgotten
	for i := range b.Events {
		if b.Events[i].Cause == inspect.CauseWatch {
			n += uint64(max(b.Events[i].Times, 1))
		}
	}
	return n
}
