package tui

import "github.com/informeter/informeter/engine/inspect"

// head says how the gate stands and how much waits: always the same lines, so
// that what is below stands still.
func (p *queueScreen) head(t *theme, s *inspect.Snapshot) []string {
	q := &s.Queue
	line := func(segments ...segment) string {
		return newLine(p.w).skip(gutter).segments(3, segments...).String()
	}
	depth := []part{{t.strong, count(q.Deltas, "delta", "deltas")}, {"", " on " + count(q.Keys, "key", "keys")}}
	if ordered(q) {
		depth = []part{{t.strong, count(q.Deltas, "entry", "entries")}, {t.faint, " │ "}, {"", count(q.Keys, "key", "keys")}, {t.faint, " │ "}, {"", count(q.Objects, "object", "objects")}}
	} else if q.Objects > q.Deltas {
		depth = append(depth, part{t.muted, " for " + count(q.Objects, "object", "objects")})
	}
	oldest := seg(2, t.muted, "nothing waits")
	if q.Deltas > 0 {
		oldest = seg(1, "", "oldest "+duration(q.Age))
	}
	waited := seg(3, t.muted, "waited "+dash)
	if q.Wait.Count > 0 {
		waited = segment{drop: 3, parts: []part{
			{t.muted, "waited p50 "},
			{"", duration(q.Wait.P50)},
			{t.muted, "  p99 "},
			{"", duration(q.Wait.P99)},
			{t.muted, "  max "},
			{"", duration(q.Wait.Max)},
		}}
	}
	return []string{
		line(gateSegments(t, s)...),
		line(segment{parts: depth}, seg(0, "", number(q.InFlight)+" in flight"), oldest, seg(3, t.muted, "most ever "+number(q.Peak))),
		line(segment{parts: []part{{t.muted, "in "}, {"", rate(q.ArrivalRate) + "/s"}, {t.muted, "  out "}, {"", rate(q.PopRate) + "/s"}}}, waited, kindSegment(t, q)),
		line(pressure(t, q)),
		p.blank(),
	}
}

// kindSegment says how the queue treats several events of one key.
func kindSegment(t *theme, q *inspect.QueueVitals) segment {
	if ordered(q) {
		return seg(4, t.muted, "every event in its order; a list or resync is one entry")
	}
	if q.Compressed > 0 {
		return seg(4, t.muted, number(q.Compressed)+" compressed")
	}
	return seg(4, t.muted, "by key, in the order of first arrival")
}

func gateSegments(t *theme, s *inspect.Snapshot) []segment {
	g := &s.Queue.Gate
	out := []segment{{parts: []part{gateState(t, g)}}}
	switch g.Mode {
	case inspect.GatePaused:
		out = append(out, seg(1, "", "for "+since(s.At, g.Since)))
		if g.Steps > 0 {
			out = append(out, seg(0, "", count(g.Steps, "step", "steps")+" to go"))
		}
		out = append(out, seg(2, t.muted, "what arrives stays in the queue"))
	case inspect.GateLimited:
		out = append(out, seg(2, t.muted, "what arrives faster waits"))
	default:
		out = append(out, seg(2, t.muted, "popped as it comes"))
	}
	return out
}

func pressure(t *theme, q *inspect.QueueVitals) segment {
	if q.BackPressure {
		return seg(0, t.warn, "⚠ back-pressure: the reflector is held back, "+number(q.BackPressureAt)+" deltas wait or more")
	}
	if q.BackPressureAt == 0 {
		return seg(0, t.muted, "no back-pressure")
	}
	return seg(0, t.muted, "back-pressure from "+number(q.BackPressureAt)+" deltas on, "+times(q.Held)+" so far")
}

func times(n uint64) string {
	switch n {
	case 0:
		return "never"
	case 1:
		return "once"
	}
	return number(n) + " times"
}

func (p *queueScreen) empty(t *theme, s *inspect.Snapshot) []string {
	h := p.h - headHeight + 1
	switch {
	case p.text != "":
		return message(t, p.w, h, "no waiting key matches "+p.text, count(p.rows.total, "waits.", "wait."))
	case s.Queue.Gate.Mode == inspect.GatePaused:
		return message(t, p.w, h, "nothing waits", "The gate is closed and nothing has arrived since.")
	}
	return message(t, p.w, h, "nothing waits",
		"Deltas are handled as fast as they come. Pause the gate to see them wait here, then step them through one at a time.")
}
