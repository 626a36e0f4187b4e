package processor

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/cache"

	"github.com/informeter/informeter/engine/inspect"
)

// object is a small API object.
type object struct {
	metav1.ObjectMeta
}

func obj(name string) *object {
	return &object{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: name}}
}

// nameOf tells objects and tombstones apart.
func nameOf(o any) string {
	switch o := o.(type) {
	case *object:
		return o.Name
	case cache.DeletedFinalStateUnknown:
		return "tombstone of " + nameOf(o.Obj)
	default:
		return fmt.Sprint(o)
	}
}

// recorder is a handler that writes down what it is told, after doing work.
type recorder struct {
	work func(call string) // may be nil

	mu    sync.Mutex
	calls []string
}

func (r *recorder) called(format string, args ...any) {
	call := fmt.Sprintf(format, args...)
	if r.work != nil {
		r.work(call)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.calls = append(r.calls, call)
}

func (r *recorder) OnAdd(o any, initial bool) {
	if initial {
		r.called("initial %s", nameOf(o))
		return
	}
	r.called("add %s", nameOf(o))
}

func (r *recorder) OnUpdate(o, n any) { r.called("update %s %s", nameOf(o), nameOf(n)) }
func (r *recorder) OnDelete(o any)    { r.called("delete %s", nameOf(o)) }

func (r *recorder) got() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return append([]string{}, r.calls...)
}

func (r *recorder) expect(t *testing.T, want ...string) {
	t.Helper()
	if want == nil {
		want = []string{}
	}
	if diff := cmp.Diff(want, r.got()); diff != "" {
		t.Errorf("handler was told (-want +got):\n%s", diff)
	}
}

// upstream is an informer that syncs when it is told to.
type upstream chan struct{}

func (u upstream) Name() string          { return "informer" }
func (u upstream) Done() <-chan struct{} { return u }

// run runs p until the function it returns is called, which waits for the end.
func run(t *testing.T, p *Processor) (stop func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() {
		defer close(done)
		p.Run(ctx)
	}()
	return func() {
		cancel()
		<-done
	}
}

func add(t *testing.T, p *Processor, h cache.ResourceEventHandler, o ListenerOptions, initial ...any) *Listener {
	t.Helper()
	l, err := p.Add(h, o, nil, initial)
	if err != nil {
		t.Fatalf("Add: %v", err)
	}
	return l
}

func added(names ...string) []Notification {
	var batch []Notification
	for _, name := range names {
		batch = append(batch, Notification{Kind: Add, New: obj(name)})
	}
	return batch
}

func resynced(names ...string) []Notification {
	var batch []Notification
	for _, name := range names {
		o := obj(name)
		batch = append(batch, Notification{Kind: Update, Cause: inspect.CauseResync, DueOnly: true, Old: o, New: o})
	}
	return batch
}

func vitalsOf(t *testing.T, p *Processor, name string) inspect.ListenerVitals {
	t.Helper()
	for _, v := range p.Listeners(time.Now()) {
		if v.Name == name {
			return v
		}
	}
	t.Fatalf("no listener %q", name)
	return inspect.ListenerVitals{}
}

func TestEveryListenerIsToldOfEverythingInOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := New(Options{})
		var handlers [3]recorder
		add(t, p, &handlers[0], ListenerOptions{})
		add(t, p, &handlers[1], ListenerOptions{})
		p.Publish(added("before"))
		stop := run(t, p)
		add(t, p, &handlers[2], ListenerOptions{})
		var want []string
		batch := make([]Notification, 0, 300)
		for b := range 20 {
			batch = batch[:0]
			for i := range 15 * b {
				name := fmt.Sprintf("o%d-%d", b, i)
				switch i % 3 {
				case 0:
					batch = append(batch, Notification{Kind: Add, New: obj(name)})
					want = append(want, "add "+name)
				case 1:
					batch = append(batch, Notification{Kind: Update, Old: obj("old"), New: obj(name)})
					want = append(want, "update old "+name)
				case 2:
					batch = append(batch, Notification{Kind: Delete, Old: cache.DeletedFinalStateUnknown{Key: name, Obj: obj(name)}})
					want = append(want, "delete tombstone of "+name)
				}
			}
			p.Publish(batch)
			// The caller's slice is the caller's again.
			clear(batch)
		}
		synctest.Wait()
		handlers[2].expect(t, want...)
		want = append([]string{"add before"}, want...)
		handlers[0].expect(t, want...)
		handlers[1].expect(t, want...)
		stop()
	})
}

func TestALateListenerIsGivenTheStoreFirstAndNobodyElseIs(t *testing.T) {
	for _, size := range []int{0, 1, chunkSize, chunkSize + 1, 1000} {
		t.Run(fmt.Sprintf("initial=%d", size), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := New(Options{})
				var first, late recorder
				add(t, p, &first, ListenerOptions{})
				stop := run(t, p)
				p.Publish(added("a", "b"))
				var initial []any
				var want []string
				for i := range size {
					initial = append(initial, obj(fmt.Sprint(i)))
					want = append(want, fmt.Sprintf("initial %d", i))
				}
				add(t, p, &late, ListenerOptions{Name: "late"}, initial...)
				p.Publish(added("c"))
				synctest.Wait()
				late.expect(t, append(want, "add c")...)
				first.expect(t, "add a", "add b", "add c")
				v := vitalsOf(t, p, "late")
				if v.Causes.LateJoin != uint64(size) || v.InitialDelivered != uint64(size) || v.InitialTotal != uint64(size) {
					t.Errorf("late listener: causes %+v, initial %d of %d, want %d late joins", v.Causes, v.InitialDelivered, v.InitialTotal, size)
				}
				stop()
			})
		})
	}
}

func TestAResyncGoesToTheDueListenersAndTheExplorer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := New(Options{})
		var often, never, explorer recorder
		now := time.Now()
		add(t, p, &often, ListenerOptions{Name: "often", ResyncAsked: time.Minute, ResyncGranted: time.Minute, Now: now})
		add(t, p, &never, ListenerOptions{Name: "never", Now: now})
		add(t, p, &explorer, ListenerOptions{Name: "explorer", Explorer: true, Now: now})
		stop := run(t, p)
		// Before the first check everybody is due.
		p.Publish(resynced("a"))
		if p.ShouldResync(now.Add(59 * time.Second)) {
			t.Error("ShouldResync before anybody is due = true")
		}
		p.Publish(resynced("b"))
		if !p.ShouldResync(now.Add(60 * time.Second)) {
			t.Error("ShouldResync when one is due = false")
		}
		p.Publish(append(resynced("c"), added("d")...))
		synctest.Wait()
		often.expect(t, "update a a", "update c c", "add d")
		never.expect(t, "update a a", "add d")
		explorer.expect(t, "update a a", "update b b", "update c c", "add d")
		for name, want := range map[string]uint64{"often": 3, "never": 2, "explorer": 4} {
			if v := vitalsOf(t, p, name); v.Pending != 0 || v.Delivered != want {
				t.Errorf("%s: %d pending, %d delivered, want 0, %d", name, v.Pending, v.Delivered, want)
			}
		}
		stop()
	})
}

func TestTheHandlerIsSyncedAfterTheInformerAndTheInitialList(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		informer := make(upstream)
		p := New(Options{Upstream: informer})
		slow := recorder{work: func(string) { time.Sleep(time.Second) }}
		l := add(t, p, &slow, ListenerOptions{Name: "slow"})
		stop := run(t, p)
		p.Publish([]Notification{
			{Kind: Add, Initial: true, Cause: inspect.CauseInitial, New: obj("a")},
			{Kind: Add, Initial: true, Cause: inspect.CauseInitial, New: obj("b")},
			{Kind: Add, New: obj("c")},
		})
		start := time.Now()
		time.Sleep(500 * time.Millisecond)
		close(informer)
		if l.HasSynced() {
			t.Error("synced before anything was delivered")
		}
		<-l.HasSyncedChecker().Done()
		if took := time.Since(start); took != 2*time.Second {
			t.Errorf("synced after %v, want 2s, when the second call returned", took)
		}
		if got, want := l.HasSyncedChecker().Name(), "informer + event handler slow"; got != want {
			t.Errorf("checker is called %q, want %q", got, want)
		}
		if !l.HasSynced() {
			t.Error("HasSynced = false after Done has closed")
		}
		stop()
	})
}

func TestRemovalDropsTheBacklogAndFinishesTheCall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := New(Options{})
		block := make(chan struct{})
		h := recorder{work: func(string) { <-block }}
		l := add(t, p, &h, ListenerOptions{Name: "h"})
		stop := run(t, p)
		p.Publish(added("a", "b", "c"))
		synctest.Wait()
		for range 2 {
			if err := p.Remove(l); err != nil {
				t.Errorf("Remove: %v", err)
			}
		}
		p.Publish(added("d"))
		if v := vitalsOf(t, p, "h"); !v.Removing || v.Pending != 3 || p.Len() != 0 {
			t.Errorf("removed in a call: removing %v, %d pending, %d listeners, want true, 3, 0", v.Removing, v.Pending, p.Len())
		}
		select {
		case <-l.ShutdownChan():
			t.Error("ShutdownChan closed during a call")
		default:
		}
		close(block)
		<-l.ShutdownChan()
		h.expect(t, "add a")
		if n := len(p.Listeners(time.Now())); n != 0 {
			t.Errorf("%d listeners listed after removal, want 0", n)
		}
		stop()
	})
}

func TestRemovalBeforeRunIsImmediate(t *testing.T) {
	p := New(Options{})
	var h recorder
	l := add(t, p, &h, ListenerOptions{})
	if err := p.Remove(l); err != nil {
		t.Fatal(err)
	}
	<-l.ShutdownChan()
	p.Publish(added("a"))
	h.expect(t)
}

func TestRemoveTellsRegistrationsApart(t *testing.T) {
	p, other := New(Options{}), New(Options{})
	mine := add(t, p, &recorder{}, ListenerOptions{})
	theirs := add(t, other, &recorder{}, ListenerOptions{})
	if err := p.Remove(theirs); err != nil || other.Len() != 1 {
		t.Errorf("removing another processor's listener = %v, it has %d listeners; want nil and nothing done", err, other.Len())
	}
	if err := p.Remove(nil); err == nil {
		t.Error("removing nil = nil, want an error")
	}
	if err := p.Remove(mine); err != nil || p.Len() != 0 {
		t.Errorf("Remove = %v, %d listeners left", err, p.Len())
	}
}

func TestStopFinishesCallsAndEndsEverything(t *testing.T) {
	// The bubble fails if a goroutine is left.
	synctest.Test(t, func(t *testing.T) {
		p := New(Options{})
		busy := recorder{work: func(string) { time.Sleep(time.Second) }}
		var idle recorder
		l := add(t, p, &busy, ListenerOptions{Name: "busy"})
		add(t, p, &idle, ListenerOptions{Name: "idle"})
		stop := run(t, p)
		p.Publish(added("a", "b", "c"))
		time.Sleep(1500 * time.Millisecond)
		stop()
		<-l.ShutdownChan()
		busy.expect(t, "add a", "add b")
		idle.expect(t, "add a", "add b", "add c")
		if v := vitalsOf(t, p, "busy"); v.Pending != 1 || v.Delivered != 2 || v.Removing || v.Behind != 0 {
			t.Errorf("after the stop: %+v, want 1 pending, 2 delivered, not removing", v)
		}
		p.Publish(added("d"))
		if _, err := p.Add(&idle, ListenerOptions{Name: "late"}, nil, nil); !errors.Is(err, ErrStopped) {
			t.Errorf("Add after the stop = %v, want ErrStopped", err)
		}
		if err := p.Remove(l); err != nil {
			t.Errorf("Remove after the stop = %v", err)
		}
		if p.ShouldResync(time.Now()) {
			t.Error("ShouldResync after the stop = true")
		}
	})
}

func TestAStuckHandlerIsSeen(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := New(Options{})
		block := make(chan struct{})
		h := recorder{work: func(call string) {
			if call == "add c" {
				<-block
				return
			}
			time.Sleep(100 * time.Millisecond)
		}}
		add(t, p, &h, ListenerOptions{Name: "h"})
		stop := run(t, p)
		p.Publish(added("a", "b", "c", "d"))
		time.Sleep(time.Second)
		p.Publish(added("e"))
		time.Sleep(9 * time.Second)
		got := vitalsOf(t, p, "h")
		want := inspect.ListenerVitals{
			Name:        "h",
			Pending:     3,
			Behind:      10 * time.Second,
			Delivered:   2,
			Rate:        got.Rate,
			ArrivalRate: got.ArrivalRate,
			ChangeRate:  got.ChangeRate,
			// Two calls in 200ms, and one overdue by 9.7s.
			BusyRate:   2 / 9.9,
			Drain:      14850 * time.Millisecond,
			Time:       got.Time,
			Spread:     []inspect.Band{{From: 1 << 26, To: 1<<26 + 1<<25, Count: 2}},
			Causes:     inspect.CauseCounts{Watch: 2},
			InHandler:  9800 * time.Millisecond,
			CurrentKey: "ns/c",
			Synced:     true,
		}
		if diff := cmp.Diff(want, got, approximately); diff != "" {
			t.Errorf("vitals (-want +got):\n%s", diff)
		}
		if got.Time.Count != 2 || got.Time.Max != 100*time.Millisecond {
			t.Errorf("time of a call = %+v, want two of 100ms", got.Time)
		}
		close(block)
		synctest.Wait()
		time.Sleep(time.Second)
		if v := vitalsOf(t, p, "h"); v.InHandler != 0 || v.CurrentKey != "" || v.Behind != 0 || v.Pending != 0 || v.Delivered != 5 {
			t.Errorf("after it got unstuck: %+v", v)
		}
		stop()
	})
}

var approximately = cmp.Comparer(func(a, b float64) bool { return a-b < 1e-6 && b-a < 1e-6 })
