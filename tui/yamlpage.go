package tui

import (
	"slices"

	"github.com/informeter/informeter/engine/inspect"
)

// yamlPage shows an object as YAML.
type yamlPage struct {
	version  uint64 // 0: the one in the store
	unfolded bool   // with managed fields
	folded   map[string]bool
	view     textView
	shown    *document
}

// headHeight is how many lines stand above the YAML: the buckets, and what is left
// out.
func (y *yamlPage) headHeight(d *document) int {
	n := 0
	if d != nil && len(d.object.Indices) > 0 {
		n++
	}
	if d != nil && d.managers > 0 {
		n++
	}
	return n
}

// bucketsOf names the buckets of one index that hold the object.
func bucketsOf(t *theme, i inspect.ObjectIndex, drop int) segment {
	parts := []part{{t.muted, inspect.IndexName(i.Index) + " "}}
	if len(i.Values) == 0 {
		parts = append(parts, part{t.faint, "no bucket"})
	}
	for n, v := range i.Values {
		if n > 0 {
			parts = append(parts, part{t.faint, ", "})
		}
		parts = append(parts, bucketName(t, i.Index, v))
	}
	return segment{parts: parts, drop: drop}
}

// show lays out a document anew if it is another, or something else is folded.
func (y *yamlPage) show(d *document) {
	if y.shown != nil && len(y.shown.lines) == len(d.lines) && (len(d.lines) == 0 || &y.shown.lines[0] == &d.lines[0]) {
		y.shown = d
		return
	}
	y.shown = d
	y.fold()
	y.view.searchFor(y.view.search, len(d.lines), y.line)
}

func (y *yamlPage) line(i int) string { return y.shown.lines[i].text }

// fold works out which lines can be seen.
func (y *yamlPage) fold() {
	lines := y.shown.lines
	rows := make([]int, 0, len(lines))
	for i := 0; i < len(lines); {
		rows = append(rows, i)
		if l := &lines[i]; l.path != "" && y.folded[l.path] {
			i = l.end
		} else {
			i++
		}
	}
	y.view.show(rows)
}

func (y *yamlPage) search(text string) {
	if y.shown == nil {
		return
	}
	y.view.searchOn(text, len(y.shown.lines), y.line)
	y.find(0, 1)
}

// find goes to a match, and opens what it is folded into.
func (y *yamlPage) find(skip, step int) {
	if y.shown == nil {
		return
	}
	at := y.view.next(skip, step, len(y.shown.lines), y.line)
	if at < 0 {
		return
	}
	for i := range at {
		if l := &y.shown.lines[i]; l.end > at && y.folded[l.path] {
			delete(y.folded, l.path)
		}
	}
	y.fold()
	y.view.goTo(at)
}

func (y *yamlPage) handle(a Action) {
	switch a {
	case ActionManagedFields:
		y.unfolded = !y.unfolded
	case ActionOpen, ActionFold:
		y.toggle()
	case ActionFoldAll:
		y.toggleAll()
	case ActionNextMatch:
		y.find(1, 1)
	case ActionPreviousMatch:
		y.find(-1, -1)
	default:
		y.view.handle(a)
	}
}

// toggle folds the block that begins at the cursor, or the innermost it is in.
func (y *yamlPage) toggle() {
	at := y.view.line()
	if y.shown == nil || at < 0 {
		return
	}
	for i := at; i >= 0; i-- {
		if l := &y.shown.lines[i]; l.path != "" && l.end > at {
			y.folded[l.path] = !y.folded[l.path]
			y.fold()
			y.view.goTo(i)
			return
		}
	}
}

// toggleAll folds every block at the top, or opens all.
func (y *yamlPage) toggleAll() {
	if y.shown == nil {
		return
	}
	open := slices.ContainsFunc(y.shown.lines, func(l yamlLine) bool { return y.folded[l.path] })
	clear(y.folded)
	for i := 0; i < len(y.shown.lines) && !open; i = y.shown.lines[i].end {
		if l := &y.shown.lines[i]; l.path != "" {
			y.folded[l.path] = true
		}
	}
	y.fold()
}

func (y *yamlPage) lines(t *theme, w int) []string {
	var lines []string
	d := y.shown
	if len(d.object.Indices) > 0 {
		segments := []segment{seg(0, t.muted, "in")}
		for n, i := range d.object.Indices {
			segments = append(segments, bucketsOf(t, i, n+1))
		}
		lines = append(lines, newLine(w).skip(gutter).segments(3, segments...).String())
	}
	if d.managers > 0 {
		lines = append(lines, newLine(w).skip(gutter).put(t.faint, count(d.managers, "entry", "entries")+" of managed fields folded away").String())
	}
	v := &y.view
	for row := v.top; row < min(v.top+v.height, len(v.rows)); row++ {
		lines = append(lines, y.draw(t, v.rows[row], w, row == v.cursor))
	}
	return lines
}

// draw draws one line of YAML: its key apart from its value, and what was
// searched for in it.
func (y *yamlPage) draw(t *theme, at, w int, cursor bool) string {
	v, yl := &y.view, &y.shown.lines[at]
	cells := newLine(w + v.left)
	if cursor {
		cells.base = t.idle
	}
	mark := part{}
	if yl.path != "" {
		mark = part{t.faint, "▾"}
		if y.folded[yl.path] {
			mark = part{t.accent, "▸"}
		}
	}
	cells.left(mark.st, mark.s, gutter)
	text := clip(yl.text, w+v.left)
	if yl.to > yl.from && yl.to < len(text) {
		cells.put("", text[:yl.from]).marked(t.accent, t.match, text[yl.from:yl.to], &v.needle).put(t.faint, ":")
		text = text[yl.to+1:]
	}
	cells.marked("", t.match, text, &v.needle)
	if yl.path != "" && y.folded[yl.path] {
		cells.put(t.muted, "  … "+count(yl.end-1-at, "line", "lines"))
	}
	if v.left == 0 {
		return cells.String()
	}
	return newLine(w).slice(cells.String(), v.left).String()
}
