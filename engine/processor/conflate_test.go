package processor

import (
	"context"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"k8s.io/client-go/tools/cache"
	"pgregory.net/rapid"

	"github.com/informeter/informeter/engine/inspect"
)

// version is one state of an object: its key, which object of that name it is and
// how often that was changed.
type version struct {
	key       string
	life, age int
	last      bool // as it was when it was deleted
}

func keyOfVersion(o any) (string, error) { return o.(version).key, nil }

// strict is a handler that keeps its own copy of the objects and does not put up
// with a notification that does not fit what it was told before. It returns from
// a call when it is let.
type strict struct {
	mu    sync.Mutex
	more  sync.Cond
	let   int
	knows map[string]version
	wrong string
	ended map[version]bool // deleted, by life
}

func (s *strict) allow(n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.let += n
	s.more.Broadcast()
}

func newStrict(let int) *strict {
	s := &strict{knows: map[string]version{}, ended: map[version]bool{}}
	s.more.L, s.let = &s.mu, let
	return s
}

func (s *strict) told(format string, fits bool, args ...any) {
	if !fits && s.wrong == "" {
		s.wrong = fmt.Sprintf(format, args...)
	}
	for s.let == 0 {
		s.more.Wait()
	}
	s.let--
}

func (s *strict) OnAdd(o any, _ bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := o.(version)
	before, known := s.knows[n.key]
	s.knows[n.key] = n
	s.told("add %v, but knows %v", !known && !s.ended[version{key: n.key, life: n.life}], n, before)
}

func (s *strict) OnUpdate(was, is any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	o, n := was.(version), is.(version)
	before, known := s.knows[n.key]
	s.knows[n.key] = n
	s.told("update %v to %v, but knows %v", known && before == o && o.life == n.life && o.age <= n.age, o, n, before)
}

func (s *strict) OnDelete(was any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	o := was.(version)
	before, known := s.knows[o.key]
	delete(s.knows, o.key)
	s.ended[version{key: o.key, life: o.life}] = true
	s.told("delete %v, but knows %v", known && before.life == o.life && before.age <= o.age && o.last, o, before)
}

// world is the objects as they are, and makes notifications of what becomes of
// them.
type world struct {
	objects map[string]version
	lives   map[string]int
}

// change does to a key what the number says, if that is possible.
func (w *world) change(key string, what int) Notification {
	o, exists := w.objects[key]
	n := Notification{Key: key, Cause: inspect.CauseWatch}
	switch {
	case !exists:
		w.lives[key]++
		n.Kind, n.New = Add, version{key: key, life: w.lives[key]}
	case what == 0:
		n.Kind, n.Old = Delete, version{key, o.life, o.age, true}
		delete(w.objects, key)
		return n
	case what == 1:
		n.Kind, n.Cause, n.DueOnly, n.Old, n.New = Update, inspect.CauseResync, true, o, o
	default:
		n.Kind, n.Old, n.New = Update, o, version{key: key, life: o.life, age: o.age + 1}
	}
	w.objects[key] = n.New.(version)
	return n
}

// conflateStep is one step of a random script: a batch of changes, or so many
// calls that the slow handler may return from.
type conflateStep struct {
	changes [][2]int // key and what
	let     int
}

var drawConflateStep = rapid.Custom(func(rt *rapid.T) conflateStep {
	if rapid.IntRange(0, 3).Draw(rt, "let") == 0 {
		return conflateStep{let: rapid.SampledFrom([]int{1, 2, 5, 30, 300}).Draw(rt, "calls")}
	}
	change := rapid.Custom(func(rt *rapid.T) [2]int {
		return [2]int{rapid.IntRange(0, 6).Draw(rt, "key"), rapid.IntRange(0, 4).Draw(rt, "what")}
	})
	return conflateStep{changes: rapid.SliceOfN(change, 1, 100).Draw(rt, "changes")}
})

func runConflation(bound, initial int, steps []conflateStep) error {
	informer := make(upstream)
	p := New(Options{ConflateBacklog: bound, KeyFunc: keyOfVersion, Upstream: informer})
	w := &world{objects: map[string]version{}, lives: map[string]int{}}
	slow, quick := newStrict(0), newStrict(math.MaxInt32)
	var first []any
	for n := range initial {
		first = append(first, w.change(strconv.Itoa(n), 2).New)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		p.Run(ctx)
	}()
	defer func() { slow.allow(math.MaxInt32); cancel(); <-done }()
	close(informer)
	synctest.Wait()
	p.RecordDeliveries(true)
	slowly, err := p.Add(slow, ListenerOptions{Name: "slow"}, nil, first)
	if err != nil {
		return err
	}
	quickly, err := p.Add(quick, ListenerOptions{Name: "quick"}, nil, first)
	if err != nil {
		return err
	}
	var sent []Sent
	check := func() error {
		synctest.Wait()
		if err := eachIsToldOnce(p, sent); err != nil {
			return err
		}
		if err := checkInvariants(p); err != nil {
			return err
		}
		for _, l := range []*Listener{slowly, quickly} {
			c := l.conflating
			if c.moving {
				return fmt.Errorf("a mover is left behind")
			}
			if keys := len(c.backlog.items); keys > 7 {
				return fmt.Errorf("%d keys wait of 7", keys)
			}
			waits := 0
			for range c.backlog.all() {
				waits++
			}
			// What is in the window waits one by one.
			v := p.Listeners(time.Now())[0]
			if window := int(v.Pending) - waits; l == slowly && c.out && (window < 0 || window > chunkSize) {
				return fmt.Errorf("pending %d, of which %d in the backlog", v.Pending, waits)
			}
		}
		slow.mu.Lock()
		defer slow.mu.Unlock()
		if slow.wrong+quick.wrong != "" {
			return fmt.Errorf("slow: %s; quick: %s", slow.wrong, quick.wrong)
		}
		if !maps.Equal(quick.knows, w.objects) {
			return fmt.Errorf("the quick handler knows %v, but there are %v", quick.knows, w.objects)
		}
		return nil
	}
	for _, s := range steps {
		slow.allow(s.let)
		var batch []Notification
		for _, c := range s.changes {
			batch = append(batch, w.change(strconv.Itoa(c[0]), c[1]))
		}
		p.Publish(batch)
		for _, n := range batch {
			sent = append(sent, Sent{Seq: n.Seq})
		}
		if err := check(); err != nil {
			return err
		}
	}
	slow.allow(1 << 30)
	if err := check(); err != nil {
		return err
	}
	if !maps.Equal(slow.knows, w.objects) {
		return fmt.Errorf("the slow handler knows %v, but there are %v", slow.knows, w.objects)
	}
	for _, v := range p.Listeners(time.Now()) {
		if v.Pending != 0 || !v.Synced || v.InitialDelivered != v.InitialTotal {
			return fmt.Errorf("at rest: %+v", v)
		}
		if v.Delivered+v.Conflated != slowly.addressed() {
			return fmt.Errorf("delivered %d, conflated %d, but %d were addressed", v.Delivered, v.Conflated, slowly.addressed())
		}
	}
	if slowly.conflating.out {
		return fmt.Errorf("the slow listener has not returned to the log")
	}
	return nil
}

// eachIsToldOnce checks that of every notification it is known what has become of
// it for either listener: given to the handler, waiting, or conflated.
func eachIsToldOnce(p *Processor, sent []Sent) error {
	listeners := p.Listeners(time.Now())
	merged := map[string]uint64{}
	for i, deliveries := range p.Deliveries(time.Now(), sent) {
		if len(deliveries) != len(listeners) {
			return fmt.Errorf("of %d is told: %+v", sent[i].Seq, deliveries)
		}
		for n, d := range deliveries {
			if d.Handler != listeners[n].Name || d.Merged && (d.Pending || d.Calling || !d.Began.IsZero()) {
				return fmt.Errorf("of %d is told: %+v", sent[i].Seq, d)
			}
			if d.Merged {
				merged[d.Handler]++
			}
		}
	}
	for _, v := range listeners {
		// What was conflated of the startup batch has no number.
		if n := merged[v.Name]; n > v.Conflated || n+v.InitialTotal < v.Conflated {
			return fmt.Errorf("%s: %d said to be conflated, counted %d", v.Name, n, v.Conflated)
		}
	}
	return nil
}

// TestConflationKeepsEveryHandlersContract: whatever happens to the objects and
// however slow a handler is, what it is told fits what it was told before, and in
// the end it knows what there is.
func TestConflationKeepsEveryHandlersContract(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		bound := rapid.SampledFrom([]int{1, 3, 10, 70, 200}).Draw(rt, "bound")
		initial := rapid.IntRange(0, 7).Draw(rt, "initial")
		steps := rapid.SliceOfN(drawConflateStep, 1, 30).Draw(rt, "steps")
		var err error
		synctest.Test(t, func(*testing.T) { err = runConflation(bound, initial, steps) })
		if err != nil {
			rt.Fatal(err)
		}
	})
}

// TestConflationUnderLoad is for the race detector: listeners leave the log and
// return to it all the time, while batches of several chunks are published.
func TestConflationUnderLoad(t *testing.T) {
	p := New(Options{ConflateBacklog: 20, KeyFunc: keyOfVersion})
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() {
		defer close(done)
		p.Run(ctx)
	}()
	var handlers [4]*strict
	var listeners [4]*Listener
	for i := range handlers {
		handlers[i] = newStrict(math.MaxInt32)
		l, err := p.Add(handlers[i], ListenerOptions{Name: fmt.Sprint(i)}, nil, nil)
		if err != nil {
			t.Fatal(err)
		}
		listeners[i] = l
	}
	w := &world{objects: map[string]version{}, lives: map[string]int{}}
	random := rand.New(rand.NewPCG(1, 2))
	for range 3000 {
		batch := make([]Notification, 1+random.IntN(1+random.IntN(200)))
		for i := range batch {
			batch[i] = w.change(strconv.Itoa(random.IntN(30)), random.IntN(5))
		}
		p.Publish(batch)
		p.Listeners(time.Now())
	}
	for i, l := range listeners {
		for v := vitalsOf(t, p, l.Name()); v.Pending > 0; v = vitalsOf(t, p, l.Name()) {
			runtime.Gosched()
		}
		h := handlers[i]
		h.mu.Lock()
		if h.wrong != "" || !maps.Equal(h.knows, w.objects) {
			t.Errorf("handler %d: %s; knows %v, but there are %v", i, h.wrong, h.knows, w.objects)
		}
		h.mu.Unlock()
	}
	var conflated uint64
	for _, v := range p.Listeners(time.Now()) {
		conflated += v.Conflated
	}
	if conflated == 0 {
		t.Error("nobody left the log")
	}
	cancel()
	<-done
}

// stuckBehind publishes rounds of updates of so many keys to a handler that is
// stuck and a quick one, and returns the vitals of the stuck one and how many
// bytes of heap are in use.
func stuckBehind(t *testing.T, bound, keys, rounds int) (v inspect.ListenerVitals, heap uint64, told []string) {
	synctest.Test(t, func(t *testing.T) {
		p := New(Options{ConflateBacklog: bound})
		returns := make(chan struct{})
		stuck := &recorder{work: func(string) { <-returns }}
		add(t, p, stuck, ListenerOptions{Name: "stuck"})
		quick := 0
		add(t, p, cache.ResourceEventHandlerFuncs{UpdateFunc: func(_, _ any) { quick++ }}, ListenerOptions{Name: "quick"})
		stop := run(t, p)
		objects := make([]*object, keys)
		for n := range objects {
			objects[n] = obj(fmt.Sprint(n))
		}
		for range rounds {
			batch := make([]Notification, keys)
			for n := range batch {
				o := *objects[n]
				o.Annotations = map[string]string{"big": strings.Repeat("x", 1000)}
				batch[n] = Notification{Key: "ns/" + o.Name, Kind: Update, Old: objects[n], New: &o}
				objects[n] = &o
			}
			p.Publish(batch)
			synctest.Wait()
		}
		var m runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&m)
		heap = m.HeapAlloc
		v = vitalsOf(t, p, "stuck")
		if quick != keys*rounds {
			t.Errorf("the quick handler was told %d times, want %d", quick, keys*rounds)
		}
		close(returns)
		synctest.Wait()
		told = stuck.got()
		stop()
	})
	return v, heap, told
}

func TestMemoryBehindASlowHandlerIsBoundedByTheNumberOfKeys(t *testing.T) {
	const keys, rounds = 10, 4000
	v, heap, told := stuckBehind(t, 100, keys, rounds)
	// One call is under way, the rest of its run waits one by one, and each key
	// has one more.
	if v.Pending > 64+keys || v.Pending+v.Conflated != keys*rounds {
		t.Errorf("pending %d, conflated %d", v.Pending, v.Conflated)
	}
	if uint64(len(told)) != v.Pending {
		t.Errorf("the handler was told %d times, %d were pending", len(told), v.Pending)
	}
	_, unbounded, all := stuckBehind(t, 0, keys, rounds)
	if len(all) != keys*rounds {
		t.Errorf("without a bound the handler was told %d times, want %d", len(all), keys*rounds)
	}
	if heap*4 > unbounded {
		t.Errorf("%d bytes are in use, and without a bound %d", heap, unbounded)
	}
}

func TestAListenerOutOfTheLogCanBeRemovedAndStopped(t *testing.T) {
	for _, end := range []string{"remove", "stop"} {
		t.Run(end, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := New(Options{ConflateBacklog: 2})
				returns := make(chan struct{})
				stuck := &recorder{work: func(string) { <-returns }}
				l := add(t, p, stuck, ListenerOptions{Name: "stuck"})
				stop := run(t, p)
				for n := range 100 {
					p.Publish(added(fmt.Sprint(n)))
				}
				synctest.Wait()
				if !l.conflating.out {
					t.Fatal("the listener is in the log")
				}
				if end == "remove" {
					if err := p.Remove(l); err != nil {
						t.Fatal(err)
					}
				}
				close(returns)
				if end == "remove" {
					<-l.ShutdownChan()
					if l.conflating.backlog.first != nil {
						t.Error("the backlog of a removed listener is kept")
					}
					if err := checkInvariants(p); err != nil {
						t.Error(err)
					}
				}
				stop()
			})
		})
	}
}
