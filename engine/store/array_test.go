package store_test

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/informeter/informeter/engine/store"
)

// TestTheArrayIsASlice compares the array with a slice, over several pages.
func TestTheArrayIsASlice(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var want []int
		x := store.NewArray()
		t.Repeat(map[string]func(*rapid.T){
			"push": func(t *rapid.T) {
				for range rapid.IntRange(1, 1500).Draw(t, "times") {
					x.Push(len(want))
					want = append(want, len(want))
				}
			},
			"pop": func(t *rapid.T) {
				for range min(len(want), rapid.IntRange(1, 1500).Draw(t, "times")) {
					x.Pop()
					want = want[:len(want)-1]
				}
			},
			"set": func(t *rapid.T) {
				if len(want) > 0 {
					at := rapid.IntRange(0, len(want)-1).Draw(t, "at")
					want[at] = -at
					*x.At(at) = -at
				}
			},
			"": func(t *rapid.T) {
				if err := x.Check(); err != nil {
					t.Fatal(err)
				}
				if got := x.List(); got == nil || !slices.Equal(got, want) {
					t.Fatalf("%d elements %v, want %d", len(got), got, len(want))
				}
				if room := x.Room(); room > 4*len(want)+2048 {
					t.Fatalf("room for %d, there are %d", room, len(want))
				}
			},
		})
	})
}

// If elements come and go at the border of two pages, no page is made each time.
func TestAtTheBorderOfTwoPagesNothingIsAllocated(t *testing.T) {
	x := store.NewArray()
	for i := range 2048 {
		x.Push(i)
	}
	x.Push(0)
	if n := testing.AllocsPerRun(100, func() {
		for range 3 {
			x.Pop()
		}
		for range 3 {
			x.Push(1)
		}
	}); n != 0 {
		t.Errorf("%v allocations, want none", n)
	}
}

// If most numbers go, so do most slots, and the others are still found.
func TestTheTableShrinks(t *testing.T) {
	const most = 5000
	x := store.NewTable(0)
	texts := make([]string, most)
	hash := func(i int) uint32 { return uint32(i) * 0x9e3779b9 }
	for i := range texts {
		texts[i] = string(rune('a'+i%26)) + string(rune(0x4e00+i))
		x.Insert(hash(i), uint32(i))
	}
	for i := range most - 10 {
		x.Remove(hash(i), uint32(i))
	}
	if slots := x.Slots(); slots > 64 {
		t.Errorf("%d slots for 10 numbers", slots)
	}
	for i := range texts {
		if got, ok := x.Find(texts, hash(i), texts[i]); ok != (i >= most-10) || ok && got != uint32(i) {
			t.Fatalf("number %d is found as %d, %v", i, got, ok)
		}
	}
}
