package tui

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/informeter/informeter/engine/inspect"
)

// requestsScreen lists every LIST and WATCH that is remembered, the newest
// first, on a common time line, and says all about the selected one: beside the
// rows from 100 columns on, else below them. From 160 on what they all come to has
// the place beside them.
//
//	how many of each, how many failed
//	what the reflector is busy with, and when it tries again
//	how much came over the wire, and what of it could not be read
//	VERB ...
//	▸ the newest one, or the selected one
type requestsScreen struct {
	pane
	table *table
	rows  list[requestRow]
	all   []requestRow // the newest first
	kept  []requestRow // those of all that the filter lets through
	text  string       // the filter
	err   error
	read  bool
}

// requestRow is a request with what is to be said of it.
type requestRow struct {
	inspect.Request
	verdict verdict
}

// searched is what a filter looks at.
func (r *requestRow) searched() string {
	return string(r.Verb) + " " + r.verdict.words + " " + r.ResourceVersion + " " + r.Error
}

// What requests can be sorted by.
const (
	byStart = "start"
	byLife  = "life"
	byItems = "items"
	byVerb  = "verb"
	byWords = "verdict"
)

func newRequestsScreen(m *Model) *requestsScreen {
	return &requestsScreen{pane: pane{m: m}, table: m.table("requests", order{byStart, downwards}), rows: list[requestRow]{
		keyOf: func(r requestRow) string { return strconv.FormatUint(r.ID, 10) },
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
	p.read = true
	judged := judge(f.requests.value, f.at)
	p.all = p.all[:0]
	for i, v := range judged {
		p.all = append(p.all, requestRow{f.requests.value[i], v})
	}
	p.arrange()
}

// arrange filters the requests and puts them in order.
func (p *requestsScreen) arrange() {
	keep := inspect.Match(p.text)
	p.kept = p.kept[:0]
	for _, r := range p.all {
		if keep == nil || keep(r.searched()) {
			p.kept = append(p.kept, r)
		}
	}
	now := p.m.frame.at
	rows := sortRows(p.kept, p.table.order, func(a, b *requestRow, by string) int {
		switch by {
		case byLife:
			return cmp.Compare(lasted(now, &a.Request), lasted(now, &b.Request))
		case byItems:
			return cmp.Compare(a.Items, b.Items)
		case byVerb:
			return strings.Compare(string(a.Verb), string(b.Verb))
		case byWords:
			return strings.Compare(a.verdict.words, b.verdict.words)
		}
		return cmp.Compare(a.ID, b.ID)
	})
	p.rows.show(rows, 0, len(rows), len(p.all))
}

func (p *requestsScreen) filter() string { return p.text }

func (p *requestsScreen) setFilter(text string) {
	if text != p.text {
		p.text = text
		p.rows.home()
		p.arrange()
	}
}

func (p *requestsScreen) back() bool {
	if p.text == "" {
		return false
	}
	p.setFilter("")
	return true
}

func (p *requestsScreen) handle(a Action) tea.Cmd {
	if p.table.handle(a, p.columns()) {
		p.rows.home()
		p.arrange()
		return nil
	}
	p.rows.handle(a)
	return nil
}

func (p *requestsScreen) tableShown() (*table, []column) { return p.table, p.columns() }

func (p *requestsScreen) wheel(n int) { p.rows.scroll(n) }

// requestsTop is how many lines stand above the table's rows, its titles among
// them.
const requestsTop = 4

func (p *requestsScreen) click(x, y int) tea.Cmd {
	if y == requestsTop-1 {
		if c := p.table.grid(p.tableWidth(), p.columns()).at(x); c != nil && c.by != "" {
			p.table.sortBy(c)
			p.rows.home()
			p.arrange()
		}
	} else if x < p.tableWidth() {
		p.rows.click(y - requestsTop)
	}
	return nil
}

func (p *requestsScreen) hints() []hint {
	return []hint{{ActionDown, "older"}, {ActionUp, "newer"}, {ActionFilter, "filter"}, {ActionSort, "sort"}, {ActionColumns, "columns"}, {ActionFreeze, "freeze"}}
}

func (p *requestsScreen) status() string {
	return place(p.rows.cursor, p.rows.matched, p.rows.total, p.text)
}

// left is how wide everything is but what all requests come to, which has a pane
// of its own where there is room for three.
func (p *requestsScreen) left() int { return p.w - momentsWidth(p.w) }

// tableWidth is how wide the table is: what the second pane leaves of the width,
// where there are two.
func (p *requestsScreen) tableWidth() int {
	switch panes(p.w) {
	case 1:
		return p.w
	case 2:
		return p.w - min(max(p.w*2/5, 46), 76)
	}
	return p.left()
}

func (p *requestsScreen) lines() []string {
	t, s := p.m.theme, p.m.snapshot()
	if p.err != nil {
		return message(t, p.w, p.h, "no answer", p.err.Error())
	}
	if !p.read {
		return block(nil, p.w, p.h)
	}
	if left := p.left(); left < p.w {
		return beside(block(p.main(t, s, left), left, p.h), coveragePane(t, s, p.all, p.w-left, p.h))
	}
	return p.main(t, s, p.w)
}

// main draws everything about single requests, in all of w cells.
func (p *requestsScreen) main(t *theme, s *inspect.Snapshot, width int) []string {
	lines := p.head(t, s, width)
	if p.rows.matched == 0 {
		p.rows.setHeight(1)
		if p.text != "" {
			return append(lines, message(t, width, p.h-len(lines), "no request matches "+p.text, count(len(p.all), "request is", "requests are")+" remembered. Searched are verb, verdict, resource version and error.")...)
		}
		return append(lines, message(t, width, p.h-len(lines), "no requests yet",
			"Every LIST and WATCH that the reflector makes stands here, with what was asked for and what came of it.")...)
	}
	if w := p.tableWidth(); w < width {
		h := p.h - len(lines)
		p.rows.setHeight(h - 1)
		return append(lines, beside(p.rowLines(t, s, w, h), p.detailPane(t, s, width-w, h))...)
	}
	// What is kept for the details does not depend on the selected one, so that
	// the rows stand still while the user goes through them.
	below := max(min(p.h/2, 14), 7)
	p.rows.setHeight(min(max(p.h-requestsTop-below, 2), p.rows.matched))
	lines = append(lines, p.rowLines(t, s, width, p.rows.height+1)...)
	if row, ok := p.rows.selected(); ok {
		lines = append(lines, newLine(width).String())
		lines = append(lines, requestDetail(t, s, &row, width, p.h-len(lines))...)
	}
	return block(lines, width, p.h)
}

// detailPane says all about the selected request beside the rows.
func (p *requestsScreen) detailPane(t *theme, s *inspect.Snapshot, w, h int) []string {
	lines := []string{newLine(w).String()}
	if row, ok := p.rows.selected(); ok {
		lines = append(lines, requestDetail(t, s, &row, w, h-1)...)
	}
	return block(lines, w, h)
}

// rowLines are the titles and the rows.
func (p *requestsScreen) rowLines(t *theme, s *inspect.Snapshot, w, h int) []string {
	g := p.table.grid(w, p.columns())
	axis := p.axis(s.At)
	found := highlighter(p.text)
	lines := []string{g.header(t)}
	lines = append(lines, p.rows.draw(w, func(r requestRow, selected bool) string {
		return g.row(t, chosen(selected, true), part{}, requestLine(t, s, &r, axis, g.widths, found)...)
	})...)
	return block(lines, w, h)
}

// head says how many requests there were, what comes next and how much came:
// always the same lines.
func (p *requestsScreen) head(t *theme, s *inspect.Snapshot, w int) []string {
	v := &s.Requests
	counts := []segment{
		seg(0, "", count(v.Lists, "list", "lists")),
		seg(0, "", count(v.WatchLists, "watch-list", "watch-lists")),
		seg(0, "", count(v.Watches, "watch", "watches")),
		seg(0, t.muted, "none failed"),
	}
	if n := v.Failed - min(v.Expired, v.Failed); n > 0 {
		counts[3] = seg(0, t.warn, number(n)+" failed")
	}
	if v.Expired > 0 {
		// A list makes up for it: that is no failure, unless it comes again and again.
		st := t.muted
		if slices.ContainsFunc(p.all, func(r requestRow) bool { return r.Outcome == inspect.OutcomeExpired && r.verdict.bad }) {
			st = t.warn
		}
		counts = append(counts, seg(0, st, number(v.Expired)+" expired"))
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
	if at := s.Reflector.LastEvent; !at.IsZero() {
		phase = append(phase, seg(2, t.muted, "last event "+since(s.At, at)+" ago"))
	}
	if len(p.all) > 0 {
		if newest := &p.all[0]; newest.Verb == inspect.VerbWatchList && newest.Ended.IsZero() && !newest.Marked.IsZero() {
			phase = append(phase, seg(1, t.muted, "on the stream of the watch-list"))
		}
	}
	line := func(segments []segment) string {
		return newLine(w).skip(gutter).segments(3, segments...).String()
	}
	return []string{line(counts), line(phase), line(trafficSegments(t, s))}
}

// trafficSegments say how much came over the wire, and what could not be read;
// or that nobody counts it.
func trafficSegments(t *theme, s *inspect.Snapshot) []segment {
	v := s.Traffic
	if v == nil {
		return []segment{seg(0, t.faint, "bytes are counted only where informeter itself reads a cluster")}
	}
	out := []segment{
		seg(0, "", byteCount(int64(v.Bytes))+" in "+count(v.Events, "event", "events")),
		seg(0, "", byteCount(int64(v.ByteRate))+"/s"),
		seg(3, t.muted, count(v.Streams, "stream", "streams")),
	}
	if v.Undecodable == 0 {
		return append(out, seg(2, t.muted, "all could be read"))
	}
	out = append(out, seg(0, t.warn, "⚠ "+number(v.Undecodable)+" could not be read"))
	if len(v.Quarantine) > 0 {
		q := &v.Quarantine[0]
		out = append(out, seg(1, "", "the last "+since(s.At, q.At)+" ago, "+q.Event+" of "+byteCount(int64(q.Size))+": "+firstLine(q.Reason)))
	}
	return out
}
