package engine

import (
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
	lost          int // objects of a list that could not be applied
}

// handleStats counts what HandleDeltas did.
type handleStats struct {
	deltas      uint64
	rate        tap.Rate
	changes     tap.Rate // of the store
	latency     tap.Latency
	quarantined uint64
	lastError   error
	lastKey     string
}

// resyncStats remembers the last round.
type resyncStats struct {
	objects, listeners int
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
	i.handleMu.Lock()
	defer i.handleMu.Unlock()
	began := time.Now()
	s := &i.scratch
	s.ops, s.sources = s.ops[:0], s.sources[:0]
	reached := ""
	for n := range batch {
		if version := i.operations(&batch[n]); version != "" {
			reached = version
		}
		for len(s.sources) < len(s.ops) {
			s.sources = append(s.sources, n)
		}
	}
	i.store.Apply(s.ops)
	if reached != "" {
		i.store.Bookmark(reached)
	}
	err, key := i.notifications(batch)
	i.processor.Publish(s.notifications)
	i.quarantine(s.lost)
	i.count(len(s.ops), time.Since(began), err, key)
	failed := s.failed
	clear(s.ops) // don't keep objects alive until the next batch
	clear(s.notifications)
	return failed
}

// operations appends what one entry does to the store, and returns the resource
// version that the store has reached with it, where the entry says so.
func (i *Informer) operations(e *deltafifo.Entry) (reached string) {
	s := &i.scratch
	switch info := e.Object.(type) {
	case cache.BookmarkInfo:
		return info.ResourceVersion
	case cache.ReplacedAllInfo:
		i.replaceAll(info.Objects)
		return info.ResourceVersion
	case cache.SyncAllInfo:
		keys, objects := i.store.Snapshot()
		for n := range keys {
			s.ops = append(s.ops, store.Op{Key: keys[n], Object: objects[n]})
		}
	default:
		s.ops = append(s.ops, store.Op{Key: e.Key, Object: e.Object, Delete: e.Type == cache.Deleted})
	}
	return ""
}

// replaceAll appends what turns the store into the listed objects: as in
// client-go, first the deletions of what is not listed any more.
func (i *Informer) replaceAll(objects []any) {
	s := &i.scratch
	listed := make(map[string]any, len(objects))
	order := make([]string, 0, len(objects))
	for _, obj := range objects {
		key, err := i.keyFunc(obj)
		if err != nil {
			continue // the queue has made a key of it before
		}
		if _, twice := listed[key]; !twice {
			order = append(order, key)
		}
		listed[key] = obj
	}
	keys, stored := i.store.Snapshot()
	for n, key := range keys {
		if _, stays := listed[key]; !stays {
			s.ops = append(s.ops, store.Op{Key: key, Object: cache.DeletedFinalStateUnknown{Key: key, Obj: stored[n]}, Delete: true})
		}
	}
	for _, key := range order {
		s.ops = append(s.ops, store.Op{Key: key, Object: listed[key]})
	}
}

// notifications turns what the store did into what handlers are told, and
// collects the entries that failed, with the last error and its key.
func (i *Informer) notifications(batch []deltafifo.Entry) (lastErr error, lastKey string) {
	s := &i.scratch
	s.notifications, s.failed, s.lost = s.notifications[:0], s.failed[:0], 0
	for n := range s.ops {
		op, e := &s.ops[n], &batch[s.sources[n]]
		if op.Err != nil {
			lastErr, lastKey = op.Err, op.Key
			if e.Key == op.Key {
				s.failed = append(s.failed, *e)
			} else {
				s.lost++ // one of many in one entry, which is not tried again
			}
			continue
		}
		note := notification(op, e)
		if note.Kind != processor.Delete {
			i.mutations.AddObject(note.New)
		}
		s.notifications = append(s.notifications, note)
	}
	return lastErr, lastKey
}

// notification says what handlers are told of one delta that the store took.
func notification(op *store.Op, e *deltafifo.Entry) processor.Notification {
	note := processor.Notification{Cause: e.Cause, New: op.Object}
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
func (i *Informer) count(n int, d time.Duration, err error, key string) {
	i.statsMu.Lock()
	defer i.statsMu.Unlock()
	if n > 0 {
		i.stats.deltas += uint64(n)
		i.stats.latency.Record(time.Now(), d/time.Duration(n), n)
	}
	if err != nil {
		i.stats.lastError, i.stats.lastKey = err, key
	}
}

// quarantine counts deltas that were tried often enough and are given up.
func (i *Informer) quarantine(n int) {
	if n == 0 {
		return
	}
	i.statsMu.Lock()
	i.stats.quarantined += uint64(n)
	i.statsMu.Unlock()
	i.generation.Bump()
}

// shouldResync asks the processor whose turn it is and remembers the answer.
func (i *Informer) shouldResync() bool {
	now := time.Now()
	due := i.processor.ShouldResync(now)
	if due {
		i.statsMu.Lock()
		i.resync = resyncStats{objects: i.store.Len(), listeners: i.processor.Due()}
		i.statsMu.Unlock()
	}
	return due
}
