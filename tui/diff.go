package tui

import (
	"slices"
	"strings"
	"time"

	"github.com/informeter/informeter/engine/inspect"
)

// diffPage shows what differs between two versions of the key. Until the user
// chooses, that is the two newest.
type diffPage struct {
	// versions are the events whose objects are kept, in order.
	versions []inspect.KeyEvent
	known    bool
	// from and to are the chosen versions; 0 for the newest but one, the newest.
	from, to uint64
	noise    bool
	view     textView
	shown    *diffDocument
	err      error
}

// diffHead is how many lines stand above the changes.
const diffHead = 4

// know takes the events of the key.
func (d *diffPage) know(events []inspect.KeyEvent) {
	d.known = true
	d.versions = d.versions[:0]
	for _, e := range events {
		if e.Version != 0 && (len(d.versions) == 0 || d.versions[len(d.versions)-1].Version != e.Version) {
			d.versions = append(d.versions, e)
		}
	}
}

// pair returns the places in versions of the two that are compared; false if
// there are no two.
func (d *diffPage) pair() (from, to int, ok bool) {
	if len(d.versions) < 2 {
		return 0, 0, false
	}
	to = d.placeOf(d.to, len(d.versions)-1)
	from = d.placeOf(d.from, max(to-1, 0))
	return from, to, true
}

// placeOf returns the place of a version; that of the oldest kept if it is not
// kept any more, otherwise for 0.
func (d *diffPage) placeOf(version uint64, otherwise int) int {
	if version == 0 {
		return otherwise
	}
	at, _ := slices.BinarySearchFunc(d.versions, version, func(e inspect.KeyEvent, v uint64) int {
		switch {
		case e.Version < v:
			return -1
		case e.Version > v:
			return 1
		}
		return 0
	})
	return min(at, len(d.versions)-1)
}

func (d *diffPage) query(key string) (inspect.DiffRequest, bool) {
	from, to, ok := d.pair()
	if !ok {
		return inspect.DiffRequest{}, false
	}
	return inspect.DiffRequest{Key: key, From: d.versions[from].Version, To: d.versions[to].Version}, true
}

// choose compares a version with the one before it.
func (d *diffPage) choose(version uint64) {
	d.to, d.from = version, 0
}

// step compares another version: to moves both, or from alone.
func (d *diffPage) step(n int, fromOnly bool) {
	from, to, ok := d.pair()
	if !ok {
		return
	}
	last := len(d.versions) - 1
	if fromOnly {
		from = max(min(from+n, to-1), 0)
		d.from, d.to = d.versions[from].Version, d.versions[to].Version
		return
	}
	to = max(min(to+n, last), 1)
	d.from, d.to = 0, d.versions[to].Version
	if to == last {
		d.to = 0 // the newest, whichever that will be
	}
}

func (d *diffPage) take(q inspect.DiffRequest, a answer[*diffDocument]) {
	d.err = a.err
	if a.ok && (d.shown != a.value) {
		if d.shown == nil || d.shown.query != a.value.query {
			d.view.cursor, d.view.top = 0, 0
		}
		d.shown = a.value
		d.fold()
	}
}

// fold leaves noise out, unless it is asked for.
func (d *diffPage) fold() {
	if d.shown == nil {
		return
	}
	rows := make([]int, 0, len(d.shown.lines))
	for i := range d.shown.lines {
		if !d.shown.lines[i].noise || d.noise {
			rows = append(rows, i)
		}
	}
	d.view.rows = rows
	d.view.settle()
	d.search(d.view.search)
}

func (d *diffPage) row(i int) string { return d.shown.lines[d.view.rows[i]].text }

func (d *diffPage) search(text string) {
	if d.shown != nil {
		d.view.searchFor(text, len(d.view.rows), d.row)
	}
}

func (d *diffPage) find(skip, step int) {
	if d.shown == nil || len(d.view.rows) == 0 || d.view.matches == 0 {
		return
	}
	n := len(d.view.rows)
	for i := range n {
		at := ((d.view.cursor+skip+i*step)%n + n) % n
		if d.view.needle.in(d.row(at)) >= 0 {
			d.view.cursor = at
			d.view.settle()
			return
		}
	}
}

func (d *diffPage) handle(a Action) {
	switch a {
	case ActionLeft:
		d.step(-1, false)
	case ActionRight:
		d.step(1, false)
	case ActionFromOlder:
		d.step(-1, true)
	case ActionFromNewer:
		d.step(1, true)
	case ActionManagedFields, ActionFold:
		d.noise = !d.noise
		d.fold()
	case ActionNextMatch:
		d.find(1, 1)
	case ActionPreviousMatch:
		d.find(-1, -1)
	default:
		d.view.handle(a)
	}
}

func (d *diffPage) status() string {
	if d.view.search != "" {
		return d.view.status()
	}
	if _, to, ok := d.pair(); ok {
		return "version " + number(to+1) + " of " + number(len(d.versions)) + " kept"
	}
	return ""
}

func (d *diffPage) lines(t *theme, at time.Time, b *biographyPage, w, h int) []string {
	from, to, ok := d.pair()
	switch {
	case b.err != nil && !b.read:
		return b.failed(t, w, h)
	case !d.known:
		return nil
	case !ok:
		return message(t, w, h, "only one version is known",
			"Versions are kept from the moment the explorer looks. As soon as the object changes, what changed stands here.")
	}
	lines := []string{
		d.strip(t, from, to, w),
		d.versionLine(t, at, "from", t.deleted, from, w),
		d.versionLine(t, at, "to", t.added, to, w),
		newLine(w).String(),
	}
	h -= len(lines)
	switch {
	case d.err != nil:
		return append(lines, message(t, w, h, "the difference could not be read", d.err.Error())...)
	case d.shown == nil:
		return lines
	case len(d.shown.diff.Changes) == 0:
		return append(lines, message(t, w, h, "no difference", "The two versions are equal.")...)
	case len(d.view.rows) == 0:
		return append(lines, message(t, w, h, "nothing but noise", "Only what changes with every write differs: "+
			count(d.shown.noise, "path", "paths")+", such as the resource version, managed fields and times. They are hidden until asked for.")...)
	}
	v := &d.view
	for row := v.top; row < min(v.top+v.height, len(v.rows)); row++ {
		lines = append(lines, d.draw(t, &d.shown.lines[v.rows[row]], w, row == v.cursor))
	}
	return lines
}

// strip draws the versions that are kept, the oldest first, and which two are
// compared.
func (d *diffPage) strip(t *theme, from, to, w int) string {
	l := newLine(w).skip(gutter).put(t.muted, "versions ")
	// Two cells each; where they have no room those around the pair are shown.
	room := max((l.room()-30)/2, 2)
	first := max(min(from-room/3, len(d.versions)-room), 0)
	last := min(first+room, len(d.versions))
	if first > 0 {
		l.put(t.faint, "… ")
	}
	for i := first; i < last; i++ {
		switch i {
		case from:
			l.put(t.deleted, "○")
		case to:
			l.put(t.added, "●")
		default:
			l.put(t.faint, "·")
		}
		if i >= from && i < to {
			l.put(t.muted, "─")
		} else {
			l.skip(1)
		}
	}
	if last < len(d.versions) {
		l.put(t.faint, "…")
	}
	return l.skip(1).put(t.muted, count(len(d.versions), "is kept", "are kept")).String()
}

func (d *diffPage) versionLine(t *theme, at time.Time, name string, st style, i, w int) string {
	e := &d.versions[i]
	segments := []segment{
		seg(0, "", "rv "+e.ResourceVersion),
		seg(0, t.muted, clock(e.At)+", "+since(at, e.At)+" ago"),
	}
	if i == len(d.versions)-1 {
		segments = append(segments, seg(2, t.ok, "the newest")) // the versions above show that, too
	}
	if e.Writer != "" {
		segments = append(segments, seg(1, "", "by "+e.Writer))
	}
	segments = append(segments, seg(3, t.muted, e.Cause.String()))
	return newLine(w).skip(gutter).left(st, name, 5).segments(3, segments...).String()
}

func (d *diffPage) draw(t *theme, dl *diffLine, w int, cursor bool) string {
	v := &d.view
	cells := newLine(w + v.left)
	if cursor {
		cells.base = t.idle
	}
	st, sign := style(""), " "
	switch dl.sign {
	case ' ':
		cells.skip(gutter).marked(t.accent, t.match, clip(dl.text, w+v.left), &v.needle)
		if dl.noise {
			cells.put(t.faint, "   noise")
		}
		return cells.cutTo(w, v.left)
	case '-':
		st, sign = t.deleted, "-"
	case '+':
		st, sign = t.added, "+"
	case '~':
		st, sign = t.warn, "~"
	default:
		st = t.muted
	}
	cells.skip(gutter).put(st, sign+" ").marked(st, t.match, clip(strings.TrimRight(dl.text, " "), w+v.left), &v.needle)
	return cells.cutTo(w, v.left)
}

// cutTo returns what can be seen of a line that is wider than the screen.
func (l *line) cutTo(w, left int) string {
	if left == 0 {
		return l.String()
	}
	return newLine(w).slice(l.String(), left).String()
}
