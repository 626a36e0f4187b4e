package store_test

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/informeter/informeter/engine/store"
)

func TestSmallestBetweenIsWhatSortingGives(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		// Few sizes above many ranks, as buckets have them, or any numbers.
		numbers := rapid.SliceOfNDistinct(rapid.OneOf(
			rapid.Uint64Range(0, 300),
			rapid.Uint64(),
		), 0, 200, func(n uint64) uint64 { return n }).Draw(t, "numbers")
		switch rapid.IntRange(0, 2).Draw(t, "order") {
		case 0:
			slices.Sort(numbers)
		case 1:
			slices.Sort(numbers)
			slices.Reverse(numbers)
		}
		start := rapid.IntRange(0, len(numbers)).Draw(t, "start")
		end := rapid.IntRange(start, len(numbers)).Draw(t, "end")
		want := slices.Sorted(slices.Values(numbers))[start:end]
		if got := store.SmallestBetween(slices.Clone(numbers), start, end); !slices.Equal(got, want) {
			t.Fatalf("[%d:%d] of %v = %v, want %v", start, end, numbers, got, want)
		}
	})
}

// TestTheTableIsAMap compares the table with a map. Hashes are drawn from few,
// so that searches cross each other and the end of the array.
func TestTheTableIsAMap(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var texts []string
		hashes := map[string]uint32{}
		numbers := map[string]uint32{}
		x := store.NewTable(rapid.IntRange(0, 20).Draw(t, "room"))
		t.Repeat(map[string]func(*rapid.T){
			"insert": func(t *rapid.T) {
				text := rapid.StringMatching("[a-z]{1,3}").Draw(t, "text")
				if _, ok := numbers[text]; ok {
					return
				}
				if _, ok := hashes[text]; !ok {
					hashes[text] = rapid.Uint32Range(0, 9).Draw(t, "hash") * 0x1fffffff
				}
				numbers[text] = uint32(len(texts))
				texts = append(texts, text)
				x.Insert(hashes[text], numbers[text])
			},
			"remove": func(t *rapid.T) {
				if len(numbers) == 0 {
					return
				}
				text := drawText(t, numbers)
				x.Remove(hashes[text], numbers[text])
				delete(numbers, text)
			},
			"rename": func(t *rapid.T) {
				if len(numbers) == 0 {
					return
				}
				text := drawText(t, numbers)
				x.Rename(hashes[text], numbers[text], uint32(len(texts)))
				numbers[text] = uint32(len(texts))
				texts = append(texts, text)
			},
			"": func(t *rapid.T) {
				for text, hash := range hashes {
					want, exists := numbers[text]
					if got, ok := x.Find(texts, hash, text); ok != exists || ok && got != want {
						t.Fatalf("%q is at %d, %v, want %d, %v", text, got, ok, want, exists)
					}
				}
				if x.Taken() != len(numbers) {
					t.Fatalf("%d taken, want %d", x.Taken(), len(numbers))
				}
			},
		})
	})
}

func drawText(t *rapid.T, numbers map[string]uint32) string {
	var texts []string
	for text := range numbers {
		texts = append(texts, text)
	}
	slices.Sort(texts)
	return rapid.SampledFrom(texts).Draw(t, "which")
}
