package processor

import (
	"sync/atomic"

	"github.com/informeter/informeter/engine/inspect"
)

// chunkSize is how many notifications one chunk of the log holds. It bounds what
// stays in memory for a listener's sake after it was delivered, and how often a
// listener that works off a backlog takes its lock: once a chunk.
const chunkSize = 64

// entry is one notification as it stands in the log, and whom it is for. See
// Notification for what the fields have in common with it.
type entry struct {
	key         string
	old, new    any
	arrived, at int64
	// to is nil if every listener registered at the time is addressed.
	to    *Audience
	kind  Kind
	cause inspect.Cause
	marks marks
	// skip leads from the first entry of a run, the entries of one batch and one
	// chunk with the same addressees, past its last. It is set on the first entry
	// only: a cursor meets a run at its start.
	skip uint8
	// round is the resync round the notification was published in. It begins anew
	// after 65,536 of them: it tells neighbours apart.
	round  uint16
	merged uint16
}

// marks are what is true of an entry, of the Notification fields of these names.
type marks uint8

const (
	markInitial marks = 1 << iota
	markDueOnly
	markSplit
)

// marksOf returns the marks of a notification.
func marksOf(n *Notification) (m marks) {
	if n.Initial {
		m |= markInitial
	}
	if n.DueOnly {
		m |= markDueOnly
	}
	if n.Split {
		m |= markSplit
	}
	return m
}

// has says whether one of the marks in some is set.
func (m marks) has(some marks) bool { return m&some != 0 }

// object returns the object that the notification is about, as it was last seen.
func (e *entry) object() any {
	if e.kind == Delete {
		return e.old
	}
	return e.new
}

// tell writes the notification to n.
func (e *entry) tell(n *Notification, seq uint64) {
	*n = Notification{
		Key: e.key, Kind: e.kind, Cause: e.cause, Merged: e.merged,
		Initial: e.marks.has(markInitial), DueOnly: e.marks.has(markDueOnly), Split: e.marks.has(markSplit),
		Old: e.old, New: e.new, Arrived: e.arrived, At: e.at, Seq: seq,
	}
}

// chunk is a piece of the log. Whoever publishes appends; listeners read what is
// below n, without a lock.
type chunk struct {
	// entries[:n] never change while a listener may read them. n grows, and is
	// final once next is set.
	n       atomic.Uint32
	entries [chunkSize]entry
	// base is the number of entries[0], counted from the beginning of the log.
	base uint64
	// own marks a chunk of a startup batch, which has a numbering of its own.
	own bool
	// next is the chunk after this one. Its entry number from is the one that
	// follows; from is written before next.
	next atomic.Pointer[chunk]
	from int
}

// Audience is the listeners that some notifications are for; nil stands for all
// that were registered at the time, the zero Audience is nobody. It never changes.
type Audience struct {
	members map[*Listener]struct{}
}

// includes says whether l is addressed by a run that is for a.
func (a *Audience) includes(l *Listener) bool {
	if a == nil {
		return true
	}
	_, ok := a.members[l]
	return ok
}

// position is a place in the log: before entry index of chunk. The zero position
// is nowhere.
type position struct {
	chunk *chunk
	index int
}

// head returns the position after everything that is published in tail.
func (c *chunk) head() position { return position{c, int(c.n.Load())} }

// number counts the positions of the log from its beginning.
func (p position) number() uint64 { return p.chunk.base + uint64(p.index) }

// seq returns the sequence number of the notification after p.
func (p position) seq() uint64 {
	if p.chunk.own {
		return 0
	}
	return p.number() + 1
}

// forward returns the position of that number if it is ahead of p, else p. It
// has been published and begins a run.
func (p position) forward(number uint64) position {
	if number <= p.number() {
		return p
	}
	for p.chunk.base+chunkSize < number {
		p.chunk = p.chunk.next.Load()
	}
	return position{p.chunk, int(number - p.chunk.base)}
}

// next returns the position where the log goes on from p if p is at the end of
// its chunk and there is a chunk after it.
func (p position) next() (position, bool) {
	next := p.chunk.next.Load()
	// n is read after next: it is final now.
	if next == nil || p.index < int(p.chunk.n.Load()) {
		return p, false
	}
	return position{next, p.chunk.from}, true
}

// writer appends one batch to the log. It publishes a chunk when it is full, the
// last one when it is flushed.
type writer struct {
	tail  *chunk
	n     uint32    // entries written to tail, published or not
	run   uint32    // where the run under way began in tail
	to    *Audience // whom it is for
	round uint16
	at    int64
}

// writeAt returns a writer that goes on after what tail holds.
func writeAt(tail *chunk, round uint16, at int64) writer {
	n := tail.n.Load()
	return writer{tail: tail, n: n, run: n, round: round, at: at}
}

// append adds a copy of n for the listeners of to, and numbers n.
func (w *writer) append(n *Notification, to *Audience) {
	if w.n == chunkSize {
		w.flush()
		next := &chunk{base: w.tail.base + chunkSize, own: w.tail.own}
		w.tail.next.Store(next)
		w.tail, w.n, w.run = next, 0, 0
	}
	if to != w.to {
		w.endRun()
		w.to = to
	}
	e := &w.tail.entries[w.n]
	e.key, e.old, e.new = n.Key, n.Old, n.New
	e.arrived, e.at = n.Arrived, w.at
	e.to = to
	e.kind, e.cause, e.marks = n.Kind, n.Cause, marksOf(n)
	e.round, e.merged = w.round, n.Merged
	n.At, n.Seq = w.at, position{w.tail, int(w.n)}.seq()
	w.n++
}

// endRun says of the run under way how long it is.
func (w *writer) endRun() {
	if w.n > w.run {
		w.tail.entries[w.run].skip = uint8(w.n - w.run)
	}
	w.run = w.n
}

// flush publishes what was written.
func (w *writer) flush() {
	w.endRun()
	w.tail.n.Store(w.n)
}
