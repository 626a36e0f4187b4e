package engine

import (
	"errors"
	"fmt"
	"maps"
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

// toldOf writes a biography's events in short.
func toldOf(b inspect.Biography) string {
	var words []string
	for _, e := range b.Events {
		word := e.Type + "@" + e.ResourceVersion + "/" + e.UID
		if e.Tombstone {
			word = "[" + word + "]"
		}
		if e.Skipped != "" {
			word += " skipped: " + e.Skipped
		}
		words = append(words, word)
	}
	return strings.Join(words, ", ")
}

func TestABiographyAndItsIdentityChange(t *testing.T) {
	for split, want := range map[bool]string{
		false: "added@5/U1, updated@11/U1, updated@15/U2",
		true:  "added@5/U1, updated@11/U1, [deleted@11/U1], added@15/U2",
	} {
		s := &script{lists: []string{"10: a@5/U1", "20: a@15/U2"}}
		var release func()
		onScript(t, s, Options{Hardening: Hardening{SplitIdentity: split}}, func(i *Informer) {
			release = must[func()](t)(i.Open())
		}, func(t *testing.T, i *Informer) {
			s.send("~a@11/U1", "E410")
			time.Sleep(time.Minute)
			synctest.Wait()
			for _, r := range []inspect.BiographyRequest{{Key: "ns/a"}, {UID: "U1"}, {UID: "U2"}} {
				if got := toldOf(must[inspect.Biography](t)(i.Biography(t.Context(), r))); got != want {
					t.Errorf("split %v, %+v: %s, want %s", split, r, got, want)
				}
			}
			changes := snapshot(t, i).Identities
			if len(changes) != 1 || changes[0].From != "U1" || changes[0].To != "U2" || changes[0].Split != split {
				t.Errorf("split %v: identities = %+v", split, changes)
			}
			release()
		})
	}
}

func TestABiographySaysForHowManyDeltasAnEventStands(t *testing.T) {
	s := &script{lists: []string{"10: a@11"}}
	var release func()
	onScript(t, s, Options{Hardening: Hardening{CompressUpdates: true}}, func(i *Informer) {
		release = must[func()](t)(i.Open())
	}, func(t *testing.T, i *Informer) {
		if err := i.Pause(t.Context()); err != nil {
			t.Fatal(err)
		}
		for n := range 50 {
			s.send(fmt.Sprintf("~a@%d", 20+n))
		}
		synctest.Wait()
		if err := i.Resume(t.Context()); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		b := must[inspect.Biography](t)(i.Biography(t.Context(), inspect.BiographyRequest{Key: "ns/a"}))
		last := b.Events[len(b.Events)-1]
		if len(b.Events) != 2 || last.ResourceVersion != "69" || last.Merged != 49 || last.MergedWhy != inspect.MergedCompressed {
			t.Errorf("events = %+v, want the last of 50 to stand for 49 more", b.Events)
		}
		release()
	})
}

func TestABiographyHasADeletionThatCameTooLate(t *testing.T) {
	s := &script{lists: []string{"10: a@5/U1", "20:"}}
	var release func()
	onScript(t, s, Options{}, func(i *Informer) {
		release = must[func()](t)(i.Open())
	}, func(t *testing.T, i *Informer) {
		s.send("E410")
		time.Sleep(time.Minute)
		synctest.Wait()
		s.send("-a@12/U1")
		synctest.Wait()
		b := must[inspect.Biography](t)(i.Biography(t.Context(), inspect.BiographyRequest{Key: "ns/a"}))
		if got, want := toldOf(b), "added@5/U1, [deleted@5/U1], @12/U1 skipped: it was deleted already"; got != want {
			t.Errorf("biography: %s, want %s", got, want)
		}
		release()
	})
}

func TestABiographySaysWhatASlowHandlerWasNotCalledWith(t *testing.T) {
	s := &script{lists: []string{"10: a@11"}}
	var release func()
	onScript(t, s, Options{Hardening: Hardening{ConflateBacklog: 3}}, func(i *Informer) {
		addNamed(t, i, "slow", slow{time.Second}, cache.HandlerOptions{})
		addNamed(t, i, "quick", slow{}, cache.HandlerOptions{})
		release = must[func()](t)(i.Open())
	}, func(t *testing.T, i *Informer) {
		for n := range 20 {
			s.send(fmt.Sprintf("~a@%d", 20+n))
			synctest.Wait()
		}
		time.Sleep(time.Minute)
		b := must[inspect.Biography](t)(i.Biography(t.Context(), inspect.BiographyRequest{Key: "ns/a"}))
		told := map[string]int{}
		for _, e := range b.Events {
			if e.Cause != inspect.CauseWatch {
				continue // the journal may have come to it first: then nobody knows its number
			}
			for _, d := range e.Deliveries {
				told[fmt.Sprintf("%s merged=%v", d.Handler, d.Merged)]++
			}
		}
		v := vitalsOf(t, i, "slow")
		want := map[string]int{"quick merged=false": 20, "slow merged=false": int(v.Delivered) - 1, "slow merged=true": int(v.Conflated)}
		if diff := cmp.Diff(want, told); diff != "" || v.Conflated == 0 {
			t.Errorf("deliveries (-want +got):\n%s", diff)
		}
		release()
	})
}

func TestNobodyKnowsABiographyWhileNobodyLooks(t *testing.T) {
	inBubble(t, Options{}, func(t *testing.T, s server, i *Informer) {
		if _, err := i.Biography(t.Context(), inspect.BiographyRequest{Key: "ns/a"}); !errors.Is(err, inspect.ErrUnsupported) {
			t.Errorf("biography: %v", err)
		}
		if s := snapshot(t, i); s.Journal != nil || s.Hot != nil {
			t.Errorf("snapshot = %+v, %+v", s.Journal, s.Hot)
		}
	})
}

func TestASnapshotSaysWhatTheJournalKeeps(t *testing.T) {
	inBubble(t, Options{JournalBound: 1 << 20}, func(t *testing.T, s server, i *Informer) {
		release := must[func()](t)(i.Open())
		stop := filled(s, i)
		for range 3 {
			s.Modify(pod("p1", "app", "web"))
			synctest.Wait()
		}
		got := snapshot(t, i)
		if got.Journal == nil || got.Journal.Keys != 10 || got.Journal.Events != 4 || got.Journal.Versions != 4 || got.Journal.Bound != 1<<20 {
			t.Errorf("journal = %+v", got.Journal)
		}
		if len(got.Hot) == 0 || got.Hot[0].Key != "ns/p1" || got.Hot[0].Updates != 3 {
			t.Errorf("hot = %+v", got.Hot)
		}
		release()
		stop()
	})
}

func TestWrongFiltersSayWhatIsWrong(t *testing.T) {
	inBubble(t, Options{Indexers: cache.Indexers{"app": byApp}}, func(t *testing.T, s server, i *Informer) {
		stop := filled(s, i)
		check := func(what string, err error) {
			t.Helper()
			var wrong *inspect.FilterError
			if !errors.As(err, &wrong) || wrong.Reason == "" {
				t.Errorf("%s: %v, want a FilterError", what, err)
			}
		}
		for range 2 {
			check("store", second(i.Store(t.Context(), inspect.Query{Filter: "-l a=("})))
			check("store", second(i.Store(t.Context(), inspect.Query{Filter: "/(/"})))
			check("bucket", second(i.Bucket(t.Context(), "app", "web", inspect.Query{Filter: "-l a=("})))
			check("bucket", second(i.Bucket(t.Context(), "app", "web", inspect.Query{Filter: "/(/"})))
			check("buckets", second(i.Buckets(t.Context(), "app", inspect.BucketQuery{Filter: "-l app"})))
			check("buckets", second(i.Buckets(t.Context(), "app", inspect.BucketQuery{Filter: "/(/"})))
			check("queue", second(i.Queue(t.Context(), inspect.QueueQuery{Filter: "-l app"})))
			check("queue", second(i.Queue(t.Context(), inspect.QueueQuery{Filter: "/(/"})))
			release := must[func()](t)(i.Open())
			defer release()
			synctest.Wait()
		}
		stop()
	})
}

func TestLabelsSelectRowsOfStoreAndBucket(t *testing.T) {
	inBubble(t, Options{Indexers: cache.Indexers{"ns": cache.MetaNamespaceIndexFunc}}, func(t *testing.T, s server, i *Informer) {
		stop := filled(s, i)
		for range 2 {
			for name, answer := range map[string]func(q inspect.Query) (inspect.Page, error){
				"store":  func(q inspect.Query) (inspect.Page, error) { return i.Store(t.Context(), q) },
				"bucket": func(q inspect.Query) (inspect.Page, error) { return i.Bucket(t.Context(), "ns", "ns", q) },
			} {
				for filter, want := range map[string]string{
					"-l app=web":           "p0 p2 p4 p6 p8",
					"!-l app in (web,foo)": "p1 p3 p5 p7 p9",
					"-l nothing":           "",
				} {
					page := must[inspect.Page](t)(answer(inspect.Query{Filter: filter, Limit: 20}))
					var got []string
					for _, r := range page.Rows {
						got = append(got, strings.TrimPrefix(r.Key, "ns/"))
					}
					if strings.Join(got, " ") != want || page.Total != 10 || page.Matched != len(got) || page.Scanned != 10 {
						t.Errorf("%s, %s: %v, %+v", name, filter, got, page)
					}
				}
			}
			release := must[func()](t)(i.Open())
			defer release()
			synctest.Wait()
		}
		stop()
	})
}

func TestABiographyTellsOfWhatWasSetAside(t *testing.T) {
	s := &script{lists: []string{"10: a@5/U1"}}
	var release func()
	onScript(t, s, Options{}, func(i *Informer) {
		release = must[func()](t)(i.Open())
		if err := i.SetTransform(func(obj any) (any, error) {
			if obj.(*corev1.Pod).ResourceVersion == "12" || obj.(*corev1.Pod).Name == "bad" {
				return nil, errors.New("cannot cope")
			}
			return obj, nil
		}); err != nil {
			t.Fatal(err)
		}
	}, func(t *testing.T, i *Informer) {
		s.send("~a@11/U1", "~a@12/U1", "~a@13/U1", "+bad@14/U2")
		synctest.Wait()
		for key, want := range map[string]string{
			"ns/a":   "added@5/U1, @12/U1 skipped: transform: cannot cope, updated@11/U1, updated@13/U1",
			"ns/bad": "@14/U2 skipped: transform: cannot cope",
		} {
			b := must[inspect.Biography](t)(i.Biography(t.Context(), inspect.BiographyRequest{Key: key}))
			got := toldOf(b)
			if sortedWords(got) != sortedWords(want) || b.Exists != (key == "ns/a") {
				t.Errorf("%s: %s, want %s", key, got, want)
			}
		}
		release()
	})
}

// sortedWords puts the events in an order: the reflector sets objects aside while
// those before them are still in the queue.
func sortedWords(text string) string {
	words := strings.Split(text, ", ")
	slices.Sort(words)
	return strings.Join(words, ", ")
}

func TestABiographyRemembersItsDeliveries(t *testing.T) {
	s := &script{lists: []string{"10: a@5/U1"}}
	var release func()
	onScript(t, s, Options{}, func(i *Informer) {
		release = must[func()](t)(i.Open())
		must[cache.ResourceEventHandlerRegistration](t)(i.AddNamedEventHandler("slow", &sleeper{each: time.Second}, cache.HandlerOptions{}))
	}, func(t *testing.T, i *Informer) {
		time.Sleep(5 * time.Second)
		s.send("~a@11/U1", "~a@12/U1")
		time.Sleep(1500 * time.Millisecond)
		last := func() inspect.KeyEvent {
			b := must[inspect.Biography](t)(i.Biography(t.Context(), inspect.BiographyRequest{Key: "ns/a"}))
			return b.Events[len(b.Events)-1]
		}
		first := func() inspect.KeyEvent {
			b := must[inspect.Biography](t)(i.Biography(t.Context(), inspect.BiographyRequest{Key: "ns/a"}))
			return b.Events[len(b.Events)-2]
		}
		if d := first().Deliveries; len(d) != 1 || d[0].Handler != "slow" || d[0].Took != time.Second {
			t.Errorf("deliveries of what was delivered = %+v", d)
		}
		time.Sleep(2 * time.Second)
		if d := last().Deliveries; len(d) != 1 || d[0].Pending || d[0].Took != time.Second {
			t.Errorf("deliveries of the last = %+v", d)
		}
		// The listener forgets; what was asked for stays.
		i.processor.RecordDeliveries(false)
		if d := first().Deliveries; len(d) != 1 || d[0].Took != time.Second {
			t.Errorf("deliveries once forgotten = %+v", d)
		}
		if d := last().Deliveries; len(d) != 1 || d[0].Took != time.Second || d[0].Calling {
			t.Errorf("a call that was looked at while it was under way is remembered as %+v", d)
		}
		release()
	})
}

func TestABiographyTellsWhoGotTheFirstList(t *testing.T) {
	s := &script{lists: []string{"10: a@5/U1 b@6/U2 c@7/U3"}}
	var release func()
	onScript(t, s, Options{Resync: time.Minute}, func(i *Informer) {
		release = must[func()](t)(i.Open())
		if err := i.Pause(t.Context()); err != nil { // until the journal is there
			t.Fatal(err)
		}
		must[cache.ResourceEventHandlerRegistration](t)(i.AddNamedEventHandler("slow", &sleeper{each: 10 * time.Second}, cache.HandlerOptions{}))
	}, func(t *testing.T, i *Informer) {
		if err := i.Resume(t.Context()); err != nil {
			t.Fatal(err)
		}
		biography := func(key string) []inspect.KeyEvent {
			return must[inspect.Biography](t)(i.Biography(t.Context(), inspect.BiographyRequest{Key: key})).Events
		}
		time.Sleep(15 * time.Second)
		for key, want := range map[string]inspect.Delivery{
			"ns/a": {Handler: "slow", Took: 10 * time.Second},
			"ns/b": {Handler: "slow", Took: 5 * time.Second, Calling: true},
			"ns/c": {Handler: "slow", Pending: true},
		} {
			events := biography(key)
			if len(events) != 1 || len(events[0].Deliveries) != 1 {
				t.Fatalf("%s: events %+v", key, events)
			}
			got := events[0].Deliveries[0]
			if !want.Pending && got.Began.IsZero() {
				t.Errorf("%s: began at no time", key)
			}
			if got.Began = want.Began; got != want {
				t.Errorf("%s: %+v, want %+v", key, got, want)
			}
		}
		time.Sleep(time.Minute)
		events := biography("ns/a")
		if last := events[len(events)-1]; last.Cause != inspect.CauseResync || len(last.Deliveries) != 1 || last.Deliveries[0].Took != 10*time.Second {
			t.Errorf("of the resync it tells %+v", last)
		}
		// The next round is another delivery, not the one that was asked for.
		time.Sleep(time.Minute)
		events = biography("ns/a")
		if last := events[len(events)-1]; last.Times != 2 || len(last.Deliveries) != 1 || last.Deliveries[0].Began.Before(last.At) {
			t.Errorf("of the second resync it tells %+v", last)
		}
		// The listeners forget; what was asked for stays.
		i.processor.RecordDeliveries(false)
		if d := biography("ns/a")[0].Deliveries; len(d) != 1 || d[0].Took != 10*time.Second {
			t.Errorf("deliveries once forgotten = %+v", d)
		}
		release()
	})
}

func TestABiographyKnowsWhoHasPassedWhatWasNotRecorded(t *testing.T) {
	s := &script{lists: []string{"10: a@5/U1"}}
	var release func()
	onScript(t, s, Options{}, func(i *Informer) {
		release = must[func()](t)(i.Open())
		if err := i.Pause(t.Context()); err != nil { // until the journal is there
			t.Fatal(err)
		}
		for name, each := range map[string]time.Duration{"quick": 0, "slow": time.Hour} {
			must[cache.ResourceEventHandlerRegistration](t)(i.AddNamedEventHandler(name, &sleeper{each: each}, cache.HandlerOptions{}))
		}
	}, func(t *testing.T, i *Informer) {
		if err := i.Resume(t.Context()); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Second)
		s.send("~a@11/U1")
		time.Sleep(time.Second)
		must[cache.ResourceEventHandlerRegistration](t)(i.AddNamedEventHandler("late", &sleeper{}, cache.HandlerOptions{}))
		synctest.Wait()
		// Too much has happened since: what was recorded is overwritten.
		i.endMoments()
		told := map[string]bool{}
		for _, d := range i.processor.DeliveriesAt(time.Now().Add(-time.Second)) {
			told[d.Handler] = !d.Pending
		}
		// slow stands at what came a second earlier.
		if want := map[string]bool{"quick": true, "slow": false}; !maps.Equal(told, want) {
			t.Errorf("told: %v, want %v", told, want)
		}
		first := must[inspect.Biography](t)(i.Biography(t.Context(), inspect.BiographyRequest{Key: "ns/a"})).Events[0]
		if d := first.Deliveries; len(d) != 1 || d[0].Handler != "quick" || d[0].Pending {
			t.Errorf("of the first list it tells %+v, want quick only: slow stands at its very moment", d)
		}
		release()
	})
}
