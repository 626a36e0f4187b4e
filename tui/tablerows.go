package tui

import (
	"slices"

	"github.com/informeter/informeter/engine/inspect"
)

// tableRows is a table whose rows are all here: it filters them and puts them in
// order itself. Rows that are read as windows are filtered and sorted behind the
// Inspector, see list.
type tableRows[R any] struct {
	list[R]
	table *table
	text  string // the filter
	all   []R    // as they were given: they stand like that while there is no order
	// searched is what a filter looks at in a row.
	searched func(*R) string
	compare  func(a, b *R, by string) int
}

// set takes the rows there are.
func (r *tableRows[R]) set(all []R) {
	r.all = all
	r.arrange()
}

// arrange filters the rows and puts them in order.
func (r *tableRows[R]) arrange() {
	rows := r.all
	if keep := inspect.Match(r.text); keep != nil {
		rows = make([]R, 0, len(r.all))
		for i := range r.all {
			if keep(r.searched(&r.all[i])) {
				rows = append(rows, r.all[i])
			}
		}
	}
	if r.table.order.by != "" {
		rows = sortRows(rows, r.table.order, r.compare)
	}
	r.show(rows, 0, len(rows), len(r.all))
}

func (r *tableRows[R]) setFilter(text string) {
	if text != r.text {
		r.text = text
		r.home()
		r.arrange()
	}
}

// back takes the filter away and says whether there was one.
func (r *tableRows[R]) back() bool {
	was := r.text != ""
	r.setFilter("")
	return was
}

// status says which row of how many is selected.
func (r *tableRows[R]) status() string { return place(r.cursor, r.matched, r.total, r.text) }

// handle moves, or changes the order; moved says that it was the former.
func (r *tableRows[R]) handle(a Action, columns []column) (moved bool) {
	if r.table.handle(a, columns) {
		r.arrange()
		return false
	}
	return r.list.handle(a)
}

// clickTitle sorts by the column whose title was clicked, in a table of w cells.
func (r *tableRows[R]) clickTitle(x, w int, columns []column) {
	if c := r.table.grid(w, columns).at(x); c != nil && c.by != "" {
		r.table.sortBy(c)
		r.arrange()
	}
}

// draw returns the title line and height rows, the matches of the filter marked in
// the column of keys. focus says whether the table has the keys.
func (r *tableRows[R]) draw(t *theme, w int, columns []column, focus bool, mark func(r *R, selected bool) part, cells func(*R) []cell) []string {
	g := r.table.grid(w, columns)
	found := highlighter(r.text)
	keys := slices.IndexFunc(columns, func(c column) bool { return c.key })
	return append([]string{g.header(t)}, r.list.draw(w, func(row R, selected bool) string {
		c, m := cells(&row), part{}
		c[keys].found = found(c[keys].s)
		if mark != nil {
			m = mark(&row, selected)
		}
		return g.row(t, chosen(selected, focus), m, c...)
	})...)
}
