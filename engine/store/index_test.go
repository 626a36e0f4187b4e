package store_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/tools/cache"

	"github.com/informeter/informeter/engine/inspect"
	"github.com/informeter/informeter/engine/store"
)

// Indices: functions that fail, that come late, and what they are asked.

// fragile is an index that fails on some objects.
func fragile(obj any) ([]string, error) {
	switch node := obj.(*corev1.Pod).Spec.NodeName; node {
	case "error":
		return []string{"half"}, errors.New("no such node")
	case "panic":
		panic("out of range")
	default:
		return []string{node}, nil
	}
}

func TestAnObjectThatAnIndexFailsOnIsStoredWithoutIt(t *testing.T) {
	for _, bad := range []string{"error", "panic"} {
		t.Run(bad, func(t *testing.T) {
			x := newStore(cache.Indexers{"fragile": fragile, "namespace": cache.MetaNamespaceIndexFunc})
			x.Apply([]store.Op{
				{Key: "good", Object: podOf(1, "n1", "", "", "1")},
				{Key: "bad", Object: podOf(2, bad, "", "", "2")},
				{Key: "better", Object: podOf(4, "n1", "", "", "3")},
			})
			sound(t, x)
			if got := keysIn(t, x, "fragile", "n1"); !slices.Equal(got, []string{"better", "good"}) {
				t.Errorf("neighbours of the bad object: %q", got)
			}
			if got := keysIn(t, x, "namespace", "ns-2"); !slices.Equal(got, []string{"bad"}) {
				t.Errorf("the bad object in the other index: %q", got)
			}
			if len(x.List()) != 3 || len(keysIn(t, x, "fragile", "half")) != 0 {
				t.Errorf("%d objects stored, half-indexed: %q", len(x.List()), keysIn(t, x, "fragile", "half"))
			}
			v := x.IndexVitals()[0]
			if v.Errors != 1 || v.Entries != 2 || v.Unindexed != 0 || v.LastErrorKey != "bad" {
				t.Errorf("vitals %+v", v)
			}

			// It gets well, and falls ill again.
			x.Apply([]store.Op{{Key: "bad", Object: podOf(2, "n9", "", "", "4")}})
			sound(t, x)
			if v := x.IndexVitals()[0]; v.Errors != 0 || v.Entries != 3 {
				t.Errorf("vitals after it got well %+v", v)
			}
			for range 2 {
				x.Apply([]store.Op{{Key: "bad", Object: podOf(2, bad, "", "", "5")}})
			}
			sound(t, x)
			if v := x.IndexVitals()[0]; v.Errors != 1 || v.Entries != 2 || len(keysIn(t, x, "fragile", "n9")) != 0 {
				t.Errorf("vitals after it fell ill again %+v", v)
			}
			x.Apply([]store.Op{{Key: "bad", Delete: true}})
			sound(t, x)
			if v := x.IndexVitals()[0]; v.Errors != 0 || v.LastError == "" {
				t.Errorf("vitals without it %+v", v)
			}
		})
	}
}

func TestAnIndexAddedLateFailsOnSomeObjectsOnly(t *testing.T) {
	x := newStore(nil)
	mustAdd(t, x, podOf(1, "n1", "", "", "1"), podOf(2, "panic", "", "", "1"), podOf(3, "error", "", "", "1"))
	if err := x.AddIndexers(cache.Indexers{"fragile": fragile, "none": nil}); err != nil {
		t.Fatal(err)
	}
	sound(t, x)
	vitals := x.IndexVitals()
	if v := vitals[0]; v.Errors != 2 || v.Entries != 1 {
		t.Errorf("vitals %+v", v)
	}
	if v := vitals[1]; v.Errors != 3 || v.Entries != 0 {
		t.Errorf("vitals of an index without a function %+v", v)
	}
}

func TestIndexReturnsWhatTheFunctionFailsWith(t *testing.T) {
	x := newStore(cache.Indexers{"fragile": fragile})
	for bad, want := range map[string]string{"error": "no such node", "panic": "out of range"} {
		if _, err := x.Index("fragile", podOf(1, bad, "", "", "")); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("Index said %v, want %q", err, want)
		}
	}
}

func TestCrashPanicsAndLeavesTheStoreUsable(t *testing.T) {
	for _, bad := range []string{"error", "panic"} {
		x := store.New(cache.MetaNamespaceKeyFunc, cache.Indexers{"fragile": fragile}, store.Options{IndexFailure: store.Crash})
		mustAdd(t, x, podOf(1, "n1", "", "", "1"))
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s: no panic", bad)
				}
			}()
			_ = x.Add(podOf(2, bad, "", "", "2"))
		}()
		sound(t, x)
		mustAdd(t, x, podOf(3, "n1", "", "", "3"))
		if got := x.ListKeys(); len(got) != 2 {
			t.Errorf("%s: store has %q", bad, got)
		}
	}
}

func TestAddIndexersThatConflictsChangesNothing(t *testing.T) {
	x := newStore(cache.Indexers{"node": nodeOf})
	mustAdd(t, x, podOf(1, "n1", "", "", "1"))
	err := x.AddIndexers(cache.Indexers{"a": nameOf, "node": nameOf, "z": nameOf})
	if err == nil || !strings.Contains(err.Error(), "node") {
		t.Errorf("AddIndexers said %v", err)
	}
	if got := x.GetIndexers(); len(got) != 1 || !slices.Equal(keysIn(t, x, "node", "n1"), []string{"ns-1/pod-1"}) {
		t.Errorf("indexers afterwards: %v", got)
	}
}

func TestIndexersBelongToTheStore(t *testing.T) {
	mine := cache.Indexers{"node": nodeOf}
	x := newStore(mine)
	mine["name"] = nameOf
	x.GetIndexers()["values"] = valuesOf
	if got := x.GetIndexers(); len(got) != 1 {
		t.Errorf("indexers: %v", got)
	}
	if err := x.AddIndexers(cache.Indexers{"owner": ownerOf}); err != nil || len(mine) != 2 {
		t.Errorf("AddIndexers = %v, changed the map given to New to %v", err, mine)
	}
}

func TestAnUnknownIndexIsAnError(t *testing.T) {
	x := newStore(nil)
	_, byIndex := x.ByIndex("nope", "v")
	_, keys := x.IndexKeys("nope", "v")
	_, index := x.Index("nope", podOf(1, "", "", "", ""))
	for _, err := range []error{byIndex, keys, index} {
		if err == nil || !strings.Contains(err.Error(), "nope does not exist") {
			t.Errorf("error is %v", err)
		}
	}
	_, err := x.Buckets("nope", inspect.BucketQuery{})
	_, _, _, _, keysErr := x.BucketKeys("nope", "v", inspect.Query{})
	if !errors.Is(err, inspect.ErrNotFound) || !errors.Is(keysErr, inspect.ErrNotFound) {
		t.Errorf("errors are %v and %v", err, keysErr)
	}
	if values := x.IndexValues("nobody"); values != nil {
		t.Errorf("values of an object that is not there: %v", values)
	}
}

func TestAnUnknownColumnIsUnsupported(t *testing.T) {
	x := newStore(allIndexers)
	_, err := x.Buckets("node", inspect.BucketQuery{Sort: "age"})
	_, _, _, _, keysErr := x.BucketKeys("node", "v", inspect.Query{Sort: inspect.SortObjects})
	if !errors.Is(err, inspect.ErrUnsupported) || !errors.Is(keysErr, inspect.ErrUnsupported) {
		t.Errorf("errors are %v and %v", err, keysErr)
	}
}

func TestAnIndexFunctionIsNotAskedAboutADeletion(t *testing.T) {
	x := store.New(cache.DeletionHandlingMetaNamespaceKeyFunc, allIndexers, store.Options{IndexFailure: store.Crash})
	pod := podOf(1, "n1", "", "", "1")
	mustAdd(t, x, pod)
	// It would panic on anything but a pod.
	if err := x.Delete(cache.DeletedFinalStateUnknown{Key: "ns-1/pod-1", Obj: pod}); err != nil || x.Len() != 0 {
		t.Errorf("Delete = %v, %d objects left", err, x.Len())
	}
}

func TestAnUpdateWithTheSameValuesDoesNotTouchTheBuckets(t *testing.T) {
	x := newStore(allIndexers)
	x.SetMinLog(1)
	mustAdd(t, x, podOf(1, "n1", "a,b", "", "1"), podOf(4, "n1", "a,b", "", "1"))
	look := func(index, value string) {
		if _, _, _, total, err := x.BucketKeys(index, value, inspect.Query{}); err != nil || total != 2 {
			t.Fatalf("%d keys in %s, %v", total, index, err)
		}
	}
	look("node", "n1")
	look("values", "b")
	for rv := range 10 {
		mustAdd(t, x, podOf(1, "n1", "a,b", "", fmt.Sprint(rv)))
	}
	if x.Opened("node") != 1 || x.Opened("values") != 1 {
		t.Error("a view was dropped, as if much had changed in the bucket")
	}
}

func TestSoManyBucketsAreKeptInOrderAndNoMore(t *testing.T) {
	x := newStore(allIndexers)
	for i := range 10 {
		mustAdd(t, x, podOf(i, fmt.Sprint("n", i), "", "", "1"))
	}
	for i := range 10 {
		if _, _, _, _, err := x.BucketKeys("node", fmt.Sprint("n", i), inspect.Query{}); err != nil {
			t.Fatal(err)
		}
	}
	if got := x.Opened("node"); got != 4 {
		t.Errorf("%d buckets kept in order, want 4", got)
	}
}

func TestARepeatedWriteTriesAnIndexAgainThatRefused(t *testing.T) {
	failing := true
	x := newStore(cache.Indexers{"node": func(obj any) ([]string, error) {
		if failing {
			return nil, errors.New("not now")
		}
		return nodeOf(obj)
	}})
	pod := podOf(1, "n1", "a", "", "5")
	mustAdd(t, x, pod)
	failing = false
	x.Apply([]store.Op{{Key: "ns-1/pod-1", Object: pod, Repeats: true}})
	sound(t, x)
	if got := keysIn(t, x, "node", "n1"); len(got) != 1 {
		t.Errorf("in the index: %v", got)
	}
}
