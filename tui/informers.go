package tui

import (
	"cmp"
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/informeter/informeter/engine/inspect"
)

// informersScreen lists the informers of the process.
type informersScreen struct {
	pane
	rows tableRows[inspect.Summary] // without an order as they were added
}

// What informers can be sorted by; without, they stand as they were added.
const (
	byObjects = "objects"
	byQueued  = "queue"
	byEvents  = "events"
)

func newInformersScreen(m *Model) *informersScreen {
	return &informersScreen{pane: pane{m: m}, rows: tableRows[inspect.Summary]{
		list:     list[inspect.Summary]{keyOf: func(s inspect.Summary) string { return s.Name }},
		table:    m.table("informers", order{}),
		searched: func(s *inspect.Summary) string { return s.Name + " " + s.Scope },
		compare:  compareInformers,
	}}
}

func compareInformers(a, b *inspect.Summary, by string) int {
	switch by {
	case byName:
		return strings.Compare(a.Name, b.Name)
	case byObjects:
		return cmp.Compare(a.Objects, b.Objects)
	case byQueued:
		return cmp.Compare(a.Deltas, b.Deltas)
	case byEvents:
		return cmp.Compare(a.EventRate, b.EventRate)
	case byPending:
		return cmp.Compare(a.SlowestPending, b.SlowestPending)
	}
	return 0
}

func (p *informersScreen) name() string { return "Informers" }

func (p *informersScreen) ask(r *request) { r.informers = true }

func (p *informersScreen) setSize(w, h int) {
	p.pane.setSize(w, h)
	p.rows.setHeight(h - 3) // under the titles, and over what they leave out
}

func (p *informersScreen) refresh(*frame) { p.rows.set(p.m.summaries) }

func (p *informersScreen) filter() string        { return p.rows.text }
func (p *informersScreen) setFilter(text string) { p.rows.setFilter(text) }
func (p *informersScreen) back() bool            { return p.rows.back() }

func (p *informersScreen) tableShown() (*table, []column) { return p.rows.table, informerColumns() }

func (p *informersScreen) handle(a Action) tea.Cmd {
	if a == ActionOpen {
		if row, ok := p.rows.selected(); ok {
			p.m.look(row.Name)
			p.m.show(screenPipeline)
		}
		return nil
	}
	p.rows.handle(a, informerColumns())
	return nil
}

func (p *informersScreen) click(x, y int) tea.Cmd {
	if y == 0 {
		p.rows.clickTitle(x, p.w, informerColumns())
	} else if _, again := p.rows.click(y - 1); again {
		return p.handle(ActionOpen)
	}
	return nil
}

func (p *informersScreen) wheel(n int) { p.rows.scroll(n) }

func (p *informersScreen) hints() []hint {
	return []hint{{ActionOpen, "look at it"}, {ActionNextInformer, "next informer"}, {ActionFilter, "filter"}, {ActionSort, "sort"}, {ActionColumns, "columns"}}
}

func (p *informersScreen) status() string {
	return p.rows.status()
}

func (p *informersScreen) lines() []string {
	t := p.m.theme
	if len(p.m.summaries) == 0 {
		return message(t, p.w, p.h, "no informers", "The program has none yet.")
	}
	if p.rows.matched == 0 {
		return message(t, p.w, p.h, "no informer matches "+p.rows.text, count(len(p.m.summaries), "informer is", "informers are")+" there. Searched are name and scope.")
	}
	lines := p.rows.draw(t, p.w, informerColumns(), true, func(s *inspect.Summary, selected bool) part {
		if s.Name == p.m.informer && !selected {
			return part{t.accent, "●"}
		}
		return part{}
	}, func(s *inspect.Summary) []cell { return summaryCells(t, s) })
	if p.h > 3 {
		lines = append(lines[:min(len(lines), 1+p.rows.matched)], p.blank(),
			newLine(p.w).skip(gutter).put(t.muted, "The explorer's own handler is not counted.").String())
	}
	return block(lines, p.w, p.h)
}

func informerColumns() []column {
	return []column{
		flexible("INFORMER", 16, 36).sorted(byName, upwards),
		fixedLeft("SCOPE", 22, 1),
		fixedLeft("PHASE", 16, 0),
		fixed("OBJECTS", 9, 0).sorted(byObjects, downwards),
		fixed("QUEUE", 7, 2).sorted(byQueued, downwards),
		fixed("EV/s", 7, 4).sorted(byEvents, downwards),
		fixed("HANDLERS", 8, 5),
		fixedLeft("SLOWEST", 24, 6),
		fixed("PENDING", 9, 3).sorted(byPending, downwards),
	}
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
