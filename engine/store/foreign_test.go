package store_test

import (
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/cache"

	"github.com/informeter/informeter/engine/store"
)

// moody is an object whose methods are foreign code: it panics if it is asked for
// its resource version while that is not set.
type moody struct{ metav1.ObjectMeta }

func (m *moody) GetResourceVersion() string {
	if m.ResourceVersion == "" {
		panic("not loaded yet")
	}
	return m.ResourceVersion
}

func newMoody(rv string) *moody {
	return &moody{metav1.ObjectMeta{Name: "m", ResourceVersion: rv}}
}

func TestAnObjectThatPanicsCostsNoOtherOfItsBatch(t *testing.T) {
	x := store.New(cache.MetaNamespaceKeyFunc, cache.Indexers{"n": func(any) ([]string, error) { return []string{"v"}, nil }}, store.Options{})
	ops := []store.Op{{Key: "a", Object: newMoody("1")}, {Key: "m", Object: newMoody("")}, {Key: "b", Object: newMoody("2")}}
	x.Apply(ops)
	if err := x.CheckInvariants(); err != nil {
		t.Fatal(err)
	}
	if ops[0].Err != nil || ops[2].Err != nil || ops[1].Err == nil || !strings.Contains(ops[1].Err.Error(), "not loaded yet") {
		t.Errorf("errors: %v, %v, %v", ops[0].Err, ops[1].Err, ops[2].Err)
	}
	if x.Len() != 2 || x.ResourceVersion() != "2" {
		t.Errorf("%d objects at %q, want both neighbours at 2", x.Len(), x.ResourceVersion())
	}
	if err := x.Add(newMoody("")); err == nil || x.Len() != 2 {
		t.Errorf("Add = %v with %d objects, want an error and nothing stored", err, x.Len())
	}
}

// TestAnObjectThatTurnsBadIsReplacedAndDeletedAllTheSame: somebody wrote to the
// cached object.
func TestAnObjectThatTurnsBadIsReplacedAndDeletedAllTheSame(t *testing.T) {
	x := store.New(cache.MetaNamespaceKeyFunc, nil, store.Options{})
	cached := newMoody("1")
	x.Apply([]store.Op{{Key: "m", Object: cached}})
	cached.ResourceVersion = ""
	ops := []store.Op{{Key: "m", Object: newMoody("1")}}
	x.Apply(ops)
	if ops[0].Err != nil || ops[0].Unchanged {
		t.Errorf("error %v, unchanged %v, want it taken for another state", ops[0].Err, ops[0].Unchanged)
	}
	ops = []store.Op{{Key: "m", Object: cached, Delete: true}}
	x.Apply(ops)
	if ops[0].Err != nil || x.Len() != 0 {
		t.Errorf("error %v, %d objects left", ops[0].Err, x.Len())
	}
}

func TestAnObjectThatPanicsCrashesWhereFailuresDo(t *testing.T) {
	x := store.New(cache.MetaNamespaceKeyFunc, nil, store.Options{ObjectFailure: store.Crash})
	defer func() {
		if recover() == nil {
			t.Error("it was contained")
		}
	}()
	x.Apply([]store.Op{{Key: "m", Object: newMoody("")}})
}
