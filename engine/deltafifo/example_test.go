package deltafifo_test

import (
	"fmt"

	"k8s.io/client-go/tools/cache"

	"github.com/informeter/informeter/engine/deltafifo"
)

// A relist comes while an addition is being applied. The queue remembers what
// is in flight, and buries what the list no longer holds.
func ExampleDeltaFIFO_PopEntries() {
	store := cache.NewStore(cache.DeletionHandlingMetaNamespaceKeyFunc)
	q := deltafifo.New(deltafifo.Options{KnownObjects: store})
	if err := q.Add(obj("a", 1)); err != nil {
		panic(err)
	}
	relisted := false
	admit := func() int { return 100 }
	process := func(batch []deltafifo.Entry) (failed []deltafifo.Entry) {
		if !relisted {
			relisted = true
			if err := q.Replace([]any{obj("b", 2)}, "2"); err != nil { // the reflector, in the meantime
				panic(err)
			}
		}
		for _, e := range batch {
			fmt.Println(e.Type, e.Key, "because of", e.Cause)
			var err error
			switch e.Type {
			case cache.Bookmark:
			case cache.Deleted:
				err = store.Delete(e.Object)
			default:
				err = store.Add(e.Object)
			}
			if err != nil {
				failed = append(failed, e)
			}
		}
		return failed
	}
	for range 2 {
		if _, _, err := q.PopEntries(admit, process); err != nil {
			panic(err)
		}
	}
	fmt.Println("stored:", store.ListKeys())
	// Output:
	// Added a because of watch
	// Replaced b because of initial
	// Deleted a because of initial
	// Bookmark  because of initial
	// stored: [b]
}
