package deltafifo

import (
	"cmp"
	"math"
	"math/bits"
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
// them; none is put in order but those that are shown.
type ranking struct {
	by            inspect.Sort
	desc          bool
	offset, limit int
	keep          int // offset+limit, at most half of what an int can be
	seen          int
	kept          []ranked
	// pruned: the last of the first keep of kept is the last of them in the order
	// too, and what is not before it is shown by no means.
	pruned bool
}

// ranked is a candidate and when it came.
type ranked struct {
	candidate
	came int
}

// newRanking returns a ranking for about so many candidates, 0 if it is not known.
func newRanking(q inspect.QueueQuery, candidates int) *ranking {
	r := &ranking{by: q.Sort, desc: q.Desc, offset: max(q.Offset, 0), limit: max(q.Limit, 0)}
	r.keep = min(r.limit, math.MaxInt/4) + min(r.offset, math.MaxInt/4)
	if r.limit > 0 {
		r.kept = make([]ranked, 0, min(candidates, 2*r.keep))
	}
	return r
}

func (r *ranking) add(c candidate) {
	found := ranked{c, r.seen}
	r.seen++
	if r.limit == 0 || r.pruned && r.compare(&found, &r.kept[r.keep-1]) > 0 {
		return
	}
	if n := len(r.kept); n == cap(r.kept) {
		r.kept = slices.Grow(r.kept, min(max(n, 64), 2*r.keep-n)) // double it: append would copy more often
	}
	if r.kept = append(r.kept, found); len(r.kept) >= 2*r.keep {
		r.prune()
	}
}

// prune keeps the first ones only.
func (r *ranking) prune() {
	r.split(r.kept, r.keep)
	r.kept, r.pruned = r.kept[:r.keep], true
	last := 0
	for i := range r.kept {
		if r.compare(&r.kept[i], &r.kept[last]) > 0 {
			last = i
		}
	}
	r.kept[last], r.kept[r.keep-1] = r.kept[r.keep-1], r.kept[last]
}

// split moves those that come first in the order, n of them, to the front
// (quickselect). No two are equal.
func (r *ranking) split(s []ranked, n int) {
	// Pivots that are bad again and again are given up on: sorting is slower than
	// selecting, but never quadratic.
	for tries := 4 * bits.Len(uint(len(s))); 0 < n && n < len(s); tries-- {
		if len(s) <= 16 || tries == 0 {
			r.sort(s)
			return
		}
		if p := r.partition(s); n < p {
			s = s[:p]
		} else {
			s, n = s[p:], n-p
		}
	}
}

// partition moves what is before a pivot in front of the others and returns how
// many those are: at least one, and not all.
func (r *ranking) partition(s []ranked) int {
	// The middle one of three is after at least one of them.
	three := [...]ranked{s[0], s[len(s)/2], s[len(s)-1]}
	r.sort(three[:])
	pivot := three[1]
	i, j := 0, len(s)-1
	for {
		for r.compare(&s[i], &pivot) < 0 {
			i++
		}
		for r.compare(&s[j], &pivot) >= 0 {
			j--
		}
		if i >= j {
			return i
		}
		s[i], s[j] = s[j], s[i]
	}
}

func (r *ranking) sort(s []ranked) {
	slices.SortFunc(s, func(a, b ranked) int { return r.compare(&a, &b) })
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
	r.split(r.kept, start)
	shown := r.kept[start:]
	r.split(shown, end-start)
	shown = shown[:end-start]
	r.sort(shown)
	for _, found := range shown {
		chosen = append(chosen, found.candidate)
	}
	return chosen, start, r.seen
}
