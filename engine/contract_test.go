package engine

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"
	"k8s.io/klog/v2/ktesting"
)

// same is what is asked of an informer of either kind.
func same(t *testing.T, test func(t *testing.T, build func(cache.ListerWatcher, cache.SharedIndexInformerOptions) cache.SharedIndexInformer)) {
	t.Run("client-go", func(t *testing.T) {
		test(t, func(lw cache.ListerWatcher, o cache.SharedIndexInformerOptions) cache.SharedIndexInformer {
			return cache.NewSharedIndexInformerWithOptions(lw, &corev1.Pod{}, o)
		})
	})
	t.Run("ours", func(t *testing.T) {
		test(t, func(lw cache.ListerWatcher, o cache.SharedIndexInformerOptions) cache.SharedIndexInformer {
			return NewSharedIndexInformerWithOptions(lw, &corev1.Pod{}, o)
		})
	})
}

func TestTheVersionReachedLastIsTold(t *testing.T) {
	same(t, func(t *testing.T, build func(cache.ListerWatcher, cache.SharedIndexInformerOptions) cache.SharedIndexInformer) {
		synctest.Test(t, func(t *testing.T) {
			s := &script{lists: []string{"10: a@5"}}
			i := build(s, cache.SharedIndexInformerOptions{})
			if got := i.LastSyncResourceVersion(); got != "" {
				t.Errorf("before the start it is %q", got)
			}
			stop := run(i)
			synctest.Wait()
			if got := i.LastSyncResourceVersion(); got != "10" {
				t.Errorf("after the list it is %q, want that of the list", got)
			}
			s.send("+b@11")
			synctest.Wait()
			if got := i.LastSyncResourceVersion(); got != "11" {
				t.Errorf("after an event it is %q, want the event's", got)
			}
			stop()
		})
	})
}

func TestClientGosOptionsAreKept(t *testing.T) {
	same(t, func(t *testing.T, build func(cache.ListerWatcher, cache.SharedIndexInformerOptions) cache.SharedIndexInformer) {
		synctest.Test(t, func(t *testing.T) {
			i := build(&script{lists: []string{"10: a@5"}}, cache.SharedIndexInformerOptions{
				ResyncPeriod: time.Minute, Indexers: cache.Indexers{"app": byApp}, ObjectDescription: "the pods of the test",
			})
			h := &recorder{}
			if _, err := i.AddEventHandler(h); err != nil {
				t.Fatal(err)
			}
			stop := run(i)
			time.Sleep(90 * time.Second)
			synctest.Wait()
			if want := []string{"add a@5 initially", "update a@5 to a@5"}; !slices.Equal(h.all(), want) {
				t.Error("the resync period was not kept")
			}
			if _, there := i.GetIndexer().GetIndexers()["app"]; !there {
				t.Error("the index is missing")
			}
			stop()
		})
	})
}

func TestWatchErrorHandlersAreToldWhoFailed(t *testing.T) {
	failure := errors.New("connection refused")
	same(t, func(t *testing.T, build func(cache.ListerWatcher, cache.SharedIndexInformerOptions) cache.SharedIndexInformer) {
		for name, set := range map[string]func(cache.SharedIndexInformer, func(*cache.Reflector, error)) error{
			"plain": func(i cache.SharedIndexInformer, f func(*cache.Reflector, error)) error {
				return i.SetWatchErrorHandler(f)
			},
			"with a context": func(i cache.SharedIndexInformer, f func(*cache.Reflector, error)) error {
				return i.SetWatchErrorHandlerWithContext(func(_ context.Context, r *cache.Reflector, err error) { f(r, err) })
			},
		} {
			t.Run(name, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					f := &faulty{server: newServer(), lists: []error{failure}}
					i := build(f, cache.SharedIndexInformerOptions{ObjectDescription: "the pods of the test"})
					var mu sync.Mutex
					var errs []error
					var types []string
					if err := set(i, func(r *cache.Reflector, err error) {
						mu.Lock()
						defer mu.Unlock()
						errs, types = append(errs, err), append(types, r.TypeDescription())
					}); err != nil {
						t.Fatal(err)
					}
					stop := run(i)
					time.Sleep(time.Minute)
					synctest.Wait()
					mu.Lock()
					defer mu.Unlock()
					if len(errs) != 1 || !errors.Is(errs[0], failure) {
						t.Errorf("it was told of %v, want one failure", errs)
					}
					if !slices.Equal(types, []string{"the pods of the test"}) {
						t.Errorf("the reflector is of %q", types)
					}
					stop()
					f.Shutdown()
				})
			})
		}
	})
}

func TestAHandlersOwnLoggerIsUsed(t *testing.T) {
	same(t, func(t *testing.T, build func(cache.ListerWatcher, cache.SharedIndexInformerOptions) cache.SharedIndexInformer) {
		lines := &ktesting.BufferTL{}
		logger := ktesting.NewLogger(lines, ktesting.NewConfig())
		i := build(&script{lists: []string{"10:"}}, cache.SharedIndexInformerOptions{ResyncPeriod: time.Minute})
		period := time.Millisecond // too short, which is worth a warning
		if _, err := i.AddEventHandlerWithOptions(&recorder{}, cache.HandlerOptions{ResyncPeriod: &period, Logger: &logger}); err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(lines.String(), "resync") {
			t.Errorf("the warning went elsewhere; the logger has %q", lines.String())
		}
	})
}

func TestAHandlersOwnLoggerHasItsPanics(t *testing.T) {
	surviving(t)
	utilruntime.PanicHandlers = []func(context.Context, any){func(ctx context.Context, r any) {
		klog.FromContext(ctx).Info("survived", "panic", r)
	}}
	same(t, func(t *testing.T, build func(cache.ListerWatcher, cache.SharedIndexInformerOptions) cache.SharedIndexInformer) {
		synctest.Test(t, func(t *testing.T) {
			lines := &ktesting.BufferTL{}
			logger := ktesting.NewLogger(lines, ktesting.NewConfig())
			i := build(&script{lists: []string{"10: a@5"}}, cache.SharedIndexInformerOptions{})
			bad := cache.ResourceEventHandlerFuncs{AddFunc: func(any) { panic("no such luck") }}
			if _, err := i.AddEventHandlerWithOptions(bad, cache.HandlerOptions{Logger: &logger}); err != nil {
				t.Fatal(err)
			}
			stop := run(i)
			synctest.Wait()
			stop()
			if got := lines.String(); !strings.Contains(got, "no such luck") {
				t.Errorf("the panic was logged elsewhere; the handler's logger has %q", got)
			}
		})
	})
}

// Whether there is a detector is decided when the program starts, by a variable of
// its environment: here it is put in.
func TestTheMutationDetectorSeesWhatHandlersAreGiven(t *testing.T) {
	found := make(chan string, 1)
	i := New(&script{lists: []string{"10: a@5"}}, &corev1.Pod{}, Options{})
	detector := &detecting{found: found}
	i.mutations = detector
	added := make(chan struct{})
	if _, err := i.AddEventHandler(cache.ResourceEventHandlerFuncs{AddFunc: func(any) { close(added) }}); err != nil {
		t.Fatal(err)
	}
	stop := run(i)
	<-added
	stop()
	if got := <-found; got != "a@5" || !detector.ran {
		t.Errorf("the detector was given %q and ran: %v", got, detector.ran)
	}
}

// detecting is a mutation detector that says what it is given.
type detecting struct {
	found chan string
	ran   bool
}

func (d *detecting) AddObject(obj any)        { d.found <- label(obj) }
func (d *detecting) Run(stop <-chan struct{}) { d.ran = true; <-stop }
