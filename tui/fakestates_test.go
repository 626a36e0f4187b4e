package tui

import (
	"fmt"
	"time"

	"github.com/informeter/informeter/engine/inspect"
)

// waiting puts n keys with deltas into the queue.
func (f *fake) waiting(n int) *fake {
	kinds := []string{"Updated", "Added", "Deleted", "Replaced", "Sync"}
	deltas := 0
	for i := range n {
		item := inspect.QueueItem{Key: fmt.Sprintf("ns-%d/web-%05d", i%3, i*7), Position: i - 1, InFlight: i == 0, Age: time.Duration(n-i) * 40 * time.Millisecond}
		for d := range i%4 + 1 {
			item.Deltas = append(item.Deltas, inspect.DeltaInfo{
				Type: kinds[(i+d)%len(kinds)], Cause: inspect.Cause((i + d) % 2 * 6), ResourceVersion: fmt.Sprint(184000 + i + d),
				Age: item.Age - time.Duration(d)*time.Millisecond, Objects: 1, Tombstone: (i+d)%len(kinds) == 2,
			})
		}
		item.More = i % 5 / 4 * 12
		deltas += len(item.Deltas) + item.More
		f.queue = append(f.queue, item)
	}
	q := &f.snapshot.Queue
	q.Deltas, q.Keys, q.Objects, q.InFlight, q.Age = deltas, n, n, min(n, 1), time.Duration(n)*40*time.Millisecond
	return f
}

// ordered makes the queue one that keeps every event in order.
func (f *fake) ordered() *fake {
	f.queue = append([]inspect.QueueItem{
		{Position: 0, Age: time.Second, Deltas: []inspect.DeltaInfo{{Type: "ReplacedAll", Cause: inspect.CauseRelist, Objects: 48211, ResourceVersion: "184000", Age: time.Second}}},
		{Position: 1, Age: time.Second, Deltas: []inspect.DeltaInfo{{Type: "SyncAll", Cause: inspect.CauseResync, Objects: 500, Age: time.Second}}},
	}, f.queue...)
	for i := range f.queue {
		f.queue[i].Position, f.queue[i].InFlight, f.queue[i].Deltas, f.queue[i].More = i, false, f.queue[i].Deltas[:1], 0
	}
	q := &f.snapshot.Queue
	q.Kind, q.Deltas, q.Keys, q.Objects, q.InFlight = "InOrder", len(f.queue), len(f.queue)-2, 48711+len(f.queue)-2, 0
	return f
}

// written fills in what is known of rows while somebody looks.
func (f *fake) written() *fake {
	for i := range f.rows {
		r := &f.rows[i]
		r.Writer = []string{"kubelet", "kube-controller-manager", "argocd-application-controller", ""}[i%4]
		r.Rate, r.Compared, r.NoOps, r.Size = float64(i%7)/3, uint64(i%9), uint64(i%9*(i%3)/2), 900+i*i%9000
	}
	return f
}

// slowly lets only so many rows be sorted.
func (f *fake) slowly(n int) *fake { f.scanned = n; return f }

// checked lets indices be computed anew, with so many wrong.
func (f *fake) checked(wrong int) *fake {
	f.verified = map[string]inspect.IndexCheck{}
	for _, v := range f.snapshot.Indices {
		c := inspect.IndexCheck{Index: v.Name, Objects: len(f.rows), Took: 12 * time.Millisecond, Wrong: wrong}
		for i := range wrong {
			c.Examples = append(c.Examples, inspect.IndexMismatch{Key: f.rows[i].Key, Indexed: []string{"node-3"}, Now: []string{""}})
		}
		f.verified[v.Name] = c
	}
	return f
}

// streamed is an informer that got its list as a stream.
func (f *fake) streamed() *fake {
	f.requests = []inspect.Request{
		{ID: 3, Verb: inspect.VerbWatchList, Started: epoch.Add(-200 * time.Second), Marked: epoch.Add(-182 * time.Second), Lifetime: 200 * time.Second, Returned: "184467", Match: "NotOlderThan", Timeout: 7 * time.Minute, Items: 31704, Initial: 500, Bookmarks: 4, Outcome: inspect.OutcomeOK, Next: "watch"},
		{ID: 2, Verb: inspect.VerbWatchList, Started: epoch.Add(-230 * time.Second), Ended: epoch.Add(-201 * time.Second), Lifetime: 29 * time.Second, Match: "NotOlderThan", Items: 120, Outcome: inspect.OutcomeClosed, Error: "initial stream without its end marker", Next: "retry"},
		{ID: 1, Verb: inspect.VerbWatchList, Started: epoch.Add(-252 * time.Second), Ended: epoch.Add(-231 * time.Second), Lifetime: 21 * time.Second, Outcome: inspect.OutcomeFailed, Code: 429, Error: "too many requests", Next: "retry"},
	}
	f.snapshot.Requests = inspect.RequestVitals{WatchLists: 3, Failed: 2, Last: f.requests}
	return f
}

// requested lets the informer have made n requests, which ended in every way.
func (f *fake) requested(n int) *fake {
	at := epoch.Add(-17 * time.Second)
	f.requests = nil
	for i := range n {
		r := inspect.Request{
			ID: uint64(n - i), Verb: inspect.VerbWatch, Lifetime: time.Duration(i%7*i%11+1) * 41 * time.Second,
			ResourceVersion: fmt.Sprint(184467 - 311*i), Returned: fmt.Sprint(184467 - 300*i), Timeout: 7*time.Minute + 12*time.Second,
			Items: 31204 * (i % 4), Bookmarks: i % 5, Outcome: inspect.OutcomeClosed, Next: "watch",
		}
		switch i % 9 {
		case 1:
			r.Outcome, r.Error, r.Code, r.Next = inspect.OutcomeExpired, "too old resource version: 184156 (184411)", 410, "relist"
		case 2:
			r.Outcome, r.Error = inspect.OutcomeFailed, "dial tcp 10.0.0.1:6443: connect: connection refused"
			r.Next, r.NextAt, r.Lifetime = "retry", at.Add(812*time.Millisecond), 3*time.Millisecond
		case 3:
			r.Verb, r.Outcome, r.Pages, r.Limit, r.Timeout, r.Lifetime, r.Code = inspect.VerbList, inspect.OutcomeOK, 97, 500, 0, 1900*time.Millisecond, 200
			r.Items, r.Bookmarks, r.ResourceVersion, r.Match = 48211, 0, "0", "NotOlderThan"
		case 4:
			r.Verb, r.Outcome, r.ResourceVersion, r.Match = inspect.VerbWatchList, inspect.OutcomeRefused, "", "NotOlderThan"
			r.Error, r.Code, r.Next, r.Lifetime = "sendInitialEvents is forbidden for watch unless the WatchList feature gate is enabled", 422, "list instead", 4*time.Millisecond
		case 5:
			r.Outcome, r.Code, r.Error, r.Next = inspect.OutcomeTooNew, 504, "Too large resource version: 190000, current: 184411", "retry"
		}
		r.Ended, r.Started = at, at.Add(-r.Lifetime)
		at = r.Started.Add(-20 * time.Millisecond)
		f.requests = append(f.requests, r)
	}
	if n > 0 {
		r := &f.requests[0]
		r.Outcome, r.Started, r.Ended, r.Lifetime, r.Next, r.Returned = inspect.OutcomeOpen, epoch.Add(-17*time.Second), time.Time{}, 17*time.Second, "", ""
	}
	f.snapshot.Requests.Lists, f.snapshot.Requests.Watches = uint64(n/9), uint64(n-n/9)
	f.snapshot.Requests.Failed, f.snapshot.Requests.Last = uint64(n/2), f.requests[:min(n, 5)]
	return f
}
