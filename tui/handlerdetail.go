package tui

import (
	"cmp"
	"slices"
	"time"

	"github.com/informeter/informeter/engine/inspect"
)

// detail says everything about one handler.
func (p *handlersScreen) detail(t *theme, s *inspect.Snapshot, l *inspect.ListenerVitals, w, room int) []string {
	const label = 10
	row := func(name string, segments ...segment) string {
		return newLine(w).skip(gutter).left(t.muted, name, label).segments(3, segments...).String()
	}
	lines := []string{newLine(w).skip(gutter).put(t.title, handlerName(l)).String()}
	lines = append(lines, prose(drain(t, s, l), w, 2, gutter)...)
	lines = append(lines, row("synced", syncSegments(t, s, l)...))
	lines = append(lines, row("calls", callSegments(t, l)...))
	lines = append(lines, row("resync", resyncSegments(t, s, l)...))
	lines = append(lines, p.trendLines(t, l, w, label)...)
	causes := append([]string{newLine(w).String()}, causeLines(t, l, w)...)
	// What was measured in numbers already has to leave room for the rest.
	const scale, highest = 2, 4
	if spread := histogramLines(t, l, w, label, min(room-len(lines)-len(causes)-scale, highest)); len(spread) > 0 {
		lines = append(append(lines, newLine(w).String()), spread...)
	}
	return append(lines, causes...)
}

// trendLines draw what waited for a handler over the last minute, and how fast it
// went: what it is now, and what it was on the way there.
func (p *handlersScreen) trendLines(t *theme, l *inspect.ListenerVitals, w, label int) []string {
	one := p.trends[l.Name]
	if one == nil {
		return nil
	}
	const now = 9
	cells := max(min(w-gutter-label-now-3, samples), 0)
	trend := func(name, value string, st style, s *series, full float64) string {
		return newLine(w).skip(gutter).left(t.muted, name, label).left("", value, now).skip(1).put(st, s.grown(cells, full)).String()
	}
	pending := t.accent
	if l.Behind >= noticeable {
		pending = t.warn
	}
	return []string{
		trend("pending", number(l.Pending), pending, &one.pending, 8),
		trend("rate", rate(l.Rate)+"/s", t.ok, &one.rate, 1),
	}
}

// syncSegments are the two lamps: the store's, and the handler's own.
func syncSegments(t *theme, s *inspect.Snapshot, l *inspect.ListenerVitals) []segment {
	store := segment{parts: []part{lamp(t, s.Informer.Synced), {"", " store synced"}}}
	if !s.Informer.Synced {
		store.parts[1].s = " store not synced yet"
	}
	initial := segment{parts: []part{lamp(t, l.Synced), {"", " initial list delivered"}}}
	if !l.Synced {
		initial.parts = append(initial.parts, part{"", " " + number(l.InitialDelivered) + " of " + number(l.InitialTotal) + " so far"})
	} else if !l.Explorer {
		// The explorer's own may have passed over a part of it, which is not counted.
		initial.parts = append(initial.parts, part{t.muted, ", " + count(l.InitialTotal, "object", "objects")})
	}
	return []segment{store, initial}
}

func callSegments(t *theme, l *inspect.ListenerVitals) []segment {
	out := []segment{seg(0, "", count(l.Delivered, "delivered", "delivered"))}
	if l.Time.Count > 0 {
		out = append(out, segment{parts: []part{
			{t.muted, "p50 "},
			{"", duration(l.Time.P50)},
			{t.muted, "  p99 "},
			{"", duration(l.Time.P99)},
			{t.muted, "  max "},
			{"", duration(l.Time.Max)},
		}})
	}
	if l.Conflated > 0 {
		out = append(out, seg(1, "", number(l.Conflated)+" conflated: a newer one of the same key waited"))
	}
	if l.InHandler > 0 {
		st := style("")
		if stuck(l) {
			st = t.warn
		}
		out = append(out, seg(1, st, "now in "+l.CurrentKey+" for "+duration(l.InHandler)))
	}
	return out
}

func resyncSegments(t *theme, s *inspect.Snapshot, l *inspect.ListenerVitals) []segment {
	if l.ResyncAsked == 0 && l.ResyncGranted == 0 {
		if l.Explorer {
			return []segment{seg(0, t.muted, "asks for none, is told of every round")}
		}
		return []segment{seg(0, t.muted, "none asked for")}
	}
	out := []segment{seg(0, "", "asked "+period(l.ResyncAsked)), seg(0, "", "granted "+period(l.ResyncGranted))}
	if l.ResyncGranted == 0 && s.Resync.CheckPeriod == 0 {
		out = append(out, seg(0, "", "none because the informer never checks"))
	}
	if l.ResyncSeen > 0 {
		out = append(out, seg(1, "", "seen every "+period(l.ResyncSeen)))
	}
	if in := l.NextResync.Sub(s.At); !l.NextResync.IsZero() && in > 0 {
		out = append(out, seg(0, "", "next in "+age(in+time.Second-1)))
	} else if !l.NextResync.IsZero() {
		out = append(out, seg(0, "", "due with the next check"))
	}
	if l.ResyncSkipped > 0 {
		out = append(out, seg(0, t.warn, "⚠ passed over "+times(l.ResyncSkipped)))
	}
	if s.Resync.CheckPeriod > 0 && s.Resync.CheckPeriod != l.ResyncGranted {
		out = append(out, seg(2, t.muted, "checked every "+period(s.Resync.CheckPeriod)))
	}
	return out
}

// causeCount is how many notifications had a cause.
type causeCount struct {
	cause inspect.Cause
	n     uint64
}

// causeLines draws a bar for each cause of notifications that there was, the most
// frequent first and two beside each other where there is room.
func causeLines(t *theme, l *inspect.ListenerVitals, w int) []string {
	total := l.Causes.Total()
	all := []causeCount{
		{inspect.CauseWatch, l.Causes.Watch},
		{inspect.CauseInitial, l.Causes.Initial},
		{inspect.CauseLateJoin, l.Causes.LateJoin},
		{inspect.CauseRelistChanged, l.Causes.RelistChanged},
		{inspect.CauseRelistUnchanged, l.Causes.RelistUnchanged},
		{inspect.CauseResync, l.Causes.Resync},
	}
	all = slices.DeleteFunc(all, func(c causeCount) bool { return c.n == 0 })
	slices.SortStableFunc(all, func(a, b causeCount) int { return cmp.Compare(b.n, a.n) })
	const name, counted, share, least = 17, 10, 5, 2
	across := 1
	if w >= gutter+1+2*(name+counted+share) {
		across = 2
	}
	each := (w - gutter - 1) / across
	barW := min(each-name-counted-share-5, 30)
	if barW < least {
		barW = 0
	}
	var lines []string
	for i := 0; i < len(all); i += across {
		line := newLine(w).skip(gutter)
		for k := range min(across, len(all)-i) {
			c := all[i+k]
			line.to(gutter+k*each).left(t.muted, c.cause.String(), name)
			line.right("", number(c.n), counted).skip(1).right(t.muted, percent(c.n, total), share).skip(2)
			line.put(t.accent, bar(float64(c.n), float64(total), barW))
		}
		lines = append(lines, line.String())
	}
	return lines
}

// drain says how a handler gets on with what waits for it, and what a resync
// costs it.
func drain(t *theme, s *inspect.Snapshot, l *inspect.ListenerVitals) []segment {
	var out []segment
	say := func(drop int, parts ...part) { out = append(out, segment{parts: parts, drop: drop}) }
	switch {
	case stuck(l):
		say(0, part{t.warn, "in one call for " + duration(l.InHandler)}, part{"", ": " + l.CurrentKey})
	case l.Pending == 0 && l.Delivered == 0:
		say(0, part{"", "has not been told anything yet"})
	case l.Behind < noticeable:
		say(0, part{"", "keeps up"})
	case l.Drain < 0:
		say(0, part{"", count(l.Pending, "notification", "notifications") + " waiting; its pace is not known yet"})
	default:
		say(0, part{"", "drain: " + duration(l.Drain) + " if nothing more came"})
	}
	if o := l.Outlook(s.Store.Objects); o.Handles > 0 {
		arriving := "arriving " + rate(o.Arriving) + "/s"
		if o.Rounds > 0 && l.Causes.Resync == 0 {
			arriving = "arriving " + rate(o.Arriving-o.Rounds) + "/s, " + rate(o.Arriving) + "/s with the resyncs to come"
		} else if o.Rounds > 0 {
			arriving += " (" + rate(o.Rounds) + "/s resyncs)"
		}
		pace := part{"", arriving + ", could handle " + rate(o.Handles) + "/s"}
		in, ever := o.CaughtUp()
		switch {
		case losing(l, s.Store.Objects):
			say(1, pace, part{t.warn, ": at this rate never"})
		case l.Behind >= noticeable && ever:
			say(1, pace, part{"", ": caught up in " + duration(in)})
		case l.Behind >= noticeable:
			say(1, pace, part{"", ": it can do no more"})
		default:
			say(1, pace)
		}
	}
	out = append(out, roundSegment(t, s, l)...)
	if l.Panics > 0 {
		say(1, part{t.bad, count(l.Panics, "panic", "panics")}, part{"", ", last: " + firstLine(l.LastPanic)})
	}
	return out
}

// roundSegment says what a resync round costs a handler, if it has any and its
// pace is known.
func roundSegment(t *theme, s *inspect.Snapshot, l *inspect.ListenerVitals) []segment {
	o := l.Outlook(s.Store.Objects)
	if o.Round <= 0 {
		return nil
	}
	each := time.Duration(float64(time.Second) / l.BusyRate)
	parts := []part{{"", "a resync round is " + number(s.Store.Objects) + " × " + duration(each) + " = " + duration(o.Round)}}
	if o.RoundTooLong() {
		parts = append(parts, part{t.warn, " > " + period(l.ResyncGranted)})
	} else {
		parts = append(parts, part{t.muted, " of " + period(l.ResyncGranted)})
	}
	return []segment{{parts: parts, drop: 2}}
}
