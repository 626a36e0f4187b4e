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
	rows  list[inspect.Summary]
	table *table
	text  string // the filter
}

// What informers can be sorted by; without, they stand as they were added.
const (
	byObjects = "objects"
	byQueued  = "queue"
	byEvents  = "events"
)

func newInformersScreen(m *Model) *informersScreen {
	return &informersScreen{pane: pane{m: m}, table: m.table("informers", order{}), rows: list[inspect.Summary]{
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
	p.arrange()
}

// arrange filters the informers by name and scope, and puts them in order.
func (p *informersScreen) arrange() {
	keep := inspect.Match(p.text)
	var kept []inspect.Summary
	for _, s := range p.m.summaries {
		if keep == nil || keep(s.Name+" "+s.Scope) {
			kept = append(kept, s)
		}
	}
	kept = sortRows(kept, p.table.order, func(a, b *inspect.Summary, by string) int {
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
	})
	p.rows.show(kept, 0, len(kept), len(p.m.summaries))
}

func (p *informersScreen) filter() string { return p.text }

func (p *informersScreen) setFilter(text string) {
	if text != p.text {
		p.text = text
		p.rows.home()
		p.arrange()
	}
}

func (p *informersScreen) back() bool {
	if p.text == "" {
		return false
	}
	p.setFilter("")
	return true
}

func (p *informersScreen) tableShown() (*table, []column) { return p.table, informerColumns() }

func (p *informersScreen) handle(a Action) tea.Cmd {
	if a == ActionOpen {
		if row, ok := p.rows.selected(); ok {
			p.m.look(row.Name)
			p.m.show(screenPipeline)
		}
		return nil
	}
	if p.table.handle(a, informerColumns()) {
		p.rows.home()
		p.arrange()
		return nil
	}
	p.rows.handle(a)
	return nil
}

func (p *informersScreen) click(x, y int) tea.Cmd {
	if y == 0 {
		if c := p.table.grid(p.w, informerColumns()).at(x); c != nil && c.by != "" {
			p.table.sortBy(c)
			p.rows.home()
			p.arrange()
		}
		return nil
	}
	if _, again := p.rows.click(y - 1); again {
		return p.handle(ActionOpen)
	}
	return nil
}

func (p *informersScreen) wheel(n int) { p.rows.scroll(n) }

func (p *informersScreen) hints() []hint {
	return []hint{{ActionOpen, "look at it"}, {ActionNextInformer, "next informer"}, {ActionFilter, "filter"}, {ActionSort, "sort"}, {ActionColumns, "columns"}}
}

func (p *informersScreen) status() string {
	return place(p.rows.cursor, p.rows.matched, p.rows.total, p.text)
}

func (p *informersScreen) lines() []string {
	t := p.m.theme
	if len(p.m.summaries) == 0 {
		return message(t, p.w, p.h, "no informers", "The program has none yet.")
	}
	if p.rows.matched == 0 {
		return message(t, p.w, p.h, "no informer matches "+p.text, count(len(p.m.summaries), "informer is", "informers are")+" there. Searched are name and scope.")
	}
	g := p.table.grid(p.w, informerColumns())
	found := highlighter(p.text)
	lines := []string{g.header(t)}
	lines = append(lines, p.rows.draw(p.w, func(s inspect.Summary, selected bool) string {
		mark := part{}
		if s.Name == p.m.informer {
			mark = part{t.accent, "●"}
		}
		if selected {
			mark = part{}
		}
		return g.row(t, chosen(selected, true), mark, summaryCells(t, &s, found)...)
	})...)
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

func summaryCells(t *theme, s *inspect.Summary, found func(string) [][2]int) []cell {
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
		{s: s.Name, found: found(s.Name)},
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
