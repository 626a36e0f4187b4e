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

// put adds an entry to what waits for its key. It returns how many notifications
// are not to be told any more, and how many of them were part of the initial
// list.
func (b *backlog) put(key string, q queued) (gone, initial uint64) {
	it := b.items[key]
	if it == nil || key == "" {
		b.append(&waiting{key: key, note: q})
		return 0, 0
	}
	if it.again == nil && it.note.kind == Delete {
		if q.kind == Delete {
			return 1, it.note.absorb(&q)
		}
		q.kind, q.old = Add, nil
		it.again = &q
		return 0, 0
	}
	newest := &it.note
	if it.again != nil {
		newest = it.again
	}
	if q.kind != Delete || newest.kind == Update {
		return 1, newest.absorb(&q)
	}
	// An object that the handler never knew is gone again.
	initial = count(newest.initial) + count(q.initial)
	if it.again != nil {
		it.again = nil
	} else {
		b.remove(it)
	}
	return 2, initial
}

// absorb turns q, an add or an update, into what tells of later, too. It returns
// how many notifications of the initial list are one less.
func (q *queued) absorb(later *queued) (initial uint64) {
	initial = count(q.initial && later.initial)
	q.seq = later.seq
	q.arrived = later.arrived
	q.round = later.round
	q.initial = q.initial || later.initial
	if !later.dueOnly {
		// What changed the object says more than what repeated it.
		q.cause, q.dueOnly = later.cause, false
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
