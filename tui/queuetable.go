package tui

import (
	"cmp"
	"strconv"
	"strings"
	"time"

	"github.com/informeter/informeter/engine/inspect"
)

// queueKey tells the entries of a queue apart. Those that stand for a whole list
// have no key: their place has to do.
func queueKey(i inspect.QueueItem) string {
	if i.Key == "" {
		return strconv.Itoa(i.Position)
	}
	return i.Key
}

// compareQueued compares two entries as a queue sorted like that does; by age they
// are compared by their places, because they may have been read one after the other.
func compareQueued(a, b *inspect.QueueItem, by order) int {
	n := 0
	switch inspect.Sort(by.by) {
	case inspect.SortKey:
		n = strings.Compare(a.Key, b.Key)
	case inspect.SortAge:
		n = cmp.Compare(b.Position, a.Position)
	case inspect.SortDeltas:
		n = cmp.Compare(len(a.Deltas)+a.More, len(b.Deltas)+b.More)
	case inspect.SortCause:
		n = strings.Compare(newestDelta(a).Cause.String(), newestDelta(b).Cause.String())
	default:
		n = cmp.Compare(a.Position, b.Position)
	}
	if by.desc {
		n = -n
	}
	return cmp.Or(n, cmp.Compare(a.Position, b.Position))
}

// newestDelta returns the newest delta of an entry that is shown.
func newestDelta(i *inspect.QueueItem) inspect.DeltaInfo {
	if n := len(i.Deltas); n > 0 {
		return i.Deltas[n-1]
	}
	return inspect.DeltaInfo{}
}

// queueName names an entry: its key, or what it stands for.
func queueName(i *inspect.QueueItem) (name string, whole bool) {
	if i.Key != "" || len(i.Deltas) == 0 {
		return i.Key, false
	}
	switch i.Deltas[0].Type {
	case "ReplacedAll":
		return "the whole list", true
	case "SyncAll":
		return "everything in the store", true
	case "Bookmark":
		return "bookmark", true
	}
	return strings.ToLower(i.Deltas[0].Type), true
}

// ordered says whether the queue keeps every event in order, instead of by key.
func ordered(q *inspect.QueueVitals) bool { return q.Kind == "InOrder" }

func (p *queueScreen) tableShown() (*table, []column) { return p.table, p.columns() }

// columns are those of what waits. There go first: how many deltas, objects, RV,
// and its place, where the rows are in another order.
func (p *queueScreen) columns() []column {
	title := "WAITING, OLDEST FIRST"
	if ordered(&p.m.snapshot().Queue) {
		title = "EVENT"
	}
	columns := []column{
		flexible("KEY", max(min(p.longest, p.left()/2), 20), max(70, p.left()/2)).sorted(string(inspect.SortKey), upwards),
		fixed("NO.", 7, 2).sorted(string(inspect.SortPosition), upwards),
		fixed("AGE", 6, 0).sorted(string(inspect.SortAge), downwards),
		fixed("DELTAS", 6, 4).sorted(string(inspect.SortDeltas), downwards),
		fixed("OBJECTS", 8, 5),
		fixedLeft(title, 21, 0),
		fixedLeft("CAUSE", 16, 1).sorted(string(inspect.SortCause), upwards),
		fixed("RV", 12, 3),
	}
	columns[1].natural = true
	columns[3].hidden = ordered(&p.m.snapshot().Queue) // each entry is one
	columns[4].hidden = !p.bulk
	return columns
}

func queueCells(t *theme, i *inspect.QueueItem, found func(string) [][2]int) []cell {
	name, whole := queueName(i)
	key := cell{s: name, found: found(name)}
	if whole {
		key = cell{st: t.synced, s: name}
	}
	objects := 0
	for d := range i.Deltas {
		objects += max(i.Deltas[d].Objects, 1)
	}
	newest := newestDelta(i)
	age := style("")
	if i.Age > time.Second {
		age = t.warn
	}
	position := cell{st: t.muted, s: number(i.Position + 1)}
	if i.InFlight {
		position = cell{st: t.faint, s: dash}
	}
	return []cell{
		key, position,
		{st: age, s: duration(i.Age)},
		{s: number(len(i.Deltas) + i.More)},
		{s: number(objects + i.More)},
		{parts: deltaParts(t, i)},
		{st: t.muted, s: newest.Cause.String()},
		{st: t.muted, s: newest.ResourceVersion},
	}
}

// deltaParts writes a key's deltas as letters, the oldest first.
func deltaParts(t *theme, i *inspect.QueueItem) []part {
	const most = 8
	parts := make([]part, 0, most+2)
	shown := i.Deltas[:min(len(i.Deltas), most)]
	for _, d := range shown {
		letter, st := t.delta(d.Type)
		parts = append(parts, part{st, letter + " "})
	}
	if more := len(i.Deltas) - len(shown) + i.More; more > 0 {
		parts = append(parts, part{t.muted, "+" + number(more)})
	}
	return parts
}
