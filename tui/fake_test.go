package tui

import (
	"cmp"
	"context"
	"encoding/json"
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
	fills    *inspect.IndexVitals // what the next index comes to; nil: none comes
	moments  []inspect.Moment // the newest first; nil if there are none to be had
	err      error            // of every read
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

// object makes an object with managed fields.
func object(key string) inspect.Object {
	text, err := json.Marshal(map[string]any{
		"apiVersion": "v1", "kind": "Pod",
		"metadata": map[string]any{
			"name": key, "resourceVersion": "184467", "labels": map[string]any{"app": "web", "tier": "front"},
			"managedFields": []any{map[string]any{"manager": "kubelet"}, map[string]any{"manager": "kube-controller-manager"}},
		},
		"spec": map[string]any{"nodeName": "node-3", "containers": []any{map[string]any{"name": "main", "image": "registry.example/web:1.2"}}},
	})
	if err != nil {
		panic(err)
	}
	return inspect.Object{
		Key: key, JSON: text, ResourceVersion: "184467", UID: "u-1",
		Indices: []inspect.ObjectIndex{{Index: "namespace", Values: []string{"default"}}, {Index: "node", Values: nil}},
	}
}

// newFake returns a process whose one informer watches n objects and does well,
// but for one slow handler.
func newFake(n int) *fake {
	f := &fake{buckets: map[string][]inspect.BucketRow{}, objects: map[string]inspect.Object{}}
	for i := range n {
		key := fmt.Sprintf("ns-%d/web-%05d", i%3, i)
		f.rows = append(f.rows, inspect.Row{
			Key: key, ResourceVersion: fmt.Sprint(180000 + i), Created: epoch.Add(-time.Duration(i+1) * 37 * time.Minute),
			Changed: epoch.Add(-time.Duration(i) * time.Second), Updates: uint64(i % 5), Waiting: i % 17 / 16,
		})
	}
	slices.SortFunc(f.rows, func(a, b inspect.Row) int { return cmp.Compare(a.Key, b.Key) })
	index := func(name string, buckets, empty int) {
		rows := make([]inspect.BucketRow, buckets)
		for i := range rows {
			rows[i] = inspect.BucketRow{Value: fmt.Sprintf("%s-%03d", name, i), Objects: 1 + (i*7919)%max(n, 1)}
		}
		f.buckets[name] = rows
		v := inspect.IndexVitals{Name: name, Buckets: buckets, Entries: n, Empty: empty}
		for _, b := range rows {
			if b.Objects > v.LargestObjects {
				v.Largest, v.LargestObjects = b.Value, b.Objects
			}
		}
		f.snapshot.Indices = append(f.snapshot.Indices, v)
	}
	index("app", min(n, 40), 0)
	index("namespace", min(n, 3), 0)
	index("node", min(n, 12), n/9)
	f.snapshot.Indices[2].Errors, f.snapshot.Indices[2].LastError = uint64(n/500), "panic: nil pointer"
	f.vitals(n)
	f.passed(min(n, 60))
	return f
}

// passed lets n deltas have gone through, the last of which the slow handler has
// not been told of.
func (f *fake) passed(n int) {
	f.moments = make([]inspect.Moment, 0, n)
	causes := []inspect.Cause{inspect.CauseWatch, inspect.CauseWatch, inspect.CauseResync, inspect.CauseRelistUnchanged}
	for i := range n {
		at := epoch.Add(-time.Duration(i) * 90 * time.Millisecond)
		m := inspect.Moment{
			Seq: uint64(n - i), Key: f.rows[i*7%len(f.rows)].Key, Type: []string{"updated", "added", "deleted"}[i%3], Cause: causes[i%len(causes)],
			Enqueued: at, Popped: at.Add(time.Duration(i%9*11) * time.Microsecond), Published: at.Add(time.Duration(i%9*12) * time.Microsecond),
			Deliveries: []inspect.Delivery{
				{Handler: "informeter", Took: time.Hour},
				{Handler: "deployment-controller", Began: at.Add(time.Duration(i%9*14) * time.Microsecond), Took: time.Duration(i%5*80) * time.Microsecond},
				{Handler: "audit", Began: at.Add(time.Duration(i) * 20 * time.Millisecond), Took: time.Duration(i%4) * time.Millisecond, Pending: i < 3, Calling: i == 3},
			},
		}
		f.moments = append(f.moments, m)
	}
}

// vitals fills in what every stage says.
func (f *fake) vitals(n int) {
	ms := time.Millisecond
	s := &f.snapshot
	s.Generation, s.At = 1, epoch
	s.Informer = inspect.InformerVitals{
		Name: "pods", Type: "*v1.Pod", Resource: "pods", Scope: "all namespaces", Origin: "prod-eu/admin",
		State: inspect.StateRunning, Created: epoch.Add(-5 * time.Minute), Started: epoch.Add(-252 * time.Second),
		Synced: true, SyncedAt: epoch.Add(-250 * time.Second),
	}
	s.Reflector = inspect.ReflectorVitals{
		Phase: inspect.PhaseWatching, Since: epoch.Add(-252 * time.Second), ResourceVersion: "184467",
		Received: n, Expected: n, Added: 12, Updated: 1190, Deleted: 2, Bookmarks: 4, EventRate: 1204,
		LastEvent: epoch, LastBookmark: epoch.Add(-12 * time.Second),
	}
	s.Queue = inspect.QueueVitals{
		Kind: "DeltaFIFO", Peak: 812, BackPressureAt: 2000, ArrivalRate: 1204, PopRate: 1204,
		Wait: inspect.Latency{Count: 9000, P50: 80 * time.Microsecond, P99: 900 * time.Microsecond, Max: 4 * ms},
		Gate: inspect.Gate{Mode: inspect.GateRunning},
	}
	s.Handle = inspect.HandleVitals{Deltas: 50000, Rate: 1204, Time: inspect.Latency{Count: 9000, P50: 12 * time.Microsecond, P99: 84 * time.Microsecond, Max: ms}}
	s.Store = inspect.StoreVitals{Objects: n, ResourceVersion: "184430", Behind: true, Rate: 1204}
	s.Listeners = []inspect.ListenerVitals{
		{
			Name: "informeter", Explorer: true, Synced: true, Delivered: 50000, Rate: 1204, ArrivalRate: 1204, BusyRate: 400000,
			Time: inspect.Latency{Count: 9000, P50: 2 * time.Microsecond, P99: 9 * time.Microsecond, Max: ms}, Causes: inspect.CauseCounts{Watch: 49000, LateJoin: 1000},
		},
		{
			Name: "deployment-controller", Synced: true, Pending: 3, Behind: 1200 * time.Microsecond, Delivered: 50000, Rate: 1204, ArrivalRate: 1204, BusyRate: 12000,
			Drain: 250 * time.Microsecond, InitialDelivered: uint64(n), InitialTotal: uint64(n),
			Time: inspect.Latency{Count: 9000, P50: 80 * time.Microsecond, P99: 410 * time.Microsecond, Max: 3 * ms}, Causes: inspect.CauseCounts{Watch: 50000},
			Spread: spread(15, 900, 4000, 3100, 700, 200, 60, 30, 10),
		},
		{
			Name: "audit", Synced: true, Pending: 4120, Behind: 8200 * ms, Delivered: 20000, Rate: 501, ArrivalRate: 1204, BusyRate: 501,
			Drain: 8223 * ms, InitialDelivered: uint64(n), InitialTotal: uint64(n), InHandler: 2 * ms, CurrentKey: "ns-0/web-00000",
			Time: inspect.Latency{Count: 9000, P50: 1900 * time.Microsecond, P99: 7 * ms, Max: 40 * ms}, Causes: inspect.CauseCounts{Watch: 8000, Resync: 11800, Initial: 200},
			ResyncAsked: 30 * time.Second, ResyncGranted: 30 * time.Second, ResyncSeen: 31 * time.Second, NextResync: epoch.Add(12 * time.Second),
			Spread:    spread(19, 300, 2600, 4100, 900, 500, 300, 120, 20, 0, 0, 3, 1),
			LastRound: &inspect.Round{Began: epoch.Add(-18 * time.Second), Ended: epoch.Add(-2 * ms), Objects: 7400, Work: 14800 * ms},
		},
	}
	s.Resync = inspect.ResyncVitals{CheckPeriod: 30 * time.Second, Next: epoch.Add(12 * time.Second), Rounds: 8}
	s.Requests = inspect.RequestVitals{WatchLists: 1, Watches: 1, Last: []inspect.Request{
		{ID: 2, Verb: inspect.VerbWatch, Started: epoch.Add(-200 * time.Second), Lifetime: 200 * time.Second, ResourceVersion: "180411", Items: 31204, Bookmarks: 4, Outcome: inspect.OutcomeOpen},
		{ID: 1, Verb: inspect.VerbWatchList, Started: epoch.Add(-252 * time.Second), Ended: epoch.Add(-200 * time.Second), Lifetime: 52 * time.Second, Returned: "180411", Items: n, Initial: n, Marked: epoch.Add(-240 * time.Second), Outcome: inspect.OutcomeClosed, Next: "watch"},
	}}
	f.requests = s.Requests.Last
}

// spread makes bands as an informer does, of how many there are in each; the first
// begins at the power-th power of two nanoseconds.
func spread(power int, counts ...uint64) []inspect.Band {
	var bands []inspect.Band
	from := time.Duration(1) << power
	for i, n := range counts {
		to := from + from/2
		if i%2 == 1 {
			to = from / 3 * 4
		}
		if n > 0 {
			bands = append(bands, inspect.Band{From: from, To: to, Count: n})
		}
		from = to
	}
	return bands
}

// nobody is a process without informers.
type nobody struct{}

func (nobody) Informers(context.Context) ([]inspect.Summary, error) { return nil, nil }

func (nobody) Informer(name string) (inspect.Inspector, inspect.Controls, error) {
	return nil, nil, fmt.Errorf("informer %q: %w", name, inspect.ErrNotFound)
}
