package journal

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"sort"
	"strings"
	"sync"
	"time"

	"github.com/informeter/informeter/engine/inspect"
)

const (
	// membersKept is how many orders of some keys are remembered.
	membersKept = 4
	// membersShare bounds what keeping them in order costs: it is done anew when as
	// many times as long has passed as it took.
	membersShare = 10
)

// Window is a window of keys in the order of a query; see inspect.Page.
type Window struct {
	Keys                  []string
	Start, Matched, Total int
}

// members are some of the keys, as a bucket has them, in an order. Unlike a view
// they are not kept up to date: nobody tells which keys come and go.
type members struct {
	of   string
	q    inspect.Query // its filter, order and direction
	rows []member      // those that match; nobody writes to them
	// total counts all, cost is how long the order took when it was made.
	total int
	made  time.Time
	cost  time.Duration
	// cursor is the anchor that was asked for last, rank where it was.
	cursor string
	rank   int
}

// member is one key with what it is sorted by.
type member struct {
	number    uint64
	text, key string
}

// orders are the members that were asked for last, the newest at the end.
type orders struct {
	mu   sync.Mutex // guards the fields below, and the cursors
	kept []*members
}

// Members puts some of the keys in an order that needs what the journal knows of
// them: those that list returns, which it calls without holding a lock. of names
// them: the same name stands for the same keys, as they come and go. Its errors
// are those of Page, and list's.
//
// A thousand keys take less than a millisecond and are put in order every time. A
// million take some seconds, and are the keys of then until ten times as
// long has passed: a tenth of a core is the most it costs.
func (j *Journal) Members(ctx context.Context, of string, q inspect.Query, list func() ([]string, error)) (Window, error) {
	o, ok := orderOf(q.Sort)
	if !ok {
		return Window{}, fmt.Errorf("sort by %s: %w", q.Sort, inspect.ErrUnsupported)
	}
	filter, err := ParseFilter(q.Filter)
	if err != nil {
		return Window{}, err
	}
	m := j.orders.find(of, q)
	if began := time.Now(); m == nil || began.Sub(m.made) >= membersShare*m.cost {
		keys, err := list()
		if err != nil {
			return Window{}, err
		}
		fresh := &members{of: of, q: q, total: len(keys)}
		if fresh.rows, err = j.ranked(ctx, keys, &filter, &o); err != nil {
			return Window{}, err
		}
		slices.SortFunc(fresh.rows, fresh.compare)
		fresh.made = time.Now()
		fresh.cost = fresh.made.Sub(began)
		m = j.orders.keep(fresh)
	}
	at := j.anchorOf(m, &o, q.Cursor)
	start, end := inspect.Window(at, q.Offset, q.Limit, len(m.rows))
	w := Window{Keys: make([]string, 0, end-start), Start: start, Matched: len(m.rows), Total: m.total}
	for _, r := range m.rows[start:end] {
		w.Keys = append(w.Keys, r.key)
	}
	return w, nil
}

// ranked returns those of the keys that pass a filter, with what they are sorted
// by. It lets go of the lock after every chunk.
func (j *Journal) ranked(ctx context.Context, keys []string, f *Filter, o *order) ([]member, error) {
	rows := make([]member, 0, len(keys))
	for len(keys) > 0 {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		n := min(len(keys), j.scanChunk)
		rows = j.rankedChunk(rows, keys[:n], f, o)
		keys = keys[n:]
	}
	return rows, nil
}

func (j *Journal) rankedChunk(rows []member, keys []string, f *Filter, o *order) []member {
	j.mu.Lock()
	defer j.mu.Unlock()
	for _, key := range keys {
		e := j.entries.get(key)
		if e == nil {
			// The store has it and the journal has not been told yet.
			if !f.ByObject() && f.Keep(key) {
				rows = append(rows, member{key: key})
			}
			continue
		}
		if f.KeepObject(key, e.object) {
			rows = append(rows, o.member(e))
		}
	}
	return rows
}

// member returns an entry with what it is sorted by. The journal's mu is held.
func (o *order) member(e *entry) member {
	m := member{number: o.item(e).number, key: e.key}
	if o.byWriter {
		m.text = e.author()
	}
	return m
}

// compare puts rows in the order that readers see.
func (m *members) compare(a, b member) int {
	c := cmp.Or(cmp.Compare(a.number, b.number), strings.Compare(a.text, b.text))
	switch {
	case c == 0 && (m.q.Sort == inspect.SortKey || m.q.Sort == "") && m.q.Desc:
		return strings.Compare(b.key, a.key)
	case c == 0:
		return strings.Compare(a.key, b.key)
	case m.q.Desc:
		return -c
	}
	return c
}

// anchorOf returns the rank that a window is anchored at.
func (j *Journal) anchorOf(m *members, o *order, cursor string) int {
	if cursor == "" {
		return 0
	}
	at := slices.IndexFunc(m.rows, func(r member) bool { return r.key == cursor })
	if at < 0 {
		j.mu.Lock()
		if e := j.entries.get(cursor); e != nil {
			// It does not match: the first one after it.
			sought := o.member(e)
			at = sort.Search(len(m.rows), func(i int) bool { return m.compare(m.rows[i], sought) >= 0 })
		}
		j.mu.Unlock()
	}
	j.orders.mu.Lock()
	defer j.orders.mu.Unlock()
	switch {
	case at >= 0:
		m.cursor, m.rank = cursor, at
	case m.cursor == cursor:
		at = m.rank
	default:
		at = 0
	}
	return at
}

// find returns the order of a query, if it is remembered.
func (o *orders) find(of string, q inspect.Query) *members {
	o.mu.Lock()
	defer o.mu.Unlock()
	if i := o.indexLocked(of, &q); i >= 0 {
		m := o.kept[i]
		o.kept = append(slices.Delete(o.kept, i, i+1), m)
		return m
	}
	return nil
}

// keep remembers an order in place of the one there was, whose anchor stays.
func (o *orders) keep(m *members) *members {
	o.mu.Lock()
	defer o.mu.Unlock()
	if i := o.indexLocked(m.of, &m.q); i >= 0 {
		m.cursor, m.rank = o.kept[i].cursor, o.kept[i].rank
		o.kept = slices.Delete(o.kept, i, i+1)
	} else if len(o.kept) == membersKept {
		o.kept = slices.Delete(o.kept, 0, 1)
	}
	o.kept = append(o.kept, m)
	return m
}

func (o *orders) indexLocked(of string, q *inspect.Query) int {
	return slices.IndexFunc(o.kept, func(m *members) bool {
		return m.of == of && m.q.Filter == q.Filter && m.q.Sort == q.Sort && m.q.Desc == q.Desc
	})
}
