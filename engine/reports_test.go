package engine

import (
	"errors"
	"fmt"
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

// What hurts people who live on informers, each as a test.

func TestAResyncThatOutrunsItsHandlerIsSeenToGrow(t *testing.T) {
	h := &sleeper{each: time.Millisecond}
	onScript(t, &script{lists: []string{"10: " + numbered(2000, "")}}, Options{Resync: time.Second}, func(i *Informer) {
		join(t, i, h, time.Second)
	}, func(t *testing.T, i *Informer) {
		time.Sleep(4500 * time.Millisecond)
		before := snapshot(t, i).Listeners[0]
		time.Sleep(10 * time.Second)
		after := snapshot(t, i).Listeners[0]
		// 2,000 come each second, 1,000 are handled.
		if grown := after.Pending - before.Pending; grown < 9_900 || grown > 10_100 {
			t.Errorf("pending grew from %d to %d in 10 s, want by 10,000", before.Pending, after.Pending)
		}
		if after.Drain < after.Behind/2 || after.BusyRate < 990 || after.BusyRate > 1010 {
			t.Errorf("busy rate %v/s, drain %v, want 1,000/s and pending divided by it", after.BusyRate, after.Drain)
		}
	})
}

func TestAResyncAsksTheServerNothing(t *testing.T) {
	s := &script{lists: []string{"10: a@7"}}
	onScript(t, s, Options{Resync: time.Second}, func(i *Informer) {
		join(t, i, &recorder{}, time.Second)
	}, func(t *testing.T, i *Informer) {
		before := len(s.made())
		time.Sleep(10500 * time.Millisecond)
		if n := len(s.made()); n != before {
			t.Errorf("%d requests during ten rounds of resync: %v", n-before, s.made())
		}
		if got := snapshot(t, i).Listeners[0].Causes.Resync; got != 10 {
			t.Errorf("%d resync notifications, want 10", got)
		}
	})
}

func TestResyncPeriodsAreSeenAsTheyTurnOut(t *testing.T) {
	onScript(t, &script{lists: []string{"10: a@7"}}, Options{Resync: 2 * time.Second}, func(i *Informer) {
		join(t, i, &recorder{}, 2*time.Second)
		join(t, i, &recorder{}, 2500*time.Millisecond)
	}, func(t *testing.T, i *Informer) {
		join(t, i, &recorder{}, time.Second) // too late to be granted
		time.Sleep(20500 * time.Millisecond)
		var seen []time.Duration
		for _, l := range snapshot(t, i).Listeners {
			seen = append(seen, l.ResyncSeen.Round(time.Millisecond))
		}
		if want := []time.Duration{2 * time.Second, 4 * time.Second, 2 * time.Second}; !slices.Equal(seen, want) {
			t.Errorf("seen %v, want %v", seen, want)
		}
	})
}

func TestTheResyncTimerSurvivesAFlakyWatch(t *testing.T) {
	for name, c := range map[string]struct {
		hardening Hardening
		resyncs   bool
	}{
		"hardened":       {Hardening{}, true},
		"as client-go's": {unhardened, false},
	} {
		t.Run(name, func(t *testing.T) {
			s := &script{lists: []string{"10: a@7"}}
			h := &recorder{}
			onScript(t, s, Options{Resync: time.Second, Hardening: c.hardening}, func(i *Informer) {
				join(t, i, h, time.Second)
			}, func(t *testing.T, i *Informer) {
				for range 24 {
					time.Sleep(500 * time.Millisecond)
					if snapshot(t, i).Reflector.Phase == inspect.PhaseWatching {
						s.send("E410")
					}
				}
				synctest.Wait()
				if got := snapshot(t, i).Listeners[0].Causes.Resync; (got > 0) != c.resyncs {
					t.Errorf("%d resync notifications in 12 s of cut watches", got)
				}
			})
		})
	}
}

func TestWhoIsToldOfWhatARelistLeftUnchanged(t *testing.T) {
	for name, c := range map[string]struct {
		resync time.Duration
		told   int
	}{
		"everybody, if nobody resyncs":         {0, 2},
		"only those due, once one was checked": {time.Second, 0},
	} {
		t.Run(name, func(t *testing.T) {
			s := &script{lists: []string{"10: a@5 b@6"}}
			h := &recorder{}
			onScript(t, s, Options{Resync: c.resync, Hardening: unhardened}, func(i *Informer) { join(t, i, h, 0) }, func(t *testing.T, i *Informer) {
				time.Sleep(1500 * time.Millisecond)
				h.all()
				s.send("E410")
				time.Sleep(time.Minute)
				synctest.Wait()
				if told := h.all(); len(told) != c.told {
					t.Errorf("told %v, want %d updates", told, c.told)
				}
				if relists := snapshot(t, i).Reflector.Relists; relists != 1 {
					t.Errorf("%d relists, want 1", relists)
				}
			})
		})
	}
}

func TestAnObjectThatARelistOvertakesInTheQueueIsBuried(t *testing.T) {
	s := &script{lists: []string{"10:", "30:"}}
	h := &recorder{}
	onScript(t, s, Options{}, func(i *Informer) { join(t, i, h, 0) }, func(t *testing.T, i *Informer) {
		if err := i.Pause(t.Context()); err != nil {
			t.Fatal(err)
		}
		s.send("+o@12", "E410")
		time.Sleep(time.Minute)
		if err := i.Resume(t.Context()); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		if diff := cmp.Diff([]string{"add o@12", "delete [o@12]"}, h.all()); diff != "" {
			t.Errorf("told (-want +got):\n%s", diff)
		}
		if n := snapshot(t, i).Store.Objects; n != 0 {
			t.Errorf("%d objects are left", n)
		}
	})
}

func TestASuccessorOfTheSameNameIsOneUpdate(t *testing.T) {
	s := &script{lists: []string{"10: a@5/U1", "20: a@15/U2"}}
	h := &recorder{}
	onScript(t, s, Options{}, func(i *Informer) { join(t, i, h, 0) }, func(t *testing.T, i *Informer) {
		s.send("E410")
		time.Sleep(time.Minute)
		synctest.Wait()
		if diff := cmp.Diff([]string{"add a@5 initially", "update a@5 to a@15"}, h.all()); diff != "" {
			t.Errorf("told (-want +got):\n%s", diff)
		}
	})
}

func TestForbiddenSaysWhichVerbAndWhenItTriesAgain(t *testing.T) {
	for name, c := range map[string]struct {
		script *script
		op     string
		synced bool
	}{
		"list":  {&script{lists: []string{"E403"}}, "list", false},
		"watch": {&script{lists: []string{"10: a@5"}, watches: []string{"E403"}}, "watch", true},
	} {
		t.Run(name, func(t *testing.T) {
			onScript(t, c.script, Options{}, nil, func(t *testing.T, i *Informer) {
				got := snapshot(t, i)
				r := got.Reflector
				if r.Phase != inspect.PhaseBackingOff || r.ErrorOp != c.op || r.ErrorReason != "Forbidden" || !strings.Contains(r.Error, "forbidden") {
					t.Errorf("reflector = %+v", r)
				}
				if wait := r.NextAttempt.Sub(got.At); wait <= 0 || wait > time.Minute {
					t.Errorf("the next attempt is in %v", wait)
				}
				if got.Informer.Synced != c.synced {
					t.Errorf("synced = %v, want %v", got.Informer.Synced, c.synced)
				}
			})
		})
	}
}

func TestStreamsThatCloseAtOnceAreSpaced(t *testing.T) {
	for name, c := range map[string]struct {
		hardening Hardening
		most      int
	}{
		"hardened":       {Hardening{}, 15},
		"spaced further": {Hardening{WatchSpacing: 5 * time.Second}, 4},
	} {
		t.Run(name, func(t *testing.T) {
			s := &script{lists: []string{"10: a@5"}, watches: []string{"B@11 EOF"}}
			onScript(t, s, Options{Hardening: c.hardening}, nil, func(t *testing.T, i *Informer) {
				time.Sleep(10 * time.Second)
				if n := s.count("WATCH"); n > c.most || n < 2 {
					t.Errorf("%d watches in 10 s, want at most %d", n, c.most)
				}
			})
		})
	}
}

func TestTheStoreSyncsBeforeASlowHandlerDoes(t *testing.T) {
	s := &script{lists: []string{"10: " + numbered(1000, "")}}
	h := &sleeper{each: 5 * time.Millisecond}
	onScript(t, s, Options{}, func(i *Informer) { join(t, i, h, 0) }, func(t *testing.T, i *Informer) {
		time.Sleep(time.Second)
		got := snapshot(t, i)
		l := got.Listeners[0]
		if !got.Informer.Synced || l.Synced || l.InitialTotal != 1000 || l.InitialDelivered < 199 || l.InitialDelivered > 201 {
			t.Errorf("after a second: informer synced %v, handler synced %v, %d of %d", got.Informer.Synced, l.Synced, l.InitialDelivered, l.InitialTotal)
		}
		time.Sleep(5 * time.Second)
		if l = snapshot(t, i).Listeners[0]; !l.Synced {
			t.Errorf("after six seconds: %+v", l)
		}
	})
}

func TestAnIndexFunctionThatFailsCostsNobodyElse(t *testing.T) {
	for name, fn := range map[string]func() ([]string, error){
		"an error": func() ([]string, error) { return nil, errors.New("no idea") },
		"a panic":  func() ([]string, error) { panic("no idea") },
	} {
		t.Run(name, func(t *testing.T) {
			byName := func(obj any) ([]string, error) {
				if n := obj.(*corev1.Pod).Name; n != "bad" {
					return []string{n}, nil
				}
				return fn()
			}
			s := &script{lists: []string{"10:"}}
			h := &recorder{}
			onScript(t, s, Options{Indexers: cache.Indexers{"name": byName}}, func(i *Informer) { join(t, i, h, 0) }, func(t *testing.T, i *Informer) {
				s.send("+bad@11", "+good@12")
				synctest.Wait()
				if diff := cmp.Diff([]string{"add bad@11", "add good@12"}, h.all()); diff != "" {
					t.Errorf("told (-want +got):\n%s", diff)
				}
				if x := snapshot(t, i).Indices[0]; x.Errors != 1 || !strings.Contains(x.LastError, "no idea") || !strings.Contains(x.LastErrorKey, "bad") || x.Entries != 1 {
					t.Errorf("index = %+v", x)
				}
			})
		})
	}
}

func TestIndicesCanBeAddedToAFullStore(t *testing.T) {
	onScript(t, &script{lists: []string{"10: " + numbered(500, "")}}, Options{}, nil, func(t *testing.T, i *Informer) {
		byLast := func(obj any) ([]string, error) {
			name := obj.(*corev1.Pod).Name
			return []string{name[len(name)-1:]}, nil
		}
		if err := i.AddIndexers(cache.Indexers{"last": byLast}); err != nil {
			t.Fatal(err)
		}
		if got, err := i.GetIndexer().ByIndex("last", "7"); err != nil || len(got) != 50 {
			t.Errorf("bucket 7 has %d objects, %v, want 50", len(got), err)
		}
		if err := i.AddIndexers(cache.Indexers{"last": byLast}); err == nil {
			t.Error("the same name again gave no error")
		}
		if _, err := i.GetIndexer().ByIndex("nope", "x"); err == nil {
			t.Error("an index that is not there gave no error")
		}
	})
}

func TestAHandlerThatWritesIntoTheCacheCorruptsNoIndex(t *testing.T) {
	s := &script{lists: []string{"10:"}}
	byApp := func(obj any) ([]string, error) { return []string{obj.(*corev1.Pod).Labels["app"]}, nil }
	vandal := cache.ResourceEventHandlerFuncs{AddFunc: func(obj any) { obj.(*corev1.Pod).Labels["app"] = "written" }}
	onScript(t, s, Options{Indexers: cache.Indexers{"app": byApp}}, func(i *Informer) { join(t, i, vandal, 0) }, func(t *testing.T, i *Informer) {
		s.send("+a@11")
		synctest.Wait()
		s.send("~a@12")
		synctest.Wait()
		s.send("-a@13")
		synctest.Wait()
		if x := snapshot(t, i).Indices[0]; x.Buckets != 0 || x.Entries != 0 {
			t.Errorf("an empty store has an index of %+v", x)
		}
	})
}

func TestATransformIsNotAppliedAgainByAResync(t *testing.T) {
	calls := 0
	onScript(t, &script{lists: []string{"10: a@5"}}, Options{Resync: time.Second}, func(i *Informer) {
		join(t, i, &recorder{}, time.Second)
		if err := i.SetTransform(func(obj any) (any, error) {
			calls++
			return obj, nil
		}); err != nil {
			t.Fatal(err)
		}
	}, func(t *testing.T, i *Informer) {
		time.Sleep(5500 * time.Millisecond)
		synctest.Wait()
		if calls != 1 {
			t.Errorf("the transform was called %d times for one arrival", calls)
		}
	})
}

func TestAPanickingHandlerIsContainedOnDemand(t *testing.T) {
	s := &script{lists: []string{"10:"}}
	handler := cache.ResourceEventHandlerFuncs{AddFunc: func(obj any) {
		if obj.(*corev1.Pod).Name == "bad" {
			panic("cannot cope")
		}
	}}
	onScript(t, s, Options{HandlerPanic: Contain}, func(i *Informer) { join(t, i, handler, 0) }, func(t *testing.T, i *Informer) {
		s.send("+bad@11", "+good@12")
		synctest.Wait()
		l := snapshot(t, i).Listeners[0]
		if l.Panics != 1 || l.Pending != 0 || l.Delivered != 2 {
			t.Errorf("listener = %+v", l)
		}
		for _, want := range []string{"cannot cope", "ns/bad", "reports_test.go"} {
			if !strings.Contains(l.LastPanic, want) {
				t.Errorf("the report of the panic lacks %q: %s", want, l.LastPanic)
			}
		}
	})
}

func TestBookmarksMoveTheStoresVersion(t *testing.T) {
	s := &script{lists: []string{"10: a@5"}}
	onScript(t, s, Options{}, nil, func(t *testing.T, i *Informer) {
		for _, c := range []struct{ event, want string }{{"", "10"}, {"B@17", "17"}, {"~a@20", "20"}} {
			if c.event != "" {
				s.send(c.event)
				synctest.Wait()
			}
			got := snapshot(t, i)
			if got.Store.ResourceVersion != c.want || got.Reflector.ResourceVersion != c.want || got.Store.Behind {
				t.Errorf("after %q: store %s, reflector %s, behind %v, want %s", c.event, got.Store.ResourceVersion, got.Reflector.ResourceVersion, got.Store.Behind, c.want)
			}
		}
	})
}

func TestEveryRequestLeavesARecord(t *testing.T) {
	s := &script{lists: []string{"10: a@5", "20: a@15"}}
	onScript(t, s, Options{}, nil, func(t *testing.T, i *Informer) {
		s.send("~a@12", "E410")
		time.Sleep(time.Minute)
		var got []string
		for _, r := range must[[]inspect.Request](t)(i.Requests(t.Context())) {
			got = append(got, fmt.Sprintf("%s %q %s %d items, then %s", r.Verb, r.ResourceVersion, r.Outcome, r.Items, r.Next))
		}
		want := []string{
			`WATCH "20" open 0 items, then `,
			`LIST "12" ok 1 items, then watch`,
			`WATCH "10" expired 1 items, then relist`,
			`LIST "0" ok 1 items, then watch`,
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("requests (-want +got):\n%s", diff)
		}
	})
}
