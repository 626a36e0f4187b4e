package journal

import (
	"fmt"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/informeter/informeter/engine/inspect"
)

// events is a Batch.
type events []Event

func (e events) Len() int          { return len(e) }
func (e events) Key(i int) string  { return e[i].Key }
func (e events) Event(i int) Event { return e[i] }

// drawEvents makes up what may happen to a few keys, with or without time to look
// closely.
func drawEvents(rt *rapid.T) events {
	live := map[string]any{}
	var all events
	at := start
	for n := range rapid.IntRange(1, 200).Draw(rt, "events") {
		at = at.Add(time.Duration(rapid.IntRange(0, 700).Draw(rt, "ms")) * time.Millisecond)
		key := fmt.Sprint("a/", rapid.IntRange(0, 9).Draw(rt, "key"))
		ev := Event{Key: key, Seq: uint64(n + 1), Cause: inspect.CauseWatch, Old: live[key], At: at}
		switch action := rapid.IntRange(0, 9).Draw(rt, "action"); {
		case action == 0 && ev.Old != nil:
			delete(live, key)
		case action == 1 && ev.Old != nil:
			ev.Cause, ev.New = inspect.CauseResync, ev.Old
		default:
			live[key] = podOf(key, fmt.Sprint(n+1), rapid.SampledFrom([]string{"U1", "U1", "U2"}).Draw(rt, "uid"), int32(n))
			ev.New = live[key]
		}
		all = append(all, ev)
	}
	return all
}

// TestABatchIsObservedLikeItsNotificationsOneByOne compares everything that two
// journals tell.
func TestABatchIsObservedLikeItsNotificationsOneByOne(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		all := drawEvents(rt)
		closely := attention{rate: rapid.Float64Range(0, 3).Draw(rt, "rate"), burst: float64(rapid.IntRange(0, 6).Draw(rt, "burst"))}
		var journals [2]*Journal
		for i := range journals {
			journals[i] = unhurried(Options{})
			journals[i].rates.began = start
			journals[i].attention = closely
		}
		one, together := journals[0], journals[1]
		for len(all) > 0 {
			n := rapid.IntRange(1, len(all)).Draw(rt, "together")
			for i := range n {
				one.Observe(&all[i])
			}
			together.ObserveAll(all[:n])
			all = all[n:]
			q := inspect.Query{Sort: rapid.SampledFrom(sorts).Draw(rt, "sort"), Limit: 100}
			if diff := gocmp.Diff(everything(rt, one, q), everything(rt, together, q)); diff != "" {
				rt.Fatalf("(-one by one +together):\n%s", diff)
			}
		}
	})
}

// everything is all that a journal tells, in an order.
func everything(rt *rapid.T, j *Journal, q inspect.Query) []any {
	checkHistories(rt, j)
	p, err := j.Page(rt.Context(), q)
	if err != nil {
		rt.Fatal(err)
	}
	for i := range p.Rows {
		p.Rows[i].Rate = 0 // it changes with the time of asking
	}
	_, lost := j.Vitals()
	hot := j.Hot(start)
	all := []any{p, j.Identities(), lost.History, len(hot)}
	for _, r := range p.Rows {
		b, err := j.Biography(rt.Context(), inspect.BiographyRequest{Key: r.Key})
		if err != nil {
			rt.Fatal(err)
		}
		b.Since = time.Time{}
		all = append(all, b)
	}
	return all
}
