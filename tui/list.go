package tui

import "slices"

// list is a window on rows that are somewhere else: it holds those around what
// can be seen, the selected row and where the window begins.
//
// Rows are ranked from 0. What is selected and what stands at the top are
// remembered by key, so that both stay where they are while rows come and go
// above them. There are two exceptions. Until somebody moves, or after a move to
// the very top, the window is pinned to the first row. And a list that is not
// sorted by key (byRank) keeps the ranks at the top, because a key tells nothing
// about its place there.
type list[R any] struct {
	keyOf  func(R) string
	byRank bool
	// byCursor: the rows are in an order of their own, but can be asked for around
	// a key, wherever it is now. Then the selected row stands still and the others
	// move around it.
	byCursor bool
	height   int // rows that can be seen

	rows    []R // those read, of ranks start and following
	start   int
	matched int
	total   int

	cursor, top       int    // ranks
	cursorKey, topKey string // empty: by rank
	// sought is a key to go to, once the rows around it have been read.
	sought string
	// toEnd: to go to the last row, once there are any.
	toEnd bool
}

// window is where to read a list.
type window struct {
	cursor        string
	offset, limit int
}

// window returns what to read: what can be seen, and as much again on both
// sides, so that a page up or down is there before it is asked for.
func (l *list[R]) window() window {
	if l.sought != "" {
		return window{cursor: l.sought, offset: -l.height, limit: 3 * l.height}
	}
	if l.byCursor && l.cursorKey != "" {
		return window{cursor: l.cursorKey, offset: l.top - l.cursor - l.height, limit: 3 * l.height}
	}
	w := window{limit: 3 * l.height, offset: max(l.top-l.height, 0)}
	if l.topKey != "" && !l.byRank && !l.byCursor {
		w.cursor, w.offset = l.topKey, -l.height
	}
	return w
}

// show takes the rows read for a window.
func (l *list[R]) show(rows []R, start, matched, total int) {
	if l.astray(rows, start, matched) {
		l.cursorKey, l.topKey = "", "" // and the rows are read again, by rank
		return
	}
	l.rows, l.start, l.matched, l.total = rows, start, matched, total
	if l.sought != "" {
		l.find()
		return
	}
	if l.toEnd && matched > 0 {
		l.moveTo(matched - 1)
		return
	}
	if at, ok := l.rankOf(l.cursorKey); ok && l.byCursor {
		l.top += at - l.cursor
		l.cursor = at
		l.settle()
		return
	}
	if at, ok := l.rankOf(l.topKey); ok && !l.byRank && !l.byCursor {
		l.top = at
	}
	if at, ok := l.rankOf(l.cursorKey); ok && (!l.byRank || l.visible(at)) {
		l.cursor = at
	}
	l.settle()
}

// astray says that rows were read around a key that has gone meanwhile, and are
// not those around where it was.
func (l *list[R]) astray(rows []R, start, matched int) bool {
	if !l.byCursor || l.cursorKey == "" || l.sought != "" || matched == 0 || len(rows) == 0 ||
		slices.ContainsFunc(rows, func(r R) bool { return l.keyOf(r) == l.cursorKey }) {
		return false
	}
	at := min(l.cursor, matched-1)
	return at < start || at >= start+len(rows)
}

// seek selects the row of that key, when the rows around it have been read. If
// there is none, it is the first one after it where rows are in the order of keys.
func (l *list[R]) seek(key string) { l.home(); l.sought = key }

// step selects the next row that is here and that is one, or the one before, and
// says whether there is one.
func (l *list[R]) step(is func(R) bool, forward bool) bool {
	n := -1
	if forward {
		n = 1
	}
	for i := l.cursor - l.start + n; i >= 0 && i < len(l.rows); i += n {
		if is(l.rows[i]) {
			l.moveTo(l.start + i)
			return true
		}
	}
	return false
}

// find selects the row that was sought, near the middle of the window.
func (l *list[R]) find() {
	rank, here := l.rankOf(l.sought)
	if !here {
		rank = l.start + len(l.rows)
		for i, r := range l.rows {
			if l.keyOf(r) >= l.sought {
				rank = l.start + i
				break
			}
		}
	}
	l.sought = ""
	l.cursor = max(min(rank, l.matched-1), 0)
	l.top = max(min(l.cursor-l.height/2, l.matched-l.height), 0)
	l.cursorKey, l.topKey = l.keyAt(l.cursor), l.keyAt(l.top)
	l.settle()
}

// pinned says that the window stays at the first row, whichever that is.
func (l *list[R]) pinned() bool {
	return !l.toEnd && l.cursor == 0 && l.cursorKey == "" && l.topKey == "" && l.sought == ""
}

// settle brings cursor and top into their bounds and remembers their keys.
func (l *list[R]) settle() {
	l.cursor = max(min(l.cursor, l.matched-1), 0)
	l.top = max(min(l.top, l.matched-l.height), 0)
	if l.cursor < l.top {
		l.top = l.cursor
	} else if l.height > 0 && l.cursor >= l.top+l.height {
		l.top = l.cursor - l.height + 1
	}
	if l.sought != "" || l.cursorKey == "" && l.topKey == "" && l.cursor == 0 {
		return // about to move, or pinned to the first row
	}
	l.cursorKey, l.topKey = l.keyAt(l.cursor), l.keyAt(l.top)
}

func (l *list[R]) visible(rank int) bool { return rank >= l.top && rank < l.top+l.height }

func (l *list[R]) rankOf(key string) (int, bool) {
	if key == "" {
		return 0, false
	}
	for i, r := range l.rows {
		if l.keyOf(r) == key {
			return l.start + i, true
		}
	}
	return 0, false
}

func (l *list[R]) keyAt(rank int) string {
	if i := rank - l.start; i >= 0 && i < len(l.rows) {
		return l.keyOf(l.rows[i])
	}
	return ""
}

// setHeight says how many rows can be seen.
func (l *list[R]) setHeight(h int) {
	l.height = max(h, 0)
	l.settle()
}

// reset goes back to the first row of other rows.
func (l *list[R]) reset() {
	l.rows, l.start, l.matched, l.total = nil, 0, 0, 0
	l.home()
}

func (l *list[R]) home() {
	l.cursor, l.top, l.cursorKey, l.topKey, l.sought, l.toEnd = 0, 0, "", "", "", false
}

// move moves the selection by n rows. Where that leaves the rows that are here,
// it goes by rank until those there have been read.
func (l *list[R]) move(n int) { l.moveTo(l.cursor + n) }

func (l *list[R]) moveTo(rank int) {
	l.sought, l.toEnd = "", false
	l.cursor = max(min(rank, l.matched-1), 0)
	l.cursorKey = l.keyAt(l.cursor)
	if l.topKey == "" {
		l.topKey = l.keyAt(l.top)
	}
	l.settle()
}

// scroll moves the window by n rows and the selection only if it must.
func (l *list[R]) scroll(n int) {
	l.sought, l.toEnd = "", false
	l.top = max(min(l.top+n, l.matched-l.height), 0)
	l.cursor = max(min(l.cursor, l.top+l.height-1), l.top)
	l.cursorKey, l.topKey = l.keyAt(l.cursor), l.keyAt(l.top)
	l.settle()
}

// handle does what movement actions ask for and says whether a was one.
func (l *list[R]) handle(a Action) bool {
	switch a {
	case ActionUp:
		l.move(-1)
	case ActionDown:
		l.move(1)
	case ActionHalfUp:
		l.move(-max(l.height/2, 1))
	case ActionHalfDown:
		l.move(max(l.height/2, 1))
	case ActionPageUp:
		l.move(-max(l.height, 1))
	case ActionPageDown:
		l.move(max(l.height, 1))
	case ActionTop:
		l.home()
	case ActionBottom:
		none := l.matched == 0
		l.moveTo(l.matched - 1)
		l.toEnd = none
	default:
		return false
	}
	return true
}

// click selects the row drawn y rows below the first and says whether there is
// one, and whether it was selected already.
func (l *list[R]) click(y int) (row, again bool) {
	rank := l.top + y
	if y < 0 || y >= l.height || rank >= l.matched {
		return false, false
	}
	again = rank == l.cursor
	l.moveTo(rank)
	return true, again
}

// selected returns the selected row, if it is here.
func (l *list[R]) selected() (row R, ok bool) {
	if i := l.cursor - l.start; i >= 0 && i < len(l.rows) {
		return l.rows[i], true
	}
	return row, false
}

// draw calls line for each row that can be seen and returns height lines. Rows
// that have not been read yet are blank.
func (l *list[R]) draw(w int, line func(r R, selected bool) string) []string {
	lines := make([]string, 0, l.height)
	for rank := l.top; rank < min(l.top+l.height, l.matched); rank++ {
		if i := rank - l.start; i >= 0 && i < len(l.rows) {
			lines = append(lines, line(l.rows[i], rank == l.cursor))
		} else {
			lines = append(lines, newLine(w).String())
		}
	}
	return block(lines, w, l.height)
}
