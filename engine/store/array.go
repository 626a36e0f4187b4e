package store

// array is a list that grows without being moved: its elements are in pages. A
// slice of 100,000 that is appended to has been copied often and has left four
// times its size to the garbage collector by then, and copying a million elements
// is what readers would have to wait for.
//
//	at(2050)      pages   0 ─▶ [1024]
//	= page 2              1 ─▶ [1024]
//	  place 2             2 ─▶ [..3]   the last: appended to
//
// The first page grows as slices do, so that little needs little.
type array[T any] struct {
	// All pages but the last that is in use are full; one more may be empty.
	pages [][]T
	n     int
}

const (
	pageBits = 10
	pageSize = 1 << pageBits
	pageMask = pageSize - 1
)

// at returns the element at that place, which is less than n.
func (a *array[T]) at(i uint32) *T { return &a.pages[i>>pageBits][i&pageMask] }

// push appends an element.
func (a *array[T]) push(v T) {
	p := a.n >> pageBits
	if p == len(a.pages) {
		var page []T
		if p > 0 {
			page = make([]T, 0, pageSize)
		}
		a.pages = append(a.pages, page)
	}
	a.pages[p] = append(a.pages[p], v)
	a.n++
}

// pop removes the last element. Pages that are not in use go, but not at once: at
// the border between two, adding and removing must not make and drop one again
// and again.
func (a *array[T]) pop() {
	a.n--
	p := a.n >> pageBits
	clear(a.pages[p][a.n&pageMask:]) // keeps nothing alive
	a.pages[p] = a.pages[p][:a.n&pageMask]
	if a.n == p<<pageBits+pageSize/2 {
		clear(a.pages[p+1:])
		a.pages = tightened(a.pages[:p+1])
	}
	if p == 0 {
		a.pages[0] = tightened(a.pages[0])
	}
}

// list returns the elements in a slice of the caller's own, which is never nil.
func (a *array[T]) list() []T {
	list := make([]T, 0, a.n)
	for _, page := range a.pages {
		list = append(list, page...)
	}
	return list
}
