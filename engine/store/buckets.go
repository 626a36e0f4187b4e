package store

import "slices"

// size is how many objects the bucket at that rank of the heap has.
func (ix *index) size(rank uint32) int { return len(ix.buckets[ix.heap[rank]].members) }

// swap exchanges two buckets in the heap.
func (ix *index) swap(a, b uint32) {
	ix.heap[a], ix.heap[b] = ix.heap[b], ix.heap[a]
	ix.buckets[ix.heap[a]].rank = a
	ix.buckets[ix.heap[b]].rank = b
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
	if wasteful(len(ix.heap), len(ix.buckets)) {
		ix.renumberBuckets()
	}
	if wasteful(len(ix.lists)-len(ix.idleLists), len(ix.lists)) {
		ix.renumberLists()
	}
}

// renumberBuckets gives the buckets in use numbers without gaps.
func (ix *index) renumberBuckets() {
	numbers := make([]uint32, len(ix.buckets))
	buckets := make([]bucket, 0, 2*len(ix.heap))
	values := make([]string, 0, 2*len(ix.heap))
	byValue := newTable(len(ix.heap))
	for rank, old := range ix.heap {
		n := uint32(len(buckets))
		numbers[old] = n
		buckets, values = append(buckets, ix.buckets[old]), append(values, ix.values[old])
		byValue.insert(byValue.hash(values[n]), n)
		ix.heap[rank] = n
	}
	for i := range ix.homes {
		if home := &ix.homes[i]; home.bucket < several {
			home.bucket = numbers[home.bucket]
		}
	}
	for _, list := range ix.lists {
		for i := range list {
			list[i].bucket = numbers[list[i].bucket]
		}
	}
	ix.buckets, ix.values, ix.byValue, ix.idle = buckets, values, byValue, nil
	ix.heap = slices.Clone(ix.heap)
	ix.dropViews()
}

// renumberLists gives the lists in use slots without gaps.
func (ix *index) renumberLists() {
	lists := make([][]member, 0, 2*(len(ix.lists)-len(ix.idleLists)))
	for i := range ix.homes {
		if home := &ix.homes[i]; home.bucket == several {
			lists = append(lists, ix.lists[home.place])
			home.place = uint32(len(lists) - 1)
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
