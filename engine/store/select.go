package store

import (
	"math/bits"
	"slices"
)

// smallestBetween returns what would be s[start:end] if s were sorted, and
// leaves s in another order. The numbers must differ. It takes time in
// proportion to len(s), and sorts only what it returns.
func smallestBetween(s []uint64, start, end int) []uint64 {
	split(s, start)
	s = s[start:]
	split(s, end-start)
	s = s[:end-start]
	slices.Sort(s)
	return s
}

// split moves the n smallest numbers to the front (quickselect).
func split(s []uint64, n int) {
	// Pivots that are bad again and again are given up on: sorting is slower
	// than selecting, but never quadratic.
	for tries := 4 * bits.Len(uint(len(s))); 0 < n && n < len(s); tries-- {
		if len(s) <= 16 || tries == 0 {
			slices.Sort(s)
			return
		}
		switch p := partition(s); {
		case n < p:
			s = s[:p]
		default:
			s, n = s[p:], n-p
		}
	}
}

// partition moves numbers below a pivot in front of the others and returns how
// many those are: at least one, and not all.
func partition(s []uint64) int {
	first, middle, last := s[0], s[len(s)/2], s[len(s)-1]
	// The median of three is larger than at least one of them.
	pivot := max(min(first, middle), min(max(first, middle), last))
	i, j := 0, len(s)-1
	for {
		for s[i] < pivot {
			i++
		}
		for s[j] >= pivot {
			j--
		}
		if i >= j {
			return i
		}
		s[i], s[j] = s[j], s[i]
	}
}
