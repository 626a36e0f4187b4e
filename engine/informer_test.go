package engine

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/tools/cache"

	"github.com/informeter/informeter/engine/inspect"
)

func TestAHandlerIsToldOfEveryChangeInOrder(t *testing.T) {
	inBubble(t, Options{}, func(t *testing.T, s server, i *Informer) {
		s.Add(pod("a"))
		r := &recorder{}
		registration := must[cache.ResourceEventHandlerRegistration](t)(i.AddEventHandler(r))
		stop := run(i)
		synctest.Wait()
		if !i.HasSynced() || !registration.HasSynced() {
			t.Errorf("synced: informer %v, handler %v, want both", i.HasSynced(), registration.HasSynced())
		}
		for _, change := range []func(){
			func() { s.Modify(pod("a")) }, func() { s.Add(pod("b")) }, func() { s.Delete(pod("a")) },
		} {
			change()
			synctest.Wait()
		}
		want := []string{"add a@1 initially", "update a@1 to a@2", "add b@3", "delete a@4"}
		if diff := cmp.Diff(want, r.all()); diff != "" {
			t.Errorf("told (-want +got):\n%s", diff)
		}
		if keys := i.GetStore().ListKeys(); !slices.Equal(keys, []string{"ns/b"}) {
			t.Errorf("store holds %v", keys)
		}
		stop()
	})
}

func TestAHandlerThatJoinsLateIsGivenTheStoreAndThenWhatComes(t *testing.T) {
	inBubble(t, Options{}, func(t *testing.T, s server, i *Informer) {
		s.Add(pod("a"))
		stop := run(i)
		synctest.Wait()
		r := &recorder{}
		must[cache.ResourceEventHandlerRegistration](t)(i.AddEventHandler(r))
		s.Add(pod("b"))
		synctest.Wait()
		if diff := cmp.Diff([]string{"add a@1 initially", "add b@2"}, r.all()); diff != "" {
			t.Errorf("told (-want +got):\n%s", diff)
		}
		stop()
	})
}

func TestAnObjectThatVanishedUnseenLeavesATombstone(t *testing.T) {
	inBubble(t, Options{}, func(t *testing.T, s server, i *Informer) {
		s.Add(pod("a"))
		s.Add(pod("b"))
		r := &recorder{}
		must[cache.ResourceEventHandlerRegistration](t)(i.AddEventHandler(r))
		stop := run(i)
		synctest.Wait()
		r.all()
		s.DeleteDropWatch(pod("a"))
		s.ResetWatch()
		time.Sleep(time.Minute)
		synctest.Wait()
		want := map[string][]string{"a": {"delete [a@1]"}, "b": {"update b@2 to b@2"}}
		if diff := cmp.Diff(want, byKey(r.all())); diff != "" {
			t.Errorf("told (-want +got):\n%s", diff)
		}
		got := snapshot(t, i)
		if got.Reflector.Relists != 1 || got.Listeners[0].Causes.RelistUnchanged != 1 {
			t.Errorf("relists = %d, causes = %+v, want one relist that left b unchanged", got.Reflector.Relists, got.Listeners[0].Causes)
		}
		stop()
	})
}

func TestAStoppedInformerIsFinal(t *testing.T) {
	inBubble(t, Options{Name: "pods"}, func(t *testing.T, s server, i *Informer) {
		stop := run(i)
		synctest.Wait()
		stop()
		if !i.IsStopped() {
			t.Error("the informer does not know that it has stopped")
		}
		i.RunWithContext(t.Context()) // returns at once
		if _, err := i.AddEventHandler(&recorder{}); !errors.Is(err, inspect.ErrStopped) {
			t.Errorf("AddEventHandler = %v, want ErrStopped", err)
		}
		if err := i.AddIndexers(cache.Indexers{"x": cache.MetaNamespaceIndexFunc}); !errors.Is(err, inspect.ErrStopped) {
			t.Errorf("AddIndexers = %v, want ErrStopped", err)
		}
		if _, err := i.Open(); !errors.Is(err, inspect.ErrStopped) {
			t.Errorf("Open = %v, want ErrStopped", err)
		}
		if got := snapshot(t, i); got.Informer.State != inspect.StateStopped || got.Reflector.Phase != inspect.PhaseStopped {
			t.Errorf("state %v, phase %v, want both stopped", got.Informer.State, got.Reflector.Phase)
		}
	})
}

func TestWhatMustBeSetBeforeTheStartIsRefusedAfterIt(t *testing.T) {
	inBubble(t, Options{}, func(t *testing.T, s server, i *Informer) {
		stop := run(i)
		synctest.Wait()
		for name, err := range map[string]error{
			"SetTransform":         i.SetTransform(func(obj any) (any, error) { return obj, nil }),
			"SetWatchErrorHandler": i.SetWatchErrorHandler(func(*cache.Reflector, error) {}),
		} {
			if err == nil {
				t.Errorf("%s on a running informer gave no error", name)
			}
		}
		stop()
	})
}

func TestATransformIsAppliedBeforeAnybodySeesTheObject(t *testing.T) {
	inBubble(t, Options{}, func(t *testing.T, s server, i *Informer) {
		if err := i.SetTransform(func(obj any) (any, error) {
			p := obj.(*corev1.Pod)
			p.Labels = map[string]string{"stripped": "yes"}
			return p, nil
		}); err != nil {
			t.Fatal(err)
		}
		s.Add(pod("a", "app", "web"))
		stop := run(i)
		synctest.Wait()
		s.Add(pod("b", "app", "web"))
		synctest.Wait()
		for _, obj := range i.GetStore().List() {
			if got := obj.(*corev1.Pod).Labels; !cmp.Equal(got, map[string]string{"stripped": "yes"}) {
				t.Errorf("%s has labels %v", label(obj), got)
			}
		}
		stop()
	})
}

func TestAResyncReplaysTheStoreToThoseWhoAskedForIt(t *testing.T) {
	inBubble(t, Options{Resync: 10 * time.Second}, func(t *testing.T, s server, i *Informer) {
		s.Add(pod("a"))
		asked, not := &recorder{}, &recorder{}
		never := time.Duration(0)
		must[cache.ResourceEventHandlerRegistration](t)(i.AddNamedEventHandler("asked", asked, cache.HandlerOptions{}))
		must[cache.ResourceEventHandlerRegistration](t)(i.AddNamedEventHandler("not", not, cache.HandlerOptions{ResyncPeriod: &never}))
		stop := run(i)
		time.Sleep(15 * time.Second)
		synctest.Wait()
		if diff := cmp.Diff([]string{"add a@1 initially", "update a@1 to a@1"}, asked.all()); diff != "" {
			t.Errorf("who asked was told (-want +got):\n%s", diff)
		}
		if diff := cmp.Diff([]string{"add a@1 initially"}, not.all()); diff != "" {
			t.Errorf("who did not ask was told (-want +got):\n%s", diff)
		}
		got := snapshot(t, i)
		if got.Listeners[0].Causes.Resync != 1 || got.Resync.Rounds != 1 || got.Resync.LastObjects != 1 || got.Resync.LastListeners != 1 {
			t.Errorf("resync = %+v, causes = %+v, want one round of one object to one listener", got.Resync, got.Listeners[0].Causes)
		}
		stop()
	})
}

func TestResyncPeriodsAreGrantedAsClientGoGrantsThem(t *testing.T) {
	for _, c := range []struct {
		name            string
		informer, asked time.Duration
		late            bool
		granted, check  time.Duration
	}{
		{name: "longer than the check", informer: 2 * time.Second, asked: 5 * time.Second, granted: 5 * time.Second, check: 2 * time.Second},
		{name: "shorter, before the start", informer: 5 * time.Second, asked: 2 * time.Second, granted: 2 * time.Second, check: 2 * time.Second},
		{name: "shorter, after the start", informer: 5 * time.Second, asked: 2 * time.Second, late: true, granted: 5 * time.Second, check: 5 * time.Second},
		{name: "below a second", informer: 5 * time.Second, asked: time.Millisecond, granted: time.Second, check: time.Second},
		{name: "of an informer without", informer: 0, asked: 5 * time.Second, granted: 0, check: 0},
		{name: "none", informer: 5 * time.Second, asked: 0, granted: 0, check: 5 * time.Second},
	} {
		t.Run(c.name, func(t *testing.T) {
			inBubble(t, Options{Resync: c.informer}, func(t *testing.T, s server, i *Informer) {
				stop := func() {}
				if c.late {
					stop = run(i)
					synctest.Wait()
				}
				must[cache.ResourceEventHandlerRegistration](t)(i.AddEventHandlerWithResyncPeriod(&recorder{}, c.asked))
				got := snapshot(t, i)
				if l := got.Listeners[0]; l.ResyncAsked != c.asked || l.ResyncGranted != c.granted || got.Resync.CheckPeriod != c.check {
					t.Errorf("asked %v granted %v check %v, want %v %v %v", l.ResyncAsked, l.ResyncGranted, got.Resync.CheckPeriod, c.asked, c.granted, c.check)
				}
				stop()
			})
		})
	}
}

func TestAShortPeriodBeforeTheStartIsNotRaisedForTheOthers(t *testing.T) {
	inBubble(t, Options{Resync: 10 * time.Second}, func(t *testing.T, s server, i *Informer) {
		for _, asked := range []time.Duration{20 * time.Second, 3 * time.Second} {
			must[cache.ResourceEventHandlerRegistration](t)(i.AddEventHandlerWithResyncPeriod(&recorder{}, asked))
		}
		got := snapshot(t, i).Listeners
		if got[0].ResyncGranted != 20*time.Second || got[1].ResyncGranted != 3*time.Second {
			t.Errorf("granted %v and %v, want 20s and 3s", got[0].ResyncGranted, got[1].ResyncGranted)
		}
	})
}

func TestHandlersAreListedUnderUniqueNames(t *testing.T) {
	inBubble(t, Options{}, func(t *testing.T, s server, i *Informer) {
		first := must[cache.ResourceEventHandlerRegistration](t)(i.AddNamedEventHandler("audit", &recorder{}, cache.HandlerOptions{}))
		must[cache.ResourceEventHandlerRegistration](t)(i.AddNamedEventHandler("audit", &recorder{}, cache.HandlerOptions{}))
		must[cache.ResourceEventHandlerRegistration](t)(i.AddEventHandler(&recorder{}))
		names := func() []string {
			var names []string
			for _, l := range snapshot(t, i).Listeners {
				names = append(names, l.Name)
			}
			return names
		}
		if got, want := names(), []string{"audit", "audit#2", "engine.recorder"}; !slices.Equal(got, want) {
			t.Errorf("listeners %v, want %v", got, want)
		}
		if err := i.RemoveEventHandler(first); err != nil {
			t.Fatal(err)
		}
		must[cache.ResourceEventHandlerRegistration](t)(i.AddNamedEventHandler("audit", &recorder{}, cache.HandlerOptions{}))
		if got, want := names(), []string{"audit#2", "engine.recorder", "audit"}; !slices.Equal(got, want) {
			t.Errorf("listeners %v, want %v: a free name can be taken again", got, want)
		}
	})
}

func TestANilHandlerIsRefused(t *testing.T) {
	inBubble(t, Options{}, func(t *testing.T, s server, i *Informer) {
		for _, h := range []cache.ResourceEventHandler{
			nil, (*cache.ResourceEventHandlerFuncs)(nil), (*cache.ResourceEventHandlerDetailedFuncs)(nil), (*cache.FilteringResourceEventHandler)(nil),
		} {
			if _, err := i.AddEventHandler(h); err == nil || !strings.Contains(err.Error(), "nil handler") {
				t.Errorf("AddEventHandler(%T) = %v", h, err)
			}
		}
	})
}

func TestAPausedInformerKeepsItsBacklogInTheQueue(t *testing.T) {
	inBubble(t, Options{}, func(t *testing.T, s server, i *Informer) {
		stop := run(i)
		synctest.Wait()
		if err := i.Pause(t.Context()); err != nil {
			t.Fatal(err)
		}
		for _, name := range []string{"a", "b", "c"} {
			s.Add(pod(name))
		}
		s.Modify(pod("a"))
		time.Sleep(3 * time.Second)
		synctest.Wait()
		got := snapshot(t, i)
		if got.Queue.Deltas != 4 || got.Queue.Keys != 3 || got.Store.Objects != 0 || got.Queue.Gate.Mode != inspect.GatePaused {
			t.Errorf("queue = %+v, store = %+v, want 4 deltas on 3 keys and an empty store", got.Queue, got.Store)
		}
		if got.Queue.Age != 3*time.Second {
			t.Errorf("age of the oldest = %v, want 3s", got.Queue.Age)
		}
		if !got.Store.Behind {
			t.Error("the store does not show that it is behind the reflector")
		}
		page := must[inspect.QueuePage](t)(i.Queue(t.Context(), inspect.QueueQuery{Limit: 10}))
		if len(page.Items) != 3 || page.Items[0].Key != "ns/a" || len(page.Items[0].Deltas) != 2 {
			t.Errorf("queue page = %+v", page)
		}
		// A step takes one delta; the key's other stays at the head.
		if err := i.Step(t.Context(), 1); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		got = snapshot(t, i)
		if got.Queue.Deltas != 3 || got.Queue.Keys != 3 || got.Store.Objects != 1 {
			t.Errorf("after a step: queue = %+v, store = %+v", got.Queue, got.Store)
		}
		if err := i.Resume(t.Context()); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		if got = snapshot(t, i); got.Queue.Deltas != 0 || got.Store.Objects != 3 || got.Store.Behind {
			t.Errorf("after resuming: queue = %+v, store = %+v", got.Queue, got.Store)
		}
		stop()
	})
}

func TestStepRefusesANonsensicalNumber(t *testing.T) {
	inBubble(t, Options{}, func(t *testing.T, s server, i *Informer) {
		if err := i.Step(t.Context(), 0); err == nil {
			t.Error("a step of 0 gave no error")
		}
	})
}

func TestASlowHandlerHoldsNobodyUp(t *testing.T) {
	inBubble(t, Options{}, func(t *testing.T, s server, i *Informer) {
		slow, fast := &recorder{hold: make(chan struct{})}, &recorder{}
		must[cache.ResourceEventHandlerRegistration](t)(i.AddNamedEventHandler("slow", slow, cache.HandlerOptions{}))
		must[cache.ResourceEventHandlerRegistration](t)(i.AddNamedEventHandler("fast", fast, cache.HandlerOptions{}))
		for _, name := range []string{"a", "b", "c"} {
			s.Add(pod(name))
		}
		stop := run(i)
		time.Sleep(5 * time.Second)
		synctest.Wait()
		if got := fast.all(); len(got) != 3 {
			t.Errorf("the fast handler was told %v", got)
		}
		listeners := snapshot(t, i).Listeners
		if l := listeners[0]; l.Pending+1 < 3 || l.Synced || l.InHandler != 5*time.Second || l.CurrentKey == "" {
			t.Errorf("the slow handler is shown as %+v", l)
		}
		if l := listeners[1]; l.Pending != 0 || !l.Synced {
			t.Errorf("the fast handler is shown as %+v", l)
		}
		close(slow.hold)
		stop()
	})
}

func TestEveryRateIsKeptWhileNobodyLooks(t *testing.T) {
	inBubble(t, Options{}, func(t *testing.T, s server, i *Informer) {
		must[cache.ResourceEventHandlerRegistration](t)(i.AddEventHandler(&recorder{}))
		s.Add(pod("a"))
		stop := run(i)
		for range 300 {
			time.Sleep(100 * time.Millisecond)
			s.Modify(pod("a"))
		}
		got := snapshot(t, i)
		for name, rate := range map[string]float64{
			"reflector": got.Reflector.EventRate, "queue in": got.Queue.ArrivalRate, "queue out": got.Queue.PopRate,
			"handle": got.Handle.Rate, "store": got.Store.Rate, "listener": got.Listeners[0].Rate,
		} {
			if rate < 9 || rate > 11 {
				t.Errorf("%s: %.2f/s, want the 10/s of the last half minute", name, rate)
			}
		}
		stop()
	})
}
