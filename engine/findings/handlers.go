package findings

import (
	"time"

	"github.com/informeter/informeter/engine/inspect"
)

const (
	// knownAfter is how many calls it takes to know how long one takes: fewer
	// may all be the slow first ones.
	knownAfter = 10
	// A call of ten seconds holds everything behind it up, whatever it does;
	// after a minute it is waiting for something that does not come. Calls that
	// always take that long are slow and not stuck.
	stuckAfter = 10 * time.Second
	deadAfter  = time.Minute
	// panickedFor is how long a panic is news: the notification it cost does not
	// come back.
	panickedFor = 5 * time.Minute
)

// maxHandlers bounds how many handlers are remembered.
const maxHandlers = 1024

// handlerMemory is what is remembered of one handler.
type handlerMemory struct {
	first time.Time // when it was first seen
	backlog
}

// rememberHandlers samples the handlers of a snapshot and forgets the others.
func (w *Watcher) rememberHandlers(s *inspect.Snapshot) {
	was := w.handlers
	w.handlers = make(map[string]*handlerMemory, len(s.Listeners))
	for i := range s.Listeners[:min(len(s.Listeners), maxHandlers)] {
		l := &s.Listeners[i]
		if l.Explorer {
			continue
		}
		m := was[l.Name]
		if m == nil {
			m = &handlerMemory{first: s.At}
		}
		m.add(sample{s.At, l.Pending, l.Delivered, l.InitialTotal, l.Behind})
		w.handlers[l.Name] = m
	}
}

// resyncEnds is the share of its period below which a round has room again. It
// is less than all of it, so that a round that just about takes its period does
// not come and go.
const resyncEnds = 0.8

// resyncStorm compares what a resync round costs with its period, before it has
// happened. Until a handler has been given part of a round, the cost is
// reckoned from its other calls, which may take longer than one with nothing new:
// an info.
func (w *Watcher) resyncStorm(s *inspect.Snapshot) (found []Finding) {
	for i := range s.Listeners {
		l := &s.Listeners[i]
		if l.Explorer || l.Removing || l.ResyncGranted <= 0 || l.BusyRate <= 0 || l.Time.Count < knownAfter {
			continue
		}
		o := l.Outlook(s.Store.Objects)
		least := o.Period
		if w.goesOn(ResyncStorm, l.Name) {
			least = time.Duration(float64(least) * resyncEnds)
		}
		if o.Round <= least {
			continue
		}
		f := Finding{
			Severity: Warning,
			Place:    PlaceResync,
			Subject:  l.Name,
			Title:    "A resync takes handler " + clean(l.Name) + " longer than its period: it is never done, and real changes wait behind it.",
			past:     "A resync took handler " + clean(l.Name) + " longer than its period, and real changes waited behind it.",
			Evidence: []string{
				"a round is " + counted(s.Store.Objects, "object", "objects") + " × " + short(seconds(1/l.BusyRate)) + " = " + short(o.Round) + ", the period " + short(l.ResyncGranted),
				"period asked " + period(l.ResyncAsked) + ", granted " + period(l.ResyncGranted) + ", seen " + seen(l.ResyncSeen),
				count(l.Pending) + " pending, behind " + short(l.Behind),
				"resync is " + percent(l.Causes.Resync, l.Causes.Total()) + " of " + counted(l.Causes.Total(), "call", "calls"),
			},
			Next: "Ask for a longer period, or for none: a resync repeats what is in the cache and never asks the server. Or let the handler return at once where old and new have the same resource version.",
		}
		if l.ResyncSkipped > 0 {
			f.Evidence = append(f.Evidence, counted(l.ResyncSkipped, "round was", "rounds were")+" left out because it was still busy")
		}
		if l.Causes.Resync == 0 || l.Causes.Resync < uint64(s.Store.Objects)/4 {
			f.Severity = Info
			f.past = "A resync would have taken handler " + clean(l.Name) + " longer than its period, if its calls took as long as others."
			f.Title = "A resync will take handler " + clean(l.Name) + " longer than its period, if its calls take as long as others."
		}
		found = append(found, f)
	}
	return found
}

func (w *Watcher) handlerStuck(s *inspect.Snapshot) (found []Finding) {
	for i := range s.Listeners {
		l := &s.Listeners[i]
		usual := max(l.Time.Max, l.Delay)
		if l.Explorer || l.InHandler < stuckAfter || l.InHandler < 2*usual {
			continue
		}
		f := Finding{
			Severity: Warning,
			Place:    PlaceHandlers,
			Subject:  l.Name,
			Title:    "Handler " + clean(l.Name) + " has not returned for " + short(l.InHandler) + ".",
			past:     "Handler " + clean(l.Name) + " did not return for " + short(l.InHandler) + " or longer.",
			Evidence: []string{
				"it was called with " + clean(l.CurrentKey),
				timePerCall(l),
				count(l.Pending) + " pending, behind " + short(l.Behind),
			},
			Next:  "Look at the stack of its goroutine for what it waits for: a lock, a full channel, a request without a timeout. It is given nothing else meanwhile; other handlers go on.",
			Since: s.At.Add(-l.InHandler),
		}
		if l.Removing {
			f.Evidence = append(f.Evidence, "it was removed; this is its last call")
		}
		if l.InHandler >= deadAfter {
			f.Severity = Error
		}
		found = append(found, f)
	}
	return found
}

func (w *Watcher) handlerPanics(s *inspect.Snapshot) (found []Finding) {
	for i := range s.Listeners {
		l := &s.Listeners[i]
		if l.Explorer {
			continue
		}
		since, recent := w.recently(HandlerPanics, l.Name, l.Panics, panickedFor)
		if !recent {
			continue
		}
		found = append(found, Finding{
			Severity: Error,
			Place:    PlaceHandlers,
			Subject:  l.Name,
			Since:    since,
			Title:    "Handler " + clean(l.Name) + " has panicked, and is not given what it panicked at again.",
			Evidence: []string{
				counted(l.Panics, "panic", "panics") + " in " + counted(l.Delivered, "call", "calls"),
				"the last: " + firstLine(l.LastPanic),
			},
			Next: "Fix the handler; the snapshot has key and stack (listeners.lastPanic). An informer of client-go ends the process here.",
		})
	}
	return found
}

// timePerCall says how long a handler takes.
func timePerCall(l *inspect.ListenerVitals) string {
	if l.Time.Count == 0 {
		return "no call has returned lately"
	}
	return "a call takes " + short(l.Time.P50) + " (p50), " + short(l.Time.P99) + " (p99)"
}

// causes says what a handler is mostly called for.
func causes(l *inspect.ListenerVitals) string {
	cause, n := l.Causes.Largest()
	if n == l.Causes.Total() {
		return "called only " + because(cause) + ": " + counted(n, "call", "calls")
	}
	return "called mostly " + because(cause) + ": " + percent(n, l.Causes.Total()) + " of " + counted(l.Causes.Total(), "call", "calls")
}

// because says what a handler was called for.
func because(c inspect.Cause) string {
	switch c {
	case inspect.CauseInitial:
		return "with the initial list"
	case inspect.CauseLateJoin:
		return "with what was there when it was added"
	case inspect.CauseRelist, inspect.CauseRelistChanged:
		return "with what a relist found changed"
	case inspect.CauseRelistUnchanged:
		return "with what a relist brought again"
	case inspect.CauseResync:
		return "by resyncs"
	}
	return "with what the watch brought"
}

// seen writes the distance of two rounds, if there have been two.
func seen(d time.Duration) string {
	if d <= 0 {
		return "not yet"
	}
	return short(d)
}

func period(d time.Duration) string {
	if d <= 0 {
		return "none"
	}
	return short(d)
}
