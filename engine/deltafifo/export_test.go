package deltafifo

import (
	"fmt"
	"reflect"

	"k8s.io/client-go/tools/cache"

	"github.com/informeter/informeter/engine/inspect"
)

// CheckInvariants returns the first comment of a field that does not hold.
func (q *DeltaFIFO) CheckInvariants() error {
	q.mu.Lock()
	defer q.mu.Unlock()
	if err := q.core.checkInvariantsLocked(); err != nil {
		return err
	}
	if err := q.checkOrderLocked(); err != nil {
		return err
	}
	return q.checkFlightLocked()
}

func (c *core) checkInvariantsLocked() error {
	entries := 0
	for _, e := range c.batch[len(c.batch):cap(c.batch)] {
		if e != (Entry{}) {
			return fmt.Errorf("an unused entry holds on to %v", e)
		}
	}
	for i := range c.batch {
		if c.batch[i].index != i {
			return fmt.Errorf("entry %d of the batch says it is %d", i, c.batch[i].index)
		}
		if c.batch[i].Type != cache.Bookmark {
			entries++
		}
	}
	switch {
	case entries != c.inFlight:
		return fmt.Errorf("%d deltas in flight, counted %d", entries, c.inFlight)
	case c.applying && !c.turn:
		return fmt.Errorf("applying out of turn")
	case !c.applying && len(c.batch) > 0:
		return fmt.Errorf("%d entries in the batch that nobody applies", len(c.batch))
	case c.waiting > c.peak:
		return fmt.Errorf("%d deltas wait, peak %d", c.waiting, c.peak)
	case c.unapplied < 0:
		return fmt.Errorf("%d of the startup batch left", c.unapplied)
	case c.isSynced() != (c.populated && c.unapplied == 0):
		return fmt.Errorf("synced %v, populated %v, %d left", c.isSynced(), c.populated, c.unapplied)
	}
	return nil
}

// CheckInvariants returns the first comment of a field that does not hold.
func (q *InOrder) CheckInvariants() error {
	q.mu.Lock()
	defer q.mu.Unlock()
	if err := q.core.checkInvariantsLocked(); err != nil {
		return err
	}
	if err := q.entries.check(); err != nil {
		return err
	}
	tallies := map[string]tally{}
	deltas, startup, lists, listed, resyncs := 0, 0, 0, 0, 0
	for i := range q.entries.len() {
		s := q.entries.at(i)
		if i > 0 && s.arrived < q.entries.at(i-1).arrived {
			return fmt.Errorf("entry %d is older than the one before it", i)
		}
		if s.tally != q.tallies[s.key] {
			return fmt.Errorf("entry %d has not the tally of %q", i, s.key)
		}
		if s.startup {
			startup++
		}
		if s.Type != cache.Bookmark {
			deltas++
		}
		switch o := s.Object.(type) {
		case cache.ReplacedAllInfo:
			lists, listed = lists+1, listed+len(o.Objects)
		case cache.SyncAllInfo:
			resyncs++
		}
		if s.tally != nil {
			t := tallies[s.key]
			t.waiting++
			tallies[s.key] = t
		}
	}
	keys := len(tallies)
	for i, t := range q.flight {
		e := &q.batch[i]
		if e.startup {
			startup++
		}
		if t != q.tallies[e.Key] {
			return fmt.Errorf("entry %d in flight has not the tally of %q", i, e.Key)
		}
		if t != nil {
			t := tallies[e.Key]
			t.flight++
			tallies[e.Key] = t
		}
	}
	if len(tallies) != len(q.tallies) {
		return fmt.Errorf("%d keys, %d tallies", len(tallies), len(q.tallies))
	}
	for key, t := range tallies {
		if *q.tallies[key] != t {
			return fmt.Errorf("%q: tally %+v, counted %+v", key, *q.tallies[key], t)
		}
	}
	got := [...]int{q.waiting, q.keys, q.unapplied, q.lists, q.listed, q.resyncs}
	if is := [...]int{deltas, keys, startup, lists, listed, resyncs}; got != is {
		return fmt.Errorf("waiting, keys, unapplied, lists, listed, resyncs: have %v, counted %v", got, is)
	}
	return nil
}

func (q *DeltaFIFO) checkOrderLocked() error {
	deltas, queued, startup := 0, 0, 0
	for key, it := range q.items {
		if it.key != key {
			return fmt.Errorf("item %q is stored as %q", it.key, key)
		}
		if it.queued != (len(it.waiting) > 0) {
			return fmt.Errorf("%q: queued %v with %d deltas", key, it.queued, len(it.waiting))
		}
		if !it.queued && it.flight == 0 {
			return fmt.Errorf("%q neither waits nor is in flight", key)
		}
		deltas += len(it.waiting)
		for _, is := range []bool{it.initial, it.flightInitial} {
			if is {
				startup++
			}
		}
		for _, d := range it.waiting[len(it.waiting):cap(it.waiting)] {
			if d != (delta{}) {
				return fmt.Errorf("%q: unused memory holds on to %v", key, d)
			}
		}
		for i := 1; i < len(it.waiting); i++ {
			if it.waiting[i].arrived < it.waiting[i-1].arrived {
				return fmt.Errorf("%q: delta %d is older than the one before it", key, i)
			}
			if it.waiting[i].Type == cache.Deleted && it.waiting[i-1].Type == cache.Deleted {
				return fmt.Errorf("%q: two deletions in a row", key)
			}
		}
		if it.queued {
			queued++
		}
	}
	slots, err := q.checkRunLocked()
	if err != nil {
		return fmt.Errorf("run: %w", err)
	}
	if q.run.initial {
		startup += slots.flying + slots.waiting
	}
	deltas, queued = deltas+slots.waiting, queued+slots.waiting
	if deltas != q.waiting || queued != q.rowsWaitingLocked() || startup != q.unapplied {
		return fmt.Errorf("%d deltas on %d keys, %d of the startup batch; counted %d, %d, %d",
			deltas, queued, startup, q.waiting, q.rowsWaitingLocked(), q.unapplied)
	}
	if q.unordered > q.rowsWaitingLocked() {
		return fmt.Errorf("%d of %d rows are not in order", q.unordered, q.rowsWaitingLocked())
	}
	if err := q.order.check(); err != nil {
		return fmt.Errorf("order: %w", err)
	}
	if err := q.bookmarks.check(); err != nil {
		return fmt.Errorf("bookmarks: %w", err)
	}
	oldest, ok := q.oldestLocked()
	for i := range q.rowsWaitingLocked() {
		it, _ := q.rowLocked(i)
		if it == nil {
			if !ok || q.run.arrived < oldest {
				return fmt.Errorf("the slot at %d is older than the oldest", i)
			}
			continue
		}
		if q.items[it.key] != it || !it.queued {
			return fmt.Errorf("position %d holds %q, which does not wait", i, it.key)
		}
		if !ok || it.waiting[0].arrived < oldest {
			return fmt.Errorf("%q at %d is older than the oldest", it.key, i)
		}
	}
	for i := range q.bookmarks.len() {
		b := q.bookmarks.at(i)
		if b.position < q.head || b.position > q.head+int64(q.rowsWaitingLocked()) {
			return fmt.Errorf("bookmark at %d, queue from %d, %d long", b.position, q.head, q.rowsWaitingLocked())
		}
		if i > 0 && b.position <= q.bookmarks.at(i-1).position {
			return fmt.Errorf("bookmarks %d and %d are not in order", i-1, i)
		}
	}
	return nil
}

// slots counts those of a run that have no item.
type slots struct{ flying, waiting int }

func (q *DeltaFIFO) checkRunLocked() (s slots, err error) {
	r := &q.run
	if r.over() {
		if len(r.keys) > 0 || r.objects != nil || r.items != nil || r.index != nil || r.initial {
			return s, fmt.Errorf("is over and holds on to %+v", r)
		}
		return s, nil
	}
	if r.landed > r.next || r.next > len(r.keys) || len(r.objects) != len(r.keys) || r.before < 0 || r.waiting() > 0 && r.before > q.order.len() {
		return s, fmt.Errorf("landed %d, next %d of %d, behind %d of %d", r.landed, r.next, len(r.keys), r.before, q.order.len())
	}
	seen := map[string]bool{}
	for i, key := range r.keys {
		it := r.at(i)
		switch {
		case i < r.landed:
			if r.objects[i] != nil || it != nil {
				return s, fmt.Errorf("slot %d has landed and holds on to something", i)
			}
			continue
		case i < r.next:
			f := q.flight[r.flying+i-r.landed]
			if q.batch[f.newest].Key != key {
				return s, fmt.Errorf("slot %d is %q, in flight %q", i, key, q.batch[f.newest].Key)
			}
			if f.item == nil {
				s.flying++
			}
		case it == nil:
			s.waiting++
			if q.items[key] != nil {
				return s, fmt.Errorf("slot %d, %q, has an item elsewhere", i, key)
			}
		case q.items[key] != it || !it.queued:
			return s, fmt.Errorf("slot %d, %q, has an item that is not its key's", i, key)
		}
		if seen[key] {
			return s, fmt.Errorf("%q is there twice", key)
		}
		seen[key] = true
	}
	for key, i := range r.index {
		if r.keys[i] != key {
			return s, fmt.Errorf("%q is to be found at %d, where %q is", key, i, r.keys[i])
		}
	}
	return s, nil
}

// Spread gives every waiting key an item, as if there were no runs.
func (q *DeltaFIFO) Spread() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.spreadLocked()
}

// InRun returns how many keys wait or are in flight in a run, with an item or
// without.
func (q *DeltaFIFO) InRun() int {
	q.mu.Lock()
	defer q.mu.Unlock()
	return len(q.run.keys) - q.run.landed
}

func (q *DeltaFIFO) checkFlightLocked() error {
	flying := 0
	for n, f := range q.flight {
		it := f.item
		if it == nil {
			if slot := q.run.landed + n - q.run.flying; slot < q.run.landed || slot >= q.run.next || q.run.keys[slot] != q.batch[f.newest].Key {
				return fmt.Errorf("row %d in flight is %q, which is not slot %d of the run", n, q.batch[f.newest].Key, slot)
			}
			continue
		}
		if f.newest != it.newest {
			return fmt.Errorf("%q is in flight up to %d and up to %d", it.key, f.newest, it.newest)
		}
		if q.items[it.key] != it || it.flight == 0 {
			return fmt.Errorf("%q is among those in flight, with %d deltas", it.key, it.flight)
		}
		for i := it.newest + 1 - it.flight; i <= it.newest; i++ {
			if q.batch[i].Key != it.key {
				return fmt.Errorf("entry %d is %q's, not %q's", i, q.batch[i].Key, it.key)
			}
		}
		flying += it.flight
	}
	for _, it := range q.items {
		flying -= it.flight
	}
	if flying != 0 {
		return fmt.Errorf("flight and items differ by %d deltas", flying)
	}
	return nil
}

// check returns an error if an unused place of the ring holds on to something.
func (r *ring[T]) check() error {
	for i := r.n; i < len(r.buf); i++ {
		if !reflect.ValueOf(r.at(i)).Elem().IsZero() {
			return fmt.Errorf("the unused place %d holds on to %v", i, *r.at(i))
		}
	}
	return nil
}

// Kept is the memory that an empty queue keeps.
type Kept struct{ Places, Entries, Flight, Pooled, PooledDeltas, Widest int }

// Kept returns what the queue keeps, whether used or not.
func (q *DeltaFIFO) Kept() Kept {
	q.mu.Lock()
	defer q.mu.Unlock()
	k := Kept{len(q.order.buf), cap(q.batch), cap(q.flight), len(q.pool.free), 0, q.widest}
	for _, it := range q.pool.free {
		k.PooledDeltas = max(k.PooledDeltas, cap(it.waiting))
	}
	return k
}

// Kept returns what the queue keeps, whether used or not.
func (q *InOrder) Kept() Kept {
	q.mu.Lock()
	defer q.mu.Unlock()
	return Kept{len(q.entries.buf), cap(q.batch), cap(q.flight), len(q.free), 0, q.widest}
}

// FilteredPage is Page with a predicate in the place of a filter.
func (q *DeltaFIFO) FilteredPage(query inspect.QueueQuery, match func(string) bool) inspect.QueuePage {
	var p inspect.QueuePage
	rows := q.chosenRows(&p, newWindow(query), match)
	p.Items = showRows(rows, 0, 0)
	return p
}

// ForgetInFlight makes the queue forget what is in flight, as one that did not
// keep track would from the start. Called from process.
func (q *DeltaFIFO) ForgetInFlight() {
	q.mu.Lock()
	defer q.mu.Unlock()
	for _, f := range q.flight {
		it := f.item
		it.flight, it.newest = 0, 0
		if it.flightInitial {
			it.flightInitial = false
			q.unapplied--
		}
		if !it.queued {
			delete(q.items, it.key)
		}
	}
	q.flight = nil
}
