package engine

import (
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/tools/cache"
)

// touchy is an object of somebody else's type, whose methods are foreign code:
// it panics so many times before it says which version it has.
type touchy struct {
	*corev1.Pod
	panics *atomic.Int32
}

func (o *touchy) GetResourceVersion() string {
	if o.panics.Add(-1) >= 0 {
		panic("not loaded yet")
	}
	return o.Pod.GetResourceVersion()
}

// touchyAt makes touchy those objects whose version has a number of panics.
func touchyAt(panics map[string]int32) cache.TransformFunc {
	return func(obj any) (any, error) {
		p, ok := obj.(*corev1.Pod)
		if !ok || panics[p.ResourceVersion] == 0 {
			return obj, nil
		}
		o := &touchy{p, &atomic.Int32{}}
		o.panics.Store(panics[p.ResourceVersion])
		return o, nil
	}
}

func TestADeltaThatCannotBeAppliedIsTriedAgain(t *testing.T) {
	const always = 1 << 20
	for name, c := range map[string]struct {
		retries int
		panics  map[string]int32
		events  []string // sent while nothing is handled
		told    []string
		cached  []string
		aside   string // the versions that are set aside in the end
		total   uint64 // how often something was
	}{
		"it works the third time":  {0, map[string]int32{"11": 2}, []string{"~a@11", "+b@12"}, []string{"update a@5 to a@11", "add b@12"}, []string{"a@11", "b@12"}, "", 0},
		"it works the fourth time": {0, map[string]int32{"11": 3}, []string{"~a@11"}, []string{"update a@5 to a@11"}, []string{"a@11"}, "", 0},
		"it never works":           {0, map[string]int32{"11": 5}, []string{"~a@11", "+b@12"}, []string{"add b@12"}, []string{"a@5", "b@12"}, "ns/a", 1},
		"it may be tried once":     {-1, map[string]int32{"11": 2}, []string{"~a@11", "+b@12"}, []string{"add b@12"}, []string{"a@5", "b@12"}, "ns/a", 1},
		"it may be tried twice":    {1, map[string]int32{"11": 1, "12": 3}, []string{"~a@11", "+b@12"}, []string{"update a@5 to a@11"}, []string{"a@11"}, "ns/b", 1},
		"something newer takes its place": {
			0, map[string]int32{"11": always}, []string{"~a@11", "~a@12"}, []string{"update a@5 to a@12"}, []string{"a@12"}, "", 0,
		},
		"it is deleted": {0, map[string]int32{"11": always}, []string{"~a@11", "-a@12"}, []string{"delete a@12"}, []string{}, "", 0},
	} {
		t.Run(name, func(t *testing.T) {
			eachQueue(t, func(t *testing.T, queue Queue) {
				s, h := &script{lists: []string{"10: a@5"}}, &recorder{}
				onScript(t, s, Options{Queue: queue, Hardening: Hardening{Retries: c.retries}}, func(i *Informer) {
					_ = i.SetTransform(touchyAt(c.panics))
					join(t, i, h, 0)
				}, func(t *testing.T, i *Informer) {
					h.all()
					_ = i.Pause(t.Context())
					s.send(c.events...)
					synctest.Wait()
					_ = i.Resume(t.Context())
					synctest.Wait()
					got := snapshot(t, i)
					aside := ""
					for _, q := range got.Quarantine {
						aside += q.Key
						if q.Stage != "apply" || !strings.Contains(q.Error, "not loaded yet") {
							t.Errorf("quarantine: %+v", q)
						}
					}
					told := h.all()
					slices.Sort(told)
					slices.Sort(c.told)
					if !slices.Equal(told, c.told) || !slices.Equal(cached(i), c.cached) || aside != c.aside || got.Handle.Quarantined != c.total {
						t.Errorf("told %v\nwant %v\ncached %v, want %v; set aside %q of %d, want %q", told, c.told, cached(i), c.cached, aside, got.Handle.Quarantined, c.aside)
					}
					s.send("~a@21", "~b@22")
					synctest.Wait()
					if left := snapshot(t, i).Quarantine; len(left) > 0 {
						t.Errorf("still set aside after newer states were applied: %+v", left)
					}
				})
			})
		})
	}
}

func TestAnObjectOfAListThatCannotBeAppliedCostsNoOther(t *testing.T) {
	eachQueue(t, func(t *testing.T, queue Queue) {
		s := &script{lists: []string{"10: a@4 bad@5 c@6", "20: a@4 bad@5 c@6"}}
		onScript(t, s, Options{Queue: queue}, func(i *Informer) { _ = i.SetTransform(touchyAt(map[string]int32{"5": 5})) }, func(t *testing.T, i *Informer) {
			got := snapshot(t, i)
			if !got.Informer.Synced || !slices.Equal(cached(i), []string{"a@4", "c@6"}) || len(got.Quarantine) != 1 || got.Quarantine[0].Key != "ns/bad" {
				t.Errorf("synced %v, cached %v, set aside %+v", got.Informer.Synced, cached(i), got.Quarantine)
			}
			s.send("+d@11", "E410")
			time.Sleep(time.Minute)
			synctest.Wait()
			if got := fmt.Sprint(cached(i)); !strings.Contains(got, "a@4 c@6") {
				t.Errorf("after another list: %s", got)
			}
		})
	})
}

// TestWhatNeverGotInIsNotSetAsideOnceItIsDeleted: a DeltaFIFO has nothing to do
// for the deletion of what nobody knows, so it never gets as far as the store.
func TestWhatNeverGotInIsNotSetAsideOnceItIsDeleted(t *testing.T) {
	eachQueue(t, func(t *testing.T, queue Queue) {
		s := &script{lists: []string{"10:"}}
		onScript(t, s, Options{Queue: queue}, func(i *Informer) { _ = i.SetTransform(touchyAt(map[string]int32{"11": 5})) }, func(t *testing.T, i *Informer) {
			s.send("+b@11")
			synctest.Wait()
			if n := len(snapshot(t, i).Quarantine); n != 1 {
				t.Fatalf("%d set aside", n)
			}
			s.send("-b@12")
			synctest.Wait()
			if left := snapshot(t, i).Quarantine; len(left) > 0 {
				t.Errorf("still set aside: %+v", left)
			}
		})
	})
}
