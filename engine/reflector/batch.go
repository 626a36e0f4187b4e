package reflector

import (
	"context"

	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"
)

// batcher is a store that takes many events at once, as if they came one after
// the other; their types are Added, Updated, Deleted and Bookmark. The slice
// stays the reflector's, but the store may work in it. failed is told of each
// that was not taken.
//
// Unlike client-go, which gives its store one event at a time [bursts].
type batcher interface {
	Enqueue(deltas []cache.Delta, failed func(i int, err error))
}

// gathered are events of a watch on their way to a batcher.
type gathered struct {
	deltas []cache.Delta
	seen   tally // of all that were looked at
}

// gather takes an event that deliverGathered will give to the store. What can't
// be given is left behind at once; see deliver.
func (r *Reflector) gather(ctx context.Context, s *stream, event watch.Event) {
	obj, err := r.expected.check(event.Object)
	if err != nil {
		r.skip(ctx, event.Type, event.Object, err)
		return
	}
	d := cache.Delta{Object: event.Object}
	switch event.Type {
	case watch.Added:
		d.Type = cache.Added
	case watch.Modified:
		s.ordered = true
		d.Type = cache.Updated
	case watch.Deleted:
		s.ordered = true
		d.Type = cache.Deleted
	case watch.Bookmark:
		s.ordered = true
		d = cache.Delta{Type: cache.Bookmark, Object: cache.BookmarkInfo{ResourceVersion: obj.GetResourceVersion()}}
	default:
		r.skip(ctx, event.Type, event.Object, errUnknownEvent)
	}
	if d.Type != "" && (d.Type != cache.Bookmark || r.bookmarks != nil) {
		r.gathered.deltas = append(r.gathered.deltas, d)
	}
	r.gathered.seen.add(event.Type)
	s.advance(obj.GetResourceVersion())
}

// deliverGathered gives the store what was gathered, and then notes it.
func (r *Reflector) deliverGathered(ctx context.Context, s *stream) {
	seen, deltas := r.gathered.seen, r.gathered.deltas
	if seen == (tally{}) {
		return
	}
	r.gathered.seen, r.gathered.deltas = tally{}, deltas[:0]
	defer clear(deltas) // don't keep objects alive until the next burst
	r.delivering.Store(true)
	r.batches.Enqueue(deltas, func(i int, err error) {
		r.skip(ctx, eventType(deltas[i].Type), deltas[i].Object, err)
	})
	r.observeAll(s, seen)
}

// eventType is the type of the event that a delta came by.
func eventType(t cache.DeltaType) watch.EventType {
	switch t {
	case cache.Added:
		return watch.Added
	case cache.Updated:
		return watch.Modified
	case cache.Deleted:
		return watch.Deleted
	}
	return watch.Bookmark
}
