package tui

import (
	"errors"

	tea "charm.land/bubbletea/v2"

	"github.com/informeter/informeter/engine/inspect"
)

// storeScreen shows the cached objects, a row each, and from 160 columns on the
// selected one beside them.
type storeScreen struct {
	pane
	rows    objectRows
	text    string // the filter
	preview preview
	looked  string // the key that was looked for and is not here yet
}

func newStoreScreen(m *Model) *storeScreen {
	return &storeScreen{pane: pane{m: m}, rows: newObjectRows(m.table("store", order{by: string(inspect.SortKey)}))}
}

func (p *storeScreen) name() string { return "Store" }
func (p *storeScreen) scope() Scope { return ScopeStore }

func (p *storeScreen) setSize(w, h int) {
	p.pane.setSize(w, h)
	p.rows.setHeight(h - 1)
	p.preview.focus = p.preview.focus && p.left() < w
}

// left is how wide the rows are.
func (p *storeScreen) left() int { return p.w - previewWidth(p.w) }

// selected returns the key of the selected row; empty if there is none.
func (p *storeScreen) selected() string {
	row, _ := p.rows.selected()
	return row.Key
}

func (p *storeScreen) ask(r *request) {
	r.store = want(p.rows.query(p.text))
	if p.left() < p.w {
		p.preview.ask(r, p.selected())
	}
}

func (p *storeScreen) refresh(f *frame) {
	if f.request.store.on && p.rows.answers(&f.request.store.query, p.text) {
		p.rows.take(p.m, f.store)
		p.arrive()
		p.preview.refresh(f, p.selected())
	}
}

func (p *storeScreen) previewed() *document { return p.preview.shown }

func (p *storeScreen) tableShown() (*table, []column) {
	return p.rows.table, p.rows.columns(p.left())
}

// goTo selects the object under key, or the first one after it.
func (p *storeScreen) goTo(key string) {
	p.rows.table.order = order{by: string(inspect.SortKey)}
	p.setFilter("")
	p.rows.seek(key)
	p.looked = key
}

// arrive says so if the key that was looked for is not there.
func (p *storeScreen) arrive() {
	if p.looked == "" || p.rows.sought != "" || !p.rows.read {
		return
	}
	switch at := p.selected(); {
	case at == p.looked, at == "":
	case at > p.looked:
		p.m.note = "no key " + p.looked + ": this is the first one after it"
	default:
		p.m.note = "no key " + p.looked + ", and none after it: this is the last one"
	}
	p.looked = ""
}

func (p *storeScreen) filter() string { return p.text }

func (p *storeScreen) setFilter(text string) {
	p.preview.focus = false
	if text != p.text {
		p.text = text
		p.rows.home()
	}
}

func (p *storeScreen) back() bool {
	if p.preview.back() {
		return true
	}
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
	if p.left() < p.w && (p.preview.handle(a) || p.preview.turn(a)) {
		return nil
	}
	p.rows.handle(a, p.left())
	return nil
}

func (p *storeScreen) click(x, y int) tea.Cmd {
	p.preview.focus = x >= p.left() && p.preview.key != ""
	if x >= p.left() {
		return nil
	}
	if y == 0 {
		p.rows.clickTitle(x, p.left())
	} else if _, again := p.rows.click(y - 1); again {
		return p.handle(ActionOpen)
	}
	return nil
}

func (p *storeScreen) wheel(n int) {
	if p.preview.focus {
		p.preview.yaml.view.scroll(n)
		return
	}
	p.rows.scroll(n)
}

func (p *storeScreen) hints() []hint {
	if p.preview.focus {
		return []hint{{ActionOpen, "object"}, {ActionBack, "back"}, {ActionDown, "scroll"}, {ActionBiography, "biography"}}
	}
	if p.rows.matched == 0 {
		return []hint{{ActionFilter, "filter"}, {ActionColumns, "columns"}, {ActionFreeze, "freeze"}}
	}
	hints := []hint{
		{ActionOpen, "object"},
		{ActionBiography, "biography"},
		{ActionFilter, "filter"},
		{ActionSort, "sort"},
		{ActionReverse, "reverse"},
		{ActionFollow, "follow"},
		{ActionColumns, "columns"},
		{ActionFreeze, "freeze"},
	}
	if p.left() < p.w {
		hints = append(hints, hint{ActionNextPane, "preview"})
	}
	return hints
}

func (p *storeScreen) status() string {
	if p.preview.focus {
		return p.preview.yaml.view.status()
	}
	s := p.rows.status(p.text)
	if n := p.m.snapshot().Lost.History; n > 0 && p.text == "" && s != "" {
		// Where there is room: where in the rows one is comes first.
		if all := "older history let go: " + number(n) + "   " + s; width(all) <= p.m.statusWidth() {
			s = all
		}
	}
	return s
}

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
		return message(t, p.w, p.h, "no key matches "+p.text, count(p.rows.total, "object is", "objects are")+" in the store. "+p.m.filterForms(p.text, true))
	case p.rows.matched == 0:
		return p.empty(t, s)
	}
	rows := block(p.rows.draw(t, p.m.frame.at, p.left(), !p.preview.focus, p.text), p.left(), p.h)
	if p.left() == p.w {
		return rows
	}
	return beside(rows, p.previewLines(t))
}

func (p *storeScreen) previewLines(t *theme) []string {
	w, key := p.w-p.left(), p.selected()
	lines := p.preview.title(t, w-border, key, key)
	lines = append(lines, p.preview.body(t, p.m.frame, w-border, p.h-len(lines), key)...)
	return bordered(t, lines, w, p.h)
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
