package tui

import (
	"errors"

	tea "charm.land/bubbletea/v2"

	"github.com/informeter/informeter/engine/inspect"
)

// storeScreen shows the cached objects, a row each.
type storeScreen struct {
	pane
	rows objectRows
	text string // the filter
}

func newStoreScreen(m *Model) *storeScreen {
	return &storeScreen{pane: pane{m: m}, rows: newObjectRows(m.table("store", order{by: string(inspect.SortKey)}))}
}

func (p *storeScreen) name() string { return "Store" }
func (p *storeScreen) scope() Scope { return ScopeStore }

func (p *storeScreen) setSize(w, h int) {
	p.pane.setSize(w, h)
	p.rows.setHeight(h - 1)
}

func (p *storeScreen) ask(r *request) { r.store = want(p.rows.query(p.text)) }

func (p *storeScreen) refresh(f *frame) {
	if f.request.store.on && p.rows.answers(&f.request.store.query, p.text) {
		p.rows.take(p.m, f.store)
	}
}

func (p *storeScreen) tableShown() (*table, []column) { return p.rows.table, p.rows.columns(p.w) }

// goTo selects the object under key, or the first one after it.
func (p *storeScreen) goTo(key string) {
	p.rows.table.order = order{by: string(inspect.SortKey)}
	p.setFilter("")
	p.rows.seek(key)
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
	if page, ok := pageFor(a); ok {
		if row, ok := p.rows.selected(); ok {
			p.m.openPage(row.Key, page)
		}
		return nil
	}
	if a == ActionFollow {
		p.rows.table.order = order{string(inspect.SortChanged), downwards}
		p.rows.home()
		return nil
	}
	p.rows.handle(a, p.w)
	return nil
}

func (p *storeScreen) click(x, y int) tea.Cmd {
	if y == 0 {
		p.rows.clickTitle(x, p.w)
	} else if _, again := p.rows.click(y - 1); again {
		return p.handle(ActionOpen)
	}
	return nil
}

func (p *storeScreen) wheel(n int) { p.rows.scroll(n) }

func (p *storeScreen) hints() []hint {
	return []hint{
		{ActionOpen, "object"},
		{ActionBiography, "biography"},
		{ActionFilter, "filter"},
		{ActionSort, "sort"},
		{ActionReverse, "reverse"},
		{ActionFollow, "follow"},
		{ActionColumns, "columns"},
		{ActionFreeze, "freeze"},
	}
}

func (p *storeScreen) status() string { return p.rows.status(p.text) }

func (p *storeScreen) lines() []string {
	t, s := p.m.theme, p.m.snapshot()
	switch {
	case p.rows.err != nil:
		return message(t, p.w, p.h, "the store did not answer", p.rows.err.Error())
	case !p.rows.read:
		return block(nil, p.w, p.h)
	case p.rows.matched == 0 && p.text != "" && p.rows.working() != "":
		return message(t, p.w, p.h, "looking for "+p.text, p.rows.working()+" so far, and none matches.")
	case p.rows.matched == 0 && p.text != "":
		return message(t, p.w, p.h, "no key matches "+p.text, number(p.rows.total)+" objects are in the store. A filter is a substring of the key; with ! in front it keeps the others.")
	case p.rows.matched == 0:
		return p.empty(t, s)
	}
	return block(p.rows.draw(t, p.m.frame.at, p.w, true, p.text), p.w, p.h)
}

// empty says why there is nothing: because of a state, or because there is
// nothing.
func (p *storeScreen) empty(t *theme, s *inspect.Snapshot) []string {
	if c, ok := conditionOf(t, s); ok {
		return block(append([]string{p.blank()}, c.draw(t, p.w, p.h-1)...), p.w, p.h)
	}
	return message(t, p.w, p.h, "no objects", "The informer is synced and its cache is empty: the server has none that it was asked for.")
}

// unsupported says whether an error means that this informer can't do it.
func unsupported(err error) bool { return errors.Is(err, inspect.ErrUnsupported) }
