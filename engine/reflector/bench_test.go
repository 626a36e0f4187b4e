package reflector

import (
	"context"
	"fmt"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"

	v1 "k8s.io/api/core/v1"
)

// implementations run a reflector against a store until ctx ends.
var implementations = map[string]func(ctx context.Context, lw cache.ListerWatcher, store cache.ReflectorStore){
	"ours": func(ctx context.Context, lw cache.ListerWatcher, store cache.ReflectorStore) {
		New(lw, &v1.Pod{}, store, Options{}).Run(ctx)
	},
	"client-go": func(ctx context.Context, lw cache.ListerWatcher, store cache.ReflectorStore) {
		cache.NewReflectorWithOptions(lw, &v1.Pod{}, store, cache.ReflectorOptions{Name: "bench"}).RunWithContext(ctx)
	},
}

// BenchmarkWatchEvent is one event from the stream's channel to the store, which
// does nothing.
func BenchmarkWatchEvent(b *testing.B) {
	for impl, run := range implementations {
		for _, buffer := range []int{0, 100} {
			b.Run(fmt.Sprintf("impl=%s/buffer=%d", impl, buffer), func(b *testing.B) {
				ctx, cancel := context.WithCancel(b.Context())
				defer cancel()
				lw := &pipe{events: make(chan watch.Event, buffer)}
				store := &sink{last: make(chan struct{}), replaced: make(chan struct{}, 1)}
				ended := make(chan struct{})
				go func() {
					defer close(ended)
					run(ctx, lw, store)
				}()
				<-store.replaced
				event := watch.Event{Type: watch.Modified, Object: pod("a@7")}
				b.ReportAllocs()
				for b.Loop() {
					lw.events <- event
				}
				lw.events <- watch.Event{Type: watch.Deleted, Object: pod("a@8")}
				<-store.last
				b.StopTimer()
				cancel()
				<-ended
			})
		}
	}
}

// BenchmarkInitialStream is an initial stream of so many objects, per object.
func BenchmarkInitialStream(b *testing.B) {
	const objects = 10_000
	events := make([]watch.Event, 0, objects+1)
	for i := range objects {
		events = append(events, watch.Event{Type: watch.Added, Object: pod(fmt.Sprintf("pod-%d@%d", i, i))})
	}
	events = append(events, watch.Event{Type: watch.Bookmark, Object: bookmark(fmt.Sprint(objects), true)})
	for impl, run := range implementations {
		b.Run(fmt.Sprintf("impl=%s/objects=%d", impl, objects), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				ctx, cancel := context.WithCancel(b.Context())
				lw := &pipe{events: make(chan watch.Event), stream: true}
				store := &sink{replaced: make(chan struct{}, 1)}
				ended := make(chan struct{})
				go func() {
					defer close(ended)
					run(ctx, lw, store)
				}()
				for _, e := range events {
					lw.events <- e
				}
				<-store.replaced
				cancel()
				<-ended
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*objects), "ns/object")
		})
	}
}

// pipe is a ListerWatcher with one watch.
type pipe struct {
	events chan watch.Event
	stream bool
}

func (p *pipe) IsWatchListSemanticsUnSupported() bool             { return !p.stream }
func (p *pipe) List(metav1.ListOptions) (runtime.Object, error)   { return podList("5"), nil }
func (p *pipe) Watch(metav1.ListOptions) (watch.Interface, error) { return p, nil }
func (p *pipe) ResultChan() <-chan watch.Event                    { return p.events }
func (p *pipe) Stop()                                             {}

// sink is a store that does nothing.
type sink struct{ last, replaced chan struct{} }

func (s *sink) Add(any) error    { return nil }
func (s *sink) Update(any) error { return nil }
func (s *sink) Resync() error    { return nil }

func (s *sink) Delete(any) error {
	close(s.last)
	return nil
}

func (s *sink) Replace([]any, string) error {
	s.replaced <- struct{}{}
	return nil
}
