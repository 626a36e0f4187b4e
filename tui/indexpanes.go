package tui

import (
	"cmp"
	"strings"

	"github.com/informeter/informeter/engine/inspect"
)

// paneHead is how many lines stand above the rows of a level: its title, what is
// to be said of it, and the titles of the columns. A level that stands alone has no
// title where the path above names it.
func (p *indicesScreen) paneHead() int {
	if p.titled() {
		return 3
	}
	return 2
}

func (p *indicesScreen) titled() bool { return panes(p.w) > 1 || p.m.layout.path.h == 0 }

// What indices can be sorted by.
const (
	byName    = "name"
	byBuckets = "buckets"
	byEntries = "entries"
	byLargest = "largest"
	byEmpty   = "empty"
	byMissing = "no value"
	byCost    = "cost"
	byErrors  = "errors"
)

func compareIndices(a, b *inspect.IndexVitals, by string) int {
	switch by {
	case byBuckets:
		return cmp.Compare(a.Buckets, b.Buckets)
	case byEntries:
		return cmp.Compare(a.Entries, b.Entries)
	case byLargest:
		return cmp.Compare(a.LargestObjects, b.LargestObjects)
	case byEmpty:
		return cmp.Compare(a.Empty, b.Empty)
	case byMissing:
		return cmp.Compare(a.Unindexed, b.Unindexed)
	case byCost:
		return cmp.Compare(a.Time.P99, b.Time.P99)
	case byErrors:
		return cmp.Compare(a.Errors, b.Errors)
	}
	return strings.Compare(inspect.IndexName(a.Name), inspect.IndexName(b.Name))
}

func indexColumns() []column {
	return []column{
		flexible("INDEX", 14, 40).sorted(byName, upwards),
		fixed("BUCKETS", 7, 0).sorted(byBuckets, downwards),
		fixed("ENTRIES", 9, 0).sorted(byEntries, downwards),
		fixedLeft("LARGEST", 28, 4).sorted(byLargest, downwards),
		fixed("EMPTY", 6, 2).sorted(byEmpty, downwards),
		fixed("NO VALUE", 8, 3).sorted(byMissing, downwards),
		fixed("p99", 5, 5).sorted(byCost, downwards),
		fixed("ERRORS", 6, 1).sorted(byErrors, downwards),
	}
}

func bucketColumns(w int) []column {
	return []column{
		flexible("VALUE", 14, max(50, w/2)).sorted(string(inspect.SortKey), upwards),
		fixed("OBJECTS", 9, 0).sorted(string(inspect.SortObjects), downwards),
		fixed("SHARE", 5, 1),
		fixedLeft("", min(max(w/5, 10), 30), 2),
	}
}

// paneTop is what stands above a level's table: its title, bright where the keys
// are and with the levels above it if those can't be seen and nothing else names
// them; what is to be said of it; and the filter.
func (p *indicesScreen) paneTop(t *theme, w, level int, name part, facts ...segment) []string {
	note := seg(0, t.muted, strings.TrimSpace(filterNote(p.filterOf(level))))
	if !p.titled() {
		return []string{newLine(w).skip(gutter).segments(3, append(facts, note)...).String()}
	}
	l := newLine(w).skip(gutter)
	if from, _ := p.shown(); level == from && p.m.layout.path.h == 0 {
		for _, above := range []string{"Indices", inspect.IndexName(p.index)}[:level] {
			l.put(t.muted, above).put(t.faint, " › ")
		}
	}
	name.st = t.muted
	if level == p.focus {
		name.st = t.title
	}
	return []string{
		l.put(name.st, name.s).skip(3).put(t.muted, note.parts[0].s).String(),
		newLine(w).skip(gutter).segments(3, facts...).String(),
	}
}

func (p *indicesScreen) indexPane(t *theme, w int) []string {
	v := p.vitals()
	detail := p.indexDetail(t, v, w)
	rows := max(p.h-p.paneHead()-len(detail)-1, min(p.indices.matched, 5))
	p.indices.setHeight(min(rows, max(p.indices.matched, 1)))
	lines := p.paneTop(t, w, levelIndices, part{"", "Indices"}, seg(0, t.muted, count(p.indices.total, "index", "indices")))
	lines = append(lines, p.indices.draw(t, w, indexColumns(), p.focus == levelIndices, nil, func(i *inspect.IndexVitals) []cell { return indexCells(t, i) })...)
	return append(append(lines, newLine(w).String()), detail...)
}

func indexCells(t *theme, i *inspect.IndexVitals) []cell {
	largest := []part{{t.faint, dash}}
	if i.LargestObjects > 0 {
		name := bucketName(t, i.Name, i.Largest)
		name.s = cutKey(clean(name.s), 15)
		largest = []part{name, {t.muted, " " + number(i.LargestObjects) + " (" + percent(i.LargestObjects, i.Entries) + ")"}}
	}
	return []cell{
		{s: inspect.IndexName(i.Name)},
		{s: number(i.Buckets)},
		{s: number(i.Entries)},
		{parts: largest},
		warned(t, i.Empty),
		{st: t.muted, s: number(i.Unindexed)},
		latencyCell(t, &i.Time, i.Time.P99),
		warned(t, int(i.Errors)),
	}
}

// warned writes a count that should be zero.
func warned(t *theme, n int) cell {
	if n > 0 {
		return cell{st: t.warn, s: number(n)}
	}
	return cell{st: t.faint, s: "0"}
}

// vitals returns the index that the buckets belong to.
func (p *indicesScreen) vitals() *inspect.IndexVitals {
	for i := range p.m.snapshot().Indices {
		if v := &p.m.snapshot().Indices[i]; v.Name == p.index {
			return v
		}
	}
	return &inspect.IndexVitals{Name: p.index}
}

func (p *indicesScreen) bucketPane(t *theme, w int) []string {
	v, objects := p.vitals(), p.m.snapshot().Store.Objects
	facts := []segment{seg(0, "", count(v.Buckets, "bucket", "buckets")), seg(1, "", count(v.Entries, "entry", "entries"))}
	if v.Empty > 0 {
		facts = append(facts, seg(1, t.warn, number(v.Empty)+" under the empty value"))
	}
	if v.Unindexed > 0 {
		facts = append(facts, seg(2, t.muted, number(v.Unindexed)+" without value"))
	}
	if v.Errors > 0 {
		facts = append(facts, seg(0, t.warn, "⚠ "+failing(v.Errors, objects, v.LastError)))
	}
	lines := p.paneTop(t, w, levelBuckets, part{"", inspect.IndexName(p.index)}, facts...)
	switch {
	case p.bucketsErr != nil:
		return append(lines, message(t, w, p.h-p.paneHead()+1, "the index did not answer", p.bucketsErr.Error())...)
	case !p.bucketsRead:
		return append(lines, p.reading(t, w, v.Buckets, "bucket", "buckets")...)
	case p.buckets.matched == 0:
		title, sentence := p.noBuckets(v, objects)
		return append(lines, message(t, w, p.h-p.paneHead()+1, title, sentence)...)
	}
	most := max(v.LargestObjects, 1)
	g := p.bucketTable.grid(w, bucketColumns(w))
	found := highlighter(p.texts[levelBuckets])
	lines = append(lines, g.header(t))
	return append(lines, p.buckets.draw(w, func(b inspect.BucketRow, selected bool) string {
		name := bucketName(t, p.index, b.Value)
		return g.row(t, chosen(selected, p.focus == levelBuckets), part{},
			cell{st: name.st, s: name.s, found: found(name.s)}, cell{s: number(b.Objects)}, cell{st: t.muted, s: percent(b.Objects, v.Entries)},
			cell{st: t.faint, s: bar(float64(b.Objects), float64(most), g.widths[3])})
	})...)
}

// reading says that the rows of a level are being put in order, where that can take
// long enough to be seen; few are there at once.
func (p *indicesScreen) reading(t *theme, w, n int, one, many string) []string {
	const long = 50_000
	if n < long {
		return nil
	}
	return message(t, w, p.h-p.paneHead()+1, "reading "+count(n, one, many), "They are put in order before the first of them can be shown.")
}

// bucketSize is how many objects the bucket has that is shown, as far as the buckets
// or the index say it; else 0.
func (p *indicesScreen) bucketSize() int {
	for i := range p.buckets.rows {
		if b := &p.buckets.rows[i]; b.Value == p.value {
			return b.Objects
		}
	}
	if v := p.vitals(); v.Largest == p.value {
		return v.LargestObjects
	}
	return 0
}

// noBuckets says why there is none to be shown.
func (p *indicesScreen) noBuckets(v *inspect.IndexVitals, objects int) (title, sentence string) {
	switch text := p.texts[levelBuckets]; {
	case v.Buckets > 0 && text != "":
		return "no bucket matches " + text, count(v.Buckets, "bucket is", "buckets are") + " in this index. " + p.m.filterForms(text, false)
	case v.Errors > 0 && int(v.Errors) >= objects:
		return "no buckets", "The function fails on every object: " + firstLine(v.LastError)
	case v.Errors > 0:
		return "no buckets", "The function fails on " + number(v.Errors) + " of " + number(objects) + " objects, and gives the others no value: " + firstLine(v.LastError)
	case objects == 0:
		return "no buckets", "The cache is empty."
	}
	return "no buckets", "The function gives no object a value."
}

func filterNote(text string) string {
	if text == "" {
		return ""
	}
	return "   /" + text
}

func (p *indicesScreen) objectPane(t *theme, w int) []string {
	if !p.valued {
		return nil
	}
	name := bucketName(t, p.index, p.value)
	objects := p.objects.total
	if !p.objects.read {
		objects = p.bucketSize()
	}
	lines := p.paneTop(t, w, levelObjects, name, seg(0, t.muted, "in "+inspect.IndexName(p.index)+", "+count(objects, "object", "objects")))
	switch {
	case p.objects.err != nil:
		return append(lines, message(t, w, p.h-p.paneHead()+1, "the bucket did not answer", p.objects.err.Error())...)
	case !p.objects.read:
		return append(lines, p.reading(t, w, objects, "object", "objects")...)
	case p.objects.matched == 0:
		return append(lines, message(t, w, p.h-p.paneHead()+1, "no objects", "The bucket is empty by now, or none matches.")...)
	}
	return append(lines, p.objects.draw(t, p.m.frame.at, w, p.focus == levelObjects, p.texts[levelObjects])...)
}
