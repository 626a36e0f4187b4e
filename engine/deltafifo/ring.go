package deltafifo

const (
	// ringMin is the smallest buffer of a ring, ringKeep the largest that it
	// keeps when it is emptied; both are powers of two.
	ringMin  = 16
	ringKeep = 1024
)

// ring is a double-ended queue in which every element can be reached by its
// rank. The zero value is ready.
type ring[T any] struct {
	// buf has a length of zero or a power of two. The elements are at
	// buf[(head+i)%len(buf)] for 0 <= i < n; all others are zero.
	buf  []T
	head int
	n    int
}

func (r *ring[T]) len() int { return r.n }

// at returns the element of rank i, 0 <= i < len.
func (r *ring[T]) at(i int) *T { return &r.buf[(r.head+i)&(len(r.buf)-1)] }

func (r *ring[T]) pushBack(v T) {
	if r.n == len(r.buf) {
		r.resize(max(ringMin, 2*r.n))
	}
	r.n++
	*r.at(r.n - 1) = v
}

func (r *ring[T]) pushFront(v T) {
	if r.n == len(r.buf) {
		r.resize(max(ringMin, 2*r.n))
	}
	r.head = (r.head - 1) & (len(r.buf) - 1)
	r.n++
	*r.at(0) = v
}

// popFront removes the first element. A buffer that is seven eighths empty is
// halved, so that a drained backlog gives its memory back.
func (r *ring[T]) popFront() T {
	var zero T
	v := *r.at(0)
	*r.at(0) = zero
	r.head = (r.head + 1) & (len(r.buf) - 1)
	r.n--
	if len(r.buf) > ringKeep && r.n <= len(r.buf)/8 {
		r.resize(len(r.buf) / 2)
	}
	return v
}

// grow makes room for n more elements.
func (r *ring[T]) grow(n int) {
	size := max(ringMin, len(r.buf))
	for size < r.n+n {
		size *= 2
	}
	if size > len(r.buf) {
		r.resize(size)
	}
}

func (r *ring[T]) resize(size int) {
	buf := make([]T, size)
	for i := range r.n {
		buf[i] = *r.at(i)
	}
	r.buf, r.head = buf, 0
}
