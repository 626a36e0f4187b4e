package journal

import (
	"context"
	"fmt"
	"time"

	"github.com/informeter/informeter/engine/inspect"
)

const (
	// stepTime is how long the lock is held for one step of a scan, pageTime how
	// long a page may take for all of them: what is not done then is left to
	// whoever asks next.
	stepTime = time.Millisecond
	pageTime = 10 * time.Millisecond
)

// Page returns the window that q asks for; see inspect.Query. Its error is an
// *inspect.FilterError, inspect.ErrUnsupported for an order there is none of, or
// the context's.
func (j *Journal) Page(ctx context.Context, q inspect.Query) (inspect.Page, error) {
	o, ok := orderOf(q.Sort)
	if !ok {
		return inspect.Page{}, fmt.Errorf("sort by %s: %w", q.Sort, inspect.ErrUnsupported)
	}
	filter, err := ParseFilter(q.Filter)
	if err != nil {
		return inspect.Page{}, err
	}
	began := time.Now()
	for {
		if err := ctx.Err(); err != nil {
			return inspect.Page{}, err
		}
		if page, done := j.step(q, filter, o, began); done {
			return page, nil
		}
	}
}

// step works on the view of a query, and answers it when the view is complete or
// the time is up.
func (j *Journal) step(q inspect.Query, filter Filter, o order, began time.Time) (inspect.Page, bool) {
	j.mu.Lock()
	defer j.mu.Unlock()
	// It may have been dropped since the last step.
	v := j.viewLocked(q.Filter, filter, q.Sort, o)
	v.settle()
	j.extendLocked(v, j.stepTime)
	if !v.complete && time.Since(began) < j.pageTime {
		return inspect.Page{}, false
	}
	return j.pageLocked(v, q), true
}

func (j *Journal) pageLocked(v *view, q inspect.Query) inspect.Page {
	matched := v.rows.Len()
	start, end := inspect.Window(j.anchorLocked(v, q), q.Offset, q.Limit, matched)
	page := inspect.Page{
		Total:   max(j.entries.len(), j.expected),
		Matched: matched,
		Scanned: v.covered,
		Start:   start,
		Rows:    make([]inspect.Row, 0, end-start),
	}
	now := time.Now()
	v.window(start, end, q.Desc, func(e *entry) {
		page.Rows = append(page.Rows, e.row(&j.rates, now))
	})
	return page
}

// anchorLocked returns the rank of the row that the window is anchored at.
func (j *Journal) anchorLocked(v *view, q inspect.Query) int {
	switch {
	case q.Cursor == "":
		return 0
	case v.order.byKey:
		return v.rankOf(item{0, &entry{key: q.Cursor}}, q.Desc)
	}
	if e := j.entries.get(q.Cursor); e != nil {
		v.cursor, v.rank = q.Cursor, v.rankOf(v.order.item(e), q.Desc)
		return v.rank
	}
	if v.cursor == q.Cursor {
		return v.rank
	}
	return 0
}

// Annotate fills in what the journal knows of the rows' keys.
func (j *Journal) Annotate(rows []inspect.Row) {
	j.mu.Lock()
	defer j.mu.Unlock()
	now := time.Now()
	for i := range rows {
		e := j.entries.get(rows[i].Key)
		if e == nil {
			continue
		}
		known := e.row(&j.rates, now)
		if rows[i].ResourceVersion != "" {
			known.ResourceVersion = rows[i].ResourceVersion // what the store has is newer
		}
		known.Waiting = rows[i].Waiting
		rows[i] = known
	}
}

// Describe returns what can be told of an object without having watched it.
func Describe(key string, obj any) inspect.Row {
	row := inspect.Row{Key: key, Writer: writerOf(obj, nil), Size: int(wireSize(obj))}
	row.ResourceVersion, row.Created = versionOf(obj), creationOf(obj)
	return row
}
