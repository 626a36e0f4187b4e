//go:build unix

package engine_test

import (
	"fmt"
	"runtime"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/watch"

	"github.com/informeter/informeter/engine"
	"github.com/informeter/informeter/engine/inspect"
	"github.com/informeter/informeter/engine/processor"
)

// raceMoments measures a watch event to every handler while nobody looks, and
// while moments are recorded because somebody does.
func raceMoments(handlers int) func(*testing.B, *row) {
	return func(b *testing.B, r *row) {
		const objects = 1000
		r.operations = 20_000
		versions := [2][]watch.Event{}
		for v := range versions {
			for _, pod := range benchPods(objects, v+1) {
				versions[v] = append(versions[v], watch.Event{Type: watch.Modified, Object: pod})
			}
		}
		i := newRunner(b, newOurs, benchPods(objects, 0), handlers, 0)
		i.start(b.Context())
		defer i.stop()
		send := func() {
			i.expect(r.operations)
			for n := range r.operations {
				i.feed.events <- versions[n/objects%2][n%objects]
			}
			<-i.counter.done
		}
		lap := func(on bool) func(*stopwatch) {
			return func(s *stopwatch) {
				i.informer.(*engine.Informer).RecordMoments(on)
				send() // until the rings have grown
				runtime.GC()
				s.time(send)
			}
		}
		r.race(b, lap(false), lap(true))
	}
}

// One operation is one record of one moment, in batches of 64.
func BenchmarkMoment(b *testing.B) {
	record := engine.MomentRecorder()
	batch := make([]processor.Notification, 64)
	at := time.Now().UnixNano()
	for n := range batch {
		batch[n] = processor.Notification{Key: "ns/a", Arrived: at, At: at}
	}
	seq, began := uint64(0), cpuTime()
	for b.Loop() {
		batch[seq%64].Seq = seq + 1
		if seq++; seq%64 == 0 {
			record(batch)
		}
	}
	b.ReportMetric(float64((cpuTime()-began).Nanoseconds())/float64(seq), "cpu-ns/op")
}

// One operation is one page of moments as the explorer asks for it.
func BenchmarkMomentsPage(b *testing.B) {
	for _, handlers := range []int{1, 16} {
		b.Run(fmt.Sprintf("handlers=%d", handlers), func(b *testing.B) {
			r := newRunner(b, newOurs, benchPods(2*engine.MomentsKept, 0), handlers, 0)
			i := r.informer.(*engine.Informer)
			i.RecordMoments(true)
			r.start(b.Context())
			defer r.stop()
			began, pages := cpuTime(), 0
			for b.Loop() {
				pages++
				if _, err := i.Moments(b.Context(), inspect.MomentQuery{Limit: 50}); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64((cpuTime()-began).Nanoseconds())/float64(pages), "cpu-ns/op")
		})
	}
}
