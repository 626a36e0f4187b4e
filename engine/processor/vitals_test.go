package processor

import (
	"fmt"
	"math"
	"runtime"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
	"weak"

	"github.com/informeter/informeter/engine/inspect"
	"github.com/informeter/informeter/engine/tap"
)

func TestTheLogLetsGoOfWhatLiesBehindTheSlowestListener(t *testing.T) {
	const objects = 10 * chunkSize
	p := New(Options{})
	let, at := make(chan struct{}), make(chan int)
	var calls int
	slow := recorder{work: func(string) {
		calls++
		at <- calls
		<-let
	}}
	add(t, p, &slow, ListenerOptions{})
	fast := &recorder{}
	add(t, p, fast, ListenerOptions{})
	stop := run(t, p)
	var pointers []weak.Pointer[object]
	for i := range objects {
		o := obj(fmt.Sprint(i))
		pointers = append(pointers, weak.Make(o))
		p.Publish([]Notification{{Kind: Add, New: o}})
	}
	alive := func() (n int) {
		runtime.GC()
		for _, w := range pointers {
			if w.Value() != nil {
				n++
			}
		}
		return n
	}
	rest := func(awake int32) {
		for p.awake.Load() > awake {
			runtime.Gosched()
		}
	}
	rest(1)
	for range objects/2 - 1 {
		<-at
		let <- struct{}{}
	}
	<-at
	if n := alive(); n < objects/2+1 || n > objects/2+chunkSize {
		t.Errorf("with half of %d delivered, %d are alive; want the other half, and at most a chunk more", objects, n)
	}
	let <- struct{}{}
	for range objects / 2 {
		<-at
		let <- struct{}{}
	}
	rest(0)
	if n := alive(); n != 0 {
		t.Errorf("with everything delivered, %d objects are alive, want none", n)
	}
	stop()
}

func TestARoundForOthersNeitherWakesNorPinsAnything(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var generation tap.Generation
		p := New(Options{Generation: &generation})
		var due, idle recorder
		now := time.Now()
		add(t, p, &due, ListenerOptions{ResyncGranted: time.Second, Now: now})
		for range 10 {
			add(t, p, &idle, ListenerOptions{Now: now})
		}
		stop := run(t, p)
		p.ShouldResync(now.Add(time.Second))
		synctest.Wait()
		before := generation.Current()
		p.Publish(resynced(make([]string, 5*chunkSize)...))
		synctest.Wait()
		// Once by Publish, once by the one listener that ran dry again.
		if bumps := generation.Current() - before; bumps != 2 {
			t.Errorf("a round for one listener bumped the generation %d times, want 2", bumps)
		}
		if err := checkInvariants(p); err != nil {
			t.Error(err)
		}
		// What is for nobody is not even kept.
		p.ShouldResync(now)
		n := p.tail.n.Load()
		p.Publish(resynced("a", "b"))
		if p.tail.n.Load() != n {
			t.Error("notifications for nobody were appended to the log")
		}
		stop()
	})
}

func TestTheGenerationFollowsAListenerThatWorksOffABacklog(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var generation tap.Generation
		p := New(Options{Generation: &generation})
		h := recorder{work: func(string) { time.Sleep(20 * time.Millisecond) }}
		add(t, p, &h, ListenerOptions{})
		stop := run(t, p)
		p.Publish(added("a", "b", "c"))
		synctest.Wait()
		for i := range 3 {
			before := generation.Current()
			time.Sleep(20 * time.Millisecond)
			synctest.Wait()
			if generation.Current() == before {
				t.Errorf("call %d has returned and the generation is what it was", i+1)
			}
		}
		stop()
	})
}

func TestRatesAndTimeToDrain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := New(Options{})
		var took atomic.Int64
		took.Store(int64(10 * time.Millisecond))
		h := recorder{work: func(string) { time.Sleep(time.Duration(took.Load())) }}
		add(t, p, &h, ListenerOptions{Name: "h"})
		stop := run(t, p)
		if v := vitalsOf(t, p, "h"); v.Drain != -1 || v.BusyRate != 0 {
			t.Errorf("before the first call: drain %v, busy rate %v, want -1, 0", v.Drain, v.BusyRate)
		}
		names := make([]string, 2001)
		p.Publish(added(names...))
		time.Sleep(10 * time.Second)
		synctest.Wait()
		v := vitalsOf(t, p, "h")
		if v.Delivered != 1000 || v.Pending != 1001 || v.Rate != 100 || v.ArrivalRate != 200.1 {
			t.Errorf("after 10s: delivered %d, pending %d, rate %v, arriving %v; want 1000, 1001, 100, 200.1", v.Delivered, v.Pending, v.Rate, v.ArrivalRate)
		}
		if v.BusyRate != 100 || v.Drain != 10010*time.Millisecond {
			t.Errorf("after 10s: busy rate %v, drain %v, want 100, 10.01s", v.BusyRate, v.Drain)
		}
		// The handler gets slower: after ten busy seconds nothing else counts.
		took.Store(int64(time.Second))
		time.Sleep(11 * time.Second)
		synctest.Wait()
		if v := vitalsOf(t, p, "h"); v.BusyRate < 0.99 || v.BusyRate > 1.01 {
			t.Errorf("busy rate of a handler that takes 1s = %v", v.BusyRate)
		}
		stop()
	})
}

func TestSamplingKeepsRatesInTheirTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := New(Options{})
		add(t, p, &recorder{}, ListenerOptions{Name: "h"})
		stop := run(t, p)
		p.Publish(added(make([]string, 6000)...))
		for range 60 {
			time.Sleep(time.Second)
			p.Sample(time.Now())
		}
		// Unsampled, the burst a minute ago would be taken for 100 a second.
		if v := vitalsOf(t, p, "h"); v.Rate > 1 || v.ArrivalRate > 1 {
			t.Errorf("a minute after a burst: rate %v, arriving %v, want next to nothing", v.Rate, v.ArrivalRate)
		}
		stop()
	})
}

func TestDrainIsBounded(t *testing.T) {
	for _, c := range []struct {
		pending uint64
		rate    float64
		want    time.Duration
	}{
		{0, 0, -1},
		{5, 0, -1},
		{0, 5, 0},
		{10, 5, 2 * time.Second},
		{math.MaxUint64, 1e-9, math.MaxInt64},
	} {
		if got := drain(c.pending, c.rate); got != c.want {
			t.Errorf("drain(%d, %v) = %v, want %v", c.pending, c.rate, got, c.want)
		}
	}
}

func TestRegrantingRoundsByTheCheckPeriod(t *testing.T) {
	p := New(Options{})
	for _, asked := range []time.Duration{0, time.Second, 3 * time.Second} {
		add(t, p, &recorder{}, ListenerOptions{ResyncAsked: asked, ResyncGranted: asked})
	}
	for _, c := range []struct {
		check time.Duration
		want  [3]time.Duration
	}{
		{2 * time.Second, [3]time.Duration{0, 2 * time.Second, 3 * time.Second}},
		{time.Second, [3]time.Duration{0, time.Second, 3 * time.Second}},
		{0, [3]time.Duration{}},
	} {
		p.RegrantResync(c.check)
		for i, v := range p.Listeners(time.Now()) {
			if v.ResyncGranted != c.want[i] {
				t.Errorf("check period %v: asked %v, granted %v, want %v", c.check, v.ResyncAsked, v.ResyncGranted, c.want[i])
			}
		}
	}
}

func TestASyncedInformerMakesALateHandlerWithNothingToSeeSyncedAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := New(Options{})
		stop := run(t, p)
		synctest.Wait()
		if l := add(t, p, &recorder{}, ListenerOptions{}); !l.HasSynced() {
			t.Error("not synced")
		}
		returns := make(chan struct{})
		l := add(t, p, &recorder{work: func(string) { <-returns }}, ListenerOptions{}, obj("a"))
		if l.HasSynced() {
			t.Error("synced before its startup batch was delivered")
		}
		close(returns)
		stop()
	})
}

func TestAStuckHandlerIsSyncedIfItHasSeenTheInitialList(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		informer := make(upstream)
		p := New(Options{Upstream: informer})
		block := make(chan struct{})
		h := recorder{work: func(call string) {
			if call == "add b" {
				<-block
			}
		}}
		l := add(t, p, &h, ListenerOptions{})
		stop := run(t, p)
		p.Publish([]Notification{{Kind: Add, Initial: true, Cause: inspect.CauseInitial, New: obj("a")}, added("b")[0]})
		synctest.Wait()
		close(informer)
		<-l.HasSyncedChecker().Done()
		close(block)
		stop()
	})
}

func TestAHandlerMayRemoveItself(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := New(Options{})
		var l *Listener
		h := recorder{work: func(string) {
			if err := p.Remove(l); err != nil {
				t.Error(err)
			}
		}}
		l = add(t, p, &h, ListenerOptions{})
		stop := run(t, p)
		p.Publish(added("a", "b"))
		<-l.ShutdownChan()
		h.expect(t, "add a")
		stop()
	})
}

func TestAddRefusesNothing(t *testing.T) {
	if _, err := New(Options{}).Add(nil, ListenerOptions{Name: "h"}, nil, nil); err == nil {
		t.Error("adding a nil handler = nil")
	}
}

func TestKindsHaveNames(t *testing.T) {
	for kind, want := range map[Kind]string{Add: "add", Update: "update", Delete: "delete", 9: "unknown 9"} {
		if got := kind.String(); got != want {
			t.Errorf("Kind(%d) is called %q, want %q", kind, got, want)
		}
	}
}

func TestTheCallsOfAHandlerAreSpreadOverBands(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := New(Options{})
		takes := map[string]time.Duration{"a": 3 * time.Millisecond, "b": 3 * time.Millisecond, "c": time.Second}
		h := recorder{work: func(s string) { time.Sleep(takes[s[len(s)-1:]]) }}
		add(t, p, &h, ListenerOptions{Name: "h"})
		stop := run(t, p)
		if v := vitalsOf(t, p, "h"); v.Spread != nil {
			t.Errorf("before the first call: %v", v.Spread)
		}
		p.Publish(added("a", "b", "c"))
		time.Sleep(2 * time.Second)
		v := vitalsOf(t, p, "h")
		if len(v.Spread) != 2 || v.Spread[0].Count != 2 || v.Spread[1].Count != 1 ||
			v.Spread[0].From > takes["a"] || v.Spread[0].To <= takes["a"] || v.Spread[1].From > takes["c"] || v.Spread[1].To <= takes["c"] {
			t.Errorf("two calls of 3ms and one of 1s are spread over %v", v.Spread)
		}
		stop()
	})
}

func TestRoundsAndTheInitialListAreNoChanges(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := New(Options{})
		var due, h recorder
		add(t, p, &due, ListenerOptions{Name: "due", ResyncAsked: 10 * time.Second, ResyncGranted: 10 * time.Second, Now: time.Now()})
		add(t, p, &h, ListenerOptions{Name: "h"})
		stop := run(t, p)
		names := make([]string, 100)
		for i := range names {
			names[i] = fmt.Sprint(i)
		}
		initial := added(names...)
		for i := range initial {
			initial[i].Initial = true
		}
		p.Publish(initial)
		for second := range 60 {
			time.Sleep(time.Second)
			p.Publish(added("a", "b"))
			synctest.Wait()
			if p.ShouldResync(time.Now()) {
				p.Publish(resynced(names...))
			}
			p.Sample(time.Now())
			for _, name := range []string{"due", "h"} {
				if v := vitalsOf(t, p, name); v.ChangeRate < 1.99 || v.ChangeRate > 2.01 {
					t.Fatalf("after %ds: %s has %v changes a second, want 2", second+1, name, v.ChangeRate)
				}
			}
		}
		if v := vitalsOf(t, p, "due"); v.Causes.Resync < 500 {
			t.Errorf("%d resyncs, want five rounds or more", v.Causes.Resync)
		}
		stop()
	})
}
