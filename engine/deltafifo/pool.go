package deltafifo

const (
	// poolItems is how many unused items are kept, and poolDeltas the most
	// deltas for which an unused item keeps room: half a MiB at most.
	poolItems  = 1024
	poolDeltas = 8
	// poolSlab is how many items are made at once when many are needed. An item
	// keeps the memory of its slab, whose items are popped one after another, so
	// it is free or in the pool nearly as a whole.
	poolSlab = 32
)

// pool keeps items to be used again, so that enqueueing in a queue that is
// emptied as fast as it fills allocates nothing. Guarded by its owner's lock.
type pool struct {
	free []*item
	// slab holds items that were made and never used, reserved says how many
	// more to make in slabs.
	slab     []cell
	reserved int
}

// cell is an item with room for the one delta that most have.
type cell struct {
	item
	first [1]delta
}

// reserve says that n items will be asked for.
func (p *pool) reserve(n int) { p.reserved = max(n-len(p.free)-len(p.slab), 0) }

func (p *pool) get() *item {
	if n := len(p.free); n > 0 {
		it := p.free[n-1]
		p.free[n-1] = nil
		p.free = p.free[:n-1]
		return it
	}
	if len(p.slab) == 0 {
		n := max(min(p.reserved, poolSlab), 1)
		p.reserved = max(p.reserved-n, 0)
		p.slab = make([]cell, n)
	}
	c := &p.slab[0]
	p.slab = p.slab[1:]
	c.waiting = c.first[:0]
	return &c.item
}

// put takes an item that nothing refers to. Its deltas have been cleared.
func (p *pool) put(it *item) {
	if len(p.free) == poolItems || cap(it.waiting) > poolDeltas {
		return
	}
	*it = item{waiting: it.waiting[:0]}
	p.free = append(p.free, it)
}
