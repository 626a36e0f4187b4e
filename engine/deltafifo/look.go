package deltafifo

import (
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/client-go/tools/cache"

	"github.com/informeter/informeter/engine/inspect"
)

const (
	kindDeltaFIFO = "DeltaFIFO"
	// shownDeltas is how many deltas of a key a page shows.
	shownDeltas = 8
	// scanKeys is how many keys a filter looks at before it lets go of the lock.
	scanKeys = 4096
)

// Vitals returns the state of the queue at now, everything but the Gate. It
// samples the rates.
func (q *DeltaFIFO) Vitals(now time.Time) inspect.QueueVitals {
	q.mu.Lock()
	defer q.mu.Unlock()
	v := q.vitalsLocked(now)
	v.Kind = kindDeltaFIFO
	v.Keys = q.order.len()
	v.Objects = q.waiting
	return v
}

// Waiting returns for each key how many deltas wait or are in flight.
func (q *DeltaFIFO) Waiting(keys []string) []int {
	counts := make([]int, len(keys))
	q.mu.Lock()
	defer q.mu.Unlock()
	for i, key := range keys {
		if it := q.items[key]; it != nil {
			counts[i] = len(it.waiting) + it.flight
		}
	}
	return counts
}

// Page returns a window of the keys in flight, then of those that wait. A key
// that is in flight while newer deltas wait has a row for either.
//
// Without a filter only the window is looked at. With one every key is, but the
// lock is held for a few thousand at a time only; what is popped meanwhile is
// counted and not shown.
func (q *DeltaFIFO) Page(now time.Time, query inspect.QueueQuery) inspect.QueuePage {
	match := inspect.Match(query.Filter)
	if match == nil {
		return q.page(now, query)
	}
	return q.filteredPage(now, query, match)
}

func (q *DeltaFIFO) page(now time.Time, query inspect.QueueQuery) inspect.QueuePage {
	q.mu.Lock()
	flying := len(q.flight)
	p := inspect.QueuePage{Deltas: q.waiting, Keys: q.order.len(), Matched: flying + q.order.len()}
	start, end := inspect.Window(0, query.Offset, query.Limit, p.Matched)
	p.Start = start
	rows := make([]row, 0, end-start)
	for i := start; i < end; i++ {
		if i < flying {
			rows = append(rows, q.flyingRowLocked(q.flight[i]))
		} else {
			rows = append(rows, q.waitingRowLocked(i-flying))
		}
	}
	q.mu.Unlock()
	p.Items = q.showRows(rows, now)
	return p
}

// candidate is a key that passed a filter. It waits at position, or was in
// flight.
type candidate struct {
	key      string
	position int64
	inFlight bool
}

func (q *DeltaFIFO) filteredPage(now time.Time, query inspect.QueueQuery, match func(string) bool) inspect.QueuePage {
	var p inspect.QueuePage
	w := newWindow(query)
	q.scan(func(c candidate) {
		if match(c.key) {
			w.add(c)
		}
	})
	p.Matched = w.seen
	chosen, start := w.rows()
	p.Start = start
	q.mu.Lock()
	p.Deltas, p.Keys = q.waiting, q.order.len()
	rows := make([]row, 0, len(chosen))
	for _, c := range chosen {
		if r, ok := q.candidateRowLocked(c); ok {
			rows = append(rows, r)
		}
	}
	q.mu.Unlock()
	p.Items = q.showRows(rows, now)
	return p
}

// scan calls visit, without the lock, for every key in flight and waiting.
func (q *DeltaFIFO) scan(visit func(candidate)) {
	var chunk []candidate
	q.mu.Lock()
	for _, it := range q.flight {
		chunk = append(chunk, candidate{key: it.key, inFlight: true})
	}
	next := q.head
	for {
		// What was popped since the last chunk has moved the head past next.
		next = max(next, q.head)
		end := min(next+scanKeys, q.head+int64(q.order.len()))
		for ; next < end; next++ {
			chunk = append(chunk, candidate{key: (*q.order.at(int(next - q.head))).key, position: next})
		}
		q.mu.Unlock()
		if len(chunk) == 0 {
			return
		}
		for _, c := range chunk {
			visit(c)
		}
		chunk = chunk[:0]
		q.mu.Lock()
	}
}

func (q *DeltaFIFO) candidateRowLocked(c candidate) (row, bool) {
	if c.inFlight {
		it := q.items[c.key]
		if it == nil || it.flight == 0 {
			return row{}, false
		}
		return q.flyingRowLocked(it), true
	}
	rank := c.position - q.head
	if rank < 0 || rank >= int64(q.order.len()) || (*q.order.at(int(rank))).key != c.key {
		return row{}, false
	}
	return q.waitingRowLocked(int(rank)), true
}

// row is a QueueItem as it is copied under the lock; deltas holds the first n.
type row struct {
	key      string
	position int
	deltas   [shownDeltas]delta
	n, more  int
}

func (r *row) add(d delta) {
	if r.n == shownDeltas {
		r.more++
		return
	}
	r.deltas[r.n] = d
	r.n++
}

func (q *DeltaFIFO) flyingRowLocked(it *item) row {
	r := row{key: it.key, position: -1}
	for i := it.newest + 1 - it.flight; i <= it.newest; i++ {
		e := &q.batch[i]
		r.add(delta{Delta: e.Delta, arrived: e.Arrived.Sub(q.began), cause: e.Cause})
	}
	return r
}

func (q *DeltaFIFO) waitingRowLocked(rank int) row {
	it := *q.order.at(rank)
	r := row{key: it.key, position: rank}
	r.n = min(len(it.waiting), shownDeltas)
	copy(r.deltas[:], it.waiting)
	r.more = len(it.waiting) - r.n
	return r
}

// showRows turns rows into what readers see. Objects are looked into here,
// where the lock is free.
func (c *core) showRows(rows []row, now time.Time) []inspect.QueueItem {
	items := make([]inspect.QueueItem, len(rows))
	at := now.Sub(c.began)
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
			item.Deltas[j] = describe(&r.deltas[j], at)
			item.Age = max(item.Age, item.Deltas[j].Age)
		}
		items[i] = item
	}
	return items
}

// describe says what a delta is at the time at.
func describe(d *delta, at time.Duration) inspect.DeltaInfo {
	info := inspect.DeltaInfo{
		Type:    string(d.Type),
		Cause:   d.cause,
		Age:     max(at-d.arrived, 0),
		Objects: objectsOf(d.Object),
	}
	object := d.Object
	switch o := object.(type) {
	case cache.BookmarkInfo:
		info.ResourceVersion = o.ResourceVersion
		return info
	case cache.ReplacedAllInfo:
		info.ResourceVersion = o.ResourceVersion
		return info
	case cache.DeletedFinalStateUnknown:
		info.Tombstone = true
		object = o.Obj
	}
	if m, err := meta.Accessor(object); err == nil {
		info.ResourceVersion = m.GetResourceVersion()
	}
	return info
}

// objectsOf returns how many objects a delta with this object stands for.
func objectsOf(object any) int {
	if o, ok := object.(cache.ReplacedAllInfo); ok {
		return len(o.Objects)
	}
	return 1
}
