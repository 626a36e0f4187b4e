//go:build unix

package engine_test

import (
	"cmp"
	"context"
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	apiruntime "k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/features"
	featurestesting "k8s.io/client-go/features/testing"
	"k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"

	"github.com/informeter/informeter/engine"
	"github.com/informeter/informeter/engine/store"
)

// BenchmarkBudgets measures what the project promises of its speed, beside
// client-go in one run, and prints the table: see printTable. Every round is one
// iteration, so -benchtime says how many there are.
func BenchmarkBudgets(b *testing.B) {
	var rows []*row
	run := func(name string, r *row, body func(*testing.B, *row)) {
		rows = append(rows, r)
		b.Run(name, func(b *testing.B) { body(b, r) })
	}
	for _, objects := range []int{1_000, 100_000} {
		for _, handlers := range []int{1, 4, 16, 64} {
			r := &row{work: fmt.Sprintf("event to %d, %s objects", handlers, thousands(objects))}
			if objects == 1_000 {
				r.budget = map[int]float64{1: 1. / 3, 4: 1. / 4, 16: 1. / 8}[handlers]
				r.allocs = map[int]float64{1: 5}[handlers]
			}
			run(fmt.Sprintf("event/objects=%d/handlers=%d", objects, handlers), r, raceEvents(objects, handlers, newOurs))
		}
	}
	run("event/queue=inorder", &row{work: "event to 1, InOrder", budget: 1. / 3}, raceEvents(1_000, 1, newInOrder))
	run("event/queue=deltafifo", &row{work: "event to 1", against: "its DeltaFIFO"}, func(b *testing.B, r *row) {
		featurestesting.SetFeatureDuringTest(b, features.InOrderInformers, false)
		raceEvents(1_000, 1, newOurs)(b, r)
	})
	run("memory", &row{work: "memory of an object in 3 indices", budget: 0.75, inBytes: true}, raceMemory)
	run("fill", &row{work: "adding it", budget: 0.5}, raceFill)
	run("byindex", &row{work: "ByIndex of 2,000", budget: 0.25}, raceReads(100, func(s cache.Indexer) int {
		objects, _ := s.ByIndex("namespace", "namespace-7")
		return len(objects)
	}))
	run("list", &row{work: "List of 100,000", budget: 0.35}, raceReads(10, func(s cache.Indexer) int { return len(s.List()) }))
	for _, objects := range []int{1_000, 100_000} {
		run(fmt.Sprintf("sync/objects=%d", objects),
			&row{work: fmt.Sprintf("initial sync of %s, an object", thousands(objects)), budget: 1. / 3}, raceSync(objects, newOurs))
		run(fmt.Sprintf("extract/objects=%d", objects),
			&row{work: "taking them out of the list", against: "the whole sync"}, raceExtraction(objects))
	}
	run("sync/queue=inorder", &row{work: "initial sync of 100,000, InOrder", budget: 1. / 3}, raceSync(100_000, newInOrder))
	run("resync", &row{work: "resync of 20,000, an object", budget: 0.4}, raceResync(20_000, newOurs))
	run("resync/queue=inorder", &row{work: "resync of 20,000, InOrder", budget: 0.4}, raceResync(20_000, newInOrder))
	run("wire/protobuf", &row{work: "10,000 pods from the wire, protobuf", budget: 0.6}, racePods)
	run("wire/json", &row{work: "10,000 of a CRD from the wire, JSON", budget: 0.6}, raceWidgets)
	for _, handlers := range []int{1, 16} {
		lost := map[int]float64{1: 0.10, 16: 0.20}[handlers] // of the throughput
		r := &row{work: fmt.Sprintf("event to %d, moments on", handlers), against: "off", budget: 1 / (1 - lost), laps: 3}
		run(fmt.Sprintf("moments/handlers=%d", handlers), r, raceMoments(handlers))
	}
	printTable(rows)
}

func thousands(n int) string {
	if n < 1000 {
		return strconv.Itoa(n)
	}
	return fmt.Sprintf("%d,%03d", n/1000, n%1000)
}

// newInformer makes one side's informer.
type newInformer func(cache.ListerWatcher, apiruntime.Object, time.Duration, cache.Indexers) cache.SharedIndexInformer

var (
	newTheirs newInformer = cache.NewSharedIndexInformer
	newOurs   newInformer = engine.NewSharedIndexInformer
)

func newInOrder(lw cache.ListerWatcher, example apiruntime.Object, resync time.Duration, indexers cache.Indexers) cache.SharedIndexInformer {
	return engine.New(lw, example, engine.Options{Resync: resync, Indexers: indexers, Queue: engine.InOrder})
}

// feed is a ListerWatcher that serves one list and then what it is sent.
type feed struct {
	list   *corev1.PodList
	events chan watch.Event
	close  func()
}

func newFeed(pods []*corev1.Pod) *feed {
	list := &corev1.PodList{ListMeta: metav1.ListMeta{ResourceVersion: "1"}}
	for _, p := range pods {
		list.Items = append(list.Items, *p)
	}
	// In order of their keys, as an API server lists them.
	slices.SortFunc(list.Items, func(a, b corev1.Pod) int {
		return cmp.Or(strings.Compare(a.Namespace, b.Namespace), strings.Compare(a.Name, b.Name))
	})
	events := make(chan watch.Event, 1000)
	return &feed{list: list, events: events, close: sync.OnceFunc(func() { close(events) })}
}

func (f *feed) List(metav1.ListOptions) (apiruntime.Object, error) { return f.list, nil }
func (f *feed) Watch(metav1.ListOptions) (watch.Interface, error)  { return f, nil }
func (f *feed) ResultChan() <-chan watch.Event                     { return f.events }
func (f *feed) Stop()                                              { f.close() }
func (f *feed) IsWatchListSemanticsUnSupported() bool              { return true }

// benchPods returns pods in their version of that number, spread over three
// indices: 20 namespaces, 100 apps, 50 nodes.
func benchPods(n, version int) []*corev1.Pod {
	pods := make([]*corev1.Pod, n)
	for i := range pods {
		pods[i] = &corev1.Pod{
			ObjectMeta: metav1.ObjectMeta{
				Namespace: fmt.Sprintf("ns-%d", i%20), Name: fmt.Sprintf("pod-%06d", i),
				ResourceVersion: strconv.Itoa(version*n + i + 2),
				Labels:          map[string]string{"app": fmt.Sprintf("app-%d", i%100)},
			},
			Spec: corev1.PodSpec{NodeName: fmt.Sprintf("node-%d", i%50)},
		}
	}
	return pods
}

func benchIndexers() cache.Indexers {
	return cache.Indexers{
		cache.NamespaceIndex: cache.MetaNamespaceIndexFunc,
		"app": func(obj any) ([]string, error) {
			return []string{obj.(*corev1.Pod).Labels["app"]}, nil
		},
		"node": func(obj any) ([]string, error) {
			return []string{obj.(*corev1.Pod).Spec.NodeName}, nil
		},
	}
}

// counter is a handler that says when it has been told often enough.
type counter struct {
	left *atomic.Int64
	done chan struct{}
}

func (c *counter) told() {
	if c.left.Add(-1) == 0 {
		c.done <- struct{}{}
	}
}

func (c *counter) OnAdd(any, bool)   { c.told() }
func (c *counter) OnUpdate(any, any) { c.told() }
func (c *counter) OnDelete(any)      { c.told() }

// runner is one informer under measurement.
type runner struct {
	feed     *feed
	counter  *counter
	handlers int
	informer cache.SharedIndexInformer
	stop     func()
}

func newRunner(b *testing.B, make newInformer, pods []*corev1.Pod, handlers int, resync time.Duration) *runner {
	b.Helper()
	r := &runner{feed: newFeed(pods), handlers: handlers, counter: &counter{left: &atomic.Int64{}, done: newSignal()}}
	r.informer = make(r.feed, &corev1.Pod{}, resync, benchIndexers())
	for range handlers {
		if _, err := r.informer.AddEventHandler(r.counter); err != nil {
			b.Fatal(err)
		}
	}
	return r
}

func newSignal() chan struct{} { return make(chan struct{}, 1) }

// start runs the informer and waits until every handler has the initial list.
func (r *runner) start(ctx context.Context) { r.startUntil(ctx, 1) }

// startUntil runs the informer and waits until every handler has been told of
// every object so many times: first comes the initial list, then a resync.
func (r *runner) startUntil(ctx context.Context, times int) {
	r.expect(times * len(r.feed.list.Items))
	ctx, cancel := context.WithCancel(ctx)
	var wg sync.WaitGroup
	wg.Go(func() { r.informer.RunWithContext(ctx) })
	<-r.counter.done
	r.stop = func() {
		cancel()
		wg.Wait()
	}
}

func (r *runner) expect(events int) { r.counter.left.Store(int64(events * r.handlers)) }

// raceEvents measures a watch event from the stream to every handler.
func raceEvents(objects, handlers int, ours newInformer) func(*testing.B, *row) {
	return func(b *testing.B, r *row) {
		r.operations, r.laps = 20_000, max(1, 4/handlers)
		versions := [2][]*corev1.Pod{benchPods(objects, 1), benchPods(objects, 2)}
		initial := benchPods(objects, 0)
		side := func(make newInformer) func(*stopwatch) {
			one := newRunner(b, make, initial, handlers, 0)
			one.start(b.Context())
			b.Cleanup(one.stop)
			sent := 0
			return func(s *stopwatch) {
				one.expect(r.operations)
				s.time(func() {
					for range r.operations {
						one.feed.events <- watch.Event{Type: watch.Modified, Object: versions[sent/objects%2][sent%objects]}
						sent++
					}
					<-one.counter.done
				})
			}
		}
		r.race(b, side(newTheirs), side(ours))
	}
}

// raceResync measures a resync from its timer to one handler. That the timer has
// fired, both sides say in their logs.
func raceResync(objects int, ours newInformer) func(*testing.B, *row) {
	return func(b *testing.B, r *row) {
		r.operations = objects
		pods := benchPods(objects, 0)
		side := func(make newInformer) func(*stopwatch) {
			period := time.Second
			return func(s *stopwatch) {
				// If the timer fires before the initial list is through, on a busy
				// machine, the lap is one of something else and is run again.
				for early := true; early; period *= 2 {
					one := newRunner(b, make, pods, 1, period)
					one.startUntil(klog.NewContext(b.Context(), klog.New(&timerSink{fire: func() {
						early = one.counter.left.Load() > int64(objects)
						s.start()
					}})), 2)
					s.stop()
					one.stop()
				}
				period /= 2
			}
		}
		r.race(b, side(newTheirs), side(ours))
	}
}

// timerSink is a log that looks for the line that comes before a resync.
type timerSink struct {
	fired atomic.Bool
	fire  func()
}

func (t *timerSink) Init(klog.RuntimeInfo)          {}
func (t *timerSink) Enabled(level int) bool         { return level == 4 }
func (t *timerSink) Error(error, string, ...any)    {}
func (t *timerSink) WithValues(...any) klog.LogSink { return t }
func (t *timerSink) WithName(string) klog.LogSink   { return t }
func (t *timerSink) Info(_ int, message string, _ ...any) {
	if strings.Contains(strings.ToLower(message), "resync") && t.fired.CompareAndSwap(false, true) {
		t.fire()
	}
}

// storePods returns pods in the order of a LIST, that of their keys: 50
// namespaces, nodes with 50 pods each, owners with three.
func storePods(n int) []any {
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

func storeIndexers() cache.Indexers {
	return cache.Indexers{
		cache.NamespaceIndex: cache.MetaNamespaceIndexFunc,
		"node":               func(obj any) ([]string, error) { return []string{obj.(*corev1.Pod).Spec.NodeName}, nil },
		"owner":              func(obj any) ([]string, error) { return []string{obj.(*corev1.Pod).OwnerReferences[0].Name}, nil },
	}
}

func theirStore() cache.Indexer { return cache.NewIndexer(cache.MetaNamespaceKeyFunc, storeIndexers()) }
func ourStore() cache.Indexer {
	return store.New(cache.MetaNamespaceKeyFunc, storeIndexers(), store.Options{})
}

func fill(b *testing.B, s cache.Indexer, pods []any) {
	b.Helper()
	for _, pod := range pods {
		if err := s.Add(pod); err != nil {
			b.Fatal(err)
		}
	}
}

func heapInUse() float64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.GC()
	runtime.ReadMemStats(&m)
	return float64(m.HeapAlloc)
}

// raceMemory measures what a store needs for an object besides the object; its
// key counts.
func raceMemory(b *testing.B, r *row) {
	pods := storePods(100_000)
	r.operations = len(pods)
	side := func(make func() cache.Indexer) func(*stopwatch) {
		return func(s *stopwatch) {
			before := heapInUse()
			full := make()
			fill(b, full, pods)
			s.bytes = heapInUse() - before
			runtime.KeepAlive(full)
		}
	}
	r.race(b, side(theirStore), side(ourStore))
}

// raceFill measures adding objects to a growing store, one at a time.
func raceFill(b *testing.B, r *row) {
	pods := storePods(100_000)
	r.operations = len(pods)
	side := func(make func() cache.Indexer) func(*stopwatch) {
		return func(s *stopwatch) {
			runtime.GC()
			empty := make()
			s.time(func() { fill(b, empty, pods) })
		}
	}
	r.race(b, side(theirStore), side(ourStore))
}

// raceReads measures reading a store of 100,000 objects that came in random
// order, as after a long life, and so many times a lap.
func raceReads(times int, read func(cache.Indexer) int) func(*testing.B, *row) {
	return func(b *testing.B, r *row) {
		r.operations, r.laps = times, 3
		pods := storePods(100_000)
		rand.New(rand.NewPCG(1, 2)).Shuffle(len(pods), func(i, j int) { pods[i], pods[j] = pods[j], pods[i] })
		side := func(full cache.Indexer) func(*stopwatch) {
			fill(b, full, pods)
			return func(s *stopwatch) {
				runtime.GC()
				s.time(func() {
					for range times {
						if read(full) == 0 {
							b.Fatal("nothing was read")
						}
					}
				})
			}
		}
		r.race(b, side(theirStore()), side(ourStore()))
	}
}
