package store_test

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/cache"

	"github.com/informeter/informeter/engine/inspect"
	"github.com/informeter/informeter/engine/store"
)

// The benchmarks compare the store with client-go's in one run; the budgets are
// ratios. Objects are spread over three indices as pods are: 50 namespaces,
// nodes with 50 pods each, owners with three.

var benchIndexers = cache.Indexers{"namespace": cache.MetaNamespaceIndexFunc, "node": nodeOf, "owner": ownerOf}

type benchStore struct {
	name string
	make func(cache.Indexers) cache.Indexer
}

var benchStores = []benchStore{
	{"store=ours", func(i cache.Indexers) cache.Indexer {
		return store.New(cache.MetaNamespaceKeyFunc, i, store.Options{})
	}},
	{"store=client-go", func(i cache.Indexers) cache.Indexer { return cache.NewIndexer(cache.MetaNamespaceKeyFunc, i) }},
}

// benchPods returns n pods in the order of a LIST, that of their keys.
func benchPods(n int) []any {
	pods := make([]any, n)
	for i := range pods {
		pods[i] = &corev1.Pod{
			ObjectMeta: metav1.ObjectMeta{
				Namespace:       fmt.Sprintf("namespace-%d", i/(n/50)),
				Name:            fmt.Sprintf("deployment-%d-pod-%d", i/3, i),
				ResourceVersion: fmt.Sprint(1000 + i),
				OwnerReferences: []metav1.OwnerReference{{Kind: "ReplicaSet", Name: fmt.Sprintf("deployment-%d", i/3)}},
			},
			Spec: corev1.PodSpec{NodeName: fmt.Sprintf("node-%d", i%(n/50+1))},
		}
	}
	return pods
}

func fill(b testing.TB, s cache.Indexer, pods []any) {
	for _, pod := range pods {
		if err := s.Add(pod); err != nil {
			b.Fatal(err)
		}
	}
}

// eachStore runs the benchmark with both stores, filled with n pods in random
// order, as after a long life.
func eachStore(b *testing.B, n int, run func(b *testing.B, s cache.Indexer, pods []any)) {
	pods := benchPods(n)
	rand.New(rand.NewPCG(1, 2)).Shuffle(n, func(i, j int) { pods[i], pods[j] = pods[j], pods[i] })
	for _, bs := range benchStores {
		b.Run(fmt.Sprintf("%s/objects=%d", bs.name, n), func(b *testing.B) {
			s := bs.make(benchIndexers)
			fill(b, s, pods)
			b.ReportAllocs()
			run(b, s, pods)
		})
	}
}

func heap() uint64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.GC()
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

// BenchmarkFill measures adding an object to a growing store, one at a time, and
// the memory the store needs for it; the objects themselves are not counted,
// their keys are.
func BenchmarkFill(b *testing.B) {
	for _, n := range []int{10_000, 100_000} {
		pods := benchPods(n)
		for _, bs := range benchStores {
			b.Run(fmt.Sprintf("%s/objects=%d", bs.name, n), func(b *testing.B) {
				before := heap()
				s := bs.make(benchIndexers)
				fill(b, s, pods)
				used := heap() - before
				runtime.KeepAlive(s)
				b.ReportAllocs()
				for b.Loop() {
					s = bs.make(benchIndexers)
					fill(b, s, pods)
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*n), "ns/object")
				b.ReportMetric(float64(used)/float64(n), "B/object")
			})
		}
	}
}

// BenchmarkApply measures filling the store in batches, as the informer does.
func BenchmarkApply(b *testing.B) {
	const n = 100_000
	pods := benchPods(n)
	ops := make([]store.Op, n)
	for i, pod := range pods {
		key, _ := cache.MetaNamespaceKeyFunc(pod)
		ops[i] = store.Op{Key: key, Object: pod}
	}
	for _, batch := range []int{1, 16, 1000} {
		b.Run(fmt.Sprintf("batch=%d/objects=%d", batch, n), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				x := store.New(cache.MetaNamespaceKeyFunc, benchIndexers, store.Options{})
				for some := range slices.Chunk(ops, batch) {
					x.Apply(some)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*n), "ns/object")
		})
	}
}

// BenchmarkUpdate measures the usual update: a new version, the same values.
func BenchmarkUpdate(b *testing.B) {
	eachStore(b, 100_000, func(b *testing.B, s cache.Indexer, pods []any) {
		newer := make([]any, 1000)
		for i := range newer {
			pod := *pods[i*100].(*corev1.Pod)
			pod.ResourceVersion = "9" + pod.ResourceVersion
			newer[i] = &pod
		}
		i := 0
		for b.Loop() {
			_ = s.Update(newer[i%1000])
			i++
		}
	})
}

// BenchmarkChurn measures deleting and adding an object.
func BenchmarkChurn(b *testing.B) {
	eachStore(b, 100_000, func(b *testing.B, s cache.Indexer, pods []any) {
		i := 0
		for b.Loop() {
			_ = s.Delete(pods[i%100_000])
			_ = s.Add(pods[i%100_000])
			i += 7919
		}
	})
}

// BenchmarkReplace measures a relist that changes nothing.
func BenchmarkReplace(b *testing.B) {
	eachStore(b, 100_000, func(b *testing.B, s cache.Indexer, pods []any) {
		for b.Loop() {
			_ = s.Replace(slices.Clone(pods), "1")
		}
		b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*100_000), "ns/object")
	})
}

func BenchmarkByIndex(b *testing.B) {
	eachStore(b, 100_000, func(b *testing.B, s cache.Indexer, _ []any) {
		for b.Loop() {
			if objs, _ := s.ByIndex("namespace", "namespace-7"); len(objs) != 2000 {
				b.Fatal(len(objs))
			}
		}
	})
}

func BenchmarkIndexKeys(b *testing.B) {
	eachStore(b, 100_000, func(b *testing.B, s cache.Indexer, _ []any) {
		for b.Loop() {
			if keys, _ := s.IndexKeys("namespace", "namespace-7"); len(keys) != 2000 {
				b.Fatal(len(keys))
			}
		}
	})
}

func BenchmarkList(b *testing.B) {
	eachStore(b, 100_000, func(b *testing.B, s cache.Indexer, _ []any) {
		for b.Loop() {
			if objs := s.List(); len(objs) != 100_000 {
				b.Fatal(len(objs))
			}
		}
	})
}

func BenchmarkGetByKey(b *testing.B) {
	eachStore(b, 100_000, func(b *testing.B, s cache.Indexer, _ []any) {
		keys := s.ListKeys()
		i := 0
		for b.Loop() {
			_, _, _ = s.GetByKey(keys[i%len(keys)])
			i += 7919
		}
	})
}

// BenchmarkBuckets measures what an explorer asks for 30 times a second: a
// window of 100,000 buckets, while writers come between two questions or not.
func BenchmarkBuckets(b *testing.B) {
	const n = 100_000
	pods := benchPods(n)
	for _, sort := range []inspect.Sort{inspect.SortKey, inspect.SortObjects} {
		for _, filter := range []string{"", "77"} {
			for _, writes := range []int{0, 100} {
				b.Run(fmt.Sprintf("sort=%s/filter=%s/writes=%d", sort, filter, writes), func(b *testing.B) {
					x := store.New(cache.MetaNamespaceKeyFunc, cache.Indexers{"name": nameOf}, store.Options{})
					fill(b, x, pods)
					q := inspect.BucketQuery{Sort: sort, Filter: filter, Cursor: "deployment-2", Limit: 50, Desc: true}
					i := 0
					b.ReportAllocs()
					for b.Loop() {
						b.StopTimer()
						for range writes / 2 {
							_ = x.Delete(pods[i%n])
							_ = x.Add(pods[i%n])
							i += 7919
						}
						b.StartTimer()
						if page, err := x.Buckets("name", q); err != nil || len(page.Rows) != 50 {
							b.Fatal(len(page.Rows), err)
						}
					}
				})
			}
		}
	}
}

// BenchmarkBucketKeys measures a window of a bucket with 100,000 keys.
func BenchmarkBucketKeys(b *testing.B) {
	const n = 100_000
	pods := benchPods(n)
	for _, writes := range []int{0, 100} {
		b.Run(fmt.Sprintf("writes=%d", writes), func(b *testing.B) {
			x := store.New(cache.MetaNamespaceKeyFunc, cache.Indexers{
				"all": func(any) ([]string, error) { return []string{"all"}, nil },
			}, store.Options{})
			fill(b, x, pods)
			q := inspect.Query{Cursor: "namespace-3/", Limit: 50}
			i := 0
			b.ReportAllocs()
			for b.Loop() {
				b.StopTimer()
				for range writes / 2 {
					_ = x.Delete(pods[i%n])
					_ = x.Add(pods[i%n])
					i += 7919
				}
				b.StartTimer()
				if keys, _, _, total, err := x.BucketKeys("all", "all", q); err != nil || len(keys) != 50 || total != n {
					b.Fatal(len(keys), total, err)
				}
			}
		})
	}
}
