package tui

import (
	"strconv"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/informeter/informeter/engine/inspect"
)

// requestsScreen lists every LIST and WATCH that is remembered, the newest
// first, and says all about the selected one.
//
//	how many of each, how many failed
//	what the reflector is busy with, and when it tries again
//	VERB ...
//	▸ the newest one, or the selected one
//	all that was asked for, all that came of it, the whole error
type requestsScreen struct {
	pane
	rows list[inspect.Request]
	// scale is the longest lifetime there is: that of a full bar.
	scale time.Duration
	err   error
	read  bool
}

func newRequestsScreen(m *Model) *requestsScreen {
	return &requestsScreen{pane: pane{m: m}, rows: list[inspect.Request]{
		keyOf: func(r inspect.Request) string { return strconv.FormatUint(r.ID, 10) },
	}}
}

func (p *requestsScreen) name() string { return "Requests" }

func (p *requestsScreen) ask(r *request) { r.requests = true }

func (p *requestsScreen) refresh(f *frame) {
	if !f.request.requests {
		return
	}
	p.err = f.requests.err
	if !f.requests.ok {
		return
	}
	all := f.requests.value
	p.read, p.scale = true, 0
	for i := range all {
		p.scale = max(p.scale, lasted(f.at, &all[i]))
	}
	p.rows.show(all, 0, len(all), len(all))
}

func (p *requestsScreen) handle(a Action) tea.Cmd {
	p.rows.handle(a)
	return nil
}

func (p *requestsScreen) wheel(n int) { p.rows.scroll(n) }

// requestsTop is how many lines stand above the table's rows, its titles among
// them.
const requestsTop = 4

func (p *requestsScreen) click(_, y int) tea.Cmd {
	p.rows.click(y - requestsTop)
	return nil
}

func (p *requestsScreen) hints() []hint {
	return []hint{{ActionDown, "older"}, {ActionUp, "newer"}, {ActionTop, "newest"}, {ActionFreeze, "freeze"}}
}

func (p *requestsScreen) status() string {
	return place(p.rows.cursor, p.rows.matched, p.rows.total, "")
}

func (p *requestsScreen) lines() []string {
	t, s := p.m.theme, p.m.snapshot()
	if p.err != nil {
		return message(t, p.w, p.h, "no answer", p.err.Error())
	}
	if !p.read {
		return block(nil, p.w, p.h)
	}
	lines := p.head(t, s)
	if p.rows.matched == 0 {
		p.rows.setHeight(1)
		return append(lines, message(t, p.w, p.h-len(lines), "no requests yet",
			"Every LIST and WATCH that the reflector makes stands here, with what was asked for and what came of it.")...)
	}
	// What is kept for the details does not depend on the selected one, so that
	// the rows stand still while the user goes through them.
	below := max(min(p.h/2, 14), 7)
	p.rows.setHeight(min(max(p.h-requestsTop-below, 2), p.rows.matched))
	g := p.grid()
	lines = append(lines, g.header(t))
	lines = append(lines, p.rows.draw(p.w, func(r inspect.Request, selected bool) string {
		return g.row(t, chosen(selected, true), part{}, p.cells(t, s, &r, g.widths[len(g.widths)-1])...)
	})...)
	if row, ok := p.rows.selected(); ok {
		lines = append(lines, p.blank())
		lines = append(lines, p.detail(t, s, &row, p.h-len(lines))...)
	}
	return block(lines, p.w, p.h)
}

// head says how many requests there were, and what comes next: always the same
// lines.
func (p *requestsScreen) head(t *theme, s *inspect.Snapshot) []string {
	v := &s.Requests
	counts := []segment{
		seg(0, "", count(v.Lists, "list", "lists")),
		seg(0, "", count(v.WatchLists, "watch-list", "watch-lists")),
		seg(0, "", count(v.Watches, "watch", "watches")),
		seg(0, t.muted, "none failed"),
	}
	if v.Failed > 0 {
		counts[3] = seg(0, t.warn, number(v.Failed)+" failed")
	}
	if n := s.Lost.Requests; n > 0 {
		counts = append(counts, seg(1, t.muted, number(n)+" forgotten"))
	}
	lamp, st := phaseLamp(t, s)
	phase := []segment{{parts: []part{{st, lamp + " " + phaseName(s)}}}}
	if !s.Reflector.Since.IsZero() {
		phase[0].parts = append(phase[0].parts, part{"", " for " + since(s.At, s.Reflector.Since)})
	}
	if next := nextAttempt(s); next != "" {
		phase = append(phase, seg(0, t.warn, next))
	}
	line := func(segments []segment) string {
		return newLine(p.w).skip(gutter).segments(3, segments...).String()
	}
	return []string{line(counts), line(phase), p.blank()}
}

// grid returns the columns that have room. There go first: the bar, the match,
// bookmarks, pages, what was returned, the status, what was asked for, how long
// it lasted; never verb, ago, items, outcome.
func (p *requestsScreen) grid() grid {
	return newGrid(p.w,
		fixedLeft("VERB", 9, 0),
		fixed("AGO", 6, 0),
		fixed("LASTED", 6, 1),
		fixedLeft("of "+duration(p.scale), 12, 8),
		fixed("ASKED RV", 12, 2),
		fixedLeft("MATCH", 12, 7),
		fixed("RETURNED", 12, 4),
		fixed("PAGES", 5, 5),
		fixed("ITEMS", 9, 0),
		fixed("BOOKMARKS", 9, 6),
		fixed("CODE", 4, 3),
		fixedLeft("OUTCOME", 9, 0),
		column{title: "NEXT", min: 14, max: 30},
	)
}

// cells are one row; room is the width of the last column.
func (p *requestsScreen) cells(t *theme, s *inspect.Snapshot, r *inspect.Request, room int) []cell {
	life := lasted(s.At, r)
	glyph, st := outcomeMark(t, r)
	code := cell{st: t.faint, s: dash}
	if r.Code != 0 {
		code = cell{s: strconv.Itoa(r.Code)}
		if r.Code >= 400 {
			code.st = st
		}
	}
	next := cell{st: t.muted, s: nextStep(s.At, r)}
	if width(clean(next.s)) > room {
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
		{st: t.muted, s: since(s.At, r.Started)},
		{s: duration(life)},
		{st: st, s: bar(float64(life), float64(p.scale), 12)},
		{st: t.muted, s: orDash(r.ResourceVersion)},
		{st: t.muted, s: orDash(r.Match)},
		{st: t.muted, s: orDash(r.Returned)},
		pages,
		{s: number(r.Items)},
		bookmarks,
		code,
		{st: st, s: glyph + " " + string(r.Outcome)},
		next,
	}
}

// detail says everything about one request in at most h lines; the error takes
// what the rest leaves.
func (p *requestsScreen) detail(t *theme, s *inspect.Snapshot, r *inspect.Request, h int) []string {
	const label = 10
	row := func(name string, segments ...segment) string {
		return newLine(p.w).skip(gutter).left(t.muted, name, label).segments(3, segments...).String()
	}
	glyph, st := outcomeMark(t, r)
	title := newLine(p.w).skip(gutter).put(t.title, string(r.Verb)+" no. "+strconv.FormatUint(r.ID, 10)).skip(3).
		put(st, glyph+" "+string(r.Outcome)).put(t.muted, " — "+meaning(r))
	lines := []string{title.String(), row("asked", askedSegments(t, r)...), row("got", gotSegments(t, r)...)}
	when := []segment{seg(0, "", "started "+clock(r.Started)+", "+since(s.At, r.Started)+" ago")}
	if r.Ended.IsZero() {
		when = append(when, seg(0, "", "open for "+duration(lasted(s.At, r))))
	} else {
		when = append(when, seg(0, "", "lasted "+duration(lasted(s.At, r))), seg(1, t.muted, "ended "+clock(r.Ended)))
	}
	lines = append(lines, row("when", when...))
	if next := nextStep(s.At, r); next != "" {
		segments := []segment{seg(0, "", next)}
		if !r.NextAt.IsZero() {
			segments = append(segments, seg(1, t.muted, "at "+clock(r.NextAt)))
		}
		lines = append(lines, row("next", segments...))
	}
	lines = lines[:min(len(lines), max(h, 0))]
	if r.Error != "" {
		for i, l := range wrap(clean(r.Error), p.w-gutter-label-gutter, h-len(lines)) {
			name := ""
			if i == 0 {
				name = "error"
			}
			lines = append(lines, newLine(p.w).skip(gutter).left(t.muted, name, label).put("", l).String())
		}
	}
	return lines
}

func askedSegments(t *theme, r *inspect.Request) []segment {
	version := seg(0, "", "rv "+r.ResourceVersion)
	switch {
	case r.ResourceVersion == "" && r.Verb == inspect.VerbWatch:
		version = seg(0, "", "no rv: from now on")
	case r.ResourceVersion == "":
		version = seg(0, "", "no rv: the newest there is")
	case r.ResourceVersion == "0" && r.Verb == inspect.VerbList:
		version = seg(0, "", "rv 0: whatever the server has cached")
	}
	out := []segment{version}
	if r.Match != "" {
		out = append(out, seg(1, "", "match "+r.Match))
	}
	if r.Limit > 0 {
		out = append(out, seg(2, "", "limit "+number(r.Limit)+" a page"))
	}
	if r.Timeout > 0 {
		out = append(out, seg(2, "", "timeout "+duration(r.Timeout)))
	} else if r.Verb != inspect.VerbList {
		out = append(out, seg(3, t.muted, "no timeout"))
	}
	return out
}

func gotSegments(t *theme, r *inspect.Request) []segment {
	out := []segment{seg(0, t.muted, "no rv")}
	if r.Returned != "" {
		out[0] = seg(0, "", "rv "+r.Returned)
	}
	if r.Code != 0 {
		out = append(out, seg(0, "", "HTTP "+strconv.Itoa(r.Code)))
	}
	out = append(out, seg(0, "", count(max(r.Items, 0), "item", "items")))
	if r.Verb == inspect.VerbList {
		return append(out, seg(1, "", "on "+count(max(r.Pages, 0), "page", "pages")))
	}
	return append(out, seg(1, "", count(max(r.Bookmarks, 0), "bookmark", "bookmarks")))
}

// outcomeMark is how an outcome looks, with and without colour.
func outcomeMark(t *theme, r *inspect.Request) (glyph string, st style) {
	switch r.Outcome {
	case inspect.OutcomeOpen:
		return "●", t.ok
	case inspect.OutcomeOK:
		if r.Ended.IsZero() {
			return "●", t.ok // a WATCHLIST that goes on as a watch
		}
		return "✓", t.ok
	case inspect.OutcomeClosed, inspect.OutcomeStopped:
		return "○", t.muted
	case inspect.OutcomeRefused:
		return "×", t.warn
	case inspect.OutcomeExpired, inspect.OutcomeTooNew:
		return "⚠", t.warn
	}
	return "⚠", t.bad
}

// meaning says what an outcome stands for.
func meaning(r *inspect.Request) string {
	switch r.Outcome {
	case inspect.OutcomeOpen:
		return "under way"
	case inspect.OutcomeOK:
		if r.Verb == inspect.VerbWatchList {
			return "all initial objects came, the stream goes on as a watch"
		}
		return "complete"
	case inspect.OutcomeClosed:
		return "the server ended the stream, as it does"
	case inspect.OutcomeExpired:
		return "the resource version is too old for the server"
	case inspect.OutcomeTooNew:
		return "the server does not know the resource version yet"
	case inspect.OutcomeRefused:
		return "this server streams no initial lists"
	case inspect.OutcomeStopped:
		return "ended by the informer"
	}
	return failureOf(r.Code)
}

// failureOf says what an HTTP status means for a reflector.
func failureOf(code int) string {
	switch {
	case code == 0:
		return "no answer from the server"
	case code == 401:
		return "the server does not know who asks"
	case code == 403:
		return "the server forbids it"
	case code == 404:
		return "the server has no such resource"
	case code == 429:
		return "the server is asked too often"
	case code >= 500:
		return "the server could not"
	}
	return "the server refused"
}

// nextStep says what followed a request or will, and when.
func nextStep(now time.Time, r *inspect.Request) string {
	switch {
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
