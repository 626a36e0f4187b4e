package tui

import (
	tea "charm.land/bubbletea/v2"

	"github.com/informeter/informeter/engine/inspect"
)

// informersScreen lists the informers of the process.
type informersScreen struct {
	pane
	rows list[inspect.Summary]
}

func newInformersScreen(m *Model) *informersScreen {
	return &informersScreen{pane: pane{m: m}, rows: list[inspect.Summary]{
		keyOf: func(s inspect.Summary) string { return s.Name },
	}}
}

func (p *informersScreen) name() string { return "Informers" }

func (p *informersScreen) ask(r *request) { r.informers = true }

func (p *informersScreen) setSize(w, h int) {
	p.pane.setSize(w, h)
	p.rows.setHeight(h - 3) // under the titles, and over what they leave out
}

func (p *informersScreen) refresh(*frame) {
	n := len(p.m.summaries)
	p.rows.show(p.m.summaries, 0, n, n)
}

func (p *informersScreen) handle(a Action) tea.Cmd {
	if a == ActionOpen {
		if row, ok := p.rows.selected(); ok {
			p.m.look(row.Name)
			p.m.show(screenPipeline)
		}
		return nil
	}
	p.rows.handle(a)
	return nil
}

func (p *informersScreen) click(_, y int) tea.Cmd {
	if _, again := p.rows.click(y - 1); again {
		return p.handle(ActionOpen)
	}
	return nil
}

func (p *informersScreen) wheel(n int) { p.rows.scroll(n) }

func (p *informersScreen) hints() []hint {
	return []hint{{ActionOpen, "look at it"}, {ActionNextInformer, "next informer"}}
}

func (p *informersScreen) status() string {
	return place(p.rows.cursor, p.rows.matched, p.rows.total, "")
}

func (p *informersScreen) lines() []string {
	t := p.m.theme
	if len(p.m.summaries) == 0 {
		return message(t, p.w, p.h, "no informers", "The program has none yet.")
	}
	g := newGrid(p.w,
		flexible("INFORMER", 16, 36),
		fixedLeft("SCOPE", 22, 1),
		fixedLeft("PHASE", 16, 0),
		fixed("OBJECTS", 9, 0),
		fixed("QUEUE", 7, 2),
		fixed("EV/s", 7, 4),
		fixed("HANDLERS", 8, 5),
		fixedLeft("SLOWEST", 24, 6),
		fixed("PENDING", 9, 3),
	)
	lines := []string{g.header(t)}
	lines = append(lines, p.rows.draw(p.w, func(s inspect.Summary, selected bool) string {
		mark := part{}
		if s.Name == p.m.informer {
			mark = part{t.accent, "●"}
		}
		if selected {
			mark = part{}
		}
		return g.row(t, chosen(selected, true), mark, summaryCells(t, &s)...)
	})...)
	if p.h > 3 {
		lines = append(lines[:min(len(lines), 1+p.rows.matched)], p.blank(),
			newLine(p.w).skip(gutter).put(t.muted, "The explorer's own handler is not counted.").String())
	}
	return block(lines, p.w, p.h)
}

func summaryCells(t *theme, s *inspect.Summary) []cell {
	phase := cell{st: t.ok, s: s.Phase.String()}
	switch {
	case s.State != inspect.StateRunning:
		phase = cell{st: t.warn, s: string(s.State)}
	case s.Error != "":
		phase.st = t.bad
	case !s.Synced || s.Phase != inspect.PhaseWatching:
		phase.st = t.accent
	}
	if s.Paused {
		phase = cell{st: t.paused, s: " PAUSED "}
	}
	slowest, pending := cell{st: t.faint, s: dash}, cell{st: t.faint, s: "0"}
	if s.SlowestPending > 0 {
		slowest, pending = cell{s: s.Slowest}, cell{s: number(s.SlowestPending)}
	}
	return []cell{
		{s: s.Name},
		{st: t.muted, s: s.Scope},
		phase,
		{s: number(s.Objects)},
		{s: number(s.Deltas)},
		{s: rate(s.EventRate)},
		{s: number(s.Handlers)},
		slowest,
		pending,
	}
}
