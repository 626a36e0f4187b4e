package tui

import (
	"cmp"
	"context"
	"sort"

	tea "charm.land/bubbletea/v2"

	"github.com/informeter/informeter/engine/inspect"
)

// seeker is a screen that can go to the next row, or the one before, that a filter
// would keep, among all the others.
type seeker interface {
	seek(filter string, forward bool) tea.Cmd
}

// keepFilter notes the filter of a screen before it is taken away: the next match is
// one of that.
func (m *Model) keepFilter(of any) {
	if f, ok := of.(filtered); ok && f.filter() != "" {
		m.lastFilter = f.filter()
	}
}

// nextMatch moves to the next match, or the one before. Where rows are filtered
// each of them is one, so that it is the next row. Where they are not any more, it
// is one of the last filter.
func (m *Model) nextMatch(a Action) tea.Cmd {
	top := m.top()
	forward := a == ActionNextMatch
	if f, ok := top.(filtered); !ok || f.filter() == "" {
		if s, ok := top.(seeker); ok && m.lastFilter != "" {
			return s.seek(m.lastFilter, forward)
		}
		m.note = "nothing to find: " + m.keymap.label(ScopeGlobal, ActionFilter) + " says what"
		return nil
	}
	if _, searches := top.(searcher); searches {
		return top.handle(a)
	}
	if forward {
		return top.handle(ActionDown)
	}
	return top.handle(ActionUp)
}

// noMatch says that a filter finds nothing further.
func (m *Model) noMatch(filter string, forward bool) {
	where := "before"
	if forward {
		where = "after"
	}
	m.note = "nothing " + where + " this row matches " + shortFilter(filter)
}

// seekRow selects the next row that a filter keeps among rows that are all here.
func seekRow[R any](m *Model, l *list[R], searched func(*R) string, filter string, forward bool) {
	keep := inspect.Match(filter)
	if keep == nil || !l.step(func(r R) bool { return keep(searched(&r)) }, forward) {
		m.noMatch(filter, forward)
	}
}

// seekRank returns the row to go to among n rows that a filter keeps, of which at
// reads one: the next one after the place where the search begins, or the one
// before. before says whether a row stands before that place, same whether it is
// the very row there.
func seekRank[R any](n int, at func(rank int) (R, error), before, same func(R) bool, forward bool) (row R, found bool, err error) {
	read := func(rank int) (r R) {
		if err == nil {
			r, err = at(rank)
		}
		return r
	}
	rank := sort.Search(n, func(i int) bool { return !before(read(i)) })
	if !forward {
		rank--
	} else if rank < n && same(read(rank)) {
		rank++
	}
	if rank < 0 || rank >= n || err != nil {
		return row, false, err
	}
	row = read(rank)
	return row, err == nil, err
}

// seekObject goes to the next object that a filter keeps, in the order of the
// rows. What the filter and the order need is worked out behind the Inspector,
// which says where in the matching ones the selected one stands.
func (o *objectRows) seekObject(m *Model, filter string, forward bool, ask func(context.Context, inspect.Inspector, inspect.Query) (inspect.Page, error)) tea.Cmd {
	row, ok := o.selected()
	if !ok {
		return nil
	}
	q := inspect.Query{Filter: filter, Sort: inspect.Sort(o.order.by), Desc: bool(o.order.desc), Cursor: row.Key}
	return m.inquire(func(ctx context.Context, i inspect.Inspector) func(*Model) {
		page, err := ask(ctx, i, q)
		for err == nil && page.Scanned > 0 && page.Scanned < page.Total {
			page, err = ask(ctx, i, q)
		}
		rank := page.Start
		q := q
		q.Cursor, q.Limit = "", 1
		read := func(rank int) (key string) {
			if q.Offset = rank; err == nil && rank >= 0 && rank < page.Matched {
				var one inspect.Page
				if one, err = ask(ctx, i, q); err == nil && len(one.Rows) > 0 {
					key = one.Rows[0].Key
				}
			}
			return key
		}
		switch {
		case !forward:
			rank--
		case read(rank) == row.Key:
			rank++
		}
		key := read(rank)
		return func(m *Model) {
			switch {
			case err != nil:
				m.fail(err)
			case key == "":
				m.noMatch(filter, forward)
			case q.Sort == inspect.Sort(o.order.by) && q.Desc == bool(o.order.desc): // else the rows are others by now
				o.list.seek(key)
			}
		}
	})
}

func (p *storeScreen) seek(filter string, forward bool) tea.Cmd {
	return p.rows.seekObject(p.m, filter, forward, func(ctx context.Context, i inspect.Inspector, q inspect.Query) (inspect.Page, error) {
		return i.Store(ctx, q)
	})
}

func (p *indicesScreen) seek(filter string, forward bool) tea.Cmd {
	index, value := p.index, p.value
	switch p.focus {
	case levelIndices:
		seekRow(p.m, &p.indices.list, p.indices.searched, filter, forward)
		p.follow()
		return nil
	case levelBuckets:
		return p.seekBucket(filter, forward)
	}
	return p.objects.seekObject(p.m, filter, forward, func(ctx context.Context, i inspect.Inspector, q inspect.Query) (inspect.Page, error) {
		return i.Bucket(ctx, index, value, q)
	})
}

// seekBucket goes to the next bucket that a filter keeps. It asks for single ones
// until it has found the place: as often as the number of them has digits in
// base two.
func (p *indicesScreen) seekBucket(filter string, forward bool) tea.Cmd {
	row, ok := p.buckets.selected()
	if !ok {
		return nil
	}
	index, by := p.index, p.bucketTable.order
	q := inspect.BucketQuery{Filter: filter, Sort: inspect.Sort(by.by), Desc: bool(by.desc), Limit: 1}
	before := func(b inspect.BucketRow) bool {
		switch {
		case p.bySize() && b.Objects != row.Objects:
			return b.Objects < row.Objects != bool(by.desc)
		case p.bySize():
			return b.Value < row.Value
		}
		return b.Value != row.Value && b.Value < row.Value != bool(by.desc)
	}
	return p.m.inquire(func(ctx context.Context, i inspect.Inspector) func(*Model) {
		page, err := i.Buckets(ctx, index, inspect.BucketQuery{Filter: filter})
		next, found := row, false
		if err == nil {
			next, found, err = seekRank(page.Matched, func(rank int) (inspect.BucketRow, error) {
				q.Offset = rank
				one, err := i.Buckets(ctx, index, q)
				if err != nil || len(one.Rows) == 0 {
					return row, err
				}
				return one.Rows[0], nil
			}, before, func(b inspect.BucketRow) bool { return b.Value == row.Value }, forward)
		}
		return func(m *Model) {
			switch {
			case err != nil:
				m.fail(err)
			case !found:
				m.noMatch(filter, forward)
			case p.index == index && p.bucketTable.order == by:
				p.buckets.seek(next.Value)
			}
		}
	})
}

// seek asks for single rows until it has found the next match, and then its rank
// among all: as often as the number of them has digits in base two.
func (p *queueScreen) seek(filter string, forward bool) tea.Cmd {
	row, ok := p.rows.selected()
	if !ok {
		return nil
	}
	by := p.table.order
	before := func(than *inspect.QueueItem) func(inspect.QueueItem) bool {
		return func(i inspect.QueueItem) bool { return compareQueued(&i, than, by) < 0 }
	}
	is := func(one *inspect.QueueItem) func(inspect.QueueItem) bool {
		return func(i inspect.QueueItem) bool { return queueKey(i) == queueKey(*one) }
	}
	return p.m.inquire(func(ctx context.Context, i inspect.Inspector) func(*Model) {
		matched := 0
		reading := func(filter string) func(rank int) (inspect.QueueItem, error) {
			return func(rank int) (inspect.QueueItem, error) {
				page, err := i.Queue(ctx, inspect.QueueQuery{Filter: filter, Sort: inspect.Sort(by.by), Desc: bool(by.desc), Offset: rank, Limit: 1})
				matched = page.Matched
				if err != nil || len(page.Items) == 0 {
					return inspect.QueueItem{}, err
				}
				return page.Items[0], nil
			}
		}
		_, err := reading(filter)(0)
		next, found, rank := row, false, 0
		if err == nil {
			next, found, err = seekRank(matched, reading(filter), before(&row), is(&row), forward)
		}
		if found {
			_, err = reading("")(0)
			rank = sort.Search(matched, func(at int) bool {
				item, failed := reading("")(at)
				err = cmp.Or(err, failed)
				return !before(&next)(item)
			})
		}
		return func(m *Model) {
			switch {
			case err != nil:
				m.fail(err)
			case !found:
				m.noMatch(filter, forward)
			case p.table.order == by: // else the rows are others by now
				p.rows.moveTo(rank)
				p.rows.cursorKey = queueKey(next)
			}
		}
	})
}

func (p *informersScreen) seek(filter string, forward bool) tea.Cmd {
	seekRow(p.m, &p.rows.list, p.rows.searched, filter, forward)
	return nil
}

// seek goes to the next handler that a filter keeps.
func (h *handlerTable) seek(m *Model, filter string, forward bool) {
	h.chosen = true
	seekRow(m, &h.list, h.searched, filter, forward)
}

func (p *pipelineScreen) seek(filter string, forward bool) tea.Cmd {
	p.moments.turn(false)
	p.handlers.seek(p.m, filter, forward)
	return nil
}

func (p *handlersScreen) seek(filter string, forward bool) tea.Cmd {
	p.handlers.seek(p.m, filter, forward)
	return nil
}

func (p *resyncScreen) seek(filter string, forward bool) tea.Cmd {
	p.handlers.seek(p.m, filter, forward)
	return nil
}

func (p *requestsScreen) seek(filter string, forward bool) tea.Cmd {
	seekRow(p.m, &p.rows, (*requestRow).searched, filter, forward)
	return nil
}

// seek searches again for what was searched for last: a page keeps all its lines, and
// a biography its events.
func (p *objectScreen) seek(filter string, forward bool) tea.Cmd {
	v := &p.yaml.view
	switch p.page {
	case pageYAML:
	case pageDiff:
		v = &p.diff.view
	case pageBiography:
		p.biography.seek(p.m, filter, forward)
		return nil
	default:
		p.m.note = "this page has no lines to find it in"
		return nil
	}
	at := v.line()
	p.setFilter(filter)
	v.goTo(max(at, 0)) // searching has gone to the first one already
	if forward {
		return p.handle(ActionNextMatch)
	}
	return p.handle(ActionPreviousMatch)
}
