package tui

import (
	"strings"
	"time"

	"github.com/informeter/informeter/engine/inspect"
)

// slowest returns the listener that is furthest behind, the explorer's own
// apart, or -1 if none waits for anything.
func slowest(listeners []inspect.ListenerVitals) int {
	worst := -1
	for i := range listeners {
		l := &listeners[i]
		if l.Explorer || l.Pending == 0 {
			continue
		}
		if worst < 0 || l.Behind > listeners[worst].Behind {
			worst = i
		}
	}
	return worst
}

// noticeable is how far behind a handler has to be for it to be worth a word.
const noticeable = time.Second

// stuckAfter is how long one call of a handler may take before it is pointed
// out.
const stuckAfter = 5 * time.Second

// stuck says whether a handler has not returned for long.
func stuck(l *inspect.ListenerVitals) bool { return l.InHandler >= stuckAfter }

// losing says whether more arrives for a handler than it can work off. The
// initial list, which comes all at once and never again, is none of it: whoever
// can't keep up beside it won't once it is delivered.
func losing(l *inspect.ListenerVitals, objects int) bool {
	o := l.Outlook(objects)
	return l.Behind >= noticeable && o.Loses()
}

// resyncTooDear says whether a handler can't finish a resync round before the
// next one begins.
func resyncTooDear(l *inspect.ListenerVitals, objects int) bool {
	o := l.Outlook(objects)
	return o.RoundTooLong()
}

// troubled says whether a handler needs attention.
func troubled(l *inspect.ListenerVitals, objects int) bool {
	return stuck(l) || losing(l, objects) || l.Panics > 0 || resyncTooDear(l, objects)
}

// warnings counts what the screens mark with a warning, by screen. A matter may
// be marked on two of them.
func warnings(s *inspect.Snapshot) (n [screenCount]int) {
	if s.Reflector.Error != "" {
		n[screenPipeline]++
		n[screenRequests]++
	}
	if len(s.Quarantine) > 0 {
		n[screenPipeline]++
	}
	if s.Queue.BackPressure {
		n[screenQueue]++
	}
	for i := range s.Indices {
		if s.Indices[i].Errors > 0 {
			n[screenIndices]++
		}
	}
	for i := range s.Listeners {
		if troubled(&s.Listeners[i], s.Store.Objects) {
			n[screenHandlers]++
		}
		if resyncTooDear(&s.Listeners[i], s.Store.Objects) {
			n[screenResync]++
		}
	}
	return n
}

// warningsInAll counts each matter once: those of Requests are on the Pipeline
// too, those of Resync on Handlers.
func warningsInAll(s *inspect.Snapshot) int {
	total := 0
	for id, n := range warnings(s) {
		if id := screenID(id); id != screenRequests && id != screenResync {
			total += n
		}
	}
	return total
}

// setAside names the newest object that was set aside and why, in a line; none
// if no object was.
func setAside(t *theme, s *inspect.Snapshot, w int) []string {
	if len(s.Quarantine) == 0 {
		return nil
	}
	q := &s.Quarantine[0]
	key := q.Key
	if key == "" {
		key = "an object without a key"
	}
	l := newLine(w).skip(gutter).put(t.warn, "⚠ "+number(max(s.Handle.Quarantined, 1))+" set aside").put("", ", newest ")
	l.key(t.strong, key, min(width(clean(key)), w/3))
	reason := " (" + q.Stage
	if q.Times > 1 {
		reason += ", " + times(q.Times)
	}
	return []string{l.put("", reason+", "+since(s.At, q.At)+" ago): "+firstLine(q.Error)).String()}
}

// condition is a state that has to be said before anything else: what it is,
// and what more there is to say.
type condition struct {
	st      style
	title   string
	details []string // long text, to be wrapped
	progress
}

// progress is how far a list has come.
type progress struct {
	received, expected int
	on                 bool
}

// conditionOf returns the condition an informer is in; none if all is well.
func conditionOf(t *theme, s *inspect.Snapshot) (c condition, any bool) {
	r := &s.Reflector
	switch s.Informer.State {
	case inspect.StateCreated:
		return condition{st: t.warn, title: "created, never started", details: []string{
			"Nobody has run this informer yet: it lists and watches nothing, and no handler is told anything.",
		}}, true
	case inspect.StateStopped:
		return condition{st: t.warn, title: "stopped", details: []string{"What is shown is what it held when it stopped."}}, true
	}
	if r.Error != "" {
		return failure(t, s), true
	}
	if !s.Informer.Synced || r.Phase == inspect.PhaseListing || r.Phase == inspect.PhaseStreamingList {
		return receiving(t, s)
	}
	return condition{}, false
}

// failure describes a request that failed, and what comes next.
func failure(t *theme, s *inspect.Snapshot) condition {
	r := &s.Reflector
	title := r.Phase.String()
	if r.ErrorOp != "" {
		title += ": " + r.ErrorOp + " " + s.Informer.Resource
		if s.Informer.Resource == "" {
			title = strings.TrimRight(title, " ")
		}
	}
	if inspect.ConnectionLost(r.Error) {
		title += " — connection lost"
	} else if r.ErrorReason != "" {
		title += " — " + words(r.ErrorReason)
	}
	c := condition{st: t.bad, title: title, details: []string{inspect.PlainError(r.Error)}}
	if next := nextAttempt(s); next != "" {
		c.details = append(c.details, next)
	}
	if s.Informer.Synced {
		c.details = append(c.details, "The cache still answers with what it held, at rv "+s.Store.ResourceVersion+".")
	}
	return c
}

// nextAttempt says how many attempts have failed in a row, and when the next one
// is due; empty if none has and none is waited for.
func nextAttempt(s *inspect.Snapshot) string {
	r := &s.Reflector
	next := ""
	if r.Failures > 0 {
		next = "attempt " + number(r.Failures) + " failed"
	}
	if in := r.NextAttempt.Sub(s.At); r.Phase == inspect.PhaseBackingOff && in > 0 {
		if next != "" {
			next += ", "
		}
		next += "next in " + duration(in.Truncate(100*time.Millisecond))
	}
	return next
}

// words writes an API reason such as TooManyRequests as words.
func words(reason string) string {
	var b strings.Builder
	for i, r := range reason {
		if i > 0 && r >= 'A' && r <= 'Z' {
			b.WriteByte(' ')
		}
		b.WriteRune(r)
	}
	return strings.ToLower(b.String())
}

// unanswered says whether the server should have begun to answer the request under
// way, and has not.
func unanswered(s *inspect.Snapshot) bool {
	r := s.Requests.Unanswered()
	return r != nil && r.Overdue(s.At)
}

// receiving describes a list under way.
func receiving(t *theme, s *inspect.Snapshot) (condition, bool) {
	r := &s.Reflector
	c := condition{st: t.accent, progress: progress{r.Received, r.Expected, true}}
	switch {
	case r.Phase == inspect.PhaseWatching:
		c.title = "handing the initial list on"
		c.progress = progress{s.Store.Objects, max(r.Expected, s.Store.Objects+s.Queue.Objects), true}
	case r.Phase != inspect.PhaseListing && r.Phase != inspect.PhaseStreamingList:
		c.title, c.progress = "starting: the first list comes next", progress{}
	case unanswered(s):
		c.st, c.title, c.progress = t.warn, "the server has not answered for "+since(s.At, s.Requests.Unanswered().Started), progress{}
	case s.Informer.Synced:
		c.title = "listing again"
	default:
		c.title = "receiving the initial list"
	}
	return c, true
}

// draw returns the lines of a condition, indented and at most n.
func (c *condition) draw(t *theme, w, n int) []string {
	const indent = gutter
	lines := []string{newLine(w).skip(indent).put(c.st, "● ").put(t.strong, c.title).String()}
	if c.on {
		lines = append(lines, c.progress.draw(t, w, indent+2))
	}
	for _, d := range c.details {
		for _, l := range wrap(clean(d), min(w-indent-4, 110), 3) {
			lines = append(lines, newLine(w).skip(indent+2).put("", l).String())
		}
	}
	return lines[:min(len(lines), max(n, 0))]
}

func (p progress) draw(t *theme, w, indent int) string {
	l := newLine(w).skip(indent)
	if p.expected < 0 || p.expected < p.received {
		return l.put("", "received "+number(p.received)+", nobody knows of how many").String()
	}
	l.put("", "received "+number(p.received)+" of "+number(p.expected)).skip(2)
	cells := min(40, l.room()-8)
	if cells < 5 {
		return l.String()
	}
	done := bar(float64(p.received), float64(p.expected), cells)
	l.put(t.accent, done)
	l.put(t.faint, strings.Repeat("░", cells-width(done)))
	return l.skip(1).put("", percent(p.received, p.expected)).String()
}

// message draws a state in the middle of nothing: a title and a sentence.
func message(t *theme, w, h int, title, sentence string) []string {
	lines := []string{newLine(w).String(), newLine(w).skip(gutter).put(t.strong, title).String()}
	for _, l := range wrap(clean(sentence), min(w-2*gutter, 90), 6) {
		lines = append(lines, newLine(w).skip(gutter).put(t.muted, l).String())
	}
	return block(lines, w, h)
}
