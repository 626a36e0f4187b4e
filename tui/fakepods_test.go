package tui

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/informeter/informeter/engine/inspect"
)

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
			Name: "informeter", Explorer: true, Synced: true, Delivered: 50000, Rate: 1204, ArrivalRate: 1204, ChangeRate: 1204, BusyRate: 400000,
			Time: inspect.Latency{Count: 9000, P50: 2 * time.Microsecond, P99: 9 * time.Microsecond, Max: ms}, Causes: inspect.CauseCounts{Watch: 49000, LateJoin: 1000},
		},
		{
			Name: "deployment-controller", Synced: true, Pending: 3, Behind: 1200 * time.Microsecond, Delivered: 50000, Rate: 1204, ArrivalRate: 1204, ChangeRate: 1204, BusyRate: 12000,
			Drain: 250 * time.Microsecond, InitialDelivered: uint64(n), InitialTotal: uint64(n),
			Time: inspect.Latency{Count: 9000, P50: 80 * time.Microsecond, P99: 410 * time.Microsecond, Max: 3 * ms}, Causes: inspect.CauseCounts{Watch: 50000},
			Spread: spread(15, 900, 4000, 3100, 700, 200, 60, 30, 10),
		},
		{
			Name: "audit", Synced: true, Pending: 4120, Behind: 8200 * ms, Delivered: 20000, Rate: 501, ArrivalRate: 1204, ChangeRate: 1204, BusyRate: 501,
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
