package deltafifo

import (
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/client-go/tools/cache"

	"github.com/informeter/informeter/engine/inspect"
)

const (
	// shownDeltas is how many deltas of a key a page shows.
	shownDeltas = 8
	// scanKeys is how many keys a filter or an order looks at before it lets go of
	// the lock.
	scanKeys = 4096
)

// page returns a window of the rows in flight, then of those that wait. known
// is how many objects a SyncAll stands for. Deltas and Keys are left to the
// queue.
func (c *core) page(now time.Time, query inspect.QueueQuery, known int) inspect.QueuePage {
	var p inspect.QueuePage
	var rows []row
	match := inspect.Match(query.Filter)
	switch own := query.Sort == "" || query.Sort == inspect.SortPosition; {
	case own && match == nil:
		rows = c.windowRows(&p, query)
	case own && !query.Desc:
		rows = c.chosenRows(&p, newWindow(query), match)
	case match == nil:
		rows = c.chosenRows(&p, newRanking(query, c.rowCount()), nil)
	default:
		rows = c.chosenRows(&p, newRanking(query, 0), match)
	}
	p.Items = showRows(rows, now.Sub(c.began), known)
	return p
}

func (c *core) windowRows(p *inspect.QueuePage, query inspect.QueueQuery) []row {
	c.mu.Lock()
	defer c.mu.Unlock()
	flying, waiting := c.contents.rowsLocked()
	p.Deltas, p.Keys = c.waiting, c.contents.keysLocked()
	p.Matched = flying + waiting
	start, end := inspect.Window(0, query.Offset, query.Limit, p.Matched)
	p.Start = start
	rows := make([]row, 0, end-start)
	for rank := start; rank < end; rank++ {
		i := rank
		if query.Desc {
			i = p.Matched - 1 - rank
		}
		if i < flying {
			rows = append(rows, c.contents.flyingRowLocked(i))
		} else {
			rows = append(rows, c.contents.waitingRowLocked(i-flying))
		}
	}
	return rows
}

// chooser keeps, of candidates that come one by one, those that a query shows.
type chooser interface {
	add(candidate)
	// rows returns them in their order, the rank of the first one, and how many
	// there were.
	rows() (chosen []candidate, start, seen int)
}

func (c *core) rowCount() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	flying, waiting := c.contents.rowsLocked()
	return flying + waiting
}

// chosenRows looks at every row; a nil match keeps all.
func (c *core) chosenRows(p *inspect.QueuePage, choose chooser, match func(string) bool) []row {
	c.scan(func(found candidate) {
		if match == nil || match(found.key) {
			choose.add(found)
		}
	})
	var chosen []candidate
	chosen, p.Start, p.Matched = choose.rows()
	c.mu.Lock()
	defer c.mu.Unlock()
	p.Deltas, p.Keys = c.waiting, c.contents.keysLocked()
	rows := make([]row, 0, len(chosen))
	for _, found := range chosen {
		if r, ok := c.rowOfLocked(found); ok {
			rows = append(rows, r)
		}
	}
	return rows
}

// candidate is a row that a filter or an order looks at: the one at position
// among those that wait, or, unless turn is zero, the one of that rank in that
// turn's flight.
type candidate struct {
	key      string
	position int64
	turn     uint64
	weight
}

// scan calls visit, without the lock, for every row in flight and waiting.
func (c *core) scan(visit func(candidate)) {
	var chunk []candidate
	c.mu.Lock()
	flying, _ := c.contents.rowsLocked()
	for i := range flying {
		chunk = append(chunk, candidate{key: c.contents.flyingKeyLocked(i), position: int64(i), turn: c.turns, weight: c.contents.flyingWeightLocked(i)})
	}
	next := c.head
	for {
		// What was popped since the last chunk has moved head past next.
		next = max(next, c.head)
		_, waiting := c.contents.rowsLocked()
		end := min(next+scanKeys, c.head+int64(waiting))
		for ; next < end; next++ {
			i := int(next - c.head)
			chunk = append(chunk, candidate{key: c.contents.waitingKeyLocked(i), position: next, weight: c.contents.waitingWeightLocked(i)})
		}
		c.mu.Unlock()
		if len(chunk) == 0 {
			return
		}
		for _, found := range chunk {
			visit(found)
		}
		chunk = chunk[:0]
		c.mu.Lock()
	}
}

// rowOfLocked returns the row of a candidate if it is still where it was.
func (c *core) rowOfLocked(found candidate) (row, bool) {
	flying, waiting := c.contents.rowsLocked()
	if found.turn > 0 {
		if found.turn != c.turns || found.position >= int64(flying) {
			return row{}, false
		}
		return c.contents.flyingRowLocked(int(found.position)), true
	}
	rank := found.position - c.head
	if rank < 0 || rank >= int64(waiting) || c.contents.waitingKeyLocked(int(rank)) != found.key {
		return row{}, false
	}
	return c.contents.waitingRowLocked(int(rank)), true
}

// row is a QueueItem as it is copied under the lock; deltas holds the first n.
type row struct {
	key      string
	position int
	deltas   [shownDeltas]delta
	n, more  int
}

func (r *row) addEntry(e *Entry, began time.Time) {
	if r.n == shownDeltas {
		r.more++
		return
	}
	r.deltas[r.n] = delta{Delta: e.Delta, arrived: e.Arrived.Sub(began), cause: e.Cause}
	r.n++
}

// showRows turns rows into what readers see at the time at. Objects are looked into here,
// where the lock is free.
func showRows(rows []row, at time.Duration, known int) []inspect.QueueItem {
	items := make([]inspect.QueueItem, len(rows))
	for i := range rows {
		r := &rows[i]
		item := inspect.QueueItem{
			Key:      r.key,
			Position: r.position,
			InFlight: r.position < 0,
			Deltas:   make([]inspect.DeltaInfo, r.n),
			More:     r.more,
		}
		for j := range item.Deltas {
			item.Deltas[j] = describe(&r.deltas[j], at, known)
			item.Age = max(item.Age, item.Deltas[j].Age)
		}
		items[i] = item
	}
	return items
}

// describe says what a delta is at the time at, when known objects are known.
func describe(d *delta, at time.Duration, known int) inspect.DeltaInfo {
	info := inspect.DeltaInfo{
		Type:    string(d.Type),
		Cause:   d.cause,
		Age:     max(at-d.arrived, 0),
		Objects: 1,
	}
	object := d.Object
	switch o := object.(type) {
	case cache.BookmarkInfo:
		info.ResourceVersion = o.ResourceVersion
		info.Objects = 0
		return info
	case cache.ReplacedAllInfo:
		info.ResourceVersion = o.ResourceVersion
		info.Objects = len(o.Objects)
		return info
	case cache.SyncAllInfo:
		info.Objects = known
		return info
	case cache.DeletedFinalStateUnknown:
		info.Tombstone = true
		object = o.Obj
	}
	info.ResourceVersion = versionOf(object)
	return info
}

// versionOf returns the resource version of an object; none if it panics when it
// is asked, because whoever looks at a queue must not end the program.
func versionOf(obj any) (rv string) {
	defer func() { _ = recover() }()
	if m, err := meta.Accessor(obj); err == nil {
		rv = m.GetResourceVersion()
	}
	return rv
}
