package tui

import (
	"slices"
	"strings"

	"github.com/informeter/informeter/engine/inspect"
)

// table is what the user has chosen of one table: its order, its columns and
// their widths. It outlives the screen that shows it, see Model.table.
type table struct {
	order  order
	hidden map[string]bool // by title
	wider  map[string]int  // by title: cells more, or less, than usual
	// noRoom, by title: those that are wanted and had no room when it was last drawn.
	noRoom map[string]bool
}

// table returns what has been chosen of the table of that name; first is its
// order until the user chooses another.
func (m *Model) table(name string, first order) *table {
	if m.tables[name] == nil {
		m.tables[name] = &table{order: first, hidden: map[string]bool{}, wider: map[string]int{}, noRoom: map[string]bool{}}
	}
	return m.tables[name]
}

// grid fits the columns that were chosen to a width.
func (b *table) grid(w int, columns []column) grid {
	shown := slices.Clone(columns)
	for i := range shown {
		c := &shown[i]
		if c.hidden || b.hidden[c.title] {
			c.hidden = true
			continue
		}
		if more := b.wider[c.title]; more != 0 {
			c.min, c.max = max(c.min+more, leastColumn), max(c.max+more, leastColumn)
		}
		if c.by != "" && c.by == b.order.by && !(c.natural && b.order.desc == c.first) {
			c.empty, c.drop = false, 0 // or nobody sees what the order means
		}
	}
	g := newGrid(w, shown...)
	g.order = b.order
	for i := range shown {
		b.noRoom[shown[i].title] = !shown[i].hidden && g.widths[i] == 0
	}
	return g
}

// leastColumn is how narrow the user can make a column.
const leastColumn = 3

// sortBy sorts by a column, or the other way round if it is sorted by that
// already.
func (b *table) sortBy(c *column) {
	if b.order.by == c.by {
		b.order.desc = !b.order.desc
		return
	}
	b.order = order{c.by, c.first}
}

// handle does what concerns a table's order and says whether a was that.
func (b *table) handle(a Action, columns []column) bool {
	switch a {
	case ActionSort:
		b.step(columns, 1)
	case ActionSortPrevious:
		b.step(columns, -1)
	case ActionReverse:
		b.order.desc = !b.order.desc
	default:
		return false
	}
	return true
}

// step sorts by the next column that can be sorted by and is not hidden.
func (b *table) step(columns []column, n int) {
	var can []*column
	at := 0
	for i := range columns {
		c := &columns[i]
		if c.by == b.order.by && c.by != "" {
			at = len(can)
			can = append(can, c)
		} else if c.by != "" && !c.hidden && !b.hidden[c.title] {
			can = append(can, c)
		}
	}
	if len(can) > 0 {
		if b.order.by == "" && n > 0 {
			at = -1 // the first one is next
		}
		c := can[(at+n+len(can))%len(can)]
		b.order = order{c.by, c.first}
	}
}

// title names what the rows are sorted by, for the last line.
func (b *table) title(columns []column) string {
	for i := range columns {
		if c := &columns[i]; c.by != "" && c.by == b.order.by {
			return strings.ToLower(c.title) + " " + orderMark(b.order.desc)
		}
	}
	return ""
}

// tabled is a screen with a table that the user can change.
type tabled interface {
	tableShown() (*table, []column)
}

// sortRows returns the rows, which are all here, sorted by the column in order;
// those it holds equal stay as they were.
func sortRows[R any](rows []R, by order, compare func(a, b *R, by string) int) []R {
	at := make([]int, len(rows)) // moved instead of the rows, which are large
	for i := range at {
		at[i] = i
	}
	slices.SortStableFunc(at, func(a, b int) int {
		c := compare(&rows[a], &rows[b], by.by)
		if by.desc {
			return -c
		}
		return c
	})
	out := make([]R, len(rows))
	for i, from := range at {
		out[i] = rows[from]
	}
	return out
}

// highlighter returns what marks the parts of a text that a filter found.
func highlighter(filter string) func(string) [][2]int {
	f, err := inspect.ParseFilter(filter)
	if err != nil || f.All() {
		return func(string) [][2]int { return nil }
	}
	return f.Highlights
}
