package store_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"unsafe"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/tools/cache"
	"pgregory.net/rapid"

	"github.com/informeter/informeter/engine/inspect"
	"github.com/informeter/informeter/engine/store"
)

func newStore(indexers cache.Indexers) *store.Indexer {
	return store.New(cache.DeletionHandlingMetaNamespaceKeyFunc, indexers, store.Options{})
}

func mustAdd(t *testing.T, x *store.Indexer, objs ...any) {
	t.Helper()
	for _, obj := range objs {
		if err := x.Add(obj); err != nil {
			t.Fatal(err)
		}
	}
	sound(t, x)
}

func sound(t *testing.T, x *store.Indexer) {
	t.Helper()
	if err := x.CheckInvariants(); err != nil {
		t.Fatalf("invariants: %v", err)
	}
}

func keysIn(t *testing.T, x *store.Indexer, index, value string) []string {
	t.Helper()
	keys, err := x.IndexKeys(index, value)
	if err != nil {
		t.Fatal(err)
	}
	return keys
}

func TestAWriteHasTheTextOfTheKeyThatIsStored(t *testing.T) {
	x := newStore(nil)
	obj := podOf(1, "n1", "a", "", "5")
	first := strings.Clone("ns-1/pod-1")
	x.Apply([]store.Op{{Key: first, Object: obj}})
	for _, op := range []store.Op{{Object: podOf(1, "n1", "a", "", "6")}, {Object: obj, Delete: true}} {
		op.Key = strings.Clone(first)
		ops := []store.Op{op}
		if x.Apply(ops); unsafe.StringData(ops[0].Key) != unsafe.StringData(first) {
			t.Errorf("deleted %v: the key is another text", op.Delete)
		}
	}
}

func TestApplySaysWhatBecameOfEveryWrite(t *testing.T) {
	x := newStore(allIndexers)
	first, same, second := podOf(1, "n1", "a", "", "5"), podOf(1, "n1", "a", "", "5"), podOf(1, "n2", "a", "", "6")
	key := "ns-1/pod-1"
	ops := []store.Op{
		{Key: key, Delete: true, Object: first},
		{Key: key, Object: first},
		{Key: key, Object: same},
		{Key: key, Object: second},
		{Key: key, Object: nil},
		{Key: key, Delete: true},
		{Key: key, Object: first},
	}
	x.Apply(ops)
	sound(t, x)
	type result struct {
		Old                any
		Existed, Unchanged bool
		Failed             bool
	}
	want := []result{
		{},
		{},
		{Old: first, Existed: true, Unchanged: true},
		{Old: same, Existed: true},
		{Old: second, Existed: true, Failed: true},
		{Old: second, Existed: true},
		{},
	}
	for i, op := range ops {
		got := result{op.Old, op.Existed, op.Unchanged, op.Err != nil}
		if got != want[i] {
			t.Errorf("write %d: %+v, want %+v", i, got, want[i])
		}
	}
	wantVitals := inspect.StoreVitals{Objects: 1, ResourceVersion: "6", Added: 2, Updated: 1, Unchanged: 1, Deleted: 1}
	if diff := cmp.Diff(wantVitals, x.Vitals()); diff != "" {
		t.Errorf("vitals (-want +got):\n%s", diff)
	}
	if obj, _, _ := x.GetByKey(key); obj != first {
		t.Errorf("stored: %v", obj)
	}
}

func TestApplyForgetsWhatOpsHeldBefore(t *testing.T) {
	x := newStore(nil)
	op := store.Op{Key: "k", Object: podOf(1, "", "", "", "1"), Old: "old", Existed: true, Unchanged: true, Err: errors.New("old")}
	ops := []store.Op{op}
	x.Apply(ops)
	if got := ops[0]; got.Old != nil || got.Existed || got.Unchanged || got.Err != nil {
		t.Errorf("a used Op was not reset: %+v", got)
	}
}

func TestResourceVersion(t *testing.T) {
	apply := func(ops ...store.Op) func(*store.Indexer) { return func(x *store.Indexer) { x.Apply(ops) } }
	put := func(n int, rv string) store.Op {
		return store.Op{Key: fmt.Sprintf("ns-%d/pod-%d", n%3, n), Object: podOf(n, "", "", "", rv)}
	}
	tombstone := cache.DeletedFinalStateUnknown{Key: "ns-1/pod-1", Obj: podOf(1, "", "", "", "99")}
	for _, c := range []struct {
		name string
		do   []func(*store.Indexer)
		want string
	}{
		{"of the newest object", []func(*store.Indexer){apply(put(1, "9"), put(2, "10"))}, "10"},
		{"a relist's objects come in any order", []func(*store.Indexer){apply(put(1, "30")), apply(put(2, "20"), put(3, "10"))}, "30"},
		{"a resync puts old objects again", []func(*store.Indexer){
			apply(put(1, "7")), func(x *store.Indexer) { x.Bookmark("5") }, apply(put(1, "7")),
		}, "5"},
		{"a deletion has its own", []func(*store.Indexer){apply(put(1, "7")), apply(store.Op{Key: "ns-1/pod-1", Delete: true, Object: podOf(1, "", "", "", "8")})}, "8"},
		{"a tombstone has none", []func(*store.Indexer){apply(put(1, "7")), apply(store.Op{Key: "ns-1/pod-1", Delete: true, Object: tombstone})}, "7"},
		{"Delete with a tombstone", []func(*store.Indexer){apply(put(1, "7")), func(x *store.Indexer) { _ = x.Delete(tombstone) }}, "7"},
		{"one that cannot be compared is taken", []func(*store.Indexer){apply(put(1, "7")), apply(put(2, "abc"))}, "abc"},
		{"an empty one is not", []func(*store.Indexer){apply(put(1, "7")), apply(put(2, ""))}, "7"},
		{"Replace sets it back", []func(*store.Indexer){apply(put(1, "7")), func(x *store.Indexer) { _ = x.Replace(nil, "3") }}, "3"},
		{"Update sets it back, as in client-go", []func(*store.Indexer){apply(put(1, "7")), func(x *store.Indexer) { _ = x.Update(podOf(2, "", "", "", "3")) }}, "3"},
	} {
		t.Run(c.name, func(t *testing.T) {
			x := newStore(nil)
			for _, do := range c.do {
				do(x)
			}
			if got := x.LastStoreSyncResourceVersion(); got != c.want || x.ResourceVersion() != c.want || x.Vitals().ResourceVersion != c.want {
				t.Errorf("resource version %q, want %q", got, c.want)
			}
		})
	}
}

func TestAMutatedObjectLeavesNothingBehind(t *testing.T) {
	for _, c := range []struct {
		name  string
		write func(x *store.Indexer, obj *corev1.Pod)
		want  int
	}{
		{"update", func(x *store.Indexer, _ *corev1.Pod) { _ = x.Update(podOf(1, "n3", "x,y", "o3", "2")) }, 1},
		{"the same pointer again", func(x *store.Indexer, obj *corev1.Pod) { _ = x.Update(obj) }, 1},
		{"delete", func(x *store.Indexer, obj *corev1.Pod) { _ = x.Delete(obj) }, 0},
		{"replace", func(x *store.Indexer, _ *corev1.Pod) { _ = x.Replace(nil, "2") }, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			x := newStore(allIndexers)
			cached := podOf(1, "n1", "a,b", "o1", "1")
			mustAdd(t, x, cached, podOf(2, "n1", "a", "o1", "1"))
			cached.Spec.NodeName, cached.Annotations["values"], cached.OwnerReferences[0].Name = "n2", "c", "o2"
			c.write(x, cached)
			sound(t, x)
			for index := range allIndexers {
				for _, value := range x.ListIndexFuncValues(index) {
					for _, key := range keysIn(t, x, index, value) {
						obj, exists, _ := x.GetByKey(key)
						if !exists {
							t.Fatalf("%s %q has %s, which is gone", index, value, key)
						}
						if values, _ := allIndexers[index](obj); !slices.Contains(values, value) {
							t.Errorf("%s has %s under %q, where it is not any more", index, key, value)
						}
					}
				}
			}
			if got := len(keysIn(t, x, "node", "n2")) + len(keysIn(t, x, "node", "n3")); got != c.want {
				t.Errorf("%d objects where the new value is, want %d", got, c.want)
			}
		})
	}
}

func TestADeletionNeedsNoMoreThanATombstone(t *testing.T) {
	// A key function that does not know tombstones.
	x := store.New(cache.MetaNamespaceKeyFunc, nil, store.Options{})
	mustAdd(t, x, podOf(1, "", "", "", "1"), podOf(2, "", "", "", "1"))
	if err := x.Delete(cache.DeletedFinalStateUnknown{Key: "ns-1/pod-1"}); err != nil {
		t.Error(err)
	}
	if err := x.Transaction(cache.Transaction{Type: cache.TransactionTypeDelete, Object: cache.DeletedFinalStateUnknown{Key: "ns-2/pod-2"}}); err != nil {
		t.Error(err)
	}
	if got := x.ListKeys(); len(got) != 0 {
		t.Errorf("left: %q", got)
	}
}

func TestWhatCannotBeStoredIsRefused(t *testing.T) {
	x := store.New(func(any) (string, error) { return "key", nil }, nil, store.Options{})
	pod := podOf(1, "", "", "", "1")
	mustAdd(t, x, pod)
	txn := x.Transaction(cache.Transaction{Type: "Sideways", Object: pod}, cache.Transaction{Type: cache.TransactionTypeUpdate})
	if txn == nil || len(txn.Errors) != 2 || len(txn.SuccessfulIndices) != 0 {
		t.Errorf("Transaction said %v", txn)
	}
	for _, err := range []error{x.Add(nil), x.Update(nil), x.Replace([]any{nil}, "2")} {
		if !errors.As(err, &cache.KeyError{}) {
			t.Errorf("storing nil: %v", err)
		}
	}
	if obj, _, _ := x.GetByKey("key"); obj != pod || x.ResourceVersion() != "1" {
		t.Errorf("stored %v at %q", obj, x.ResourceVersion())
	}
}

func TestReplaceStoresTheLastOfSeveralWithOneKey(t *testing.T) {
	x := newStore(allIndexers)
	mustAdd(t, x, podOf(1, "n1", "a", "", "1"), podOf(2, "n1", "a", "", "1"))
	last, lastNew := podOf(2, "n3", "c", "", "3"), podOf(5, "n5", "e", "", "5")
	if err := x.Replace([]any{podOf(2, "n2", "b", "", "2"), podOf(5, "n4", "d", "", "4"), last, lastNew}, "9"); err != nil {
		t.Fatal(err)
	}
	sound(t, x)
	if got := x.Objects([]string{"ns-1/pod-1", "ns-2/pod-2", "ns-2/pod-5"}); !slices.Equal(got, []any{nil, last, lastNew}) {
		t.Errorf("stored %v", got)
	}
	if got := keysIn(t, x, "node", "n3"); !slices.Equal(got, []string{"ns-2/pod-2"}) {
		t.Errorf("indexed %q", got)
	}
}

func TestMemoryFollowsWhatIsThere(t *testing.T) {
	const most = 5000
	x := newStore(allIndexers)
	x.SetMinLog(1 << 20)
	objs := make([]any, most)
	for i := range objs {
		objs[i] = podOf(i, fmt.Sprint("n", i%100), fmt.Sprintf("v%d,w%d", i, i/2), "", "1")
	}
	if err := x.Replace(objs, "1"); err != nil {
		t.Fatal(err)
	}
	sound(t, x)
	if _, err := x.Buckets("name", inspect.BucketQuery{}); err != nil {
		t.Fatal(err)
	}
	for i, obj := range objs[:most-10] {
		if err := x.Delete(obj); err != nil {
			t.Fatal(err)
		}
		if i%100 == 0 {
			sound(t, x)
		}
	}
	sound(t, x)
	if objects, buckets := x.Capacity(); objects > 100 || buckets > 100 || x.Lists() > 100 {
		t.Errorf("room for %d objects, %d buckets, %d lists after all but ten went", objects, buckets, x.Lists())
	}
	for i, obj := range objs[most-10:] {
		pod := obj.(*corev1.Pod)
		if got := keysIn(t, x, "name", pod.Name); !slices.Equal(got, []string{pod.Namespace + "/" + pod.Name}) {
			t.Errorf("object %d is indexed as %q", i, got)
		}
	}
}

func TestReadsReturnSlicesOfTheirOwn(t *testing.T) {
	x := newStore(allIndexers)
	mustAdd(t, x, podOf(1, "n1", "a", "", "1"), podOf(4, "n1", "a", "", "1"))
	read := func() [][]any {
		byIndex, _ := x.ByIndex("node", "n1")
		index, _ := x.Index("node", podOf(9, "n1", "", "", ""))
		_, snapshot := x.Snapshot()
		return [][]any{x.List(), byIndex, index, snapshot}
	}
	for _, list := range read() {
		clear(list)
	}
	clear(x.ListKeys())
	clear(keysIn(t, x, "node", "n1"))
	clear(x.ListIndexFuncValues("node"))
	keys, _, _, _, _ := x.BucketKeys("node", "n1", inspect.Query{Limit: 2})
	clear(keys)
	sound(t, x)
	for i, list := range read() {
		if len(list) != 2 || list[0] == nil || list[1] == nil {
			t.Errorf("read %d has %v", i, list)
		}
	}
}

func TestARepeatedWriteAsksNothingAndChangesNothing(t *testing.T) {
	asked := 0
	x := newStore(cache.Indexers{"node": func(obj any) ([]string, error) {
		asked++
		return nodeOf(obj)
	}})
	pod := podOf(1, "n1", "a", "", "5")
	mustAdd(t, x, pod)
	for name, c := range map[string]struct {
		op    store.Op
		asked int
		want  store.Op
	}{
		"what is stored":             {store.Op{Object: pod, Repeats: true}, 0, store.Op{Old: pod, Existed: true, Unchanged: true}},
		"not said to be a repeat":    {store.Op{Object: pod}, 1, store.Op{Old: pod, Existed: true, Unchanged: true}},
		"an equal one":               {store.Op{Object: podOf(1, "n1", "a", "", "5"), Repeats: true}, 1, store.Op{Old: pod, Existed: true, Unchanged: true}},
		"something that went":        {store.Op{Key: "ns-1/gone", Object: pod, Repeats: true}, 1, store.Op{}},
		"one that can't be compared": {store.Op{Object: []string{"a"}, Repeats: true}, 1, store.Op{Old: pod, Existed: true}},
	} {
		t.Run(name, func(t *testing.T) {
			asked = 0
			op := c.op
			if op.Key == "" {
				op.Key = "ns-1/pod-1"
			}
			ops := []store.Op{op}
			x.Apply(ops)
			got := ops[0]
			if asked != c.asked || got.Existed != c.want.Existed || got.Unchanged != c.want.Unchanged || got.Err != nil || got.Existed && got.Old != c.want.Old {
				t.Errorf("asked %d times, want %d; %+v, want %+v", asked, c.asked, got, c.want)
			}
			sound(t, x)
			x.Apply([]store.Op{{Key: "ns-1/pod-1", Object: pod}, {Key: "ns-1/gone", Delete: true}})
		})
	}
}

// If somebody writes to a cached object, its successor is still compared with the
// version that was stored.
func TestAMutatedVersionHidesNoChange(t *testing.T) {
	x := newStore(nil)
	stored := podOf(1, "", "", "", "5")
	key := "ns-1/pod-1"
	x.Apply([]store.Op{{Key: key, Object: stored}})
	stored.ResourceVersion = "6"
	ops := []store.Op{{Key: key, Object: podOf(1, "", "", "", "6")}}
	x.Apply(ops)
	if ops[0].Unchanged {
		t.Error("an update from 5 to 6 is said to change nothing")
	}
	sound(t, x)
}

// TestABatchFindsWhatItMovesItself makes writes whose keys have moved, come or
// gone within their batch, and compares with the same writes one by one.
func TestABatchFindsWhatItMovesItself(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		together, alone := newStore(allIndexers), newStore(allIndexers)
		for range rapid.IntRange(1, 4).Draw(t, "batches") {
			var ops, same []store.Op
			used := map[string]bool{}
			for range rapid.IntRange(0, 12).Draw(t, "n") {
				pod := drawPod(t)
				op := store.Op{Key: pod.Namespace + "/" + pod.Name, Object: pod, Delete: rapid.Bool().Draw(t, "delete")}
				if stored, ok, _ := together.GetByKey(op.Key); ok && !used[op.Key] && rapid.Bool().Draw(t, "repeats") {
					op.Object, op.Delete, op.Repeats = stored, false, true
				}
				used[op.Key] = true
				ops, same = append(ops, op), append(same, op)
			}
			together.Apply(ops)
			for i := range same {
				alone.Apply(same[i : i+1])
				if got, want := ops[i], same[i]; got.Old != want.Old || got.Existed != want.Existed || got.Unchanged != want.Unchanged {
					t.Fatalf("write %d: %+v, alone %+v", i, got, want)
				}
			}
			if err := together.CheckInvariants(); err != nil {
				t.Fatal(err)
			}
			sameSet(t, "keys", together.ListKeys(), alone.ListKeys())
			sameObjects(t, "objects", together.List(), alone.List())
			if diff := cmp.Diff(alone.Vitals(), together.Vitals()); diff != "" {
				t.Fatalf("vitals (-alone +together):\n%s", diff)
			}
		}
	})
}
