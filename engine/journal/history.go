package journal

import (
	"math/bits"
	"slices"
	"time"

	"github.com/informeter/informeter/engine/inspect"
)

const (
	// maxRecords is how many events of one key are kept.
	maxRecords = 200
	// keyShare is the part of the bound that one key's versions may take.
	keyShare = 8
	// recordBytes and so on are about what a record, an empty history, a UID that
	// can be searched for and a delivery take.
	recordBytes, historyBytes, uidBytes, deliveryBytes = 240, 256, 112, 56
)

// record is one thing that happened to a key.
type record struct {
	at      int64 // Unix nanoseconds
	seq     uint64
	waited  time.Duration
	version uint64 // 0: there is no object to be asked for
	// object is nil if there was none or it was let go of. charge is how much
	// memory is kept for it; 0 while the store holds it too.
	object  any
	charge  int64
	rv, uid string
	writer  string
	changed []string
	skipped string // why handlers were not told
	times   uint32 // how often in a row, less one
	kind    Kind
	cause   inspect.Cause

	tombstone, compared bool
	merged              uint16 // how many other deltas it stands for
	// deliveries are those that were asked for once they were over.
	deliveries []inspect.Delivery
}

// Kind is what handlers are told of an object.
type Kind uint8

// The kinds of events, as inspect.KeyEvent has them.
const (
	None Kind = iota // handlers were told nothing
	Added
	Updated
	Deleted
)

var kindNames = [...]string{"", "added", "updated", "deleted"}

// String returns the kind as inspect.KeyEvent has it.
func (k Kind) String() string { return kindNames[k] }

// bytes is what the record takes besides its object.
func (r *record) bytes() int64 {
	n := int64(recordBytes + len(r.skipped) + deliveryBytes*len(r.deliveries))
	for _, path := range r.changed {
		n += 16 + int64(len(path))
	}
	return n
}

// history is what happened to one key, the oldest first. Nearly all keys have
// none: what an entry knows is as good as one record.
type history struct {
	key       string
	records   []record
	forgotten uint64
	bytes     int64
	// class is the size class that the history is listed in, between before and
	// after; -1 if in none.
	class         int
	before, after *history
}

// sizeClasses is the number of powers of two that sizes are told apart by.
const sizeClasses = 48

// histories holds what biographies are made of, below a bound of memory. Over
// it, what has most pays first: the oldest versions of a key in the highest size
// class go, then its oldest events; within a class the key goes first to which
// nothing has happened for the longest time. So a busy key cannot push out the
// others. The journal's mu guards it.
type histories struct {
	bound int64
	bytes int64
	// classes are rings of histories with the same number of bits in their
	// sizes, each with a sentinel; the one touched last is before the sentinel.
	classes [sizeClasses]history
	// gone has the histories of keys that are not in the store.
	gone map[string]*history
	// uids leads from the UIDs in records to their keys.
	uids map[string]string

	footprints       footprints
	version          uint64 // the last that was given
	events, versions int
	lost             uint64
}

func (s *histories) init(bound int64) {
	s.bound = bound
	s.gone, s.uids = map[string]*history{}, map[string]string{}
	for i := range s.classes {
		ring := &s.classes[i]
		ring.before, ring.after = ring, ring
	}
}

// newHistory returns a history that costs nothing until it has a record.
func newHistory(key string) *history { return &history{key: key, class: -1} }

// append adds what happened. If it has an object, that is the one in the store
// now, or the last one that was. It may leave h without records, see forget.
func (s *histories) append(h *history, r record) {
	if h.bytes == 0 {
		s.charge(h, historyBytes+int64(len(h.key)))
	}
	if r.object != nil {
		s.version++
		r.version = s.version
		s.versions++
	}
	last := len(h.records) - 1
	if last >= 0 && h.records[last].uid == r.uid {
		r.uid = h.records[last].uid // the same text, once
	} else if r.uid != "" {
		if _, known := s.uids[r.uid]; !known {
			s.uids[r.uid] = h.key
			s.charge(h, uidBytes+int64(len(r.uid)))
		}
	}
	s.supersede(h)
	if r.kind == Deleted && r.object != nil {
		r.charge = s.footprints.of(r.object) // the store holds it no more
	}
	s.charge(h, r.bytes()+r.charge)
	h.records = append(h.records, r)
	s.events++
	for len(h.records) > maxRecords {
		s.dropOldest(h)
	}
	for h.bytes > s.bound/keyShare && s.dropVersion(h) {
	}
	s.touch(h)
	s.shrink()
}

func (s *histories) charge(h *history, n int64) {
	h.bytes += n
	s.bytes += n
}

// supersede charges for the object that the store had until now.
func (s *histories) supersede(h *history) {
	for i := len(h.records) - 1; i >= 0; i-- {
		r := &h.records[i]
		if r.object == nil {
			continue
		}
		if r.charge == 0 {
			r.charge = s.footprints.of(r.object)
			s.charge(h, r.charge)
		}
		return
	}
}

// dropVersion lets go of the oldest version that costs anything.
func (s *histories) dropVersion(h *history) bool {
	for i := range h.records {
		if r := &h.records[i]; r.charge > 0 {
			s.release(h, r)
			s.lost++
			return true
		}
	}
	return false
}

// release lets go of a record's object.
func (s *histories) release(h *history, r *record) {
	s.charge(h, -r.charge)
	r.object, r.charge, r.version = nil, 0, 0
	s.versions--
}

// dropOldest lets go of the oldest event and its version.
func (s *histories) dropOldest(h *history) {
	r := &h.records[0]
	if r.object != nil {
		s.release(h, r)
	}
	s.charge(h, -r.bytes())
	later := slices.ContainsFunc(h.records[1:], func(o record) bool { return o.uid == r.uid })
	if !later && r.uid != "" && s.uids[r.uid] == h.key {
		delete(s.uids, r.uid)
		s.charge(h, -uidBytes-int64(len(r.uid)))
	}
	h.forgotten += uint64(r.times) + 1
	*r = record{}
	h.records = h.records[1:]
	s.events--
	s.lost++
}

// shrink lets go of what is over the bound.
func (s *histories) shrink() {
	class := sizeClasses - 1
	for s.bytes > s.bound {
		for ; class >= 0 && s.classes[class].after == &s.classes[class]; class-- {
		}
		if class < 0 {
			return
		}
		h := s.classes[class].after
		if !s.dropVersion(h) {
			s.dropOldest(h)
		}
		s.list(h, h.after) // it keeps its turn if it stays in its class
	}
}

// touch puts a history at the end of its class: something has happened to it.
func (s *histories) touch(h *history) { s.list(h, nil) }

// list puts a history into the class of its size, before next if that is of the
// same class, else at the end. One without records is forgotten.
func (s *histories) list(h, next *history) {
	class := min(bits.Len64(uint64(h.bytes)), sizeClasses-1)
	if len(h.records) == 0 {
		s.forget(h)
		return
	}
	if next != nil && h.class == class {
		return
	}
	s.unlist(h)
	end := &s.classes[class]
	h.class = class
	h.before, h.after = end.before, end
	h.before.after, end.before = h, h
}

func (s *histories) unlist(h *history) {
	if h.class >= 0 {
		h.before.after, h.after.before = h.after, h.before
		h.class, h.before, h.after = -1, nil, nil
	}
}

// forget lets go of a history that has no records. An entry that still points to
// it sees that: a forgotten history is in no class.
func (s *histories) forget(h *history) {
	s.unlist(h)
	s.bytes -= h.bytes
	h.bytes = 0
	if s.gone[h.key] == h {
		delete(s.gone, h.key)
	}
}

// version returns the object of a key that has that number.
func (h *history) object(version uint64) any {
	for i := range h.records {
		if r := &h.records[i]; r.version == version {
			return r.object
		}
	}
	return nil
}

// event returns a record as readers see it.
func (r *record) event() inspect.KeyEvent {
	e := inspect.KeyEvent{
		Seq:             r.seq,
		At:              time.Unix(0, r.at),
		Type:            r.kind.String(),
		Cause:           r.cause,
		ResourceVersion: r.rv,
		UID:             r.uid,
		Tombstone:       r.tombstone,
		Version:         r.version,
		Writer:          r.writer,
		Changed:         r.changed,
		Compared:        r.compared,
		Skipped:         r.skipped,
		Waited:          r.waited,
		Deliveries:      r.deliveries,
	}
	if r.times > 0 {
		e.Times = int(r.times) + 1
	}
	if r.merged > 0 {
		e.Merged, e.MergedWhy = int(r.merged), inspect.MergedCompressed
		if r.kind == Deleted {
			e.MergedWhy = inspect.MergedDeletions
		}
	}
	return e
}
