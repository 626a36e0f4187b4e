package deltafifo

import "github.com/informeter/informeter/engine/inspect"

// window keeps, of candidates that come one by one, those that a query shows:
// the limit from offset on, or, if there are not that many, the last ones.
type window struct {
	offset, limit int
	seen          int
	// first holds ranks [offset, offset+limit) as far as they have come, last
	// the last limit ones, in a circle.
	first, last []candidate
}

func newWindow(q inspect.QueueQuery) *window {
	return &window{offset: max(q.Offset, 0), limit: max(q.Limit, 0)}
}

func (w *window) add(c candidate) {
	rank := w.seen
	w.seen++
	if w.limit == 0 {
		return
	}
	if rank >= w.offset && len(w.first) < w.limit {
		w.first = append(w.first, c)
	}
	if len(w.last) < w.limit {
		w.last = append(w.last, c)
	} else {
		w.last[rank%w.limit] = c
	}
}

func (w *window) rows() (chosen []candidate, start, seen int) {
	start, end := inspect.Window(0, w.offset, w.limit, w.seen)
	if start == w.offset {
		return w.first, start, w.seen
	}
	// Moved: the window ends with the last row.
	for rank := start; rank < end; rank++ {
		chosen = append(chosen, w.last[rank%w.limit])
	}
	return chosen, start, w.seen
}
