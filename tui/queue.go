package tui

import (
	"context"

	tea "charm.land/bubbletea/v2"

	"github.com/informeter/informeter/engine/inspect"
)

// queueScreen shows the gate and the keys that wait in front of it. From 160
// columns on it shows beside them what waits for the selected one.
type queueScreen struct {
	pane
	rows    list[inspect.QueueItem]
	page    inspect.QueuePage
	err     error
	read    bool
	text    string // the filter
	table   *table
	preview preview // of the selected key's object, under what waits for it
	// longest is the width of the longest key that was in sight, bulk says that an
	// entry was that stands for more than one object.
	longest int
	bulk    bool
	// limit is the rate to which the gate was open when it was closed here; 0 is
	// no limit. Resuming goes back to it.
	limit float64
}

func newQueueScreen(m *Model) *queueScreen {
	return &queueScreen{pane: pane{m: m}, table: m.table("queue", order{by: string(inspect.SortPosition)}), rows: list[inspect.QueueItem]{
		keyOf: queueKey, byRank: true,
	}}
}

func (p *queueScreen) name() string { return "Queue" }
func (p *queueScreen) scope() Scope { return ScopeQueue }

// headHeight is how many lines stand above the table's rows, its titles among
// them; one below says more of the selected key, where that does not stand beside.
const headHeight = 6

func (p *queueScreen) setSize(w, h int) {
	p.pane.setSize(w, h)
	h -= headHeight
	if p.left() == w {
		h--
		p.preview.focus = false
	}
	p.rows.setHeight(h)
}

// left is how wide the rows are.
func (p *queueScreen) left() int { return p.w - previewWidth(p.w) }

// selected returns the key of the selected row; empty if there is none, or it
// stands for many objects.
func (p *queueScreen) selected() string {
	row, _ := p.rows.selected()
	return row.Key
}

func (p *queueScreen) ask(r *request) {
	r.queue = want(p.query())
	if p.left() < p.w {
		p.preview.ask(r, p.selected())
	}
}

// query asks for the rows in sight.
func (p *queueScreen) query() inspect.QueueQuery {
	w, by := p.rows.window(), p.table.order
	return inspect.QueueQuery{Filter: p.text, Sort: inspect.Sort(by.by), Desc: bool(by.desc), Offset: w.offset, Limit: w.limit}
}

// answers says whether the rows read for a query are those to be shown.
func (p *queueScreen) answers(q *inspect.QueueQuery) bool {
	now := p.query()
	return q.Filter == now.Filter && q.Sort == now.Sort && q.Desc == now.Desc
}

func (p *queueScreen) previewed() *document { return p.preview.shown }

func (p *queueScreen) refresh(f *frame) {
	if !f.request.queue.on || !p.answers(&f.request.queue.query) {
		return
	}
	p.err = f.queue.err
	if f.queue.ok {
		p.read, p.page = true, f.queue.value
		total := p.page.Keys
		if ordered(&f.snapshot.value.Queue) {
			total = p.page.Deltas
		}
		p.rows.show(p.page.Items, p.page.Start, p.page.Matched, max(total, p.page.Matched))
		for i := range p.page.Items {
			item := &p.page.Items[i]
			p.longest = max(p.longest, width(clean(item.Key)))
			for d := range item.Deltas {
				p.bulk = p.bulk || item.Deltas[d].Objects > 1
			}
		}
	}
	p.preview.refresh(f, p.selected())
}

func (p *queueScreen) filter() string { return p.text }

func (p *queueScreen) setFilter(text string) {
	p.preview.focus = false
	if text != p.text {
		p.text = text
		p.rows.home()
	}
}

func (p *queueScreen) back() bool {
	if p.preview.back() {
		return true
	}
	if p.text == "" {
		return false
	}
	p.setFilter("")
	return true
}

func (p *queueScreen) handle(a Action) tea.Cmd {
	if page, ok := pageFor(a); ok {
		if row, ok := p.rows.selected(); ok && row.Key != "" {
			p.m.openPage(row.Key, page)
		} else if ok {
			p.m.note = "this entry stands for many objects"
		}
		return nil
	}
	if p.left() < p.w && (p.preview.handle(a) || p.preview.turn(a)) {
		return nil
	}
	if p.table.handle(a, p.columns()) {
		p.rows.home()
		return nil
	}
	switch a {
	case ActionPause:
		return p.togglePause()
	case ActionStep:
		return p.step(1)
	case ActionStepTen:
		return p.step(10)
	case ActionRate:
		p.m.askRate()
	default:
		p.rows.handle(a)
	}
	return nil
}

// togglePause closes the gate, or opens it as far as it was open before.
func (p *queueScreen) togglePause() tea.Cmd {
	if !p.m.paused() {
		p.keepLimit()
		p.m.wishes.gate = inspect.GatePaused
		return p.m.control("", func(ctx context.Context, c inspect.Controls) error { return c.Pause(ctx) })
	}
	p.m.wishes.gate = inspect.GateRunning
	limit := p.limit
	return p.m.control("", func(ctx context.Context, c inspect.Controls) error {
		if limit > 0 {
			return c.SetRate(ctx, limit)
		}
		return c.Resume(ctx)
	})
}

// keepLimit remembers how far the gate is open, before it is closed.
func (p *queueScreen) keepLimit() {
	if p.m.wishes.gate == "" { // else what is shown is over
		p.limit = p.m.snapshot().Queue.Gate.Rate
	}
}

func (p *queueScreen) step(n int) tea.Cmd {
	if !p.m.paused() {
		p.keepLimit()
	}
	p.m.wishes.gate = inspect.GatePaused
	return p.m.control("", func(ctx context.Context, c inspect.Controls) error { return c.Step(ctx, n) })
}

func (p *queueScreen) click(x, y int) tea.Cmd {
	if y >= headHeight-1 {
		p.preview.focus = x >= p.left() && p.preview.key != ""
	}
	if x >= p.left() {
		return nil
	}
	if y == headHeight-1 && p.rows.matched > 0 {
		if c := p.table.grid(p.left(), p.columns()).at(x); c != nil && c.by != "" {
			p.table.sortBy(c)
			p.rows.home()
		}
		return nil
	}
	if _, again := p.rows.click(y - headHeight); again {
		return p.handle(ActionOpen)
	}
	return nil
}

func (p *queueScreen) wheel(n int) {
	if p.preview.focus {
		p.preview.yaml.view.scroll(n)
		return
	}
	p.rows.scroll(n)
}

func (p *queueScreen) hints() []hint {
	pause := "pause"
	if p.m.snapshot().Queue.Gate.Mode != inspect.GateRunning {
		pause = "resume"
	}
	hints := []hint{
		{ActionPause, pause},
		{ActionStep, "step"},
		{ActionStepTen, "step ten"},
		{ActionRate, "rate"},
	}
	if p.rows.matched > 0 {
		hints = append(hints, hint{ActionOpen, "object"}, hint{ActionBiography, "biography"})
	}
	hints = append(hints, hint{ActionFilter, "filter"})
	if p.rows.matched > 0 {
		hints = append(hints, hint{ActionSort, "sort"})
	}
	switch {
	case p.preview.focus:
		hints = append(hints, hint{ActionNextPane, "rows"})
	case p.left() < p.w && p.rows.matched > 0:
		hints = append(hints, hint{ActionNextPane, "preview"})
	}
	return hints
}

func (p *queueScreen) status() string {
	if p.preview.focus {
		return p.preview.yaml.view.status()
	}
	s := place(p.rows.cursor, p.rows.matched, p.rows.total, p.text)
	if by := p.table.order; s != "" && (by.by != string(inspect.SortPosition) || by.desc == downwards) {
		s += " by " + p.table.title(p.columns())
	}
	return s
}

func (p *queueScreen) lines() []string {
	t, s := p.m.theme, p.m.snapshot()
	if p.err != nil {
		return message(t, p.w, p.h, "the queue did not answer", p.err.Error())
	}
	if !p.read {
		return block(nil, p.w, p.h)
	}
	lines := p.head(t, s)
	if p.rows.matched == 0 {
		return append(lines, p.empty(t, s)...)
	}
	w := p.left()
	g := p.table.grid(w, p.columns())
	found := highlighter(p.text)
	rows := append([]string{g.header(t)}, p.rows.draw(w, func(i inspect.QueueItem, selected bool) string {
		mark := part{}
		if i.InFlight {
			mark = part{t.ok, "▶"}
		}
		return g.row(t, chosen(selected, !p.preview.focus), mark, queueCells(t, &i, found)...)
	})...)
	if h := p.h - len(lines); w < p.w {
		rows = beside(block(rows, w, h), p.waitingPane(t, p.w-w, h))
	} else {
		rows = append(rows, p.detail(t))
	}
	return block(append(lines, rows...), p.w, p.h)
}
