package tap

// ringFirst is how many values a Ring has room for at first.
const ringFirst = 256

// Ring keeps the newest values that it is given: as many as it has places, whose
// number is a power of two. What it overwrites it counts. Its memory grows with
// what it holds, up to its size. Not safe for concurrent use.
type Ring[T any] struct {
	// values[n & (len-1)] is where the value number n goes. Until the ring has
	// its full size, nothing was overwritten: values[:n] are all there are.
	values []T
	size   int
	n      uint64
}

// NewRing returns a ring with places for size values, a power of two.
func NewRing[T any](size int) *Ring[T] {
	if size < 1 || size&(size-1) != 0 {
		panic("bug: a ring's size is a power of two")
	}
	return &Ring[T]{values: make([]T, min(size, ringFirst)), size: size}
}

// Next returns the place of the next value, for the caller to write all of.
func (r *Ring[T]) Next() *T {
	if r.n == uint64(len(r.values)) && len(r.values) < r.size {
		r.grow()
	}
	place := &r.values[r.n&uint64(len(r.values)-1)]
	r.n++
	return place
}

func (r *Ring[T]) grow() {
	values := make([]T, min(2*len(r.values), r.size))
	copy(values, r.values)
	r.values = values
}

// Skip counts n values as overwritten that were not worth writing, because so
// many follow that none of them would stay.
func (r *Ring[T]) Skip(n int) {
	for len(r.values) < r.size {
		r.grow()
	}
	r.n += uint64(n)
}

// Len returns how many values there are.
func (r *Ring[T]) Len() int { return int(min(r.n, uint64(len(r.values)))) }

// Lost returns how many values were overwritten.
func (r *Ring[T]) Lost() uint64 { return r.n - uint64(r.Len()) }

// At returns the value of a rank: 0 is the newest, Len-1 the oldest. It is valid
// until the next call of Next.
func (r *Ring[T]) At(rank int) *T {
	return &r.values[(r.n-1-uint64(rank))&uint64(len(r.values)-1)]
}
