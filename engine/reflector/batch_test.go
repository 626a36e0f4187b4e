package reflector

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"

	v1 "k8s.io/api/core/v1"
)

// batches is a store that notes what comes in one call.
type batches struct {
	sink
	taken [][]string
	fail  string
}

func (b *batches) Replace([]any, string) error { return nil }
func (b *batches) Bookmark(string) error       { panic("bug: one at a time") }

func (b *batches) Enqueue(deltas []cache.Delta, failed func(int, error)) {
	var taken []string
	for i, d := range deltas {
		text := fmt.Sprintf("%s %s", d.Type, describeObject(d.Object))
		if info, ok := d.Object.(cache.BookmarkInfo); ok {
			text = fmt.Sprintf("%s %s", d.Type, info.ResourceVersion)
		}
		if text == b.fail {
			failed(i, errors.New("no room"))
			continue
		}
		taken = append(taken, text)
	}
	b.taken = append(b.taken, taken)
}

// What waits in a stream's channel goes to the store in bursts, in order, and
// before what ends the stream; and is counted as if it came one by one.
func TestWhatWaitsInAStreamIsEnqueuedInBursts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const n = 3 * burst / 2
		events := make(chan watch.Event, 2*n)
		var want []string
		for i := range n {
			events <- watch.Event{Type: watch.Modified, Object: pod(fmt.Sprintf("a@%d", i+10))}
			want = append(want, fmt.Sprintf("Updated a@%d", i+10))
		}
		events <- watch.Event{Type: watch.Added, Object: &v1.Node{}}
		events <- watch.Event{Type: "SHRUNK", Object: pod("b@200")}
		events <- watch.Event{Type: watch.Deleted, Object: pod("b@201")} // refused by the store
		events <- watch.Event{Type: watch.Added, Object: pod("c@202")}
		events <- watch.Event{Type: watch.Bookmark, Object: bookmark("203", false)}
		events <- watch.Event{Type: watch.Deleted, Object: pod("c@204")}
		want = append(want, "Added c@202", "Bookmark 203", "Deleted c@204")
		events <- errorEvent("expired")
		store := &batches{fail: "Deleted b@201"}
		r := New(&pipe{events: events}, &v1.Pod{}, store, Options{})
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			r.Run(ctx)
		}()
		synctest.Wait()
		v := r.Vitals(time.Now())
		cancel()
		<-ended
		if got := slices.Concat(store.taken...); cmp.Diff(want, got) != "" {
			t.Errorf("enqueued (-want +got):\n%s", cmp.Diff(want, got))
		}
		if len(store.taken) != 2 {
			t.Errorf("in %d bursts, want 2", len(store.taken))
		}
		counts := fmt.Sprintf("A %d U %d D %d bookmarks %d skipped %d at %s", v.Added, v.Updated, v.Deleted, v.Bookmarks, v.Skipped, v.ResourceVersion)
		if want := fmt.Sprintf("A 1 U %d D 2 bookmarks 1 skipped 3 at 204", n); counts != want {
			t.Errorf("counted %s, want %s", counts, want)
		}
		if !strings.Contains(v.LastSkipped, "DELETED d/b: no room") {
			t.Errorf("skipped last: %s", v.LastSkipped)
		}
	})
}

// After a panic that the process survives nothing of the burst is left to come
// up in the next round.
func TestABurstThatPanickedIsForgotten(t *testing.T) {
	r := New(&pipe{}, &v1.Pod{}, &batches{}, Options{})
	r.gather(t.Context(), &stream{}, watch.Event{Type: watch.Added, Object: pod("a@1")})
	r.abandonRound()
	r.deliverGathered(t.Context(), &stream{})
	if got := r.store.(*batches).taken; len(got) > 0 {
		t.Errorf("enqueued after the panic: %v", got)
	}
}
