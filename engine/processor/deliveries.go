package processor

import (
	"cmp"
	"math"
	"slices"
	"time"

	"github.com/informeter/informeter/engine/inspect"
	"github.com/informeter/informeter/engine/tap"
)

// deliveriesKept is how many of its last deliveries are kept of each listener.
const deliveriesKept = 1 << 13

// delivery is one call of a handler, as it is kept while deliveries are recorded.
type delivery struct {
	seq   uint64 // 0 for what is of the startup batch
	ended int64  // on the processor's clock
	took  time.Duration
}

// Sent names a notification that was published, and whom it was for.
type Sent struct {
	Seq uint64
	To  *Audience
}

// RecordDeliveries begins or ends keeping the last deliveries of every listener
// but the explorer's. Ending lets go of them.
func (p *Processor) RecordDeliveries(on bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.recording = on
	for _, l := range p.listeners {
		l.recordLocked(on)
	}
}

// recordLocked is RecordDeliveries for one listener.
func (l *Listener) recordLocked(on bool) {
	g := &l.records
	g.mu.Lock()
	defer g.mu.Unlock()
	g.settleLocked(l.delivered.Load()) // what came before is not recorded
	switch {
	case !on || l.explorer:
		g.deliveries, g.merged = nil, nil
	case g.deliveries == nil:
		g.deliveries = tap.NewRing[delivery](deliveriesKept)
		if l.conflating != nil {
			g.merged = tap.NewRing[uint64](deliveriesKept)
		}
	}
}

// Deliveries says of each notification when each of the handlers it was for was
// called with it, which are still to be, and which never will, because it was
// conflated, in the order of registration. What
// happened before deliveries were recorded, or so long ago that it was
// overwritten, is left out, and so are the explorer's listener and listeners that
// are gone. Nothing is pending for a listener that is being removed. A call
// under way has taken as long as it has until now. It waits for no handler.
func (p *Processor) Deliveries(now time.Time, sent []Sent) [][]inspect.Delivery {
	found := make([][]inspect.Delivery, len(sent))
	if len(sent) == 0 {
		return found
	}
	p.mu.Lock()
	listeners := slices.Clone(p.listeners)
	p.mu.Unlock()
	order := make([]int, len(sent))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int { return cmp.Compare(sent[a].Seq, sent[b].Seq) })
	w := wanted{sent: sent, order: order, found: found}
	for _, l := range listeners {
		if !l.explorer {
			w.of(l, now)
		}
	}
	return found
}

// DeliveriesAt says of a notification for every listener, of which only the
// millisecond is known in which it was published, which listeners have been given
// it, at a time that is not known, and for which it is still pending. Left out are
// the explorer's listener, those that came later, and those of which it can't be
// told, because they stand at what was published in the same millisecond.
func (p *Processor) DeliveriesAt(at time.Time) []inspect.Delivery {
	p.mu.Lock()
	listeners := slices.Clone(p.listeners)
	p.mu.Unlock()
	from := at.Truncate(time.Millisecond).UnixNano()
	before := from + int64(time.Millisecond)
	var found []inspect.Delivery
	for _, l := range listeners {
		if l.explorer || l.retired.Load() || l.added.After(at) {
			continue
		}
		if stands, ok := l.standsAt(); ok && (stands < from || stands >= before) {
			found = append(found, inspect.Delivery{Handler: l.name, Pending: stands < from})
		}
	}
	return found
}

// standsAt returns when the oldest notification was published that is pending, in
// Unix nanoseconds; the end of time if none is. It is not known of a listener
// that is out of the log.
func (l *Listener) standsAt() (at int64, ok bool) {
	g := &l.records
	g.mu.Lock()
	defer g.mu.Unlock()
	if c := l.conflating; c != nil && c.out {
		return 0, false
	}
	done := l.delivered.Load()
	g.settleLocked(done)
	if e, _, _ := g.standingLocked(l, done); e != nil {
		return e.at, true
	}
	return math.MaxInt64, l.addressed() == done+l.conflated.Load()
}

// wanted is what Deliveries was asked, and what it has found so far.
type wanted struct {
	sent  []Sent
	order []int // of sent, by sequence number
	found [][]inspect.Delivery
}

// of adds what is known of one listener.
func (w *wanted) of(l *Listener, now time.Time) {
	g := &l.records
	g.mu.Lock()
	defer g.mu.Unlock()
	done := l.delivered.Load()
	g.settleLocked(done)
	known := make([]bool, len(w.sent))
	lowest, highest := w.sent[w.order[0]].Seq, w.sent[w.order[len(w.order)-1]].Seq
	if g.deliveries != nil {
		for rank := range g.deliveries.Len() {
			d := g.deliveries.At(rank)
			if d.seq != 0 && d.seq-lowest <= highest-lowest { // the others are below: it wraps
				w.add(known, d.seq, l, inspect.Delivery{Began: l.p.clockTime(d.ended - int64(d.took)), Took: d.took})
			}
		}
	}
	if g.merged != nil {
		for rank := range g.merged.Len() {
			if seq := *g.merged.At(rank); seq-lowest <= highest-lowest {
				w.add(known, seq, l, inspect.Delivery{Merged: true})
			}
		}
	}
	next, calling, began := g.nextLocked(l, done)
	if calling != 0 {
		took := max(now.Sub(l.p.began)-time.Duration(began), 0)
		w.add(known, calling, l, inspect.Delivery{Began: l.p.clockTime(began), Took: took, Calling: true})
	}
	if l.retired.Load() {
		return
	}
	if c := l.conflating; c != nil && c.out {
		next = w.outOf(l, known, next)
	}
	for i := range w.sent {
		s := &w.sent[i]
		if !known[i] && s.Seq >= max(next, l.firstSeq) && s.To.includes(l) {
			w.found[i] = append(w.found[i], inspect.Delivery{Handler: l.name, Pending: true})
		}
	}
}

// outOf adds what is pending of a listener out of the log: the rest of its
// window, from next on, and its backlog. It returns from where on nothing was
// moved there.
func (w *wanted) outOf(l *Listener, known []bool, next uint64) uint64 {
	g, c := &l.records, l.conflating
	pending := inspect.Delivery{Handler: l.name, Pending: true}
	if g.from.chunk == &c.window && !c.window.own {
		for ; next <= c.window.base+uint64(g.runEnd); next++ {
			w.note(known, next, pending)
		}
	}
	for q := range c.backlog.all() {
		w.note(known, q.seq, pending)
	}
	return c.movedTo + 1
}

// add notes a delivery if it was asked for.
func (w *wanted) add(known []bool, seq uint64, l *Listener, d inspect.Delivery) {
	d.Handler = l.name
	w.note(known, seq, d)
}

func (w *wanted) note(known []bool, seq uint64, d inspect.Delivery) {
	at, ok := slices.BinarySearchFunc(w.order, seq, func(i int, seq uint64) int { return cmp.Compare(w.sent[i].Seq, seq) })
	if !ok {
		return
	}
	for ; at < len(w.order) && w.sent[w.order[at]].Seq == seq; at++ {
		i := w.order[at]
		known[i] = true
		w.found[i] = append(w.found[i], d)
	}
}

// Standing is how far one listener has got.
type Standing struct {
	listener *Listener
	// Next is the number from which on it has returned from no notification, and
	// below which from all that were for it. One that is out of the log may have
	// returned from later ones.
	Next uint64
}

// Includes says whether the notification of that number, which was for to, is or
// was for the listener.
func (s Standing) Includes(seq uint64, to *Audience) bool {
	return seq >= s.listener.firstSeq && to.includes(s.listener)
}

// Standing says how far the listener of that name has got; ok is false if there
// is none, or if it is still at its startup batch, which has no numbers.
func (p *Processor) Standing(handler string) (s Standing, ok bool) {
	if s.listener = p.named(handler); s.listener == nil {
		return s, false
	}
	g := &s.listener.records
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.from.chunk != nil && g.from.chunk.own {
		return s, false
	}
	next, calling, _ := g.nextLocked(s.listener, s.listener.delivered.Load())
	switch c := s.listener.conflating; {
	case calling != 0:
		next = calling
	case c == nil || !c.out:
	case c.backlog.first != nil:
		next = c.backlog.first.note.seq
	default:
		next = c.movedTo + 1
	}
	s.Next = next
	return s, true
}

// named returns the listener of that name, rather one that is not removed; nil if
// there is none.
func (p *Processor) named(handler string) (found *Listener) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, l := range p.listeners {
		if l.name == handler && (found == nil || !l.retired.Load()) {
			found = l
		}
	}
	return found
}

// nextLocked returns the sequence number from which on nothing has been given to
// the listener after done calls, and that of the call under way and since when
// it is, if there is one that is not of the startup batch.
func (g *ledger) nextLocked(l *Listener, done uint64) (next, calling uint64, began int64) {
	if g.from.chunk == nil {
		return g.stood + 1, 0, 0
	}
	at := position{g.from.chunk, g.from.index + int(done-g.fromDone)}
	if at.chunk.own {
		return l.firstSeq, 0, 0
	}
	if _, inCall, began := g.standingLocked(l, done); inCall {
		return at.seq() + 1, at.seq(), began
	}
	return at.seq(), 0, 0
}

// clockTime returns the time at which the processor's clock read at.
func (p *Processor) clockTime(at int64) time.Time { return time.Unix(0, p.beganUnix+at) }
