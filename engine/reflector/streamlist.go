package reflector

import (
	"context"
	"errors"
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"

	"github.com/informeter/informeter/engine/inspect"
)

// streamList is the step of PhaseStreamingList: one WATCH that begins with
// everything there is, gathered until the end marker, and Replace with that. The
// watch stays open for PhaseWatching.
//
//	end marker               → becomeWatching       version = the marker's, stream = the watch
//	busy (429, refused)      → becomeBackingOff     to StreamingList
//	expired or too new       → becomeStreamingList  mostRecent = true
//	closed without marker    → becomeStreamingList  (spaced if WatchSpacing)
//	no marker for too long   → becomeListing        only with EndMarkerDeadline
//	any other error          → becomeListing
func (r *Reflector) streamList(ctx context.Context) {
	s, err := r.openWatch(ctx, metav1.ListOptions{
		ResourceVersion:      r.streamVersion(),
		ResourceVersionMatch: metav1.ResourceVersionMatchNotOlderThan,
		SendInitialEvents:    new(true),
	})
	if err != nil {
		r.streamListFailed(ctx, err)
		return
	}
	r.stream = s
	end, err := r.consume(ctx, s)
	if end == endMarker {
		r.storeStreamed(ctx, s)
		return
	}
	r.dropStream()
	switch end {
	case endStopped:
	case endRelist:
		r.endRequest(inspect.OutcomeStopped, nil, nextRelist)
		r.mostRecent = true
		r.beginRound()
	case endNoMarker:
		r.failed(OpWatchList, ErrNoEndMarker)
		r.endRequest(inspect.OutcomeStopped, ErrNoEndMarker, nextList)
		r.giveUpStreaming(ctx)
	case endOutlived:
		r.failed(OpWatchList, err)
		r.endRequest(inspect.OutcomeStopped, err, nextRetry)
		r.becomeSpaced(toStreamList)
	case endClosed:
		r.streamListClosed(ctx, s)
	default:
		r.streamListFailed(ctx, err)
	}
}

// streamVersion is the resource version a WATCHLIST asks for.
func (r *Reflector) streamVersion() string {
	if r.mostRecent {
		return ""
	}
	return r.LastSyncResourceVersion()
}

// storeStreamed gives the store what an initial stream brought.
func (r *Reflector) storeStreamed(ctx context.Context, s *stream) {
	r.mostRecent = false
	items := s.initial.items()
	r.delivering.Store(true)
	if err := r.store.Replace(items, s.version); err != nil {
		r.noted()
		// Unlike client-go, which leaves this watch open, nobody reading it
		// [refused stream].
		r.dropStream()
		r.failed(OpWatchList, fmt.Errorf("store the result: %w", err))
		r.endRequest(inspect.OutcomeStopped, err, nextList)
		r.becomeListing()
		return
	}
	s.handOver()
	r.markRequest(s.version)
	r.completed(ctx, len(items), s.version)
	r.becomeWatching()
}

// markRequest notes that the WATCHLIST under way has seen its end marker.
func (r *Reflector) markRequest(version string) {
	r.mu.Lock()
	q := r.requests.newest()
	q.Outcome, q.Returned, q.Next = inspect.OutcomeOK, version, nextWatch
	q.Initial, q.Marked = q.Items, time.Now()
	r.recoveredLocked() // from a failure to watch too: this is a watch that works
	r.mu.Unlock()
}

// streamListClosed decides what follows a stream that closed without an error
// and without its end marker.
func (r *Reflector) streamListClosed(ctx context.Context, s *stream) {
	if s.tooShort() {
		r.streamListFailed(ctx, &cache.VeryShortWatchError{Name: r.name})
		return
	}
	r.failed(OpWatchList, ErrNoEndMarker)
	r.unfinished++
	// Unlike client-go, a second stream that closes unfinished is given up, if
	// there is a deadline for end markers at all: it would go on for ever [end
	// marker].
	if r.options.EndMarkerDeadline > 0 && r.unfinished > 1 {
		r.endRequest(inspect.OutcomeClosed, ErrNoEndMarker, nextList)
		r.giveUpStreaming(ctx)
		return
	}
	r.endRequest(inspect.OutcomeClosed, ErrNoEndMarker, nextRetry)
	r.becomeSpaced(toStreamList)
}

// giveUpStreaming lists instead, in this round and in those that follow soon.
func (r *Reflector) giveUpStreaming(ctx context.Context) {
	klog.FromContext(ctx).Info("Warning: the server did not end the initial stream; listing instead", "reflector", r.name, "type", r.typeDescription)
	r.noStreamUntil = time.Now().Add(noStreamFor)
	r.becomeListing()
}

// streamListFailed decides what follows a WATCHLIST that could not be opened or
// ended with an error.
func (r *Reflector) streamListFailed(ctx context.Context, err error) {
	outcome := outcomeOf(inspect.VerbWatchList, err)
	var short *cache.VeryShortWatchError
	if errors.As(err, &short) {
		outcome = inspect.OutcomeClosed
	}
	switch {
	case ctx.Err() != nil:
		// Unlike client-go, whose wait after a 429 does not see the stop [stop].
	case isBusy(err):
		r.endRequest(outcome, err, nextRetry)
		r.failed(OpWatchList, err)
		r.becomeBackingOff(toStreamList)
	case isExpired(err) || isTooNew(err):
		r.endRequest(outcome, err, nextRetry)
		if !r.mostRecent {
			r.mostRecent = true
			r.becomeStreamingList()
			return
		}
		// The most recent state was asked for already: nothing to wait for, and
		// nothing that will change by itself either.
		r.failed(OpWatchList, err)
		r.becomeSpaced(toStreamList)
	default:
		klog.FromContext(ctx).V(4).Info("Streaming the list failed; listing instead", "reflector", r.name, "type", r.typeDescription, "err", err)
		r.endRequest(outcome, err, nextList)
		r.becomeListing()
	}
}

// gathering collects an initial stream, in the order in which its objects first
// came. It implements receiver.
//
// Unlike client-go, whose order is that of a map [stream order].
type gathering struct {
	// transform is applied as objects come, so that what it strips is not kept
	// until the stream is complete. The store's queue applies it again, as
	// with client-go: transforms are idempotent.
	transform cache.TransformFunc
	objects   []any // nil where an object was deleted again
	positions map[string]int
}

func newGathering(store cache.ReflectorStore) *gathering {
	g := &gathering{positions: map[string]int{}}
	if t, ok := store.(cache.TransformingStore); ok {
		g.transform = t.Transformer()
	}
	return g
}

func (g *gathering) Add(obj any) error {
	key, err := cache.DeletionHandlingMetaNamespaceKeyFunc(obj)
	if err != nil {
		return cache.KeyError{Obj: obj, Err: err}
	}
	if g.transform != nil {
		if obj, err = g.transform(obj); err != nil {
			return fmt.Errorf("transform: %w", err)
		}
	}
	if i, known := g.positions[key]; known {
		g.objects[i] = obj
		return nil
	}
	g.positions[key] = len(g.objects)
	g.objects = append(g.objects, obj)
	return nil
}

func (g *gathering) Update(obj any) error { return g.Add(obj) }

func (g *gathering) Delete(obj any) error {
	key, err := cache.DeletionHandlingMetaNamespaceKeyFunc(obj)
	if err != nil {
		return cache.KeyError{Obj: obj, Err: err}
	}
	if i, known := g.positions[key]; known {
		g.objects[i] = nil
		delete(g.positions, key)
	}
	return nil
}

// items hands over what was gathered.
func (g *gathering) items() []any {
	items := make([]any, 0, len(g.positions))
	for _, obj := range g.objects {
		if obj != nil {
			items = append(items, obj)
		}
	}
	return items
}
