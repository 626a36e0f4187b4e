package tui

// column is one column of a table.
type column struct {
	title string
	// min and max bound its width. The one whose max is larger takes what the
	// others leave.
	min, max int
	right    bool
	drop     int // when it goes for lack of room: the highest first and together, 0 never
	key      bool
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
}

// grid is a table's columns fitted to a width.
type grid struct {
	width   int
	columns []column
	widths  []int // 0: no room
}

const (
	gutter    = 2 // in front of the first column: the mark of the selected row
	columnGap = 2
)

func newGrid(w int, columns ...column) grid {
	g := grid{width: w, columns: columns, widths: make([]int, len(columns))}
	total := gutter
	for i, c := range columns {
		g.widths[i] = c.min
		total += c.min + columnGap
	}
	total -= columnGap
	for total > w-1 {
		worst := 0
		for i, c := range columns {
			if g.widths[i] > 0 {
				worst = max(worst, c.drop)
			}
		}
		if worst == 0 {
			break
		}
		for i, c := range columns {
			if c.drop == worst {
				total -= g.widths[i] + columnGap
				g.widths[i] = 0
			}
		}
	}
	for i, c := range columns {
		if g.widths[i] > 0 && c.max > c.min {
			more := min(c.max-c.min, w-1-total)
			// Where even what stays has no room, what can shrink does.
			g.widths[i] = max(g.widths[i]+more, 1)
			total += more
		}
	}
	return g
}

// header returns the line of titles.
func (g grid) header(t *theme) string {
	l := newLine(g.width).skip(gutter)
	g.each(func(i, w int) {
		if g.columns[i].right {
			l.right(t.muted, g.columns[i].title, w)
		} else {
			l.left(t.muted, g.columns[i].title, w)
		}
		l.skip(columnGap)
	})
	return l.String()
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
		if mark.s == "" {
			mark = part{t.accent, "▸"}
		}
	case idleRow:
		l.base = t.idle
	}
	l.left(mark.st, mark.s, gutter)
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
			l.key(c.st, c.s, w)
		default:
			l.left(c.st, c.s, w)
		}
		l.skip(columnGap)
	})
	return l.String()
}
