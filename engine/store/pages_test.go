package store_test

import (
	"cmp"
	"maps"
	"slices"
	"strconv"
	"strings"

	gocmp "github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/informeter/informeter/engine/inspect"
)

// look is the property test's reader: a window of buckets and one of keys, which
// must be what sorting the oracle's answers gives. It is an operation and not a
// check, so that logs grow between two looks.
func (p *pair) look(t *rapid.T) {
	name := rapid.SampledFrom(slices.Sorted(maps.Keys(allIndexers))).Draw(t, "index")
	filter := rapid.SampledFrom([]string{"", "!", "D", "!d", "1", "pod-1", "!pod-2"}).Draw(t, "filter")
	sort := rapid.SampledFrom([]inspect.Sort{"", inspect.SortKey, inspect.SortObjects}).Draw(t, "sort")
	desc := rapid.Bool().Draw(t, "desc")
	offset, limit := rapid.IntRange(-4, 12).Draw(t, "offset"), rapid.IntRange(0, 8).Draw(t, "limit")

	cursor := rapid.SampledFrom([]string{"", "a", "d", "e1", "ns-1", "pod-2", "zz"}).Draw(t, "cursor")
	q := inspect.BucketQuery{Filter: filter, Sort: sort, Desc: desc, Cursor: cursor, Offset: offset, Limit: limit}
	page, err := p.ours.Buckets(name, q)
	want, wantErr := p.bucketPage(name, q)
	sameError(t, err, wantErr)
	if diff := gocmp.Diff(want, page, cmpopts.IgnoreFields(inspect.BucketPage{}, "Index"), cmpopts.EquateEmpty()); diff != "" {
		t.Fatalf("Buckets %s %+v (-want +got):\n%s", name, q, diff)
	}

	value := rapid.SampledFrom([]string{"", "a", "e1", "ns-0", "ns-1", "n1", "o1", "nobody"}).Draw(t, "value")
	keyCursor := rapid.SampledFrom([]string{"", "ns-0/pod-3", "ns-1/", "ns-1/pod-1", "zz"}).Draw(t, "key cursor")
	kq := inspect.Query{Filter: filter, Desc: desc, Cursor: keyCursor, Offset: offset, Limit: limit}
	p.checkKeys(t, name, value, kq)
}

func (p *pair) checkKeys(t *rapid.T, name, value string, q inspect.Query) {
	keys, start, matched, total, err := p.ours.BucketKeys(name, value, q)
	all, wantErr := p.theirs.IndexKeys(name, value)
	sameError(t, err, wantErr)
	rows := filtered(all, q.Filter)
	if q.Desc {
		slices.Reverse(rows)
	}
	from, to := inspect.Window(anchor(rows, q.Cursor, q.Desc), q.Offset, q.Limit, len(rows))
	if wantErr != nil {
		from = 0
	}
	if start != from || matched != len(rows) || total != len(all) || !slices.Equal(keys, rows[from:to]) {
		t.Fatalf("BucketKeys %s %q %+v = %q from %d of %d of %d, want %q from %d of %d of %d",
			name, value, q, keys, start, matched, total, rows[from:to], from, len(rows), len(all))
	}
}

// bucketPage is what Buckets must return, made the slow way.
func (p *pair) bucketPage(name string, q inspect.BucketQuery) (inspect.BucketPage, error) {
	if _, err := p.theirs.IndexKeys(name, ""); err != nil {
		return inspect.BucketPage{}, err
	}
	var rows []inspect.BucketRow
	values := filtered(p.theirs.ListIndexFuncValues(name), q.Filter)
	slices.Sort(values)
	for _, value := range values {
		keys, _ := p.theirs.IndexKeys(name, value)
		rows = append(rows, inspect.BucketRow{Value: value, Objects: len(keys)})
	}
	at := 0
	var sizes []int
	if q.Sort == inspect.SortObjects {
		for _, r := range rows {
			class := len(strconv.FormatInt(int64(r.Objects), 2)) - 1
			for len(sizes) <= class {
				sizes = append(sizes, 0)
			}
			sizes[class]++
		}
		slices.SortStableFunc(rows, func(a, b inspect.BucketRow) int {
			if q.Desc {
				return cmp.Compare(b.Objects, a.Objects)
			}
			return cmp.Compare(a.Objects, b.Objects)
		})
	} else {
		if q.Desc {
			slices.Reverse(rows)
			slices.Reverse(values)
		}
		at = anchor(values, q.Cursor, q.Desc)
	}
	start, end := inspect.Window(at, q.Offset, q.Limit, len(rows))
	return inspect.BucketPage{Matched: len(rows), Start: start, Rows: rows[start:end], Sizes: sizes}, nil
}

func filtered(texts []string, filter string) []string {
	needle, inverse := strings.CutPrefix(strings.ToLower(filter), "!")
	var kept []string
	for _, text := range texts {
		if needle == "" || strings.Contains(strings.ToLower(text), needle) != inverse {
			kept = append(kept, text)
		}
	}
	return kept
}

// anchor is the rank of the first row that does not come before the cursor.
func anchor(rows []string, cursor string, desc bool) int {
	if cursor == "" {
		return 0
	}
	for i, row := range rows {
		if !desc && row >= cursor || desc && row <= cursor {
			return i
		}
	}
	return len(rows)
}

// checkPages compares the vitals of the indices with the oracle's answers.
func (p *pair) checkPages(t *rapid.T) {
	for _, v := range p.ours.IndexVitals() {
		values := p.theirs.ListIndexFuncValues(v.Name)
		entries, largest := 0, 0
		indexed := map[string]bool{}
		for _, value := range values {
			keys, _ := p.theirs.IndexKeys(v.Name, value)
			entries += len(keys)
			largest = max(largest, len(keys))
			for _, key := range keys {
				indexed[key] = true
			}
		}
		empty, _ := p.theirs.IndexKeys(v.Name, "")
		inLargest, _ := p.theirs.IndexKeys(v.Name, v.Largest)
		want := inspect.IndexVitals{
			Name: v.Name, Buckets: len(values), Entries: entries, Empty: len(empty),
			Unindexed: len(p.theirs.ListKeys()) - len(indexed), Largest: v.Largest, LargestObjects: largest,
			Time: v.Time,
		}
		if v != want || len(inLargest) != largest && largest > 0 {
			t.Fatalf("vitals of %s = %+v, want %+v; %q has %d", v.Name, v, want, v.Largest, len(inLargest))
		}
	}
	for _, key := range p.theirs.ListKeys() {
		obj, _, _ := p.theirs.GetByKey(key)
		for _, filed := range p.ours.IndexValues(key) {
			want, _ := allIndexers[filed.Index](obj)
			slices.Sort(want)
			want = slices.Compact(want)
			if !slices.Equal(slices.Sorted(slices.Values(filed.Values)), want) {
				t.Fatalf("%s is in %s under %q, want %q", key, filed.Index, filed.Values, want)
			}
		}
	}
}
