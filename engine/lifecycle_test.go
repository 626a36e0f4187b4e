package engine

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/client-go/tools/cache"
)

// surviving lets the program survive panics until the test is over, and says how
// many there were.
func surviving(t *testing.T) (panics *atomic.Int32) {
	panics = new(atomic.Int32)
	crash, handlers := utilruntime.ReallyCrash, utilruntime.PanicHandlers
	t.Cleanup(func() { utilruntime.ReallyCrash, utilruntime.PanicHandlers = crash, handlers })
	utilruntime.ReallyCrash = false
	utilruntime.PanicHandlers = []func(context.Context, any){func(context.Context, any) { panics.Add(1) }}
	return panics
}

func TestAPanicThatIsSurvivedLeavesThePipelineAlive(t *testing.T) {
	panics := surviving(t)
	index := cache.Indexers{"i": func(obj any) ([]string, error) {
		if obj.(*corev1.Pod).Name == "bad" {
			return nil, errors.New("no idea")
		}
		return nil, nil
	}}
	for name, build := range map[string]func(*script) cache.SharedIndexInformer{
		"client-go": func(s *script) cache.SharedIndexInformer {
			return cache.NewSharedIndexInformer(s, &corev1.Pod{}, 0, index)
		},
		"strict": func(s *script) cache.SharedIndexInformer {
			return New(s, &corev1.Pod{}, Options{Strict: true, Indexers: index})
		},
	} {
		t.Run(name, func(t *testing.T) {
			panics.Store(0)
			synctest.Test(t, func(t *testing.T) {
				s := &script{lists: []string{"10: a@5"}}
				i := build(s)
				stop := run(i)
				synctest.Wait()
				s.send("+bad@11")
				time.Sleep(5 * time.Second)
				s.send("+good@12")
				time.Sleep(5 * time.Second)
				if n := panics.Load(); n != 1 {
					t.Errorf("%d panics, want that of the index function", n)
				}
				if i.IsStopped() {
					t.Error("the informer has stopped, its context has not ended")
				}
				if _, exists, _ := i.GetStore().GetByKey("ns/good"); !exists {
					t.Error("what came after the panic is not in the store")
				}
				stop() // returns only if every goroutine ends
			})
		})
	}
}

func TestRemovingAHandlerAgainLeavesItsSuccessorAlone(t *testing.T) {
	i := New(&script{lists: []string{"10:"}}, &corev1.Pod{}, Options{Resync: time.Minute})
	first := addNamed(t, i, "audit", &recorder{}, cache.HandlerOptions{})
	if err := i.RemoveEventHandler(first); err != nil {
		t.Fatal(err)
	}
	addNamed(t, i, "audit", &recorder{}, cache.HandlerOptions{})
	if err := i.RemoveEventHandler(first); err != nil {
		t.Errorf("removing it again: %v", err)
	}
	if err := i.SetResync(t.Context(), "audit", time.Minute); err != nil {
		t.Errorf("its successor of the same name is not found: %v", err)
	}
	addNamed(t, i, "audit", &recorder{}, cache.HandlerOptions{})
	seen := map[string]int{}
	for _, l := range snapshot(t, i).Listeners {
		seen[l.Name]++
	}
	if seen["audit"] != 1 || seen["audit#2"] != 1 {
		t.Errorf("handlers by name: %v", seen)
	}
}

func TestRemovingAnotherInformersHandlerLeavesOursAlone(t *testing.T) {
	build := func() (*Informer, cache.ResourceEventHandlerRegistration) {
		i := New(&script{lists: []string{"10:"}}, &corev1.Pod{}, Options{Resync: time.Minute})
		return i, addNamed(t, i, "audit", &recorder{}, cache.HandlerOptions{})
	}
	ours, _ := build()
	_, foreign := build()
	if err := ours.RemoveEventHandler(foreign); err != nil {
		t.Errorf("removing a foreign handler: %v, client-go does nothing", err)
	}
	if err := ours.SetResync(t.Context(), "audit", time.Minute); err != nil {
		t.Errorf("our handler of the same name is not found: %v", err)
	}
}

func TestAHandlerThatEndedItsGoroutineGivesItsNameBack(t *testing.T) {
	onScript(t, &script{lists: []string{"10: a@5"}}, Options{Resync: time.Minute}, func(i *Informer) {
		addNamed(t, i, "audit", cache.ResourceEventHandlerFuncs{AddFunc: func(any) { runtime.Goexit() }}, cache.HandlerOptions{})
	}, func(t *testing.T, i *Informer) {
		if n := len(snapshot(t, i).Listeners); n != 0 {
			t.Fatalf("%d listeners", n)
		}
		if err := i.SetResync(t.Context(), "audit", time.Minute); err == nil {
			t.Error("the period of a handler that is gone could be set")
		}
		addNamed(t, i, "audit", &recorder{}, cache.HandlerOptions{})
		if got := snapshot(t, i).Listeners[0].Name; got != "audit" {
			t.Errorf("its successor is called %q", got)
		}
	})
}

func TestAFilterWithoutAHandlerIsAHandler(t *testing.T) {
	for _, filter := range []cache.ResourceEventHandler{
		cache.FilteringResourceEventHandler{FilterFunc: func(any) bool { return false }},
		&cache.FilteringResourceEventHandler{FilterFunc: func(any) bool { return false }},
	} {
		onScript(t, &script{lists: []string{"10: a@5"}}, Options{}, nil, func(t *testing.T, i *Informer) {
			if _, err := i.AddEventHandler(filter); err != nil {
				t.Errorf("%T: %v", filter, err)
			}
			synctest.Wait()
			if l := snapshot(t, i).Listeners; len(l) != 1 || l[0].Name != "no handler" || l[0].Delivered != 1 {
				t.Errorf("%T: listeners %+v", filter, l)
			}
		})
	}
}

// quitter asks its informer when it is told how to hurry.
type quitter struct {
	recorder
	i     *Informer
	asked atomic.Int32
}

func (q *quitter) OnQuit(<-chan struct{}) {
	q.i.IsStopped()
	q.asked.Add(1)
}

func TestAHandlerMayAskTheInformerWhenToHurry(t *testing.T) {
	onScript(t, &script{lists: []string{"10: a@5"}}, Options{}, nil, func(t *testing.T, i *Informer) {
		q := &quitter{i: i}
		join(t, i, q, 0)
		synctest.Wait()
		if n := q.asked.Load(); n != 1 || len(q.all()) != 1 {
			t.Errorf("OnQuit was called %d times, and it was told %v", n, q.all())
		}
	})
}

func TestARegistryLetsGoOfStoppedInformers(t *testing.T) {
	for name, c := range map[string]struct {
		names func(n int) string
		want  int
	}{
		"of the same name":         {func(int) string { return "pods" }, 1},
		"with a number sign in it": {func(int) string { return "pods#blue" }, 1},
		"of other names":           {func(n int) string { return fmt.Sprint("crd-", n) }, stoppedKept + 1},
	} {
		t.Run(name, func(t *testing.T) {
			r := NewRegistry()
			last := ""
			for n := range 3 * stoppedKept {
				i := New(&script{lists: []string{"10:"}}, &corev1.Pod{}, Options{Name: c.names(n), Registry: r})
				run(i)()
				last = i.Name()
			}
			all, err := r.Informers(t.Context())
			if err != nil || len(all) != c.want {
				t.Errorf("%d informers are kept, want %d (%v)", len(all), c.want, err)
			}
			if _, _, err := r.Informer(last); err != nil || all[len(all)-1].Name != last {
				t.Errorf("the newest is not the last: %v", err)
			}
		})
	}
}

func TestARegistryKeepsInformersThatRun(t *testing.T) {
	r := NewRegistry()
	for n := range 3 * stoppedKept {
		New(&script{lists: []string{"10:"}}, &corev1.Pod{}, Options{Name: fmt.Sprint("crd-", n), Registry: r})
	}
	if all, _ := r.Informers(t.Context()); len(all) != 3*stoppedKept {
		t.Errorf("%d informers are kept of %d that have not stopped", len(all), 3*stoppedKept)
	}
}

func TestASecondRunReturnsAtOnce(t *testing.T) {
	onScript(t, &script{lists: []string{"10: a@5"}}, Options{}, nil, func(t *testing.T, i *Informer) {
		began := time.Now()
		i.Run(make(chan struct{}))
		if took := time.Since(began); took != 0 {
			t.Errorf("it took %v", took)
		}
		if i.IsStopped() {
			t.Error("it stopped the one that runs")
		}
	})
}

func TestAnInitialStreamIsTransformedAsItComes(t *testing.T) {
	for name, build := range map[string]func(cache.ListerWatcher) cache.SharedIndexInformer{
		"client-go": func(s cache.ListerWatcher) cache.SharedIndexInformer {
			return cache.NewSharedIndexInformer(s, &corev1.Pod{}, 0, nil)
		},
		"strict": func(s cache.ListerWatcher) cache.SharedIndexInformer {
			return New(s, &corev1.Pod{}, Options{Strict: true})
		},
		"hardened": func(s cache.ListerWatcher) cache.SharedIndexInformer { return New(s, &corev1.Pod{}, Options{}) },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				i := build(streaming{&script{lists: []string{"10:"}, watches: []string{"+a@5 +b@6 +c@7"}}})
				var calls atomic.Int32
				if err := i.SetTransform(func(obj any) (any, error) { calls.Add(1); return obj, nil }); err != nil {
					t.Fatal(err)
				}
				stop := run(i)
				synctest.Wait()
				if n := calls.Load(); n != 3 {
					t.Errorf("%d of 3 objects were transformed before the end marker; the others are held whole", n)
				}
				stop()
			})
		})
	}
}
