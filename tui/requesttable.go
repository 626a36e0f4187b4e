package tui

import (
	"strconv"
	"strings"
	"time"

	"github.com/informeter/informeter/engine/inspect"
)

// columns are those of a request. There go first: match, bookmarks, pages, what
// was returned, the status, what was asked for, what comes next, how long it
// lasted; never verb, ago, the time line, items, verdict.
func (p *requestsScreen) columns() []column {
	line := column{title: p.axisTitle(), min: 12, max: 13} // where there is no room it gives its own
	switch w := p.tableWidth(); {
	case w > 70:
		line.max = min(w/3, 60)
	case w < 64:
		line.title, _, _ = strings.Cut(line.title, ellipsis)
	}
	return []column{
		fixedLeft("VERB", 9, 0).sorted(byVerb, upwards),
		fixed("AGO", 6, 0).sorted(byStart, downwards),
		fixed("LASTED", 6, 1).sorted(byLife, downwards),
		line,
		fixed("ITEMS", 6, 0).sorted(byItems, downwards),
		column{title: "VERDICT", min: 16, max: 22}.sorted(byWords, upwards),
		fixedLeft("NEXT", 18, 2),
		fixed("ASKED RV", 12, 3),
		fixed("CODE", 4, 4),
		fixed("RETURNED", 12, 5),
		fixed("PAGES", 5, 6),
		fixed("BOOKMARKS", 9, 7),
		fixedLeft("MATCH", 12, 8),
	}
}

// axis is the time that the time line covers: all that is in sight.
type axis struct{ from, to time.Time }

func (p *requestsScreen) axis(now time.Time) axis {
	a := axis{to: now}
	seen := false
	for rank := p.rows.top; rank < min(p.rows.top+p.rows.height, p.rows.matched); rank++ {
		i := rank - p.rows.start
		if i < 0 || i >= len(p.rows.rows) {
			continue
		}
		r := &p.rows.rows[i]
		end := r.Ended
		if end.IsZero() {
			end = now
		}
		if !seen {
			a.from, a.to, seen = r.Started, end, true
			continue
		}
		if r.Started.Before(a.from) {
			a.from = r.Started
		}
		if end.After(a.to) {
			a.to = end
		}
	}
	return a
}

// axisTitle says when the time line begins and ends.
func (p *requestsScreen) axisTitle() string {
	now := p.m.frame.at
	a := p.axis(now)
	end := "now"
	if ago := now.Sub(a.to); ago > time.Second {
		end = "-" + age(ago)
	}
	return "-" + age(now.Sub(a.from)) + "…" + end
}

// bar draws a request on the time line in w cells: what came before its end
// marker thick, the rest thin, and how it ended.
func (a axis) bar(now time.Time, r *requestRow, t *theme, w int) []part {
	end := r.Ended
	if end.IsZero() {
		end = now
	}
	total := a.to.Sub(a.from)
	cell := func(at time.Time) int {
		if total <= 0 {
			return 0
		}
		return max(min(int(float64(at.Sub(a.from))/float64(total)*float64(w)), w-1), 0)
	}
	from := cell(r.Started)
	to := max(cell(end), from) // whatever the clocks say
	thick := from
	switch {
	case r.Verb == inspect.VerbList:
		thick = to
	case !r.Marked.IsZero():
		thick = min(max(cell(r.Marked), from), to)
	case r.Verb == inspect.VerbWatchList:
		thick = to
	}
	glyph, st := outcomeMark(t, r)
	return []part{
		{"", strings.Repeat(" ", from)},
		{t.accent, strings.Repeat("█", thick-from)},
		{t.muted, strings.Repeat("━", to-thick)},
		{st, glyph},
	}
}

// requestLine is the cells of one row; widths are those of the columns.
func requestLine(t *theme, s *inspect.Snapshot, r *requestRow, a axis, widths []int, found func(string) [][2]int) []cell {
	glyph, st := outcomeMark(t, r)
	code := cell{st: t.faint, s: dash}
	if r.Code != 0 {
		code = cell{s: strconv.Itoa(r.Code)}
		if r.Code >= 400 {
			code.st = st
		}
	}
	next := cell{st: t.muted, s: nextStep(s.At, &r.Request)}
	if width(clean(next.s)) > widths[6] {
		next.s = r.Next // when it comes is among the details
	}
	if r.NextAt.After(s.At) {
		next.st = t.warn
	}
	pages, bookmarks := cell{st: t.faint, s: dash}, cell{st: t.muted, s: number(r.Bookmarks)}
	if r.Verb == inspect.VerbList {
		pages, bookmarks = cell{st: t.muted, s: number(r.Pages)}, pages // it gets no bookmarks
	}
	return []cell{
		{s: string(r.Verb)},
		{st: t.muted, s: ago(s.At, r.Started)},
		{s: life(lasted(s.At, &r.Request))},
		{parts: a.bar(s.At, r, t, max(widths[3], 1))},
		{s: compact(uint64(max(r.Items, 0)))},
		{st: st, s: glyph + " " + r.verdict.words},
		next,
		{st: t.muted, s: orDash(r.ResourceVersion)},
		code,
		{st: t.muted, s: orDash(r.Returned)},
		pages,
		bookmarks,
		{st: t.muted, s: orDash(r.Match)},
	}
}

// outcomeMark is how an outcome looks, with and without colour.
func outcomeMark(t *theme, r *requestRow) (glyph string, st style) {
	switch {
	case r.Outcome == inspect.OutcomeOpen, r.Outcome == inspect.OutcomeOK && r.Ended.IsZero():
		if r.verdict.bad {
			return "●", t.warn
		}
		return "●", t.ok
	case r.Outcome == inspect.OutcomeFailed:
		return "⚠", t.bad
	case r.Outcome == inspect.OutcomeRefused:
		return "×", t.warn
	case r.verdict.bad:
		return "⚠", t.warn
	case r.Outcome == inspect.OutcomeOK:
		return "✓", t.ok
	}
	return "○", t.muted
}

// ago is how long ago a request was made, and life how long it lived. Both are
// cut to the same unit, so that no request seems to have lasted for longer than
// it is ago.
func ago(now, at time.Time) string {
	switch d := now.Sub(at); {
	case at.IsZero():
		return dash
	case d < time.Second:
		return "<1s"
	default:
		return age(d)
	}
}

func life(d time.Duration) string {
	if d >= time.Second {
		return age(d)
	}
	return duration(d)
}

// nextStep says what followed a request or will, and when.
func nextStep(now time.Time, r *inspect.Request) string {
	switch {
	case r.Ended.IsZero() && !r.Marked.IsZero():
		return "" // it is the watch itself
	case r.Next == "" || r.NextAt.IsZero():
		return r.Next
	case r.NextAt.After(now):
		return r.Next + " in " + duration(r.NextAt.Sub(now).Truncate(100*time.Millisecond))
	}
	if waited := r.NextAt.Sub(r.Ended); waited > 0 && !r.Ended.IsZero() {
		return r.Next + " after " + duration(waited.Truncate(100*time.Millisecond))
	}
	return r.Next
}

// lasted is how long a request took, or has taken so far.
func lasted(now time.Time, r *inspect.Request) time.Duration {
	if r.Ended.IsZero() {
		return max(now.Sub(r.Started), 0)
	}
	return r.Lifetime
}

func orDash(s string) string {
	if s == "" {
		return dash
	}
	return s
}

// clock writes the time of day, which is what logs are searched for.
func clock(t time.Time) string {
	if t.IsZero() {
		return dash
	}
	return t.Format("15:04:05.000")
}
