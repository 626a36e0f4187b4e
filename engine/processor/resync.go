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
	due, _ := p.chooseLocked(now, func(l *Listener) bool { return l.granted != 0 && !now.Before(l.nextResync) })
	return due > 0
}

// HoldResync finds everybody due who is granted a resync period, and everybody if
// nobody is, for a round that is about to be published. Until ReleaseResync
// ShouldResync takes nobody away, so that the round may take its time. It
// returns how many are due and how many were passed over, see ShouldResync.
func (p *Processor) HoldResync(now time.Time) (due, skipped int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	granted := slices.ContainsFunc(p.listeners, func(l *Listener) bool {
		return l.granted != 0 && !l.explorer && !l.retired.Load()
	})
	p.held = false
	due, skipped = p.chooseLocked(now, func(l *Listener) bool { return l.granted != 0 || !granted })
	p.held = true
	return due, skipped
}

// ReleaseResync says that the round of HoldResync was published.
func (p *Processor) ReleaseResync() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.held = false
}

// chooseLocked begins a round for the listeners whose turn it is, if there are
// any. It returns how many these are and how many were passed over.
func (p *Processor) chooseLocked(now time.Time, turn func(*Listener) bool) (chosen, skipped int) {
	for _, l := range p.listeners {
		if l.explorer || l.retired.Load() {
			continue
		}
		due := turn(l)
		if due {
			l.nextResync = now.Add(l.granted)
			if p.skipBusy && l.delivered.Load()+l.conflated.Load() < l.roundEnd {
				l.skipped++
				skipped++
				due = false
			}
		}
		if due {
			chosen++
		}
		if due = due || p.held && l.due; due != l.due {
			l.due = due
			p.dueKnown = false
		}
	}
	if chosen > 0 {
		p.round++
		p.generation.Bump()
	}
	return chosen, skipped
}

// SetResync changes what a listener asks for and is granted; it is due when that
// has passed once from now.
func (p *Processor) SetResync(l *Listener, asked, granted time.Duration, now time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	l.asked, l.granted, l.nextResync = asked, granted, now.Add(granted)
	p.generation.Bump()
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
