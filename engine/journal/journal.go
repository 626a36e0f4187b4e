package journal

import (
	"slices"
	"sync"
	"time"

	"github.com/tidwall/btree"
	"k8s.io/apimachinery/pkg/api/meta"

	"github.com/informeter/informeter/engine/inspect"
)

// maxViews bounds the filters whose matches are kept up to date.
const maxViews = 4

// Journal keeps the keys of a store in order. New makes one. Safe for concurrent
// use: one goroutine observes, any number read.
type Journal struct {
	// mu guards everything below. Observe holds it for one notification,
	// readers for one window.
	mu   sync.Mutex
	keys btree.Map[string, record]
	// views holds the filters in use, the one asked for last at the end; every
	// key of a view is in keys.
	views []*view
}

// record is what the journal knows of one key.
type record struct {
	resourceVersion string
	created         int64 // Unix nanoseconds; 0 where the object has no creation time
	changed         int64 // when the last new version came, Unix nanoseconds; 0 if none did
	updates         uint64
}

// view is the keys that match one filter.
type view struct {
	filter string
	match  func(string) bool
	keys   btree.Set[string]
}

// New returns an empty journal.
func New() *Journal { return &Journal{} }

// Observe is told of one notification: the object under key is now obj, or is
// gone if obj is nil, as of at.
func (j *Journal) Observe(key string, obj any, cause inspect.Cause, at time.Time) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if obj == nil {
		j.removeLocked(key)
		return
	}
	r, known := j.keys.Get(key)
	last := r.resourceVersion
	if m, err := meta.Accessor(obj); err == nil {
		r.resourceVersion = m.GetResourceVersion()
		r.created = unixNano(m.GetCreationTimestamp().Time)
	}
	switch cause {
	case inspect.CauseWatch, inspect.CauseRelist, inspect.CauseRelistChanged:
		r.changed = at.UnixNano()
		r.updates++
	case inspect.CauseInitial, inspect.CauseLateJoin, inspect.CauseRelistUnchanged, inspect.CauseResync:
		// Nothing new about the object, so nothing to count.
		if known && r.resourceVersion == last {
			return
		}
	}
	j.keys.Set(key, r)
	if known {
		return
	}
	for _, v := range j.views {
		if v.match(key) {
			v.keys.Insert(key)
		}
	}
}

func (j *Journal) removeLocked(key string) {
	if _, known := j.keys.Delete(key); !known {
		return
	}
	for _, v := range j.views {
		v.keys.Delete(key)
	}
}

// Len returns how many keys there are.
func (j *Journal) Len() int {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.keys.Len()
}

// Page returns the window that q asks for; see inspect.Query.
func (j *Journal) Page(q inspect.Query) (inspect.Page, error) {
	if q.Sort != "" && q.Sort != inspect.SortKey {
		return inspect.Page{}, inspect.ErrUnsupported
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	ordered := j.viewLocked(q.Filter)
	matched := ordered.Len()
	start, end := inspect.Window(anchor(ordered, q), q.Offset, q.Limit, matched)
	page := inspect.Page{Total: j.keys.Len(), Matched: matched, Start: start}
	page.Rows = make([]inspect.Row, 0, end-start)
	for rank := start; rank < end; rank++ {
		key := keyAt(ordered, rank, q.Desc)
		r, _ := j.keys.Get(key)
		page.Rows = append(page.Rows, r.row(key))
	}
	return page, nil
}

// Annotate fills in what the journal knows of the rows' keys.
func (j *Journal) Annotate(rows []inspect.Row) {
	j.mu.Lock()
	defer j.mu.Unlock()
	for i := range rows {
		if r, known := j.keys.Get(rows[i].Key); known {
			rows[i].Changed, rows[i].Updates = fromUnixNano(r.changed), r.updates
		}
	}
}

// ordered is a set of keys in order: all of them, or a view's.
type ordered interface {
	Len() int
	// At returns the key of a rank in [0, Len).
	At(rank int) string
}

type allKeys struct{ *btree.Map[string, record] }

func (a allKeys) At(rank int) string {
	key, _, _ := a.GetAt(rank)
	return key
}

func (v *view) Len() int { return v.keys.Len() }

func (v *view) At(rank int) string {
	key, _ := v.keys.GetAt(rank)
	return key
}

// viewLocked returns the keys that match a filter, scanning all keys only if
// the filter is not among those asked for last.
func (j *Journal) viewLocked(filter string) ordered {
	match := inspect.Match(filter)
	if match == nil {
		return allKeys{&j.keys}
	}
	if i := slices.IndexFunc(j.views, func(v *view) bool { return v.filter == filter }); i >= 0 {
		v := j.views[i]
		j.views = append(slices.Delete(j.views, i, i+1), v)
		return v
	}
	v := &view{filter: filter, match: match}
	j.keys.Scan(func(key string, _ record) bool {
		if match(key) {
			v.keys.Insert(key)
		}
		return true
	})
	if len(j.views) == maxViews {
		j.views = slices.Delete(j.views, 0, 1)
	}
	j.views = append(j.views, v)
	return v
}

// keyAt returns the key of a rank, counted from the end if desc.
func keyAt(o ordered, rank int, desc bool) string {
	if desc {
		rank = o.Len() - 1 - rank
	}
	return o.At(rank)
}

// anchor returns the rank of the query's cursor: of the first row that does not
// come before it.
func anchor(o ordered, q inspect.Query) int {
	if q.Cursor == "" {
		return 0
	}
	low, high := 0, o.Len()
	for low < high {
		middle := (low + high) / 2
		key := keyAt(o, middle, q.Desc)
		if before := key < q.Cursor; before != q.Desc && key != q.Cursor {
			low = middle + 1
		} else {
			high = middle
		}
	}
	return low
}

func (r record) row(key string) inspect.Row {
	return inspect.Row{
		Key:             key,
		ResourceVersion: r.resourceVersion,
		Created:         fromUnixNano(r.created),
		Changed:         fromUnixNano(r.changed),
		Updates:         r.updates,
	}
}

// unixNano is t.UnixNano, with 0 for the zero time.
func unixNano(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixNano()
}

func fromUnixNano(ns int64) time.Time {
	if ns == 0 {
		return time.Time{}
	}
	return time.Unix(0, ns)
}
