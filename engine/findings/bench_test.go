package findings

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/informeter/informeter/engine/inspect"
)

// BenchmarkObserve looks once at an informer with as much to remember as there
// can be: 256 requests, and handlers that all do well, or all have something
// wrong with them.
func BenchmarkObserve(b *testing.B) {
	for _, handlers := range []int{1, 16, 64} {
		for _, sick := range []bool{false, true} {
			b.Run(fmt.Sprintf("handlers=%d/sick=%v", handlers, sick), func(b *testing.B) {
				p := &patient{s: inspect.Snapshot{At: epoch, Store: inspect.StoreVitals{Objects: 1000}, Informer: inspect.InformerVitals{Name: "pods", State: inspect.StateRunning, Synced: true}}}
				for n := range maxRequests {
					p.request(inspect.Request{Verb: inspect.VerbWatch, Started: epoch.Add(time.Duration(n-400) * time.Minute), Ended: epoch.Add(time.Duration(n-394) * time.Minute), Outcome: inspect.OutcomeClosed, Items: 9})
				}
				for n := range handlers {
					l := inspect.ListenerVitals{Name: fmt.Sprint("handler", n), Synced: true, BusyRate: 500, Time: inspect.Latency{Count: 100, Max: time.Millisecond}}
					if sick {
						l.ResyncGranted, l.InHandler, l.Panics = time.Second, 20*time.Second, 1
					}
					p.s.Listeners = append(p.s.Listeners, l)
				}
				all := slices.Clone(p.requests)
				slices.Reverse(all)
				p.w.Observe(p.s, all)
				p.s.Requests.Last = all[:5]
				b.ReportAllocs()
				for b.Loop() {
					p.s.At = p.s.At.Add(time.Second)
					p.w.Observe(p.s, nil)
				}
			})
		}
	}
}
