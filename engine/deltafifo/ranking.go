package deltafifo

import (
	"cmp"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/informeter/informeter/engine/inspect"
)

// weight is what a row is sorted by beside its key and its place.
type weight struct {
	oldest time.Duration // when its oldest delta arrived, since the queue was made
	deltas int32
	cause  inspect.Cause // of the newest that is shown
}

// ranking keeps, of candidates that come one by one in the order in which they
// will be popped, those that a query shows in another order. It holds the first
// offset+limit of those that came, and at most as many again that may be among
// them.
type ranking struct {
	by            inspect.Sort
	desc          bool
	offset, limit int
	keep          int // offset+limit, at most half of what an int can be
	seen          int
	kept          []ranked
	// pruned: the first keep of kept are in order, and what is not before the
	// last of those is shown by no means.
	pruned bool
}

// ranked is a candidate and when it came.
type ranked struct {
	candidate
	came int
}

func newRanking(q inspect.QueueQuery) *ranking {
	r := &ranking{by: q.Sort, desc: q.Desc, offset: max(q.Offset, 0), limit: max(q.Limit, 0)}
	r.keep = min(r.limit, math.MaxInt/4) + min(r.offset, math.MaxInt/4)
	return r
}

func (r *ranking) add(c candidate) {
	found := ranked{c, r.seen}
	r.seen++
	if r.limit == 0 || r.pruned && r.compare(&found, &r.kept[r.keep-1]) > 0 {
		return
	}
	if r.kept = append(r.kept, found); len(r.kept) >= 2*r.keep {
		r.sort()
		r.kept, r.pruned = r.kept[:r.keep], true
	}
}

func (r *ranking) sort() {
	slices.SortFunc(r.kept, func(a, b ranked) int { return r.compare(&a, &b) })
}

func (r *ranking) compare(a, b *ranked) int {
	n := 0
	switch r.by {
	case inspect.SortKey:
		n = strings.Compare(a.key, b.key)
	case inspect.SortAge:
		n = cmp.Compare(b.oldest, a.oldest)
	case inspect.SortDeltas:
		n = cmp.Compare(a.deltas, b.deltas)
	case inspect.SortCause:
		n = strings.Compare(a.cause.String(), b.cause.String())
	default:
		n = cmp.Compare(a.came, b.came)
	}
	if r.desc {
		n = -n
	}
	return cmp.Or(n, cmp.Compare(a.came, b.came))
}

func (r *ranking) rows() (chosen []candidate, start, seen int) {
	start, end := inspect.Window(0, r.offset, r.limit, r.seen)
	if r.limit == 0 {
		return nil, start, r.seen
	}
	r.sort()
	for _, found := range r.kept[start:end] {
		chosen = append(chosen, found.candidate)
	}
	return chosen, start, r.seen
}
