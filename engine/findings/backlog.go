package findings

import (
	"slices"
	"time"

	"github.com/informeter/informeter/engine/inspect"
)

const (
	// sampleEvery is how far apart samples are at least, oldSample when one says
	// nothing about now any more.
	sampleEvery = time.Second
	oldSample   = time.Minute
	// growsFor is how long a backlog has to grow. A rollout or a wave of events
	// fills one for some seconds, and is worked off in the next ones: the steady
	// demo does so once a minute. Whoever loses for this long loses.
	growsFor = 15 * time.Second
	// minSamples keeps two snapshots that are far apart from looking like a
	// trend; maxSamples is enough for growsFor, and a bound.
	minSamples = 5
	maxSamples = 24
	// largestStep is the share of the growth that may come in one step: a resync
	// round or a relist comes at once, and is then worked off.
	largestStep = 0.5
	// risingShare is the share of the steps that have to go up.
	risingShare = 0.8
	// noticeable is how far behind a handler has to be for its backlog to matter.
	noticeable = time.Second
	// longBehind is when what a handler is told is history.
	longBehind = time.Minute
	// backlogEnds is the share of what a handler can work off below which what
	// arrives is no more than that again.
	backlogEnds = 0.9
	// predicted is how far ahead a backlog is reckoned.
	predicted = 10 * time.Minute
)

// sample is what a handler's vitals were.
type sample struct {
	at                           time.Time
	pending, delivered, initials uint64
	behind                       time.Duration
}

// backlog is the newest samples of one handler, the oldest first.
type backlog struct{ kept []sample }

func (b *backlog) add(s sample) {
	for len(b.kept) > 0 && s.at.Sub(b.kept[0].at) > oldSample {
		b.kept = slices.Delete(b.kept, 0, 1)
	}
	if n := len(b.kept); n > 0 {
		last := b.kept[n-1]
		if s.delivered < last.delivered || s.initials < last.initials {
			b.kept = nil // another handler of the same name
		} else if s.at.Sub(last.at) < sampleEvery {
			return
		}
	}
	b.kept = append(b.kept, s)
	if n := len(b.kept) - maxSamples; n > 0 {
		b.kept = slices.Delete(b.kept, 0, n)
	}
}

// growth is how a backlog has changed over the last growsFor.
type growth struct {
	from, to sample
	steps    int
	up       int    // steps that went up
	largest  uint64 // of them
}

// grown is by how much the backlog is larger; 0 if it is not.
func (g *growth) grown() uint64 {
	if g.to.pending <= g.from.pending {
		return 0
	}
	return g.to.pending - g.from.pending
}

// rising says whether the backlog has grown all the time and not at once.
func (g *growth) rising() bool {
	return g.grown() > 0 && g.to.behind > g.from.behind &&
		float64(g.largest) <= largestStep*float64(g.grown()) &&
		float64(g.up) >= risingShare*float64(g.steps)
}

// growth returns how the backlog has changed over the shortest time that is long
// enough: an earlier calm says nothing. There is none if that is not known, or if
// part of the initial list has arrived within that time, which comes once.
func (b *backlog) growth() (g growth, ok bool) {
	n := len(b.kept)
	if n < minSamples {
		return growth{}, false
	}
	g.to = b.kept[n-1]
	first := n - minSamples
	for first >= 0 && g.to.at.Sub(b.kept[first].at) < growsFor {
		first--
	}
	if first < 0 || b.kept[first].initials != g.to.initials {
		return growth{}, false
	}
	g.from = b.kept[first]
	for i := first + 1; i < n; i++ {
		g.steps++
		if before, after := b.kept[i-1].pending, b.kept[i].pending; after > before {
			g.up++
			g.largest = max(g.largest, after-before)
		}
	}
	return g, true
}

// growingBacklog reports handlers that lose against what arrives. Once one is
// found it stays as long as its backlog grows at all. A backlog that one of the
// other rules explains is left to that one.
func (w *Watcher) growingBacklog(s *inspect.Snapshot) (found []Finding) {
	for i := range s.Listeners {
		l := &s.Listeners[i]
		m := w.handlers[l.Name]
		if m == nil || l.BusyRate <= 0 || l.Behind < noticeable || w.has(HandlerStuck, l.Name) || w.storms(l) {
			continue
		}
		g, known := m.growth()
		if !known || g.grown() == 0 || !g.rising() && !w.goesOn(GrowingBacklog, l.Name) {
			continue
		}
		o := l.Outlook(s.Store.Objects)
		least := o.Handles
		if w.goesOn(GrowingBacklog, l.Name) {
			least *= backlogEnds
		}
		if o.Arriving <= least {
			continue
		}
		f := Finding{
			Severity: Warning,
			Place:    PlaceHandlers,
			Subject:  l.Name,
			Title:    "Handler " + clean(l.Name) + " is given more than it can work off, and falls further behind.",
			past:     "Handler " + clean(l.Name) + " was given more than it could work off, and fell behind.",
			passing:  []string{prediction(&o)},
			Evidence: []string{
				"arriving " + arriving(&o) + ", handled " + perSecond(o.Handles) + " at most",
				"pending " + count(g.from.pending) + " → " + count(l.Pending) + " in " + short(s.At.Sub(g.from.at)) + ", behind " + short(l.Behind),
				timePerCall(l),
				causes(l),
			},
			Next:  "Do less in the handler: put the key on a work queue and return. Slow work, requests above all, belongs to the queue's workers.",
			Since: g.from.at,
		}
		if l.Behind >= longBehind {
			f.Severity = Error
		}
		found = append(found, f)
	}
	return found
}

// farBehind reports handlers that are told of everything late, whether they fall
// further behind or not: after a pause, a relist, or while they can do no more
// than arrives. Half of that is not far any more.
func (w *Watcher) farBehind(s *inspect.Snapshot) (found []Finding) {
	for i := range s.Listeners {
		l := &s.Listeners[i]
		least := longBehind
		if w.goesOn(FarBehind, l.Name) {
			least /= 2
		}
		if l.Explorer || !l.Synced || l.Behind < least || w.has(HandlerStuck, l.Name) || w.has(GrowingBacklog, l.Name) || w.storms(l) {
			continue
		}
		o := l.Outlook(s.Store.Objects)
		f := Finding{
			Severity: Warning,
			Place:    PlaceHandlers,
			Subject:  l.Name,
			Title:    "Handler " + clean(l.Name) + " is told of everything " + short(l.Behind) + " late.",
			past:     "Handler " + clean(l.Name) + " was told of everything a minute late, or later.",
			Evidence: []string{count(l.Pending) + " pending, behind " + short(l.Behind), timePerCall(l), causes(l)},
			passing:  []string{"arriving " + arriving(&o) + ", handled " + perSecond(o.Handles) + " at most: " + catchesUp(&o)},
			Next:     "Do less in the handler, or let several workers do it: put the key on a work queue and return. What the cache has is newer than what the handler was told.",
			Since:    s.At.Add(-l.Behind),
		}
		found = append(found, f)
	}
	return found
}

// catchesUp says when nothing waits any more.
func catchesUp(o *inspect.Outlook) string {
	switch in, ever := o.CaughtUp(); {
	case ever:
		return "caught up in " + short(in)
	case o.Loses():
		return "at this rate never caught up"
	}
	return "it can do no more"
}

// storms says whether a handler's backlog is a resync storm.
func (w *Watcher) storms(l *inspect.ListenerVitals) bool {
	cause, _ := l.Causes.Largest()
	return cause == inspect.CauseResync && w.has(ResyncStorm, l.Name)
}

// prediction says where the backlog is in a while.
func prediction(o *inspect.Outlook) string {
	pending := o.In(predicted)
	return "in " + short(predicted) + ", if this goes on: " + count(int64(pending)) + " pending, " + short(seconds(pending/o.Handles)) + " behind"
}

// arriving writes how much arrives, and how much of it is resyncs.
func arriving(o *inspect.Outlook) string {
	if o.Rounds == 0 {
		return perSecond(o.Arriving)
	}
	return perSecond(o.Arriving) + " (" + perSecond(o.Rounds) + " resyncs)"
}
