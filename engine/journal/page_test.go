package journal

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/resourceversion"
	"pgregory.net/rapid"

	"github.com/informeter/informeter/engine/inspect"
)

func TestTheWindowStaysWithItsAnchorWhenKeysComeAndGo(t *testing.T) {
	j := unhurried(Options{})
	for i := range 100 {
		key := fmt.Sprintf("a/%03d", i)
		j.observed(key, pod(key, "1"), inspect.CauseInitial, start)
	}
	query := inspect.Query{Cursor: "a/050", Offset: 2, Limit: 3}
	for _, change := range []func(){
		func() {},
		func() { j.observed("a/0000", pod("a/0000", "1"), inspect.CauseWatch, start) },
		func() { j.gone("a/007") },
	} {
		change()
		if got := keysOf(page(t, j, query)); !slices.Equal(got, []string{"a/052", "a/053", "a/054"}) {
			t.Errorf("window = %v", got)
		}
	}
}

func TestTheWindowOfAnotherOrderStaysWithItsAnchorToo(t *testing.T) {
	j := unhurried(Options{})
	for i := range 50 {
		key := fmt.Sprintf("a/%02d", i)
		for n := range i {
			j.observed(key, pod(key, fmt.Sprint(n)), inspect.CauseWatch, start)
		}
	}
	query := inspect.Query{Sort: inspect.SortUpdates, Desc: true, Cursor: "a/30", Limit: 2}
	for _, c := range []struct {
		change func()
		want   []string
	}{
		{func() {}, []string{"a/30", "a/29"}},
		{func() { j.observed("a/99", pod("a/99", "1"), inspect.CauseWatch, start) }, []string{"a/30", "a/29"}},
		{func() { j.gone("a/40") }, []string{"a/30", "a/29"}},
		{func() { j.gone("a/30") }, []string{"a/29", "a/28"}}, // the rank it had
	} {
		c.change()
		if got := keysOf(page(t, j, query)); !slices.Equal(got, c.want) {
			t.Errorf("window = %v, want %v", got, c.want)
		}
	}
}

func TestWrongQueriesAreRefused(t *testing.T) {
	j := unhurried(Options{})
	for _, by := range []inspect.Sort{"phase", inspect.SortObjects} {
		if _, err := j.Page(t.Context(), inspect.Query{Sort: by}); !errors.Is(err, inspect.ErrUnsupported) {
			t.Errorf("sort by %s: %v, want ErrUnsupported", by, err)
		}
	}
	for _, text := range []string{"/(/", "-l a=(", "!-l a in"} {
		var wrong *inspect.FilterError
		if _, err := j.Page(t.Context(), inspect.Query{Filter: text}); !errors.As(err, &wrong) || wrong.Filter != text {
			t.Errorf("filter %q: %v, want a FilterError", text, err)
		}
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := j.Page(ended, inspect.Query{}); !errors.Is(err, context.Canceled) {
		t.Errorf("a query that nobody waits for: %v", err)
	}
}

func TestAWrongSelectorSaysWhatIsWrong(t *testing.T) {
	_, err := ParseFilter("-l app=web,tier in frontend")
	if err == nil || !strings.Contains(err.Error(), "label selector") || strings.Contains(err.Error(), "\n") {
		t.Errorf("error = %v", err)
	}
}

func TestVersionsAreOrderedAsApimachineryOrdersThem(t *testing.T) {
	o, _ := orderOf(inspect.SortVersion)
	version := rapid.OneOf(
		rapid.StringMatching(`[1-9][0-9]{0,4}`), rapid.StringMatching(`[1-9][0-9]{12,19}`), rapid.StringMatching(`1{14}[0-9]{0,3}`),
		rapid.StringMatching(`[1-9][0-9]{290}`), rapid.SampledFrom([]string{"", "0", "abc", "12x", "007"}),
	)
	rapid.Check(t, func(rt *rapid.T) {
		a, b := version.Draw(rt, "a"), version.Draw(rt, "b")
		want, err := resourceversion.CompareResourceVersion(a, b)
		if err != nil || len(a) > math.MaxUint8 || len(b) > math.MaxUint8 {
			return
		}
		if len(a) > 19 && len(a) == len(b) && a[:14] == b[:14] {
			want = 0 // no API server's are that long
		}
		if got := o.compareValues(o.item(&entry{object: pod("a/x", a)}), o.item(&entry{object: pod("a/x", b)})); got != want {
			rt.Fatalf("compare %s with %s = %d, want %d", a, b, got, want)
		}
	})
}

// modelRow is what the plain model knows of a key.
type modelRow struct {
	key, version, writer, app string
	created, changed          int64
	updates, noOps            int
	heat                      float64 // Σ exp of the updates' times in minutes
	size                      int
}

func (r *modelRow) before(o *modelRow, by inspect.Sort) int {
	switch by {
	case inspect.SortVersion:
		if order, err := resourceversion.CompareResourceVersion(r.version, o.version); err == nil {
			return order
		}
		return strings.Compare(r.version, o.version)
	case inspect.SortAge:
		return cmp.Compare(o.created, r.created)
	case inspect.SortChanged:
		return cmp.Compare(r.changed, o.changed)
	case inspect.SortUpdates:
		return cmp.Compare(r.updates, o.updates)
	case inspect.SortNoOps:
		return cmp.Compare(r.noOps, o.noOps)
	case inspect.SortRate:
		return cmp.Compare(r.heat, o.heat)
	case inspect.SortWriter:
		return strings.Compare(r.writer, o.writer)
	case inspect.SortSize:
		return cmp.Compare(r.size, o.size)
	}
	return strings.Compare(r.key, o.key)
}

var (
	sorts = []inspect.Sort{
		"", inspect.SortKey, inspect.SortVersion, inspect.SortAge, inspect.SortChanged, inspect.SortUpdates,
		inspect.SortRate, inspect.SortNoOps, inspect.SortWriter, inspect.SortSize,
	}
	filters = []string{"", "a", "B", "!b", "ab", "/a.b/", "!/^a/", "-f ab", "bb", "-l app=x", "!-l app=x", "-l app in (x,y)", "-l !app"}
)

type model map[string]*modelRow

// observe makes up an event, tells the journal, and writes down what it ought
// to know.
func (m model) observe(rt *rapid.T, j *Journal, now time.Time, flooded bool) {
	key := rapid.StringMatching(`[ab]/[ab]{1,4}`).Draw(rt, "key")
	if rapid.IntRange(0, 3).Draw(rt, "delete") == 0 {
		j.gone(key)
		delete(m, key)
		return
	}
	p := pod(key, fmt.Sprint(rapid.IntRange(1, 120).Draw(rt, "version")))
	p.CreationTimestamp = metav1.NewTime(start.Add(-time.Duration(rapid.IntRange(0, 3).Draw(rt, "age")) * time.Hour))
	writer := rapid.SampledFrom([]string{"", "kubelet", "kubectl", "kubectl-client-side-apply"}).Draw(rt, "writer")
	if writer != "" {
		p.ManagedFields = []metav1.ManagedFieldsEntry{{Manager: writer, Time: &metav1.Time{Time: now}}}
	}
	app := rapid.SampledFrom([]string{"", "x", "y", "z"}).Draw(rt, "app")
	if app != "" {
		p.Labels = map[string]string{"app": app}
	}
	r := m[key]
	known := r != nil
	fresh := rapid.Bool().Draw(rt, "fresh")
	if r != nil && !fresh {
		return // what is not new does not differ
	}
	cause := inspect.CauseInitial
	if fresh {
		cause = inspect.CauseWatch
	}
	j.observed(key, p, cause, now)
	if r == nil {
		r = &modelRow{key: key}
		m[key] = r
	}
	created := p.CreationTimestamp.Unix()
	if fresh && r.created != 0 && r.app == app && !flooded {
		r.noOps++ // all else that differs is noise
	}
	r.version, r.writer, r.app, r.created, r.size = p.ResourceVersion, writer, app, created, p.Size()
	if fresh {
		r.changed = now.UnixNano()
	}
	if fresh && known {
		r.updates++
		r.heat += math.Exp(now.Sub(j.rates.began).Minutes())
	}
}

func (m model) keeps(rt *rapid.T, r *modelRow, filter string) bool {
	switch filter {
	case "-l app=x":
		return r.app == "x"
	case "!-l app=x":
		return r.app != "x"
	case "-l app in (x,y)":
		return r.app == "x" || r.app == "y"
	case "-l !app":
		return r.app == ""
	}
	f, err := inspect.ParseFilter(filter)
	if err != nil {
		rt.Fatal(err)
	}
	return f.Keep(r.key)
}

type answered struct {
	Total, Matched, Scanned, Start int
	Keys                           []string
}

// answer works a query out the plain way, on the keys that are covered.
func (m model) answer(rt *rapid.T, q inspect.Query, covers func(string) bool) answered {
	a := answered{Total: len(m), Keys: []string{}}
	var rows []*modelRow
	order := func(x, y *modelRow) int {
		c := x.before(y, q.Sort)
		if q.Desc {
			c = -c
		}
		return cmp.Or(c, strings.Compare(x.key, y.key))
	}
	for _, r := range m {
		if covers(r.key) {
			a.Scanned++
			if m.keeps(rt, r, q.Filter) {
				rows = append(rows, r)
			}
		}
	}
	slices.SortFunc(rows, order)
	rank := 0
	cursor := m[q.Cursor]
	if q.Sort == "" || q.Sort == inspect.SortKey {
		cursor = &modelRow{key: q.Cursor}
	}
	for q.Cursor != "" && cursor != nil && rank < len(rows) && order(rows[rank], cursor) < 0 {
		rank++
	}
	first, end := inspect.Window(rank, q.Offset, q.Limit, len(rows))
	a.Matched, a.Start = len(rows), first
	for _, r := range rows[first:end] {
		a.Keys = append(a.Keys, r.key)
	}
	return a
}

// TestPagesAnswerLikeASortedSlice compares random events and queries with the
// plain way to answer them, while orders and filters are being worked out and
// after.
func TestPagesAnswerLikeASortedSlice(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		j, m := unhurried(Options{}), model{}
		j.rates.began = start
		j.scanChunk, j.stepTime = rapid.IntRange(1, 5).Draw(rt, "chunk"), 0
		j.pageTime = time.Duration(rapid.IntRange(0, 1).Draw(rt, "whole")) * time.Hour
		j.maxMoves = rapid.IntRange(1, 20).Draw(rt, "moves")
		flooded := rapid.Bool().Draw(rt, "flooded")
		if flooded { // some updates are looked at closely, and none compared
			j.attention = attention{rate: rapid.Float64Range(0, 0.1).Draw(rt, "rate"), burst: 4}
			j.budget = budget{}
		}
		now := start
		for range rapid.IntRange(1, 80).Draw(rt, "steps") {
			now = now.Add(time.Duration(rapid.IntRange(0, 50).Draw(rt, "passes")) * time.Second)
			if rapid.IntRange(0, 2).Draw(rt, "step") > 0 {
				m.observe(rt, j, now, flooded)
				continue
			}
			q := inspect.Query{
				Filter: rapid.SampledFrom(filters).Draw(rt, "filter"),
				Sort:   rapid.SampledFrom(sorts).Draw(rt, "sort"),
				Desc:   rapid.Bool().Draw(rt, "desc"),
				Cursor: rapid.SampledFrom(append([]string{"", "a/ab", "b/", "zz"}, slices.Sorted(maps.Keys(m))...)).Draw(rt, "cursor"),
				Offset: rapid.IntRange(-9, 9).Draw(rt, "offset"),
				Limit:  rapid.IntRange(0, 6).Draw(rt, "limit"),
			}
			for _, v := range j.views {
				v.cursor = "" // what it remembers of keys that are gone has a test of its own
			}
			for range 2 { // the second goes on where the first stopped
				p, err := j.Page(rt.Context(), q)
				if err != nil {
					rt.Fatal(err)
				}
				filter, _ := ParseFilter(q.Filter)
				o, _ := orderOf(q.Sort)
				v := j.viewLocked(q.Filter, filter, q.Sort, o)
				want := m.answer(rt, q, v.covers)
				if diff := gocmp.Diff(want, answered{p.Total, p.Matched, p.Scanned, p.Start, keysOf(p)}); diff != "" {
					rt.Fatalf("query %+v (-want +got):\n%s", q, diff)
				}
			}
		}
	})
}

// TestAViewThatIsKeptForNobodyIsLetGo also asks again: what is made anew is right.
func TestAViewThatIsKeptForNobodyIsLetGo(t *testing.T) {
	j := unhurried(Options{})
	j.maxMoves = 1
	version := 0
	update := func(times int) {
		for range times {
			version++
			key := fmt.Sprint("a/", version%3)
			j.observed(key, pod(key, fmt.Sprint(version)), inspect.CauseWatch, start.Add(time.Duration(version)*time.Second))
		}
	}
	update(3)
	query := inspect.Query{Sort: inspect.SortChanged, Limit: 3}
	page(t, j, query)
	update(50)
	if len(j.views) != 1 {
		t.Fatalf("%d views are kept, want the one that was just asked for", len(j.views))
	}
	j.views[0].asked = j.views[0].asked.Add(-viewIdle)
	update(3)
	if len(j.views) != 0 {
		t.Fatalf("a view that has cost %d moves of %d keys is kept for nobody", j.views[0].moved, j.Len())
	}
	want := []string{fmt.Sprint("a/", (version-2)%3), fmt.Sprint("a/", (version-1)%3), fmt.Sprint("a/", version%3)}
	if got := keysOf(page(t, j, query)); !slices.Equal(got, want) {
		t.Errorf("keys = %v, want %v", got, want)
	}
}

func TestWhatChangesOftenIsMovedOnce(t *testing.T) {
	j := unhurried(Options{})
	for n := range 100 {
		key := fmt.Sprint("a/", n)
		j.observed(key, pod(key, "1"), inspect.CauseInitial, start)
	}
	query := inspect.Query{Sort: inspect.SortUpdates, Desc: true, Limit: 1}
	page(t, j, query)
	for n := range maxMoves {
		j.observed("a/7", pod("a/7", fmt.Sprint(n)), inspect.CauseWatch, start)
	}
	if moved, waiting := j.views[0].moved, len(j.views[0].moves); moved != 0 || waiting != 1 {
		t.Errorf("%d moves were made and %d wait, want one that waits", moved, waiting)
	}
	if p := page(t, j, query); p.Rows[0].Key != "a/7" || p.Rows[0].Updates != maxMoves || len(j.views[0].moves) != 0 {
		t.Errorf("first row = %+v", p.Rows[0])
	}
}
