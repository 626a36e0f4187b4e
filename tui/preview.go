package tui

import (
	"strings"

	"github.com/charmbracelet/x/ansi"
)

// preview shows the object of the selected row beside the rows, from 160 columns
// on: as YAML, without its managed fields, as it is in the store.
//
// Moving never waits for it. The rows are read first: an object is asked for only
// if a frame has come since its row was selected, so that while somebody moves on
// nothing else is read. Until its own object is there, it is blank.
type preview struct {
	// key is whose object is asked for; empty if nobody's is.
	key   string
	yaml  yamlPage
	err   error // of the last read
	shown *document
	// focus: it has the keys, and so scrolls.
	focus bool
}

// previewWidth is how wide the preview is at width w of the whole; 0 where it has
// no room.
func previewWidth(w int) int {
	const most = 110
	if panes(w) < 3 {
		return 0
	}
	return min(w*2/5, most)
}

// query is what is to be read of the object.
func (p *preview) query() objectQuery { return objectQuery{key: p.key} }

// ask asks for the object of the selected row, if a frame has come since.
func (p *preview) ask(r *request, selected string) {
	if p.key != "" && p.key == selected {
		r.object = want(p.query())
	}
}

// refresh takes the object, and then goes on to the row selected now.
func (p *preview) refresh(f *frame, selected string) {
	if p.key != selected {
		*p = preview{key: selected, focus: p.focus && selected != ""}
	}
	if q := f.request.object; q.on && p.key != "" && q.query == p.query() {
		p.err = f.object.err
		if f.object.ok {
			p.shown = f.object.value
			p.yaml.show(p.shown)
		}
	}
}

// of returns the document if it is that of the selected row.
func (p *preview) of(selected string) *document {
	if p.key != selected {
		return nil
	}
	return p.shown
}

// fresh says whether the frame brought the object shown.
func (p *preview) fresh(f *frame) bool {
	return p.err == nil && f.request.object.on && f.request.object.query == p.query()
}

// handle does what movement actions ask for, as long as it has the keys, and says
// whether a was one.
func (p *preview) handle(a Action) bool {
	if !p.focus {
		return false
	}
	v := &p.yaml.view
	half := max(v.height/2, 1)
	switch a {
	case ActionUp:
		v.scroll(-1)
	case ActionDown:
		v.scroll(1)
	case ActionHalfUp:
		v.scroll(-half)
	case ActionHalfDown:
		v.scroll(half)
	case ActionPageUp:
		v.scroll(-v.height)
	case ActionPageDown:
		v.scroll(v.height)
	case ActionTop:
		v.scroll(-len(v.rows))
	case ActionBottom:
		v.scroll(len(v.rows))
	case ActionLeft:
		if v.left == 0 {
			p.focus = false
		}
		v.handle(a)
	case ActionRight:
		v.handle(a)
	default:
		return false
	}
	return true
}

// turn gives the keys to the preview, or back to the rows, where a asks for that,
// and says whether it did.
func (p *preview) turn(a Action) bool {
	switch {
	case p.key == "":
		return false
	case a == ActionNextPane || a == ActionPreviousPane:
		p.focus = !p.focus
	case a == ActionRight && !p.focus:
		p.focus = true
	default:
		return false
	}
	return true
}

// back gives the keys back to the rows, and says whether it had them.
func (p *preview) back() bool {
	had := p.focus
	p.focus = false
	return had
}

// border is how wide the line is at the left of a pane that stands beside rows.
const border = 2

// bordered draws a line left of what fills h lines of w cells with it.
func bordered(t *theme, lines []string, w, h int) []string {
	lines = block(lines, w-border, h)
	for y := range lines {
		lines[y] = newLine(border).put(t.faint, "│").String() + lines[y]
	}
	return lines
}

// title names the object and says what is to be said of it: two lines.
func (p *preview) title(t *theme, w int, name, selected string) []string {
	st := t.muted
	if p.focus {
		st = t.title
	}
	head := newLine(w).skip(gutter).key(st, name, min(width(clean(name)), w-gutter))
	note := newLine(w).skip(gutter)
	switch d := p.of(selected); {
	case p.key == selected && p.err != nil && gone(p.err) && d != nil:
		note.put(t.warn, "not in the store any more; this is its last version")
	case p.key == selected && p.err != nil && d != nil:
		note.put(t.bad, p.err.Error())
	case d != nil:
		segments := []segment{seg(0, t.muted, "rv "+d.object.ResourceVersion)}
		if d.object.Redacted {
			segments = append(segments, seg(0, t.warn, "contents hidden"))
		}
		if d.managers > 0 {
			segments = append(segments, seg(1, t.faint, count(d.managers, "entry", "entries")+" of managed fields folded away"))
		}
		note.segments(3, segments...)
	}
	return []string{head.String(), note.String()}
}

// body draws as much of the object as fits h lines, and says how much more there
// is.
func (p *preview) body(t *theme, f *frame, w, h int, selected string) []string {
	d := p.of(selected)
	switch {
	case d == nil && p.key == selected && p.err != nil && gone(p.err):
		return message(t, w, h, "not in the store", "It waits in the queue, or it has been deleted: its biography says which.")
	case d == nil && p.key == selected && p.err != nil:
		return message(t, w, h, "it could not be read", p.err.Error())
	case d == nil || h <= 0:
		return nil
	}
	v := &p.yaml.view
	v.height = h
	if len(v.rows) > h {
		v.height = max(h-1, 1) // the last line says that there is more
	}
	v.scroll(0)
	fresh := p.fresh(f)
	lines := make([]string, 0, h)
	for row := v.top; row < min(v.top+v.height, len(v.rows)); row++ {
		line := p.yaml.draw(t, v.rows[row], w, false)
		if !fresh {
			line = newLine(w).put(t.faint, strings.TrimRight(ansi.Strip(line), " ")).String()
		}
		lines = append(lines, line)
	}
	if more := len(v.rows) - v.top - v.height; more > 0 {
		lines = append(lines, newLine(w).skip(gutter).put(t.faint, count(more, "line", "lines")+" more").String())
	}
	return lines
}

// previewing is a screen that may show a preview.
type previewing interface {
	// previewed returns the document of it, which need not be made again; nil if
	// there is none.
	previewed() *document
}

// unchanged returns the document shown now if the row just read has the same
// version: then it need not be read, which for a large object takes long.
func (p *pull) unchanged(f *frame) *document {
	d, q := p.have, f.request.object.query
	if d == nil || d.query != q || q.version != 0 || d.object.ResourceVersion == "" || !f.store.ok {
		return nil
	}
	for i := range f.store.value.Rows {
		if r := &f.store.value.Rows[i]; r.Key == q.key && r.ResourceVersion == d.object.ResourceVersion {
			return d
		}
	}
	return nil
}
