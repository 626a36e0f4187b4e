package engine

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/tools/cache"

	"github.com/informeter/informeter/engine/inspect"
	"github.com/informeter/informeter/engine/processor"
)

// watched runs a test with an informer that somebody looks at.
func watched(t *testing.T, o Options, test func(t *testing.T, s server, i *Informer)) {
	t.Helper()
	inBubble(t, o, func(t *testing.T, s server, i *Informer) {
		release := must[func()](t)(i.Open())
		defer release()
		test(t, s, i)
	})
}

// way writes a moment as its stages and deliveries, in seconds since origin.
func way(m inspect.Moment, origin time.Time) string {
	at := func(t time.Time) string { return fmt.Sprint(t.Sub(origin).Seconds()) }
	text := fmt.Sprintf("%s %s %s: enqueued %s popped %s published %s", m.Type, m.Key, m.Cause, at(m.Enqueued), at(m.Popped), at(m.Published))
	for _, d := range m.Deliveries {
		if d.Pending {
			text += fmt.Sprintf(", %s pending", d.Handler)
			continue
		}
		text += fmt.Sprintf(", %s at %s for %v", d.Handler, at(d.Began), d.Took)
		if d.Calling {
			text += " so far"
		}
	}
	return text
}

// expectMoments compares the newest moments, the oldest of them first.
func expectMoments(t *testing.T, i *Informer, origin time.Time, q inspect.MomentQuery, want ...string) {
	t.Helper()
	page := must[inspect.MomentPage](t)(i.Moments(t.Context(), q))
	var got []string
	for _, m := range slices.Backward(page.Moments) {
		got = append(got, way(m, origin))
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("moments (-want +got):\n%s", diff)
	}
}

// slow is a handler whose calls take some time.
type slow struct{ takes time.Duration }

func (s slow) OnAdd(any, bool)   { time.Sleep(s.takes) }
func (s slow) OnUpdate(any, any) { time.Sleep(s.takes) }
func (s slow) OnDelete(any)      { time.Sleep(s.takes) }

func addNamed(t *testing.T, i *Informer, name string, h cache.ResourceEventHandler, o cache.HandlerOptions) cache.ResourceEventHandlerRegistration {
	t.Helper()
	return must[cache.ResourceEventHandlerRegistration](t)(i.AddNamedEventHandler(name, h, o))
}

func TestAMomentIsADeltasWayThroughEveryStage(t *testing.T) {
	watched(t, Options{}, func(t *testing.T, s server, i *Informer) {
		addNamed(t, i, "quick", slow{}, cache.HandlerOptions{})
		addNamed(t, i, "slow", slow{2 * time.Second}, cache.HandlerOptions{})
		defer run(i)()
		synctest.Wait()
		origin := time.Now()
		_ = i.Pause(t.Context())
		s.Add(pod("a"))
		time.Sleep(time.Second)
		s.Modify(pod("a"))
		time.Sleep(time.Second)
		_ = i.Resume(t.Context())
		time.Sleep(time.Second)
		expectMoments(t, i, origin, inspect.MomentQuery{Limit: 10},
			"added ns/a watch: enqueued 0 popped 2 published 2, quick at 2 for 0s, slow at 2 for 1s so far",
			"updated ns/a watch: enqueued 1 popped 2 published 2, quick at 2 for 0s, slow pending",
		)
		time.Sleep(4 * time.Second)
		s.Delete(pod("a"))
		s.Add(pod("b"))
		time.Sleep(3 * time.Second)
		expectMoments(t, i, origin, inspect.MomentQuery{Limit: 10},
			"added ns/a watch: enqueued 0 popped 2 published 2, quick at 2 for 0s, slow at 2 for 2s",
			"updated ns/a watch: enqueued 1 popped 2 published 2, quick at 2 for 0s, slow at 4 for 2s",
			"deleted ns/a watch: enqueued 7 popped 7 published 7, quick at 7 for 0s, slow at 7 for 2s",
			"added ns/b watch: enqueued 7 popped 7 published 7, quick at 7 for 0s, slow at 9 for 1s so far",
		)
		expectMoments(t, i, origin, inspect.MomentQuery{Limit: 2, Key: "ns/a"},
			"updated ns/a watch: enqueued 1 popped 2 published 2, quick at 2 for 0s, slow at 4 for 2s",
			"deleted ns/a watch: enqueued 7 popped 7 published 7, quick at 7 for 0s, slow at 7 for 2s",
		)
		newest := must[inspect.MomentPage](t)(i.Moments(t.Context(), inspect.MomentQuery{Limit: 1})).Moments[0]
		expectMoments(t, i, origin, inspect.MomentQuery{Limit: 10, Since: newest.Seq - 1},
			"added ns/b watch: enqueued 7 popped 7 published 7, quick at 7 for 0s, slow at 9 for 1s so far",
		)
	})
}

func TestAMomentSpeaksOnlyOfHandlersThatItWasFor(t *testing.T) {
	watched(t, Options{Resync: 10 * time.Second}, func(t *testing.T, s server, i *Informer) {
		s.Add(pod("a"))
		never := time.Duration(0)
		addNamed(t, i, "resyncing", slow{}, cache.HandlerOptions{})
		addNamed(t, i, "other", slow{}, cache.HandlerOptions{ResyncPeriod: &never})
		origin := time.Now()
		defer run(i)()
		synctest.Wait()
		gone := addNamed(t, i, "late", slow{time.Hour}, cache.HandlerOptions{ResyncPeriod: &never})
		time.Sleep(11 * time.Second)
		expectMoments(t, i, origin, inspect.MomentQuery{Limit: 10},
			"added ns/a initial: enqueued 0 popped 0 published 0, resyncing at 0 for 0s, other at 0 for 0s",
			"updated ns/a resync: enqueued 10 popped 10 published 10, resyncing at 10 for 0s",
		)
		// The late handler is stuck in its startup batch, which is nobody else's.
		s.Modify(pod("a"))
		synctest.Wait()
		expectMoments(t, i, origin, inspect.MomentQuery{Limit: 1},
			"updated ns/a watch: enqueued 11 popped 11 published 11, resyncing at 11 for 0s, other at 11 for 0s, late pending",
		)
		// What is pending for a handler that is removed will never be delivered.
		if err := i.RemoveEventHandler(gone); err != nil {
			t.Fatal(err)
		}
		expectMoments(t, i, origin, inspect.MomentQuery{Limit: 1},
			"updated ns/a watch: enqueued 11 popped 11 published 11, resyncing at 11 for 0s, other at 11 for 0s",
		)
		time.Sleep(time.Hour) // its call returns
	})
}

func TestAHandlerStandsBetweenWhatItWasGivenAndWhatWaits(t *testing.T) {
	watched(t, Options{Resync: 10 * time.Second}, func(t *testing.T, s server, i *Informer) {
		never := time.Duration(0)
		addNamed(t, i, "resyncing", slow{}, cache.HandlerOptions{})
		addNamed(t, i, "slow", slow{2 * time.Second}, cache.HandlerOptions{ResyncPeriod: &never})
		s.Add(pod("a"))
		origin := time.Now()
		defer run(i)()
		synctest.Wait()
		for _, name := range []string{"b", "c", "d", "e"} {
			s.Add(pod(name))
		}
		time.Sleep(3 * time.Second)
		expectMoments(t, i, origin, inspect.MomentQuery{Handler: "slow", Ahead: 2, Limit: 5},
			"added ns/a initial: enqueued 0 popped 0 published 0, resyncing at 0 for 0s, slow at 0 for 2s",
			"added ns/b watch: enqueued 0 popped 0 published 0, resyncing at 0 for 0s, slow at 2 for 1s so far",
			"added ns/c watch: enqueued 0 popped 0 published 0, resyncing at 0 for 0s, slow pending",
		)
		expectMoments(t, i, origin, inspect.MomentQuery{Handler: "slow", Limit: 5},
			"added ns/a initial: enqueued 0 popped 0 published 0, resyncing at 0 for 0s, slow at 0 for 2s",
		)
		expectMoments(t, i, origin, inspect.MomentQuery{Handler: "nobody", Ahead: 5, Limit: 5})
		// A round for another is not among what either was given or waits for.
		time.Sleep(8 * time.Second)
		s.Modify(pod("a"))
		synctest.Wait()
		expectMoments(t, i, origin, inspect.MomentQuery{Handler: "slow", Ahead: 5, Limit: 1},
			"added ns/e watch: enqueued 0 popped 0 published 0, resyncing at 0 for 0s, slow at 8 for 2s",
			"updated ns/a watch: enqueued 11 popped 11 published 11, resyncing at 11 for 0s, slow at 11 for 0s so far",
		)
		time.Sleep(time.Hour)
		if page := must[inspect.MomentPage](t)(i.Moments(t.Context(), inspect.MomentQuery{Handler: "slow", Ahead: 5, Limit: 100})); len(page.Moments) != 6 {
			t.Errorf("at rest it was given %d, want 6", len(page.Moments))
		}
	})
}

func TestAHandlerStandsInItsStartupBatch(t *testing.T) {
	for _, conflate := range []int{0, 2, 100} {
		watched(t, Options{Hardening: Hardening{ConflateBacklog: conflate}}, func(t *testing.T, s server, i *Informer) {
			names := []string{"a", "b", "c", "d"}
			for _, name := range names {
				s.Add(pod(name))
			}
			defer run(i)()
			synctest.Wait()
			origin := time.Now()
			addNamed(t, i, "late", slow{time.Second}, cache.HandlerOptions{})
			s.Add(pod("e"))
			synctest.Wait()
			time.Sleep(1500 * time.Millisecond)
			page := must[inspect.MomentPage](t)(i.Moments(t.Context(), inspect.MomentQuery{Handler: "late", Ahead: 4, Limit: 5}))
			var got []string
			for _, m := range slices.Backward(page.Moments) {
				d := m.Deliveries[0]
				got = append(got, fmt.Sprintf("%s %v pending %v calling %v began %v took %v", m.Cause, m.Seq > 0, d.Pending, d.Calling,
					max(d.Began.Sub(origin), 0), d.Took))
			}
			want := []string{
				"late join false pending false calling false began 0s took 1s",
				"late join false pending false calling true began 1s took 500ms",
				"late join false pending true calling false began 0s took 0s",
				"late join false pending true calling false began 0s took 0s",
				"watch true pending true calling false began 0s took 0s",
			}
			if conflate == 2 {
				// Out of the log: of what it has returned from, and of what comes
				// after the batch, nothing is said.
				want = want[1:4]
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("conflating from %d (-want +got):\n%s", conflate, diff)
			}
			var keys []string
			for _, m := range page.Moments {
				keys = append(keys, m.Key)
			}
			slices.Sort(keys)
			if len(slices.Compact(keys)) != len(page.Moments) {
				t.Errorf("it is told of each once, not of %q", keys)
			}
			if v, _ := listener(t, i, "late"); v.CurrentKey != page.Moments[slices.IndexFunc(page.Moments, func(m inspect.Moment) bool { return m.Deliveries[0].Calling })].Key {
				t.Errorf("it is in a call with %s, which is not the one that is said to be under way", v.CurrentKey)
			}
			time.Sleep(4 * time.Second)
			expectMoments(t, i, origin, inspect.MomentQuery{Handler: "late", Ahead: 5, Limit: 5},
				"added ns/e watch: enqueued 0 popped 0 published 0, late at 4 for 1s")
		})
	}
}

// TestWhatAHandlerWasToldToStartWithIsKnownAcrossChunks: of its startup batch the
// last calls are there wherever it stands, with how long each took.
func TestWhatAHandlerWasToldToStartWithIsKnownAcrossChunks(t *testing.T) {
	watched(t, Options{}, func(t *testing.T, s server, i *Informer) {
		const pods, shown = 200, 20
		for n := range pods {
			s.Add(pod(fmt.Sprintf("p%03d", n)))
		}
		defer run(i)()
		synctest.Wait()
		origin := time.Now()
		addNamed(t, i, "late", slow{time.Second}, cache.HandlerOptions{})
		time.Sleep(time.Second / 2)
		told := make(map[string]bool)
		for done := range pods {
			page := must[inspect.MomentPage](t)(i.Moments(t.Context(), inspect.MomentQuery{Handler: "late", Ahead: 1, Limit: shown}))
			if want := min(done, shown) + 1; len(page.Moments) != want {
				t.Fatalf("after %d calls %d are known, want %d", done, len(page.Moments), want)
			}
			for rank, m := range page.Moments {
				d := m.Deliveries[0]
				if want := origin.Add(time.Duration(done-rank) * time.Second); !d.Began.Equal(want) || d.Calling != (rank == 0) {
					t.Fatalf("after %d calls number %d back: %+v, want begun at %v", done, rank, d, want)
				}
				if rank > 0 && !told[m.Key] {
					t.Fatalf("after %d calls it was told of %s, with which it was never in a call", done, m.Key)
				}
			}
			told[page.Moments[0].Key] = true
			time.Sleep(time.Second)
		}
		if len(told) != pods {
			t.Errorf("it was called with %d, want %d", len(told), pods)
		}
	})
}

func TestOfAHandlerFarBehindNothingIsSaidThatWasOverwritten(t *testing.T) {
	for _, c := range []struct {
		pods, ahead int
		conflate    int
	}{
		{momentsKept + 2, 0, 0},  // what it is at was overwritten
		{momentsKept, 20, 0},     // just not yet
		{momentsKept / 2, 4, 64}, // out of the log: each key waits once
	} {
		watched(t, Options{Hardening: Hardening{ConflateBacklog: c.conflate}}, func(t *testing.T, s server, i *Informer) {
			addNamed(t, i, "slow", slow{time.Hour}, cache.HandlerOptions{})
			ctx, cancel := context.WithCancel(t.Context())
			done := make(chan struct{})
			go func() {
				defer close(done)
				i.RunWithContext(ctx)
			}()
			synctest.Wait()
			for n := range c.pods {
				if c.conflate == 0 || n < 4 {
					s.Add(pod(fmt.Sprint(n)))
				} else {
					s.Modify(pod(fmt.Sprint(n % 4)))
				}
				if n == 0 {
					synctest.Wait() // it is called with this one alone
				}
			}
			synctest.Wait()
			page := must[inspect.MomentPage](t)(i.Moments(t.Context(), inspect.MomentQuery{Handler: "slow", Ahead: 20, Limit: 20}))
			if len(page.Moments) > c.ahead || (len(page.Moments) == 0) != (c.ahead == 0) {
				t.Errorf("of %d, conflated from %d: %d moments, want up to %d", c.pods, c.conflate, len(page.Moments), c.ahead)
			}
			for _, m := range page.Moments {
				if d := m.Deliveries[0]; !d.Pending && !d.Calling {
					t.Errorf("it has returned from nothing, and is said to have from %v", m)
				}
			}
			cancel()
			<-done
		})
	}
}

func TestASplitUpdateHasTwoMoments(t *testing.T) {
	o := Options{Hardening: Hardening{SplitIdentity: true}}
	watched(t, o, func(t *testing.T, s server, i *Informer) {
		defer run(i)()
		origin := time.Now()
		first, second := pod("a"), pod("a")
		first.UID, second.UID = "1", "2"
		s.Add(first)
		synctest.Wait()
		s.Modify(second)
		synctest.Wait()
		expectMoments(t, i, origin, inspect.MomentQuery{Limit: 2},
			"deleted ns/a watch: enqueued 0 popped 0 published 0",
			"added ns/a watch: enqueued 0 popped 0 published 0",
		)
	})
}

func TestMomentsThatWereOverwrittenAreCounted(t *testing.T) {
	const more = 100
	watched(t, Options{}, func(t *testing.T, s server, i *Informer) {
		for n := range momentsKept + more {
			s.Add(pod(fmt.Sprint(n)))
		}
		addNamed(t, i, "h", slow{}, cache.HandlerOptions{})
		defer run(i)()
		synctest.Wait()
		page := must[inspect.MomentPage](t)(i.Moments(t.Context(), inspect.MomentQuery{Limit: 2 * momentsKept}))
		if len(page.Moments) != momentsKept || page.Lost != more {
			t.Errorf("%d moments, %d lost, want %d and %d", len(page.Moments), page.Lost, momentsKept, more)
		}
		if n := snapshot(t, i).Lost.Moments; n != 0 {
			t.Errorf("%d moments are said to be lost to a follower before there is one", n)
		}
		newest := page.Moments[0].Seq
		for n := range page.Moments {
			if got, want := page.Moments[n].Seq, newest-uint64(n); got != want {
				t.Fatalf("moment %d has number %d, want %d", n, got, want)
			}
			if len(page.Moments[n].Deliveries) != 1 {
				t.Fatalf("moment %d has deliveries %v", n, page.Moments[n].Deliveries)
			}
		}
		// A follower that saw the first few misses what was overwritten since.
		for range 2 {
			page = must[inspect.MomentPage](t)(i.Moments(t.Context(), inspect.MomentQuery{Limit: 3, Since: newest - momentsKept - 4}))
			if page.Lost != 4 {
				t.Errorf("%d moments were lost to the follower, want 4", page.Lost)
			}
			if n := snapshot(t, i).Lost.Moments; n != 4 {
				t.Errorf("%d moments are said to be lost, want 4", n)
			}
		}
	})
}

func TestMomentsAreRecordedOnlyWhileSomebodyLooks(t *testing.T) {
	inBubble(t, Options{}, func(t *testing.T, s server, i *Informer) {
		addNamed(t, i, "h", slow{}, cache.HandlerOptions{})
		defer run(i)()
		origin := time.Now()
		for range 2 {
			expectMoments(t, i, origin, inspect.MomentQuery{Limit: 10})
			s.Add(pod("unseen"))
			synctest.Wait()
			first, second := must[func()](t)(i.Open()), must[func()](t)(i.Open())
			second()
			s.Delete(pod("unseen"))
			synctest.Wait()
			expectMoments(t, i, origin, inspect.MomentQuery{Limit: 10},
				"deleted ns/unseen watch: enqueued 0 popped 0 published 0, h at 0 for 0s")
			first()
			expectMoments(t, i, origin, inspect.MomentQuery{Limit: 10})
			if i.moments.ring != nil {
				t.Error("the moments are still kept")
			}
			if got := i.processor.Deliveries(time.Now(), []processor.Sent{{Seq: 2}}); len(got[0]) != 0 {
				t.Errorf("deliveries are still kept: %v", got[0])
			}
		}
	})
}

func TestDeliveriesCanBeAskedForByNumber(t *testing.T) {
	watched(t, Options{}, func(t *testing.T, s server, i *Informer) {
		addNamed(t, i, "h", slow{time.Second}, cache.HandlerOptions{})
		defer run(i)()
		origin := time.Now()
		s.Add(pod("a"))
		s.Add(pod("b"))
		time.Sleep(1500 * time.Millisecond)
		got := i.deliveriesOf([]uint64{2, 77, 1})
		at := func(t time.Time) time.Duration { return t.Sub(origin) }
		if len(got[0]) != 1 || len(got[1]) != 0 || len(got[2]) != 1 {
			t.Fatalf("deliveries %v", got)
		}
		if d := got[0][0]; at(d.Began) != time.Second || d.Took != 500*time.Millisecond {
			t.Errorf("the call under way is %v", d)
		}
		if d := got[2][0]; at(d.Began) != 0 || d.Took != time.Second {
			t.Errorf("the first call was %v", d)
		}
		time.Sleep(time.Second)
	})
}

// TestMomentsCanBeReadWhileEverythingHappens is for the race detector, and checks
// that stages come in their order whenever one looks.
func TestMomentsCanBeReadWhileEverythingHappens(t *testing.T) {
	s := newServer()
	i := New(s, &corev1.Pod{}, Options{})
	for n := range 3 {
		addNamed(t, i, fmt.Sprint(n), &recorder{}, cache.HandlerOptions{})
	}
	stop := run(i)
	ctx, cancel := context.WithCancel(t.Context())
	var readers sync.WaitGroup
	for range 2 {
		readers.Go(func() {
			for ctx.Err() == nil {
				release, err := i.Open()
				if err != nil {
					t.Error(err)
					return
				}
				for range 20 {
					page, err := i.Moments(t.Context(), inspect.MomentQuery{Limit: 200})
					if err != nil {
						t.Error(err)
					}
					for _, m := range page.Moments {
						checkOrder(t, m)
					}
				}
				release()
			}
		})
	}
	for n := range 3000 {
		s.Add(pod(fmt.Sprint(n)))
		s.Modify(pod(fmt.Sprint(n)))
	}
	cancel()
	readers.Wait()
	stop()
	s.Shutdown()
}

func checkOrder(t *testing.T, m inspect.Moment) {
	if m.Popped.Before(m.Enqueued) || m.Published.Before(m.Popped) || m.Seq == 0 || m.Key == "" {
		t.Errorf("moment %+v", m)
	}
	for _, d := range m.Deliveries {
		if !d.Pending && (d.Began.Before(m.Published) || d.Took < 0) {
			t.Errorf("published at %v, delivery %+v", m.Published, d)
		}
	}
}
