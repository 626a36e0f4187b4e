package tui

import (
	tea "charm.land/bubbletea/v2"

	"github.com/informeter/informeter/engine/inspect"
)

// pipelineScreen shows every stage at a glance, and the handlers under them.
//
//	Reflector ─▶ queue ─▶ HandleDeltas ─▶ Indexer ─▶ Processor      from 100 columns
//	a state that has to be said, if there is one
//	HANDLER ...
//	▸ the slowest one, or the selected one
//	how it gets on
//
// From 160 columns the newest deltas and their way stand beside the handlers, else
// under everything where lines are free; tab gives them the keys.
type pipelineScreen struct {
	pane
	handlers handlerTable
	moments  momentsPane
	// under is the line of the newest deltas' titles where they stand under
	// everything; 0 where they don't. full says that no lines are free for them.
	under int
	full  bool
}

func newPipelineScreen(m *Model) *pipelineScreen {
	return &pipelineScreen{
		pane: pane{m: m}, handlers: newHandlerTable(m.table("handlers", order{}), furthestBehind), moments: newMomentsPane(),
	}
}

func (p *pipelineScreen) name() string { return "Pipeline" }

func (p *pipelineScreen) ask(r *request) {
	// A frozen view keeps what it has: there are only newer ones to be read.
	if (momentsWidth(p.w) > 0 || !p.full) && !(p.m.frozen && p.moments.read) {
		p.moments.ask(r, p.h)
	}
}

// left is how wide what stands left of the newest deltas is: they have what their
// names need of what the handlers' columns leave.
func (p *pipelineScreen) left() int {
	w := momentsWidth(p.w)
	if w == 0 || !p.moments.there() {
		return p.w
	}
	spare := p.w - p.handlers.table.grid(p.w-w, p.handlers.columns()).needs()
	return p.w - max(w, min(p.moments.needs(), spare))
}

// hasMoments says whether the newest deltas can be seen at all.
func (p *pipelineScreen) hasMoments() bool { return p.left() < p.w || p.under > 0 }

func (p *pipelineScreen) refresh(f *frame) {
	p.handlers.refresh(f.snapshot.value.Listeners)
	p.moments.refresh(f)
}

func (p *pipelineScreen) handle(a Action) tea.Cmd {
	if p.turn(a) {
		return nil
	}
	if p.moments.focus {
		return p.handleMoments(a)
	}
	if a == ActionOpen {
		if row, ok := p.handlers.selected(); ok {
			p.m.openHandler(row.Name)
		}
		return nil
	}
	p.handlers.handle(a, p.handlers.columns())
	return nil
}

// turn gives the keys to the newest deltas, or back to the handlers, where a asks
// for that, and says whether it did.
func (p *pipelineScreen) turn(a Action) bool {
	focus := p.moments.focus
	switch a {
	case ActionNextPane, ActionPreviousPane:
		focus = !focus
	case ActionRight:
		focus = true
	case ActionLeft:
		focus = false
	}
	if !p.hasMoments() || focus == p.moments.focus {
		return false
	}
	p.moments.turn(focus)
	return true
}

// handleMoments does what the user wants of the newest deltas. What there is to
// see of one is in the biography of its key.
func (p *pipelineScreen) handleMoments(a Action) tea.Cmd {
	page, ok := pageFor(a)
	if a == ActionOpen {
		page = pageBiography
	}
	if !ok {
		p.moments.handle(a, !p.m.frozen)
	} else if key := p.moments.selected(); key != "" {
		p.m.openPage(key, page)
	}
	return nil
}

func (p *pipelineScreen) tableShown() (*table, []column) {
	return p.handlers.table, p.handlers.columns()
}

func (p *pipelineScreen) hints() []hint {
	if p.moments.focus {
		return []hint{{ActionOpen, "biography"}, {ActionYAML, "object"}, {ActionBack, "back"}, {ActionTop, "newest"}, {ActionFreeze, "freeze"}}
	}
	hints := []hint{{ActionOpen, "handler"}, {ActionQueue, "queue"}, {ActionStore, "store"}, {ActionIndices, "indices"}, {ActionFreeze, "freeze"}}
	if p.hasMoments() {
		hints = append(hints, hint{ActionNextPane, "just now"})
	}
	return hints
}

func (p *pipelineScreen) filter() string { return p.handlers.text }

func (p *pipelineScreen) setFilter(text string) {
	p.moments.turn(false)
	p.handlers.setFilter(text)
}

func (p *pipelineScreen) status() string {
	switch {
	case p.moments.focus:
		return p.moments.status()
	case p.handlers.text == "":
		return "" // it is not a list in the first place
	}
	return p.handlers.status()
}

func (p *pipelineScreen) back() bool {
	if p.moments.focus {
		p.moments.turn(false)
		return true
	}
	return p.handlers.back()
}

func (p *pipelineScreen) wheel(n int) {
	if p.moments.focus {
		p.moments.rows.scroll(n)
		return
	}
	p.handlers.scroll(n)
}

func (p *pipelineScreen) click(x, y int) tea.Cmd {
	top, focus := p.tableTop(), x >= p.left()
	if p.under > 0 && y >= p.under {
		top, focus = p.under, true
	}
	row := y - top - 1
	if row < -1 {
		return nil
	}
	was := p.moments.focus
	if focus != was {
		p.moments.turn(focus)
	}
	if p.moments.focus {
		if _, again := p.moments.rows.click(row); again && was {
			return p.handle(ActionOpen)
		}
		return nil
	}
	if row < 0 {
		p.handlers.clickTitle(x, p.left(), p.handlers.columns())
	} else if _, again := p.handlers.click(row); again && !was {
		return p.handle(ActionOpen)
	}
	return nil
}

// lines draws the stages at the top, the table at the bottom, and gives the
// table's rows what is left.
func (p *pipelineScreen) lines() []string {
	t, s := p.m.theme, p.m.snapshot()
	if err := p.m.frame.snapshot.err; err != nil && s.At.IsZero() {
		return message(t, p.w, p.h, "no answer", err.Error())
	}
	if s.At.IsZero() {
		return block(nil, p.w, p.h)
	}
	top := p.upper(t, s)
	detail := p.detail(t, s)
	h, w := p.h-len(top), p.left()
	p.handlers.setHeight(max(min(h-1-len(detail), p.handlers.matched), 1))
	rest := append(detail, p.requests(t, s, h-1-p.handlers.height-len(detail))...)
	free := h - 1 - p.handlers.height - len(rest)
	p.makeRoom(free)
	lower := append(p.handlers.draw(p.m, s, w, !p.moments.focus), rest...)
	switch {
	case w < p.w:
		p.moments.rows.setHeight(h - 1)
		lower = beside(block(lower, w, h), bordered(t, p.moments.lines(t, s, p.w-w-border, h), p.w-w, h))
	case p.under > 0:
		p.moments.rows.setHeight(free - 2)
		lower = append(append(lower, p.blank()), p.moments.lines(t, s, w, free-1)...)
	}
	return block(append(top, lower...), p.w, p.h)
}

// makeRoom puts the newest deltas under everything where there are two panes at
// most and enough of the last lines are free. Those that can't be seen have no keys.
func (p *pipelineScreen) makeRoom(free int) {
	const least = 6 // a blank line, the titles, four rows
	p.full, p.under = free < least, 0
	if !p.full && p.moments.there() && momentsWidth(p.w) == 0 {
		p.under = p.h - free + 1
	}
	if p.moments.focus && !p.hasMoments() {
		p.moments.turn(false)
	}
}

// upper returns everything above the table.
func (p *pipelineScreen) upper(t *theme, s *inspect.Snapshot) []string {
	var lines []string
	if p.w >= twoPanes {
		lines = append(p.columns(t, s), p.blank())
	} else {
		lines = p.rows(t, s)
	}
	if c, ok := conditionOf(t, s); ok {
		if p.w < twoPanes {
			lines = append(lines, p.blank())
		}
		lines = append(lines, c.draw(t, p.w, max(p.h-len(lines)-5, 2))...)
		lines = append(lines, setAside(t, s, p.w)...)
		lines = append(lines, p.blank())
	} else if aside := setAside(t, s, p.w); len(aside) > 0 {
		if p.w < twoPanes {
			lines = append(lines, p.blank())
		}
		lines = append(lines, append(aside, p.blank())...)
	} else if p.h >= 18 && p.w < twoPanes {
		lines = append(lines, p.blank())
	}
	return lines
}

// tableTop is the line of the table's titles.
func (p *pipelineScreen) tableTop() int { return len(p.upper(p.m.theme, p.m.snapshot())) }

// detail says how the selected handler gets on.
func (p *pipelineScreen) detail(t *theme, s *inspect.Snapshot) []string {
	row, ok := p.handlers.selected()
	if !ok {
		return nil
	}
	if row.Explorer && len(s.Listeners) == 1 {
		return []string{newLine(p.left()).skip(gutter).put(t.muted, "no other handler is registered").String()}
	}
	return prose(drain(t, s, &row), p.left(), 2, gutter)
}

// columns draws the stages beside each other.
func (p *pipelineScreen) columns(t *theme, s *inspect.Snapshot) []string {
	const arrow, gap, facts = "─▶", 4, 3
	const over = 1 // cells of the gap that a largest value may have, beside a title
	w := min((p.w-2*gutter-4*gap)/5, 34)
	charts := max(min((p.h-16)/6, 4), 1)
	stages := p.stages(t, s, w, charts)
	lines := make([]string, 0, 1+facts+charts)
	for i := range cap(lines) {
		l := newLine(p.w).skip(gutter)
		for n, st := range stages {
			x := gutter + n*(w+gap)
			if n > 0 && i == 1 {
				l.to(x-3).put(t.faint, arrow)
			}
			l.to(x)
			switch {
			case i == 0:
				end := l.used + w
				l.left(t.title, st.name, min(width(st.name), w))
				if st.mostFits(st.name, w+over) {
					l.to(max(end-width(st.most), l.used+1)).put(t.faint, st.most)
				}
				l.to(max(end, l.used))
			case i <= facts:
				cells, first := newLine(w), ""
				for _, part := range st.facts[i-1].parts {
					cells.put(part.st, part.s)
					first += part.s
				}
				if i == 1 && !st.mostFits(st.name, w+over) && st.mostFits(first, w) {
					cells.to(w-width(st.most)).put(t.faint, st.most)
				}
				l.place("", cells.String())
			default:
				l.left(st.color, st.spark[i-facts-1], w)
			}
		}
		lines = append(lines, l.String())
	}
	return lines
}

// rows draws the stages under each other.
func (p *pipelineScreen) rows(t *theme, s *inspect.Snapshot) []string {
	const name, spark = 14, 8
	facts := p.w - gutter - name - 2 - spark - 2
	lines := make([]string, 0, 5)
	for _, st := range p.stages(t, s, spark, 1) {
		l := newLine(p.w).skip(gutter).left(t.title, st.name, name)
		inner := newLine(facts)
		inner.segments(3, st.row...)
		l.place("", inner.String())
		lines = append(lines, l.skip(2).left(st.color, st.spark[0], spark).String())
	}
	return lines
}
