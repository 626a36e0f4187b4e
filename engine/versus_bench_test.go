package engine

import (
	"context"
	"fmt"
	"runtime"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	apiruntime "k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"
)

// The benchmarks here run ours and client-go's in turn, chunk by chunk, in one
// process on the same objects, and report both and their ratio:
//
//	ours-ns/op  client-go-ns/op  ratio  ours-allocs/op  client-go-allocs/op

// feed is a ListerWatcher that serves one list and then what it is sent.
type feed struct {
	list   *corev1.PodList
	events chan watch.Event
}

func newFeed(pods []*corev1.Pod) *feed {
	list := &corev1.PodList{ListMeta: metav1.ListMeta{ResourceVersion: "1"}}
	for _, p := range pods {
		list.Items = append(list.Items, *p)
	}
	return &feed{list: list, events: make(chan watch.Event, 1000)}
}

func (f *feed) List(metav1.ListOptions) (apiruntime.Object, error) { return f.list, nil }
func (f *feed) Watch(metav1.ListOptions) (watch.Interface, error)  { return f, nil }
func (f *feed) ResultChan() <-chan watch.Event                     { return f.events }
func (f *feed) Stop()                                              {}
func (f *feed) IsWatchListSemanticsUnSupported() bool              { return true }
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
		"app":                byApp,
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
	took     time.Duration
	allocs   uint64
}

type newInformer func(cache.ListerWatcher, apiruntime.Object, time.Duration, cache.Indexers) cache.SharedIndexInformer

func newRunner(make newInformer, pods []*corev1.Pod, handlers int, resync time.Duration) *runner {
	r := &runner{feed: newFeed(pods), handlers: handlers, counter: &counter{left: &atomic.Int64{}, done: newSignal()}}
	r.informer = make(r.feed, &corev1.Pod{}, resync, benchIndexers())
	for range handlers {
		if _, err := r.informer.AddEventHandler(r.counter); err != nil {
			panic(err)
		}
	}
	return r
}

func newSignal() chan struct{} { return make(chan struct{}, 1) }

// start runs the informer and waits until every handler has the initial list.
func (r *runner) start() {
	r.expect(len(r.feed.list.Items))
	ctx, cancel := context.WithCancel(context.Background())
	var wg sync.WaitGroup
	wg.Go(func() { r.informer.RunWithContext(ctx) })
	<-r.counter.done
	r.stop = func() {
		cancel()
		wg.Wait()
	}
}

func (r *runner) expect(events int) { r.counter.left.Store(int64(events * r.handlers)) }

// measure adds the time and the allocations of work to the runner's.
func (r *runner) measure(work func()) {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	began := time.Now()
	work()
	r.took += time.Since(began)
	runtime.ReadMemStats(&after)
	r.allocs += after.Mallocs - before.Mallocs
}

// report prints both runners and their ratio, per operation.
func report(b *testing.B, ours, theirs *runner, operations int) {
	perOp := func(r *runner) float64 { return float64(r.took.Nanoseconds()) / float64(operations) }
	b.ReportMetric(perOp(ours), "ours-ns/op")
	b.ReportMetric(perOp(theirs), "client-go-ns/op")
	b.ReportMetric(perOp(ours)/perOp(theirs), "ratio")
	b.ReportMetric(float64(ours.allocs)/float64(operations), "ours-allocs/op")
	b.ReportMetric(float64(theirs.allocs)/float64(operations), "client-go-allocs/op")
	b.ReportMetric(0, "ns/op")
}

// BenchmarkEvent measures one watch event from the stream to every handler.
func BenchmarkEvent(b *testing.B) {
	const chunk = 2000
	for _, objects := range []int{1_000, 100_000} {
		for _, handlers := range []int{1, 4, 16, 64} {
			b.Run(fmt.Sprintf("objects=%d/handlers=%d", objects, handlers), func(b *testing.B) {
				versions := [2][]*corev1.Pod{benchPods(objects, 1), benchPods(objects, 2)}
				initial := benchPods(objects, 0)
				ours := newRunner(NewSharedIndexInformer, initial, handlers, 0)
				theirs := newRunner(cache.NewSharedIndexInformer, initial, handlers, 0)
				for _, r := range []*runner{ours, theirs} {
					r.start()
					defer r.stop()
				}
				sent := 0
				for b.Loop() {
					first := sent
					for _, r := range []*runner{ours, theirs} {
						sent = first
						r.expect(chunk)
						r.measure(func() {
							for range chunk {
								r.feed.events <- watch.Event{Type: watch.Modified, Object: versions[sent/objects%2][sent%objects]}
								sent++
							}
							<-r.counter.done
						})
					}
				}
				report(b, ours, theirs, sent)
			})
		}
	}
}

// BenchmarkInitialSync measures the first list from the answer to one handler,
// per object.
func BenchmarkInitialSync(b *testing.B) {
	for _, objects := range []int{1_000, 100_000} {
		b.Run(fmt.Sprintf("objects=%d", objects), func(b *testing.B) {
			pods := benchPods(objects, 0)
			var ours, theirs runner
			rounds := 0
			for b.Loop() {
				for sum, make := range map[*runner]newInformer{&ours: NewSharedIndexInformer, &theirs: cache.NewSharedIndexInformer} {
					r := newRunner(make, pods, 1, 0)
					runtime.GC()
					sum.measure(r.start)
					r.stop()
				}
				rounds++
			}
			report(b, &ours, &theirs, rounds*objects)
		})
	}
}
