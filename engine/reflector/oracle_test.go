package reflector

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/synctest"
	"time"
	"unsafe"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/tools/cache"
	"pgregory.net/rapid"

	v1 "k8s.io/api/core/v1"
)

// scenario is all that a server does and that a reflector is told: the answers
// to the first, second, ... LIST and WATCH. When they are used up, a LIST brings
// one object and a WATCH stays open and silent.
type scenario struct {
	listOnly  bool
	transform bool
	page      int64
	resync    time.Duration
	internal  time.Duration
	lists     []listPlan
	watches   []watchPlan
	// failing holds the numbers of the store's calls that fail.
	failing map[int]bool
	stopAt  time.Duration
}

type listPlan struct {
	err       string
	version   string
	pods      []string
	continues bool
	delay     time.Duration
}

type watchPlan struct {
	err    string
	events []eventPlan
	// end is how the stream ends: "eof", "hang" or the word of an error.
	end string
	// endAfter is the silence before that.
	endAfter time.Duration
	// times is how many WATCHes in a row are answered like this.
	times int
}

type eventPlan struct {
	after   time.Duration
	kind    string // of script's event
	pod     string
	version string
}

// Differences between ours and client-go's that the comparison leaves out:
//
//   - Objects of one Replace are sorted: client-go's initial streams come in the
//     order of a map.
//   - What happens at the moment of the stop: a cancelled request is an error to
//     client-go, and it may or may not tell its handler (a race of two ready
//     channels). The traces end before the stop.
//   - Watches left open: client-go forgets the stream of an initial list that
//     could not be stored.
//   - After a panic nothing is compared.
//
// Everything else must be equal: requests and their parameters, calls of the
// store, calls of the error handler, and the fake time of each to the
// nanosecond, since the backoff has no jitter.
func TestMakesTheRequestsThatClientGoMakes(t *testing.T) { rapid.Check(t, likeClientGo(t)) }

func FuzzMakesTheRequestsThatClientGoMakes(f *testing.F) {
	f.Fuzz(func(t *testing.T, input []byte) { rapid.MakeFuzz(likeClientGo(t))(t, input) })
}

// likeClientGo draws a scenario first, then plays it in bubbles of t.
func likeClientGo(t *testing.T) func(*rapid.T) {
	return func(rt *rapid.T) {
		sc := drawScenario(rt)
		var want, got []string
		var leaked int
		synctest.Test(t, func(*testing.T) { want, _ = sc.play(runClientGo) })
		synctest.Test(t, func(*testing.T) { got, leaked = sc.play(runOurs) })
		if leaked > 0 {
			rt.Fatalf("scenario %+v: %d watches were not stopped", sc, leaked)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			rt.Fatalf("scenario %+v\n-client-go +ours:\n%s", sc, diff)
		}
	}
}

// play runs the scenario against one implementation and returns its trace, and
// how many watches it left open.
func (sc scenario) play(run func(ctx context.Context, sc scenario, s *server, store *recorder)) ([]string, int) {
	tr := &trace{began: time.Now(), timed: true}
	s := newServer(tr)
	s.noStreaming = sc.listOnly
	for _, l := range sc.lists {
		s.lists <- l.answer()
	}
	for len(s.lists) < cap(s.lists) {
		s.lists <- listAnswer{list: podList("900", "last@900")}
	}
	for _, w := range sc.watches {
		for range w.times {
			s.watches <- w.answer()
		}
	}
	for len(s.watches) < cap(s.watches) {
		s.watches <- watchAnswer{}
	}
	var calls atomic.Int64
	store := &recorder{trace: tr, sorted: true, fail: func(string) error {
		if n := int(calls.Add(1)); sc.failing[n] {
			return fmt.Errorf("call %d", n)
		}
		return nil
	}}
	if sc.transform {
		store.transform = mark
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		run(ctx, sc, s, store)
	}()
	time.Sleep(sc.stopAt)
	synctest.Wait()
	lines := tr.take()
	cancel()
	<-ended
	return lines, s.stopLeaked()
}

func runClientGo(ctx context.Context, sc scenario, s *server, store *recorder) {
	r := cache.NewReflectorWithOptions(s, &v1.Pod{}, store, cache.ReflectorOptions{
		Name:         "test",
		ResyncPeriod: sc.resync,
		Backoff:      oracleBackoff(),
	})
	r.WatchListPageSize = sc.page
	r.MaxInternalErrorRetryDuration = sc.internal
	setErrorHandler(r, func(_ context.Context, _ *cache.Reflector, err error) { s.trace.add("  OnError: %v", root(err)) })
	r.RunWithContext(ctx)
}

// setErrorHandler sets what only an informer can set.
func setErrorHandler(r *cache.Reflector, h cache.WatchErrorHandlerWithContext) {
	field := reflect.ValueOf(r).Elem().FieldByName("watchErrorHandler")
	reflect.NewAt(field.Type(), unsafe.Pointer(field.UnsafeAddr())).Elem().Set(reflect.ValueOf(h))
}

func runOurs(ctx context.Context, sc scenario, s *server, store *recorder) {
	New(s, &v1.Pod{}, store, Options{
		Name:                  "test",
		ResyncPeriod:          sc.resync,
		Backoff:               oracleBackoff(),
		PageSize:              sc.page,
		MaxInternalErrorRetry: sc.internal,
		OnError:               func(_ context.Context, err error) { s.trace.add("  OnError: %v", root(err)) },
	}).Run(ctx)
}

func oracleBackoff() *wait.Backoff {
	return &wait.Backoff{Duration: 800 * time.Millisecond, Factor: 2, Cap: 30 * time.Second, Steps: 38}
}

// root is what an error says that comes from outside: what each implementation
// says in its own words is only known to be an error.
func root(err error) string {
	var answer apierrors.APIStatus
	text := err.Error()
	switch last := text[strings.LastIndex(text, ": ")+1:]; {
	case errors.As(err, &answer):
		return answer.Status().Message
	case errors.Is(err, syscall.ECONNREFUSED), strings.HasPrefix(last, " call "), text == "EOF":
		return last
	}
	return "(own words)"
}

func (l listPlan) answer() listAnswer {
	switch l.err {
	case "":
	case "table":
		table := &unstructured.UnstructuredList{}
		table.SetAPIVersion("meta.k8s.io/v1")
		table.SetKind("Table")
		return listAnswer{list: table, delay: l.delay}
	case "no list":
		return listAnswer{list: &metav1.Status{}, delay: l.delay}
	default:
		return listAnswer{err: failure(l.err), delay: l.delay}
	}
	list := podList(l.version, l.pods...)
	if l.continues {
		list.Continue = "more"
	}
	return listAnswer{list: list, delay: l.delay}
}

func (w watchPlan) answer() watchAnswer {
	if w.err != "" {
		return watchAnswer{err: failure(w.err)}
	}
	return watchAnswer{play: w.play}
}

func (w watchPlan) play(s *scriptedWatch) {
	for _, e := range w.events {
		if !s.sleep(e.after) {
			return
		}
		if e.kind == "error" {
			s.send(errorEvent(e.version))
			return
		}
		args := []string{e.pod + "@" + e.version}
		if strings.HasPrefix(e.kind, "bookmark") {
			args = append([]string{e.version}, strings.Fields(e.kind)[1:]...)
		}
		s.send(scriptEvent(strings.Fields(e.kind)[0], args))
	}
	if w.end == "hang" || !s.sleep(w.endAfter) {
		return
	}
	if w.end != "eof" {
		s.send(errorEvent(w.end))
		return
	}
	s.close()
}

// sleep is false if the watch was stopped meanwhile.
func (w *scriptedWatch) sleep(d time.Duration) bool {
	if d == 0 {
		return true
	}
	select {
	case <-time.After(d):
		return true
	case <-w.stopped:
		return false
	}
}

func drawScenario(rt *rapid.T) scenario {
	version := 10
	rise := func() string {
		version += rapid.IntRange(0, 2).Draw(rt, "rise")
		return fmt.Sprint(version)
	}
	name := rapid.SampledFrom([]string{"a", "b", "c", "bad"})
	pause := rapid.SampledFrom([]time.Duration{0, 0, 300 * time.Millisecond, 1500 * time.Millisecond, 20 * time.Second, 3 * time.Minute})
	listErrors := rapid.SampledFrom([]string{"", "", "", "", "410", "gone", "toolarge", "toolarge116", "toolarge117", "bare", "504", "table", "no list", "403", "500", "429", "refused"})
	watchErrors := rapid.SampledFrom([]string{"", "", "", "", "410", "gone", "toolarge", "toolarge116", "bare", "400", "403", "429", "refused", "500", "EOF"})
	kinds := rapid.SampledFrom([]string{"add", "add", "add", "modify", "delete", "bookmark", "bookmark end", "bookmark end", "unknown", "other"})
	ends := rapid.SampledFrom([]string{"eof", "eof", "eof", "hang", "410", "429", "500", "504", "toolarge", "toolarge117"})

	times := rapid.SampledFrom([]int{1, 1, 1, 2, 9})

	list := rapid.Custom(func(rt *rapid.T) listPlan {
		l := listPlan{err: listErrors.Draw(rt, "list error"), delay: pause.Draw(rt, "list delay")}
		if l.err == "" {
			// Fake clientsets answer without a version, and watches at "" and "0"
			// begin with events in no order.
			l.version = rapid.SampledFrom([]string{rise(), rise(), "0", ""}).Draw(rt, "list version")
			for range rapid.IntRange(0, 3).Draw(rt, "list pods") {
				l.pods = append(l.pods, name.Draw(rt, "list pod")+"@"+l.version)
			}
			l.continues = rapid.IntRange(0, 3).Draw(rt, "continues") == 0
		}
		return l
	})
	stream := rapid.Custom(func(rt *rapid.T) watchPlan {
		w := watchPlan{err: watchErrors.Draw(rt, "watch error"), times: times.Draw(rt, "times")}
		if w.err != "" {
			return w
		}
		for range rapid.IntRange(0, 5).Draw(rt, "events") {
			w.events = append(w.events, eventPlan{
				after: pause.Draw(rt, "event after"), kind: kinds.Draw(rt, "event"), pod: name.Draw(rt, "event pod"), version: rise(),
			})
		}
		w.end, w.endAfter = ends.Draw(rt, "end"), pause.Draw(rt, "end after")
		return w
	})
	sc := scenario{
		listOnly:  rapid.Bool().Draw(rt, "list only"),
		transform: rapid.Bool().Draw(rt, "transform"),
		page:      rapid.SampledFrom([]int64{0, 0, 2}).Draw(rt, "page"),
		// No sum of the other times, so that nothing happens beside a resync.
		resync:   rapid.SampledFrom([]time.Duration{0, 7_000_013 * time.Microsecond, 61_000_017 * time.Microsecond}).Draw(rt, "resync"),
		internal: rapid.SampledFrom([]time.Duration{0, 0, 5 * time.Second, time.Hour}).Draw(rt, "internal"),
		lists:    rapid.SliceOfN(list, 0, 6).Draw(rt, "lists"),
		watches:  rapid.SliceOfN(stream, 0, 8).Draw(rt, "watches"),
		failing:  map[int]bool{},
		stopAt:   20 * time.Minute,
	}
	for _, n := range rapid.SliceOfN(rapid.IntRange(1, 30), 0, 3).Draw(rt, "failing calls") {
		sc.failing[n] = true
	}
	return sc
}
