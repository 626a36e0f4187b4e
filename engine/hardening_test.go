package engine

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/tools/cache"

	"github.com/informeter/informeter/engine/deltafifo"
	"github.com/informeter/informeter/engine/inspect"
)

// What the informer does beyond client-go, each switched off (parity) and on.

// refuseBad is a transform that fails, in some way, for the pod called bad.
func refuseBad(way string) cache.TransformFunc {
	return func(obj any) (any, error) {
		if p, ok := obj.(*corev1.Pod); !ok || p.Name != "bad" || p.ResourceVersion == "5" {
			return obj, nil
		}
		switch way {
		case "nothing":
			return nil, nil
		case "panic":
			panic("cannot strip it")
		}
		return nil, errors.New("cannot strip it")
	}
}

func TestABadObjectOfAListIsSetAside(t *testing.T) {
	for _, way := range []string{"error", "nothing", "panic"} {
		for name, hardening := range map[string]Hardening{"hardened": {}, "refused": {DisableQuarantine: true}} {
			if name == "refused" && way != "error" {
				continue // client-go enqueues nil, and lets panics through
			}
			t.Run(name+"/"+way, func(t *testing.T) {
				s := &script{lists: []string{"10: good@4 bad@6"}}
				onScript(t, s, Options{Hardening: hardening}, func(i *Informer) {
					if err := i.SetTransform(refuseBad(way)); err != nil {
						t.Fatal(err)
					}
				}, func(t *testing.T, i *Informer) {
					got := snapshot(t, i)
					if hardening.DisableQuarantine {
						if got.Informer.Synced || got.Handle.Quarantined != 0 || !strings.Contains(got.Reflector.Error, "cannot strip it") {
							t.Errorf("synced %v, error %q, want the list refused", got.Informer.Synced, got.Reflector.Error)
						}
						return
					}
					if !got.Informer.Synced || got.Store.Objects != 1 || got.Handle.Quarantined != 1 {
						t.Fatalf("synced %v with %d objects, %d set aside, want the good one and the bad one", got.Informer.Synced, got.Store.Objects, got.Handle.Quarantined)
					}
					q := got.Quarantine[0]
					if q.Key != "ns/bad" || q.ResourceVersion != "6" || q.Stage != "transform" || q.Times != 1 || q.Error == "" {
						t.Errorf("quarantine = %+v", q)
					}
				})
			})
		}
	}
}

func TestWhatTheStoreHasOfABadObjectStays(t *testing.T) {
	s := &script{lists: []string{"10: bad@5", "20: bad@15 good@16"}}
	h := &recorder{}
	onScript(t, s, Options{}, func(i *Informer) {
		join(t, i, h, 0)
		if err := i.SetTransform(refuseBad("error")); err != nil {
			t.Fatal(err)
		}
	}, func(t *testing.T, i *Informer) {
		s.send("~bad@12")
		synctest.Wait()
		s.send("E410")
		time.Sleep(time.Minute)
		synctest.Wait()
		want := map[string][]string{
			"bad":  {"add bad@5 initially"},
			"good": {"add good@16"},
		}
		if diff := cmp.Diff(want, byKey(h.all())); diff != "" {
			t.Errorf("told (-want +got):\n%s", diff)
		}
		got := snapshot(t, i)
		if len(got.Quarantine) != 1 || got.Quarantine[0].Times != 2 || got.Quarantine[0].ResourceVersion != "15" {
			t.Errorf("quarantine = %+v, want the newest failure of the one key, counted twice", got.Quarantine)
		}
	})
}

func TestABadObjectIsDeletedAllTheSame(t *testing.T) {
	s := &script{lists: []string{"10: bad@5"}}
	onScript(t, s, Options{}, func(i *Informer) {
		if err := i.SetTransform(refuseBad("panic")); err != nil {
			t.Fatal(err)
		}
	}, func(t *testing.T, i *Informer) {
		s.send("-bad@12")
		synctest.Wait()
		if n := snapshot(t, i).Store.Objects; n != 0 {
			t.Errorf("%d objects are left", n)
		}
	})
}

func TestAQuarantineListsOnlyTheNewest(t *testing.T) {
	var q quarantine
	for n := range 3 * maxQuarantined {
		q.add(stageTransform, fmt.Sprint(n), nil, inspect.CauseWatch, errors.New("no"))
	}
	total, newest := q.vitals()
	if total != 3*maxQuarantined || len(newest) != maxQuarantined || newest[0].Key != fmt.Sprint(3*maxQuarantined-1) {
		t.Errorf("%d in all, %d listed, the first is %+v", total, len(newest), newest[0])
	}
}

func TestASuccessorOfTheSameNameIsToldAsTwoOnDemand(t *testing.T) {
	s := &script{lists: []string{"10: a@5/U1", "20: a@15/U2"}}
	h := &recorder{}
	onScript(t, s, Options{Hardening: Hardening{SplitIdentity: true}}, func(i *Informer) { join(t, i, h, 0) }, func(t *testing.T, i *Informer) {
		s.send("~a@12/U1", "E410")
		time.Sleep(time.Minute)
		synctest.Wait()
		want := []string{"add a@5 initially", "update a@5 to a@12", "delete [a@12]", "add a@15"}
		if diff := cmp.Diff(want, h.all()); diff != "" {
			t.Errorf("told (-want +got):\n%s", diff)
		}
	})
}

func TestABusyHandlerIsLeftOutOfAResyncOnDemand(t *testing.T) {
	for skip, bound := range map[bool][2]uint64{true: {0, 2000}, false: {8000, 1 << 20}} {
		t.Run(fmt.Sprintf("skip=%v", skip), func(t *testing.T) {
			slow, quick := &sleeper{each: time.Millisecond}, &recorder{}
			s := &script{lists: []string{"10: " + numbered(2000, "")}}
			onScript(t, s, Options{Resync: time.Second, Hardening: Hardening{SkipBusyResync: skip}}, func(i *Informer) {
				join(t, i, slow, time.Second)
				join(t, i, quick, time.Second)
			}, func(t *testing.T, i *Informer) {
				time.Sleep(20500 * time.Millisecond)
				listeners := snapshot(t, i).Listeners
				if l := listeners[0]; l.Pending < bound[0] || l.Pending > bound[1] || (l.ResyncSkipped > 0) != skip {
					t.Errorf("the slow handler has %d pending and was left out %d times", l.Pending, l.ResyncSkipped)
				}
				if l := listeners[1]; l.ResyncSkipped != 0 || l.Causes.Resync < 18*2000 {
					t.Errorf("the quick handler was left out %d times and told %d times", l.ResyncSkipped, l.Causes.Resync)
				}
			})
		})
	}
}

func TestAnInitialStreamWithoutEndIsGivenUpForAList(t *testing.T) {
	for name, c := range map[string]struct {
		hardening Hardening
		synced    bool
	}{"hardened": {Hardening{}, true}, "as client-go": {unhardened, false}} {
		t.Run(name, func(t *testing.T) {
			s := streaming{&script{lists: []string{"10: a@5"}, watches: []string{"+a@5"}}}
			synctest.Test(t, func(t *testing.T) {
				i := New(s, &corev1.Pod{}, Options{Hardening: c.hardening})
				stop := run(i)
				time.Sleep(2 * time.Minute)
				got := snapshot(t, i)
				if got.Informer.Synced != c.synced {
					t.Errorf("synced = %v after two minutes; requests %v", got.Informer.Synced, s.made())
				}
				if !c.synced && (got.Reflector.Phase != inspect.PhaseStreamingList || got.Reflector.Received != 1) {
					t.Errorf("reflector = %+v, want it streaming, one object received", got.Reflector)
				}
				stop()
			})
		})
	}
}

// streaming is a script for a server that knows initial events.
type streaming struct{ *script }

func (streaming) IsWatchListSemanticsUnSupported() bool { return false }

func TestStrictRulesOutEverythingElse(t *testing.T) {
	o := Options{Strict: true, HandlerPanic: Contain, Hardening: Hardening{SplitIdentity: true, SkipBusyResync: true}}.strictly()
	if o.Queue != InOrder || o.HandlerPanic != Crash {
		t.Errorf("strict options are %+v", o)
	}
	hardening := reflect.ValueOf(o.Hardening)
	for n := range hardening.NumField() {
		name, field := hardening.Type().Field(n).Name, hardening.Field(n)
		switch {
		case strings.HasPrefix(name, "Disable"):
			if !field.Bool() {
				t.Errorf("strict options don't %s", name)
			}
		case slices.Contains([]string{"WatchSpacing", "EndMarkerDeadline", "WatchGrace", "Retries"}, name):
			if field.Int() >= 0 {
				t.Errorf("strict options have %s %v", name, field.Interface())
			}
		case !field.IsZero(): // on demand
			t.Errorf("strict options have %s %v", name, field.Interface())
		}
	}
	i := New(&script{lists: []string{"10:"}}, &corev1.Pod{}, Options{Strict: true})
	if !i.begin() {
		t.Fatal("it does not begin")
	}
	r := i.reflectorOptions()
	if r.WatchSpacing != 0 || r.EndMarkerDeadline != 0 || r.WatchGrace != 0 || r.SteadyResync || r.CheckLists {
		t.Errorf("a strict reflector is hardened: %+v", r)
	}
}

func TestAStrictInformerTellsOfARelistAsStockDoes(t *testing.T) {
	s := &script{lists: []string{"10: a@5 b@6", "20: b@6"}}
	h := &recorder{}
	onScript(t, s, Options{Strict: true}, func(i *Informer) { join(t, i, h, 0) }, func(t *testing.T, i *Informer) {
		h.all()
		s.send("E410")
		time.Sleep(time.Minute)
		synctest.Wait()
		if want := []string{"delete [a@5]", "update b@6 to b@6"}; !slices.Equal(h.all(), want) {
			t.Errorf("want the tombstone first, then what stays: %v", want)
		}
		if kind := snapshot(t, i).Queue.Kind; kind != "InOrder" {
			t.Errorf("the queue is %s", kind)
		}
	})
}

func TestAStrictIndexFunctionThatFailsPanics(t *testing.T) {
	i := New(nil, &corev1.Pod{}, Options{Strict: true, Indexers: cache.Indexers{"bad": func(any) ([]string, error) {
		return nil, errors.New("no idea")
	}}})
	defer func() {
		if p := recover(); p == nil || !strings.Contains(fmt.Sprint(p), "no idea") {
			t.Errorf("recovered %v, want the index function's failure", p)
		}
	}()
	_ = i.GetStore().Add(pod("a"))
}

func TestTheStoreIsNotSaidToBeWhereItCouldNotGet(t *testing.T) {
	i := New(&script{}, &corev1.Pod{}, Options{})
	batch := func(obj any) []deltafifo.Entry {
		return []deltafifo.Entry{
			{Delta: cache.Delta{Type: cache.Added, Object: obj}, Key: "ns/a"},
			{Delta: cache.Delta{Type: cache.Bookmark, Object: cache.BookmarkInfo{ResourceVersion: "9"}}},
		}
	}
	if failed := i.handle(batch(nil)); len(failed) != 1 || snapshot(t, i).Store.ResourceVersion != "" {
		t.Errorf("%d entries failed, and the store says it is at %q", len(failed), snapshot(t, i).Store.ResourceVersion)
	}
	if failed := i.handle(batch(pod("a"))); len(failed) != 0 || snapshot(t, i).Store.ResourceVersion != "9" {
		t.Errorf("%d entries failed, and the store says it is at %q, want 9", len(failed), snapshot(t, i).Store.ResourceVersion)
	}
}

func TestAKeyThatChangesAllTheTimeStaysShortInTheQueueOnDemand(t *testing.T) {
	for compress, want := range map[bool]int{false: 50, true: 1} {
		s := &script{lists: []string{"10: a@11"}}
		onScript(t, s, Options{Hardening: Hardening{CompressUpdates: compress}}, nil, func(t *testing.T, i *Informer) {
			if err := i.Pause(t.Context()); err != nil {
				t.Fatal(err)
			}
			for n := range 50 {
				s.send(fmt.Sprintf("~a@%d", 20+n))
			}
			synctest.Wait()
			if got := snapshot(t, i).Queue; got.Deltas != want || got.Compressed != uint64(50-want) {
				t.Errorf("compress %v: %d deltas wait, %d compressed, want %d", compress, got.Deltas, got.Compressed, want)
			}
		})
	}
}
