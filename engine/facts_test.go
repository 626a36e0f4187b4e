package engine

import (
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/cache"

	"github.com/informeter/informeter/engine/inspect"
)

// What client-go does and people rely on, or are surprised by, each as a test.

func TestARelistTellsOfWhatIsGoneBeforeWhatIsNew(t *testing.T) {
	for _, queue := range []Queue{DeltaFIFO, InOrder} {
		t.Run(queue.String(), func(t *testing.T) {
			s := &script{lists: []string{"10: a@5 gone@6", "20: a@15 new@16"}}
			h := &recorder{}
			onScript(t, s, Options{Queue: queue}, func(i *Informer) { join(t, i, h, 0) }, func(t *testing.T, i *Informer) {
				h.all()
				s.send("E410")
				time.Sleep(time.Minute)
				synctest.Wait()
				told := h.all()
				// Across keys a DeltaFIFO promises no order.
				if queue == InOrder && told[0] != "delete [gone@6]" {
					t.Errorf("told %v, want the deletion first", told)
				}
				slices.Sort(told)
				if diff := cmp.Diff([]string{"add new@16", "delete [gone@6]", "update a@5 to a@15"}, told); diff != "" {
					t.Errorf("told (-want +got):\n%s", diff)
				}
			})
		})
	}
}

func TestAResyncGivesTheSameObjectAsOldAndNew(t *testing.T) {
	same, rounds := 0, 0
	h := cache.ResourceEventHandlerFuncs{UpdateFunc: func(before, after any) {
		rounds++
		if before == after {
			same++
		}
	}}
	onScript(t, &script{lists: []string{"10: a@5"}}, Options{Resync: time.Second}, func(i *Informer) { join(t, i, h, time.Second) }, func(t *testing.T, _ *Informer) {
		time.Sleep(3500 * time.Millisecond)
		synctest.Wait()
		if rounds != 3 || same != 3 {
			t.Errorf("%d of %d rounds gave one object twice, want 3 of 3", same, rounds)
		}
	})
}

// TestWatchesThatEndAreNoMatterForTheErrorHandler: it is called where a LIST
// fails, its result cannot be stored, or a WATCH cannot be opened.
func TestWatchesThatEndAreNoMatterForTheErrorHandler(t *testing.T) {
	for _, c := range []struct {
		name   string
		script *script
		calls  bool
	}{
		{"expired", &script{lists: []string{"10: a@5"}, watches: []string{"B@11 E410", ""}}, false},
		{"very short", &script{lists: []string{"10: a@5"}, watches: []string{"EOF", "EOF", ""}}, false},
		{"list fails", &script{lists: []string{"E500", "10: a@5"}}, true},
		{"watch cannot be opened", &script{lists: []string{"10: a@5"}, watches: []string{"E403", ""}}, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			calls := 0
			onScript(t, c.script, Options{}, func(i *Informer) {
				if err := i.SetWatchErrorHandler(func(*cache.Reflector, error) { calls++ }); err != nil {
					t.Fatal(err)
				}
			}, func(t *testing.T, i *Informer) {
				time.Sleep(time.Minute)
				synctest.Wait()
				if (calls > 0) != c.calls {
					t.Errorf("the watch error handler was called %d times", calls)
				}
				if got := snapshot(t, i); !got.Informer.Synced || got.Reflector.Phase != inspect.PhaseWatching {
					t.Errorf("a minute later: synced %v, %v", got.Informer.Synced, got.Reflector.Phase)
				}
			})
		})
	}
}

// TestABusyServerIsAskedAgainForTheSameWatch: 429 for a WATCH is no reason to
// list.
func TestABusyServerIsAskedAgainForTheSameWatch(t *testing.T) {
	s := &script{lists: []string{"10: a@5"}, watches: []string{"E429", "E429", "E429", ""}}
	onScript(t, s, Options{}, nil, func(t *testing.T, i *Informer) {
		time.Sleep(2 * time.Minute)
		if diff := cmp.Diff([]string{"LIST", "WATCH 10", "WATCH 10", "WATCH 10", "WATCH 10"}, s.made()); diff != "" {
			t.Errorf("requests (-want +got):\n%s", diff)
		}
	})
}

func TestABusyServerDoesNotHoldUpAStop(t *testing.T) {
	s := &script{lists: []string{"10: a@5"}, watches: []string{"E429"}}
	synctest.Test(t, func(t *testing.T) {
		i := New(s, &corev1.Pod{}, Options{})
		stop := run(i)
		time.Sleep(30 * time.Second)
		began := time.Now()
		stop()
		if took := time.Since(began); took != 0 {
			t.Errorf("stopping took %v", took)
		}
	})
}

// TestATypeThatComesLateIsInformedOf, and that goes again keeps its cache.
func TestATypeThatComesLateIsInformedOf(t *testing.T) {
	s := &script{lists: []string{"E404", "E404", "E404", "10: a@5", "E404"}, watches: []string{"", "E404"}}
	onScript(t, s, Options{}, nil, func(t *testing.T, i *Informer) {
		if got := snapshot(t, i); got.Reflector.ErrorReason != "NotFound" || got.Informer.Synced {
			t.Errorf("reflector = %+v", got.Reflector)
		}
		time.Sleep(time.Minute)
		if got := snapshot(t, i); !got.Informer.Synced || got.Reflector.Error != "" || got.Store.Objects != 1 {
			t.Errorf("after it came: synced %v, error %q, %d objects", got.Informer.Synced, got.Reflector.Error, got.Store.Objects)
		}
		s.send("EOF")
		time.Sleep(time.Minute)
		if got := snapshot(t, i); got.Reflector.ErrorReason != "NotFound" || got.Store.Objects != 1 || !got.Informer.Synced {
			t.Errorf("after it went: reflector %+v, %d objects", got.Reflector, got.Store.Objects)
		}
	})
}

func TestOneBrokenInformerIsToldApartFromTheOthers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := NewRegistry()
		var stops []func()
		for _, c := range []struct{ name, list string }{{"a", "10: a@5"}, {"broken", "E500"}, {"c", "10: a@5"}} {
			stops = append(stops, run(New(&script{lists: []string{c.list}}, &corev1.Pod{}, Options{Name: c.name, Registry: r})))
		}
		time.Sleep(10 * time.Second)
		summaries, err := r.Informers(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range summaries {
			broken := s.Name == "broken"
			if s.Synced == broken || strings.Contains(s.Error, "conversion webhook failed") != broken {
				t.Errorf("%s: synced %v, error %q", s.Name, s.Synced, s.Error)
			}
		}
		for _, stop := range stops {
			stop()
		}
	})
}

// TestASlowIndexFunctionShowsAsAGapBetweenReflectorAndStore: depth alone would
// not tell.
func TestASlowIndexFunctionShowsAsAGapBetweenReflectorAndStore(t *testing.T) {
	slow := func(obj any) ([]string, error) {
		time.Sleep(200 * time.Microsecond)
		return []string{obj.(*corev1.Pod).Name}, nil
	}
	s := &script{lists: []string{"10:"}}
	onScript(t, s, Options{Indexers: cache.Indexers{"slow": slow}}, nil, func(t *testing.T, i *Informer) {
		go func() {
			for _, text := range strings.Fields(numbered(10_000, "+")) {
				s.send(text)
			}
		}()
		time.Sleep(time.Second)
		got := snapshot(t, i)
		if !got.Store.Behind || got.Queue.Deltas+got.Queue.InFlight == 0 || got.Handle.Time.P50 < 200*time.Microsecond {
			t.Errorf("after a second: store at %s, reflector at %s, %d deltas wait, a delta takes %v",
				got.Store.ResourceVersion, got.Reflector.ResourceVersion, got.Queue.Deltas, got.Handle.Time.P50)
		}
		if got.Queue.Held == 0 {
			t.Error("the reflector was never held back")
		}
		time.Sleep(2 * time.Second)
		if got := snapshot(t, i); got.Store.Behind || got.Store.Objects != 10_000 {
			t.Errorf("in the end: behind %v, %d objects", got.Store.Behind, got.Store.Objects)
		}
	})
}

// TestAServerWhoseHistoryIsTooShortIsListedAgainAndAgain: the watch begins at a
// version that is gone, so each round is a list, and each says why.
func TestAServerWhoseHistoryIsTooShortIsListedAgainAndAgain(t *testing.T) {
	s := &script{lists: []string{"10: a@5"}, watches: []string{"E410"}}
	onScript(t, s, Options{}, nil, func(t *testing.T, i *Informer) {
		time.Sleep(5 * time.Minute)
		got := snapshot(t, i)
		lists, expired := s.count("LIST"), 0
		for _, r := range must[[]inspect.Request](t)(i.Requests(t.Context())) {
			if r.Verb == inspect.VerbWatch && r.Outcome == inspect.OutcomeExpired && r.ResourceVersion == "10" && r.Next == "relist" {
				expired++
			}
		}
		// One list more than watches that expired, or as many if one is to come.
		if lists < 3 || lists > 30 || expired < lists-1 || got.Reflector.Relists < 2 {
			t.Errorf("%d lists, %d watches of version 10 that expired, %d relists", lists, expired, got.Reflector.Relists)
		}
	})
}

// TestARelistLetsGoOfTheOldObjects: what a relist replaced is not kept by the
// list it came from.
func TestARelistLetsGoOfTheOldObjects(t *testing.T) {
	const n = 2000
	var lists []string
	for round := range 6 {
		var b strings.Builder
		for k := range n {
			fmt.Fprintf(&b, "p%d@%d ", k, 1000*(round+1)+k)
		}
		lists = append(lists, fmt.Sprintf("%d: %s", 10_000*(round+1), b.String()))
	}
	s := &script{lists: lists}
	freed := make(chan string, 10*n)
	onScript(t, s, Options{}, nil, func(t *testing.T, i *Informer) {
		for _, obj := range i.GetStore().List() {
			runtime.AddCleanup(obj.(*corev1.Pod), func(name string) { freed <- name }, obj.(*corev1.Pod).Name)
		}
		s.send("E410")
		time.Sleep(time.Minute)
		synctest.Wait()
		if got := snapshot(t, i); got.Reflector.Relists != 1 || got.Store.Objects != n {
			t.Fatalf("%d relists, %d objects", got.Reflector.Relists, got.Store.Objects)
		}
	})
	for range 10 {
		runtime.GC()
	}
	if len(freed) != n {
		t.Errorf("%d of %d objects of the first list were let go of", len(freed), n)
	}
}

func TestAHandlerOrIndexAfterTheStopIsRefusedWithTheReason(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		i := New(&script{lists: []string{"10: a@5"}}, &corev1.Pod{}, Options{})
		stop := run(i)
		synctest.Wait()
		stop()
		_, err := i.AddEventHandler(&recorder{})
		for what, err := range map[string]error{
			"handler": err,
			"indices": i.AddIndexers(cache.Indexers{"app": byApp}),
		} {
			if !errors.Is(err, inspect.ErrStopped) {
				t.Errorf("%s: error = %v, want ErrStopped", what, err)
			}
		}
		ran := time.Now()
		run(i)()
		if time.Since(ran) != 0 {
			t.Error("a second run did not return at once")
		}
	})
}

// TestAListWithoutAVersionIsWatchedFromWherever, as client-go does.
func TestAListWithoutAVersionIsWatchedFromWherever(t *testing.T) {
	requests := map[string][]string{}
	for name, make := range map[string]func(*script) cache.SharedIndexInformer{
		"ours": func(s *script) cache.SharedIndexInformer { return New(s, &corev1.Pod{}, Options{}) },
		"client-go": func(s *script) cache.SharedIndexInformer {
			return cache.NewSharedIndexInformer(s, &corev1.Pod{}, 0, nil)
		},
	} {
		synctest.Test(t, func(t *testing.T) {
			s := &script{lists: []string{": a@5"}}
			i := make(s)
			stop := run(i)
			synctest.Wait()
			if !i.HasSynced() || len(i.GetStore().List()) != 1 {
				t.Errorf("%s: synced %v with %d objects", name, i.HasSynced(), len(i.GetStore().List()))
			}
			stop()
			requests[name] = s.made()
		})
	}
	if diff := cmp.Diff(requests["client-go"], requests["ours"]); diff != "" {
		t.Errorf("requests (-client-go +ours):\n%s", diff)
	}
}

// TestATransformMayChangeTheType: what is stored, indexed and told is what it
// returned.
func TestATransformMayChangeTheType(t *testing.T) {
	byName := func(obj any) ([]string, error) { return []string{obj.(*metav1.PartialObjectMetadata).Name}, nil }
	h := &recorder{}
	s := &script{lists: []string{"10: a@5"}}
	onScript(t, s, Options{Queue: InOrder, Indexers: cache.Indexers{"name": byName}}, func(i *Informer) {
		join(t, i, h, 0)
		if err := i.SetTransform(func(obj any) (any, error) {
			p, ok := obj.(*corev1.Pod)
			if !ok {
				return obj, nil
			}
			return &metav1.PartialObjectMetadata{ObjectMeta: p.ObjectMeta}, nil
		}); err != nil {
			t.Fatal(err)
		}
	}, func(t *testing.T, i *Informer) {
		s.send("~a@11", "+b@12", "-a@13")
		synctest.Wait()
		if diff := cmp.Diff([]string{"add a@5 initially", "update a@5 to a@11", "add b@12", "delete a@13"}, h.all()); diff != "" {
			t.Errorf("told (-want +got):\n%s", diff)
		}
		if got, err := i.GetIndexer().ByIndex("name", "b"); err != nil || len(got) != 1 {
			t.Errorf("index: %v, %v", got, err)
		}
		object, err := i.Object(t.Context(), inspect.ObjectRequest{Key: "ns/b"})
		if err != nil || !strings.Contains(string(object.JSON), `"resourceVersion":"12"`) {
			t.Errorf("object %s, %v", object.JSON, err)
		}
	})
}
