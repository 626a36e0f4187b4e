package tui

import (
	"cmp"
	"context"
	"fmt"
	"math/bits"
	"slices"
	"sync"
	"time"

	"github.com/informeter/informeter/engine/inspect"
)

// fake is an informer, and a process of informers, that answers from what a test
// puts in. It filters, sorts and cuts windows as the real one does.
type fake struct {
	mu       sync.Mutex // guards everything
	moved    chan struct{}
	snapshot inspect.Snapshot
	rows     []inspect.Row  // sorted by key
	ranks    map[string]int // of rows when they were last shown in another order
	queue    []inspect.QueueItem
	buckets  map[string][]inspect.BucketRow // by index
	objects  map[string]inspect.Object      // that differ from object(key)
	others   []inspect.Summary              // further informers
	requests []inspect.Request              // the newest first
	lives    []inspect.Biography            // nil: not kept
	diff     func(inspect.DiffRequest) (inspect.Diff, error)
	diffed   []inspect.DiffRequest // asked for
	verified map[string]inspect.IndexCheck
	joins    *inspect.ListenerVitals // the next handler
	fills    *inspect.IndexVitals    // what the next index comes to; nil: none comes
	moments  []inspect.Moment        // the newest first; nil if there are none to be had
	err      error                   // of every read
	readOnly bool
	unsorted bool // sorts by key only
	scanned  int  // of the rows; 0 for all

	reads int // snapshots read
	// stepTime is how long a step takes to be answered.
	stepTime time.Duration
	controls []string // what was asked for
	open     int      // viewers
}

var (
	_ inspect.Inspector = (*fake)(nil)
	_ inspect.Controls  = (*fake)(nil)
	_ inspect.Process   = (*fake)(nil)
	_ viewer            = (*fake)(nil)
)

// bump tells those who wait that something has changed.
func (f *fake) bump(change func()) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if change != nil {
		change()
	}
	f.snapshot.Generation++
	if f.moved != nil {
		close(f.moved)
		f.moved = nil
	}
}

// count returns how often the vitals were read.
func (f *fake) count() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.reads
}

// viewers returns how many look.
func (f *fake) viewers() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.open
}

func (f *fake) Open() (func(), error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.open++
	return func() {
		f.mu.Lock()
		defer f.mu.Unlock()
		f.open--
	}, nil
}

func (f *fake) Informers(context.Context) ([]inspect.Summary, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	s := &f.snapshot
	own := inspect.Summary{
		Name: s.Informer.Name, Type: s.Informer.Type, Scope: s.Informer.Scope, State: s.Informer.State,
		Phase: s.Reflector.Phase, Synced: s.Informer.Synced, Error: s.Reflector.Error, Objects: s.Store.Objects,
		Deltas: s.Queue.Deltas, Handlers: len(s.Listeners), EventRate: s.Reflector.EventRate,
		Paused: s.Queue.Gate.Mode == inspect.GatePaused,
	}
	return append([]inspect.Summary{own}, f.others...), nil
}

func (f *fake) Informer(name string) (inspect.Inspector, inspect.Controls, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if name != f.snapshot.Informer.Name {
		return nil, nil, fmt.Errorf("informer %q: %w", name, inspect.ErrNotFound)
	}
	if f.readOnly {
		return f, nil, nil
	}
	return f, f, nil
}

func (f *fake) Snapshot(context.Context) (inspect.Snapshot, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.reads++
	return f.snapshot, f.err
}

func (f *fake) Queue(_ context.Context, q inspect.QueueQuery) (inspect.QueuePage, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	items := keep(f.queue, q.Filter, func(i inspect.QueueItem) string { return i.Key })
	if by := (order{string(q.Sort), direction(q.Desc)}); by != (order{by: string(inspect.SortPosition)}) {
		slices.SortStableFunc(items, func(a, b inspect.QueueItem) int { return compareQueued(&a, &b, by) })
	}
	start, end := inspect.Window(0, q.Offset, q.Limit, len(items))
	return inspect.QueuePage{
		Deltas: f.snapshot.Queue.Deltas, Keys: f.snapshot.Queue.Keys,
		Matched: len(items), Start: start, Items: items[start:end],
	}, nil
}

func (f *fake) Store(_ context.Context, q inspect.Query) (inspect.Page, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.unsorted && q.Sort != inspect.SortKey {
		return inspect.Page{}, fmt.Errorf("sort by %s: %w", q.Sort, inspect.ErrUnsupported)
	}
	page := pageOf(f.rows, q)
	if f.scanned > 0 {
		page.Scanned = f.scanned
	}
	if q.Cursor == "" || q.Sort == inspect.SortKey || q.Sort == "" {
		return page, nil
	}
	if !slices.ContainsFunc(f.rows, func(r inspect.Row) bool { return r.Key == q.Cursor }) {
		q.Offset += f.ranks[q.Cursor]
		q.Cursor = ""
		return pageOf(f.rows, q), nil
	}
	if f.ranks == nil {
		f.ranks = map[string]int{}
	}
	for i, r := range page.Rows {
		f.ranks[r.Key] = page.Start + i
	}
	return page, nil
}

func pageOf(all []inspect.Row, q inspect.Query) inspect.Page {
	rows := keep(all, q.Filter, func(r inspect.Row) string { return r.Key })
	anchor := 0
	if q.Sort == inspect.SortKey || q.Sort == "" {
		anchor = slices.IndexFunc(rows, func(r inspect.Row) bool { return r.Key >= q.Cursor })
		if q.Desc {
			slices.Reverse(rows)
			anchor = slices.IndexFunc(rows, func(r inspect.Row) bool { return r.Key <= q.Cursor })
		}
		if anchor < 0 {
			anchor = len(rows)
		}
	} else {
		compare := func(a, b inspect.Row) int {
			if q.Desc {
				a, b = b, a
			}
			return compareObjects(&a, &b, q.Sort)
		}
		slices.SortStableFunc(rows, compare)
		if at := slices.IndexFunc(all, func(r inspect.Row) bool { return r.Key == q.Cursor }); at >= 0 {
			anchor = slices.IndexFunc(rows, func(r inspect.Row) bool {
				c := compare(r, all[at])
				return c > 0 || c == 0 && r.Key >= q.Cursor
			})
			if anchor < 0 {
				anchor = len(rows)
			}
		}
	}
	if q.Cursor == "" {
		anchor = 0
	}
	start, end := inspect.Window(anchor, q.Offset, q.Limit, len(rows))
	return inspect.Page{Total: len(all), Matched: len(rows), Scanned: len(all), Start: start, Rows: rows[start:end]}
}

func compareObjects(a, b *inspect.Row, by inspect.Sort) int {
	switch by {
	case inspect.SortAge:
		return b.Created.Compare(a.Created)
	case inspect.SortVersion:
		return cmp.Or(cmp.Compare(len(a.ResourceVersion), len(b.ResourceVersion)), cmp.Compare(a.ResourceVersion, b.ResourceVersion))
	case inspect.SortChanged:
		return a.Changed.Compare(b.Changed)
	case inspect.SortUpdates:
		return cmp.Compare(a.Updates, b.Updates)
	case inspect.SortRate:
		return cmp.Compare(a.Rate, b.Rate)
	case inspect.SortNoOps:
		return cmp.Compare(a.NoOps, b.NoOps)
	case inspect.SortWriter:
		return cmp.Compare(a.Writer, b.Writer)
	case inspect.SortSize:
		return cmp.Compare(a.Size, b.Size)
	}
	panic("no order by " + by)
}

func keep[R any](rows []R, filter string, key func(R) string) []R {
	match := inspect.Match(filter)
	if match == nil {
		return slices.Clone(rows)
	}
	kept := make([]R, 0, len(rows))
	for _, r := range rows {
		if match == nil || match(key(r)) {
			kept = append(kept, r)
		}
	}
	return kept
}

func (f *fake) Indices(context.Context) ([]inspect.IndexVitals, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.snapshot.Indices, nil
}

func (f *fake) Buckets(_ context.Context, index string, q inspect.BucketQuery) (inspect.BucketPage, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	all, ok := f.buckets[index]
	if !ok {
		return inspect.BucketPage{}, fmt.Errorf("index %q: %w", index, inspect.ErrNotFound)
	}
	rows := keep(all, q.Filter, func(b inspect.BucketRow) string { return b.Value })
	anchor := 0
	var sizes []int
	if q.Sort == inspect.SortObjects {
		for _, b := range rows {
			for len(sizes) < bits.Len(uint(b.Objects)) {
				sizes = append(sizes, 0)
			}
			if b.Objects > 0 {
				sizes[bits.Len(uint(b.Objects))-1]++
			}
		}
		slices.SortStableFunc(rows, func(a, b inspect.BucketRow) int { return cmp.Compare(a.Objects, b.Objects) })
		if q.Desc {
			slices.Reverse(rows)
		}
	} else {
		if q.Desc {
			slices.Reverse(rows)
		}
		if q.Cursor != "" {
			anchor = slices.IndexFunc(rows, func(b inspect.BucketRow) bool { return b.Value == q.Cursor || b.Value > q.Cursor != q.Desc })
		}
	}
	start, end := inspect.Window(max(anchor, 0), q.Offset, q.Limit, len(rows))
	return inspect.BucketPage{
		Index: inspect.IndexVitals{Name: index, Buckets: len(all)}, Matched: len(rows), Start: start, Rows: rows[start:end], Sizes: sizes,
	}, nil
}

func (f *fake) Bucket(_ context.Context, index, _ string, q inspect.Query) (inspect.Page, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if _, ok := f.buckets[index]; !ok {
		return inspect.Page{}, fmt.Errorf("index %q: %w", index, inspect.ErrNotFound)
	}
	return pageOf(f.rows[:min(len(f.rows), 7)], q), nil
}

func (f *fake) Object(_ context.Context, r inspect.ObjectRequest) (inspect.Object, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if o, ok := f.objects[r.Key]; ok {
		return o, nil
	}
	_, found := slices.BinarySearchFunc(f.rows, r.Key, func(row inspect.Row, key string) int { return cmp.Compare(row.Key, key) })
	if found {
		return object(r.Key), nil
	}
	return inspect.Object{}, fmt.Errorf("object %q: %w", r.Key, inspect.ErrNotFound)
}

func (f *fake) Diff(_ context.Context, r inspect.DiffRequest) (inspect.Diff, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.diffed = append(f.diffed, r)
	if f.diff == nil {
		return inspect.Diff{}, inspect.ErrUnsupported
	}
	return f.diff(r)
}

func (f *fake) Biography(_ context.Context, r inspect.BiographyRequest) (inspect.Biography, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.lives == nil {
		return inspect.Biography{}, fmt.Errorf("biography of %s: %w", r.Key, inspect.ErrUnsupported)
	}
	for _, b := range f.lives {
		if r.UID == "" && b.Key == r.Key || r.UID != "" && slices.ContainsFunc(b.Events, func(e inspect.KeyEvent) bool { return e.UID == r.UID }) {
			return b, nil
		}
	}
	return inspect.Biography{}, fmt.Errorf("biography of %s: %w", cmp.Or(r.UID, r.Key), inspect.ErrNotFound)
}

func (f *fake) Moments(_ context.Context, q inspect.MomentQuery) (inspect.MomentPage, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.moments == nil {
		return inspect.MomentPage{}, inspect.ErrUnsupported
	}
	if q.Handler != "" {
		return inspect.MomentPage{Moments: f.around(q)}, nil
	}
	return inspect.MomentPage{Moments: f.moments[:min(len(f.moments), q.Limit)]}, nil
}

// around returns the moments on both sides of where a handler stands.
func (f *fake) around(q inspect.MomentQuery) []inspect.Moment {
	var waits, told []inspect.Moment
	for _, m := range f.moments {
		for _, d := range m.Deliveries {
			if d.Handler != q.Handler {
				continue
			} else if d.Pending || d.Calling {
				waits = append(waits, m)
			} else if len(told) < q.Limit {
				told = append(told, m)
			}
		}
	}
	return append(slices.Clone(waits[max(len(waits)-q.Ahead, 0):]), told...)
}

func (f *fake) VerifyIndex(_ context.Context, index string) (inspect.IndexCheck, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if c, ok := f.verified[index]; ok {
		return c, nil
	}
	return inspect.IndexCheck{}, fmt.Errorf("verify: %w", inspect.ErrUnsupported)
}

func (f *fake) ResyncNow(context.Context) error { return f.did("resync") }

func (f *fake) SetResync(_ context.Context, handler string, period time.Duration) error {
	return f.did(fmt.Sprintf("resync %s every %v", handler, period))
}

func (f *fake) RelistNow(context.Context) error { return f.did("relist") }

func (f *fake) AddIndex(_ context.Context, s inspect.IndexSpec) error {
	if f.fills != nil {
		f.bump(func() { f.snapshot.Indices = append([]inspect.IndexVitals{*f.fills}, f.snapshot.Indices...) })
	}
	return f.did("index " + s.Name + " " + s.Expr)
}

func (f *fake) AddHandler(_ context.Context, s inspect.HandlerSpec) error {
	if f.joins != nil {
		f.bump(func() { f.snapshot.Listeners = append(slices.Clone(f.snapshot.Listeners), *f.joins) })
	}
	return f.did(fmt.Sprintf("handler %s %v %v", s.Name, s.Delay, s.Resync))
}

func (f *fake) RemoveHandler(_ context.Context, name string) error { return f.did("remove " + name) }

func (f *fake) Requests(context.Context) ([]inspect.Request, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.requests, nil
}

func (f *fake) Wait(ctx context.Context, since uint64) (uint64, error) {
	for {
		f.mu.Lock()
		generation := f.snapshot.Generation
		if f.moved == nil {
			f.moved = make(chan struct{})
		}
		moved := f.moved
		f.mu.Unlock()
		if generation > since {
			return generation, nil
		}
		select {
		case <-moved:
		case <-ctx.Done():
			return generation, ctx.Err()
		}
	}
}

func (f *fake) did(what string) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.controls = append(f.controls, what)
	return nil
}

func (f *fake) Pause(context.Context) error {
	f.bump(func() { f.snapshot.Queue.Gate = inspect.Gate{Mode: inspect.GatePaused, Since: f.snapshot.At} })
	return f.did("pause")
}

func (f *fake) Resume(context.Context) error {
	f.bump(func() { f.snapshot.Queue.Gate = inspect.Gate{Mode: inspect.GateRunning} })
	return f.did("resume")
}

func (f *fake) Step(_ context.Context, n int) error {
	time.Sleep(f.stepTime)
	return f.did(fmt.Sprintf("step %d", n))
}

func (f *fake) SetRate(_ context.Context, r float64) error { return f.did(fmt.Sprintf("rate %g", r)) }

// epoch is the moment at which every test looks.
var epoch = time.Date(2026, 7, 1, 12, 0, 0, 0, time.UTC)

// nobody is a process without informers.
type nobody struct{}

func (nobody) Informers(context.Context) ([]inspect.Summary, error) { return nil, nil }

func (nobody) Informer(name string) (inspect.Inspector, inspect.Controls, error) {
	return nil, nil, fmt.Errorf("informer %q: %w", name, inspect.ErrNotFound)
}
