package tap

import (
	"testing"

	"pgregory.net/rapid"
)

// TestARingKeepsTheNewest compares with a slice that keeps everything.
func TestARingKeepsTheNewest(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		size := 1 << rapid.IntRange(0, 11).Draw(rt, "size")
		r := NewRing[int](size)
		var all []int
		for _, n := range rapid.SliceOf(rapid.IntRange(0, 700)).Draw(rt, "steps") {
			if skipped := n - size; skipped > 0 {
				r.Skip(skipped)
				for range skipped {
					all = append(all, -1)
				}
				n = size
			}
			for range n {
				all = append(all, len(all))
				*r.Next() = len(all) - 1
			}
			if want := min(len(all), size); r.Len() != want {
				rt.Fatalf("a ring of %d holds %d of %d", size, r.Len(), len(all))
			}
			if want := uint64(len(all) - r.Len()); r.Lost() != want {
				rt.Fatalf("lost %d, want %d", r.Lost(), want)
			}
			for rank := range r.Len() {
				if got, want := *r.At(rank), all[len(all)-1-rank]; got != want {
					rt.Fatalf("rank %d is %d, want %d", rank, got, want)
				}
			}
		}
	})
}

func TestARingStartsSmall(t *testing.T) {
	if r := NewRing[int](1 << 20); len(r.values) > ringFirst {
		t.Errorf("an empty ring has %d places", len(r.values))
	}
}

func BenchmarkRing(b *testing.B) {
	type value struct{ a, b, c uint64 }
	r := NewRing[value](1 << 13)
	for b.Loop() {
		*r.Next() = value{1, 2, 3}
	}
}
