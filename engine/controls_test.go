package engine

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/tools/cache"

	"github.com/informeter/informeter/engine/inspect"
)

// listener returns the vitals of the handler of that name.
func listener(t *testing.T, i *Informer, name string) (inspect.ListenerVitals, bool) {
	t.Helper()
	for _, l := range snapshot(t, i).Listeners {
		if l.Name == name {
			return l, true
		}
	}
	return inspect.ListenerVitals{}, false
}

func TestALabHandlerTakesItsTime(t *testing.T) {
	inBubble(t, Options{}, func(t *testing.T, s server, i *Informer) {
		for _, name := range []string{"a", "b", "c"} {
			s.Add(pod(name))
		}
		defer run(i)()
		synctest.Wait()
		if err := i.AddHandler(t.Context(), inspect.HandlerSpec{Name: "slow", Delay: time.Second}); err != nil {
			t.Fatal(err)
		}
		for delivered := range uint64(3) {
			time.Sleep(999 * time.Millisecond)
			synctest.Wait()
			got, _ := listener(t, i, "slow")
			if !got.Lab || got.Delay != time.Second || got.Delivered != delivered || got.Pending != 3-delivered {
				t.Fatalf("before call %d ends: %+v", delivered, got)
			}
			time.Sleep(time.Millisecond)
			synctest.Wait()
		}
		if got, _ := listener(t, i, "slow"); got.Delivered != 3 || got.Time.Max != time.Second || !got.Synced {
			t.Errorf("after three seconds: %+v, want three calls of a second", got)
		}
	})
}

func TestARemovedLabHandlerStopsAtOnce(t *testing.T) {
	inBubble(t, Options{}, func(t *testing.T, s server, i *Informer) {
		s.Add(pod("a"))
		s.Add(pod("b"))
		defer run(i)()
		synctest.Wait()
		if err := i.AddHandler(t.Context(), inspect.HandlerSpec{Name: "slow", Delay: time.Hour}); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		if got, _ := listener(t, i, "slow"); got.InHandler == 0 {
			t.Fatalf("%+v, want a call under way", got)
		}
		if err := i.RemoveHandler(t.Context(), "slow"); err != nil {
			t.Fatal(err)
		}
		synctest.Wait() // no time passes
		if got, there := listener(t, i, "slow"); there {
			t.Errorf("still there: %+v", got)
		}
		if err := i.RemoveHandler(t.Context(), "slow"); !errors.Is(err, inspect.ErrNotFound) {
			t.Errorf("removed again: %v, want ErrNotFound", err)
		}
	})
}

func TestAStoppedInformerDoesNotWaitForItsLabHandlers(t *testing.T) {
	inBubble(t, Options{}, func(t *testing.T, s server, i *Informer) {
		s.Add(pod("a"))
		stop := run(i)
		synctest.Wait()
		if err := i.AddHandler(t.Context(), inspect.HandlerSpec{Name: "slow", Delay: time.Hour}); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		began := time.Now()
		stop()
		if took := time.Since(began); took > 0 {
			t.Errorf("the stop took %v", took)
		}
		for what, err := range map[string]error{
			"AddHandler":    i.AddHandler(t.Context(), inspect.HandlerSpec{Name: "late"}),
			"RemoveHandler": i.RemoveHandler(t.Context(), "slow"),
			"RelistNow":     i.RelistNow(t.Context()),
		} {
			if !errors.Is(err, inspect.ErrStopped) {
				t.Errorf("%s after the stop: %v, want ErrStopped", what, err)
			}
		}
	})
}

func TestLabHandlersOfOneNameAreNumbered(t *testing.T) {
	inBubble(t, Options{}, func(t *testing.T, s server, i *Informer) {
		defer run(i)()
		synctest.Wait()
		names := func() string {
			var names []string
			for _, l := range snapshot(t, i).Listeners {
				names = append(names, l.Name)
			}
			return strings.Join(names, " ")
		}
		for _, name := range []string{"slow", "slow", ""} {
			if err := i.AddHandler(t.Context(), inspect.HandlerSpec{Name: name}); err != nil {
				t.Fatal(err)
			}
		}
		if got, want := names(), "slow slow#2 lab"; got != want {
			t.Errorf("handlers %s, want %s", got, want)
		}
		if err := i.RemoveHandler(t.Context(), "slow"); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		if err := i.AddHandler(t.Context(), inspect.HandlerSpec{Name: "slow"}); err != nil {
			t.Fatal(err)
		}
		if got, want := names(), "slow#2 lab slow"; got != want {
			t.Errorf("handlers %s, want %s", got, want)
		}
	})
}

func TestOnlyLabHandlersCanBeRemoved(t *testing.T) {
	inBubble(t, Options{}, func(t *testing.T, s server, i *Informer) {
		defer run(i)()
		must[cache.ResourceEventHandlerRegistration](t)(i.AddNamedEventHandler("mine", &recorder{}, cache.HandlerOptions{}))
		release := must[func()](t)(i.Open())
		defer release()
		synctest.Wait()
		for name, want := range map[string]error{"mine": inspect.ErrReadOnly, explorerName: inspect.ErrReadOnly, "nobody": inspect.ErrNotFound} {
			if err := i.RemoveHandler(t.Context(), name); !errors.Is(err, want) {
				t.Errorf("remove %s: %v, want %v", name, err, want)
			}
		}
		if got := len(snapshot(t, i).Listeners); got != 2 {
			t.Errorf("%d handlers left, want 2", got)
		}
	})
}

func TestALabHandlerIsPlayedTheCacheBack(t *testing.T) {
	inBubble(t, Options{Resync: time.Minute}, func(t *testing.T, s server, i *Informer) {
		s.Add(pod("a"))
		defer run(i)()
		synctest.Wait()
		for name, resync := range map[string]time.Duration{"asks": time.Minute, "does not": 0} {
			if err := i.AddHandler(t.Context(), inspect.HandlerSpec{Name: name, Resync: resync}); err != nil {
				t.Fatal(err)
			}
		}
		time.Sleep(2*time.Minute + time.Second)
		synctest.Wait()
		for name, want := range map[string]uint64{"asks": 2, "does not": 0} {
			if got, _ := listener(t, i, name); got.Causes.Resync != want {
				t.Errorf("the handler that %s was resynced %d times, want %d", name, got.Causes.Resync, want)
			}
		}
	})
}

func TestHandlersThatMakeNoSenseAreRefused(t *testing.T) {
	inBubble(t, Options{}, func(t *testing.T, s server, i *Informer) {
		for _, spec := range []inspect.HandlerSpec{{Name: "x", Delay: -1}, {Name: "x", Resync: -1}} {
			if err := i.AddHandler(t.Context(), spec); err == nil || !strings.Contains(err.Error(), "negative") {
				t.Errorf("%+v: %v, want an error", spec, err)
			}
		}
		if got := len(snapshot(t, i).Listeners); got != 0 {
			t.Errorf("%d handlers, want none", got)
		}
	})
}

// TestWhatIsSleptTooLongIsMadeUpFor: a real clock, whose timers may be ten times
// too slow for a delay of 50 µs.
func TestWhatIsSleptTooLongIsMadeUpFor(t *testing.T) {
	h := &labHandler{delay: 50 * time.Microsecond}
	h.OnQuit(nil)
	owed := time.Duration(0)
	for range 1000 {
		before := h.overslept
		began := time.Now()
		h.OnAdd(nil, false)
		switch took := time.Since(began); {
		case before >= h.delay && h.overslept != before-h.delay:
			t.Fatalf("%v were owed and the call took %v: now %v", before, took, h.overslept)
		case h.overslept < 0 || h.overslept > maxOverslept:
			t.Fatalf("overslept %v, want it within bounds", h.overslept)
		}
		owed = max(owed, h.overslept)
	}
	if owed == 0 {
		t.Error("no call ever took longer than asked: the test has seen nothing")
	}
}

func TestARelistIsOurOwnDoing(t *testing.T) {
	inBubble(t, Options{}, func(t *testing.T, s server, i *Informer) {
		s.Add(pod("a"))
		if err := i.RelistNow(t.Context()); err == nil {
			t.Error("a relist before the start gave no error")
		}
		r := &recorder{}
		must[cache.ResourceEventHandlerRegistration](t)(i.AddEventHandler(r))
		defer run(i)()
		synctest.Wait()
		r.all()
		s.DeleteDropWatch(pod("a")) // nobody is told
		if err := i.RelistNow(t.Context()); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Second) // watches are spaced
		synctest.Wait()
		got := snapshot(t, i)
		if v := got.Reflector; v.Relists != 1 || v.Failures != 0 || v.Error != "" || v.Phase != inspect.PhaseWatching {
			t.Errorf("reflector %+v, want one relist and no failure", v)
		}
		var trace []string
		for _, q := range must[[]inspect.Request](t)(i.Requests(t.Context())) {
			trace = append(trace, strings.Join([]string{string(q.Verb), string(q.Outcome), q.Next}, " "))
		}
		slices.Reverse(trace)
		want := []string{"LIST ok watch", "WATCH stopped relist", "LIST ok watch", "WATCH open "}
		if !slices.Equal(trace, want) {
			t.Errorf("requests %q, want %q", trace, want)
		}
		if told := r.all(); !slices.Equal(told, []string{"delete [a@1]"}) {
			t.Errorf("told %q, want the deletion that nobody saw", told)
		}
	})
}

func TestARelistEndsAWait(t *testing.T) {
	s := &script{lists: []string{"E403", "5: a@5"}}
	onScript(t, s, Options{}, nil, func(t *testing.T, i *Informer) {
		if got := snapshot(t, i).Reflector; got.Phase != inspect.PhaseBackingOff {
			t.Fatalf("%v, want a wait", got.Phase)
		}
		if err := i.RelistNow(t.Context()); err != nil {
			t.Fatal(err)
		}
		synctest.Wait() // no time passes
		if got := snapshot(t, i); !got.Informer.Synced {
			t.Errorf("not synced: %+v", got.Reflector)
		}
	})
}

// nodes is a compiler that knows one expression.
type nodes struct{}

func (nodes) IndexFunc(text string) (cache.IndexFunc, error) {
	if text != "node" {
		return nil, errors.New("column 1: write node")
	}
	return func(obj any) ([]string, error) {
		node := obj.(*corev1.Pod).Spec.NodeName
		if node == "" {
			return nil, errors.New("it has no node")
		}
		return []string{node}, nil
	}, nil
}

func (nodes) Predicate(string) (func(any, any) (bool, error), error) { return nil, errors.New("none") }

func on(node string, p *corev1.Pod) *corev1.Pod {
	p.Spec.NodeName = node
	return p
}

func TestAnIndexIsAddedToARunningInformer(t *testing.T) {
	for _, strict := range []bool{false, true} {
		inBubble(t, Options{Compiler: nodes{}, Strict: strict}, func(t *testing.T, s server, i *Informer) {
			s.Add(on("n1", pod("a")))
			s.Add(pod("b")) // the expression fails on it
			defer run(i)()
			synctest.Wait()
			if err := i.AddIndex(t.Context(), inspect.IndexSpec{Name: "node", Expr: "node"}); err != nil {
				t.Fatal(err)
			}
			s.Add(on("n1", pod("c")))
			synctest.Wait()
			page := must[inspect.Page](t)(i.Bucket(t.Context(), "node", "n1", inspect.Query{Limit: 10}))
			if page.Total != 2 {
				t.Errorf("%d objects on n1, want 2", page.Total)
			}
			got := must[[]inspect.IndexVitals](t)(i.Indices(t.Context()))[0]
			if got.Expr != "node" || got.Errors != 1 || got.LastError != "it has no node" || got.LastErrorKey != "ns/b" || got.Time.Count != 3 {
				t.Errorf("vitals %+v", got)
			}
			check := must[inspect.IndexCheck](t)(i.VerifyIndex(t.Context(), "node"))
			if check.Objects != 3 || check.Wrong != 0 || check.Failed != 1 || check.FailedKey != "ns/b" || check.FailedError != "it has no node" {
				t.Errorf("check %+v", check)
			}
		})
	}
}

func TestIndicesThatMakeNoSenseAreRefused(t *testing.T) {
	inBubble(t, Options{Compiler: nodes{}}, func(t *testing.T, s server, i *Informer) {
		stop := run(i)
		synctest.Wait()
		add := func(name, text string) error {
			return i.AddIndex(t.Context(), inspect.IndexSpec{Name: name, Expr: text})
		}
		if err := add("node", "node"); err != nil {
			t.Fatal(err)
		}
		for _, c := range []struct{ name, text, want string }{
			{"node", "node", "add index node: there is an index of that name; choose another than node"},
			{"", "node", "add index: it has no name; give it one"},
			{"phase", "phase", "add index phase: column 1: write node"},
		} {
			if err := add(c.name, c.text); err == nil || err.Error() != c.want {
				t.Errorf("%q=%q: %v, want %s", c.name, c.text, err, c.want)
			}
		}
		stop()
		if err := add("late", "node"); !errors.Is(err, inspect.ErrStopped) {
			t.Errorf("after the stop: %v, want ErrStopped", err)
		}
	})
	i := New(newServer(), &corev1.Pod{}, Options{})
	if err := i.AddIndex(t.Context(), inspect.IndexSpec{Name: "node", Expr: "node"}); !errors.Is(err, inspect.ErrUnsupported) {
		t.Errorf("without a compiler: %v, want ErrUnsupported", err)
	}
}

// TestAMutatedObjectIsFoundOut: a handler writes into the cache.
func TestAMutatedObjectIsFoundOut(t *testing.T) {
	inBubble(t, Options{Indexers: cache.Indexers{"app": byApp}}, func(t *testing.T, s server, i *Informer) {
		s.Add(pod("a", "app", "web"))
		must[cache.ResourceEventHandlerRegistration](t)(i.AddEventHandler(cache.ResourceEventHandlerFuncs{
			AddFunc: func(obj any) { obj.(*corev1.Pod).Labels["app"] = "mine" },
		}))
		defer run(i)()
		synctest.Wait()
		check := must[inspect.IndexCheck](t)(i.VerifyIndex(t.Context(), "app"))
		if check.Wrong != 1 || check.Examples[0].Key != "ns/a" || check.Examples[0].Now[0] != "mine" || check.Examples[0].Unsteady {
			t.Errorf("check %+v, want ns/a under web, now mine", check)
		}
	})
}
