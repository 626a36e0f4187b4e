package processor

import "sync/atomic"

// chunkSize is how many notifications one chunk of the log holds. It bounds what
// stays in memory for a listener's sake after it was delivered, and how often a
// listener that works off a backlog takes its lock: once a chunk.
const chunkSize = 64

// entry is one notification in the log, and whom it is for.
type entry struct {
	Notification
	// to is nil if every listener registered at the time is addressed.
	to *audience
	// skip leads from the first entry of a run, the entries of one batch and one
	// chunk with the same addressees, past its last. It is set on the first entry
	// only: a cursor meets a run at its start.
	skip uint32
	// round is the resync round the notification was published in.
	round uint32
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
	// next is the chunk after this one. Its entry number from is the one that
	// follows; from is written before next.
	next atomic.Pointer[chunk]
	from int
}

// audience is the listeners a run is for. It never changes.
type audience struct {
	members map[*Listener]struct{}
}

// includes says whether l is addressed by a run that is for a.
func (a *audience) includes(l *Listener) bool {
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

// seq numbers the positions of the log.
func (p position) seq() uint64 { return p.chunk.base + uint64(p.index) }

// forward returns the position of that number if it is ahead of p, else p. It
// has been published and begins a run.
func (p position) forward(seq uint64) position {
	if seq <= p.seq() {
		return p
	}
	for p.chunk.base+chunkSize < seq {
		p.chunk = p.chunk.next.Load()
	}
	return position{p.chunk, int(seq - p.chunk.base)}
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
	to    *audience // whom it is for
	round uint32
	at    int64
}

// writeAt returns a writer that goes on after what tail holds.
func writeAt(tail *chunk, round uint32, at int64) writer {
	n := tail.n.Load()
	return writer{tail: tail, n: n, run: n, round: round, at: at}
}

// append adds a copy of n for the listeners of to.
func (w *writer) append(n *Notification, to *audience) {
	if w.n == chunkSize {
		w.flush()
		next := &chunk{base: w.tail.base + chunkSize}
		w.tail.next.Store(next)
		w.tail, w.n, w.run = next, 0, 0
	}
	if to != w.to {
		w.endRun()
		w.to = to
	}
	e := &w.tail.entries[w.n]
	e.Notification = *n
	e.At = w.at
	e.to = to
	e.round = w.round
	w.n++
}

// endRun says of the run under way how long it is.
func (w *writer) endRun() {
	if w.n > w.run {
		w.tail.entries[w.run].skip = w.n - w.run
	}
	w.run = w.n
}

// flush publishes what was written.
func (w *writer) flush() {
	w.endRun()
	w.tail.n.Store(w.n)
}
