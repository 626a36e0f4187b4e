package processor

import (
	"iter"
	"slices"
	"time"

	"github.com/informeter/informeter/engine/inspect"
)

// Initial is one call with a notification of a startup batch.
type Initial struct {
	Key       string
	Published time.Time
	Delivery  inspect.Delivery

	object any // names it where Key is empty
}

// Initial says where a listener stands in its startup batch, the newest first:
// ahead of it most calls at most, the one under way among them, before it limit
// that have returned and are still known. Where more fits ahead, then is where
// it goes on in the log after the batch. ok is false if it is at none. Calls that
// returned are known while deliveries are recorded, those of this chunk and the
// one before. It waits for no handler.
func (p *Processor) Initial(now time.Time, handler string, most, limit int) (calls []Initial, then *Standing, ok bool) {
	l := p.named(handler)
	if l == nil || l.explorer {
		return nil, nil, false
	}
	g := &l.records
	g.mu.Lock()
	if g.from.chunk == nil || !g.from.chunk.own {
		g.mu.Unlock()
		return nil, nil, false
	}
	done := l.delivered.Load()
	g.settleLocked(done)
	calls = g.initialAheadLocked(l, now, done, most)
	if c := l.conflating; len(calls) < most && !(c != nil && c.out) {
		then = &Standing{listener: l, Next: l.firstSeq}
	}
	calls = append(calls, g.initialToldLocked(l, done, limit)...)
	g.mu.Unlock()
	for i := range calls {
		c := &calls[i]
		if c.Key == "" {
			c.Key = p.keyOf(c.object) // foreign: not under mu
		}
		c.Delivery.Handler = handler
	}
	return calls, then, true
}

// initialAheadLocked returns the first of what the listener has not returned
// from, the last of them first.
func (g *ledger) initialAheadLocked(l *Listener, now time.Time, done uint64, most int) []Initial {
	var next []Initial
	_, inCall, began := g.standingLocked(l, done)
	if l.retired.Load() {
		most = min(most, 1) // the call under way is the last
		if !inCall {
			return nil
		}
	}
	for e := range g.initialFromLocked(l, done) {
		if len(next) >= most {
			break
		}
		d := inspect.Delivery{Pending: true}
		if inCall && len(next) == 0 {
			d = inspect.Delivery{Calling: true, Began: l.p.clockTime(began), Took: max(now.Sub(l.p.began)-time.Duration(began), 0)}
		}
		next = append(next, initialOf(e, d))
	}
	slices.Reverse(next)
	return next
}

// initialFromLocked yields the rest of the startup batch after done calls, in
// the order in which the listener is called with it: what is left of a window,
// then what lies in the backlog or in the batch.
func (g *ledger) initialFromLocked(l *Listener, done uint64) iter.Seq[*entry] {
	return func(yield func(*entry) bool) {
		at := position{g.from.chunk, g.from.index + int(done-g.fromDone)}
		if c := l.conflating; c != nil && at.chunk == &c.window {
			for ; at.index < g.runEnd; at.index++ {
				if !yield(&at.chunk.entries[at.index]) {
					return
				}
			}
			for q := range c.backlog.all() {
				if q.seq != 0 || !yield(&q.entry) {
					return
				}
			}
			at = c.rest // nowhere if it is out of the log
		}
		for more := at.chunk != nil; more && at.chunk.own; at, more = at.next() {
			for ; at.index < int(at.chunk.n.Load()); at.index++ {
				if !yield(&at.chunk.entries[at.index]) {
					return
				}
			}
		}
	}
}

// initialToldLocked returns the last calls that have returned, the newest first.
// All calls were settled.
func (g *ledger) initialToldLocked(l *Listener, done uint64, limit int) (told []Initial) {
	if g.deliveries == nil {
		return nil
	}
	at, first, before := position{g.from.chunk, g.from.index + int(done-g.fromDone)}, 0, g.before
	if c := l.conflating; c != nil && at.chunk == &c.window {
		first = g.from.index // what was before it was cleared
	}
	for rank := range min(limit, g.deliveries.Len()) {
		if at.index == first && before != nil {
			at, first, before = before.head(), 0, nil
		}
		if at.index == first {
			break
		}
		at.index--
		d := g.deliveries.At(rank)
		told = append(told, initialOf(&at.chunk.entries[at.index],
			inspect.Delivery{Began: l.p.clockTime(d.ended - int64(d.took)), Took: d.took}))
	}
	return told
}

func initialOf(e *entry, d inspect.Delivery) Initial {
	return Initial{Key: e.key, Published: time.Unix(0, e.at), Delivery: d, object: e.object()}
}
