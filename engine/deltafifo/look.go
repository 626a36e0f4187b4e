package deltafifo

import (
	"time"

	"github.com/informeter/informeter/engine/inspect"
)

const kindDeltaFIFO = "DeltaFIFO"

// Vitals returns the state of the queue at now, everything but the Gate. It
// samples the rates.
func (q *DeltaFIFO) Vitals(now time.Time) inspect.QueueVitals {
	q.mu.Lock()
	defer q.mu.Unlock()
	v := q.vitalsLocked(now)
	v.Kind = kindDeltaFIFO
	v.Objects = q.waiting
	v.Compressed = q.compressed
	return v
}

// Waiting returns for each key how many deltas wait or are in flight.
func (q *DeltaFIFO) Waiting(keys []string) []int {
	counts := make([]int, len(keys))
	q.mu.Lock()
	defer q.mu.Unlock()
	for i, key := range keys {
		if it := q.items[key]; it != nil {
			counts[i] = len(it.waiting) + it.flight
		} else if q.pendingLocked(key) {
			counts[i] = 1 // a slot of the run
		}
	}
	return counts
}

// Page returns a window of the keys in flight, then of those that wait. A key
// that is in flight while newer deltas wait has a row for either.
//
// Without a filter, by position, only the window is looked at. Else every key is,
// but the lock is held for a few thousand at a time only; what is popped meanwhile
// is counted and not shown. What is shown is chosen without it; in another order that
// takes memory for twice the rows up to the window's end.
func (q *DeltaFIFO) Page(now time.Time, query inspect.QueueQuery) inspect.QueuePage {
	return q.page(now, query, 0)
}

func (q *DeltaFIFO) rowsLocked() (flying, waiting int) { return len(q.flight), q.rowsWaitingLocked() }

func (q *DeltaFIFO) keysLocked() int { return q.rowsWaitingLocked() }

func (q *DeltaFIFO) flyingKeyLocked(i int) string { return q.batch[q.flight[i].newest].Key }

func (q *DeltaFIFO) flyingRowLocked(i int) row {
	f := q.flight[i]
	r := row{key: q.batch[f.newest].Key, position: -1}
	first := f.newest
	if f.item != nil {
		first = f.newest + 1 - f.item.flight
	}
	for n := first; n <= f.newest; n++ {
		r.addEntry(&q.batch[n], q.began)
	}
	return r
}

func (q *DeltaFIFO) waitingKeyLocked(i int) string {
	it, slot := q.rowLocked(i)
	if it == nil {
		return q.run.keys[slot]
	}
	return it.key
}

func (q *DeltaFIFO) waitingRowLocked(i int) row {
	it, slot := q.rowLocked(i)
	if it == nil {
		r := row{key: q.run.keys[slot], position: i, n: 1}
		r.deltas[0] = q.run.delta
		r.deltas[0].Object = q.run.objects[slot]
		return r
	}
	r := row{key: it.key, position: i}
	r.n = min(len(it.waiting), shownDeltas)
	copy(r.deltas[:], it.waiting)
	r.more = len(it.waiting) - r.n
	return r
}

func (q *DeltaFIFO) flyingWeightLocked(i int) weight {
	f, n := q.flight[i], 1
	if f.item != nil {
		n = f.item.flight
	}
	first := f.newest + 1 - n
	newest := first + min(n, shownDeltas) - 1
	return weight{q.batch[first].Arrived.Sub(q.began), int32(n), q.batch[newest].Cause}
}

func (q *DeltaFIFO) waitingWeightLocked(i int) weight {
	it, _ := q.rowLocked(i)
	if it == nil {
		return weight{q.run.arrived, 1, q.run.cause}
	}
	n := len(it.waiting)
	return weight{it.waiting[0].arrived, int32(n), it.waiting[min(n, shownDeltas)-1].cause}
}
