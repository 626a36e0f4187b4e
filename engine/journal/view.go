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
)

// view is the entries that match a filter, in an order. It is made by a scan of
// all entries in the order of their keys, in steps; what the scan has come to is
// kept up to date by Observe. The journal's mu guards it.
type view struct {
	text   string // the filter as it was written
	filter Filter
	sort   inspect.Sort
	order  order
	bit    uint8

	// rows has the entries that are covered and match.
	rows *btree.BTreeG[item]
	// The scan has covered the entries whose keys are before next, all of them if
	// it is complete; covered counts them.
	next     string
	complete bool
	covered  int

	// cursor is the anchor that was asked for last, rank where it was.
	cursor string
	rank   int
}

func newView(text string, filter Filter, by inspect.Sort, o order, bit uint8) *view {
	v := &view{text: text, filter: filter, sort: by, order: o, bit: bit}
	v.rows = btree.NewBTreeGOptions(v.order.less, btree.Options{NoLocks: true})
	return v
}

// covers says whether the scan has come to a key.
func (v *view) covers(key string) bool { return v.complete || key < v.next }

// prepare sees to it that what the order is by is known of an entry.
func (v *view) prepare(e *entry) {
	if v.order.bySize && e.size == 0 {
		e.size = wireSize(e.object)
	}
}

// viewLocked returns the view for a filter and an order, and remembers that it
// was the last to be asked for. A new one takes the place of the one that was
// not asked for the longest time.
func (j *Journal) viewLocked(text string, filter Filter, by inspect.Sort, o order) *view {
	if o.byKey && filter.All() {
		return j.all
	}
	i := slices.IndexFunc(j.views, func(v *view) bool { return v.text == text && v.sort == by })
	if i >= 0 {
		v := j.views[i]
		j.views = append(slices.Delete(j.views, i, i+1), v)
		return v
	}
	bit := uint8(1) << len(j.views)
	if len(j.views) == maxViews {
		bit = j.views[0].bit
		j.views = slices.Delete(j.views, 0, 1)
	}
	v := newView(text, filter, by, o, bit)
	j.views = append(j.views, v)
	return v
}

// extendLocked goes on with a view's scan for about the time given, and for at
// least one chunk.
func (j *Journal) extendLocked(v *view, d time.Duration) {
	began := time.Now()
	chunk := make([]item, 0, j.scanChunk)
	for !v.complete {
		chunk = j.scanLocked(v, chunk[:0])
		// In order, neighbours find their places near each other.
		slices.SortFunc(chunk, func(a, b item) int {
			if v.order.less(a, b) {
				return -1
			}
			return 1
		})
		var hint btree.PathHint
		for _, it := range chunk {
			v.rows.SetHint(it, &hint)
		}
		if time.Since(began) >= d {
			return
		}
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
		v.prepare(e)
		matching = append(matching, v.order.item(e))
		return true
	})
	v.covered += scanned
	v.complete = !stopped
	return matching
}

// setLocked makes next what is known of its key; e is the entry there was, nil for
// a new key. It returns the entry there is now, and keeps nothing of next.
func (j *Journal) setLocked(e, next *entry) *entry {
	var moved uint8 // the bits of the views that e has to be put into
	for _, v := range j.views {
		if !v.covers(next.key) {
			continue
		}
		was, is := e != nil && e.views&v.bit != 0, next.views&v.bit != 0
		if e == nil || v.filter.ByObject() {
			is = v.filter.KeepObject(next.key, next.object)
			next.views &^= v.bit
		}
		if is {
			next.views |= v.bit
			v.prepare(next)
		}
		if was && is && v.order.compareValues(v.order.item(e), v.order.item(next)) == 0 {
			continue
		}
		if was {
			v.rows.Delete(v.order.item(e))
		}
		if is {
			moved |= v.bit
		}
		if e == nil {
			v.covered++
		}
	}
	known := e != nil
	if !known {
		e = new(entry)
	}
	*e = *next
	if !known {
		j.entries[e.key] = e
		j.text += int64(len(e.key))
		j.all.rows.Set(j.all.order.item(e))
		j.all.covered++
	}
	for _, v := range j.views {
		if moved&v.bit != 0 {
			v.rows.Set(v.order.item(e))
		}
	}
	return e
}

// removeLocked forgets a key.
func (j *Journal) removeLocked(e *entry) {
	for _, v := range j.views {
		if v.covers(e.key) {
			v.covered--
			if e.views&v.bit != 0 {
				v.rows.Delete(v.order.item(e))
			}
		}
	}
	j.all.rows.Delete(j.all.order.item(e))
	j.all.covered--
	delete(j.entries, e.key)
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
