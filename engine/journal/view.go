package journal

import (
	"slices"
	"sort"
	"time"

	"github.com/tidwall/btree"

	"github.com/informeter/informeter/engine/inspect"
)

const (
	// maxViews bounds the orders and filters that are kept up to date; each has a
	// bit in entry.views.
	maxViews = 4
	// scanChunk is how many entries a view looks at before it looks at the clock.
	scanChunk = 256
	// maxMoves is how many entries wait to be moved within a view at most before
	// they are.
	maxMoves = 512
	// viewIdle is how long a view is kept for that nobody asks for, whatever it
	// costs.
	viewIdle = 10 * time.Second
)

// view is the entries that match a filter, in an order. It is made by a scan of
// all entries in the order of their keys, in steps; what the scan has come to is
// kept up to date by Observe. The journal's mu guards it.
//
// An entry that has changed is moved when somebody asks, or with many others:
// in order, neighbours find their places near each other, and what changes again
// meanwhile is moved once.
type view struct {
	text   string // the filter as it was written
	filter Filter
	sort   inspect.Sort
	order  order
	bit    uint8

	// rows has the entries that are covered and match, those in moves as they
	// were before.
	rows *btree.BTreeG[item]
	// moves has the entries whose place is to be found anew: those that have the
	// view's bit in dirty.
	moves []move
	// The scan has covered the entries whose keys are before next, all of them if
	// it is complete; covered counts them.
	next     string
	complete bool
	covered  int

	// asked is when somebody asked for the view last, moved how many entries have
	// been moved since.
	asked time.Time
	moved int

	// cursor is the anchor that was asked for last, rank where it was.
	cursor string
	rank   int
}

// move is an entry that has changed. If in, it stands among the rows as was.
type move struct {
	was item
	in  bool
}

func newView(text string, filter Filter, by inspect.Sort, o order, bit uint8) *view {
	v := &view{text: text, filter: filter, sort: by, order: o, bit: bit}
	v.rows = btree.NewBTreeGOptions(v.order.less, btree.Options{NoLocks: true})
	return v
}

// covers says whether the scan has come to a key.
func (v *view) covers(key string) bool { return v.complete || key < v.next }

// viewLocked returns the view for a filter and an order, and remembers that it
// was the last to be asked for. A new one takes the place of the one that was
// not asked for the longest time.
func (j *Journal) viewLocked(text string, filter Filter, by inspect.Sort, o order) *view {
	if o.byKey && filter.All() {
		return j.all
	}
	i := slices.IndexFunc(j.views, func(v *view) bool { return v.text == text && v.sort == by })
	var v *view
	if i >= 0 {
		v = j.views[i]
		j.views = slices.Delete(j.views, i, i+1)
	} else {
		if len(j.views) == maxViews {
			j.dropLocked(j.views[0])
		}
		v = newView(text, filter, by, o, j.freeBitLocked())
	}
	v.asked, v.moved = time.Now(), 0
	j.views = append(j.views, v)
	return v
}

// freeBitLocked returns a bit that no view has.
func (j *Journal) freeBitLocked() uint8 {
	taken := uint8(0)
	for _, v := range j.views {
		taken |= v.bit
	}
	return ^taken & (taken + 1)
}

// dropLocked lets go of a view.
func (j *Journal) dropLocked(v *view) {
	for i := range v.moves {
		v.moves[i].was.entry.dirty &^= v.bit
	}
	i := slices.Index(j.views, v)
	j.views = slices.Delete(j.views, i, i+1)
}

// extendLocked goes on with a view's scan for about the time given, and for at
// least one chunk.
func (j *Journal) extendLocked(v *view, d time.Duration) {
	began := time.Now()
	chunk := make([]item, 0, j.scanChunk)
	for !v.complete {
		chunk = j.scanLocked(v, chunk[:0])
		v.insert(chunk)
		if time.Since(began) >= d {
			return
		}
	}
}

// insert puts items among the rows.
func (v *view) insert(items []item) {
	v.order.sort(items)
	var hint btree.PathHint
	for _, it := range items {
		v.rows.SetHint(it, &hint)
	}
}

// scanLocked covers the next few entries and returns those that match.
func (j *Journal) scanLocked(v *view, matching []item) []item {
	scanned, stopped := 0, false
	j.all.rows.Ascend(item{0, &entry{key: v.next}}, func(it item) bool {
		e := it.entry
		if scanned == j.scanChunk {
			v.next, stopped = e.key, true
			return false
		}
		scanned++
		e.views &^= v.bit
		if !v.filter.KeepObject(e.key, e.object) {
			return true
		}
		e.views |= v.bit
		matching = append(matching, v.order.item(e))
		return true
	})
	v.covered += scanned
	v.complete = !stopped
	return matching
}

// fixed says that no change of an entry moves it, but one of its writer if the
// order is by that.
func (v *view) fixed() bool { return (v.order.byKey || v.order.byWriter) && !v.filter.ByObject() }

// touch remembers that an entry is about to change, and has to be moved. The
// writer may change only while it is not among the rows of an order by that.
func (v *view) touch(e *entry) {
	if e.dirty&v.bit != 0 || !v.covers(e.key) {
		return
	}
	e.dirty |= v.bit
	m := move{was: item{entry: e}}
	if e.views&v.bit != 0 {
		m.was, m.in = v.order.item(e), true
		if v.order.byWriter {
			v.rows.Delete(m.was)
			m.in = false
		}
	}
	v.moves = append(v.moves, m)
}

// settle moves the entries that have changed.
func (v *view) settle() {
	if len(v.moves) == 0 {
		return
	}
	v.moved += len(v.moves)
	leave, enter := make([]item, 0, len(v.moves)), make([]item, 0, len(v.moves))
	for i := range v.moves {
		m := &v.moves[i]
		e := m.was.entry
		e.dirty &^= v.bit
		e.views &^= v.bit
		if e.flags&gone == 0 && v.filter.KeepObject(e.key, e.object) {
			e.views |= v.bit
			is := v.order.item(e)
			if m.in && v.order.compareValues(m.was, is) == 0 {
				continue
			}
			enter = append(enter, is)
		}
		if m.in {
			leave = append(leave, m.was)
		}
	}
	clear(v.moves)
	v.moves = v.moves[:0]
	v.order.sort(leave)
	var hint btree.PathHint
	for _, it := range leave {
		v.rows.DeleteHint(it, &hint)
	}
	v.insert(enter)
}

// touchLocked is called before an entry changes, but for its writer.
func (j *Journal) touchLocked(e *entry) {
	for _, v := range j.views {
		if !v.fixed() {
			v.touch(e)
		}
	}
}

// setWriterLocked says who wrote the entry's object.
func (j *Journal) setWriterLocked(e *entry, writer string) {
	e.flags &^= stale
	e.size = 0
	if e.writer == writer {
		return
	}
	for _, v := range j.views {
		if v.order.byWriter {
			v.touch(e)
		}
	}
	e.writer = writer
}

// upkeepLocked moves what waits for that if it has become much. A view that
// nobody asks for is let go of when keeping it has cost as much as making it
// would.
func (j *Journal) upkeepLocked() {
	for i := len(j.views) - 1; i >= 0; i-- {
		v := j.views[i]
		if len(v.moves) < j.maxMoves {
			continue
		}
		v.settle()
		if v.moved > j.entries.len() && time.Since(v.asked) > viewIdle {
			j.dropLocked(v)
		}
	}
}

// addLocked adds an entry for a key that there is none for.
func (j *Journal) addLocked(key string, hash uint32) *entry {
	e := &entry{key: key}
	j.entries.add(hash, e)
	j.text += int64(len(key))
	j.all.rows.Set(j.all.order.item(e))
	j.all.covered++
	for _, v := range j.views {
		if v.covers(key) {
			v.covered++
			v.touch(e)
		}
	}
	return e
}

// removeLocked forgets a key.
func (j *Journal) removeLocked(e *entry) {
	for _, v := range j.views {
		if v.covers(e.key) {
			v.covered--
			v.touch(e)
		}
	}
	e.flags |= gone
	j.hot.remove(e)
	j.all.rows.Delete(j.all.order.item(e))
	j.all.covered--
	j.entries.remove(e)
	j.text -= int64(len(e.key))
}

func (v *view) at(rank int) item {
	it, _ := v.rows.GetAt(rank)
	return it
}

// search returns the lowest rank for which the function, which is false and then
// true, is true.
func (v *view) search(low, high int, is func(item) bool) int {
	return low + sort.Search(high-low, func(i int) bool { return is(v.at(low + i)) })
}

// equalLocked returns the ranks [low, high) of the rows that are equal to it in
// the order, where it is or would be at rank.
func (v *view) equal(it item, rank int) (low, high int) {
	n := v.rows.Len()
	same := func(r int) bool { return r >= 0 && r < n && v.order.compareValues(v.at(r), it) == 0 }
	low, high = rank, rank
	if same(rank - 1) {
		low = v.search(0, rank, func(o item) bool { return v.order.compareValues(o, it) >= 0 })
	}
	if same(rank) {
		high = v.search(rank, n, func(o item) bool { return v.order.compareValues(o, it) > 0 })
	}
	return low, high
}

// rankOf returns the rank of the first row that is not before it, in the order
// that readers see.
func (v *view) rankOf(it item, desc bool) int {
	n := v.rows.Len()
	rank := v.search(0, n, func(o item) bool { return !v.order.less(o, it) })
	if !desc {
		return rank
	}
	low, high := v.equal(it, rank)
	return n - high + rank - low
}

// window calls the function with the entries of ranks [start, end) in the order
// that readers see. Seen from the end, equal rows still stand in the order of
// their keys:
//
//	in the view   a1 b1 c1 d2 e2 f3
//	descending    f3 d2 e2 a1 b1 c1
func (v *view) window(start, end int, desc bool, each func(*entry)) {
	if !desc {
		for rank := start; rank < end; rank++ {
			each(v.at(rank).entry)
		}
		return
	}
	n := v.rows.Len()
	for rank := start; rank < end; {
		mirrored := n - 1 - rank
		low, high := v.equal(v.at(mirrored), mirrored)
		for i := low + rank - (n - high); i < high && rank < end; i, rank = i+1, rank+1 {
			each(v.at(i).entry)
		}
	}
}
