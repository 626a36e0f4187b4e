package tui

import (
	"slices"
	"strconv"
	"time"

	"github.com/informeter/informeter/engine/inspect"
)

// standingPane shows where a handler stands: what waits for it, what it is told
// next at the top, and under that what it was told last.
//
//	WAITS FOR IT, NEXT FIRST      CAUSE   SINCE
//	▶ the call under way
//	  the next one
//	  351 more
//	TOLD, NEWEST FIRST            CAUSE  WAITED  TOOK
//
// Both halves have their places, however much waits. Until what there is of the
// handler has been read, nothing is shown rather than another's.
type standingPane struct {
	handler string // whose it is
	told    list[inspect.Moment]
	ahead   int // of the rows, how many it has not returned from
	read    bool
	err     error
	// focus: it has the keys. Where there is no room beside the handlers, it is
	// shown in their place then.
	focus bool
	h     int // lines it has
}

func newStandingPane() standingPane {
	return standingPane{told: list[inspect.Moment]{keyOf: func(m inspect.Moment) string {
		if m.Seq == 0 {
			return m.Key // each object is given once to start with
		}
		return "#" + strconv.FormatUint(m.Seq, 10)
	}}}
}

// halves returns how many rows there are for what waits and for what was told.
func (p *standingPane) halves() (waits, told int) {
	const heads = 4 // two titles, how many more wait, and a blank line
	rows := max(p.h-heads, 2)
	return rows / 2, rows - rows/2
}

func (p *standingPane) query() inspect.MomentQuery {
	waits, told := p.halves()
	return inspect.MomentQuery{Handler: p.handler, Ahead: waits, Limit: told}
}

// of turns to another handler.
func (p *standingPane) of(handler string) {
	if handler != p.handler {
		focus, h := p.focus, p.h
		*p = newStandingPane()
		p.handler, p.focus, p.h = handler, focus, h
	}
}

func (p *standingPane) ask(r *request) {
	if p.handler != "" {
		r.moments = want(p.query())
	}
}

func (p *standingPane) refresh(f *frame) {
	if q := f.request.moments; !q.on || q.query.Handler != p.handler {
		return
	}
	p.err = f.moments.err
	if !f.moments.ok {
		return
	}
	p.read = true
	rows := slices.Clone(f.moments.value.Moments)
	p.ahead = 0
	for i := range rows {
		if d := p.delivery(&rows[i]); d != nil && (d.Pending || d.Calling) {
			p.ahead = i + 1
		}
	}
	slices.Reverse(rows[:p.ahead])
	p.told.setHeight(len(rows))
	p.told.show(rows, 0, len(rows), len(rows))
}

// delivery returns what became of a moment with this handler; nil if that is not
// known.
func (p *standingPane) delivery(m *inspect.Moment) *inspect.Delivery {
	for i := range m.Deliveries {
		if m.Deliveries[i].Handler == p.handler {
			return &m.Deliveries[i]
		}
	}
	return nil
}

// selected returns the key of the selected row; empty if none is.
func (p *standingPane) selected() string {
	if row, ok := p.told.selected(); ok && p.focus {
		return row.Key
	}
	return ""
}

// rowAt returns the row that is drawn y lines below the first of the pane, -1 if
// none is.
func (p *standingPane) rowAt(y int) int {
	waits, told := p.halves()
	if i := y - 1; i >= 0 && i < min(p.ahead, waits) {
		return i
	}
	if i := y - 1 - waits - 3; i >= 0 && i < min(p.told.matched-p.ahead, told) {
		return p.ahead + i
	}
	return -1
}

// lines draws the pane in w cells and the lines it has.
func (p *standingPane) lines(t *theme, s *inspect.Snapshot, l *inspect.ListenerVitals, w int) []string {
	if reason := p.nothing(l); reason != "" {
		var lines []string
		for _, text := range wrap(clean(reason), w-2*gutter, 4) {
			lines = append(lines, newLine(w).skip(gutter).put(t.muted, text).String())
		}
		return block(lines, w, p.h)
	}
	waits, told := p.halves()
	half := func(title string, age, took column, from, to int) []string {
		g := newGrid(w, flexible(title, 20, 64), fixedLeft("", 1, 0), fixedLeft("CAUSE", 9, 1), age, took)
		lines := []string{g.header(t)}
		for rank := from; rank < to; rank++ {
			lines = append(lines, p.draw(t, s, g, rank))
		}
		return lines
	}
	upper := half("WAITS, NEXT FIRST", fixed("SINCE", 6, 0), fixed("IN CALL", 7, 0), 0, min(p.ahead, waits))
	if rest := p.rest(l, waits); rest != "" {
		upper = append(upper, newLine(w).skip(gutter).put(t.faint, rest).String())
	}
	lower := half("TOLD, NEWEST FIRST", fixed("WAITED", 6, 0), fixed("TOOK", 7, 0), p.ahead, min(p.told.matched, p.ahead+told))
	return block(append(block(upper, w, waits+3), lower...), w, p.h)
}

// rest says what waits beside the first few.
func (p *standingPane) rest(l *inspect.ListenerVitals, waits int) string {
	more := int(l.Pending) - min(p.ahead, waits)
	switch {
	case p.ahead > 0 && more > 0:
		return number(more) + " more"
	case p.ahead > 0:
		return ""
	case l.Pending == 0:
		return "nothing"
	case !l.Synced:
		return number(l.Pending) + "; what it is given to start with comes first"
	}
	return number(l.Pending) + ", longer ago than is remembered"
}

// nothing says why there is nothing to show; empty if there is.
func (p *standingPane) nothing(l *inspect.ListenerVitals) string {
	switch {
	case l.Explorer:
		return "This is the explorer's own handler: it does not look at itself."
	case p.err != nil && unsupported(p.err):
		return "What waits for a handler is not known here."
	case p.err != nil:
		return p.err.Error()
	case !p.read:
		return " "
	}
	return ""
}

// draw draws one row.
func (p *standingPane) draw(t *theme, s *inspect.Snapshot, g grid, rank int) string {
	m := &p.told.rows[rank]
	d := p.delivery(m)
	if d == nil {
		return newLine(g.width).String()
	}
	letter, st := t.delta(deltaType(m.Type))
	mark := part{}
	waited, took := cell{st: t.muted, s: duration(d.Began.Sub(m.Published))}, cell{s: duration(d.Took)}
	switch {
	case d.Calling:
		mark = part{t.ok, "▶"}
		waited = cell{s: sinceIn(s.At, m.Published)}
	case d.Pending:
		waited, took = cell{s: sinceIn(s.At, m.Published)}, cell{}
	}
	return g.row(t, chosen(p.focus && rank == p.told.cursor, true), mark,
		cell{s: m.Key}, cell{st: st, s: letter}, cell{st: t.muted, s: shortCause(m.Cause)}, waited, took)
}

// sinceIn writes how long ago something was that may have been just now.
func sinceIn(now, at time.Time) string { return duration(max(now.Sub(at), 0)) }
