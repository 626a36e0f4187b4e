package journal

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"pgregory.net/rapid"

	"github.com/informeter/informeter/engine/inspect"
)

var start = time.Unix(1_000_000, 0)

func pod(key, rv string) *corev1.Pod {
	ns, name, _ := strings.Cut(key, "/")
	return &corev1.Pod{ObjectMeta: metav1.ObjectMeta{
		Namespace: ns, Name: name, ResourceVersion: rv, CreationTimestamp: metav1.NewTime(start),
	}}
}

func keysOf(p inspect.Page) []string {
	keys := []string{}
	for _, r := range p.Rows {
		keys = append(keys, r.Key)
	}
	return keys
}

func TestOnlyNewsCountAsUpdates(t *testing.T) {
	j := New()
	for i, c := range []inspect.Cause{
		inspect.CauseLateJoin, inspect.CauseWatch, inspect.CauseResync, inspect.CauseRelistUnchanged, inspect.CauseRelistChanged,
	} {
		j.Observe("a/x", pod("a/x", fmt.Sprint(i)), c, start.Add(time.Duration(i)*time.Second))
	}
	page, err := j.Page(inspect.Query{Limit: 10})
	if err != nil {
		t.Fatal(err)
	}
	want := []inspect.Row{{
		Key: "a/x", ResourceVersion: "4", Created: start, Changed: start.Add(4 * time.Second), Updates: 2,
	}}
	if diff := cmp.Diff(want, page.Rows); diff != "" {
		t.Errorf("rows (-want +got):\n%s", diff)
	}
}

func TestAnObjectThatStartedBeforeHasNotChanged(t *testing.T) {
	j := New()
	j.Observe("a/x", pod("a/x", "1"), inspect.CauseLateJoin, start)
	page, err := j.Page(inspect.Query{Limit: 1})
	if err != nil {
		t.Fatal(err)
	}
	if row := page.Rows[0]; !row.Changed.IsZero() || row.Updates != 0 {
		t.Errorf("a startup batch shows as a change: %+v", row)
	}
}

func TestTheWindowStaysWithItsAnchorWhenKeysComeAndGo(t *testing.T) {
	j := New()
	for i := range 100 {
		key := fmt.Sprintf("a/%03d", i)
		j.Observe(key, pod(key, "1"), inspect.CauseInitial, start)
	}
	query := inspect.Query{Cursor: "a/050", Offset: 2, Limit: 3}
	for _, change := range []func(){
		func() {},
		func() { j.Observe("a/0000", pod("a/0000", "1"), inspect.CauseWatch, start) },
		func() { j.Observe("a/007", nil, inspect.CauseWatch, start) },
	} {
		change()
		page, err := j.Page(query)
		if err != nil {
			t.Fatal(err)
		}
		if got := keysOf(page); !slices.Equal(got, []string{"a/052", "a/053", "a/054"}) {
			t.Errorf("window = %v", got)
		}
	}
}

func TestSortingByWhatIsNotKeptIsRefused(t *testing.T) {
	if _, err := New().Page(inspect.Query{Sort: "phase"}); !errors.Is(err, inspect.ErrUnsupported) {
		t.Errorf("error = %v, want ErrUnsupported", err)
	}
}

// TestPagesAnswerLikeASortedSlice compares random events and queries with the
// plain way to answer them.
func TestPagesAnswerLikeASortedSlice(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		j := New()
		model := map[string]bool{}
		key := rapid.StringMatching(`[ab]/[ab]{1,4}`)
		filter := rapid.SampledFrom([]string{"", "a", "B", "!b", "ab", "/a", "bb", "!a/a"})
		for range rapid.IntRange(1, 60).Draw(rt, "steps") {
			switch rapid.IntRange(0, 3).Draw(rt, "step") {
			case 0, 1:
				k := key.Draw(rt, "key")
				j.Observe(k, pod(k, "1"), inspect.CauseWatch, start)
				model[k] = true
			case 2:
				k := key.Draw(rt, "key")
				j.Observe(k, nil, inspect.CauseWatch, start)
				delete(model, k)
			case 3:
				q := inspect.Query{
					Filter: filter.Draw(rt, "filter"),
					Desc:   rapid.Bool().Draw(rt, "desc"),
					Cursor: rapid.SampledFrom([]string{"", "a/ab", "b/", "zz"}).Draw(rt, "cursor"),
					Offset: rapid.IntRange(-9, 9).Draw(rt, "offset"),
					Limit:  rapid.IntRange(0, 6).Draw(rt, "limit"),
				}
				page, err := j.Page(q)
				if err != nil {
					rt.Fatal(err)
				}
				if diff := cmp.Diff(plainPage(model, q), pageKeys{page.Total, page.Matched, page.Start, keysOf(page)}); diff != "" {
					rt.Fatalf("query %+v (-want +got):\n%s", q, diff)
				}
			}
		}
	})
}

type pageKeys struct {
	Total, Matched, Start int
	Keys                  []string
}

func plainPage(model map[string]bool, q inspect.Query) pageKeys {
	var keys []string
	match := inspect.Match(q.Filter)
	for k := range model {
		if match == nil || match(k) {
			keys = append(keys, k)
		}
	}
	slices.Sort(keys)
	if q.Desc {
		slices.Reverse(keys)
	}
	rank := 0
	if q.Cursor != "" {
		for rank < len(keys) && (!q.Desc && keys[rank] < q.Cursor || q.Desc && keys[rank] > q.Cursor) {
			rank++
		}
	}
	first, end := inspect.Window(rank, q.Offset, q.Limit, len(keys))
	return pageKeys{len(model), len(keys), first, append([]string{}, keys[first:end]...)}
}

func BenchmarkPage(b *testing.B) {
	for _, n := range []int{10_000, 1_000_000} {
		j := New()
		for i := range n {
			key := fmt.Sprintf("ns-%d/pod-%07d", i%50, i)
			j.keys.Set(key, record{})
		}
		for _, filter := range []string{"", "77"} {
			b.Run(fmt.Sprintf("keys=%d/filter=%q", n, filter), func(b *testing.B) {
				for b.Loop() {
					if _, err := j.Page(inspect.Query{Filter: filter, Cursor: "ns-25/pod-0000000", Limit: 50}); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}

func BenchmarkObserve(b *testing.B) {
	for _, n := range []int{10_000, 1_000_000} {
		b.Run(fmt.Sprintf("keys=%d", n), func(b *testing.B) {
			j := New()
			keys := make([]string, n)
			for i := range keys {
				keys[i] = fmt.Sprintf("ns-%d/pod-%07d", i%50, i)
				j.keys.Set(keys[i], record{})
			}
			obj := pod("a/x", "12345")
			i := 0
			for b.Loop() {
				j.Observe(keys[i*7919%n], obj, inspect.CauseWatch, start)
				i++
			}
		})
	}
}
