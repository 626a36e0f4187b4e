package findings

import (
	"time"

	"github.com/informeter/informeter/engine/inspect"
)

// progress notices whether an initial list gets anywhere.
type progress struct {
	received int
	deltas   uint64
	phase    inspect.Phase
	moved    time.Time // zero before the first snapshot
}

func (p *progress) observe(s *inspect.Snapshot) {
	now := progress{s.Reflector.Received, s.Handle.Deltas, s.Reflector.Phase, s.At}
	if p.moved.IsZero() || now.received != p.received || now.deltas != p.deltas || now.phase != p.phase {
		*p = now
	}
}

// still returns for how long nothing has moved.
func (p *progress) still(s *inspect.Snapshot) time.Duration { return s.At.Sub(p.moved) }

const (
	// An informer that is created and not run is what a program looks like while
	// it starts; after a minute somebody forgot.
	neverStarted = time.Minute
	// A list that brings nothing for a while may be a slow one: a server takes
	// several seconds to make a large one, and it comes in one piece.
	listSilent     = 10 * time.Second
	listSilentLong = 20 * time.Second
	// A handler that is still being given the initial list after this is worth
	// a word: somebody may wait for it, though the informer has synced.
	initialSlow = 10 * time.Second
)

// notSynced reports whoever waits for the initial list and gets nowhere, unless
// that is because of a failure that is reported already.
func (w *Watcher) notSynced(s *inspect.Snapshot) []Finding {
	i := &s.Informer
	switch {
	case i.State == inspect.StateCreated:
		return w.notStarted(s)
	case i.State != inspect.StateRunning:
		return nil
	case i.Synced:
		return w.handlersNotSynced(s)
	case w.explained(ListForbidden, WatchForbidden, RequestsFailing, NoAnswer, EndMarkerMissing, Expired):
		return nil
	}
	still := w.sync.still(s)
	if still < listSilent {
		return nil
	}
	f := Finding{
		Severity: Info,
		Place:    PlacePipeline,
		Since:    s.At.Add(-still),
		Title:    "The initial list of " + what(s) + " does not get on.",
		past:     "The initial list of " + what(s) + " did not get on for a while.",
		Evidence: []string{"reflector " + s.Reflector.Phase.String() + ", " + received(s) + ", nothing new for " + short(still)},
		Next:     "Look at the open request: a server that is slow to list, or a connection that hangs. HasSynced is false until the list is in the cache.",
	}
	if still >= listSilentLong {
		f.Severity = Warning
	}
	if s.Queue.Gate.Mode == inspect.GatePaused {
		f.Severity = Info
		f.Title = "The initial list of " + what(s) + " waits before a closed gate."
		f.past = "The initial list of " + what(s) + " waited before a closed gate."
		f.Next = "Resume: the gate was closed from here, and nothing reaches the cache before it opens."
	}
	if s.Queue.Objects > 0 {
		f.Evidence = append(f.Evidence, counted(s.Queue.Objects, "object waits", "objects wait")+" in the queue")
	}
	f.Evidence = withText(f.Evidence, waiting(s))
	return []Finding{f}
}

func received(s *inspect.Snapshot) string {
	r := &s.Reflector
	text := count(r.Received) + " received"
	if r.Expected >= r.Received && r.Expected > 0 {
		text += " of " + count(r.Expected)
	}
	return text
}

// notStarted reports an informer that was created and never run. With handlers
// somebody counts on it.
func (w *Watcher) notStarted(s *inspect.Snapshot) []Finding {
	age := s.At.Sub(s.Informer.Created)
	if s.Informer.Created.IsZero() || age < neverStarted {
		return nil
	}
	f := Finding{
		Severity: Info,
		Place:    PlacePipeline,
		Since:    s.Informer.Created,
		Title:    "The informer for " + what(s) + " was created and never started.",
		past:     "The informer for " + what(s) + " was started long after it was created.",
		Evidence: withText([]string{"created " + short(age) + " ago"}, waiting(s)),
		Next:     "Run it, or start its factory once more: a factory's Start runs the informers that were asked for before, and no later ones.",
	}
	if waiting(s) != "" {
		f.Severity = Warning
	}
	return []Finding{f}
}

// handlersNotSynced reports handlers that are still being given the initial list
// long after the cache has it. It is how a slow handler begins, and no problem
// but to those who wait for its registration.
func (w *Watcher) handlersNotSynced(s *inspect.Snapshot) (found []Finding) {
	for n := range s.Listeners {
		l := &s.Listeners[n]
		m := w.handlers[l.Name]
		if m == nil || l.Synced || l.Removing || l.InitialDelivered >= l.InitialTotal || w.has(HandlerStuck, l.Name) {
			continue
		}
		since := m.first
		if s.Informer.SyncedAt.After(since) {
			since = s.Informer.SyncedAt
		}
		if s.At.Sub(since) < initialSlow {
			continue
		}
		f := Finding{
			Severity: Info,
			Place:    PlaceHandlers,
			Subject:  l.Name,
			Since:    since,
			Title:    "Handler " + clean(l.Name) + " is still being given the initial list: the informer has synced, this handler has not.",
			past:     "Handler " + clean(l.Name) + " was given the last of the initial list long after the informer had synced.",
			Evidence: []string{timePerCall(l)},
			passing:  []string{count(l.InitialDelivered) + " of " + counted(l.InitialTotal, "object", "objects") + " so far"},
			Next:     "Whoever needs to know that the handler has seen everything waits for its registration's HasSynced, not for the informer's.",
		}
		if left := l.InitialTotal - l.InitialDelivered; l.BusyRate > 0 {
			f.passing = append(f.passing, "at "+perSecond(l.BusyRate)+" it takes about "+short(seconds(float64(left)/l.BusyRate))+" more")
		}
		found = append(found, f)
	}
	return found
}

// pauseMemory is how deep the queue was when the gate was first seen closed.
type pauseMemory struct {
	since  time.Time
	deltas int
}

func (p *pauseMemory) observe(s *inspect.Snapshot) {
	g := &s.Queue.Gate
	if g.Mode != inspect.GatePaused {
		*p = pauseMemory{}
	} else if p.since.IsZero() || !g.Since.Equal(p.since) && !g.Since.IsZero() {
		*p = pauseMemory{since: g.Since, deltas: s.Queue.Deltas}
		if p.since.IsZero() {
			p.since = s.At
		}
	}
}

// pausedLong is how long a gate is closed by somebody who looks at what is
// behind it.
const pausedLong = 10 * time.Second

// gatePaused reminds of a gate that was closed, once what waits behind it grows.
// It was closed on purpose, so it is no more than that, until it holds the
// reflector back: then the server may take the watch away.
func (w *Watcher) gatePaused(s *inspect.Snapshot) []Finding {
	q := &s.Queue
	closed := s.At.Sub(w.paused.since)
	if q.Gate.Mode != inspect.GatePaused || closed < pausedLong || q.Deltas <= w.paused.deltas {
		return nil
	}
	f := Finding{
		Severity: Info,
		Place:    PlaceQueue,
		Since:    w.paused.since,
		Title:    "The gate is closed, and the queue grows.",
		past:     "The gate was closed, and the queue grew.",
		Evidence: []string{
			"closed for " + short(closed) + ": the queue went from " + count(w.paused.deltas) + " to " + counted(q.Deltas, "delta", "deltas") + ", the oldest " + short(q.Age) + " old",
		},
		Next: "Resume, once you have seen enough. Until then cache and handlers know nothing new.",
	}
	if q.BackPressure {
		f.Severity = Warning
		f.Evidence = append(f.Evidence, "the reflector is held back at "+counted(q.BackPressureAt, "delta", "deltas")+": the server may end the watch, and a list will follow")
	}
	return []Finding{f}
}

// journalLoss says that what the explorer shows of keys is not complete. The
// informer and its handlers have lost nothing.
func (w *Watcher) journalLoss(s *inspect.Snapshot) []Finding {
	since, recent := w.recently(JournalLoss, "", s.Lost.Journal, shownFor)
	if !recent {
		return nil
	}
	return []Finding{{
		Severity: Info,
		Place:    PlaceStore,
		Since:    since,
		Title:    "The explorer could not keep up and has left out changes: biographies and update rates have gaps.",
		Evidence: []string{counted(s.Lost.Journal, "notification", "notifications") + " left out so far"},
		Next:     "Nothing: the informer's own cache and handlers are not concerned, and the list of keys was made anew from the cache.",
	}}
}
