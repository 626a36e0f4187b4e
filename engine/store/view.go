package store

import (
	"slices"
	"strings"

	"github.com/informeter/informeter/engine/inspect"
)

// A view keeps a set of texts in order for those who look at a window of it, the
// values of an index or the keys of a bucket, so that looking again costs no
// sorting. It is made when somebody looks. From then on writers append what
// changes to its log, and the next look merges the log in. If nobody looks for
// so long that the log is full, the writers drop the view.
//
//	writer ── append ──▶ log ──┐
//	                           ├─ merge, at the next look ─▶ sorted, filtered
//	                 sorted ───┘
//
// Whoever looks holds Indexer.viewing, and Indexer.mu for reading while it
// touches log, stale or the places that hold views; writers hold Indexer.mu.
type view struct {
	// prepared says that sorted is in order.
	prepared bool
	sorted   []item
	// filtered are those of sorted that match filter; sorted itself if match is
	// nil.
	filtered []item
	filter   string
	match    func(string) bool
	// called, if not nil, is what people call a text; a filter looks at both.
	called func(text string) string
	// spare is an array to merge into.
	spare []item

	// log has what has changed since sorted was made, in order.
	log []change
	// limit is the most that log may hold.
	limit int
	// stale says that log does not have all changes: the view was dropped.
	stale bool
}

// item is one text of a view. number is the bucket's where the texts are values.
type item struct {
	text   string
	number uint32
}

// change is an item that came or went.
type change struct {
	item
	came bool
}

// openBucket is a view of the keys in one bucket. If the bucket goes, the view
// sees its keys go, and is as good for the next bucket of that number.
type openBucket struct {
	number uint32
	view   *view
}

const (
	// So many buckets of an index can be looked into at a time without sorting
	// again and again.
	maxOpened = 4
	// A log may hold this many changes, or a quarter of the view's size.
	defaultMinLog = 1024
)

func compareItems(a, b item) int { return strings.Compare(a.text, b.text) }

// note records a change for the next look.
func (v *view) note(it item, came bool) {
	if len(v.log) >= v.limit {
		v.stale = true
		return
	}
	v.log = append(v.log, change{it, came})
}

// noteValue tells those who look at the values that one came or went.
func (ix *index) noteValue(number uint32, value string, came bool) {
	if ix.looked != nil {
		ix.looked.note(item{value, number}, came)
		if ix.looked.stale {
			ix.looked = nil
		}
	}
}

// noteMember tells those who look into the bucket that a key came or went.
func (ix *index) noteMember(number uint32, key string, came bool) {
	if len(ix.opened) == 0 {
		return
	}
	for _, o := range ix.opened {
		if o.number == number {
			o.view.note(item{text: key}, came)
		}
	}
	ix.dropOpened(func(o openBucket) bool { return o.view.stale })
}

// dropOpened drops the views of buckets for which the function says so.
func (ix *index) dropOpened(which func(openBucket) bool) {
	ix.opened = slices.DeleteFunc(ix.opened, func(o openBucket) bool {
		drop := which(o)
		o.view.stale = o.view.stale || drop
		return drop
	})
}

// dropViews drops all views, because the buckets' numbers change.
func (ix *index) dropViews() {
	if ix.looked != nil {
		ix.looked.stale = true
		ix.looked = nil
	}
	ix.dropOpened(func(openBucket) bool { return true })
}

// newView returns a view of the items, which it may keep.
func (x *Indexer) newView(items []item) *view {
	return &view{sorted: items, limit: max(x.minLog, len(items)/4)}
}

// ready says whether prepare has nothing to do.
func (v *view) ready(filter string) bool { return v.prepared && v.filter == filter }

// prepare puts the items in order and chooses those that match the filter. It
// touches nothing that writers do.
func (v *view) prepare(filter string) {
	if !v.prepared {
		slices.SortFunc(v.sorted, compareItems)
	}
	v.prepared, v.filter, v.match, v.filtered = true, filter, v.matching(filter), nil
	if v.match == nil {
		return
	}
	for _, it := range v.sorted {
		if v.match(it.text) {
			v.filtered = append(v.filtered, it)
		}
	}
}

// matching returns what keeps the texts that match a filter, nil if all do.
func (v *view) matching(filter string) func(string) bool {
	match := inspect.Match(filter)
	if match == nil || v.called == nil {
		return match
	}
	f, err := inspect.ParseFilter(filter)
	inverse := err == nil && f.Inverse
	return func(text string) bool {
		// An inverse one keeps what it finds under neither name.
		if match(text) != inverse {
			return !inverse
		}
		return match(v.called(text))
	}
}

// shown returns the items that match the filter.
func (v *view) shown() []item {
	if v.match == nil {
		return v.sorted
	}
	return v.filtered
}

// merge brings the view up to date.
func (v *view) merge() {
	if len(v.log) == 0 {
		return
	}
	changes := lastOfEach(v.log)
	v.sorted, v.spare = mergeInto(v.spare[:0], v.sorted, changes), v.sorted
	if v.match != nil {
		changes = slices.DeleteFunc(changes, func(c change) bool { return !v.match(c.text) })
		v.filtered, v.spare = mergeInto(v.spare[:0], v.filtered, changes), v.filtered
	}
	// What is gone must not be kept alive by the arrays' unused parts.
	clear(v.spare[:cap(v.spare)])
	clear(v.log)
	v.log = v.log[:0]
}

// lastOfEach sorts the log and keeps the last change of each text.
func lastOfEach(log []change) []change {
	changes := slices.Clone(log)
	slices.SortStableFunc(changes, func(a, b change) int { return compareItems(a.item, b.item) })
	n := 0
	for i := range changes {
		if i+1 < len(changes) && changes[i+1].text == changes[i].text {
			continue
		}
		changes[n] = changes[i]
		n++
	}
	return changes[:n]
}

// mergeInto appends the sorted items to into, with the sorted changes made: it
// copies whole runs between two changes.
func mergeInto(into, items []item, changes []change) []item {
	for _, c := range changes {
		at, found := slices.BinarySearchFunc(items, c.item, compareItems)
		into = append(into, items[:at]...)
		if c.came {
			into = append(into, c.item)
		}
		if found {
			at++
		}
		items = items[at:]
	}
	return append(into, items...)
}
