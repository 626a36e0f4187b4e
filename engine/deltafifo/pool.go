package deltafifo

const (
	// poolItems is how many unused items are kept, and poolDeltas the most
	// deltas for which an unused item keeps room: together at most 1.5 MiB.
	poolItems  = 1024
	poolDeltas = 8
)

// pool keeps items to be used again, so that enqueueing in a queue that is
// emptied as fast as it fills allocates nothing. Guarded by its owner's lock.
type pool struct{ free []*item }

func (p *pool) get() *item {
	n := len(p.free)
	if n == 0 {
		// One allocation for the item and for the one delta that most have.
		one := &struct {
			item
			first [1]delta
		}{}
		one.waiting = one.first[:0]
		return &one.item
	}
	it := p.free[n-1]
	p.free[n-1] = nil
	p.free = p.free[:n-1]
	return it
}

// put takes an item that nothing refers to. Its deltas have been cleared.
func (p *pool) put(it *item) {
	if len(p.free) == poolItems || cap(it.waiting) > poolDeltas {
		return
	}
	*it = item{waiting: it.waiting[:0]}
	p.free = append(p.free, it)
}
