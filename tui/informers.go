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
	p.rows.setHeight(h - 1 - p.below()) // under the titles
}

// below is how many lines are kept under the rows, for all about the selected one
// and what the table leaves out.
func (p *informersScreen) below() int {
	if p.h < 14 {
		return 2
	}
	return 7
}

func (p *informersScreen) refresh(*frame) { p.rows.set(p.m.summaries) }

func (p *informersScreen) filter() string        { return p.rows.text }
func (p *informersScreen) setFilter(text string) { p.rows.setFilter(text) }
func (p *informersScreen) back() bool            { return p.rows.back() }

func (p *informersScreen) tableShown() (*table, []column) { return p.rows.table, p.columns() }

func (p *informersScreen) handle(a Action) tea.Cmd {
	if a == ActionOpen {
		if row, ok := p.rows.selected(); ok {
			p.m.look(row.Name)
			p.m.show(screenPipeline)
		}
		return nil
	}
	p.rows.handle(a, p.columns())
	return nil
}

func (p *informersScreen) click(x, y int) tea.Cmd {
	if y == 0 {
		p.rows.clickTitle(x, p.w, p.columns())
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
	lines := p.rows.draw(t, p.w, p.columns(), true, func(s *inspect.Summary, selected bool) part {
		if s.Name == p.m.informer && !selected {
			return part{t.accent, "●"}
		}
		return part{}
	}, func(s *inspect.Summary) []cell { return summaryCells(t, s) })
	lines = lines[:min(len(lines), 1+p.rows.matched)]
	lines = append(lines, p.blank())
	if row, ok := p.rows.selected(); ok && p.below() > 2 {
		lines = append(append(lines, p.detail(t, &row)...), p.blank())
	}
	lines = append(lines, newLine(p.w).skip(gutter).put(t.muted, "The explorer's own handler is not counted.").String())
	return block(lines, p.w, p.h)
}

// detail says how an informer is: what it can't do, if there is something, and
// otherwise how far it and its handlers have come.
func (p *informersScreen) detail(t *theme, s *inspect.Summary) []string {
	lines := []string{newLine(p.w).skip(gutter).put(t.title, s.Name).skip(3).put(t.muted, s.Type).String()}
	if s.Error != "" {
		for _, l := range wrap(clean(inspect.PlainError(s.Error)), min(p.w-2*gutter, 110), 3) {
			lines = append(lines, newLine(p.w).skip(gutter).put(t.bad, l).String())
		}
		return lines
	}
	how := seg(0, "", "synced")
	switch {
	case s.State == inspect.StateCreated:
		how = seg(0, t.warn, "nobody has run it yet")
	case s.State == inspect.StateStopped:
		how = seg(0, t.warn, "stopped: what is shown is what it held then")
	case s.Paused:
		how = seg(0, t.warn, "paused: what arrives stays in the queue")
	case !s.Synced:
		how = seg(0, t.accent, "not synced yet")
	}
	handlers := seg(1, t.muted, count(s.Handlers, "handler", "handlers")+", nothing waits for them")
	switch {
	case s.Handlers == 0:
		handlers = seg(1, t.muted, "no handlers: it only keeps its cache")
	case s.SlowestPending > 0:
		handlers = seg(1, "", "most waits for "+s.Slowest+": "+number(s.SlowestPending)+" pending")
	}
	return append(lines, newLine(p.w).skip(gutter).segments(3, how, handlers).String())
}

// columns are those of the table: the names are whole before scopes are.
func (p *informersScreen) columns() []column {
	name := flexible("INFORMER", 16, 36).sorted(byName, upwards)
	for i := range p.m.summaries {
		name.need = max(name.need, width(clean(p.m.summaries[i].Name)))
	}
	name.max = min(max(name.max, name.need), 64)
	return []column{
		name,
		{title: "SCOPE", min: 14, max: 22, drop: 1},
		{title: "PHASE", min: 14, max: 16},
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
