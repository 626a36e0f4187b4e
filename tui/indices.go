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
	indices tableRows[inspect.IndexVitals]

	buckets     list[inspect.BucketRow]
	bucketTable *table
	bucketsRead bool
	bucketsErr  error
	// sizes is how the index's buckets differ in size, see inspect.BucketPage.
	sizes []int
	// checks holds what came of computing indices anew, by name.
	checks map[string]*indexCheck

	objects objectRows
	texts   [levelCount]string // the filters of buckets and objects

	// What buckets and objects belong to.
	index, value string
	valued       bool // value is set: the empty value is one, too
}

func newIndicesScreen(m *Model) *indicesScreen {
	p := &indicesScreen{
		pane: pane{m: m},
		indices: tableRows[inspect.IndexVitals]{
			list:     list[inspect.IndexVitals]{keyOf: func(i inspect.IndexVitals) string { return i.Name }},
			table:    m.table("indices", order{by: byName}),
			searched: func(i *inspect.IndexVitals) string { return inspect.IndexName(i.Name) },
			compare:  compareIndices,
		},
		bucketTable: m.table("buckets", order{string(inspect.SortObjects), downwards}),
		objects:     newObjectRows(m.table("bucket", order{by: string(inspect.SortKey)})),
		checks:      map[string]*indexCheck{},
	}
	p.buckets = list[inspect.BucketRow]{keyOf: func(b inspect.BucketRow) string { return b.Value }, byRank: true}
	return p
}

func (p *indicesScreen) name() string { return "Indices" }
func (p *indicesScreen) scope() Scope { return ScopeIndices }

func (p *indicesScreen) setSize(w, h int) {
	p.pane.setSize(w, h)
	p.buckets.setHeight(h - p.paneHead())
	p.objects.setHeight(h - p.paneHead())
}

// bySize says whether the buckets are sorted by how many objects they have.
func (p *indicesScreen) bySize() bool { return p.bucketTable.order.by == string(inspect.SortObjects) }

func (p *indicesScreen) ask(r *request) {
	// The buckets are read even where they can't be seen: how they differ in size
	// is shown with the index.
	if _, to := p.shown(); p.index != "" {
		p.buckets.byRank = p.bySize()
		w := p.buckets.window()
		r.buckets = want(bucketsQuery{p.index, inspect.BucketQuery{
			Filter: p.texts[levelBuckets], Sort: inspect.Sort(p.bucketTable.order.by), Desc: bool(p.bucketTable.order.desc),
			Cursor: w.cursor, Offset: w.offset, Limit: w.limit,
		}})
		if to > levelObjects && p.valued {
			r.bucket = want(bucketQuery{p.index, p.value, p.objects.query(p.texts[levelObjects])})
		}
	}
}

func (p *indicesScreen) refresh(f *frame) {
	p.indices.set(f.snapshot.value.Indices)
	p.follow()
	if q := f.request.buckets; q.on && q.query.index == p.index && q.query.Filter == p.texts[levelBuckets] &&
		string(q.query.Sort) == p.bucketTable.order.by && q.query.Desc == bool(p.bucketTable.order.desc) {
		p.bucketsErr = f.buckets.err
		if f.buckets.ok {
			b := &f.buckets.value
			p.bucketsRead = true
			if b.Sizes != nil && q.query.Filter == "" {
				p.sizes = b.Sizes
			}
			p.buckets.show(b.Rows, b.Start, b.Matched, b.Index.Buckets)
		}
		p.follow()
	}
	if q := f.request.bucket; q.on && q.query.index == p.index && p.valued && q.query.value == p.value &&
		p.objects.answers(&q.query.Query, p.texts[levelObjects]) {
		p.objects.take(p.m, f.bucket)
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
	p.index, p.valued, p.bucketsRead, p.bucketsErr, p.sizes = name, false, false, nil, nil
	p.texts[levelBuckets], p.texts[levelObjects] = "", ""
	p.buckets.reset()
	p.clearObjects()
}

func (p *indicesScreen) clearObjects() {
	p.objects.reset()
	p.objects.forget()
	p.objects.read, p.objects.err = false, nil
}

// goTo shows the objects of one bucket.
func (p *indicesScreen) goTo(index, value string) {
	p.focus = levelObjects
	if rank, ok := p.indices.rankOf(index); ok {
		p.indices.moveTo(rank)
	}
	if index != p.index {
		p.setIndex(index)
	}
	p.setValue(value)
}

// choose selects an index.
func (p *indicesScreen) choose(index string) {
	p.focus = levelIndices
	if rank, ok := p.indices.rankOf(index); ok {
		p.indices.moveTo(rank)
		p.follow()
	}
}

// await selects an index that is about to come.
func (p *indicesScreen) await(index string) {
	p.focus = levelIndices
	p.indices.setFilter("")
	p.indices.seek(index)
}

func (p *indicesScreen) setValue(value string) {
	p.value, p.valued = value, true
	p.texts[levelObjects] = ""
	p.clearObjects()
}

// filterOf is the filter of a level.
func (p *indicesScreen) filterOf(level int) string {
	if level == levelIndices {
		return p.indices.text
	}
	return p.texts[level]
}

func (p *indicesScreen) filter() string { return p.filterOf(p.focus) }

func (p *indicesScreen) setFilter(text string) {
	switch {
	case text == p.filter():
	case p.focus == levelIndices:
		p.indices.setFilter(text)
		p.follow()
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
	case p.filter() != "":
		p.setFilter("")
	case p.focus > levelIndices:
		p.focus--
	default:
		return false
	}
	return true
}

func (p *indicesScreen) handle(a Action) tea.Cmd {
	if page, ok := pageFor(a); ok && a != ActionOpen {
		if row, ok := p.objects.selected(); ok && p.focus == levelObjects {
			p.m.openPage(row.Key, page)
		}
		return nil
	}
	switch a {
	case ActionOpen:
		p.open()
	case ActionVerify:
		return p.verify(p.index)
	case ActionRight, ActionNextPane:
		if p.focus < levelObjects {
			p.open()
		}
	case ActionLeft, ActionPreviousPane:
		p.focus = max(p.focus-1, levelIndices)
	default:
		p.move(a)
	}
	p.follow()
	return nil
}

func (p *indicesScreen) move(a Action) {
	switch p.focus {
	case levelIndices:
		p.indices.handle(a, indexColumns())
	case levelBuckets:
		if p.bucketTable.handle(a, bucketColumns(p.w)) {
			p.buckets.home()
		} else {
			p.buckets.handle(a)
		}
	default:
		_, w := p.rectOf(levelObjects)
		p.objects.handle(a, w)
	}
}

func (p *indicesScreen) tableShown() (*table, []column) {
	_, w := p.rectOf(p.focus)
	switch p.focus {
	case levelIndices:
		return p.indices.table, indexColumns()
	case levelBuckets:
		return p.bucketTable, bucketColumns(w)
	}
	return p.objects.table, p.objects.columns(w)
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

func (p *indicesScreen) hints() []hint {
	open := [levelCount]string{"buckets", "objects", "object"}[p.focus]
	h := []hint{{ActionOpen, open}}
	if p.focus > levelIndices {
		h = append(h, hint{ActionBack, "back"})
	}
	h = append(h, hint{ActionFilter, "filter"})
	return append(h, hint{ActionVerify, "compute anew"}, hint{ActionSort, "sort"}, hint{ActionReverse, "reverse"}, hint{ActionColumns, "columns"})
}

func (p *indicesScreen) status() string {
	switch p.focus {
	case levelBuckets:
		return place(p.buckets.cursor, p.buckets.matched, p.buckets.total, p.texts[levelBuckets])
	case levelObjects:
		return p.objects.status(p.texts[levelObjects])
	}
	return p.indices.status()
}
