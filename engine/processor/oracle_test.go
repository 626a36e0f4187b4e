package processor

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
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"
	"pgregory.net/rapid"
)

// The oracle is client-go's shared informer. A script of what happens to it is
// drawn at random and played to client-go and, as far as the processor is
// concerned, to ours; after each step the bubble comes to rest and both must
// have told every handler the same.
//
// Both may differ in the order of a startup batch and of a resync round, which
// in client-go is a map's; so these calls are written down without a name.

// checkPeriod is how often the informer of a script asks who is due.
const checkPeriod = 2 * time.Second

type opKind int

const (
	opEvent  opKind = iota // what happens to key: it is added, modified, deleted
	opTouch                // key is modified without a new resource version
	opJoin                 // a handler is added that asks for resync, maybe blocked from the start
	opRemove               // handler n is removed
	opBlock                // handler n blocks in its next call
	opGo                   // handler n goes on
	opSleep                // time passes, resyncs happen
)

type op struct {
	kind    opKind
	key     string
	handler int
	resync  time.Duration
	blocked bool
	sleep   time.Duration
}

type script struct {
	before []op // joins and removals before the informer runs
	stored int  // objects of the first list
	ops    []op
}

func drawOp(rt *rapid.T, kinds ...opKind) op {
	o := op{kind: rapid.SampledFrom(kinds).Draw(rt, "kind")}
	switch o.kind {
	case opEvent, opTouch:
		o.key = rapid.SampledFrom([]string{"a", "b", "c", "d"}).Draw(rt, "key")
	case opJoin:
		o.resync = rapid.SampledFrom([]time.Duration{0, checkPeriod, 3 * time.Second}).Draw(rt, "resync")
		o.blocked = rapid.Bool().Draw(rt, "blocked")
	case opRemove, opBlock, opGo:
		o.handler = rapid.IntRange(0, 4).Draw(rt, "handler")
	case opSleep:
		o.sleep = time.Duration(rapid.IntRange(1, 8).Draw(rt, "sleep")) * 700 * time.Millisecond
	}
	return o
}

func drawScript(rt *rapid.T) script {
	return script{
		before: rapid.SliceOfN(rapid.Custom(func(rt *rapid.T) op {
			return drawOp(rt, opJoin, opJoin, opRemove)
		}), 0, 3).Draw(rt, "before"),
		stored: rapid.IntRange(0, 3).Draw(rt, "stored"),
		ops: rapid.SliceOfN(rapid.Custom(func(rt *rapid.T) op {
			return drawOp(rt, opEvent, opEvent, opEvent, opTouch, opJoin, opRemove, opBlock, opGo, opSleep)
		}), 0, 30).Draw(rt, "ops"),
	}
}

// informer is one of the two sides.
type informer interface {
	join(h cache.ResourceEventHandler, resync time.Duration) (cache.ResourceEventHandlerRegistration, error)
	remove(cache.ResourceEventHandlerRegistration) error
	run(ctx context.Context, stored []*corev1.Pod)
	added(*corev1.Pod)
	modified(before, after *corev1.Pod)
	deleted(*corev1.Pod)
}

// told is a handler that writes down its calls and blocks when asked to.
type told struct {
	mu      sync.Mutex
	turned  sync.Cond
	blocked bool
	calls   []string
}

func newTold(blocked bool) *told {
	h := &told{blocked: blocked}
	h.turned.L = &h.mu
	return h
}

func (h *told) called(call string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.calls = append(h.calls, call)
	for h.blocked {
		h.turned.Wait()
	}
}

func (h *told) turn(blocked bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.blocked = blocked
	h.turned.Broadcast()
}

func (h *told) OnAdd(o any, initial bool) {
	if initial {
		h.called("initial")
		return
	}
	h.called("add " + o.(*corev1.Pod).Name)
}

func (h *told) OnUpdate(o, n any) {
	if o == n {
		h.called("resync")
		return
	}
	h.called(fmt.Sprintf("update %s %s→%s", n.(*corev1.Pod).Name, o.(*corev1.Pod).ResourceVersion, n.(*corev1.Pod).ResourceVersion))
}

func (h *told) OnDelete(o any) { h.called("delete " + o.(*corev1.Pod).Name) }

// outcome is what can be seen of one handler after a step.
type outcome struct {
	Calls    []string
	Synced   bool
	Shutdown bool
}

// play plays a script and returns what could be seen after each step.
func play(i informer, s script) (seen [][]outcome, err error) {
	var handlers []*told
	var registrations []cache.ResourceEventHandlerRegistration
	look := func() {
		synctest.Wait()
		var all []outcome
		for n, h := range handlers {
			h.mu.Lock()
			o := outcome{Calls: slices.Clone(h.calls), Synced: registrations[n].HasSynced()}
			h.mu.Unlock()
			select {
			case <-registrations[n].(interface{ ShutdownChan() <-chan struct{} }).ShutdownChan():
				o.Shutdown = true
			default:
			}
			all = append(all, o)
		}
		seen = append(seen, all)
	}
	store := map[string]*corev1.Pod{}
	version := 100
	pod := func(key string) *corev1.Pod {
		version++
		return &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: key, Namespace: "ns", ResourceVersion: fmt.Sprint(version)}}
	}
	do := func(o op) error {
		switch o.kind {
		case opJoin:
			h := newTold(o.blocked)
			reg, err := i.join(h, o.resync)
			if err != nil {
				return err
			}
			handlers, registrations = append(handlers, h), append(registrations, reg)
		case opRemove:
			if o.handler < len(handlers) {
				return i.remove(registrations[o.handler])
			}
		case opBlock, opGo:
			if o.handler < len(handlers) {
				handlers[o.handler].turn(o.kind == opBlock)
			}
		case opEvent:
			before := store[o.key]
			switch {
			case before == nil:
				store[o.key] = pod(o.key)
				i.added(store[o.key])
			case version%3 == 0:
				delete(store, o.key)
				version++
				i.deleted(before)
			default:
				store[o.key] = pod(o.key)
				i.modified(before, store[o.key])
			}
		case opTouch:
			if before := store[o.key]; before != nil {
				store[o.key] = before.DeepCopy()
				i.modified(before, store[o.key])
			}
		case opSleep:
			time.Sleep(o.sleep)
		}
		return nil
	}

	for _, o := range s.before {
		if err := do(o); err != nil {
			return nil, err
		}
	}
	look()
	var stored []*corev1.Pod
	for n := range s.stored {
		p := pod(fmt.Sprintf("s%d", n))
		store[p.Name] = p
		stored = append(stored, p)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		i.run(ctx, stored)
	}()
	look()
	for _, o := range s.ops {
		if err == nil {
			err = do(o)
		}
		look()
	}
	cancel()
	look()
	for _, h := range handlers {
		h.turn(false)
	}
	<-done
	look()
	return seen, err
}

// stock is client-go's informer on a server that does what it is told.
type stock struct {
	cache.SharedIndexInformer
	stored []*corev1.Pod
	events *watch.RaceFreeFakeWatcher
}

func newStock() *stock {
	s := &stock{events: watch.NewRaceFreeFake()}
	s.SharedIndexInformer = cache.NewSharedIndexInformer(s, &corev1.Pod{}, checkPeriod, nil)
	return s
}

func (s *stock) IsWatchListSemanticsUnSupported() bool { return true }

func (s *stock) List(metav1.ListOptions) (runtime.Object, error) {
	list := &corev1.PodList{ListMeta: metav1.ListMeta{ResourceVersion: "100"}}
	for _, p := range s.stored {
		list.Items = append(list.Items, *p)
	}
	return list, nil
}

func (s *stock) Watch(metav1.ListOptions) (watch.Interface, error) { return s.events, nil }

func (s *stock) join(h cache.ResourceEventHandler, resync time.Duration) (cache.ResourceEventHandlerRegistration, error) {
	return s.AddEventHandlerWithResyncPeriod(h, resync)
}

func (s *stock) remove(reg cache.ResourceEventHandlerRegistration) error {
	return s.RemoveEventHandler(reg)
}

func (s *stock) run(ctx context.Context, stored []*corev1.Pod) {
	s.stored = stored
	s.RunWithContext(ctx)
}

func (s *stock) added(p *corev1.Pod)       { s.events.Add(p) }
func (s *stock) modified(_, p *corev1.Pod) { s.events.Modify(p) }
func (s *stock) deleted(p *corev1.Pod)     { s.events.Delete(p) }

// ours is what an informer does with the processor, and nothing else.
type ours struct {
	p      *Processor
	synced upstream

	mu      sync.Mutex // what client-go calls blockDeltas
	running bool
	store   map[string]*corev1.Pod
}

func newOurs() *ours {
	o := &ours{synced: make(upstream), store: map[string]*corev1.Pod{}}
	o.p = New(Options{Upstream: o.synced})
	return o
}

func (o *ours) join(h cache.ResourceEventHandler, resync time.Duration) (cache.ResourceEventHandlerRegistration, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	var initial []any
	if o.running {
		for _, p := range o.store {
			initial = append(initial, p)
		}
	}
	return o.p.Add(h, ListenerOptions{ResyncAsked: resync, ResyncGranted: resync, Now: time.Now()}, nil, initial)
}

func (o *ours) remove(reg cache.ResourceEventHandlerRegistration) error { return o.p.Remove(reg) }

func (o *ours) run(ctx context.Context, stored []*corev1.Pod) {
	o.mu.Lock()
	o.running = true
	o.mu.Unlock()
	var wg sync.WaitGroup
	wg.Go(func() { o.p.Run(ctx) })
	var batch []Notification
	for _, p := range stored {
		o.store[p.Name] = p
		batch = append(batch, Notification{Kind: Add, Initial: true, New: p})
	}
	o.p.Publish(batch)
	close(o.synced)
	tick := time.NewTicker(checkPeriod)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			wg.Wait()
			return
		case <-tick.C:
			o.resync()
		}
	}
}

func (o *ours) resync() {
	o.mu.Lock()
	defer o.mu.Unlock()
	if !o.p.ShouldResync(time.Now()) {
		return
	}
	var batch []Notification
	for _, p := range o.store {
		batch = append(batch, Notification{Kind: Update, DueOnly: true, Old: p, New: p})
	}
	o.p.Publish(batch)
}

func (o *ours) publish(n Notification) {
	o.mu.Lock()
	defer o.mu.Unlock()
	switch n.Kind {
	case Delete:
		delete(o.store, n.Old.(*corev1.Pod).Name)
	default:
		o.store[n.New.(*corev1.Pod).Name] = n.New.(*corev1.Pod)
	}
	o.p.Publish([]Notification{n})
}

func (o *ours) added(p *corev1.Pod) { o.publish(Notification{Kind: Add, New: p}) }

func (o *ours) modified(before, after *corev1.Pod) {
	o.publish(Notification{
		Kind: Update, Old: before, New: after,
		DueOnly: before.ResourceVersion == after.ResourceVersion,
	})
}

func (o *ours) deleted(p *corev1.Pod) { o.publish(Notification{Kind: Delete, Old: p}) }

func TestHandlersAreToldWhatClientGoTellsThem(t *testing.T) { rapid.Check(t, likeClientGo(t)) }

func FuzzHandlersAreToldWhatClientGoTellsThem(f *testing.F) {
	f.Fuzz(func(t *testing.T, input []byte) { rapid.MakeFuzz(likeClientGo(t))(t, input) })
}

// likeClientGo draws a script first, then plays it in bubbles of t.
func likeClientGo(t *testing.T) func(*rapid.T) {
	return func(rt *rapid.T) {
		s := drawScript(rt)
		var want, got [][]outcome
		var stockErr, ourErr error
		synctest.Test(t, func(*testing.T) { want, stockErr = play(newStock(), s) })
		synctest.Test(t, func(*testing.T) { got, ourErr = play(newOurs(), s) })
		if stockErr != nil || ourErr != nil {
			rt.Fatalf("client-go: %v, ours: %v", stockErr, ourErr)
		}
		for step := range want {
			if diff := cmp.Diff(want[step], got[step]); diff != "" {
				rt.Fatalf("after step %d (-client-go +ours):\n%s", step, diff)
			}
		}
	}
}
