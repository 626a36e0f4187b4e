package tui

import (
	"strings"
	"unicode/utf8"
)

// textView is a window on lines of text: where it stands, what is searched for
// and what is folded away. The lines are somewhere else.
//
// Rows are what can be seen if the window is large enough: the lines without
// those in folds. cursor and top are rows.
type textView struct {
	height int
	rows   []int // the line of each row
	cursor int
	top    int
	left   int

	search  string
	needle  needle // of search
	matches int    // lines that have it
}

// show takes the lines that are not folded away, and stays where it was.
func (v *textView) show(rows []int) {
	line := -1
	if v.cursor < len(v.rows) {
		line = v.rows[v.cursor]
	}
	v.rows = rows
	if line >= 0 {
		v.goTo(line)
		return
	}
	v.settle()
}

// goTo puts the cursor on a line, or the last one before it that can be seen.
func (v *textView) goTo(line int) {
	lo, hi := 0, len(v.rows)
	for lo < hi {
		if mid := (lo + hi) / 2; v.rows[mid] <= line {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	v.cursor = lo - 1
	v.settle()
}

func (v *textView) settle() {
	v.cursor = max(min(v.cursor, len(v.rows)-1), 0)
	v.top = max(min(v.top, len(v.rows)-v.height), 0)
	if v.cursor < v.top {
		v.top = v.cursor
	} else if v.height > 0 && v.cursor >= v.top+v.height {
		v.top = v.cursor - v.height + 1
	}
}

// line returns the line of the cursor, -1 if there is none.
func (v *textView) line() int {
	if v.cursor < len(v.rows) {
		return v.rows[v.cursor]
	}
	return -1
}

// scroll moves the window, and the cursor with it.
func (v *textView) scroll(n int) {
	v.top = max(min(v.top+n, len(v.rows)-v.height), 0)
	v.cursor = max(min(v.cursor, v.top+v.height-1), v.top)
	v.settle()
}

const sideways = 8

// handle does what movement actions ask for and says whether a was one.
func (v *textView) handle(a Action) bool {
	page := max(v.height, 1)
	switch a {
	case ActionUp:
		v.cursor--
	case ActionDown:
		v.cursor++
	case ActionHalfUp:
		v.cursor, v.top = v.cursor-max(page/2, 1), v.top-max(page/2, 1)
	case ActionHalfDown:
		v.cursor, v.top = v.cursor+max(page/2, 1), v.top+max(page/2, 1)
	case ActionPageUp:
		v.cursor, v.top = v.cursor-page, v.top-page
	case ActionPageDown:
		v.cursor, v.top = v.cursor+page, v.top+page
	case ActionTop:
		v.cursor, v.left = 0, 0
	case ActionBottom:
		v.cursor = len(v.rows) - 1
	case ActionLeft:
		v.left = max(v.left-sideways, 0)
	case ActionRight:
		v.left = min(v.left+sideways, 1<<20)
	default:
		return false
	}
	v.settle()
	return true
}

// searchOn searches the same lines for another text. What begins with something
// that no line has is in none either, so that the rest of what is typed costs
// nothing.
func (v *textView) searchOn(text string, lines int, line func(int) string) {
	if v.search != "" && v.matches == 0 && strings.HasPrefix(text, v.search) {
		v.search, v.needle = text, newNeedle(text)
		return
	}
	v.searchFor(text, lines, line)
}

// searchFor counts the lines that have text.
func (v *textView) searchFor(text string, lines int, line func(int) string) {
	v.search, v.matches = text, 0
	if v.needle.text != text {
		v.needle = newNeedle(text)
	}
	if text == "" {
		return
	}
	for i := range lines {
		if v.needle.in(line(i)) >= 0 {
			v.matches++
		}
	}
}

// next returns the line of the next match after the cursor's, skip lines of it,
// in a direction; -1 if there is none.
func (v *textView) next(skip, step, lines int, line func(int) string) int {
	if v.matches == 0 || lines == 0 {
		return -1
	}
	from := max(v.line(), 0)
	for i := range lines {
		at := ((from+skip+i*step)%lines + lines) % lines
		if v.needle.in(line(at)) >= 0 {
			return at
		}
	}
	return -1
}

// status says where one is, or how much was found.
func (v *textView) status() string {
	if v.search != "" {
		return count(v.matches, "line has ", "lines have ") + shortFilter(v.search)
	}
	if len(v.rows) == 0 {
		return ""
	}
	return "lines " + number(v.top+1) + "–" + number(min(v.top+v.height, len(v.rows))) + " of " + number(len(v.rows))
}

// clip returns the beginning of s of which w cells may show: long lines are not
// looked at to their end. It stays longer than what shows, if s is.
func clip(s string, w int) string {
	const most = 8 // bytes for a cell; more only in text that is made to be so
	if len(s) <= most*(w+2) {
		return s
	}
	end := most * (w + 2)
	for end > 0 && !utf8.RuneStart(s[end]) {
		end--
	}
	return s[:end]
}

// needle is a text that is searched for in many others, ignoring case.
type needle struct {
	text string
	// lower is text in lower case. If it is plain, so is what it finds, and first
	// are the two ways to write its first letter.
	lower string
	plain bool
	first string
}

func newNeedle(text string) needle {
	n := needle{text: text, lower: strings.ToLower(text), plain: plain(text)}
	if n.plain && text != "" {
		n.first = n.lower[:1] + strings.ToUpper(n.lower[:1])
	}
	return n
}

// in returns where the needle is in s, or -1. What it found has as many bytes as
// the needle.
func (n *needle) in(s string) int {
	switch {
	case n.text == "":
		return -1
	case n.plain:
		return n.plainIn(s)
	case plain(n.lower):
		return strings.Index(s, n.text) // such as a sign for a unit that is a letter
	}
	if plain(s) {
		return -1
	}
	lower := strings.ToLower(s)
	if len(lower) != len(s) || len(n.lower) != len(n.text) {
		return strings.Index(s, n.text) // its bytes would be elsewhere
	}
	return strings.Index(lower, n.lower)
}

// plainIn is in for a needle that is ASCII: nothing is written anew.
func (n *needle) plainIn(s string) int {
	for at := range max(len(s)-len(n.lower)+1, 0) {
		if c := s[at]; (c == n.first[0] || c == n.first[1]) && equalFold(s[at:at+len(n.lower)], n.lower) {
			return at
		}
	}
	return -1
}

// equalFold says whether s is lower, which is in lower case and ASCII, but for
// its case.
func equalFold(s, lower string) bool {
	for i := range len(lower) {
		c := s[i]
		if c >= 'A' && c <= 'Z' {
			c += 'a' - 'A'
		}
		if c != lower[i] {
			return false
		}
	}
	return true
}

// marked appends text with what was searched for in it marked.
func (l *line) marked(st, hit style, s string, search *needle) *line {
	for {
		at := search.in(s)
		if at < 0 {
			return l.put(st, s)
		}
		l.put(st, s[:at]).put(st+hit, s[at:at+len(search.text)])
		s = s[at+len(search.text):]
	}
}
