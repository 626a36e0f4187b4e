package deltafifo

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/informeter/informeter/engine/inspect"
)

// TestARankingShowsWhatSortingWould, of many candidates in any order, and holds no
// more than twice as many as up to the end of the window.
func TestARankingShowsWhatSortingWould(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for range 3000 {
		n := random.IntN(400)
		keys := make([]string, n)
		for i := range keys {
			keys[i] = strconv.Itoa(random.IntN(max(n, 1)))
		}
		if random.IntN(4) == 0 {
			slices.Sort(keys)
		}
		q := inspect.QueueQuery{Sort: inspect.SortKey, Desc: random.IntN(2) == 0, Offset: random.IntN(n + 20), Limit: random.IntN(60)}
		if random.IntN(2) == 0 {
			q.Offset /= 8 // so that there is much to leave out
		}
		if err := ranks(keys, q, n*random.IntN(2)); err != nil {
			t.Fatalf("%+v of %q: %v", q, keys, err)
		}
	}
}

func ranks(keys []string, q inspect.QueueQuery, expected int) error {
	r := newRanking(q, expected)
	want := make([]candidate, len(keys))
	for i, key := range keys {
		want[i] = candidate{key: key, position: int64(i)}
		if r.add(want[i]); len(r.kept) > 2*(q.Offset+q.Limit) {
			return fmt.Errorf("holds %d", len(r.kept))
		}
	}
	slices.SortStableFunc(want, func(a, b candidate) int {
		if q.Desc {
			a, b = b, a
		}
		return strings.Compare(a.key, b.key)
	})
	start, end := inspect.Window(0, q.Offset, q.Limit, len(keys))
	got, from, seen := r.rows()
	if from != start || seen != len(keys) || !slices.Equal(got, want[start:end]) {
		return fmt.Errorf("from %d of %d: %v, want from %d of %d: %v", from, seen, got, start, len(keys), want[start:end])
	}
	return nil
}
