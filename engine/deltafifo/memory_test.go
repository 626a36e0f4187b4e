package deltafifo_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/informeter/informeter/engine/deltafifo"
	"github.com/informeter/informeter/engine/inspect"
)

func TestADrainedBacklogGivesItsMemoryBack(t *testing.T) {
	for _, c := range []struct {
		name string
		q    interface {
			queue
			Kept() deltafifo.Kept
		}
	}{
		{"DeltaFIFO", deltafifo.New(deltafifo.Options{})},
		{"InOrder", deltafifo.NewInOrder(deltafifo.Options{})},
	} {
		t.Run(c.name, func(t *testing.T) {
			q := c.q
			for i := range 20_000 {
				must(t, q.Add(obj(fmt.Sprint(i), i)))
			}
			drain := func() {
				for q.Page(time.Now(), inspect.QueueQuery{}).Matched > 0 {
					_, _, err := q.PopEntries(upTo(10_000), succeed)
					must(t, err)
				}
			}
			drain()
			for i := range 100 {
				must(t, q.Update(obj("hot", i)))
			}
			drain()
			must(t, q.CheckInvariants())
			k := q.Kept()
			if k.Places > 1024 || k.Entries > 4096 || k.Flight > 4096 || k.Pooled > 1024 || k.PooledDeltas > 8 || k.Widest > 4096 {
				t.Errorf("the empty queue keeps %+v", k)
			}
			if k.Pooled == 0 {
				t.Error("nothing is kept to be used again")
			}
		})
	}
}

func TestASteadyFlowAllocatesNothing(t *testing.T) {
	for _, inOrder := range []bool{false, true} {
		t.Run(fmt.Sprintf("inorder=%v", inOrder), func(t *testing.T) {
			// The key function returns what exists already: only the queue is
			// measured.
			o := deltafifo.Options{KeyFunc: func(o any) (string, error) { return o.(*object).Name, nil }}
			var q queue = deltafifo.New(o)
			if inOrder {
				q = deltafifo.NewInOrder(o)
			}
			objects := make([]*object, 64)
			for i := range objects {
				objects[i] = obj(fmt.Sprint(i), i)
			}
			var failed error
			round := func() {
				for _, o := range objects {
					if err := q.Update(o); err != nil {
						failed = err
					}
				}
				if _, _, err := q.PopEntries(func() int { return 100 }, succeed); err != nil {
					failed = err
				}
			}
			round()
			allocs := testing.AllocsPerRun(100, round)
			must(t, failed)
			if allocs > 0 {
				t.Errorf("%v allocations for %d events", allocs, len(objects))
			}
		})
	}
}
