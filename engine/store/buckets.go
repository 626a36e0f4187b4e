package store

import "slices"

// size is how many objects the bucket at that rank of the heap has.
func (ix *index) size(rank uint32) int { return len(ix.buckets.at(ix.heap[rank]).members) }

// swap exchanges two buckets in the heap.
func (ix *index) swap(a, b uint32) {
	ix.heap[a], ix.heap[b] = ix.heap[b], ix.heap[a]
	ix.buckets.at(ix.heap[a]).rank = a
	ix.buckets.at(ix.heap[b]).rank = b
}

// siftUp restores the heap after the bucket at that rank has grown. Buckets
// mostly stay where they are: only one that outgrows its parent moves.
func (ix *index) siftUp(rank uint32) {
	for rank > 0 {
		parent := (rank - 1) / 2
		if ix.size(rank) <= ix.size(parent) {
			return
		}
		ix.swap(rank, parent)
		rank = parent
	}
}

// siftDown restores the heap after the bucket at that rank has shrunk.
func (ix *index) siftDown(rank uint32) {
	n := uint32(len(ix.heap))
	for {
		largest := rank
		for child := 2*rank + 1; child <= 2*rank+2 && child < n; child++ {
			if ix.size(child) > ix.size(largest) {
				largest = child
			}
		}
		if largest == rank {
			return
		}
		ix.swap(rank, largest)
		rank = largest
	}
}

// settle lets memory follow what the index holds, not its peak. Nothing may hold
// the number of a bucket or of a list across it.
func (ix *index) settle() {
	if wasteful(len(ix.heap), ix.buckets.n) {
		ix.renumberBuckets()
	}
	if wasteful(ix.lists.n-len(ix.idleLists), ix.lists.n) {
		ix.renumberLists()
	}
}

// renumberBuckets gives the buckets in use numbers without gaps.
func (ix *index) renumberBuckets() {
	numbers := make([]uint32, ix.buckets.n)
	var buckets array[bucket]
	var values array[string]
	byValue := newTable(len(ix.heap))
	for rank, old := range ix.heap {
		n, value := uint32(buckets.n), *ix.values.at(old)
		numbers[old] = n
		buckets.push(*ix.buckets.at(old))
		values.push(value)
		byValue.insert(byValue.hash(value), n)
		ix.heap[rank] = n
	}
	for pos := range uint32(ix.homes.n) {
		if home := ix.homes.at(pos); home.bucket < several {
			home.bucket = numbers[home.bucket]
		}
	}
	for slot := range uint32(ix.lists.n) {
		for i, list := 0, *ix.lists.at(slot); i < len(list); i++ {
			list[i].bucket = numbers[list[i].bucket]
		}
	}
	ix.buckets, ix.values, ix.byValue, ix.idle = buckets, values, byValue, nil
	ix.heap = slices.Clone(ix.heap)
	ix.dropViews()
}

// renumberLists gives the lists in use slots without gaps.
func (ix *index) renumberLists() {
	var lists array[[]member]
	for pos := range uint32(ix.homes.n) {
		if home := ix.homes.at(pos); home.bucket == several {
			lists.push(*ix.lists.at(home.place))
			home.place = uint32(lists.n - 1)
		}
	}
	ix.lists, ix.idleLists = lists, nil
}

// Below this many elements memory is not worth giving back.
const smallest = 64

// wasteful says whether so little of a large array is used that a smaller one
// should take its place. The next time is at least as many removals away as
// there are elements to move now.
func wasteful(used, size int) bool { return size > smallest && used < size/4 }

// tightened returns s in a smaller array if most of its array is unused.
func tightened[T any](s []T) []T {
	if !wasteful(len(s), cap(s)) {
		return s
	}
	return append(make([]T, 0, 2*len(s)), s...)
}
