package journal

import (
	"time"

	"k8s.io/apimachinery/pkg/api/meta"

	"github.com/informeter/informeter/engine/inspect"
)

// entry is what the journal knows of one key in the store. There may be a
// million. What is told by the object itself is not kept beside it. An update
// that is only counted touches no more than the first 64 bytes.
type entry struct {
	key    string
	object any // as it was last observed
	// heat orders keys by rate; 0 if the key has not changed.
	heat    heat
	changed int64 // when the last new version came, Unix nanoseconds; 0 if none did
	updates uint32
	since   uint32 // when the object came, in milliseconds since the journal began
	// passed counts the updates after the last record of the history that were
	// not written down one by one, see passLocked. 0 without a history.
	passed uint16
	// views has the bits of the views that have the key among their rows, dirty
	// those of the views that have yet to see where it belongs. The bit in views
	// of a view that has not come to the key yet means nothing.
	views, dirty uint8
	kind         Kind // how the object came, and why
	cause        inspect.Cause
	flags        uint8
	round        uint8 // of catching up, in which the key was seen last

	// history is what happened to the key before, and this; nil where this is
	// all there is to know.
	history *history
	// writer is the object's last field manager and size what the object takes on
	// the wire, unless the flag stale is set. size is 0 until somebody asks.
	writer string
	size   int32
	// noOps <= compared <= updates.
	noOps, compared uint32
	// When the object was last played back or listed again without being new,
	// as since, and how many times since it came.
	resynced, relisted uint32
	resyncs, relists   uint16
}

// The flags of an entry.
const (
	stale    = 1 << iota // nobody has asked yet who wrote the object, and its size
	storied              // history is not nil
	repeated             // resyncs or relists is not 0
	isHot                // the entry is among the candidates of hot
	gone                 // the key is not in the store any more
)

// version returns the object's resource version.
func (e *entry) version() string { return versionOf(e.object) }

func versionOf(obj any) (rv string) {
	defer forgive()
	if m, err := meta.Accessor(obj); err == nil {
		return m.GetResourceVersion()
	}
	return ""
}

// sameVersion says whether two API objects have one resource version.
func sameVersion(a, b any) bool {
	_, err := meta.Accessor(a)
	return err == nil && versionOf(a) == versionOf(b)
}

// created returns when the object was created in Unix seconds; 0 where it has no
// creation time.
func (e *entry) created() uint32 { return unix(creationOf(e.object)) }

// creationOf returns when the object was created, the zero time if it does not say.
func creationOf(obj any) (at time.Time) {
	defer forgive()
	if m, err := meta.Accessor(obj); err == nil {
		at = m.GetCreationTimestamp().Time
	}
	return at
}

// author returns the object's last field manager. The journal's mu is held.
func (e *entry) author() string {
	e.learn()
	return e.writer
}

// wireSize returns the size of the object on the wire. The journal's mu is held.
func (e *entry) wireSize() int32 {
	e.learn()
	if e.size == 0 {
		e.size = wireSize(e.object)
	}
	return e.size
}

// learn finds out what nobody has asked yet of the object.
func (e *entry) learn() {
	if e.flags&stale != 0 {
		e.flags &^= stale
		e.writer, e.size = writerOf(e.object, nil), 0
	}
}

// setHistory gives the entry a history, or takes it away.
func (e *entry) setHistory(h *history) {
	e.history = h
	e.passed = 0
	e.flags &^= storied
	if h != nil {
		e.flags |= storied
	}
}

// row is the entry as readers see it.
func (e *entry) row(rates *rates, now time.Time) inspect.Row {
	return inspect.Row{
		Key:             e.key,
		ResourceVersion: e.version(),
		Created:         fromUnix(e.created()),
		Changed:         fromUnixNano(e.changed),
		Updates:         uint64(e.updates),
		Rate:            rates.rate(e.heat, now),
		NoOps:           uint64(e.noOps),
		Compared:        uint64(e.compared),
		Writer:          e.author(),
		Size:            int(e.wireSize()),
	}
}

// unix is t in Unix seconds, 0 for the zero time and for what does not fit.
func unix(t time.Time) uint32 {
	if s := t.Unix(); s > 0 && s <= 1<<32-1 {
		return uint32(s)
	}
	return 0
}

func fromUnix(s uint32) time.Time {
	if s == 0 {
		return time.Time{}
	}
	return time.Unix(int64(s), 0)
}

func fromUnixNano(ns int64) time.Time {
	if ns == 0 {
		return time.Time{}
	}
	return time.Unix(0, ns)
}
