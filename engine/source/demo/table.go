package demo

import (
	"github.com/tidwall/btree"
	"k8s.io/apimachinery/pkg/watch"
)

// event is one write.
type event struct {
	revision uint64
	kind     watch.EventType
	key      string
	// object is the version written; nil for a deletion.
	object object
	// previous is the version before; nil for an addition.
	previous object
}

// table is one type's objects, their history and the watches on them. The
// server's lock guards it.
type table struct {
	resource *resource
	objects  btree.Map[string, object]
	history  history
	watches  map[*stream]struct{}
	// stalled watches send nothing but the state they begin with.
	stalled bool
	// changed is closed by the next write; nil if nobody waits for one.
	changed chan struct{}
}

func newTable(r *resource, size int, revision uint64) *table {
	return &table{
		resource: r,
		history:  history{ring: make([]event, size), floor: revision},
		watches:  map[*stream]struct{}{},
	}
}

// appendLocked applies a write, records it and wakes the watches. A watch that
// is more than buffer writes behind is dropped.
func (t *table) appendLocked(e event, buffer int) {
	if e.kind == watch.Deleted {
		e.previous, _ = t.objects.Delete(e.key)
	} else {
		e.previous, _ = t.objects.Set(e.key, e.object)
	}
	t.history.append(e)
	for w := range t.watches {
		if !t.stalled && w.tooSlowLocked(buffer) {
			t.dropLocked(w)
		}
	}
	t.wakeLocked()
}

// changedLocked returns a channel that the next write closes.
func (t *table) changedLocked() <-chan struct{} {
	if t.changed == nil {
		t.changed = make(chan struct{})
	}
	return t.changed
}

func (t *table) wakeLocked() {
	if t.changed != nil {
		close(t.changed)
		t.changed = nil
	}
}

// dropLocked ends a watch without a word: what was not yet taken from it is
// lost, and its client asks again from where it was.
func (t *table) dropLocked(w *stream) {
	if _, open := t.watches[w]; open {
		delete(t.watches, w)
		close(w.dropped)
	}
}

// asOfLocked returns the objects as they were at a revision, which must not be
// below the history's floor. The tree is the caller's own.
func (t *table) asOfLocked(revision uint64) *btree.Map[string, object] {
	objects := t.objects.Copy()
	for i := t.history.end; i > t.history.start; i-- {
		e := t.history.at(i - 1)
		if e.revision <= revision {
			break
		}
		if e.previous == nil {
			objects.Delete(e.key)
		} else {
			objects.Set(e.key, e.previous)
		}
	}
	return objects
}

// history is the last writes to one type, numbered from the first ever.
type history struct {
	ring []event
	// The events start <= i < end are remembered, at ring[i%len(ring)].
	// end-start <= len(ring).
	start, end uint64
	// floor is the oldest revision from which a watch can go on without
	// missing a write: every write with a greater revision is remembered.
	floor uint64
}

func (h *history) append(e event) {
	if h.end-h.start == uint64(len(h.ring)) {
		h.start++
		if h.start < h.end {
			h.floor = h.at(h.start).revision - 1
		} else {
			h.floor = e.revision - 1
		}
	}
	h.ring[h.end%uint64(len(h.ring))] = e
	h.end++
}

func (h *history) at(i uint64) *event { return &h.ring[i%uint64(len(h.ring))] }

// after returns the number of the first event with a greater revision.
func (h *history) after(revision uint64) uint64 {
	low, high := h.start, h.end
	for low < high {
		if mid := low + (high-low)/2; h.at(mid).revision > revision {
			high = mid
		} else {
			low = mid + 1
		}
	}
	return low
}

// clear forgets everything up to the revision, which is the present one.
func (h *history) clear(revision uint64) {
	clear(h.ring)
	h.start, h.floor = h.end, revision
}
