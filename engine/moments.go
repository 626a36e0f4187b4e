package engine

import (
	"context"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/informeter/informeter/engine/inspect"
	"github.com/informeter/informeter/engine/processor"
	"github.com/informeter/informeter/engine/tap"
)

// momentsKept is how many notifications' ways through the pipeline are kept.
const momentsKept = 1 << 13

// moment is the way of one notification as far as the processor's log. What
// became of it there the listeners know.
type moment struct {
	seq                         uint64
	key                         string
	enqueued, popped, published int64 // as processor.Clock has them
	to                          *processor.Audience
	kind                        processor.Kind
	cause                       inspect.Cause
}

// moments keeps the newest moments while somebody looks.
//
//	HandleDeltas ── once a batch ──▶ ring, by seq ──┐
//	listener ── 64 calls at a time ──▶ its own ring ┴─ joined when read
type moments struct {
	// on is whether ring is not nil: HandleDeltas asks without the lock.
	on atomic.Bool

	// mu guards the fields below. HandleDeltas holds it while it notes a batch,
	// readers for one scan.
	mu sync.Mutex
	// ring holds moments whose sequence numbers follow each other.
	ring *tap.Ring[moment]
	// read is the newest sequence number that a follower has seen or missed,
	// lost how many were missed.
	read, lost uint64
}

// beginMoments starts recording, which ends with the last viewer.
func (i *Informer) beginMoments() {
	m := &i.moments
	m.mu.Lock()
	m.ring, m.read, m.lost = tap.NewRing[moment](momentsKept), 0, 0
	m.on.Store(true)
	m.mu.Unlock()
	i.processor.RecordDeliveries(true)
}

// endMoments lets go of everything that was recorded.
func (i *Informer) endMoments() {
	i.processor.RecordDeliveries(false)
	m := &i.moments
	m.mu.Lock()
	defer m.mu.Unlock()
	m.on.Store(false)
	m.ring = nil
}

// note records a batch that was just published.
func (m *moments) note(batch []processor.Notification, due *processor.Audience, popped int64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.ring == nil {
		return
	}
	if over := len(batch) - momentsKept; over > 0 {
		m.ring.Skip(over)
		batch = batch[over:]
	}
	for i := range batch {
		n := &batch[i]
		if n.Seq == 0 {
			continue // nobody was told
		}
		*m.ring.Next() = moment{
			seq: n.Seq, key: n.Key, enqueued: n.Arrived, popped: popped, published: n.At,
			kind: n.Kind, cause: n.Cause,
		}
		if n.DueOnly {
			m.ring.At(0).to = due
		}
	}
}

// findLocked returns the moment of that sequence number, if it is still there.
func (m *moments) findLocked(seq uint64) (moment, bool) {
	if m.ring == nil || m.ring.Len() == 0 {
		return moment{}, false
	}
	rank := m.ring.At(0).seq - seq // wraps for what is not recorded yet
	if rank >= uint64(m.ring.Len()) {
		return moment{}, false
	}
	found := *m.ring.At(int(rank))
	return found, found.seq == seq
}

// numberOfLocked returns the sequence number of what happened to a key for a cause
// at some time, known to the millisecond; 0 if that is not kept.
func (m *moments) numberOfLocked(key string, cause inspect.Cause, at time.Time) uint64 {
	if m.ring == nil {
		return 0
	}
	from := at.Truncate(time.Millisecond).UnixNano()
	for rank := range m.ring.Len() {
		found := m.ring.At(rank)
		if found.published < from {
			return 0
		}
		if found.published < from+int64(time.Millisecond) && found.cause == cause && found.key == key {
			return found.seq
		}
	}
	return 0
}

// page returns the newest moments that q asks for, and counts what a follower
// has missed.
func (m *moments) page(q inspect.MomentQuery) (page []moment, lost uint64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.ring == nil || m.ring.Len() == 0 {
		return nil, 0
	}
	oldest := m.ring.At(m.ring.Len() - 1).seq
	lost = m.ring.Lost()
	if q.Since > 0 {
		lost = max(oldest, q.Since+1) - (q.Since + 1)
		if seen := max(m.read, q.Since); oldest > seen+1 {
			m.lost += oldest - 1 - seen
		}
		m.read = max(m.read, m.ring.At(0).seq)
	}
	for rank := range m.ring.Len() {
		found := m.ring.At(rank)
		if len(page) >= q.Limit || found.seq <= q.Since {
			break
		}
		if q.Key == "" || found.key == q.Key {
			page = append(page, *found)
		}
	}
	return page, lost
}

// around returns the moments on both sides of the place where a handler stands,
// the newest first: ahead of it q.Ahead at most, before it q.Limit.
func (m *moments) around(q inspect.MomentQuery, s processor.Standing) (page []moment) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.ring == nil || m.ring.Len() == 0 {
		return nil
	}
	newest, n := m.ring.At(0).seq, m.ring.Len()
	if s.Next <= newest-uint64(n) {
		return nil // what it stands at was overwritten
	}
	keep := func(rank int) bool {
		found := m.ring.At(rank)
		return s.Includes(found.seq, found.to) && (q.Key == "" || found.key == q.Key)
	}
	// The rank of the newest that it has returned from; before it those to come.
	given := int(int64(newest-s.Next)) + 1
	for rank := given - 1; rank >= 0 && len(page) < q.Ahead; rank-- {
		if keep(rank) {
			page = append(page, *m.ring.At(rank))
		}
	}
	slices.Reverse(page)
	for rank, most := max(given, 0), len(page)+q.Limit; rank < n && len(page) < most; rank++ {
		if keep(rank) {
			page = append(page, *m.ring.At(rank))
		}
	}
	return page
}

// missed returns how many moments followers have missed.
func (m *moments) missed() uint64 {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.lost
}

// Moments implements inspect.Inspector. Without a viewer there are none.
func (i *Informer) Moments(_ context.Context, q inspect.MomentQuery) (inspect.MomentPage, error) {
	page := inspect.MomentPage{Generation: i.generation.Current()}
	var found []moment
	var initial []inspect.Moment
	switch {
	case q.Handler == "":
		found, page.Lost = i.moments.page(q)
	case i.moments.on.Load():
		var ok bool
		if initial, found, ok = i.startingWith(q); ok {
			break
		}
		if standing, ok := i.processor.Standing(q.Handler); ok {
			found = i.moments.around(q, standing)
		}
	}
	sent := make([]processor.Sent, len(found))
	page.Moments = make([]inspect.Moment, len(found))
	for n := range found {
		sent[n] = processor.Sent{Seq: found[n].seq, To: found[n].to}
		page.Moments[n] = found[n].inspected()
	}
	for n, deliveries := range i.processor.Deliveries(time.Now(), sent) {
		page.Moments[n].Deliveries = deliveries
	}
	if q.Handler != "" {
		// What was conflated, and what it was given longer ago than is recorded.
		page.Moments = slices.DeleteFunc(page.Moments, func(m inspect.Moment) bool {
			return !slices.ContainsFunc(m.Deliveries, func(d inspect.Delivery) bool { return d.Handler == q.Handler && !d.Merged })
		})
	}
	page.Moments = append(page.Moments, initial...)
	return page, nil
}

// startingWith returns where a handler stands that came late and is still given
// what there was, and what was published since, as far as that fits ahead of it;
// ok is false for any other.
func (i *Informer) startingWith(q inspect.MomentQuery) (initial []inspect.Moment, since []moment, ok bool) {
	calls, then, ok := i.processor.Initial(time.Now(), q.Handler, q.Ahead, q.Limit)
	for _, c := range calls {
		if q.Key != "" && c.Key != q.Key {
			continue
		}
		initial = append(initial, inspect.Moment{
			Key: c.Key, Type: typeOf(processor.Add), Cause: inspect.CauseLateJoin,
			Published: c.Published, Deliveries: []inspect.Delivery{c.Delivery},
		})
	}
	if then == nil {
		return initial, nil, ok
	}
	for _, c := range calls {
		if c.Delivery.Pending || c.Delivery.Calling {
			q.Ahead--
		}
	}
	q.Limit = 0
	return initial, i.moments.around(q, *then), ok
}

func (m *moment) inspected() inspect.Moment {
	return inspect.Moment{
		Seq:       m.seq,
		Key:       m.key,
		Type:      typeOf(m.kind),
		Cause:     m.cause,
		Enqueued:  time.Unix(0, m.enqueued),
		Popped:    time.Unix(0, m.popped),
		Published: time.Unix(0, m.published),
	}
}

// typeOf is what a kind is called in moments and biographies.
func typeOf(k processor.Kind) string {
	switch k {
	case processor.Add:
		return "added"
	case processor.Update:
		return "updated"
	}
	return "deleted"
}

// deliveriesOf returns for each sequence number when each handler was given its
// notification, as far as that is still known. Of a number whose moment was
// overwritten it is not known for whom it still waits.
func (i *Informer) deliveriesOf(seqs []uint64) [][]inspect.Delivery {
	sent := make([]processor.Sent, len(seqs))
	i.moments.mu.Lock()
	for n, seq := range seqs {
		sent[n] = processor.Sent{Seq: seq, To: new(processor.Audience)}
		if found, ok := i.moments.findLocked(seq); ok {
			sent[n].To = found.to
		}
	}
	i.moments.mu.Unlock()
	return i.processor.Deliveries(time.Now(), sent)
}
