package processor

import (
	"fmt"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/informeter/informeter/engine/inspect"
)

// runs is a handler that is called with runs; it notes what it is told.
type runs struct {
	recorder
	calls   []int // how many notifications each call had
	told    []Notification
	explode bool
}

func (r *runs) OnRun(run Run) {
	r.calls = append(r.calls, run.Len())
	for i := range run.Len() {
		n := run.Notification(i)
		if n.Key != run.Key(i) {
			panic(fmt.Sprintf("key %q is not that of %+v", run.Key(i), n))
		}
		r.told = append(r.told, n)
	}
	if r.explode {
		panic("no such luck")
	}
}

// each is a handler that is called with one notification after the other.
type each struct {
	recorder
	told []Notification
}

func (e *each) OnNotification(n *Notification) { e.told = append(e.told, *n) }

func TestARunTellsWhatItsNotificationsTell(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		var batches [][]Notification
		initial := uint64(0)
		for range rapid.IntRange(1, 10).Draw(rt, "batches") {
			var batch []Notification
			for range rapid.IntRange(1, 2*chunkSize).Draw(rt, "length") {
				n := Notification{Key: fmt.Sprint(len(batch)), Kind: Update, Cause: inspect.CauseWatch}
				switch rapid.IntRange(0, 20).Draw(rt, "kind") {
				case 0:
					n.Kind, n.Cause, n.Initial = Add, inspect.CauseInitial, true
					initial++
				case 1:
					n.Cause, n.DueOnly = inspect.CauseResync, true
				}
				batch = append(batch, n)
			}
			batches = append(batches, batch)
		}
		var together runs
		var oneByOne each
		var vitals []inspect.ListenerVitals
		synctest.Test(t, func(t *testing.T) {
			p := New(Options{})
			add(t, p, &together, ListenerOptions{Name: "together", Explorer: true})
			add(t, p, &oneByOne, ListenerOptions{Name: "one by one", Explorer: true})
			stop := run(t, p)
			for i, batch := range batches {
				if i%2 == 1 {
					p.round++ // nobody publishes meanwhile
				}
				p.Publish(batch)
				synctest.Wait()
			}
			vitals = append(vitals, vitalsOf(t, p, "together"), vitalsOf(t, p, "one by one"))
			stop()
		})
		if diff := cmp.Diff(oneByOne.told, together.told); diff != "" {
			rt.Fatalf("told (-one by one +together):\n%s", diff)
		}
		if len(together.calls) > len(batches)*3+2 {
			rt.Fatalf("%d calls for %d batches: %v", len(together.calls), len(batches), together.calls)
		}
		a, b := vitals[0], vitals[1]
		if diff := cmp.Diff(b.LastRound, a.LastRound); diff != "" {
			rt.Fatalf("the last resync round (-one by one +together):\n%s", diff)
		}
		if a.Delivered != b.Delivered || a.Pending != 0 || a.Causes != b.Causes || a.Synced != b.Synced || a.InitialDelivered != initial {
			rt.Fatalf("vitals are\n%+v, want those of\n%+v", a, b)
		}
	})
}

func TestAPanicPassesTheWholeRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := New(Options{HandlerPanic: Contain})
		h := runs{explode: true}
		add(t, p, &h, ListenerOptions{Name: "h"})
		stop := run(t, p)
		p.Publish(added("a", "b", "c"))
		synctest.Wait()
		p.Publish(added("d"))
		synctest.Wait()
		if v := vitalsOf(t, p, "h"); len(h.calls) != 2 || v.Panics != 2 || v.Delivered != 4 || v.Pending != 0 {
			t.Errorf("calls of %v notifications, vitals = %+v", h.calls, v)
		}
		stop()
	})
}
