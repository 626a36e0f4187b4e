//go:build unix

package engine_test

import (
	"runtime"
	"testing"

	"k8s.io/apimachinery/pkg/api/meta"
	apiruntime "k8s.io/apimachinery/pkg/runtime"
)

// syncs is how many informers list so many objects, one after the other.
func syncs(objects int) int { return max(1, 20_000/objects) }

// raceSync measures the first list from the answer to one handler.
func raceSync(objects int, ours newInformer) func(*testing.B, *row) {
	return func(b *testing.B, r *row) {
		r.operations = syncs(objects) * objects
		r.race(b, syncSide(b, objects, newTheirs), syncSide(b, objects, ours))
	}
}

func syncSide(b *testing.B, objects int, make newInformer) func(*stopwatch) {
	pods := benchPods(objects, 0)
	return func(s *stopwatch) {
		runners := []*runner{}
		for range syncs(objects) {
			runners = append(runners, newRunner(b, make, pods, 1, 0))
		}
		runtime.GC()
		s.time(func() {
			for _, one := range runners {
				one.start(b.Context())
			}
		})
		for _, one := range runners {
			one.stop()
		}
	}
}

// raceExtraction measures, beside client-go's first list, the part of it that
// nobody gets around: allocating every object and copying it out of the list.
func raceExtraction(objects int) func(*testing.B, *row) {
	return func(b *testing.B, r *row) {
		r.operations = syncs(objects) * objects
		pods := benchPods(objects, 0)
		r.race(b, syncSide(b, objects, newTheirs), func(s *stopwatch) {
			feeds := []*feed{}
			for range syncs(objects) {
				feeds = append(feeds, newFeed(pods))
			}
			runtime.GC()
			var kept [][]apiruntime.Object
			s.time(func() {
				for _, f := range feeds {
					extracted, err := meta.ExtractListWithAlloc(f.list)
					if err != nil {
						b.Fatal(err)
					}
					kept = append(kept, extracted)
				}
			})
			runtime.KeepAlive(kept)
		})
	}
}
