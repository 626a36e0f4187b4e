package store

import (
	"fmt"
	"math"
	"math/bits"
	"slices"

	"github.com/informeter/informeter/engine/inspect"
)

// Vitals returns what the store holds; Behind and Rate are for those to fill in
// who know the reflector and the time.
func (x *Indexer) Vitals() inspect.StoreVitals {
	x.mu.RLock()
	defer x.mu.RUnlock()
	return inspect.StoreVitals{
		Objects:         x.objects.n,
		ResourceVersion: x.rv,
		Added:           x.added,
		Updated:         x.updated,
		Unchanged:       x.unchanged,
		Deleted:         x.deleted,
	}
}

// IndexVitals returns the vitals of every index, by name. It takes the same time
// however many buckets there are: the counts are kept, and the largest bucket is
// the top of a heap.
func (x *Indexer) IndexVitals() []inspect.IndexVitals {
	x.mu.RLock()
	defer x.mu.RUnlock()
	vitals := make([]inspect.IndexVitals, len(x.indices))
	for i, ix := range x.indices {
		vitals[i] = ix.vitals()
	}
	return vitals
}

func (ix *index) vitals() inspect.IndexVitals {
	v := inspect.IndexVitals{
		Name:      ix.name,
		Buckets:   len(ix.heap),
		Entries:   ix.entries,
		Unindexed: ix.unindexed,
		Empty:     len(ix.members("")),
		Errors:    uint64(ix.failing),
		LastError: ix.lastError,
		Time:      ix.cost.summary(),
		Expr:      ix.expr,

		LastErrorKey: ix.lastErrorKey,
	}
	if len(ix.heap) > 0 {
		v.Largest, v.LargestObjects = *ix.values.at(ix.heap[0]), ix.size(0)
	}
	return v
}

// IndexValues returns the values under which every index holds the object of
// that key, nil if there is no such object.
func (x *Indexer) IndexValues(key string) []inspect.ObjectIndex {
	x.mu.RLock()
	defer x.mu.RUnlock()
	pos, ok := x.positions.get(&x.keys, key)
	if !ok {
		return nil
	}
	filed := make([]inspect.ObjectIndex, len(x.indices))
	for i, ix := range x.indices {
		filed[i] = inspect.ObjectIndex{Index: ix.name, Values: ix.valuesOf(pos)}
	}
	return filed
}

// valuesOf returns the values under which the object at pos is filed.
func (ix *index) valuesOf(pos uint32) []string {
	home := *ix.homes.at(pos)
	switch home.bucket {
	case nowhere, refused:
		return []string{}
	case several:
		list := *ix.lists.at(home.place)
		values := make([]string, len(list))
		for i, m := range list {
			values[i] = *ix.values.at(m.bucket)
		}
		return values
	default:
		return []string{*ix.values.at(home.bucket)}
	}
}

// look calls read with the view that find returns, brought up to date, with mu
// held for reading. make lists the items of a view that does not exist yet and
// puts it where find and the writers find it. Both return nil if there is nothing
// to look at, and so does read's argument then.
func (x *Indexer) look(filter string, find, make func() *view, read func(v *view)) {
	x.viewing.Lock()
	defer x.viewing.Unlock()
	x.mu.RLock()
	defer x.mu.RUnlock()
	v := find()
	if v == nil {
		v = make()
	}
	if v != nil && !v.ready(filter) {
		// Sorting and filtering may take long; writers need not wait for it.
		x.mu.RUnlock()
		v.prepare(filter)
		x.mu.RLock()
		if v.stale {
			// So much has changed meanwhile that the log is full. This time they
			// have to wait.
			if v = make(); v != nil {
				v.prepare(filter)
			}
		}
	}
	if v != nil {
		v.merge()
	}
	read(v)
}

// rankOf returns the place of the first item, in the order in which a query sees
// them, that is not before the cursor.
func rankOf(items []item, cursor string, desc bool) int {
	if cursor == "" {
		return 0
	}
	at, found := slices.BinarySearchFunc(items, item{text: cursor}, compareItems)
	if !desc {
		return at
	}
	if found {
		at++
	}
	return len(items) - at
}

// eachInWindow calls the function with the items from rank start to rank end.
func eachInWindow(items []item, start, end int, desc bool, each func(item)) {
	for rank := start; rank < end; rank++ {
		if desc {
			each(items[len(items)-1-rank])
		} else {
			each(items[rank])
		}
	}
}

// Buckets returns a window of the index's buckets; inspect.ErrNotFound if there
// is no such index. Windows of what is sorted by value cost the changes since
// somebody last looked; what is sorted by size costs a pass over the values.
func (x *Indexer) Buckets(indexName string, q inspect.BucketQuery) (inspect.BucketPage, error) {
	bySize := q.Sort == inspect.SortObjects
	if !bySize && q.Sort != inspect.SortKey && q.Sort != "" {
		return inspect.BucketPage{}, fmt.Errorf("sort buckets by %s: %w", q.Sort, inspect.ErrUnsupported)
	}
	var ix *index // set by find, which is called first
	page, err := inspect.BucketPage{}, error(nil)
	x.look(q.Filter, func() *view {
		if ix = x.indexLocked(indexName); ix == nil {
			return nil
		}
		return ix.looked
	}, func() *view {
		if ix == nil {
			return nil
		}
		ix.looked = x.newView(ix.listValues())
		if inspect.IndexName(ix.name) != ix.name {
			ix.looked.called = func(value string) string { return inspect.BucketName(ix.name, value) }
		}
		return ix.looked
	}, func(v *view) {
		switch {
		case v == nil:
			err = fmt.Errorf("index %s: %w", indexName, inspect.ErrNotFound)
		case bySize:
			page = ix.pageBySize(v.shown(), q)
		default:
			page = ix.pageByValue(v.shown(), q)
		}
	})
	return page, err
}

// listValues returns the buckets in use as items of a view.
func (ix *index) listValues() []item {
	items := make([]item, len(ix.heap))
	for i, n := range ix.heap {
		items[i] = item{*ix.values.at(n), n}
	}
	return items
}

func (ix *index) row(n uint32) inspect.BucketRow {
	return inspect.BucketRow{Value: *ix.values.at(n), Objects: len(ix.buckets.at(n).members)}
}

func (ix *index) pageByValue(shown []item, q inspect.BucketQuery) inspect.BucketPage {
	start, end := inspect.Window(rankOf(shown, q.Cursor, q.Desc), q.Offset, q.Limit, len(shown))
	page := inspect.BucketPage{Index: ix.vitals(), Matched: len(shown), Start: start, Rows: make([]inspect.BucketRow, 0, end-start)}
	eachInWindow(shown, start, end, q.Desc, func(it item) {
		page.Rows = append(page.Rows, ix.row(it.number))
	})
	return page
}

// pageBySize puts buckets of the same size in the order of their values. Only the
// window is sorted.
func (ix *index) pageBySize(shown []item, q inspect.BucketQuery) inspect.BucketPage {
	start, end := inspect.Window(0, q.Offset, q.Limit, len(shown))
	page := inspect.BucketPage{Index: ix.vitals(), Matched: len(shown), Start: start, Rows: make([]inspect.BucketRow, 0, end-start)}
	// The size above the rank by value in one number.
	order := make([]uint64, len(shown))
	for i, it := range shown {
		size := uint64(len(ix.buckets.at(it.number).members))
		page.Sizes = countSize(page.Sizes, size)
		if q.Desc {
			size = math.MaxUint32 - size
		}
		order[i] = size<<32 | uint64(i)
	}
	for _, o := range smallestBetween(order, start, end) {
		page.Rows = append(page.Rows, ix.row(shown[uint32(o)].number))
	}
	return page
}

// countSize counts a bucket of n objects; see
// inspect.BucketPage.Sizes.
func countSize(sizes []int, n uint64) []int {
	at := max(bits.Len64(n)-1, 0)
	for len(sizes) <= at {
		sizes = append(sizes, 0)
	}
	sizes[at]++
	return sizes
}

// BucketKeys returns a window of the keys in one bucket, its rank, how many
// matched and how many there are; inspect.ErrNotFound if there is no such index.
// A bucket that does not exist is empty.
func (x *Indexer) BucketKeys(indexName, value string, q inspect.Query) (keys []string, start, matched, total int, err error) {
	if q.Sort != inspect.SortKey && q.Sort != "" {
		return nil, 0, 0, 0, fmt.Errorf("sort keys by %s: %w", q.Sort, inspect.ErrUnsupported)
	}
	var ix *index // set by find, which is called first
	x.look(q.Filter, func() *view {
		if ix = x.indexLocked(indexName); ix == nil {
			return nil
		}
		return ix.findOpened(value)
	}, func() *view {
		if ix == nil {
			return nil
		}
		return x.openLocked(ix, value)
	}, func(v *view) {
		switch {
		case ix == nil:
			err = fmt.Errorf("index %s: %w", indexName, inspect.ErrNotFound)
		case v != nil:
			shown := v.shown()
			var end int
			start, end = inspect.Window(rankOf(shown, q.Cursor, q.Desc), q.Offset, q.Limit, len(shown))
			matched, total = len(shown), len(v.sorted)
			keys = make([]string, 0, end-start)
			eachInWindow(shown, start, end, q.Desc, func(it item) { keys = append(keys, it.text) })
		}
	})
	return keys, start, matched, total, err
}

// findOpened returns the view of the bucket's keys and remembers that it was the
// last to be used.
func (ix *index) findOpened(value string) *view {
	n, ok := ix.byValue.get(&ix.values, value)
	if !ok {
		return nil
	}
	i := slices.IndexFunc(ix.opened, func(o openBucket) bool { return o.number == n })
	if i < 0 {
		return nil
	}
	o := ix.opened[i]
	ix.opened = append(slices.Delete(ix.opened, i, i+1), o)
	return o.view
}

// openLocked makes a view of the bucket's keys. The one that was not used for the
// longest time makes room.
func (x *Indexer) openLocked(ix *index, value string) *view {
	n, ok := ix.byValue.get(&ix.values, value)
	if !ok {
		return nil
	}
	members := ix.buckets.at(n).members
	items := make([]item, len(members))
	for i, pos := range members {
		items[i] = item{text: *x.keys.at(pos)}
	}
	if len(ix.opened) == maxOpened {
		ix.opened = slices.Delete(ix.opened, 0, 1)
	}
	v := x.newView(items)
	ix.opened = append(ix.opened, openBucket{n, v})
	return v
}
