package reflector

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/features"
	featuretesting "k8s.io/client-go/features/testing"
	"k8s.io/client-go/tools/cache"
	"pgregory.net/rapid"

	v1 "k8s.io/api/core/v1"

	"github.com/informeter/informeter/engine/inspect"
	"github.com/informeter/informeter/engine/tap"
)

// bubble runs a reflector on a server that lists, until the test ends.
func bubble(t *testing.T, o Options, test func(t *testing.T, s *server, r *Reflector)) {
	synctest.Test(t, func(t *testing.T) {
		s := newServer(&trace{began: time.Now()})
		s.noStreaming = true
		r := New(s, &v1.Pod{}, &recorder{trace: s.trace}, o)
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			r.Run(ctx)
		}()
		synctest.Wait()
		test(t, s, r)
		cancel()
		<-ended
		if n := s.stopLeaked(); n > 0 {
			t.Errorf("%d watches were not stopped", n)
		}
	})
}

func TestRunsOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newServer(&trace{})
		r := New(s, &v1.Pod{}, &recorder{trace: s.trace}, Options{})
		ctx, cancel := context.WithCancel(t.Context())
		go r.Run(ctx)
		synctest.Wait()
		s.trace.take()
		r.Run(t.Context()) // returns at once, although its context goes on
		cancel()
		synctest.Wait()
		r.Run(t.Context())
		if lines := s.trace.take(); len(lines) > 0 {
			t.Errorf("a second Run made requests: %v", lines)
		}
		if v := r.Vitals(time.Now()); v.Phase != inspect.PhaseStopped {
			t.Errorf("phase after the stop = %v", v.Phase)
		}
	})
}

func TestAContextThatHasEndedMakesNoRequest(t *testing.T) {
	s := newServer(&trace{})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	New(s, &v1.Pod{}, &recorder{trace: s.trace}, Options{}).Run(ctx)
	if lines := s.trace.take(); len(lines) > 0 {
		t.Errorf("requests after the stop: %v", lines)
	}
}

func TestARelistAskedForBeforeTheStartIsOne(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newServer(&trace{})
		s.noStreaming = true
		r := New(s, &v1.Pod{}, &recorder{trace: s.trace}, Options{})
		r.Relist()
		ctx, cancel := context.WithCancel(t.Context())
		go r.Run(ctx)
		synctest.Wait()
		if diff := cmp.Diff([]string{`LIST rv="" limit=500`}, s.trace.take()); diff != "" {
			t.Errorf("-want +got:\n%s", diff)
		}
		cancel()
	})
}

// Whoever waits for Run may rely on the store being left alone after it.
func TestRunWaitsForAResyncUnderWay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newServer(&trace{})
		s.noStreaming = true
		s.lists <- listAnswer{list: podList("1")}
		s.watches <- watchAnswer{}
		release := make(chan struct{})
		store := &recorder{trace: s.trace, fail: func(call string) error {
			if call == "resync" {
				<-release
			}
			return nil
		}}
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			New(s, &v1.Pod{}, store, Options{ResyncPeriod: time.Second}).Run(ctx)
		}()
		time.Sleep(2 * time.Second)
		cancel()
		synctest.Wait()
		select {
		case <-ended:
			t.Error("Run returned while the store was resyncing")
		default:
		}
		close(release)
		<-ended
	})
}

func TestRemembersTheLast256Requests(t *testing.T) {
	bubble(t, Options{}, func(t *testing.T, s *server, r *Reflector) {
		s.lists <- listAnswer{list: podList("0")}
		for i := range 299 {
			s.watches <- watchAnswer{}
			synctest.Wait()
			w := s.current()
			w.send(watch.Event{Type: watch.Bookmark, Object: bookmark(fmt.Sprint(i), false)})
			w.close()
			synctest.Wait()
		}
		time.Sleep(3 * time.Second)
		requests := r.Requests()
		if len(requests) != keptRequests || r.RequestsLost() != 301-keptRequests {
			t.Fatalf("%d requests remembered, %d lost, want 256 and 45", len(requests), r.RequestsLost())
		}
		for i, q := range requests {
			if want := uint64(301 - i); q.ID != want {
				t.Fatalf("request at %d has ID %d, want %d", i, q.ID, want)
			}
		}
		if q := requests[0]; q.Outcome != inspect.OutcomeOpen || q.Lifetime != 3*time.Second || !q.Ended.IsZero() {
			t.Errorf("the open request = %+v, want three seconds of life so far", q)
		}
		if q := requests[1]; q.Returned != "298" || q.Bookmarks != 1 {
			t.Errorf("the one before = %+v, want what the last watch brought", q)
		}
		v := r.RequestVitals()
		if v.Lists != 1 || v.Watches != 300 || v.WatchLists != 0 {
			t.Errorf("counted %d lists, %d watches, %d watch-lists", v.Lists, v.Watches, v.WatchLists)
		}
		if diff := cmp.Diff(requests[:vitalRequests], v.Last); diff != "" {
			t.Errorf("newest requests in the vitals:\n%s", diff)
		}
	})
}

// TestARequestIsUnansweredUntilTheServerBeginsTo: lists and streams.
func TestARequestIsUnansweredUntilTheServerBeginsTo(t *testing.T) {
	bubble(t, Options{}, func(t *testing.T, s *server, r *Reflector) {
		newest := func() *inspect.Request {
			time.Sleep(time.Second)
			v := r.RequestVitals()
			return v.Unanswered()
		}
		if q := newest(); q == nil || q.Verb != inspect.VerbList || q.Lifetime != time.Second {
			t.Errorf("%+v, want the list without an answer", q)
		}
		s.lists <- listAnswer{list: podList("1")}
		if q := newest(); q == nil || q.Verb != inspect.VerbWatch {
			t.Errorf("%+v, want the watch without an answer", q)
		}
		s.watches <- watchAnswer{}
		if q := newest(); q != nil {
			t.Errorf("%+v after its answer", q)
		}
		s.current().close()
		s.watches <- watchAnswer{err: errors.New("no")}
		if q := r.Requests()[0]; q.Unanswered && !q.Ended.IsZero() {
			t.Errorf("%+v, which has ended", q)
		}
	})
}

func TestEveryEventOfABurstArrivesInOrder(t *testing.T) {
	const events = 10 * burst
	bubble(t, Options{}, func(t *testing.T, s *server, r *Reflector) {
		s.lists <- listAnswer{list: podList("0")}
		s.watches <- watchAnswer{play: func(w *scriptedWatch) {
			for i := range events {
				w.send(watch.Event{Type: watch.Modified, Object: pod(fmt.Sprintf("a@%d", i))})
			}
		}}
		synctest.Wait()
		n := 0
		for _, line := range s.trace.take() {
			if rest, ok := strings.CutPrefix(line, "  store: update a@"); ok {
				if rest != fmt.Sprint(n) {
					t.Fatalf("event %d is number %s", n, rest)
				}
				n++
			}
		}
		if n != events || r.Vitals(time.Now()).Updated != events {
			t.Errorf("%d events arrived, %d counted, want %d", n, r.Vitals(time.Now()).Updated, events)
		}
	})
}

// A stream that never pauses must not keep the reflector from seeing that it is
// to relist.
func TestAFloodCanBeInterrupted(t *testing.T) {
	const events = 1000 * burst
	bubble(t, Options{}, func(t *testing.T, s *server, r *Reflector) {
		s.lists <- listAnswer{list: podList("0")}
		w := &scriptedWatch{result: make(chan watch.Event, events), stopped: make(chan struct{})}
		for range events {
			w.result <- watch.Event{Type: watch.Modified, Object: pod("a@1")}
		}
		s.watches <- watchAnswer{watch: w}
		r.Relist()
		synctest.Wait()
		if v := r.Vitals(time.Now()); v.Phase != inspect.PhaseListing || v.Updated >= events {
			t.Errorf("%v after %d of %d events, want listing long before the last", v.Phase, v.Updated, events)
		}
	})
}

func TestWithoutTheFeatureGateItLists(t *testing.T) {
	featuretesting.SetFeatureDuringTest(t, features.WatchListClient, false)
	synctest.Test(t, func(t *testing.T) {
		s := newServer(&trace{})
		ctx, cancel := context.WithCancel(t.Context())
		go New(s, &v1.Pod{}, &recorder{trace: s.trace}, Options{}).Run(ctx)
		synctest.Wait()
		if diff := cmp.Diff([]string{`LIST rv="0" limit=500`}, s.trace.take()); diff != "" {
			t.Errorf("-want +got:\n%s", diff)
		}
		cancel()
	})
}

func TestEveryChangeIsAnnounced(t *testing.T) {
	g := &tap.Generation{}
	bubble(t, Options{Generation: g, ResyncPeriod: time.Minute}, func(t *testing.T, s *server, _ *Reflector) {
		seen := g.Current()
		announced := func(what string) {
			t.Helper()
			synctest.Wait()
			if g.Current() == seen {
				t.Errorf("nobody was told of %s", what)
			}
			seen = g.Current()
		}
		s.lists <- listAnswer{err: failure("500")}
		announced("a list that failed")
		time.Sleep(2 * time.Second)
		announced("the next attempt")
		s.lists <- listAnswer{list: podList("1")}
		announced("a list")
		s.watches <- watchAnswer{}
		synctest.Wait()
		s.current().send(watch.Event{Type: watch.Added, Object: pod("a@2")})
		announced("an event")
		s.current().send(watch.Event{Type: watch.Bookmark, Object: bookmark("3", false)})
		announced("a bookmark")
		s.current().send(watch.Event{Type: watch.Added, Object: &v1.Secret{}})
		announced("a skipped event")
		time.Sleep(time.Minute)
		announced("a resync")
		s.current().send(errorEvent("410"))
		announced("the end of the watch")
	})
}

func TestShouldResyncDecidesEachTime(t *testing.T) {
	answers := []bool{true, false, false, true}
	asked := 0
	o := Options{ResyncPeriod: time.Second, ShouldResync: func() bool { asked++; return answers[(asked-1)%len(answers)] }}
	bubble(t, o, func(t *testing.T, s *server, r *Reflector) {
		s.lists <- listAnswer{list: podList("1")}
		s.watches <- watchAnswer{}
		synctest.Wait()
		time.Sleep(4500 * time.Millisecond)
		next, last, rounds := r.Resync()
		if asked != 4 || rounds != 2 || time.Since(last) != 500*time.Millisecond || time.Until(next) != 500*time.Millisecond {
			t.Errorf("asked %d times, %d rounds, last %v ago, next in %v", asked, rounds, time.Since(last), time.Until(next))
		}
	})
}

// Readers come at any time; the race detector is the judge.
func TestCanBeReadWhileItWorks(t *testing.T) {
	bubble(t, Options{ResyncPeriod: time.Second, Generation: &tap.Generation{}}, func(t *testing.T, s *server, r *Reflector) {
		ctx, cancel := context.WithCancel(t.Context())
		var readers sync.WaitGroup
		for range 3 {
			readers.Go(func() {
				for ctx.Err() == nil {
					r.Vitals(time.Now())
					r.Requests()
					r.RequestVitals()
					r.RequestsLost()
					r.Resync()
					r.LastSyncResourceVersion()
					time.Sleep(time.Second)
				}
			})
		}
		for i := range 20 {
			s.lists <- listAnswer{list: podList(fmt.Sprint(i), "a@1")}
			s.watches <- watchAnswer{}
			synctest.Wait()
			s.current().send(watch.Event{Type: watch.Modified, Object: pod("a@2")})
			s.current().send(errorEvent("410"))
			if i%3 == 0 {
				r.Relist()
			}
			time.Sleep(time.Minute)
		}
		cancel()
		readers.Wait()
	})
}

func TestEventsCostNoAllocation(t *testing.T) {
	s := newServer(&trace{})
	r := New(s, &v1.Pod{}, &sink{}, Options{Generation: &tap.Generation{}})
	r.openRequest(inspect.Request{Verb: inspect.VerbWatch})
	stream := &stream{ordered: true}
	event := watch.Event{Type: watch.Modified, Object: pod("a@1")}
	if n := testing.AllocsPerRun(1000, func() { r.deliver(t.Context(), stream, event) }); n > 0 {
		t.Errorf("an event allocates %v times", n)
	}
}

func TestWatchTimeoutsAreWithinTheirRange(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		asked := time.Duration(rapid.Int64Range(0, int64(2*time.Hour)).Draw(rt, "asked"))
		r := New(newServer(&trace{}), nil, &sink{}, Options{MinWatchTimeout: asked})
		shortest := max(asked, 5*time.Minute)
		got := time.Duration(watchTimeout(r.shortestWatch)) * time.Second
		if got < shortest.Truncate(time.Second) || got > 2*shortest {
			rt.Fatalf("a shortest timeout of %v gives %v", asked, got)
		}
	})
}

func TestSaysWhatItExpects(t *testing.T) {
	widget := &unstructured.Unstructured{}
	widget.SetGroupVersionKind(schema.GroupVersionKind{Group: "example.com", Version: "v1", Kind: "Widget"})
	for _, c := range []struct {
		example any
		want    string
	}{
		{nil, "<unspecified>"},
		{&v1.Pod{}, "*v1.Pod"},
		{&unstructured.Unstructured{}, "*unstructured.Unstructured"},
		{widget, "example.com/v1, Kind=Widget"},
		{&metav1.PartialObjectMetadata{}, "*v1.PartialObjectMetadata"},
	} {
		r := New(newServer(&trace{}), c.example, &sink{}, Options{})
		if r.typeDescription != c.want || r.name != c.want {
			t.Errorf("%T: type %q, name %q, want %q", c.example, r.typeDescription, r.name, c.want)
		}
	}
}

func TestLetsInOnlyWhatItExpects(t *testing.T) {
	object := func(version, kind string) *unstructured.Unstructured {
		return &unstructured.Unstructured{Object: map[string]any{"apiVersion": version, "kind": kind}}
	}
	metadata := &metav1.PartialObjectMetadata{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Pod"}}
	for _, c := range []struct {
		name    string
		example any
		object  runtime.Object
		in      bool
	}{
		{"its type", &v1.Pod{}, &v1.Pod{}, true},
		{"another type", &v1.Pod{}, &v1.Secret{}, false},
		{"its kind", object("e.com/v1", "W"), object("e.com/v1", "W"), true},
		{"another kind", object("e.com/v1", "W"), object("e.com/v1", "V"), false},
		{"another version", object("e.com/v1", "W"), object("e.com/v2", "W"), false},
		{"any kind", &unstructured.Unstructured{}, object("e.com/v1", "W"), true},
		{"metadata of any kind", metadata, &metav1.PartialObjectMetadata{}, true},
		{"anything", nil, &v1.Secret{}, true},
		{"without metadata", nil, &metav1.Status{}, false},
		{"a table", nil, object("meta.k8s.io/v1", "Table"), false},
		{"an old table", nil, object("meta.k8s.io/v1beta1", "Table"), false},
		{"somebody's table", nil, object("furniture.com/v1", "Table"), true},
	} {
		if _, err := expectationOf(c.example).check(c.object); (err == nil) != c.in {
			t.Errorf("%s: %v, want in = %v", c.name, err, c.in)
		}
	}
}

var _ cache.ListerWatcherWithContext = (*server)(nil)
