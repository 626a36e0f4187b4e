package engine

import (
	"math"
	"slices"
	"time"

	"k8s.io/client-go/tools/cache"

	"github.com/informeter/informeter/engine/deltafifo"
	"github.com/informeter/informeter/engine/inspect"
	"github.com/informeter/informeter/engine/processor"
	"github.com/informeter/informeter/engine/store"
	"github.com/informeter/informeter/engine/tap"
)

// scratch is the memory that handle uses again for every batch.
type scratch struct {
	ops           []store.Op
	sources       []int // the entry that each op came from
	notifications []processor.Notification
	failed        []deltafifo.Entry
	retrying      int // of failed, those that are tried again
	performed     int // ops of the batch so far
}

// handleStats counts what HandleDeltas did.
type handleStats struct {
	deltas  uint64
	rate    tap.Rate
	changes tap.Rate // of the store
	bytes   tap.Rate // over the wire
	latency tap.Latency
}

// resyncStats remembers the last round.
type resyncStats struct {
	objects, listeners int
	// asked counts the rounds that Controls asked for, lastAsked is when the last
	// one was put into the queue.
	asked     uint64
	lastAsked time.Time
}

// handle is HandleDeltas: it applies a batch of deltas to the store and its
// indices, then publishes the notifications that follow from them. It returns
// the entries that could not be applied; their neighbours are.
//
//	Entry ──▶ store.Op ──▶ Indexer.Apply ──▶ Notification ──▶ Processor.Publish
//
// The old object of an update is the one that the store held, so a handler sees
// the states in the order in which the cache had them.
func (i *Informer) handle(batch []deltafifo.Entry) []deltafifo.Entry {
	defer i.complaints.flush() // when handleMu is free again
	i.handleMu.Lock()
	defer i.handleMu.Unlock()
	began := time.Now()
	s := &i.scratch
	s.reset(len(batch))
	reached := ""
	for n := range batch {
		if _, all := batch[n].Object.(cache.SyncAllInfo); all {
			i.syncAll(batch, n, began)
			continue
		}
		if version := i.operations(&batch[n]); version != "" {
			reached = version
		}
		s.from(n)
	}
	i.perform(batch, reached, began)
	i.checkReplay()
	i.count(s.performed, time.Since(began))
	return s.failed
}

// reset empties the scratch, and makes room for n entries.
func (s *scratch) reset(n int) {
	s.ops, s.sources, s.notifications = slices.Grow(s.ops[:0], n), slices.Grow(s.sources[:0], n), s.notifications[:0]
	s.failed, s.retrying, s.performed = s.failed[:0], 0, 0
}

// from notes that the ops appended last came from the batch's entry n.
func (s *scratch) from(n int) {
	for len(s.sources) < len(s.ops) {
		s.sources = append(s.sources, n)
	}
}

// perform does what the scratch has gathered. reached, if not empty, is the
// resource version that the store has then.
func (i *Informer) perform(batch []deltafifo.Entry, reached string, began time.Time) {
	s := &i.scratch
	i.store.Apply(s.ops)
	i.notifications(batch)
	switch {
	case s.retrying > 0:
		i.lagging.Store(true) // the store is not there yet
	case reached != "":
		// What came after a bookmark may have been applied with it, or before.
		if behind(reached, i.store.ResourceVersion()) {
			i.lagging.Store(true)
		}
		i.store.Bookmark(reached)
	}
	due := i.processor.Publish(s.notifications)
	if i.moments.on.Load() {
		i.moments.note(s.notifications, due, i.processor.Clock(began))
	}
	s.performed += len(s.ops)
	clear(s.ops) // don't keep objects alive until the next batch
	clear(s.notifications)
	s.ops, s.sources, s.notifications = s.ops[:0], s.sources[:0], s.notifications[:0]
	if cap(s.ops) > scratchKept {
		s.ops, s.sources, s.notifications = nil, nil, nil
	}
}

// scratchKept is the largest batch whose memory is kept for the next one: a list
// that comes as one delta may be much larger.
const scratchKept = 4 * batchSize

// syncAll performs the batch's entry n, a SyncAll, a piece at a time. Nothing of
// it changes the store, so it need not be one change.
func (i *Informer) syncAll(batch []deltafifo.Entry, n int, began time.Time) {
	s := &i.scratch
	i.perform(batch, "", began)
	keys, objects := i.store.Snapshot()
	for at := range keys {
		s.ops = append(s.ops, store.Op{Key: keys[at], Object: objects[at], Repeats: true})
		if len(s.ops) == batchSize {
			s.from(n)
			i.perform(batch, "", began)
		}
	}
	s.from(n)
	i.perform(batch, "", began)
}

// operations appends what one entry does to the store, and returns the resource
// version that the store has reached with it, where the entry says so.
//
// Where transforms have their way, as in client-go, the store files an object
// under the key of what a transform made of it, and what has none is lost.
func (i *Informer) operations(e *deltafifo.Entry) (reached string) {
	s := &i.scratch
	switch info := e.Object.(type) {
	case cache.BookmarkInfo:
		return info.ResourceVersion
	case cache.ReplacedAllInfo:
		if i.replaceAll(info.Objects) {
			return info.ResourceVersion
		}
	default:
		key := e.Key
		if i.options.stock() && i.transform != nil {
			var err error
			if key, err = i.keyFunc(e.Object); err != nil {
				i.quarantined.add(stageTransform, e.Key, e.Object, e.Cause, err)
				return ""
			}
		}
		if e.Overtook {
			i.lagging.Store(true)
		}
		s.ops = append(s.ops, store.Op{
			Key: key, Object: e.Object, Delete: e.Type == cache.Deleted, Repeats: e.Type == cache.Sync,
			// Listed objects come in no order of age.
			Ahead: e.Overtook || e.Type == cache.Replaced,
			Again: e.Attempts < i.options.retries(),
		})
	}
	return ""
}

// replaceAll appends what turns the store into the listed objects: as in
// client-go, first the deletions of what is not listed any more. One without a key
// is left out; the intake has done so mostly. Without a quarantine the list is then
// without effect, as in client-go, and replaceAll returns false.
func (i *Informer) replaceAll(objects []any) bool {
	s := &i.scratch
	if i.fillAll(objects) {
		return true
	}
	listed := make(map[string]int, len(objects)) // where in objects, the last time
	order := make([]string, 0, len(objects))
	var kept map[string]bool
	for at, obj := range objects {
		if keep, is := obj.(deltafifo.Keep); is {
			if kept == nil {
				kept = map[string]bool{}
			}
			kept[keep.Key] = true
			continue
		}
		key, err := i.keyFunc(obj)
		if err != nil {
			i.quarantined.add(stageKey, "", obj, inspect.CauseRelist, err)
			if i.options.stock() {
				return false
			}
			continue
		}
		if _, twice := listed[key]; !twice {
			order = append(order, key)
		}
		listed[key] = at
	}
	keys, stored := i.store.Snapshot()
	for n, key := range keys {
		if _, stays := listed[key]; !stays && !kept[key] {
			s.ops = append(s.ops, store.Op{Key: key, Object: cache.DeletedFinalStateUnknown{Key: key, Obj: stored[n]}, Delete: true})
		}
	}
	s.ops, s.sources = slices.Grow(s.ops, len(order)), slices.Grow(s.sources, len(order))
	for _, key := range order {
		s.ops = append(s.ops, store.Op{Key: key, Object: objects[listed[key]]})
	}
	return true
}

// fillAll is replaceAll for the list that fills an empty store, if its keys ascend,
// as those of an API server do: then none is there twice, and none is stored that
// is not listed. It returns false, and has appended nothing, if that is not so.
func (i *Informer) fillAll(objects []any) bool {
	if i.store.Len() > 0 {
		return false
	}
	s := &i.scratch
	before, last := len(s.ops), ""
	s.ops, s.sources = slices.Grow(s.ops, len(objects)), slices.Grow(s.sources, len(objects))
	for at, obj := range objects {
		key, err := "", error(nil)
		_, keep := obj.(deltafifo.Keep)
		if !keep {
			key, err = i.keyFunc(obj)
		}
		if keep || err != nil || at > 0 && key <= last {
			clear(s.ops[before:])
			s.ops = s.ops[:before]
			return false
		}
		s.ops = append(s.ops, store.Op{Key: key, Object: obj})
		last = key
	}
	return true
}

// notifications turns what the store did into what handlers are told, and
// collects the entries that failed. It is called once for what the scratch has.
func (i *Informer) notifications(batch []deltafifo.Entry) {
	s := &i.scratch
	s.notifications = slices.Grow(s.notifications, len(s.ops))
	ailing := !i.quarantined.empty()
	for n := range s.ops {
		op, e := &s.ops[n], &batch[s.sources[n]]
		if op.Err != nil {
			i.failed(op, e)
			continue
		}
		if ailing && !op.Repeats {
			i.quarantined.well(op.Key, stageApply)
		}
		note := notification(op, e)
		note.Arrived = i.processor.Clock(e.Arrived)
		if i.options.Hardening.SplitIdentity && i.otherObject(&note) {
			s.notifications = append(s.notifications, processor.Notification{
				Key: op.Key, Kind: processor.Delete, Cause: note.Cause, Split: true, Arrived: note.Arrived,
				Old: cache.DeletedFinalStateUnknown{Key: op.Key, Obj: note.Old},
			})
			note.Kind, note.Old, note.DueOnly, note.Split = processor.Add, nil, false, true
		}
		s.notifications = append(s.notifications, note)
	}
	i.watchForMutations(s.notifications)
}

// failed deals with a write that the store did not make. The entry goes back to
// the queue, which tries it again as often as it may, unless something newer has
// taken its place; then it is set aside. One of many in an entry is not tried
// again: the others have been applied.
func (i *Informer) failed(op *store.Op, e *deltafifo.Entry) {
	one := e.Key == op.Key
	if one {
		i.scratch.failed = append(i.scratch.failed, *e)
	}
	if one && e.Attempts < i.options.retries() {
		i.scratch.retrying++
		return
	}
	i.quarantined.add(stageApply, op.Key, op.Object, e.Cause, op.Err)
	i.lagging.Store(true)
}

// reach lets the store's resource version grow to that of the reflector, after a
// write that was given up or a deletion of nothing, which had none to tell, after
// one that has overtaken others, or a bookmark that came too early or set it back:
// once nothing is on the way any more, there is nothing to wait for. It is called
// whenever that may be so: after a batch, and when the reflector notes what it may
// have enqueued before.
func (i *Informer) reach() {
	if !i.lagging.Load() {
		return
	}
	i.handleMu.Lock()
	defer i.handleMu.Unlock()
	i.lagging.Store(false)
	// In this order: what is enqueued in between is newer.
	version, all := i.reflector.Noted()
	if waiting, flying := i.queue.Pending(); !all || waiting > 0 || flying > 0 {
		i.lagging.Store(true)
		return
	}
	i.store.Advance(version)
}

// notification says what handlers are told of one delta that the store took.
func notification(op *store.Op, e *deltafifo.Entry) processor.Notification {
	note := processor.Notification{Key: op.Key, Cause: e.Cause, New: op.Object, Merged: uint16(min(e.Merged, math.MaxUint16))}
	switch {
	case op.Delete:
		// As in client-go, handlers are given the object of the delta: a
		// tombstone, or the state in which it was deleted.
		note.Kind, note.Old, note.New = processor.Delete, op.Object, nil
	case op.Existed:
		note.Kind, note.Old = processor.Update, op.Old
		// An update without a new resource version tells nothing new: as in
		// client-go it goes only to listeners due for a resync.
		note.DueOnly = op.Unchanged
	default:
		note.Kind, note.Initial = processor.Add, e.InInitialList
	}
	if e.Cause == inspect.CauseRelist {
		note.Cause = inspect.CauseRelistChanged
		if note.DueOnly {
			note.Cause = inspect.CauseRelistUnchanged
		}
	}
	return note
}

// count records a batch of n deltas that took d.
func (i *Informer) count(n int, d time.Duration) {
	if n == 0 {
		return
	}
	i.statsMu.Lock()
	defer i.statsMu.Unlock()
	i.stats.deltas += uint64(n)
	i.stats.latency.Record(time.Now(), d/time.Duration(n), n)
}

// shouldResync asks the processor whose turn it is and remembers the answer.
func (i *Informer) shouldResync() bool {
	now := time.Now()
	due := i.processor.ShouldResync(now)
	if due {
		i.statsMu.Lock()
		i.resync.objects, i.resync.listeners = i.store.Len(), i.processor.Due()
		i.statsMu.Unlock()
	}
	return due
}
