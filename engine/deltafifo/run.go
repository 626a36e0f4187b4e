package deltafifo

import (
	"slices"
	"time"

	"k8s.io/client-go/tools/cache"

	"github.com/informeter/informeter/engine/inspect"
)

// run is what one Resync, or one Replace that found the queue idle, has brought:
// a delta each for many keys, none of which had anything pending. It is a stretch
// of the queue that has been written down as it came. A slot gets an item only
// when something more comes for its key, or when its delta is put back; for all
// the others there is no item to make and no map to enter and leave.
//
//	order    x  y │                          │ z
//	              ▼                          │
//	run           a   b   c   d   e   f   g  ▼
//	             done ▏in flight▏  waiting
//	                landed     next
//
// The zero value is a run that is over. Guarded by the queue's lock.
type run struct {
	// delta is that of every slot, but for the object: objects[i] is that of
	// keys[i], nil once that has landed. No key is there twice.
	delta
	keys    []string
	objects []any
	// items[i] is what a slot that waits, or waited, has got; items is nil until
	// the first does. index finds a slot by its key, and is nil until somebody asks.
	items []*item
	index map[string]int32
	// before is how many items of order come before the first slot that waits, as
	// long as one does.
	before int
	// 0 <= landed <= next <= len(keys): slots from landed on are in flight, those
	// from next on wait. The slot landed has its place in flight at flying.
	landed, next, flying int
	initial              bool // the slots count in core.unapplied
}

// waiting returns how many slots wait.
func (r *run) waiting() int { return len(r.keys) - r.next }

// over says that nothing of it waits or is in flight.
func (r *run) over() bool { return r.landed == len(r.keys) }

// at returns the item of slot i, nil if it has none.
func (r *run) at(i int) *item {
	if r.items == nil {
		return nil
	}
	return r.items[i]
}

// find returns the slot of a key that waits or is in flight.
func (r *run) find(key string) (i int, ok bool) {
	if r.over() {
		return 0, false
	}
	if r.index == nil {
		r.index = indexOf(r.keys, r.landed)
	}
	n, ok := r.index[key]
	return int(n), ok && int(n) >= r.landed
}

// indexOf says where in keys each is, but for the first so many.
func indexOf(keys []string, but int) map[string]int32 {
	index := make(map[string]int32, len(keys)-but)
	for i := but; i < len(keys); i++ {
		index[keys[i]] = int32(i)
	}
	return index
}

// appendRunLocked enqueues a run, for keys of which none is there twice, waits or
// is in flight, while there is no other run.
func (q *DeltaFIFO) appendRunLocked(t cache.DeltaType, keys []string, objects []any, now time.Duration, cause inspect.Cause) {
	if len(keys) == 0 {
		return
	}
	q.run = run{
		delta:   delta{Delta: cache.Delta{Type: t}, arrived: now, cause: cause},
		keys:    keys,
		objects: objects,
		before:  q.order.len(),
	}
	q.countLocked(len(keys))
}

// distinct says whether no key is there twice. Lists of an API server are in
// order, so that a look at neighbours tells; of others an index is made, and
// returned.
func distinct(keys []string) (yes bool, index map[string]int32) {
	for i := 1; i < len(keys); i++ {
		if keys[i-1] >= keys[i] {
			index = indexOf(keys, 0)
			return len(index) == len(keys), index
		}
	}
	return true, nil
}

// listLocked enqueues a Replaced delta for each key, while there is no run. whole
// says that it is a whole list.
func (q *DeltaFIFO) listLocked(keys []string, objects []any, whole bool, now time.Duration, cause inspect.Cause) {
	if len(q.items) == 0 && whole {
		if yes, index := distinct(keys); yes && len(keys) > 0 {
			if q.Options.Transformer == nil {
				objects = slices.Clone(objects) // the caller's own
			}
			q.appendRunLocked(cache.Replaced, keys, objects, now, cause)
			q.run.index = index
			return
		}
	}
	q.growLocked(len(keys))
	for i, key := range keys {
		it := q.enqueueLocked(key, delta{Delta: cache.Delta{Type: cache.Replaced, Object: objects[i]}, arrived: now, cause: cause})
		it.epoch = q.epoch
	}
}

// pendingLocked says whether a key waits or is in flight.
func (q *DeltaFIFO) pendingLocked(key string) bool {
	if q.items[key] != nil {
		return true
	}
	_, ok := q.run.find(key)
	return ok
}

// pendingItemLocked returns the item of a key, nil if it neither waits nor is in
// flight.
func (q *DeltaFIFO) pendingItemLocked(key string) *item {
	if it := q.items[key]; it != nil {
		return it
	}
	if i, ok := q.run.find(key); ok {
		return q.slotItemLocked(i)
	}
	return nil
}

// slotItemLocked gives an item to a slot that has none.
func (q *DeltaFIFO) slotItemLocked(i int) *item {
	r := &q.run
	it := q.itemLocked(r.keys[i])
	if i < r.next {
		f := &q.flight[r.flying+i-r.landed]
		f.item = it
		it.flight, it.newest, it.flightInitial = 1, f.newest, r.initial
		return it
	}
	d := r.delta
	d.Object = r.objects[i]
	it.waiting = append(it.waiting, d)
	it.queued, it.initial = true, r.initial
	if r.items == nil {
		r.items = make([]*item, len(r.keys))
	}
	r.items[i] = it
	return it
}

// spreadLocked gives an item to every slot that waits or is in flight, so that
// there is no run any more.
func (q *DeltaFIFO) spreadLocked() {
	if q.run.over() {
		return
	}
	for i := q.run.landed; i < q.run.next; i++ {
		if q.flight[q.run.flying+i-q.run.landed].item == nil {
			q.slotItemLocked(i)
		}
	}
	q.growLocked(q.run.waiting())
	var order ring[*item]
	order.grow(q.rowsWaitingLocked())
	for rank := range q.rowsWaitingLocked() {
		it, slot := q.rowLocked(rank)
		if it == nil {
			it = q.slotItemLocked(slot)
		}
		order.pushBack(it)
	}
	q.order, q.run = order, run{}
}

// landRunLocked ends the flight of the run's slots.
func (q *DeltaFIFO) landRunLocked() {
	r := &q.run
	if r.landed == r.next {
		return
	}
	clear(r.objects[r.landed:r.next])
	if r.items != nil {
		clear(r.items[r.landed:r.next])
	}
	r.landed = r.next
	if r.over() {
		*r = run{}
	}
}

// rowsWaitingLocked returns how many keys wait.
func (q *DeltaFIFO) rowsWaitingLocked() int { return q.order.len() + q.run.waiting() }

// rowLocked returns the item of that rank among those that wait, or, if it is a
// slot of the run without an item, nil and the slot.
func (q *DeltaFIFO) rowLocked(rank int) (it *item, slot int) {
	n := q.run.waiting()
	switch {
	case n == 0 || rank < q.run.before:
		return *q.order.at(rank), -1
	case rank < q.run.before+n:
		slot = q.run.next + rank - q.run.before
		return q.run.at(slot), slot
	default:
		return *q.order.at(rank - n), -1
	}
}

// popRowLocked takes the first row out of those that wait.
func (q *DeltaFIFO) popRowLocked() {
	r := &q.run
	switch {
	case r.waiting() == 0:
		q.order.popFront()
	case r.before > 0:
		q.order.popFront()
		r.before--
	default:
		if r.next == r.landed {
			r.flying = len(q.flight) - 1
		}
		r.next++
	}
	q.head++
	q.unordered = max(q.unordered-1, 0)
}

// takeSlotLocked takes a slot without an item, the row at the head.
func (q *DeltaFIFO) takeSlotLocked(slot int) {
	r := &q.run
	d := r.delta
	d.Object = r.objects[slot]
	q.appendLocked(r.keys[slot], &d, r.initial)
	q.flight = append(q.flight, flying{newest: len(q.batch) - 1})
	q.popRowLocked()
}
