package engine

import (
	"context"
	"fmt"
	"testing"
	"testing/synctest"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/tools/cache"

	"github.com/informeter/informeter/engine/deltafifo"
	"github.com/informeter/informeter/engine/inspect"
)

func TestAJournalThatFellBehindHealsFromTheStore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newServer()
		i := New(s, &corev1.Pod{}, Options{})
		release := must[func()](t)(i.Open())
		const n = journalBacklog + 5000
		changed := func(from, to int, kind cache.DeltaType, rv string) {
			batch := make([]deltafifo.Entry, 0, to-from)
			for k := from; k < to; k++ {
				p := pod(fmt.Sprintf("p%06d", k))
				p.ResourceVersion = rv
				batch = append(batch, deltafifo.Entry{
					Delta: cache.Delta{Type: kind, Object: p}, Key: "ns/" + p.Name, Cause: inspect.CauseWatch,
				})
			}
			if failed := i.handle(batch); len(failed) > 0 {
				t.Fatalf("%d deltas failed", len(failed))
			}
		}
		ctx, cancel := context.WithCancel(t.Context())
		changed(0, n, cache.Added, "1") // nobody reads yet
		changed(100, 200, cache.Deleted, "2")
		done := make(chan struct{})
		go func() {
			defer close(done)
			i.processor.Run(ctx)
		}()
		synctest.Wait()
		got := snapshot(t, i)
		if got.Lost.Journal != n+100 || got.Listeners[0].Pending != 0 || got.Journal.Keys != n-100 {
			t.Errorf("lost %d, pending %d, %d keys", got.Lost.Journal, got.Listeners[0].Pending, got.Journal.Keys)
		}
		changed(n, n+1, cache.Added, "3")
		changed(0, 1, cache.Updated, "4")
		synctest.Wait()
		page := must[inspect.Page](t)(i.Store(t.Context(), inspect.Query{Limit: 2 * n}))
		stored := i.store.ListKeys()
		if page.Total != len(stored) || len(page.Rows) != len(stored) {
			t.Fatalf("%d rows of %d, the store has %d", len(page.Rows), page.Total, len(stored))
		}
		for _, r := range page.Rows {
			obj, exists, _ := i.store.GetByKey(r.Key)
			if !exists || obj.(*corev1.Pod).ResourceVersion != r.ResourceVersion {
				t.Fatalf("%s is at %s, the store has %v", r.Key, r.ResourceVersion, obj)
			}
		}
		release()
		cancel()
		<-done
		s.Shutdown()
	})
}
