package store_test

import (
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/tools/cache"

	"github.com/informeter/informeter/engine/inspect"
	"github.com/informeter/informeter/engine/store"
)

func versionIndex(obj any) ([]string, error) {
	return []string{obj.(*corev1.Pod).ResourceVersion}, nil
}

// TestReadersSeeAllOfAWriteOrNothing lets one writer raise the version of all
// objects in one batch, again and again and in each of the ways to do so. Every
// read must find one version only.
func TestReadersSeeAllOfAWriteOrNothing(t *testing.T) {
	const objects, rounds = 40, 150
	x := newStore(cache.Indexers{"version": versionIndex})
	x.SetMinLog(8)
	generation := func(rv int) []any {
		objs := make([]any, objects)
		for i := range objs {
			objs[i] = podOf(i, fmt.Sprint(rv%7), "", "", fmt.Sprint(rv))
		}
		return objs
	}
	if err := x.Replace(generation(1), "1"); err != nil {
		t.Fatal(err)
	}

	var wg sync.WaitGroup
	var done atomic.Bool
	read := func(name string, one func() error) {
		wg.Go(func() {
			for !done.Load() && !t.Failed() {
				if err := one(); err != nil {
					t.Errorf("%s: %v", name, err)
				}
			}
		})
	}
	oneVersion := func(objs []any) error {
		if len(objs) != objects {
			return fmt.Errorf("%d objects", len(objs))
		}
		for _, obj := range objs {
			if got, want := obj.(*corev1.Pod).ResourceVersion, objs[0].(*corev1.Pod).ResourceVersion; got != want {
				return fmt.Errorf("versions %s and %s", want, got)
			}
		}
		return nil
	}
	read("List", func() error { return oneVersion(x.List()) })
	read("Snapshot", func() error {
		keys, objs := x.Snapshot()
		for i, obj := range objs {
			if key, _ := cache.MetaNamespaceKeyFunc(obj); key != keys[i] {
				return fmt.Errorf("%s is under %s", key, keys[i])
			}
		}
		return oneVersion(objs)
	})
	read("Objects", func() error { return oneVersion(x.Objects(x.ListKeys())) })
	read("ByIndex", func() error {
		objs, err := x.ByIndex("version", x.ListIndexFuncValues("version")[0])
		if err != nil || len(objs) == 0 { // the next version has come in between
			return err
		}
		return oneVersion(objs)
	})
	read("Buckets", func() error {
		page, err := x.Buckets("version", inspect.BucketQuery{Limit: 5})
		if err != nil || len(page.Rows) != 1 || page.Rows[0].Objects != objects || page.Index.Entries != objects {
			return fmt.Errorf("%+v, %w", page, err)
		}
		return nil
	})
	read("BucketKeys", func() error {
		keys, _, _, total, err := x.BucketKeys("version", x.ListIndexFuncValues("version")[0], inspect.Query{Limit: objects})
		if err != nil || total != len(keys) || total != 0 && total != objects {
			return fmt.Errorf("%d of %d, %w", len(keys), total, err)
		}
		return nil
	})
	for round := range rounds {
		objs := generation(round + 2)
		switch round % 3 {
		case 0:
			ops := make([]store.Op, objects)
			for i, obj := range objs {
				key, _ := cache.MetaNamespaceKeyFunc(obj)
				ops[i] = store.Op{Key: key, Object: obj}
			}
			x.Apply(ops)
		case 1:
			_ = x.Replace(objs, fmt.Sprint(round))
		default:
			txns := make([]cache.Transaction, objects)
			for i, obj := range objs {
				txns[i] = cache.Transaction{Type: cache.TransactionTypeUpdate, Object: obj}
			}
			if err := x.Transaction(txns...); err != nil {
				t.Error(err)
			}
		}
		if round%50 == 0 {
			_ = x.AddIndexers(cache.Indexers{fmt.Sprint("late", round): nodeOf})
		}
	}
	done.Store(true)
	wg.Wait()
	sound(t, x)
}

func TestReadersGoOnWhileANewIndexIsBuilt(t *testing.T) {
	x := newStore(nil)
	mustAdd(t, x, podOf(1, "n1", "", "", "1"))
	synctest.Test(t, func(t *testing.T) {
		asked, read := make(chan bool), make(chan bool)
		go func() {
			_ = x.AddIndexers(cache.Indexers{"slow": func(any) ([]string, error) {
				close(asked)
				<-read
				return []string{"v"}, nil
			}})
		}()
		<-asked
		if got := x.List(); len(got) != 1 {
			t.Errorf("List = %v", got)
		}
		if _, err := x.ByIndex("slow", "v"); err == nil {
			t.Error("an index that is not complete can be read")
		}
		close(read)
		synctest.Wait()
	})
	if got := keysIn(t, x, "slow", "v"); !slices.Equal(got, []string{"ns-1/pod-1"}) {
		t.Errorf("the new index has %q", got)
	}
}

func TestAnIndexFunctionMayReadTheStore(t *testing.T) {
	var x *store.Indexer
	x = newStore(cache.Indexers{"rank": func(any) ([]string, error) {
		return []string{fmt.Sprint(len(x.List()))}, nil
	}})
	mustAdd(t, x, podOf(1, "", "", "", "1"), podOf(2, "", "", "", "1"))
	if got := keysIn(t, x, "rank", "1"); !slices.Equal(got, []string{"ns-2/pod-2"}) {
		t.Errorf("filed under 1: %q", got)
	}
	if got, err := x.Index("rank", podOf(1, "", "", "", "")); err != nil || len(got) != 0 {
		t.Errorf("Index = %v, %v", got, err)
	}
}

func TestALookThatWritersOvertakeIsMadeAgain(t *testing.T) {
	x := newStore(cache.Indexers{"name": nameOf})
	x.SetMinLog(2)
	mustAdd(t, x, podOf(1, "", "", "", "1"))
	seen, keptOut := x.LookWhileWritersOverflow("name", func() {
		for i := range 5 {
			_ = x.Add(podOf(2+i, "", "", "", "1"))
		}
	})
	want := []string{"pod-1", "pod-2", "pod-3", "pod-4", "pod-5", "pod-6"}
	if !slices.Equal(seen, want) || !keptOut {
		t.Errorf("seen %q, writers kept out %v", seen, keptOut)
	}
	sound(t, x)
}
