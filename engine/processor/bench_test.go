package processor

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/informeter/informeter/engine/inspect"
)

// window is how many notifications a benchmark publishes before it waits for
// every handler, so that it measures both ends.
const window = 1 << 14

// counter is a handler that does next to nothing, and says so once a window.
type counter struct {
	left int
	done *sync.WaitGroup
}

func (c *counter) OnAdd(any, bool)   { c.called() }
func (c *counter) OnUpdate(any, any) { c.called() }
func (c *counter) OnDelete(any)      { c.called() }

func (c *counter) called() {
	if c.left--; c.left == 0 {
		c.left = window
		c.done.Done()
	}
}

// startBenchmark runs a processor with that many handlers.
func startBenchmark(b *testing.B, handlers int, o ListenerOptions) (p *Processor, done *sync.WaitGroup) {
	b.Helper()
	p, done = New(Options{}), new(sync.WaitGroup)
	for i := range handlers {
		o.Name = fmt.Sprint(i)
		if _, err := p.Add(&counter{left: window, done: done}, o, nil, nil); err != nil {
			b.Fatal(err)
		}
	}
	ctx, cancel := context.WithCancel(context.Background())
	stopped := make(chan struct{})
	go func() {
		defer close(stopped)
		p.Run(ctx)
	}()
	b.Cleanup(func() {
		cancel()
		<-stopped
	})
	return p, done
}

// One operation is one notification, from Publish until every handler has
// returned from it.
func BenchmarkPublish(b *testing.B) {
	o := obj("a")
	for _, handlers := range []int{1, 4, 16, 64} {
		for _, batch := range []int{1, 16, 512} {
			b.Run(fmt.Sprintf("handlers=%d/batch=%d", handlers, batch), func(b *testing.B) {
				p, done := startBenchmark(b, handlers, ListenerOptions{})
				notifications := make([]Notification, batch)
				for i := range notifications {
					notifications[i] = Notification{Kind: Update, Old: o, New: o}
				}
				b.ReportAllocs()
				done.Add(handlers)
				var published int
				for b.Loop() {
					published++
					if published%batch == 0 {
						p.Publish(notifications)
					}
					if published%window == 0 {
						done.Wait()
						done.Add(handlers)
					}
				}
			})
		}
	}
}

// One operation is one resync notification that one of the handlers is due for,
// until that one has returned from it; the others skip it.
func BenchmarkResync(b *testing.B) {
	o := obj("a")
	for _, handlers := range []int{1, 4, 16, 64} {
		b.Run(fmt.Sprintf("handlers=%d/batch=512", handlers), func(b *testing.B) {
			p, done := startBenchmark(b, handlers-1, ListenerOptions{})
			if _, err := p.Add(&counter{left: window, done: done}, ListenerOptions{ResyncGranted: 1}, nil, nil); err != nil {
				b.Fatal(err)
			}
			p.ShouldResync(time.Now())
			notifications := make([]Notification, 512)
			for i := range notifications {
				notifications[i] = Notification{Kind: Update, Cause: inspect.CauseResync, DueOnly: true, Old: o, New: o}
			}
			b.ReportAllocs()
			done.Add(1)
			var published int
			for b.Loop() {
				published++
				if published%len(notifications) == 0 {
					p.Publish(notifications)
				}
				if published%window == 0 {
					done.Wait()
					done.Add(1)
				}
			}
		})
	}
}

// One operation is one reading of all listeners while they work.
func BenchmarkVitals(b *testing.B) {
	o := obj("a")
	for _, handlers := range []int{1, 64} {
		b.Run(fmt.Sprintf("handlers=%d", handlers), func(b *testing.B) {
			p, done := startBenchmark(b, handlers, ListenerOptions{})
			done.Add(handlers)
			for range window {
				p.Publish([]Notification{{Kind: Update, Old: o, New: o}})
			}
			done.Wait()
			b.ReportAllocs()
			for b.Loop() {
				p.Listeners(time.Now())
			}
		})
	}
}
