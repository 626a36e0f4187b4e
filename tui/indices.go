package tui

import (
	tea "charm.land/bubbletea/v2"

	"github.com/informeter/informeter/engine/inspect"
)

// The levels of the Indices screen.
const (
	levelIndices = iota
	levelBuckets
	levelObjects
	levelCount
)

// indicesScreen shows the indices, the buckets of one, and the objects of one of
// those: a level each. As many levels stand beside each other as there is room
// for; one has the keys. What is right of it shows what is in its selected row.
type indicesScreen struct {
	pane
	focus   int
	indices list[inspect.IndexVitals]

	buckets     list[inspect.BucketRow]
	bucketsRead bool
	bucketsErr  error
	bySize      bool

	objects objectRows
	texts   [levelCount]string // the filters of buckets and objects

	// What buckets and objects belong to.
	index, value string
	valued       bool // value is set: the empty value is one, too
}

func newIndicesScreen(m *Model) *indicesScreen {
	p := &indicesScreen{pane: pane{m: m}, bySize: true, objects: newObjectRows()}
	p.indices = list[inspect.IndexVitals]{keyOf: func(i inspect.IndexVitals) string { return i.Name }}
	p.buckets = list[inspect.BucketRow]{keyOf: func(b inspect.BucketRow) string { return b.Value }, byRank: true}
	return p
}

func (p *indicesScreen) name() string { return "Indices" }
func (p *indicesScreen) scope() Scope { return ScopeIndices }

func (p *indicesScreen) setSize(w, h int) {
	p.pane.setSize(w, h)
	p.indices.setHeight(h - 3)
	p.buckets.setHeight(h - 3)
	p.objects.setHeight(h - 3)
}

// shown returns the levels that can be seen: those around the one with the keys.
func (p *indicesScreen) shown() (from, to int) {
	n := panes(p.w)
	from = max(min(p.focus-n+2, levelCount-n), 0)
	if n == 1 {
		from = p.focus
	}
	return from, from + n
}

func (p *indicesScreen) ask(r *request) {
	if _, to := p.shown(); to > levelBuckets && p.index != "" {
		w := p.buckets.window()
		sort := inspect.SortKey
		if p.bySize {
			sort = inspect.SortObjects
		}
		r.buckets = want(bucketsQuery{p.index, inspect.BucketQuery{
			Filter: p.texts[levelBuckets], Sort: sort, Desc: p.bySize,
			Cursor: w.cursor, Offset: w.offset, Limit: w.limit,
		}})
		if to > levelObjects && p.valued {
			r.bucket = want(bucketQuery{p.index, p.value, p.objects.query(p.texts[levelObjects])})
		}
	}
}

func (p *indicesScreen) refresh(f *frame) {
	indices := f.snapshot.value.Indices
	p.indices.show(indices, 0, len(indices), len(indices))
	p.follow()
	if q := f.request.buckets; q.on && q.query.index == p.index && q.query.Filter == p.texts[levelBuckets] &&
		(q.query.Sort == inspect.SortObjects) == p.bySize {
		p.bucketsErr = f.buckets.err
		if f.buckets.ok {
			b := &f.buckets.value
			p.bucketsRead = true
			p.buckets.show(b.Rows, b.Start, b.Matched, b.Index.Buckets)
		}
		p.follow()
	}
	if q := f.request.bucket; q.on && q.query.index == p.index && p.valued && q.query.value == p.value &&
		q.query.Filter == p.texts[levelObjects] {
		p.objects.take(f.bucket)
	}
}

// follow lets each level show what is selected in the one to its left. A level
// that has the keys, or is right of the one that has, stays with what it shows:
// a bucket that moves in the order, or goes, does not change under the user.
func (p *indicesScreen) follow() {
	if i, ok := p.indices.selected(); ok && p.focus <= levelIndices && i.Name != p.index {
		p.setIndex(i.Name)
	} else if ok && p.index == "" {
		p.setIndex(i.Name)
	}
	if b, ok := p.buckets.selected(); ok && p.focus <= levelBuckets && (!p.valued || b.Value != p.value) {
		p.setValue(b.Value)
	}
}

func (p *indicesScreen) setIndex(name string) {
	p.index, p.valued, p.bucketsRead, p.bucketsErr = name, false, false, nil
	p.texts = [levelCount]string{}
	p.buckets.reset()
	p.objects = objectRows{list: p.objects.list}
	p.objects.reset()
}

func (p *indicesScreen) setValue(value string) {
	p.value, p.valued = value, true
	p.texts[levelObjects] = ""
	p.objects.reset()
	p.objects.read, p.objects.err = false, nil
}

func (p *indicesScreen) filter() string { return p.texts[p.focus] }

func (p *indicesScreen) setFilter(text string) {
	switch {
	case text == p.texts[p.focus]:
	case p.focus == levelBuckets:
		p.texts[levelBuckets] = text
		p.buckets.home()
	case p.focus == levelObjects:
		p.texts[levelObjects] = text
		p.objects.home()
	}
}

func (p *indicesScreen) back() bool {
	switch {
	case p.texts[p.focus] != "":
		p.setFilter("")
	case p.focus > levelIndices:
		p.focus--
	default:
		return false
	}
	return true
}

func (p *indicesScreen) handle(a Action) tea.Cmd {
	switch a {
	case ActionOpen:
		p.open()
	case ActionRight, ActionNextPane:
		if p.focus < levelObjects {
			p.open()
		}
	case ActionLeft, ActionPreviousPane:
		p.focus = max(p.focus-1, levelIndices)
	case ActionSort:
		p.bySize = !p.bySize
		p.buckets.byRank = p.bySize
		p.buckets.home()
	default:
		p.move(a)
	}
	p.follow()
	return nil
}

func (p *indicesScreen) move(a Action) {
	switch p.focus {
	case levelIndices:
		p.indices.handle(a)
	case levelBuckets:
		p.buckets.handle(a)
	default:
		p.objects.handle(a)
	}
}

// open goes one level down, and at the last one opens the object.
func (p *indicesScreen) open() {
	switch p.focus {
	case levelIndices:
		if p.index != "" {
			p.focus++
		}
	case levelBuckets:
		if p.valued {
			p.focus++
		}
	default:
		if row, ok := p.objects.selected(); ok {
			p.m.openObject(row.Key)
		}
	}
}

func (p *indicesScreen) wheel(n int) {
	switch p.focus {
	case levelIndices:
		p.indices.scroll(n)
	case levelBuckets:
		p.buckets.scroll(n)
	default:
		p.objects.scroll(n)
	}
	p.follow()
}

func (p *indicesScreen) click(x, y int) tea.Cmd {
	from, to := p.shown()
	for level := from; level < to; level++ {
		left, w := p.rectOf(level)
		if x < left || x >= left+w {
			continue
		}
		was := p.focus
		p.focus = level
		again := false
		switch level {
		case levelIndices:
			_, again = p.indices.click(y - 3)
		case levelBuckets:
			_, again = p.buckets.click(y - 3)
		default:
			_, again = p.objects.click(y - 3)
		}
		if again && was == level {
			p.open()
		}
		p.follow()
	}
	return nil
}

func (p *indicesScreen) hints() []hint {
	open := []string{"buckets", "objects", "object"}[p.focus]
	h := []hint{{ActionOpen, open}}
	if p.focus > levelIndices {
		h = append(h, hint{ActionBack, "back"}, hint{ActionFilter, "filter"})
	}
	order := "sort by size"
	if p.bySize {
		order = "sort by value"
	}
	return append(h, hint{ActionSort, order})
}

func (p *indicesScreen) status() string {
	switch p.focus {
	case levelBuckets:
		return place(p.buckets.cursor, p.buckets.matched, p.buckets.total, p.texts[levelBuckets])
	case levelObjects:
		return place(p.objects.cursor, p.objects.matched, p.objects.total, p.texts[levelObjects])
	}
	return place(p.indices.cursor, p.indices.matched, p.indices.total, "")
}

// rectOf returns where a level that can be seen stands.
func (p *indicesScreen) rectOf(level int) (x, w int) {
	from, to := p.shown()
	switch to - from {
	case 1:
		return 0, p.w
	case 2:
		w = p.w / 2
		return (level - from) * w, w + (level-from)*(p.w-2*w)
	}
	first, second := p.w*3/12, p.w*4/12
	switch level {
	case levelIndices:
		return 0, first
	case levelBuckets:
		return first, second
	}
	return first + second, p.w - first - second
}

func (p *indicesScreen) lines() []string {
	t, s := p.m.theme, p.m.snapshot()
	if len(s.Indices) == 0 {
		return message(t, p.w, p.h, "no indices", "This informer was made without index functions: objects can be found by key only.")
	}
	from, to := p.shown()
	var columns [][]string
	for level := from; level < to; level++ {
		_, w := p.rectOf(level)
		var lines []string
		switch level {
		case levelIndices:
			lines = p.indexPane(t, w)
		case levelBuckets:
			lines = p.bucketPane(t, w)
		default:
			lines = p.objectPane(t, w)
		}
		columns = append(columns, block(lines, w, p.h))
	}
	return beside(columns...)
}

// paneTitle is the first line of a level: bright where the keys are.
func (p *indicesScreen) paneTitle(t *theme, w, level int, parts ...part) string {
	l := newLine(w).skip(gutter)
	for i, c := range parts {
		if i == 0 {
			c.st = t.muted
			if level == p.focus {
				c.st = t.title
			}
		}
		l.put(c.st, c.s)
	}
	return l.String()
}

func (p *indicesScreen) indexPane(t *theme, w int) []string {
	g := newGrid(w,
		flexible("INDEX", 14, 40),
		fixed("BUCKETS", 8, 0),
		fixed("ENTRIES", 9, 0),
		fixedLeft("LARGEST", 30, 2),
		fixed("EMPTY", 7, 3),
		fixed("NO VALUE", 8, 3),
		fixed("ERRORS", 6, 1),
	)
	lines := []string{p.paneTitle(t, w, levelIndices, part{"", "Indices"}), newLine(w).skip(gutter).put(t.muted, count(p.indices.total, "index", "indices")).String(), g.header(t)}
	return append(lines, p.indices.draw(w, func(i inspect.IndexVitals, selected bool) string {
		largest := []part{{t.faint, dash}}
		if i.LargestObjects > 0 {
			name := bucketName(t, i.Largest)
			name.s = cutKey(clean(name.s), 15)
			largest = []part{name, {t.muted, " " + number(i.LargestObjects) + " (" + percent(i.LargestObjects, i.Entries) + ")"}}
		}
		return g.row(t, chosen(selected, p.focus == levelIndices), part{},
			cell{s: i.Name}, cell{s: number(i.Buckets)}, cell{s: number(i.Entries)}, cell{parts: largest},
			warned(t, i.Empty), cell{st: t.muted, s: number(i.Unindexed)}, warned(t, int(i.Errors)))
	})...)
}

// warned writes a count that should be zero.
func warned(t *theme, n int) cell {
	if n > 0 {
		return cell{st: t.warn, s: number(n)}
	}
	return cell{st: t.faint, s: "0"}
}

// vitals returns the index that the buckets belong to.
func (p *indicesScreen) vitals() *inspect.IndexVitals {
	for i := range p.m.snapshot().Indices {
		if v := &p.m.snapshot().Indices[i]; v.Name == p.index {
			return v
		}
	}
	return &inspect.IndexVitals{Name: p.index}
}

func (p *indicesScreen) bucketPane(t *theme, w int) []string {
	v := p.vitals()
	facts := []segment{seg(0, "", count(v.Buckets, "bucket", "buckets")), seg(1, "", count(v.Entries, "entry", "entries"))}
	if v.Empty > 0 {
		facts = append(facts, seg(1, t.warn, number(v.Empty)+" under the empty value"))
	}
	if v.Unindexed > 0 {
		facts = append(facts, seg(2, t.muted, number(v.Unindexed)+" without value"))
	}
	if v.Errors > 0 {
		facts = append(facts, seg(0, t.warn, "⚠ "+number(v.Errors)+" errors: "+v.LastError))
	}
	lines := []string{
		p.paneTitle(t, w, levelBuckets, part{"", p.index}, part{t.muted, filterNote(p.texts[levelBuckets])}),
		newLine(w).skip(gutter).segments(3, facts...).String(),
	}
	switch {
	case p.bucketsErr != nil:
		return append(lines, message(t, w, p.h-2, "the index did not answer", p.bucketsErr.Error())...)
	case !p.bucketsRead:
		return lines
	case p.buckets.matched == 0:
		return append(lines, message(t, w, p.h-2, "no buckets", "No object has a value in this index, or none matches.")...)
	}
	most := max(v.LargestObjects, 1)
	g := newGrid(w,
		flexible("VALUE", 14, max(50, w/2)),
		fixed("OBJECTS", 9, 0),
		fixed("SHARE", 5, 1),
		fixedLeft("", min(max(w/5, 10), 30), 2),
	)
	lines = append(lines, g.header(t))
	return append(lines, p.buckets.draw(w, func(b inspect.BucketRow, selected bool) string {
		name := bucketName(t, b.Value)
		return g.row(t, chosen(selected, p.focus == levelBuckets), part{},
			cell{st: name.st, s: name.s}, cell{s: number(b.Objects)}, cell{st: t.muted, s: percent(b.Objects, v.Entries)},
			cell{st: t.faint, s: bar(float64(b.Objects), float64(most), g.widths[3])})
	})...)
}

func filterNote(text string) string {
	if text == "" {
		return ""
	}
	return "   /" + text
}

func (p *indicesScreen) objectPane(t *theme, w int) []string {
	if !p.valued {
		return nil
	}
	name := bucketName(t, p.value)
	lines := []string{
		p.paneTitle(t, w, levelObjects, name, part{t.muted, filterNote(p.texts[levelObjects])}),
		newLine(w).skip(gutter).put(t.muted, "in "+p.index+", "+count(p.objects.total, "object", "objects")).String(),
	}
	switch {
	case p.objects.err != nil:
		return append(lines, message(t, w, p.h-2, "the bucket did not answer", p.objects.err.Error())...)
	case !p.objects.read:
		return lines
	case p.objects.matched == 0:
		return append(lines, message(t, w, p.h-2, "no objects", "The bucket is empty by now, or none matches.")...)
	}
	return append(lines, p.objects.table(t, p.m.frame.at, w, p.focus == levelObjects)...)
}
