package processor

import (
	"slices"
	"time"

	"github.com/informeter/informeter/engine/inspect"
)

// ShouldResync says whether a listener is due for a resync, and remembers which:
// until the next call DueOnly notifications are for those. Those that are due
// wait for their period again. A listener is due at its registration, until the
// first call: client-go's rule, by which a relist of unchanged objects reaches
// every handler of an informer that never resyncs.
//
// With Options.SkipBusyResync a listener that has not been given all of its last
// round is passed over, and waits for its period again.
func (p *Processor) ShouldResync(now time.Time) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	var any bool
	for _, l := range p.listeners {
		if l.explorer || l.retired.Load() {
			continue
		}
		due := l.granted != 0 && !now.Before(l.nextResync)
		if due {
			l.nextResync = now.Add(l.granted)
			if p.skipBusy && l.delivered.Load() < l.roundEnd {
				l.skipped++
				due = false
			}
		}
		any = any || due
		if due != l.due {
			l.due = due
			p.dueKnown = false
		}
	}
	if any {
		p.round++
		p.generation.Bump()
	}
	return any
}

// markRoundLocked notes, for listeners that are due, how far they have to get to
// be done with the resync round that the batch is part of, if it is.
func (p *Processor) markRoundLocked(batch []Notification) {
	if !slices.ContainsFunc(batch, func(n Notification) bool { return n.Cause == inspect.CauseResync }) {
		return
	}
	for _, l := range p.listeners {
		if l.due && !l.retired.Load() {
			l.roundEnd = l.addressed()
		}
	}
}

// Due returns how many listeners the last ShouldResync found due.
func (p *Processor) Due() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	n := 0
	for _, l := range p.listeners {
		if l.due && !l.explorer && !l.retired.Load() {
			n++
		}
	}
	return n
}

// RegrantResync adjusts what listeners are granted to a new check period: what
// they asked for, but no less than the check period; nothing if they asked for
// nothing or nobody checks. When a listener is next due stays as it is.
func (p *Processor) RegrantResync(check time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, l := range p.listeners {
		switch {
		case l.asked == 0 || check == 0:
			l.granted = 0
		default:
			l.granted = max(l.asked, check)
		}
	}
	p.generation.Bump()
}

// dueLocked returns the audience of DueOnly notifications, nil for every
// listener, and whether they are for nobody.
func (p *Processor) dueLocked() (due *Audience, nobody bool) {
	if p.dueKnown {
		return p.due, p.dueEmpty
	}
	members := make(map[*Listener]struct{}, p.active)
	for _, l := range p.listeners {
		if !l.retired.Load() && (l.due || l.explorer) {
			members[l] = struct{}{}
		}
	}
	p.dueKnown = true
	p.due, p.dueEmpty = nil, len(members) == 0
	if len(members) < p.active {
		p.due = &Audience{members: members}
	}
	return p.due, p.dueEmpty
}
