package engine

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"

	"github.com/informeter/informeter/engine/deltafifo"
)

// What cannot be enqueued, on the ways on which it comes: by a list, a watch, an
// initial stream; with both queues.

// spoil is a transform that makes of some pods something that cannot be stored.
func spoil(way string, which func(*corev1.Pod) bool) cache.TransformFunc {
	bad := refuseBad(way)
	return func(obj any) (any, error) {
		p, ok := obj.(*corev1.Pod)
		if !ok || !which(p) {
			return obj, nil
		}
		switch way {
		case "keyless":
			return "just its name", nil
		case "nil pointer":
			return (*corev1.Pod)(nil), nil
		}
		return bad(pod("bad"))
	}
}

var waysToFail = []string{"error", "panic", "nothing", "nil pointer", "keyless"}

func called(name string) func(*corev1.Pod) bool {
	return func(p *corev1.Pod) bool { return p.Name == name }
}

// cached returns what is in the store, in order.
func cached(i cache.SharedIndexInformer) []string {
	all := []string{}
	for _, obj := range i.GetStore().List() {
		all = append(all, label(obj))
	}
	slices.Sort(all)
	return all
}

func eachQueue(t *testing.T, test func(t *testing.T, queue Queue)) {
	for _, queue := range []Queue{DeltaFIFO, InOrder} {
		t.Run(queue.String(), func(t *testing.T) { test(t, queue) })
	}
}

func TestATransformThatFailsCostsOneObject(t *testing.T) {
	for _, way := range waysToFail {
		t.Run(way, func(t *testing.T) {
			eachQueue(t, func(t *testing.T, queue Queue) {
				s := &script{lists: []string{"10: bad@5 good@6"}}
				onScript(t, s, Options{Queue: queue}, func(i *Informer) { _ = i.SetTransform(spoil(way, called("bad"))) }, func(t *testing.T, i *Informer) {
					s.send("~bad@11", "+late@12")
					synctest.Wait()
					got := snapshot(t, i)
					if !got.Informer.Synced || got.Requests.Lists != 1 || !slices.Equal(cached(i), []string{"good@6", "late@12"}) {
						t.Errorf("synced %v after %d lists, cached %v", got.Informer.Synced, got.Requests.Lists, cached(i))
					}
					if got.Handle.Quarantined != 2 || len(got.Quarantine) != 1 || got.Quarantine[0].Key != "ns/bad" || got.Quarantine[0].ResourceVersion != "11" || got.Quarantine[0].Stage != "transform" {
						t.Errorf("quarantine of %d = %+v, want the bad one twice", got.Handle.Quarantined, got.Quarantine)
					}
					s.send("-bad@13", "~good@14", "-good@15")
					synctest.Wait()
					if !slices.Equal(cached(i), []string{"late@12"}) {
						t.Errorf("after the deletions: %v", cached(i))
					}
				})
			})
		})
	}
}

// TestABadObjectInARelistDoesNotTurnBackTime: a list is served from a cache of the
// server, so what the queue has of an object is as good as what the list has; and
// what the store has is older than what the queue has.
func TestABadObjectInARelistDoesNotTurnBackTime(t *testing.T) {
	for name, c := range map[string]struct {
		first, event, relist string
		cached, told         []string
	}{
		"update pending": {"10: a@5", "~a@12", "20: a@15", []string{"a@12"}, []string{"add a@5 initially", "update a@5 to a@12"}},
		"add pending":    {"10:", "+a@12", "20: a@15", []string{"a@12"}, []string{"add a@12"}},
		"delete pending": {"10: a@5", "-a@12", "20: a@15", []string{}, []string{"add a@5 initially", "delete a@12"}},
		"nothing":        {"10: a@5", "B@12", "20: a@15 b@16", []string{"a@5", "b@16"}, []string{"add a@5 initially", "add b@16"}},
		"it is gone":     {"10: a@5", "~a@12", "20: b@16", []string{"b@16"}, []string{"add a@5 initially", "update a@5 to a@12", "delete [a@12]", "add b@16"}},
	} {
		t.Run(name, func(t *testing.T) {
			eachQueue(t, func(t *testing.T, queue Queue) {
				h := &recorder{}
				s := &script{lists: []string{c.first, c.relist}}
				onScript(t, s, Options{Queue: queue}, func(i *Informer) {
					join(t, i, h, 0)
					_ = i.SetTransform(spoil("error", func(p *corev1.Pod) bool { return p.ResourceVersion == "15" }))
				}, func(t *testing.T, i *Informer) {
					if err := i.Pause(t.Context()); err != nil {
						t.Fatal(err)
					}
					s.send(c.event, "E410")
					time.Sleep(time.Minute)
					synctest.Wait()
					if err := i.Resume(t.Context()); err != nil {
						t.Fatal(err)
					}
					synctest.Wait()
					told := h.all()
					slices.SortStableFunc(told, func(a, b string) int {
						return strings.Compare(strings.Trim(strings.Fields(a)[1], "[]")[:1], strings.Trim(strings.Fields(b)[1], "[]")[:1])
					})
					if !slices.Equal(cached(i), c.cached) || !slices.Equal(told, c.told) {
						t.Errorf("cached %v, want %v; told %v, want %v", cached(i), c.cached, told, c.told)
					}
				})
			})
		})
	}
}

// oddLister lists whatever it is given, and streams nothing.
type oddLister struct{ objects []runtime.Object }

func (oddLister) IsWatchListSemanticsUnSupported() bool { return true }

func (o oddLister) List(metav1.ListOptions) (runtime.Object, error) {
	list := &metav1.List{ListMeta: metav1.ListMeta{ResourceVersion: "10"}}
	for _, obj := range o.objects {
		list.Items = append(list.Items, runtime.RawExtension{Object: obj})
	}
	return list, nil
}

func (oddLister) Watch(metav1.ListOptions) (watch.Interface, error) { return watch.NewFake(), nil }

func TestAnObjectWithoutAKeyIsSetAside(t *testing.T) {
	eachQueue(t, func(t *testing.T, queue Queue) {
		synctest.Test(t, func(t *testing.T) {
			// Without an example nothing says what belongs into the store.
			i := New(oddLister{[]runtime.Object{pod("a"), &metav1.Status{Message: "no pod"}, pod("b"), (*corev1.Pod)(nil)}}, nil, Options{Queue: queue})
			stop := run(i)
			synctest.Wait()
			got := snapshot(t, i)
			if !got.Informer.Synced || !slices.Equal(i.GetStore().ListKeys(), []string{"ns/a", "ns/b"}) {
				t.Errorf("synced %v, cached %v, want both pods; %s", got.Informer.Synced, i.GetStore().ListKeys(), got.Reflector.Error)
			}
			if got.Handle.Quarantined != 2 || got.Quarantine[0].Stage != "key" || got.Quarantine[0].Times != 2 {
				t.Errorf("%d set aside: %+v", got.Handle.Quarantined, got.Quarantine)
			}
			stop()
		})
	})
}

func TestAnEventWithoutAKeyIsSetAside(t *testing.T) {
	var q quarantine
	in := &intake{queue: deltafifo.New(deltafifo.Options{}), keyFunc: cache.MetaNamespaceKeyFunc, quarantine: &q}
	for _, transform := range []cache.TransformFunc{nil, func(obj any) (any, error) { return obj, nil }} {
		in.transform = transform
		for name, err := range map[string]error{"Add": in.Add(42), "Update": in.Update(42), "Delete": in.Delete(42)} {
			if err != nil {
				t.Errorf("%s = %v, want it set aside", name, err)
			}
		}
		in.Enqueue([]cache.Delta{{Type: cache.Added, Object: pod("a")}, {Type: cache.Updated, Object: 42}, {Type: cache.Updated, Object: pod("a")}}, nil)
	}
	if total, newest := q.vitals(); total != 8 || newest[0].Stage != "key" || newest[0].Times != 8 {
		t.Errorf("quarantine: %d, %+v", total, newest)
	}
	if got := in.queue.Vitals(time.Now()).Deltas; got != 4 {
		t.Errorf("%d deltas are in the queue, want those of a", got)
	}
}

// stockAndOurs are client-go's informer and ours, by name.
func stockAndOurs(o Options) map[string]func(cache.ListerWatcher) cache.SharedIndexInformer {
	return map[string]func(cache.ListerWatcher) cache.SharedIndexInformer{
		"client-go": func(lw cache.ListerWatcher) cache.SharedIndexInformer {
			return cache.NewSharedIndexInformer(lw, &corev1.Pod{}, o.Resync, o.Indexers)
		},
		"ours": func(lw cache.ListerWatcher) cache.SharedIndexInformer { return New(lw, &corev1.Pod{}, o) },
	}
}

// TestStrictIsStockWhateverATransformReturns: what a transform makes of an object
// of a list, an addition, an update or a deletion costs what it costs with
// client-go.
func TestStrictIsStockWhateverATransformReturns(t *testing.T) {
	for _, way := range []string{"error", "nothing", "keyless"} { // the others end the process
		for at, what := range map[string]string{"5": "list", "12": "addition", "13": "update", "14": "deletion"} {
			t.Run(way+"/"+what, func(t *testing.T) {
				outcomes := map[string][]string{}
				for name, build := range stockAndOurs(Options{Strict: true}) {
					synctest.Test(t, func(t *testing.T) {
						s, h := &script{lists: []string{"10: a@5"}}, &recorder{}
						i := build(s)
						_, _ = i.AddEventHandler(h)
						_ = i.SetTransform(spoil(way, func(p *corev1.Pod) bool { return p.ResourceVersion == at }))
						stop := run(i)
						synctest.Wait()
						for _, event := range []string{"+b@12", "~a@13", "-a@14", "~b@16"} {
							if s.count("WATCH") > 0 { // not if the list was refused
								s.send(event)
								synctest.Wait()
							}
						}
						outcomes[name] = slices.Concat(cached(i), h.all(), []string{fmt.Sprint("synced ", i.HasSynced())})
						stop()
					})
				}
				if diff := cmp.Diff(outcomes["client-go"], outcomes["ours"]); diff != "" {
					t.Errorf("-client-go +ours:\n%s", diff)
				}
			})
		}
	}
}

func TestABadObjectOfAnInitialStreamIsSetAside(t *testing.T) {
	for _, way := range waysToFail {
		t.Run(way, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := streaming{&script{lists: []string{"10:"}, watches: []string{"+a@5 +bad@6 +c@7"}}}
				i := New(s, &corev1.Pod{}, Options{})
				_ = i.SetTransform(spoil(way, called("bad")))
				stop := run(i)
				synctest.Wait()
				end := pod("")
				end.ResourceVersion, end.Annotations = "9", map[string]string{metav1.InitialEventsAnnotationKey: "true"}
				s.streams[0].Action(watch.Bookmark, end)
				synctest.Wait()
				got := snapshot(t, i)
				if !got.Informer.Synced || !slices.Equal(cached(i), []string{"a@5", "c@7"}) || got.Handle.Quarantined != 1 || got.Reflector.Skipped != 0 {
					t.Errorf("synced %v, cached %v, %d set aside, %d skipped", got.Informer.Synced, cached(i), got.Handle.Quarantined, got.Reflector.Skipped)
				}
				stop()
			})
		})
	}
}

// TestWhatIsWellAgainIsNotSetAsideAnyMore: an entry of the quarantine goes with
// the next state that passes, or with the object.
func TestWhatIsWellAgainIsNotSetAsideAnyMore(t *testing.T) {
	bad := func(p *corev1.Pod) bool { return len(p.ResourceVersion) == 2 && p.ResourceVersion[1] == '3' }
	for name, c := range map[string]struct {
		lists  []string
		events []string
		listed string // whether the entry is there after each event
	}{
		"a newer state passes":      {[]string{"10: a@5"}, []string{"~a@13", "~a@14"}, "yn"},
		"another object passes":     {[]string{"10: a@5"}, []string{"~a@13", "+b@14"}, "yy"},
		"it fails again":            {[]string{"10: a@5"}, []string{"~a@13", "~a@23"}, "yy"},
		"it passes and fails again": {[]string{"10: a@5"}, []string{"~a@13", "~a@14", "~a@23"}, "yny"},
		"it is deleted":             {[]string{"10: a@5"}, []string{"~a@13", "-a@14"}, "yn"},
		"it is deleted unseen":      {[]string{"10:"}, []string{"+a@13", "-a@14"}, "yn"},
		"a list has it well":        {[]string{"10: a@5", "20: a@14"}, []string{"~a@13", "E410"}, "yn"},
		"a list has it bad":         {[]string{"10: a@5", "20: a@13"}, []string{"~a@13", "E410"}, "yy"},
		"a list is without it":      {[]string{"10: a@5", "20: b@14"}, []string{"~a@13", "E410"}, "yn"},
		"a resync repeats it":       {[]string{"10: a@5"}, []string{"~a@13", "B@15"}, "yy"},
	} {
		t.Run(name, func(t *testing.T) {
			eachQueue(t, func(t *testing.T, queue Queue) {
				s := &script{lists: c.lists}
				onScript(t, s, Options{Queue: queue, Resync: 10 * time.Second}, func(i *Informer) {
					join(t, i, &recorder{}, 10*time.Second)
					_ = i.SetTransform(spoil("error", bad))
				}, func(t *testing.T, i *Informer) {
					listed := ""
					for _, event := range c.events {
						s.send(event)
						time.Sleep(time.Minute)
						synctest.Wait()
						listed += map[int]string{0: "n", 1: "y"}[len(snapshot(t, i).Quarantine)]
					}
					if listed != c.listed {
						t.Errorf("listed after each event: %s, want %s; %+v", listed, c.listed, snapshot(t, i).Quarantine)
					}
				})
			})
		})
	}
}

func TestAnObjectOfAnotherTypeIsLeftOutOfAList(t *testing.T) {
	node := &corev1.Node{}
	node.Name = "n"
	for refuse, want := range map[bool][]string{false: {"ns/a"}, true: {"n", "ns/a"}} { // as client-go
		eachQueue(t, func(t *testing.T, queue Queue) {
			synctest.Test(t, func(t *testing.T) {
				i := New(oddLister{[]runtime.Object{node, pod("a")}}, &corev1.Pod{}, Options{Queue: queue, Hardening: Hardening{DisableQuarantine: refuse}})
				stop := run(i)
				synctest.Wait()
				got := snapshot(t, i).Reflector
				keys := i.GetStore().ListKeys()
				slices.Sort(keys)
				if !i.HasSynced() || !slices.Equal(keys, want) || (got.Skipped == 1) == refuse || !refuse && !strings.Contains(got.LastSkipped, "*v1.Node") {
					t.Errorf("synced %v, cached %v, want %v; %d skipped: %s", i.HasSynced(), keys, want, got.Skipped, got.LastSkipped)
				}
				stop()
			})
		})
	}
}
