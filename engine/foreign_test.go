package engine

import (
	"context"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"

	"github.com/informeter/informeter/engine/inspect"
)

// An object's methods are foreign code. What they do wrong costs that object, and
// in a strict informer what it costs with client-go.

// stubborn is an object of somebody else's type, some of whose methods panic.
type stubborn struct {
	*corev1.Pod
	panicking *atomic.Value // the methods that panic, as text
}

func (o *stubborn) ask(method string) {
	if methods, _ := o.panicking.Load().(string); strings.Contains(methods, method) {
		panic(method + " is not for you")
	}
}

func (o *stubborn) GetName() string {
	o.ask("GetName")
	return o.Pod.GetName()
}

func (o *stubborn) GetUID() types.UID {
	o.ask("GetUID")
	return o.Pod.GetUID()
}

func (o *stubborn) GetResourceVersion() string {
	o.ask("GetResourceVersion")
	return o.Pod.GetResourceVersion()
}

func (o *stubborn) GetLabels() map[string]string {
	o.ask("GetLabels")
	return o.Pod.GetLabels()
}

func (o *stubborn) GetCreationTimestamp() metav1.Time {
	o.ask("GetCreationTimestamp")
	return o.Pod.GetCreationTimestamp()
}

func (o *stubborn) GetManagedFields() []metav1.ManagedFieldsEntry {
	o.ask("GetManagedFields")
	return o.Pod.GetManagedFields()
}

func (o *stubborn) Size() int {
	o.ask("Size")
	return o.Pod.Size()
}

func (o *stubborn) MarshalJSON() ([]byte, error) {
	o.ask("MarshalJSON")
	return []byte("{}"), nil
}

func (o *stubborn) DeepCopyObject() runtime.Object {
	o.ask("DeepCopyObject")
	return &stubborn{o.Pod.DeepCopy(), o.panicking}
}

// everyMethod is what a stubborn object may be asked by whoever looks.
const everyMethod = "GetUID GetResourceVersion GetLabels GetCreationTimestamp GetManagedFields Size MarshalJSON"

func panicking(methods string) *atomic.Value {
	v := new(atomic.Value)
	v.Store(methods)
	return v
}

// stubbornly is a transform that makes the pods called bad stubborn.
func stubbornly(v *atomic.Value) cache.TransformFunc {
	return func(obj any) (any, error) {
		if p, ok := obj.(*corev1.Pod); ok && p.Name == "bad" {
			return &stubborn{p, v}, nil
		}
		return obj, nil
	}
}

// copying is a mutation detector that does nothing but copy.
type copying struct{ copies atomic.Int32 }

func (c *copying) Run(<-chan struct{}) {}

func (c *copying) AddObject(obj any) {
	_ = obj.(runtime.Object).DeepCopyObject()
	c.copies.Add(1)
}

func TestAnObjectWhoseNameCannotBeAskedIsSetAside(t *testing.T) {
	eachQueue(t, func(t *testing.T, queue Queue) {
		t.Run("listed", func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				bad := &stubborn{pod("bad"), panicking("GetName")}
				i := New(oddLister{[]runtime.Object{pod("a"), bad, pod("b")}}, nil, Options{Queue: queue})
				stop := run(i)
				synctest.Wait()
				got := snapshot(t, i)
				if !got.Informer.Synced || !slices.Equal(i.GetStore().ListKeys(), []string{"ns/a", "ns/b"}) {
					t.Errorf("synced %v, cached %v, want both neighbours", got.Informer.Synced, i.GetStore().ListKeys())
				}
				if len(got.Quarantine) != 1 || got.Quarantine[0].Stage != "key" || !strings.Contains(got.Quarantine[0].Error, "GetName is not for you") {
					t.Errorf("set aside: %+v", got.Quarantine)
				}
				stop()
			})
		})
		t.Run("transformed", func(t *testing.T) {
			s := &script{lists: []string{"10: a@4 bad@5"}}
			onScript(t, s, Options{Queue: queue}, func(i *Informer) { _ = i.SetTransform(stubbornly(panicking("GetName"))) }, func(t *testing.T, i *Informer) {
				s.send("~bad@11", "+c@12")
				synctest.Wait()
				got := snapshot(t, i)
				if !slices.Equal(cached(i), []string{"a@4", "c@12"}) || len(got.Quarantine) != 1 {
					t.Fatalf("cached %v, set aside %+v", cached(i), got.Quarantine)
				}
				if q := got.Quarantine[0]; q.Key != "ns/bad" || q.Stage != "transform" || q.Times != 2 || !strings.Contains(q.Error, "GetName is not for you") {
					t.Errorf("set aside: %+v", q)
				}
			})
		})
	})
}

// TestAKeyFunctionThatPanicsIsAnError: an object may be asked for its name more
// than once, and not answer the second time.
func TestAKeyFunctionThatPanicsIsAnError(t *testing.T) {
	bad := &stubborn{pod("bad"), panicking("GetName")}
	i := New(&script{}, &corev1.Pod{}, Options{})
	if _, err := i.keyFunc(bad); err == nil || !strings.Contains(err.Error(), "GetName is not for you") {
		t.Errorf("error %v, want what it panicked with", err)
	}
	defer func() {
		if recover() == nil {
			t.Error("with Strict it is contained, not as with client-go")
		}
	}()
	_, _ = New(&script{}, &corev1.Pod{}, Options{Strict: true}).keyFunc(bad)
}

// TestAnObjectOfARelistThatTurnsStubbornCostsNoOther: it is asked for its name
// again when the list is applied, where the queue has not made keys of it.
func TestAnObjectOfARelistThatTurnsStubbornCostsNoOther(t *testing.T) {
	s, v := &script{lists: []string{"10: a@4", "20: a@4 bad@15 c@16"}}, panicking("")
	onScript(t, s, Options{Queue: InOrder}, func(i *Informer) { _ = i.SetTransform(stubbornly(v)) }, func(t *testing.T, i *Informer) {
		_ = i.Pause(t.Context())
		s.send("E410")
		time.Sleep(time.Minute)
		synctest.Wait()
		v.Store("GetName")
		_ = i.Resume(t.Context())
		synctest.Wait()
		got := snapshot(t, i)
		if !slices.Equal(cached(i), []string{"a@4", "c@16"}) || len(got.Quarantine) != 1 || got.Quarantine[0].Stage != "key" {
			t.Errorf("cached %v, set aside %+v", cached(i), got.Quarantine)
		}
	})
}

func TestAnObjectThatCannotBeCopiedIsToldAllTheSame(t *testing.T) {
	eachQueue(t, func(t *testing.T, queue Queue) {
		heard := listenToErrors(t)
		s, h, detector := &script{lists: []string{"10: a@4 bad@5 c@6"}}, &recorder{}, &copying{}
		onScript(t, s, Options{Queue: queue}, func(i *Informer) {
			i.mutations = detector
			join(t, i, h, 0)
			_ = i.SetTransform(stubbornly(panicking("DeepCopyObject")))
		}, func(t *testing.T, i *Informer) {
			told := h.all()
			slices.Sort(told)
			if want := []string{"add a@4 initially", "add bad@5 initially", "add c@6 initially"}; !slices.Equal(told, want) {
				t.Errorf("told %v, want %v", told, want)
			}
			if n := detector.copies.Load(); n != 2 {
				t.Errorf("%d objects are watched for mutations, want the other two", n)
			}
			if aside := snapshot(t, i).Quarantine; len(aside) > 0 {
				t.Errorf("set aside, though it is in the store: %+v", aside)
			}
			expectLines(t, heard(), `"Object not watched for mutations" err="panicked: DeepCopyObject is not for you" informer="v1.Pod" key="ns/bad"`)
		})
	})
}

// TestAStrictInformerLetsPanicsOfObjectsThrough as client-go does.
func TestAStrictInformerLetsPanicsOfObjectsThrough(t *testing.T) {
	for _, method := range []string{"DeepCopyObject", "GetResourceVersion"} {
		t.Run(method, func(t *testing.T) {
			panics := surviving(t)
			s := &script{lists: []string{"10: a@4"}}
			onScript(t, s, Options{Strict: true}, func(i *Informer) {
				i.mutations = &copying{}
				_ = i.SetTransform(stubbornly(panicking(method)))
			}, func(t *testing.T, _ *Informer) {
				s.send("+bad@11")
				time.Sleep(5 * time.Second)
				if n := panics.Load(); n != 1 {
					t.Errorf("%d panics got through, want one", n)
				}
			})
		})
	}
}

// TestIndicesAndObjectsAreHardenedApart: each has its own option.
func TestIndicesAndObjectsAreHardenedApart(t *testing.T) {
	index := cache.Indexers{"i": func(obj any) ([]string, error) { return []string{obj.(*stubborn).Spec.NodeName}, nil }}
	for name, c := range map[string]struct {
		hardening Hardening
		panics    string // what it panics with, nothing if it does not
	}{
		"hardened":                  {Hardening{}, ""},
		"index containment is off":  {Hardening{DisableIndexContainment: true}, ""},
		"quarantine is off":         {Hardening{DisableQuarantine: true}, "GetResourceVersion is not for you"},
		"both are off, as in stock": {Hardening{DisableQuarantine: true, DisableIndexContainment: true}, "GetResourceVersion is not for you"},
	} {
		t.Run(name, func(t *testing.T) {
			i := New(&script{}, &corev1.Pod{}, Options{Hardening: c.hardening, Indexers: index})
			defer func() {
				p := recover()
				if text, _ := p.(string); text != c.panics {
					t.Errorf("panicked with %v, want %q", p, c.panics)
				}
			}()
			if err := i.GetStore().Add(&stubborn{pod("bad"), panicking("GetResourceVersion")}); err == nil {
				t.Error("an object that does not say its version was stored")
			}
		})
	}
}

func TestAnObjectWhoseIdentityCannotBeAskedIsToldAsAnUpdate(t *testing.T) {
	heard := listenToErrors(t)
	s, h := &script{lists: []string{"10: bad@5/U1"}}, &recorder{}
	v := panicking("")
	onScript(t, s, Options{Hardening: Hardening{SplitIdentity: true}}, func(i *Informer) {
		join(t, i, h, 0)
		_ = i.SetTransform(stubbornly(v))
	}, func(t *testing.T, _ *Informer) {
		v.Store("GetUID")
		s.send("~bad@11/U2", "+c@12")
		synctest.Wait()
		if want := []string{"add bad@5 initially", "update bad@5 to bad@11", "add c@12"}; !slices.Equal(h.all(), want) {
			t.Errorf("want %v", want)
		}
		expectLines(t, heard(), `"Update not looked at for another identity" err="panicked: GetUID is not for you" informer="v1.Pod" key="ns/bad"`)
	})
}

// TestWhoeverLooksAtAStubbornObjectGoesOn: what looks is a listener and readers,
// none of which may end the program.
func TestWhoeverLooksAtAStubbornObjectGoesOn(t *testing.T) {
	for _, method := range strings.Fields(everyMethod) {
		t.Run(method, func(t *testing.T) {
			s, v := &script{lists: []string{"10: a@4 bad@5"}}, panicking("")
			onScript(t, s, Options{}, func(i *Informer) { _ = i.SetTransform(stubbornly(v)) }, func(t *testing.T, i *Informer) {
				v.Store(method)
				release := must[func()](t)(i.Open())
				defer release()
				synctest.Wait()
				s.send("~bad@11")
				synctest.Wait()
				lookAround(t, i)
				if err := i.Pause(t.Context()); err != nil {
					t.Fatal(err)
				}
				s.send("~bad@12", "-bad@13")
				synctest.Wait()
				lookAround(t, i)
				_ = i.Resume(t.Context())
				synctest.Wait()
				s.send("+c@14")
				synctest.Wait()
				lookAround(t, i)
				if got := cached(i); !slices.Equal(got, []string{"a@4", "c@14"}) {
					t.Errorf("cached %v", got)
				}
			})
		})
	}
}

// lookAround reads everything that there is to read.
func lookAround(t *testing.T, i *Informer) {
	t.Helper()
	ctx := t.Context()
	if s := snapshot(t, i); s.Journal == nil {
		t.Error("nobody keeps a journal")
	}
	for _, sort := range []inspect.Sort{inspect.SortKey, inspect.SortVersion, inspect.SortAge, inspect.SortSize, inspect.SortWriter, inspect.SortUpdates} {
		if _, err := i.Store(ctx, inspect.Query{Sort: sort, Limit: 10}); err != nil {
			t.Errorf("Store by %s: %v", sort, err)
		}
	}
	if _, err := i.Store(ctx, inspect.Query{Filter: "-l app=web", Limit: 10}); err != nil {
		t.Errorf("Store by labels: %v", err)
	}
	_, _ = i.Queue(ctx, inspect.QueueQuery{Limit: 10})
	// These may fail, but not otherwise.
	_, _ = i.Object(ctx, inspect.ObjectRequest{Key: "ns/bad"})
	b, _ := i.Biography(ctx, inspect.BiographyRequest{Key: "ns/bad"})
	for n := range b.Events {
		_, _ = i.Object(ctx, inspect.ObjectRequest{Key: "ns/bad", Version: b.Events[n].Version})
	}
	_, _ = i.Moments(context.WithoutCancel(ctx), inspect.MomentQuery{Limit: 10})
}
