package processor

import (
	"math"
	"slices"
	"time"

	"github.com/informeter/informeter/engine/inspect"
)

// Listeners returns the vitals of every listener in the order of registration.
// A removed listener is among them until its last call has returned. After Run
// the listeners are as they were left: what is pending was not delivered. It
// never waits for a handler.
func (p *Processor) Listeners(now time.Time) []inspect.ListenerVitals {
	p.mu.Lock()
	listeners := slices.Clone(p.listeners)
	vitals := make([]inspect.ListenerVitals, len(listeners))
	for i, l := range listeners {
		vitals[i] = l.registrationLocked()
		vitals[i].Removing = l.retired.Load() && !p.stopped
	}
	p.mu.Unlock()
	for i, l := range listeners {
		l.fill(&vitals[i], now)
	}
	return vitals
}

// Sample brings the moving averages of all listeners up to date. Listeners does
// so too; whoever owns the processor samples it about once a second while
// nobody reads, so that what happened long ago is not averaged with what happens
// now.
func (p *Processor) Sample(now time.Time) {
	p.mu.Lock()
	listeners := slices.Clone(p.listeners)
	p.mu.Unlock()
	for _, l := range listeners {
		l.sample(now)
	}
}

// registrationLocked returns what the processor's mu guards.
func (l *Listener) registrationLocked() inspect.ListenerVitals {
	v := inspect.ListenerVitals{
		Name:          l.name,
		Explorer:      l.explorer,
		Lab:           l.lab,
		Delay:         l.delay,
		ResyncAsked:   l.asked,
		ResyncGranted: l.granted,
		ResyncSkipped: l.skipped,
	}
	if l.granted != 0 && !l.explorer {
		v.NextResync = l.nextResync
	}
	return v
}

// fill adds the rest as of now. It waits for no handler: the listener's lock is
// never held during a call.
func (l *Listener) fill(v *inspect.ListenerVitals, now time.Time) {
	v.Synced = l.HasSynced()
	// What was delivered is read before what there is to deliver.
	v.InitialDelivered = l.initialDelivered.Load()
	v.InitialTotal = l.initialTotal()

	at := int64(now.Sub(l.p.began))
	if current := l.records.fill(v, l, now, at); current != nil {
		v.CurrentKey = l.p.keyOf(current)
	}
}

// fill adds what the ledger knows; at is now on the processor's clock. It
// returns the object of the call under way.
func (g *ledger) fill(v *inspect.ListenerVitals, l *Listener, now time.Time, at int64) (current any) {
	g.mu.Lock()
	defer g.mu.Unlock()
	done := l.delivered.Load()
	v.Conflated = l.conflated.Load()
	addressed := l.addressed()
	g.settleLocked(done)

	v.Delivered = done
	v.Pending = addressed - done - v.Conflated
	v.Rate = g.rate.Sample(now, done)
	v.ArrivalRate, v.ChangeRate = g.arrivedLocked(l, now, addressed)
	v.Time, v.Spread = g.time.Summary(), g.time.Spread()
	v.Causes = g.causes
	v.ResyncSeen, v.LastRound = g.roundGap, g.lastRoundLocked(l.p.beganUnix)
	v.Panics, v.LastPanic = g.panics, g.lastPanic

	if v.Pending > 0 {
		if e, inCall, began := g.standingLocked(l, done); e != nil {
			v.Behind = max(time.Duration(at+l.p.beganUnix-e.at), 0)
			if inCall {
				v.InHandler = max(time.Duration(at-began), 1)
				current = e.object()
			}
		} else if c := l.conflating; c != nil && c.backlog.first != nil {
			v.Behind = max(time.Duration(at+l.p.beganUnix-c.backlog.first.note.at), 0)
		}
	}
	v.BusyRate = g.busy.rate(v.InHandler)
	v.Drain = drain(v.Pending, v.BusyRate)
	return current
}

// drain returns how long pending calls take at rate calls a second; -1 if the
// rate is not known.
func drain(pending uint64, rate float64) time.Duration {
	if rate <= 0 {
		return -1
	}
	ns := float64(pending) / rate * float64(time.Second)
	if ns >= math.MaxInt64 {
		return math.MaxInt64
	}
	return time.Duration(ns)
}

func (l *Listener) sample(now time.Time) {
	g := &l.records
	g.mu.Lock()
	defer g.mu.Unlock()
	g.rate.Sample(now, l.delivered.Load())
	g.arrivedLocked(l, now, l.addressed())
}
