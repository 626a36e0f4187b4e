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

// BenchmarkMomentsOfAnEvent measures a watch event to every handler, in turn
// without and with moments being recorded, by processor time:
//
//	off-ns/op  on-ns/op  lost-%
func BenchmarkMomentsOfAnEvent(b *testing.B) {
	const events, objects = 20_000, 1000
	for _, handlers := range []int{1, 16} {
		b.Run(fmt.Sprintf("handlers=%d", handlers), func(b *testing.B) {
			versions := [2][]watch.Event{}
			for v := range versions {
				for _, pod := range benchPods(objects, v+1) {
					versions[v] = append(versions[v], watch.Event{Type: watch.Modified, Object: pod})
				}
			}
			r := newRunner(b, newOurs, benchPods(objects, 0), handlers, 0)
			r.start(b.Context())
			defer r.stop()
			i := r.informer.(*engine.Informer)
			send := func() {
				r.expect(events)
				for n := range events {
					r.feed.events <- versions[n/objects%2][n%objects]
				}
				<-r.counter.done
			}
			var laps [2][]lap
			for b.Loop() {
				for on := range laps {
					i.RecordMoments(on == 1)
					send() // until the rings have grown
					runtime.GC()
					var s stopwatch
					s.time(send)
					laps[on] = append(laps[on], s.lap)
				}
			}
			off, on := medianLap(laps[0]).cpu, medianLap(laps[1]).cpu
			b.ReportMetric(float64(off.Nanoseconds())/events, "off-ns/op")
			b.ReportMetric(float64(on.Nanoseconds())/events, "on-ns/op")
			b.ReportMetric(100*(1-off.Seconds()/on.Seconds()), "lost-%")
			b.ReportMetric(0, "ns/op")
		})
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
