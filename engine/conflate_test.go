package engine

import (
	"maps"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/client-go/tools/cache"
)

// replica is a handler that takes its time and keeps its own copy of the cache.
type replica struct {
	takes time.Duration

	mu    sync.Mutex
	holds map[string]string // resource version by name
	calls int
}

func (r *replica) set(obj any, there bool) {
	time.Sleep(r.takes)
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.holds == nil {
		r.holds = map[string]string{}
	}
	r.calls++
	if tombstone, ok := obj.(cache.DeletedFinalStateUnknown); ok {
		obj = tombstone.Obj
	}
	name, version, _ := strings.Cut(label(obj), "@")
	if delete(r.holds, name); there {
		r.holds[name] = version
	}
}

func (r *replica) OnAdd(obj any, _ bool) { r.set(obj, true) }
func (r *replica) OnUpdate(_, obj any)   { r.set(obj, true) }
func (r *replica) OnDelete(obj any)      { r.set(obj, false) }

func (r *replica) copy() map[string]string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return maps.Clone(r.holds)
}

// TestASlowHandlersBacklogIsConflatedIfTold has two handlers, of which one takes a
// second a call, and changes that come a hundred times as fast.
func TestASlowHandlersBacklogIsConflatedIfTold(t *testing.T) {
	const keys, changes = 20, 1000
	for _, bound := range []int{0, 50} {
		o := Options{Hardening: Hardening{ConflateBacklog: bound}}
		inBubble(t, o, func(t *testing.T, s server, i *Informer) {
			fast, slow := &replica{}, &replica{takes: time.Second}
			addNamed(t, i, "fast", fast, cache.HandlerOptions{})
			addNamed(t, i, "slow", slow, cache.HandlerOptions{})
			for n := range keys {
				s.Add(pod(string(rune('a' + n))))
			}
			defer run(i)()
			for n := range changes {
				time.Sleep(10 * time.Millisecond)
				name := string(rune('a' + n%keys))
				switch {
				case n%100 == 7:
					s.Delete(pod(name))
				case n%100 == 27:
					s.Add(pod(name))
				default:
					s.Modify(pod(name))
				}
			}
			synctest.Wait()
			v := vitalsOf(t, i, "slow")
			if f := vitalsOf(t, i, "fast"); f.Pending != 0 || f.Conflated != 0 {
				t.Errorf("the fast handler: pending %d, conflated %d", f.Pending, f.Conflated)
			}
			if conflated := v.Conflated > 0; conflated != (bound > 0) {
				t.Errorf("bound %d: conflated %d", bound, v.Conflated)
			}
			if bound > 0 && v.Pending > 64+2*keys {
				t.Errorf("%d are pending for %d keys", v.Pending, keys)
			}
			if bound == 0 && v.Pending < changes/2 {
				t.Errorf("without a bound only %d are pending", v.Pending)
			}
			time.Sleep(time.Hour)
			want := fast.copy()
			if diff := cmp.Diff(want, slow.copy()); diff != "" || len(want) != i.store.Len() {
				t.Errorf("the slow handler ends with (-want +got):\n%s", diff)
			}
			v = vitalsOf(t, i, "slow")
			if v.Pending != 0 || v.Delivered != uint64(slow.calls) || v.Delivered+v.Conflated != uint64(keys+changes) || !v.Synced {
				t.Errorf("at rest %+v, %d calls", v, slow.calls)
			}
			// It is as any other again.
			s.Modify(pod("a"))
			time.Sleep(2 * time.Second)
			if after := vitalsOf(t, i, "slow"); after.Delivered != v.Delivered+1 {
				t.Errorf("delivered %d, want one more than %d", after.Delivered, v.Delivered)
			}
		})
	}
}
