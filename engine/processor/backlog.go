package processor

import "iter"

// backlog is what waits for a listener that has left the log: for each key what
// has to be told to get from the state that the handler knows to the newest.
//
//	waits        comes     waits then
//	add          update    add of the newest
//	add          delete    nothing: the handler never knew it
//	update       update    update from the oldest to the newest
//	update       delete    delete
//	delete       add       delete, then add: it is another object
//	delete, add  update    delete, then add of the newest
//	delete, add  delete    delete, of the object that the handler knows
//
// Keys come in the order in which they began to wait, so that one that changes
// all the time neither goes first nor waits for ever. Its size is bounded by the
// number of keys. The zero value is ready.
type backlog struct {
	items map[string]*waiting
	// first and last are the ends of a list of all items.
	first, last *waiting
	// gone is what put returns.
	gone [2]uint64
}

// waiting is one key of a backlog.
type waiting struct {
	key        string
	prev, next *waiting
	// note is what is told first. again, if it is not nil, is an add that is told
	// after it: then note is a delete.
	note  queued
	again *queued
}

// queued is an entry that was taken out of the log.
type queued struct {
	entry
	seq uint64
}

// put adds an entry to what waits for its key. It returns which notifications,
// by their sequence numbers, are not to be told any more, and how many of them
// were part of the initial list.
func (b *backlog) put(key string, q queued) (gone []uint64, initial uint64) {
	it := b.items[key]
	if it == nil || key == "" {
		b.append(&waiting{key: key, note: q})
		return nil, 0
	}
	if it.again == nil && it.note.kind == Delete {
		if q.kind == Delete {
			return b.absorb(&it.note, &q)
		}
		q.kind, q.old = Add, nil
		it.again = &q
		return nil, 0
	}
	newest := &it.note
	if it.again != nil {
		newest = it.again
	}
	if q.kind != Delete || newest.kind == Update {
		return b.absorb(newest, &q)
	}
	b.gone = [2]uint64{newest.seq, q.seq}
	// An object that the handler never knew is gone again.
	initial = count(newest.marks.has(markInitial)) + count(q.marks.has(markInitial))
	if it.again != nil {
		it.again = nil
	} else {
		b.remove(it)
	}
	return b.gone[:], initial
}

// absorb lets an entry take in a later one, and returns what put does.
func (b *backlog) absorb(q, later *queued) (gone []uint64, initial uint64) {
	b.gone[0] = q.seq
	return b.gone[:1], q.absorb(later)
}

// absorb turns q, an add or an update, into what tells of later, too. It returns
// how many notifications of the initial list are one less.
func (q *queued) absorb(later *queued) (initial uint64) {
	initial = count((q.marks & later.marks).has(markInitial))
	q.seq = later.seq
	q.arrived = later.arrived
	q.round, q.merged = later.round, later.merged
	q.marks |= later.marks & markInitial
	if !later.marks.has(markDueOnly) {
		// What changed the object says more than what repeated it.
		q.cause = later.cause
		q.marks &^= markDueOnly
	}
	if later.kind == Delete {
		q.kind, q.old, q.new = Delete, later.old, nil
		return initial
	}
	q.new = later.new
	return initial
}

func count(yes bool) uint64 {
	if yes {
		return 1
	}
	return 0
}

// pop takes what is to be told next.
func (b *backlog) pop() (q queued, ok bool) {
	it := b.first
	if it == nil {
		return queued{}, false
	}
	q = it.note
	if it.again != nil {
		it.note, it.again = *it.again, nil
		return q, true
	}
	b.remove(it)
	return q, true
}

func (b *backlog) append(it *waiting) {
	if it.key != "" {
		if b.items == nil {
			b.items = map[string]*waiting{}
		}
		b.items[it.key] = it
	}
	it.prev = b.last
	if b.last != nil {
		b.last.next = it
	} else {
		b.first = it
	}
	b.last = it
}

func (b *backlog) remove(it *waiting) {
	if it.key != "" {
		delete(b.items, it.key)
	}
	if it.prev != nil {
		it.prev.next = it.next
	} else {
		b.first = it.next
	}
	if it.next != nil {
		it.next.prev = it.prev
	} else {
		b.last = it.prev
	}
}

// all yields what waits in the backlog.
func (b *backlog) all() iter.Seq[*queued] {
	return func(yield func(*queued) bool) {
		for it := b.first; it != nil; it = it.next {
			if !yield(&it.note) || it.again != nil && !yield(it.again) {
				return
			}
		}
	}
}
