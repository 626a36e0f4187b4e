package tui

// column is one column of a table.
type column struct {
	title string
	// min and max bound its width. The one whose max is larger takes what the
	// others leave.
	min, max int
	// need is the width that keys have before other columns get more than least.
	need  int
	right bool
	drop  int // when it goes for lack of room: the highest first and together, 0 never
	key   bool
	// by names what rows are sorted by in this column; empty where they can't be.
	by string
	// first is the direction in which one looks at it first.
	first direction
	// natural: rows stand in this order, the first direction, by themselves, so that
	// it need not be seen.
	natural bool
	// empty: none of the rows in sight has anything in it, so it goes before all
	// that have.
	empty bool
	// hidden: the user does not want it.
	hidden bool
}

// direction is that of an order.
type direction bool

const (
	upwards   direction = false
	downwards direction = true // the largest, or the newest, first
)

// sorted makes a column one that rows can be sorted by.
func (c column) sorted(by string, first direction) column {
	c.by, c.first = by, first
	return c
}

// order says what the rows of a table are sorted by.
type order struct {
	by   string
	desc direction
}

// emptyDrop is added to the drop of a column that has nothing in it.
const emptyDrop = 100

func (c *column) dropsAt() int {
	if c.empty && c.drop > 0 {
		return c.drop + emptyDrop
	}
	return c.drop
}

func fixed(title string, w int, drop int) column {
	return column{title: title, min: w, max: w, right: true, drop: drop}
}

func fixedLeft(title string, w int, drop int) column {
	return column{title: title, min: w, max: w, drop: drop}
}

// flexible is a column of keys or names.
func flexible(title string, least, most int) column {
	return column{title: title, min: least, max: most, key: true}
}

// cell is the text of one column in one row.
type cell struct {
	st style
	s  string
	// parts, if set, are drawn in place of s.
	parts []part
	// found are the byte ranges of s that a filter found, in a column of keys.
	found [][2]int
}

// grid is a table's columns fitted to a width.
type grid struct {
	width   int
	columns []column
	widths  []int // 0: no room
	order   order
	// focus: the table has no title of its own, and has the keys.
	focus bool
}

const (
	gutter    = 2 // in front of the first column: the mark of the selected row
	columnGap = 2
)

func newGrid(w int, columns ...column) grid {
	g := grid{width: w, columns: columns, widths: make([]int, len(columns))}
	total := gutter
	for i, c := range columns {
		if c.hidden {
			continue
		}
		g.widths[i] = c.min
		total += c.min + columnGap
	}
	total -= columnGap
	for total > w-1 {
		worst := 0
		for i, c := range columns {
			if g.widths[i] > 0 {
				worst = max(worst, c.dropsAt())
			}
		}
		if worst == 0 {
			break
		}
		for i, c := range columns {
			if g.widths[i] > 0 && c.dropsAt() == worst {
				total -= g.widths[i] + columnGap
				g.widths[i] = 0
			}
		}
	}
	// The keys have what they need, and take what the others leave.
	grow := func(keys bool, most func(*column) int) {
		for i := range columns {
			if c := &columns[i]; g.widths[i] > 0 && c.max > c.min && c.key == keys && most(c) > g.widths[i] {
				more := min(most(c)-g.widths[i], w-1-total)
				// Where even what stays has no room, what can shrink does.
				g.widths[i] = max(g.widths[i]+more, 1)
				total += more
			}
		}
	}
	grow(true, func(c *column) int { return min(c.need, c.max) })
	grow(false, func(c *column) int { return c.max })
	grow(true, func(c *column) int { return c.max })
	return g
}

// needs is how wide the table has to be for the columns that are shown.
func (g grid) needs() int {
	total := gutter + 1
	g.each(func(i, _ int) { total += g.columns[i].min + columnGap })
	return total - columnGap
}

// header returns the line of titles. That of the column the rows are sorted by
// has a mark behind it, in the gap to the next one if it must be.
func (g grid) header(t *theme) string {
	l := newLine(g.width).skip(gutter)
	g.each(func(i, w int) {
		c, end := &g.columns[i], l.used+w
		st, mark := t.muted, ""
		if g.focus && i == 0 {
			st = t.title
		}
		if c.by != "" && c.by == g.order.by {
			st, mark = t.accent, orderMark(g.order.desc)
		}
		if c.right {
			l.right(st, c.title, w)
		} else {
			l.left(st, c.title, min(width(c.title), w))
		}
		l.put(st, mark)
		l.to(end + columnGap)
	})
	return l.String()
}

func orderMark(desc direction) string {
	if desc {
		return "▼"
	}
	return "▲"
}

// at returns the column whose title is at cell x, nil if none is.
func (g grid) at(x int) *column {
	var found *column
	from := gutter
	g.each(func(i, w int) {
		if x >= from && x < from+w+columnGap {
			found = &g.columns[i]
		}
		from += w + columnGap
	})
	return found
}

func (g grid) each(f func(i, w int)) {
	for i, w := range g.widths {
		if w > 0 {
			f(i, w)
		}
	}
}

// emphasis is how a row stands out.
type emphasis uint8

const (
	plainRow    emphasis = iota
	idleRow              // selected, in a pane that does not have the keys
	selectedRow          // the one that keys act on
)

func chosen(selected, focus bool) emphasis {
	switch {
	case selected && focus:
		return selectedRow
	case selected:
		return idleRow
	}
	return plainRow
}

// row returns one line of the table.
func (g grid) row(t *theme, e emphasis, mark part, cells ...cell) string {
	l := newLine(g.width)
	switch e {
	case selectedRow:
		l.base = t.selected
		l.left(t.accent, "▸", 1) // and a mark behind it: without colours only this says where the user is
	case idleRow:
		l.base = t.idle
	}
	l.left(mark.st, mark.s, gutter-l.used)
	g.each(func(i, w int) {
		c, column := cells[i], g.columns[i]
		switch {
		case c.parts != nil:
			end := l.used + w
			for _, p := range c.parts {
				l.left(p.st, p.s, min(width(clean(p.s)), end-l.used))
			}
			l.to(end)
		case column.right:
			l.right(c.st, c.s, w)
		case column.key:
			l.found(c.st, t.match, c.s, c.found, w)
		default:
			l.left(c.st, c.s, w)
		}
		l.skip(columnGap)
	})
	return l.String()
}
