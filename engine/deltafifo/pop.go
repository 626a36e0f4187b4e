package deltafifo

import (
	"time"

	"k8s.io/client-go/tools/cache"
)

// PopEntries takes a batch from the head and has it processed.
//
//  1. It blocks until something waits and no other batch is in flight, or the
//     queue is closed and empty: cache.ErrFIFOClosed.
//  2. It asks admit, without the lock, how many deltas may be taken. Zero: it
//     returns 0, nil, nil at once. It takes up to that many from the head. If a
//     key's deltas don't all fit, the rest stays at the head. Bookmarks that
//     are reached on the way are taken too and not counted.
//  3. The keys taken are in flight. It calls process without the lock. The
//     batch belongs to the queue and is used again; process must not keep it,
//     write to it, or enqueue.
//  4. Every entry that process returns as failed is put back at its key, at the
//     head, if nothing newer was applied or waits for the key, and if it was
//     not put back MaxAttempts times already. The others are dropped: returned.
//
// taken counts deltas, those that failed included.
func (q *DeltaFIFO) PopEntries(admit func() int, process func(batch []Entry) (failed []Entry)) (taken int, dropped []Entry, err error) {
	return q.pop(admit, process)
}

// Pop takes the deltas of the key at the head, blocking until there is one, and
// calls process with them, as a cache.Deltas. It returns them with the error of
// process; whatever that is, they are not put back. Bookmarks on the way are
// swallowed.
//
// Unlike client-go, the lock is not held while process runs: it may read the
// queue, and others may enqueue. The key is in flight meanwhile [queue lock].
func (q *DeltaFIFO) Pop(process cache.PopProcessFunc) (any, error) {
	var deltas cache.Deltas
	var failure error
	for deltas == nil {
		_, _, err := q.pop(func() int { return wholeKey }, func(batch []Entry) []Entry {
			initial := false
			for i := range batch {
				if batch[i].Type != cache.Bookmark {
					deltas = append(deltas, batch[i].Delta)
					initial = batch[i].InInitialList
				}
			}
			if deltas != nil {
				failure = process(deltas, initial)
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	return deltas, failure
}

func (q *DeltaFIFO) emptyLocked() bool { return q.rowsWaitingLocked() == 0 && q.bookmarks.len() == 0 }

func (q *DeltaFIFO) takeLocked(limit int) (taken int) {
	q.makeRoomLocked(limit)
	q.takeBookmarksLocked()
	whole := limit == wholeKey
	for (whole || taken < limit) && q.rowsWaitingLocked() > 0 {
		it, slot := q.rowLocked(0)
		switch {
		case it == nil:
			q.takeSlotLocked(slot)
			taken++
		case whole:
			taken = q.takeKeyLocked(it, len(it.waiting))
		default:
			taken += q.takeKeyLocked(it, limit-taken)
		}
		q.takeBookmarksLocked()
		if whole {
			break
		}
	}
	return taken
}

// takeKeyLocked takes up to limit deltas from it, the row at the head.
func (q *DeltaFIFO) takeKeyLocked(it *item, limit int) int {
	n := min(len(it.waiting), limit)
	for i := range n {
		q.appendLocked(it.key, &it.waiting[i], it.initial)
	}
	it.flight, it.newest = n, len(q.batch)-1
	q.flight = append(q.flight, flying{item: it, newest: it.newest})
	clear(it.waiting[:n])
	if n < len(it.waiting) {
		it.waiting = it.waiting[n:]
		q.unordered = max(q.unordered, 1)
		return n
	}
	it.waiting = it.waiting[:0]
	it.queued = false
	it.flightInitial, it.initial = it.initial, false
	q.popRowLocked()
	return n
}

// takeBookmarksLocked takes the bookmarks before which nothing waits.
func (q *DeltaFIFO) takeBookmarksLocked() {
	for q.bookmarks.len() > 0 && q.bookmarks.at(0).position <= q.head {
		b := q.bookmarks.popFront()
		q.appendLocked("", &b.delta, false)
	}
}

func (q *DeltaFIFO) settleLocked(failed []Entry) (dropped []Entry) {
	if len(failed) > 0 {
		dropped = q.markFailedLocked(failed)
		dropped = q.retryLocked(dropped)
	}
	// From the last to the first, so that what is put back keeps its order.
	for i := len(q.flight) - 1; i >= 0; i-- {
		it := q.flight[i].item
		switch {
		case it == nil && q.run.initial:
			q.unapplied--
		case it != nil && q.landLocked(it):
			q.landed = append(q.landed, it)
		}
	}
	q.landRunLocked()
	q.flight = emptied(q.flight)
	forget(&q.items, &q.widest, &q.landed, len(q.landed), func(i int) string { return q.landed[i].key }, q.pool.put)
	return dropped
}

// retryLocked moves the failed entries of the batch that may be tried again to
// their items, and appends the others to dropped.
func (q *DeltaFIFO) retryLocked(dropped []Entry) []Entry {
	for i := range q.batch {
		if e := &q.batch[i]; e.failed && e.Type == cache.Bookmark {
			dropped = append(dropped, *e)
		}
	}
	for n := range q.flight {
		it := q.flight[n].item
		if it == nil {
			if !q.batch[q.flight[n].newest].failed {
				continue
			}
			it = q.slotItemLocked(q.run.landed + n - q.run.flying)
		}
		entries := q.batch[it.newest+1-it.flight : it.newest+1]
		// What failed before something newer was applied is superseded.
		last := len(entries)
		for last > 0 && entries[last-1].failed {
			last--
		}
		superseded := it.queued
		for i := range entries {
			e := &entries[i]
			switch {
			case !e.failed:
			case superseded || i < last || e.Attempts >= q.MaxAttempts:
				dropped = append(dropped, *e)
			default:
				it.waiting = append(it.waiting, q.waitingAgain(e))
			}
		}
	}
	return dropped
}

// landLocked ends the flight of it. If retryLocked gave it deltas back, it
// returns to the head. It returns true if nothing waits for the key.
func (q *DeltaFIFO) landLocked(it *item) (done bool) {
	if it.flightInitial {
		it.flightInitial = false
		// If the store did not take the last state, the startup batch is not
		// complete before it takes the next one.
		if q.batch[it.newest].failed && len(it.waiting) > 0 {
			it.initial = true
		} else {
			q.unapplied--
		}
	}
	it.flight, it.newest = 0, 0
	if !it.queued && len(it.waiting) > 0 {
		it.queued = true
		q.order.pushFront(it)
		if q.run.waiting() > 0 {
			q.run.before++
		}
		q.head--
		q.unordered++
		q.waiting += len(it.waiting)
	}
	return !it.queued
}

// oldestLocked: behind the unordered rows first deltas only get younger, and
// an item's first delta is its oldest.
func (q *DeltaFIFO) oldestLocked() (oldest time.Duration, ok bool) {
	for i := range min(q.unordered+1, q.rowsWaitingLocked()) {
		arrived := q.run.arrived
		if it, _ := q.rowLocked(i); it != nil {
			arrived = it.waiting[0].arrived
		}
		if !ok || arrived < oldest {
			oldest, ok = arrived, true
		}
	}
	return oldest, ok
}
