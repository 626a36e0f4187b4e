package tui

import (
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/informeter/informeter/engine/inspect"
)

// storeScreen shows the cached objects, a row each.
type storeScreen struct {
	pane
	rows objectRows
	text string // the filter
}

// objectRows is a list of objects, as the store and a bucket show it.
type objectRows struct {
	list[inspect.Row]
	desc bool
	err  error
	read bool
}

func newObjectRows() objectRows {
	return objectRows{list: list[inspect.Row]{keyOf: func(r inspect.Row) string { return r.Key }}}
}

// query asks for the rows in sight.
func (o *objectRows) query(filter string) inspect.Query {
	w := o.window()
	return inspect.Query{Filter: filter, Desc: o.desc, Cursor: w.cursor, Offset: w.offset, Limit: w.limit}
}

func (o *objectRows) take(a answer[inspect.Page]) {
	o.err = a.err
	if a.ok {
		o.read = true
		o.show(a.value.Rows, a.value.Start, a.value.Matched, a.value.Total)
	}
}

// grid returns the columns that have room.
func (o *objectRows) grid(w int) grid {
	title := "KEY"
	if o.desc {
		title = "KEY, last first"
	}
	return newGrid(w,
		flexible(title, 24, max(76, w/2)),
		fixed("RV", 12, 5),
		fixed("AGE", 6, 2),
		fixed("CHANGED", 8, 3),
		fixed("UPDATES", 8, 4),
		fixed("WAITING", 7, 1),
	)
}

// table returns the title line and height rows.
func (o *objectRows) table(t *theme, at time.Time, w int, focus bool) []string {
	g := o.grid(w)
	lines := []string{g.header(t)}
	return append(lines, o.draw(w, func(r inspect.Row, selected bool) string {
		updates, changed := cell{t.faint, dash, nil}, cell{t.faint, dash, nil}
		if r.Updates > 0 {
			updates = cell{s: number(r.Updates)}
		}
		if !r.Changed.IsZero() {
			changed.s = since(at, r.Changed)
			if at.Sub(r.Changed) < 2*time.Second {
				changed.st = t.accent
			} else {
				changed.st = ""
			}
		}
		waiting := cell{t.faint, dash, nil}
		if r.Waiting > 0 {
			waiting = cell{t.warn, number(r.Waiting), nil}
		}
		return g.row(t, chosen(selected, focus), part{}, cell{s: r.Key}, cell{st: t.muted, s: r.ResourceVersion},
			cell{s: since(at, r.Created)}, changed, updates, waiting)
	})...)
}

func newStoreScreen(m *Model) *storeScreen {
	return &storeScreen{pane: pane{m: m}, rows: newObjectRows()}
}

func (p *storeScreen) name() string { return "Store" }
func (p *storeScreen) scope() Scope { return ScopeStore }

func (p *storeScreen) setSize(w, h int) {
	p.pane.setSize(w, h)
	p.rows.setHeight(h - 1)
}

func (p *storeScreen) ask(r *request) { r.store = want(p.rows.query(p.text)) }

func (p *storeScreen) refresh(f *frame) {
	if f.request.store.on && f.request.store.query.Filter == p.text && f.request.store.query.Desc == p.rows.desc {
		p.rows.take(f.store)
	}
}

func (p *storeScreen) filter() string { return p.text }

func (p *storeScreen) setFilter(text string) {
	if text != p.text {
		p.text = text
		p.rows.home()
	}
}

func (p *storeScreen) back() bool {
	if p.text == "" {
		return false
	}
	p.setFilter("")
	return true
}

func (p *storeScreen) handle(a Action) tea.Cmd {
	switch a {
	case ActionOpen:
		if row, ok := p.rows.selected(); ok {
			p.m.openObject(row.Key)
		}
	case ActionReverse:
		p.rows.desc = !p.rows.desc
		p.rows.home()
	default:
		p.rows.handle(a)
	}
	return nil
}

func (p *storeScreen) click(_, y int) tea.Cmd {
	if _, again := p.rows.click(y - 1); again {
		return p.handle(ActionOpen)
	}
	return nil
}

func (p *storeScreen) wheel(n int) { p.rows.scroll(n) }

func (p *storeScreen) hints() []hint {
	return []hint{{ActionOpen, "object"}, {ActionFilter, "filter"}, {ActionReverse, "reverse"}, {ActionFreeze, "freeze"}}
}

func (p *storeScreen) status() string {
	return place(p.rows.cursor, p.rows.matched, p.rows.total, p.text)
}

func (p *storeScreen) lines() []string {
	t, s := p.m.theme, p.m.snapshot()
	switch {
	case p.rows.err != nil:
		return message(t, p.w, p.h, "the store did not answer", p.rows.err.Error())
	case !p.rows.read:
		return block(nil, p.w, p.h)
	case p.rows.matched == 0 && p.text != "":
		return message(t, p.w, p.h, "no key matches "+p.text, number(p.rows.total)+" objects are in the store. A filter is a substring of the key; with ! in front it keeps the others.")
	case p.rows.matched == 0:
		return p.empty(t, s)
	}
	return block(p.rows.table(t, p.m.frame.at, p.w, true), p.w, p.h)
}

// empty says why there is nothing: because of a state, or because there is
// nothing.
func (p *storeScreen) empty(t *theme, s *inspect.Snapshot) []string {
	if c, ok := conditionOf(t, s); ok {
		return block(append([]string{p.blank()}, c.draw(t, p.w, p.h-1)...), p.w, p.h)
	}
	return message(t, p.w, p.h, "no objects", "The informer is synced and its cache is empty: the server has none that it was asked for.")
}
