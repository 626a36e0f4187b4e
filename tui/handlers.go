package tui

import (
	tea "charm.land/bubbletea/v2"
)

// handlersScreen shows every handler, all about the selected one, and where it
// stands: what waits for it and what it was told last. That is beside the others
// from 160 columns on; where there is less room it is opened in their place.
//
//	HANDLER ...                              │ WAITS, NEXT FIRST
//	▸ the one furthest behind, or selected   │
//	                                         │
//	how it gets on, in numbers and drawn     │ TOLD, NEWEST FIRST
type handlersScreen struct {
	pane
	handlers handlerTable
	standing standingPane
	trends   map[string]*trend // by name
	second   int64             // of the newest sample
}

// trend is what has waited for a handler and how fast it went.
type trend struct{ pending, rate series }

func newHandlersScreen(m *Model) *handlersScreen {
	return &handlersScreen{
		pane: pane{m: m}, handlers: newHandlerTable(m.table("handlers", order{}), furthestBehind),
		standing: newStandingPane(), trends: map[string]*trend{},
	}
}

// openHandler shows one handler on the Handlers screen.
func (m *Model) openHandler(name string) {
	h := m.screens[screenHandlers].(*handlersScreen)
	m.lead(screenHandlers, nil)
	h.standing.focus = false
	h.handlers.choose(name)
}

// standingWidth is how wide the pane is that says where a handler stands; 0 where
// it has no room beside the others.
func (p *handlersScreen) standingWidth() int {
	const least = 64 // what the handlers leave at 160 columns
	if panes(p.w) < 3 {
		return 0
	}
	return max(momentsWidth(p.w), least)
}

// left is how wide what stands left of that is.
func (p *handlersScreen) left() int { return p.w - p.standingWidth() }

// path names the handler that was opened.
func (p *handlersScreen) path() []string {
	if p.standing.focus {
		return []string{p.standing.handler}
	}
	return nil
}

// settle lets the pane be about the selected handler.
func (p *handlersScreen) settle() {
	row, _ := p.handlers.selected()
	p.standing.of(row.Name)
	p.standing.h = p.h
	if p.standing.handler == "" {
		p.standing.focus = false
	}
}

func (p *handlersScreen) setSize(w, h int) {
	p.pane.setSize(w, h)
	p.settle()
}

func (p *handlersScreen) ask(r *request) {
	p.settle()
	// A frozen view keeps what it has of a handler: reading on would show what it
	// stands at now.
	if (p.standing.focus || p.standingWidth() > 0) && !(p.m.frozen && p.standing.read) {
		p.standing.ask(r)
	}
}

func (p *handlersScreen) name() string { return "Handlers" }

func (p *handlersScreen) refresh(f *frame) {
	p.handlers.refresh(f.snapshot.value.Listeners)
	if f.snapshot.ok {
		p.sample(f)
	}
	p.settle()
	p.standing.refresh(f)
}

// sample takes the values of a frame, if a second has passed since the last, and
// forgets the handlers that are gone.
func (p *handlersScreen) sample(f *frame) {
	passed := f.at.Unix() - p.second
	if passed <= 0 {
		return
	}
	p.second = f.at.Unix()
	trends := make(map[string]*trend, len(f.snapshot.value.Listeners))
	for i := range f.snapshot.value.Listeners {
		l := &f.snapshot.value.Listeners[i]
		one := p.trends[l.Name]
		if one == nil {
			one = &trend{}
		}
		one.pending.shift(int(min(passed, samples)))
		one.rate.shift(int(min(passed, samples)))
		one.pending.set(float64(l.Pending))
		one.rate.set(l.Rate)
		trends[l.Name] = one
	}
	p.trends = trends
}

func (p *handlersScreen) tableShown() (*table, []column) {
	return p.handlers.table, p.handlers.columns()
}

func (p *handlersScreen) handle(a Action) tea.Cmd {
	s := &p.standing
	if page, ok := pageFor(a); ok && (a != ActionOpen || s.focus) {
		key := p.key()
		switch {
		case key != "":
			p.m.openPage(key, page)
		case s.focus:
			p.m.note = "no key is selected"
		default:
			p.m.note = "this handler is in no call right now, so there is no key to open"
		}
		return nil
	}
	switch {
	case a == ActionNextPane, a == ActionPreviousPane:
		s.focus = !s.focus
	case a == ActionOpen, a == ActionRight:
		s.focus = true
	case a == ActionLeft:
		s.focus = false
	case s.focus:
		s.told.handle(a)
	default:
		p.handlers.handle(a, p.handlers.columns())
	}
	p.settle()
	return nil
}

// key is the one that the pages of a key are opened for: that of the selected
// row, or of the call under way.
func (p *handlersScreen) key() string {
	if p.standing.focus {
		return p.standing.selected()
	}
	row, _ := p.handlers.selected()
	return row.CurrentKey
}

func (p *handlersScreen) filter() string        { return p.handlers.text }
func (p *handlersScreen) setFilter(text string) { p.handlers.setFilter(text) }

func (p *handlersScreen) back() bool {
	if p.standing.focus {
		p.standing.focus = false
		return true
	}
	return p.handlers.back()
}

func (p *handlersScreen) wheel(n int) { p.handlers.scroll(n) }

func (p *handlersScreen) click(x, y int) tea.Cmd {
	alone := p.standing.focus && p.standingWidth() == 0
	if alone || x >= p.left() {
		if row := p.standing.rowAt(y); row >= 0 {
			again := p.standing.focus && row == p.standing.told.cursor
			p.standing.focus = true
			p.standing.told.moveTo(row)
			if again {
				return p.handle(ActionOpen)
			}
		}
		return nil
	}
	p.standing.focus = false
	if y == 0 {
		p.handlers.clickTitle(x, p.left(), p.handlers.columns())
		return nil
	}
	if _, again := p.handlers.click(y - 1); again {
		return p.handle(ActionOpen)
	}
	return nil
}

func (p *handlersScreen) hints() []hint {
	if p.standing.focus {
		return []hint{{ActionBack, "back"}, {ActionOpen, "object"}, {ActionBiography, "biography"}, {ActionDiff, "versions"}, {ActionFreeze, "freeze"}}
	}
	return []hint{{ActionOpen, "what waits for it"}, {ActionSort, "sort"}, {ActionFilter, "filter"}, {ActionColumns, "columns"}, {ActionFreeze, "freeze"}}
}

func (p *handlersScreen) status() string {
	if s := &p.standing; s.focus {
		return place(s.told.cursor, s.told.matched, s.told.total, "")
	}
	return p.handlers.status()
}

// leastHandlers is how many handlers can be seen at least, if there are as many:
// before that the details go.
const leastHandlers = 4

func (p *handlersScreen) lines() []string {
	t, s := p.m.theme, p.m.snapshot()
	if len(s.Listeners) == 0 {
		p.handlers.setHeight(1)
		return message(t, p.w, p.h, "no handlers", "Nobody is told about changes: the informer only keeps its cache up to date.")
	}
	if p.handlers.matched == 0 {
		p.handlers.setHeight(1)
		return message(t, p.w, p.h, "no handler matches "+p.handlers.text, count(p.handlers.total, "handler is", "handlers are")+" registered.")
	}
	p.standing.h = p.h
	row, _ := p.handlers.selected()
	if p.standing.focus && p.standingWidth() == 0 {
		return p.standing.lines(t, s, &row, p.w)
	}
	w := p.left()
	shown := min(len(s.Listeners), max(leastHandlers, p.h/3))
	detail := p.detail(t, s, &row, w, p.h-2-shown)
	height := min(p.h-2-len(detail), len(s.Listeners))
	p.handlers.setHeight(max(height, min(len(s.Listeners), leastHandlers)))
	lines := append(p.handlers.draw(p.m, s, w, !p.standing.focus), newLine(w).String())
	lines = block(append(lines, detail...), w, p.h)
	if w == p.w {
		return lines
	}
	inner := p.w - w - border
	return beside(lines, bordered(t, p.standing.lines(t, s, &row, inner), p.w-w, p.h))
}
