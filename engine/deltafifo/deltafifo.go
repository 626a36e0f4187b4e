package deltafifo

import (
	"fmt"
	"time"

	"k8s.io/client-go/tools/cache"

	"github.com/informeter/informeter/engine/inspect"
)

var (
	_ cache.Queue                  = (*DeltaFIFO)(nil)
	_ cache.ReflectorBookmarkStore = (*DeltaFIFO)(nil)
	_ cache.TransformingStore      = (*DeltaFIFO)(nil)
	_ cache.DoneChecker            = (*DeltaFIFO)(nil)
)

// DeltaFIFO is a queue of keys, each with the deltas that wait for it. See the
// package documentation.
type DeltaFIFO struct {
	core

	// items holds every key that waits or is in flight, and no other, but for
	// those slots of run that have none.
	items map[string]*item
	// order holds the items that wait, the next to be popped first: those that
	// were put back, then the others in the order of their first delta.
	order ring[*item]
	// run is what waits, and is in flight, of what came as one; its place among
	// the rows that wait is after the first run.before of order.
	run run
	// flight holds what is in flight, a row for each key, in the order of batch.
	flight []flying
	// landed is where a batch's items are gathered that end with it; empty, and
	// kept to be used again.
	landed []*item
	// compressed counts the deltas that took another's place.
	compressed uint64
	// bookmarks wait for their position: each is popped when everything before
	// it has been. Their positions increase.
	bookmarks ring[bookmark]
	// unordered says how many rows at the head may have a first delta that is
	// younger than the next row's: keys that were put back, or popped in part.
	// From there on first deltas only get younger.
	unordered int
	// epoch counts Replaces.
	epoch uint64

	pool   pool
	widest int // the most items since items was made, which never shrinks
}

// item is one key.
type item struct {
	key string
	// waiting holds the deltas, the oldest first. queued says that the item is
	// in order or in run; whenever the lock is free, that is whether waiting has
	// some.
	waiting []delta
	queued  bool
	// flight counts the key's deltas in flight, at batch[newest] and before it.
	flight, newest int
	// epoch is that of the last Replace that listed the key.
	epoch uint64
	// initial says that the waiting deltas count in core.unapplied,
	// flightInitial that those in flight do.
	initial, flightInitial bool
}

// flying is a key in flight. item is nil for a slot of the run that has none;
// batch[newest] is then its one delta.
type flying struct {
	item   *item
	newest int
}

// bookmark is a bookmark that waits before the row at position.
type bookmark struct {
	delta
	position int64
}

// New returns an empty DeltaFIFO.
func New(o Options) *DeltaFIFO {
	q := &DeltaFIFO{items: map[string]*item{}}
	q.init(o, q)
	return q
}

// Add enqueues an Added delta. The error is a cache.KeyError or the
// Transformer's.
func (q *DeltaFIFO) Add(obj any) error { return q.enqueue(q.arriving(cache.Added, obj)) }

// Update enqueues an Updated delta. Errors are as Add's.
func (q *DeltaFIFO) Update(obj any) error { return q.enqueue(q.arriving(cache.Updated, obj)) }

// Delete enqueues a Deleted delta, unless the object is neither known nor
// waiting nor in flight: a relist has seen to that deletion already. Nor does it
// if one is in flight. Errors are as Add's.
//
// Unlike client-go, the Transformer has seen the object even then, because it is
// not called under the lock under which that is found out [free functions].
func (q *DeltaFIFO) Delete(obj any) error { return q.enqueue(q.arriving(cache.Deleted, obj)) }

// existsLocked says whether there is something that a deletion of key could
// delete. If the store can't say, there may be.
func (q *DeltaFIFO) existsLocked(key string) bool {
	if it := q.items[key]; it != nil && !it.queued {
		return q.batch[it.newest].Type != cache.Deleted
	}
	if q.pendingLocked(key) {
		return true
	}
	if q.KnownObjects == nil {
		return false
	}
	_, exists, err := q.KnownObjects.GetByKey(key)
	return exists || err != nil
}

// Replace enqueues a Replaced delta for every object in list, and a tombstone
// for every key not in list that waits, is in flight or is known. The tombstone
// holds the last state the queue has seen, else the store's. A bookmark of rv
// follows, unless that is empty.
//
// A Keep lists a key without a state.
//
// As in client-go, an object without a key, or one that the Transformer
// refuses, ends it: what stands before it in list is enqueued, nothing else is.
func (q *DeltaFIFO) Replace(list []any, rv string) error {
	list, kept := withoutKeeps(list)
	keys := make([]string, 0, len(list))
	objects := list
	if q.Options.Transformer != nil {
		objects = make([]any, 0, len(list))
	}
	var failed error
	for _, obj := range list {
		key, obj, err := q.prepare(obj)
		if err != nil {
			failed = fmt.Errorf("enqueue the list: %w", err)
			break
		}
		keys = append(keys, key)
		if q.Options.Transformer != nil {
			objects = append(objects, obj)
		}
	}
	now := q.enter()
	defer q.leave()
	cause := q.replaceCauseLocked()
	q.epoch++
	q.spreadLocked()
	q.listLocked(keys, objects, failed == nil, now, cause)
	if failed != nil {
		return failed
	}
	q.buryLocked(kept, now, cause)
	if rv != "" {
		// What the list left unchanged carries no newer version than before:
		// only the list's own says how far the store then is.
		q.bookmarkLocked(delta{
			Delta:   cache.Delta{Type: cache.Bookmark, Object: cache.BookmarkInfo{ResourceVersion: rv}},
			arrived: now,
			cause:   cause,
		})
	}
	q.replaced = true
	if !q.populated {
		q.startLocked()
	}
	return nil
}

// buryLocked enqueues a tombstone for every key that the Replace of this epoch
// did not list or keep. If there is a run, it is what that Replace listed.
func (q *DeltaFIFO) buryLocked(kept map[string]bool, now time.Duration, cause inspect.Cause) {
	for key := range kept {
		if it := q.items[key]; it != nil {
			it.epoch = q.epoch
		}
	}
	bury := func(key string, last any) {
		q.enqueueLocked(key, delta{
			Delta:   cache.Delta{Type: cache.Deleted, Object: cache.DeletedFinalStateUnknown{Key: key, Obj: last}},
			arrived: now,
			cause:   cause,
		})
	}
	// A key whose last state is deleted needs no second deletion.
	for i := range q.order.len() {
		it := *q.order.at(i)
		if last := &it.waiting[len(it.waiting)-1]; it.epoch != q.epoch && last.Type != cache.Deleted {
			bury(it.key, last.Object)
		}
	}
	for _, f := range q.flight {
		if last := &q.batch[f.newest]; !f.item.queued && f.item.epoch != q.epoch && last.Type != cache.Deleted {
			bury(f.item.key, last.Object)
		}
	}
	if q.KnownObjects == nil {
		return
	}
	for _, key := range q.KnownObjects.ListKeys() {
		if q.pendingLocked(key) || kept[key] {
			continue // listed, or buried, or its deletion is in flight
		}
		// A lookup that fails leaves a tombstone without a last state.
		last, exists, err := q.KnownObjects.GetByKey(key)
		if err != nil || !exists {
			last = nil
		}
		bury(key, last)
	}
}

// startLocked makes everything that waits the startup batch. Nothing is in
// flight without something newer that waits: before the first Add, Update or
// Delete nothing deletes, so the Replace that starts has enqueued the next
// state, or a tombstone, for whatever an earlier one or a Resync did.
func (q *DeltaFIFO) startLocked() {
	for i := range q.order.len() {
		(*q.order.at(i)).initial = true
	}
	q.run.initial = !q.run.over()
	q.unapplied = q.rowsWaitingLocked()
	q.populateLocked()
}

// snapshotter is a store that can list its keys and objects at once, in slices
// that are the caller's own.
type snapshotter interface {
	Snapshot() (keys []string, objects []any)
}

// Resync enqueues a Sync delta for every known object whose key neither waits
// nor is in flight: for those the store does not hold the last state.
//
// Unlike client-go, it takes the store's word for the keys, where that asks the
// KeyFunc again for each object [resync keys].
func (q *DeltaFIFO) Resync() error {
	if q.KnownObjects == nil {
		return nil
	}
	now := q.enter()
	defer q.leave()
	sync := func(key string, obj any) {
		q.appendToLocked(q.itemLocked(key), delta{Delta: cache.Delta{Type: cache.Sync, Object: obj}, arrived: now, cause: inspect.CauseResync})
	}
	if store, ok := q.KnownObjects.(snapshotter); ok {
		keys, objects := q.idleLocked(store.Snapshot())
		if q.run.over() {
			q.appendRunLocked(cache.Sync, keys, objects, now, inspect.CauseResync)
			return nil
		}
		for i, key := range keys {
			sync(key, objects[i])
		}
		return nil
	}
	for _, key := range q.KnownObjects.ListKeys() {
		if q.pendingLocked(key) {
			continue
		}
		if obj, exists, err := q.KnownObjects.GetByKey(key); exists && err == nil {
			sync(key, obj)
		}
	}
	return nil
}

// idleLocked returns those of the keys, and their objects, for which nothing
// waits or is in flight. It works in its arguments.
func (q *DeltaFIFO) idleLocked(keys []string, objects []any) ([]string, []any) {
	if len(q.items) == 0 && q.run.over() {
		return keys, objects
	}
	n := 0
	for i, key := range keys {
		if !q.pendingLocked(key) {
			keys[n], objects[n] = key, objects[i]
			n++
		}
	}
	clear(objects[n:])
	return keys[:n], objects[:n]
}

// Bookmark enqueues that everything up to resource version rv has been
// enqueued. Of bookmarks with nothing between them the last one stays.
//
// Unlike client-go, whose DeltaFIFO ignores them, so that its store's version
// stands still as long as no object changes [bookmarks].
func (q *DeltaFIFO) Bookmark(rv string) error {
	return q.enqueue(q.arriving(cache.Bookmark, cache.BookmarkInfo{ResourceVersion: rv}))
}

func (q *DeltaFIFO) bookmarkLocked(d delta) {
	b := bookmark{delta: d, position: q.head + int64(q.rowsWaitingLocked())}
	if n := q.bookmarks.len(); n > 0 && q.bookmarks.at(n-1).position == b.position {
		*q.bookmarks.at(n - 1) = b
		return
	}
	q.bookmarks.pushBack(b)
}

// enqueueLocked appends d to what waits for key. Two deletions in a row are one;
// the one that knows the final state is kept.
func (q *DeltaFIFO) enqueueLocked(key string, d delta) *item {
	it := q.pendingItemLocked(key)
	if it == nil {
		it = q.itemLocked(key)
	} else if d.Type == cache.Deleted && q.deletedLocked(it, d) || q.Compress && q.compressLocked(it, d) {
		return it
	}
	q.appendToLocked(it, d)
	return it
}

// compressLocked lets d take the place of the last delta that waits for its key,
// if that is of the same kind. The place keeps its time of arrival: the key has
// waited since then.
func (q *DeltaFIFO) compressLocked(it *item, d delta) bool {
	n := len(it.waiting)
	if n == 0 || d.Type != cache.Updated && d.Type != cache.Replaced {
		return false
	}
	last := &it.waiting[n-1]
	if last.Type != d.Type || last.cause != d.cause {
		return false
	}
	last.Object, last.attempts = d.Object, 0
	last.merged++
	last.overtook = last.overtook || !q.isLastLocked(it)
	q.compressed++
	return true
}

// itemLocked returns a new item for key, which has none.
func (q *DeltaFIFO) itemLocked(key string) *item {
	it := q.pool.get()
	it.key = key
	q.items[key] = it
	q.widest = max(q.widest, len(q.items))
	return it
}

// appendToLocked appends d to what waits for the key of it.
func (q *DeltaFIFO) appendToLocked(it *item, d delta) {
	d.overtook = it.queued && !q.isLastLocked(it)
	it.waiting = append(it.waiting, d)
	q.countLocked(1)
	if !it.queued {
		it.queued = true
		q.order.pushBack(it)
	}
}

// isLastLocked says whether nothing waits behind the key of it, which waits.
func (q *DeltaFIFO) isLastLocked(it *item) bool {
	last, _ := q.rowLocked(q.rowsWaitingLocked() - 1)
	return last == it
}

// deletedLocked says that the last delta that waits for the key of it is a
// deletion already, after giving that d's object where it knows more.
func (q *DeltaFIFO) deletedLocked(it *item, d delta) bool {
	n := len(it.waiting)
	if n == 0 || it.waiting[n-1].Type != cache.Deleted {
		return false
	}
	last := &it.waiting[n-1]
	if _, unknown := last.Object.(cache.DeletedFinalStateUnknown); unknown {
		last.Object, last.cause = d.Object, d.cause
	}
	last.merged++
	last.overtook = true // it stands for d too, whose version it may not have
	return true
}

// growLocked makes room for n new keys, if they are many for what is there.
func (q *DeltaFIFO) growLocked(n int) {
	if n < poolSlab || n < 2*len(q.items) {
		return
	}
	q.pool.reserve(n)
	q.order.grow(n)
	if n <= q.widest {
		return
	}
	items := make(map[string]*item, n+len(q.items))
	for key, it := range q.items {
		items[key] = it
	}
	q.items = items
}
