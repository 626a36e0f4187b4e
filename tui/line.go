package tui

import (
	"strings"
	"unicode/utf8"

	"github.com/charmbracelet/x/ansi"
)

// line builds one line of the screen. It never grows beyond its width, and all
// text goes through clean, whoever wrote it.
type line struct {
	b     strings.Builder
	width int
	used  int
	base  style // of the whole line, under the styles of its parts
	// odd: it has characters that may join with their neighbours into something
	// of another width, so that the sum of its parts can't be trusted.
	odd bool
}

func newLine(w int) *line { return &line{width: w} }

// room is how many cells are left.
func (l *line) room() int { return l.width - l.used }

// put appends text, cut to the room there is.
func (l *line) put(st style, s string) *line { return l.place(st, cut(clean(s), l.room())) }

// place appends text that is clean and fits.
func (l *line) place(st style, s string) *line {
	if s == "" {
		return l
	}
	if l.b.Cap() == 0 {
		l.b.Grow(2*max(l.width, len(s)) + 64) // its styles take about as much again
	}
	if strings.HasPrefix(string(l.base), string(reversed)) {
		st = "" // a colour would become the background of its part
	}
	if st == "" && l.base == "" {
		l.b.WriteString(s)
	} else {
		l.b.WriteString(string(l.base))
		l.b.WriteString(string(st))
		l.b.WriteString(s)
		l.b.WriteString(reset)
	}
	if plain(s) {
		l.used += len(s)
	} else {
		l.used += width(s)
		l.odd = l.odd || joins(s)
	}
	return l
}

const blanks = "                                                                                                                                "

// skip appends n spaces.
func (l *line) skip(n int) *line {
	for n = min(n, l.room()); n > 0; {
		k := min(n, len(blanks))
		l.place("", blanks[:k])
		n -= k
	}
	return l
}

// to appends spaces up to column x.
func (l *line) to(x int) *line { return l.skip(x - l.used) }

// left appends text in a field of w cells, at its left.
func (l *line) left(st style, s string, w int) *line {
	end := min(l.used+w, l.width)
	l.place(st, cut(clean(s), end-l.used))
	return l.to(end)
}

// right appends text in a field of w cells, at its right.
func (l *line) right(st style, s string, w int) *line {
	w = min(w, l.room())
	s = cut(clean(s), w)
	l.skip(w - width(s))
	return l.place(st, s)
}

// key appends a key in a field of w cells, cut inside if it must be.
func (l *line) key(st style, s string, w int) *line {
	end := min(l.used+w, l.width)
	l.place(st, cutKey(clean(s), end-l.used))
	return l.to(end)
}

// found appends a key in a field of w cells as key does, with those byte ranges of
// it that a filter found in the style hit. See inspect.Filter.Highlights.
func (l *line) found(st, hit style, s string, ranges [][2]int, w int) *line {
	if len(ranges) == 0 {
		return l.key(st, s, w)
	}
	end := min(l.used+w, l.width)
	text, hits := cleanRanges(s, ranges)
	head, middle, tail := splitKey(text, end-l.used)
	l.runs(st, hit, head, hits, 0)
	l.place(st, middle)
	l.runs(st, hit, tail, hits, len(text)-len(tail))
	return l.to(end)
}

// runs appends s, which begins at byte at of the text that hits is of.
func (l *line) runs(st, hit style, s string, hits []bool, at int) {
	for from := 0; from < len(s); {
		to := from + 1
		for to < len(s) && hits[at+to] == hits[at+from] {
			to++
		}
		if hits[at+from] {
			l.place(st+hit, s[from:to])
		} else {
			l.place(st, s[from:to])
		}
		from = to
	}
}

// String returns the line, filled up to its width.
func (l *line) String() string {
	s := l.skip(l.room()).b.String()
	if !l.odd {
		return s
	}
	if ansi.StringWidth(s) > l.width {
		s = ansi.Truncate(s, l.width, "")
	}
	missing := strings.Repeat(" ", max(l.width-ansi.StringWidth(s), 0))
	if missing == "" || l.base == "" {
		return s + missing
	}
	return s + string(l.base) + missing + reset
}

// part is text of one style.
type part struct {
	st style
	s  string
}

// segment is a piece of a line that is shown whole or not at all.
type segment struct {
	parts []part
	// drop says when it goes if there is no room: the highest first, 0 never.
	drop int
	// field is the least width, so that what follows stands still.
	field int
	left  bool // belongs to the left half of its line
}

func seg(drop int, st style, s string) segment { return segment{parts: []part{{st, s}}, drop: drop} }

func (s *segment) width() int {
	w := 0
	for _, p := range s.parts {
		w += width(clean(p.s))
	}
	return max(w, s.field)
}

// fit returns the segments that have room in w cells with gap cells in between,
// and the width they take.
func fit(segments []segment, gap, w int) ([]segment, int) {
	kept := make([]segment, 0, len(segments))
	total := 0
	for _, s := range segments {
		if n := s.width(); n > 0 {
			kept = append(kept, s)
			total += n + gap
		}
	}
	for len(kept) > 0 && total-gap > w {
		worst := 0
		for i := range kept {
			if kept[i].drop >= kept[worst].drop {
				worst = i
			}
		}
		if kept[worst].drop == 0 {
			break
		}
		total -= kept[worst].width() + gap
		kept = append(kept[:worst], kept[worst+1:]...)
	}
	return kept, max(total-gap, 0)
}

// segments appends those segments that have room.
func (l *line) segments(gap int, segments ...segment) *line {
	kept, _ := fit(segments, gap, l.room())
	for i, s := range kept {
		if i > 0 {
			l.skip(gap)
		}
		end := l.used + s.width()
		for _, p := range s.parts {
			l.put(p.st, p.s)
		}
		if i < len(kept)-1 {
			l.to(end)
		}
	}
	return l
}

// block returns exactly h of the lines, each exactly w wide: what is missing is
// blank.
func block(lines []string, w, h int) []string {
	if len(lines) > h {
		lines = lines[:max(h, 0)]
	}
	for len(lines) < h {
		lines = append(lines, newLine(w).String())
	}
	return lines
}

// beside joins the lines of panes that stand next to each other.
func beside(panes ...[]string) []string {
	if len(panes) == 1 {
		return panes[0]
	}
	rows := make([]string, len(panes[0]))
	var b strings.Builder
	for y := range rows {
		size := 0
		for _, p := range panes {
			size += len(p[y])
		}
		b.Reset()
		b.Grow(size)
		for _, p := range panes {
			b.WriteString(p[y])
		}
		rows[y] = b.String()
	}
	return rows
}

// slice appends what another line drew from column x on.
func (l *line) slice(drawn string, x int) *line {
	if n, ok := cellsAt(drawn, l.room()); ok && x == 0 {
		l.b.WriteString(drawn[:n])
		l.b.WriteString(reset)
		l.used = l.width
		return l
	}
	l.b.WriteString(ansi.Cut(drawn, x, x+l.room()))
	l.used, l.odd = l.width, true
	return l
}

// cellsAt returns how many bytes of what a line drew its first w cells take;
// false if there are not as many, or characters that have to be measured.
func cellsAt(drawn string, w int) (int, bool) {
	for i := 0; i < len(drawn); {
		if drawn[i] == '\x1b' {
			end := strings.IndexByte(drawn[i:], 'm')
			if end < 0 {
				return 0, false
			}
			i += end + 1
			continue
		}
		r, size := utf8.DecodeRuneInString(drawn[i:])
		if single := r < 0x300 || r >= 0x2500 && r < 0x25fd || r == '…' || r == '–'; !single {
			return 0, false // of another width, or it joins what is before
		}
		if w == 0 {
			return i, true
		}
		i += size
		w--
	}
	return len(drawn), w == 0
}

// prose writes segments as sentences in lines of w cells, n at most, without
// breaking a segment where it fits.
func prose(segments []segment, w, n, indent int) []string {
	const gap = 3
	var lines []string
	l := newLine(w).skip(indent)
	for i := range segments {
		need := segments[i].width()
		if l.used > indent && need > l.room()-gap-1 {
			lines = append(lines, l.String())
			l = newLine(w).skip(indent)
		}
		if l.used > indent {
			l.skip(gap)
		}
		for _, p := range segments[i].parts {
			l.put(p.st, p.s)
		}
	}
	lines = append(lines, l.String())
	return lines[:min(len(lines), max(n, 0))]
}
