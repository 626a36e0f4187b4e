package store_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/tools/cache"
	"pgregory.net/rapid"

	"github.com/informeter/informeter/engine/inspect"
	"github.com/informeter/informeter/engine/store"
)

func TestAnIndexIsAddedWithWhatItWasMadeFrom(t *testing.T) {
	x := newStore(cache.Indexers{"node": nodeOf})
	mustAdd(t, x, podOf(1, "n1", "", "", "1"), podOf(2, "n2", "", "", "1"))
	if err := x.AddIndex(t.Context(), "again", "{.spec.nodeName}", nodeOf); err != nil {
		t.Fatal(err)
	}
	sound(t, x)
	if got := keysIn(t, x, "again", "n2"); !slices.Equal(got, []string{"ns-2/pod-2"}) {
		t.Errorf("the new index has %q", got)
	}
	v := x.IndexVitals()
	if v[0].Name != "again" || v[0].Expr != "{.spec.nodeName}" || v[0].Buckets != 2 || v[1].Expr != "" {
		t.Errorf("vitals %+v", v)
	}
	mustAdd(t, x, podOf(3, "n2", "", "", "1"))
	if got := keysIn(t, x, "again", "n2"); len(got) != 2 {
		t.Errorf("after another write it has %q", got)
	}
	for _, name := range []string{"node", "again"} {
		if err := x.AddIndex(t.Context(), name, "", nodeOf); !errors.Is(err, store.ErrTaken) {
			t.Errorf("%s once more: %v, want ErrTaken", name, err)
		}
	}
}

func TestAnAddedIndexIsContainedEvenWhereFailuresCrash(t *testing.T) {
	x := store.New(cache.DeletionHandlingMetaNamespaceKeyFunc, nil, store.Options{IndexFailure: store.Crash})
	mustAdd(t, x, podOf(1, "error", "", "", "1"), podOf(2, "n1", "", "", "1"))
	if err := x.AddIndex(t.Context(), "fragile", "x", fragile); err != nil {
		t.Fatal(err)
	}
	mustAdd(t, x, podOf(4, "panic", "", "", "1"))
	if v := x.IndexVitals()[0]; v.Errors != 2 || v.Entries != 1 || v.LastError == "" {
		t.Errorf("vitals %+v, want two failures and one entry", v)
	}
}

// TestWritersGoOnWhileAnIndexIsBuilt changes objects behind the builder's back: one
// that has been asked about, one that has not, one that goes and one that comes.
func TestWritersGoOnWhileAnIndexIsBuilt(t *testing.T) {
	x := newStore(nil)
	for n := range 10 {
		mustAdd(t, x, podOf(n*3, "before", "", "", "1"))
	}
	synctest.Test(t, func(t *testing.T) {
		asked, goOn := make(chan string), make(chan bool)
		slow := func(obj any) ([]string, error) {
			asked <- obj.(*corev1.Pod).Name
			<-goOn
			return nodeOf(obj)
		}
		done := make(chan error)
		go func() { done <- x.AddIndex(t.Context(), "slow", "x", slow) }()
		calls := 0
		for {
			select {
			case <-asked:
				if calls++; calls == 5 {
					mustAdd(t, x, podOf(0, "after", "", "", "2"), podOf(27, "after", "", "", "2"), podOf(30, "new", "", "", "2"))
					if err := x.Delete(podOf(3, "", "", "", "")); err != nil {
						t.Fatal(err)
					}
					if got := len(x.List()); got != 10 {
						t.Errorf("%d objects meanwhile, want 10", got)
					}
				}
				goOn <- true
				continue
			case err := <-done:
				if err != nil {
					t.Fatal(err)
				}
			}
			break
		}
		// Ten, and the three that were changed since, which hold up writers.
		if calls < 13 || calls > 14 {
			t.Errorf("%d calls, want each object asked about once a version", calls)
		}
		sound(t, x)
		for value, want := range map[string]int{"before": 7, "after": 2, "new": 1} {
			if got := keysIn(t, x, "slow", value); len(got) != want {
				t.Errorf("%s: %q, want %d", value, got, want)
			}
		}
	})
}

func TestAnIndexThatIsNotWantedAnyMoreIsNotAdded(t *testing.T) {
	x := newStore(nil)
	for n := range 1000 {
		if err := x.Add(podOf(n*3, "n", "", "", "1")); err != nil {
			t.Fatal(err)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	calls := 0
	err := x.AddIndex(ctx, "slow", "x", func(any) ([]string, error) {
		calls++
		cancel()
		return nil, nil
	})
	if !errors.Is(err, context.Canceled) || len(x.IndexVitals()) != 0 || calls > 100 {
		t.Errorf("error %v, %d indices, %d calls; want it given up soon", err, len(x.IndexVitals()), calls)
	}
}

func TestAnIndexFunctionIsTimedInSomeOfItsCalls(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		x := newStore(cache.Indexers{"slow": func(any) ([]string, error) {
			time.Sleep(time.Millisecond)
			return nil, nil
		}})
		for n := range 64 * 3 {
			if err := x.Add(podOf(n, "n", "", "", "1")); err != nil {
				t.Fatal(err)
			}
		}
		// Rounded up to the bucket of the histogram.
		if got := x.IndexVitals()[0].Time; got.Count != 66 || got.Max != time.Millisecond || got.P50 != got.Max {
			t.Errorf("timed %+v, want the first 64 calls, and two of the other 128", got)
		}
	})
}

func TestVerifyFindsAnObjectThatWasWrittenTo(t *testing.T) {
	x := newStore(allIndexers)
	cached := podOf(1, "n1", "a,b", "o1", "1")
	mustAdd(t, x, cached, podOf(2, "n1", "a", "o1", "1"))
	for index := range allIndexers {
		if check, err := x.Verify(t.Context(), index); err != nil || check.Wrong != 0 || check.Objects != 2 || check.Index != index {
			t.Errorf("%s before: %+v, %v", index, check, err)
		}
	}
	cached.Spec.NodeName = "n2"
	check, err := x.Verify(t.Context(), "node")
	if err != nil || check.Wrong != 1 || len(check.Examples) != 1 {
		t.Fatalf("after: %+v, %v", check, err)
	}
	want := inspect.IndexMismatch{Key: "ns-1/pod-1", Indexed: []string{"n1"}, Now: []string{"n2"}}
	if got := check.Examples[0]; fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("example %+v, want %+v", got, want)
	}
	if got := keysIn(t, x, "node", "n1"); len(got) != 2 {
		t.Errorf("verifying changed the index: %q", got)
	}
	sound(t, x)
}

func TestVerifyFindsAFunctionThatIsNotPure(t *testing.T) {
	var counting, shuffled, moody int
	x := newStore(cache.Indexers{
		"counting": func(any) ([]string, error) { counting++; return []string{fmt.Sprint(counting)}, nil },
		"shuffled": func(any) ([]string, error) {
			if shuffled++; shuffled%2 == 0 {
				return []string{"b", "a", "b"}, nil
			}
			return []string{"a", "b"}, nil
		},
		"moody": func(any) ([]string, error) {
			if moody++; moody%2 == 0 {
				return nil, errors.New("not today")
			}
			return []string{"a"}, nil
		},
	})
	mustAdd(t, x, podOf(1, "", "", "", "1"))
	check, err := x.Verify(t.Context(), "counting")
	if err != nil || check.Wrong != 1 || !check.Examples[0].Unsteady {
		t.Errorf("counting: %+v, %v; want it wrong and unsteady", check, err)
	}
	if check, err := x.Verify(t.Context(), "shuffled"); err != nil || check.Wrong != 0 {
		t.Errorf("the order of values, or one that comes twice, is taken for a mistake: %+v, %v", check, err)
	}
	check, err = x.Verify(t.Context(), "moody")
	if err != nil || check.Wrong != 1 || check.Examples[0].Error != "not today" || len(check.Examples[0].Now) != 0 || !check.Examples[0].Unsteady {
		t.Errorf("moody: %+v, %v; want the new error", check, err)
	}
	mustAdd(t, x, podOf(1, "", "", "", "2")) // the fourth call: refused
	check, err = x.Verify(t.Context(), "moody")
	if err != nil || check.Wrong != 1 || check.Examples[0].Error != "" || len(check.Examples[0].Indexed) != 0 {
		t.Errorf("moody, once it has failed: %+v, %v; want it wrong, and filed under nothing", check, err)
	}
	for moody%2 == 0 {
		moody++
	}
	if check, err := x.Verify(t.Context(), "moody"); err != nil || check.Wrong != 0 || check.Failed != 1 || check.FailedKey != "ns-1/pod-1" || check.FailedError != "not today" {
		t.Errorf("an object that fails still: %+v, %v; want nothing wrong, and it counted as failed", check, err)
	}
}

func TestVerifyNamesAFewOfMany(t *testing.T) {
	x := newStore(cache.Indexers{"node": nodeOf})
	var pods []*corev1.Pod
	for n := range 700 {
		pods = append(pods, podOf(n*3, "n1", "", "", "1"))
		if err := x.Add(pods[n]); err != nil {
			t.Fatal(err)
		}
	}
	for _, p := range pods {
		p.Spec.NodeName = "n2"
	}
	check, err := x.Verify(t.Context(), "node")
	if err != nil || check.Objects != 700 || check.Wrong != 700 || len(check.Examples) != 8 {
		t.Errorf("%d of %d wrong, %d examples, %v", check.Wrong, check.Objects, len(check.Examples), err)
	}
	if _, err := x.Verify(t.Context(), "nope"); !errors.Is(err, inspect.ErrNotFound) {
		t.Errorf("an index that does not exist: %v", err)
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := x.Verify(ended, "node"); !errors.Is(err, context.Canceled) {
		t.Errorf("with a context that has ended: %v", err)
	}
}

// TestWritersAndReadersGoOnDuringVerify: readers at once, writers between two steps.
func TestWritersAndReadersGoOnDuringVerify(t *testing.T) {
	var x *store.Indexer
	verifying, calls, left := false, 0, 0
	written := make(chan bool)
	x = newStore(cache.Indexers{"node": func(obj any) ([]string, error) {
		if verifying {
			if calls++; calls == 2 {
				go func() {
					_ = x.Delete(podOf(147, "", "", "", ""))
					close(written)
				}()
			}
			time.Sleep(2 * time.Millisecond) // more than a step may take
			left = x.Len()
		}
		return nodeOf(obj)
	}})
	for n := range 50 {
		mustAdd(t, x, podOf(n*3, "n1", "", "", "1"))
	}
	verifying = true
	check, err := x.Verify(t.Context(), "node")
	if err != nil || check.Wrong != 0 || check.Objects != 49 {
		t.Errorf("%+v, %v; want 49 objects looked at and none wrong", check, err)
	}
	if left != 49 {
		t.Errorf("%d objects at the last call: the writer had to wait for all of them", left)
	}
	<-written
}

// TestWhatVerifyFindsIsWhatWasMutated: whatever is stored and written to.
func TestWhatVerifyFindsIsWhatWasMutated(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		x := newStore(allIndexers)
		pods := map[string]*corev1.Pod{}
		for range rapid.IntRange(0, 8).Draw(rt, "pods") {
			p := drawPod(rt)
			pods[p.Namespace+"/"+p.Name] = p
			if err := x.Add(p); err != nil {
				rt.Fatal(err)
			}
		}
		want := 0
		for _, p := range pods {
			if rapid.Bool().Draw(rt, "mutate") {
				p.Spec.NodeName += "!"
				want++
			}
		}
		check, err := x.Verify(rt.Context(), "node")
		if err != nil || check.Wrong != want || check.Objects != len(pods) {
			rt.Fatalf("%+v, %v; want %d wrong of %d", check, err, want, len(pods))
		}
	})
}
