package engine

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/client-go/tools/cache"

	"github.com/informeter/informeter/engine/inspect"
)

func every(d time.Duration) cache.HandlerOptions { return cache.HandlerOptions{ResyncPeriod: &d} }

func vitalsOf(t *testing.T, i *Informer, handler string) inspect.ListenerVitals {
	t.Helper()
	for _, v := range snapshot(t, i).Listeners {
		if v.Name == handler {
			return v
		}
	}
	t.Fatalf("no handler %s", handler)
	return inspect.ListenerVitals{}
}

// expectTold compares what a handler was told since it was last asked.
func expectTold(t *testing.T, r *recorder, want ...string) {
	t.Helper()
	if diff := cmp.Diff(want, r.all()); diff != "" {
		t.Errorf("handler was told (-want +got):\n%s", diff)
	}
}

func TestResyncNowPlaysTheCacheBackToThoseWhoAreGrantedAPeriod(t *testing.T) {
	for _, queue := range []Queue{DeltaFIFO, InOrder} {
		t.Run(queue.String(), func(t *testing.T) {
			inBubble(t, Options{Resync: time.Minute, Queue: queue}, func(t *testing.T, s server, i *Informer) {
				var granted, other recorder
				addNamed(t, i, "granted", &granted, cache.HandlerOptions{})
				addNamed(t, i, "other", &other, every(0))
				s.Add(pod("a"))
				s.Add(pod("b"))
				defer run(i)()
				synctest.Wait()
				granted.all()
				other.all()
				lists := snapshot(t, i).Requests.Lists
				time.Sleep(10 * time.Second)
				if err := i.ResyncNow(t.Context()); err != nil {
					t.Fatal(err)
				}
				synctest.Wait()
				if got := granted.all(); len(got) != 2 {
					t.Errorf("the handler with a period was told %q", got)
				}
				expectTold(t, &other)
				v := snapshot(t, i)
				if v.Resync.Rounds != 1 || !v.Resync.Last.Equal(time.Now()) || v.Resync.LastObjects != 2 || v.Resync.LastListeners != 1 {
					t.Errorf("resync vitals %+v", v.Resync)
				}
				if v.Requests.Lists != lists {
					t.Error("the server was asked")
				}
				l := vitalsOf(t, i, "granted")
				if l.Causes.Resync != 2 || !l.NextResync.Equal(time.Now().Add(time.Minute)) {
					t.Errorf("%d resync notifications, next due %v", l.Causes.Resync, l.NextResync)
				}
				// The next check comes first and finds the handler not due yet.
				time.Sleep(55 * time.Second)
				expectTold(t, &granted)
			})
		})
	}
}

func TestResyncNowPlaysTheCacheBackToAllIfNobodyIsGrantedAPeriod(t *testing.T) {
	inBubble(t, Options{}, func(t *testing.T, s server, i *Informer) {
		var one, two recorder
		addNamed(t, i, "one", &one, cache.HandlerOptions{})
		addNamed(t, i, "two", &two, cache.HandlerOptions{})
		s.Add(pod("a"))
		defer run(i)()
		synctest.Wait()
		if err := i.ResyncNow(t.Context()); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		for _, r := range []*recorder{&one, &two} {
			expectTold(t, r, "add a@1 initially", "update a@1 to a@1")
		}
	})
}

func TestResyncNowKeepsTheOrderOfAKey(t *testing.T) {
	inBubble(t, Options{}, func(t *testing.T, s server, i *Informer) {
		var r recorder
		addNamed(t, i, "h", &r, cache.HandlerOptions{})
		s.Add(pod("a"))
		s.Add(pod("b"))
		defer run(i)()
		synctest.Wait()
		r.all()
		_ = i.Pause(t.Context())
		s.Modify(pod("a")) // waits when the round comes, so there is no need for more
		synctest.Wait()
		if err := i.ResyncNow(t.Context()); err != nil {
			t.Fatal(err)
		}
		s.Modify(pod("b"))
		synctest.Wait()
		_ = i.Resume(t.Context())
		synctest.Wait()
		expectTold(t, &r, "update a@1 to a@3", "update b@2 to b@2", "update b@2 to b@4")
	})
}

// TestResyncNowAtAClosedGateReachesWhoItWasFor: however often it is checked
// meanwhile whose turn it is.
func TestResyncNowAtAClosedGateReachesWhoItWasFor(t *testing.T) {
	inBubble(t, Options{Resync: 10 * time.Second}, func(t *testing.T, s server, i *Informer) {
		var often, seldom recorder
		addNamed(t, i, "often", &often, cache.HandlerOptions{})
		addNamed(t, i, "seldom", &seldom, every(time.Hour))
		s.Add(pod("a"))
		defer run(i)()
		synctest.Wait()
		_ = i.Pause(t.Context())
		if err := i.ResyncNow(t.Context()); err != nil {
			t.Fatal(err)
		}
		time.Sleep(65 * time.Second)
		_ = i.Resume(t.Context())
		synctest.Wait()
		expectTold(t, &often, "add a@1 initially", "update a@1 to a@1")
		expectTold(t, &seldom, "add a@1 initially", "update a@1 to a@1")
		// From the next check on it is as it was.
		time.Sleep(10 * time.Second)
		synctest.Wait()
		expectTold(t, &often, "update a@1 to a@1")
		expectTold(t, &seldom)
	})
}

func TestResyncNowPassesOverWhoIsBusyIfTold(t *testing.T) {
	o := Options{Hardening: Hardening{SkipBusyResync: true}}
	inBubble(t, o, func(t *testing.T, s server, i *Informer) {
		quick, stuck := &recorder{}, &recorder{hold: make(chan struct{})}
		addNamed(t, i, "quick", quick, cache.HandlerOptions{})
		addNamed(t, i, "stuck", stuck, cache.HandlerOptions{})
		s.Add(pod("a"))
		defer run(i)()
		defer close(stuck.hold)
		for range 2 {
			synctest.Wait()
			if err := i.ResyncNow(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		synctest.Wait()
		expectTold(t, quick, "add a@1 initially", "update a@1 to a@1", "update a@1 to a@1")
		if v := vitalsOf(t, i, "stuck"); v.Pending != 2 || v.ResyncSkipped != 1 {
			t.Errorf("pending %d, skipped %d, want 2 and 1", v.Pending, v.ResyncSkipped)
		}
		if err := i.RemoveEventHandler(i.handlers["quick"]); err != nil {
			t.Fatal(err)
		}
		if err := i.ResyncNow(t.Context()); err == nil {
			t.Error("a round that is for nobody is no error")
		}
	})
}

func TestResyncNowNeedsAHandlerAndARunningInformer(t *testing.T) {
	inBubble(t, Options{}, func(t *testing.T, _ server, i *Informer) {
		if err := i.ResyncNow(t.Context()); err == nil {
			t.Error("not an error before the informer runs")
		}
		stop := run(i)
		synctest.Wait()
		if err := i.ResyncNow(t.Context()); err == nil {
			t.Error("not an error without handlers")
		}
		stop()
		if err := i.ResyncNow(t.Context()); !errors.Is(err, inspect.ErrStopped) {
			t.Errorf("after the end: %v", err)
		}
	})
}

func TestAHandlersResyncPeriodCanBeChangedWhileItRuns(t *testing.T) {
	inBubble(t, Options{Resync: 10 * time.Second}, func(t *testing.T, s server, i *Informer) {
		var r recorder
		addNamed(t, i, "h", &r, every(0))
		s.Add(pod("a"))
		defer run(i)()
		time.Sleep(time.Minute)
		synctest.Wait()
		expectTold(t, &r, "add a@1 initially")
		for _, c := range []struct {
			ask, granted time.Duration
			rounds       int // in a minute
		}{
			{20 * time.Second, 20 * time.Second, 3},
			{time.Millisecond, 10 * time.Second, 6}, // not below the check period
			{time.Hour, time.Hour, 0},
			{0, 0, 0},
		} {
			if err := i.SetResync(t.Context(), "h", c.ask); err != nil {
				t.Fatal(err)
			}
			v := vitalsOf(t, i, "h")
			if v.ResyncAsked != c.ask || v.ResyncGranted != c.granted {
				t.Errorf("asked %v, granted %v, want %v and %v", v.ResyncAsked, v.ResyncGranted, c.ask, c.granted)
			}
			if c.granted > 0 && !v.NextResync.Equal(time.Now().Add(c.granted)) {
				t.Errorf("asked %v: next in %v", c.ask, time.Until(v.NextResync))
			}
			time.Sleep(time.Minute)
			synctest.Wait()
			if got := r.all(); len(got) != c.rounds {
				t.Errorf("asked %v: %d rounds in a minute, want %d", c.ask, len(got), c.rounds)
			}
		}
	})
}

func TestAResyncPeriodThatCannotBeIsRefused(t *testing.T) {
	inBubble(t, Options{}, func(t *testing.T, _ server, i *Informer) {
		addNamed(t, i, "h", &recorder{}, cache.HandlerOptions{})
		stop := run(i)
		synctest.Wait()
		if err := i.SetResync(t.Context(), "nobody", time.Minute); !errors.Is(err, inspect.ErrNotFound) {
			t.Errorf("of nobody: %v", err)
		}
		for _, period := range []time.Duration{-1, time.Minute} { // nobody checks
			if err := i.SetResync(t.Context(), "h", period); err == nil {
				t.Errorf("%v is no error", period)
			}
		}
		if err := i.SetResync(t.Context(), "h", 0); err != nil {
			t.Errorf("none at all: %v", err)
		}
		stop()
		if err := i.SetResync(t.Context(), "h", 0); !errors.Is(err, inspect.ErrStopped) {
			t.Errorf("after the end: %v", err)
		}
	})
}
