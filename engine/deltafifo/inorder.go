package deltafifo

import (
	"fmt"
	"slices"
	"time"

	"k8s.io/client-go/tools/cache"

	"github.com/informeter/informeter/engine/inspect"
)

const kindInOrder = "InOrder"

var (
	_ cache.Queue                  = (*InOrder)(nil)
	_ cache.ReflectorBookmarkStore = (*InOrder)(nil)
	_ cache.TransformingStore      = (*InOrder)(nil)
	_ cache.DoneChecker            = (*InOrder)(nil)
)

// InOrder is a queue of events in the order in which they came: client-go's
// RealFIFO as informers have used it since 0.36, with atomic events, bookmarks,
// and without the lock while an event is processed. Nothing is combined or left
// out: what a ReplacedAll removes and a SyncAll repeats is for its consumer to
// find out, who alone knows what the store holds by then.
type InOrder struct {
	core

	// entries holds what waits, bookmarks included. Arrival times never
	// decrease: what is put back returns in front of what arrived later.
	entries ring[slot]
	// tallies holds every key that waits or is in flight, and no other. flight
	// holds that of each entry of batch; nil for one without a key.
	tallies map[string]*tally
	flight  []*tally
	keys    int // tallies with something waiting
	// Of what waits, lists are ReplacedAll, holding listed objects together, and
	// resyncs are SyncAll.
	lists, listed, resyncs int
	free                   []*tally
	widest                 int // the most tallies since the map was made, which never shrinks
}

// slot is one event as it waits. tally is nil if it has no key.
type slot struct {
	delta
	key     string
	tally   *tally
	startup bool // counts in core.unapplied
}

// tally counts the events of one key.
type tally struct {
	waiting, flight int
	// applied says, while a batch is settled, that a newer event of the key was.
	applied bool
}

// NewInOrder returns an empty InOrder.
func NewInOrder(o Options) *InOrder {
	q := &InOrder{tallies: map[string]*tally{}}
	q.init(o, q)
	return q
}

// Add enqueues an Added event. The error is a cache.KeyError or the
// Transformer's.
func (q *InOrder) Add(obj any) error { return q.enqueue(q.arriving(cache.Added, obj)) }

// Update enqueues an Updated event. Errors are as Add's.
func (q *InOrder) Update(obj any) error { return q.enqueue(q.arriving(cache.Updated, obj)) }

// Delete enqueues a Deleted event, whether or not there is something to delete.
// Errors are as Add's.
func (q *InOrder) Delete(obj any) error { return q.enqueue(q.arriving(cache.Deleted, obj)) }

// Replace enqueues the whole list as one ReplacedAll, Keeps included. If the
// Transformer refuses an object, nothing is enqueued.
func (q *InOrder) Replace(list []any, rv string) error {
	if q.Options.Transformer != nil {
		transformed := make([]any, len(list))
		for i, obj := range list {
			if _, keep := obj.(Keep); keep {
				transformed[i] = obj
				continue
			}
			var err error
			if transformed[i], err = q.Options.Transformer(obj); err != nil {
				return fmt.Errorf("enqueue the list: %w", err)
			}
		}
		list = transformed
	}
	now := q.enter()
	defer q.leave()
	q.pushBulkLocked(cache.ReplacedAll, cache.ReplacedAllInfo{ResourceVersion: rv, Objects: list}, q.replaceCauseLocked(), now)
	q.replaced = true
	if q.populated {
		return nil
	}
	for i := range q.entries.len() {
		q.entries.at(i).startup = true
	}
	q.unapplied = q.entries.len()
	q.populateLocked()
	return nil
}

// Resync enqueues one SyncAll.
func (q *InOrder) Resync() error {
	now := q.enter()
	defer q.leave()
	q.pushBulkLocked(cache.SyncAll, cache.SyncAllInfo{}, inspect.CauseResync, now)
	return nil
}

func (q *InOrder) pushBulkLocked(t cache.DeltaType, info any, cause inspect.Cause, now time.Duration) {
	s := slot{delta: delta{Delta: cache.Delta{Type: t, Object: info}, arrived: now, cause: cause}}
	q.countLocked(1)
	q.tellLocked(&s, 1)
	q.entries.pushBack(s)
}

// Bookmark enqueues that everything up to resource version rv has been
// enqueued. It is not counted among the deltas.
func (q *InOrder) Bookmark(rv string) error {
	return q.enqueue(q.arriving(cache.Bookmark, cache.BookmarkInfo{ResourceVersion: rv}))
}

// tallyLocked returns the tally of key, which is made if there is none.
func (q *InOrder) tallyLocked(key string) *tally {
	t := q.tallies[key]
	if t != nil {
		return t
	}
	if n := len(q.free); n > 0 {
		t, q.free = q.free[n-1], q.free[:n-1]
	} else {
		t = &tally{}
	}
	q.tallies[key] = t
	q.widest = max(q.widest, len(q.tallies))
	return t
}

// tellLocked keeps the counts when by = 1 event more waits, or by = -1.
func (q *InOrder) tellLocked(s *slot, by int) {
	switch o := s.Object.(type) {
	case cache.ReplacedAllInfo:
		q.lists += by
		q.listed += by * len(o.Objects)
	case cache.SyncAllInfo:
		q.resyncs += by
	}
	if s.tally == nil {
		return
	}
	if s.tally.waiting == 0 {
		q.keys++
	}
	s.tally.waiting += by
	if s.tally.waiting == 0 {
		q.keys--
	}
}

// isBulk says that an event stands for many objects. It is alone in its batch.
func isBulk(d *delta) bool { return d.Type == cache.ReplacedAll || d.Type == cache.SyncAll }

func (q *InOrder) emptyLocked() bool { return q.entries.len() == 0 }

func (q *InOrder) takeLocked(limit int) (taken int) {
	if limit == wholeKey {
		return q.takeSlotLocked()
	}
	q.makeRoomLocked(limit)
	for q.entries.len() > 0 {
		next := q.entries.at(0)
		bulk := isBulk(&next.delta)
		if bulk && len(q.batch) > 0 || taken == limit && next.Type != cache.Bookmark {
			break
		}
		taken += q.takeSlotLocked()
		if bulk {
			break
		}
	}
	return taken
}

// takeSlotLocked moves the first entry into the batch and returns 1, or 0 for a
// bookmark.
func (q *InOrder) takeSlotLocked() int {
	s := q.entries.popFront()
	q.head++
	q.tellLocked(&s, -1)
	if s.tally != nil {
		s.tally.flight++
	}
	q.appendLocked(s.key, &s.delta, s.startup)
	q.flight = append(q.flight, s.tally)
	if s.Type == cache.Bookmark {
		return 0
	}
	return 1
}

func (q *InOrder) settleLocked(failed []Entry) (dropped []Entry) {
	if len(failed) > 0 {
		dropped = q.dropLocked(q.markFailedLocked(failed))
	}
	// From the last to the first, so that what is put back keeps its order.
	done := 0
	for i := len(q.batch) - 1; i >= 0; i-- {
		e, t := &q.batch[i], q.flight[i]
		switch {
		case e.failed:
			s := slot{delta: q.waitingAgain(e), key: e.Key, tally: t, startup: e.startup}
			q.tellLocked(&s, 1)
			q.waiting++
			q.entries.pushFront(s)
			q.head--
		case e.startup:
			q.unapplied--
		}
		if t == nil {
			continue
		}
		t.applied = false
		if t.flight--; t.flight == 0 && t.waiting == 0 {
			done++
		} else {
			q.flight[i] = nil
		}
	}
	forget(&q.tallies, &q.widest, &q.flight, done, func(i int) string { return q.batch[i].Key }, func(t *tally) {
		if len(q.free) < poolItems {
			q.free = append(q.free, t)
		}
	})
	return dropped
}

// dropLocked appends to dropped those failed entries of the batch that are not
// put back, and clears their mark.
func (q *InOrder) dropLocked(dropped []Entry) []Entry {
	foreign := len(dropped)
	for i := len(q.batch) - 1; i >= 0; i-- {
		e, t := &q.batch[i], q.flight[i]
		switch {
		case !e.failed:
			if t != nil {
				t.applied = true
			}
		case e.Type == cache.Bookmark, e.Attempts >= q.MaxAttempts, t != nil && (t.applied || t.waiting > 0):
			dropped = append(dropped, *e)
			e.failed = false
		}
	}
	slices.Reverse(dropped[foreign:])
	return dropped
}

// oldestLocked: arrival times never decrease, and bookmarks, which don't count,
// are a minute apart.
func (q *InOrder) oldestLocked() (time.Duration, bool) {
	for i := range q.entries.len() {
		if s := q.entries.at(i); s.Type != cache.Bookmark {
			return s.arrived, true
		}
	}
	return 0, false
}
