package engine

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/tools/cache"

	"github.com/informeter/informeter/engine/inspect"
)

// TestEverythingAtOnce lets objects change while handlers join and leave, viewers
// look, and somebody pauses, resyncs, relists, cuts watches and adds indices. In
// the end every handler that is left knows what the cache has, the cache has what
// the server has, and no goroutine is left, which the bubble sees to.
func TestEverythingAtOnce(t *testing.T) {
	conflating := Hardening{ConflateBacklog: 7, SkipBusyResync: true, CompressUpdates: true}
	for name, o := range map[string]Options{
		"DeltaFIFO":             {},
		"InOrder":               {Queue: InOrder},
		"DeltaFIFO, conflating": {Hardening: conflating},
		"InOrder, conflating":   {Queue: InOrder, Hardening: conflating},
	} {
		t.Run(name, func(t *testing.T) {
			o.Resync, o.Indexers = time.Second, cache.Indexers{"app": byApp}
			synctest.Test(t, func(t *testing.T) { newChaos(t, o).run(t) })
		})
	}
}

// chaos is an informer and what happens to it.
type chaos struct {
	server server
	i      *Informer
	end    time.Time

	exists map[string]bool // only the writer touches it

	mu    sync.Mutex // guards there
	there map[cache.ResourceEventHandlerRegistration]*follower
}

func newChaos(t *testing.T, o Options) *chaos {
	c := &chaos{
		server: newServer(), end: time.Now().Add(150 * time.Millisecond),
		exists: map[string]bool{}, there: map[cache.ResourceEventHandlerRegistration]*follower{},
	}
	c.i = New(c.server, &corev1.Pod{}, o)
	return c
}

func (c *chaos) run(t *testing.T) {
	stop := run(c.i)
	synctest.Wait()
	if err := c.join(t.Context(), 0); err != nil { // a resync needs somebody
		t.Fatal(err)
	}
	var actors sync.WaitGroup
	for _, act := range []func(context.Context, int) error{c.write, c.join, c.join, c.look, c.control} {
		actors.Go(func() {
			for n := 0; time.Now().Before(c.end); n++ {
				if err := act(t.Context(), n); err != nil {
					t.Error(err)
					return
				}
				time.Sleep(rand.N(2 * time.Millisecond))
			}
		})
	}
	actors.Wait()
	if err := c.i.Resume(t.Context()); err != nil {
		t.Error(err)
	}
	if err := c.i.RelistNow(t.Context()); err != nil {
		t.Error(err)
	}
	time.Sleep(20 * time.Second) // for the slow ones
	synctest.Wait()
	c.check(t)
	stop()
	c.server.Shutdown()
}

// write changes some objects.
func (c *chaos) write(_ context.Context, n int) error {
	for range rand.IntN(100) {
		name := fmt.Sprint("p", rand.IntN(20))
		p := pod(name, "app", fmt.Sprint(n%3))
		switch {
		case !c.exists[name]:
			c.server.Add(p)
			c.exists[name] = true
		case rand.IntN(4) == 0:
			c.server.Delete(p)
			delete(c.exists, name)
		default:
			c.server.Modify(p)
		}
	}
	return nil
}

// join adds a handler, and removes one where there are many.
func (c *chaos) join(context.Context, int) error {
	f := &follower{last: map[string]string{}, slow: rand.IntN(2) == 0}
	added, err := c.i.AddEventHandler(f)
	if err != nil {
		return err
	}
	c.mu.Lock()
	c.there[added] = f
	var leaving cache.ResourceEventHandlerRegistration
	if len(c.there) > 8 {
		for leaving = range c.there {
			break
		}
		delete(c.there, leaving)
	}
	c.mu.Unlock()
	if leaving == nil {
		return nil
	}
	if rand.IntN(2) == 0 {
		return cache.ShutDownEventHandler(c.i, leaving)
	}
	return c.i.RemoveEventHandler(leaving)
}

// look is a viewer that comes and goes.
func (c *chaos) look(ctx context.Context, _ int) error {
	release, err := c.i.Open()
	if err != nil {
		return err
	}
	defer release()
	if _, err := c.i.Snapshot(ctx); err != nil {
		return err
	}
	if _, err := c.i.Moments(ctx, inspect.MomentQuery{Limit: 20}); err != nil {
		return err
	}
	if _, err := c.i.Queue(ctx, inspect.QueueQuery{Limit: 20}); err != nil {
		return err
	}
	_, err = c.i.Store(ctx, inspect.Query{Limit: 20})
	return err
}

// control does what a user can do.
func (c *chaos) control(ctx context.Context, n int) error {
	switch rand.IntN(7) {
	case 0:
		if err := c.i.Pause(ctx); err != nil {
			return err
		}
		time.Sleep(time.Millisecond)
		if err := c.i.Step(ctx, 3); err != nil {
			return err
		}
		return c.i.Resume(ctx)
	case 1:
		return c.i.SetRate(ctx, 5000)
	case 2:
		return c.i.ResyncNow(ctx)
	case 3:
		return c.i.RelistNow(ctx)
	case 4:
		return c.i.AddIndexers(cache.Indexers{fmt.Sprint("late ", n): byApp})
	case 5:
		c.server.ResetWatch()
	}
	return nil
}

// check compares what the server, the cache and the handlers have.
func (c *chaos) check(t *testing.T) {
	cached, names := map[string]string{}, map[string]bool{}
	for _, obj := range c.i.GetStore().List() {
		name, version, _ := strings.Cut(label(obj), "@")
		cached[name], names[name] = version, true
	}
	if diff := cmp.Diff(c.exists, names); diff != "" {
		t.Errorf("objects (-server +cache):\n%s", diff)
	}
	for registration, f := range c.there {
		f.mu.Lock()
		if f.wrong != "" {
			t.Error(f.wrong)
		}
		if diff := cmp.Diff(cached, f.last); diff != "" {
			t.Errorf("objects (-cache +handler):\n%s", diff)
		}
		f.mu.Unlock()
		if !registration.HasSynced() {
			t.Error("a handler has not synced")
		}
	}
}

// follower is a handler that keeps what it is told, and notices what can't be.
type follower struct {
	slow bool

	mu    sync.Mutex // guards the fields below
	last  map[string]string
	wrong string // the first thing that could not be
}

func (f *follower) OnAdd(obj any, _ bool) {
	f.told(obj, func(name, version string) bool {
		_, known := f.last[name]
		f.last[name] = version
		return !known
	})
}

func (f *follower) OnUpdate(before, after any) {
	f.told(after, func(name, version string) bool {
		_, old, _ := strings.Cut(label(before), "@")
		was, known := f.last[name]
		f.last[name] = version
		return known && was == old
	})
}

func (f *follower) OnDelete(obj any) {
	f.told(obj, func(name, _ string) bool {
		delete(f.last, name)
		return true // an InOrder queue tells of objects that came and went
	})
}

func (f *follower) told(obj any, fits func(name, version string) bool) {
	if f.slow && rand.IntN(20) == 0 {
		time.Sleep(time.Millisecond)
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	name, version, _ := strings.Cut(strings.Trim(label(obj), "[]"), "@")
	before := fmt.Sprint(f.last[name])
	if !fits(name, version) && f.wrong == "" {
		f.wrong = fmt.Sprintf("%s does not follow %q", label(obj), before)
	}
}
