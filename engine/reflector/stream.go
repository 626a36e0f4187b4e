package reflector

import (
	"context"
	"fmt"
	"reflect"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"

	"github.com/informeter/informeter/engine/inspect"
)

const (
	// markerComplaint is how often an initial stream without events and without
	// end marker is complained about if there is no deadline for it.
	markerComplaint = 10 * time.Second
	// burst is how many events in a row are taken without a look at what else
	// could end the stream.
	burst = 64
	// drainWithin is how long a stopped stream may take to close: at most so
	// much later Run returns.
	drainWithin = time.Second
)

// receiver is the part of a store that takes events.
type receiver interface {
	Add(obj any) error
	Update(obj any) error
	Delete(obj any) error
}

// stream is an open WATCH.
type stream struct {
	watch.Interface
	// lives is how long it was asked to live, from opened on.
	opened time.Time
	lives  time.Duration
	// initial collects the stream's beginning, everything there is, until the
	// end marker comes; nil from then on, and in any other WATCH.
	initial *gathering
	// ordered: what comes now has ascending resource versions. The first events
	// of a stream from "" or "0" are in no order, so theirs must not be asked
	// for again; anything but ADDED ends them.
	ordered bool
	version string // of the last event, once ordered
	// events and since are of the phase that reads the stream; quietSince is the
	// time of the last event that can be an initial one, since until there is
	// one. What a busy server sends later must not put off the end marker.
	events     int
	since      time.Time
	quietSince time.Time
	patience   *time.Timer // wakes the reader of an initial stream
}

// deadline is when the stream has outlived its timeout by too much.
func (s *stream) deadline(grace time.Duration) time.Time {
	return s.opened.Add(s.lives + grace)
}

// handOver makes the rest of an initial stream one to watch.
func (s *stream) handOver() {
	s.initial = nil
	s.events, s.since = 0, time.Now()
}

// tooShort says that the stream closed as soon as it was opened and brought
// nothing: a server or proxy that does not mean it.
func (s *stream) tooShort() bool {
	return s.events == 0 && time.Since(s.since) < veryShort
}

// openWatch asks for a WATCH and returns the stream. An error has not been
// entered into the request log, the request has.
func (r *Reflector) openWatch(ctx context.Context, o metav1.ListOptions) (*stream, error) {
	seconds := watchTimeout(r.shortestWatch)
	o.TimeoutSeconds = &seconds
	o.AllowWatchBookmarks = true
	now := time.Now()
	s := &stream{
		opened:     now,
		since:      now,
		quietSince: now,
		lives:      time.Duration(seconds) * time.Second,
	}
	s.ordered = o.SendInitialEvents == nil && o.ResourceVersion != "" && o.ResourceVersion != "0"
	q := inspect.Request{
		Verb:            inspect.VerbWatch,
		Started:         s.opened,
		ResourceVersion: o.ResourceVersion,
		Match:           string(o.ResourceVersionMatch),
		Timeout:         s.lives,
	}
	if o.SendInitialEvents != nil {
		q.Verb = inspect.VerbWatchList
		s.initial = newGathering(r.store)
	}
	r.openRequest(q)
	w, err := r.source.WatchWithContext(ctx, o)
	if err != nil {
		return nil, err
	}
	r.answered()
	s.Interface = w
	return s, nil
}

// dropStream stops the watch under way, if there is one. What still comes from
// it is read and forgotten, as a watch asks of its reader.
//
// Unlike client-go, which leaves it unread: a goroutine behind the channel that
// has an event in its hand, such as watch.Filter's, then stays for ever [drained].
func (r *Reflector) dropStream() {
	if r.stream == nil {
		return
	}
	events := r.stream.ResultChan()
	r.stream.Stop()
	r.stream = nil
	select {
	case _, open := <-events:
		if !open {
			return
		}
	default:
	}
	r.draining.Go(func() { drain(events) })
}

// drain reads a stopped stream until it closes, or for drainWithin.
func drain(events <-chan watch.Event) {
	patience := time.NewTimer(drainWithin)
	defer patience.Stop()
	for {
		select {
		case _, open := <-events:
			if !open {
				return
			}
		case <-patience.C:
			return
		}
	}
}

// ending is why the reading of a stream ended.
type ending uint8

const (
	endNone     ending = iota // it goes on
	endFailed                 // the stream ended with an error
	endClosed                 // the server closed it
	endMarker                 // the initial events are complete; the stream is open
	endNoMarker               // EndMarkerDeadline passed
	endOutlived               // WatchGrace passed
	endResync                 // a resync failed
	endRelist                 // Relist was called
	endStopped                // ctx ended
)

// consume reads a stream until something ends that: its beginning into what
// gathers it, up to the end marker, any other into the store. The stream is left
// open, whatever it was.
func (r *Reflector) consume(ctx context.Context, s *stream) (ending, error) {
	if s.initial == nil {
		r.mu.Lock()
		r.establishedAt = time.Now()
		r.mu.Unlock()
	}
	if r.options.WatchGrace > 0 {
		defer time.AfterFunc(time.Until(s.deadline(r.options.WatchGrace)), r.wake).Stop()
	}
	if s.initial != nil {
		s.patience = time.AfterFunc(r.markerPatience(), r.wake)
		defer s.patience.Stop()
	}
	events := s.ResultChan()
	for {
		select {
		case <-ctx.Done():
			return endStopped, nil
		case event, open := <-events:
			if end, err := r.consumeBurst(ctx, s, events, event, open); end != endNone {
				return end, err
			}
		case <-r.woken:
			if end, err := r.interrupted(ctx, s); end != endNone {
				return end, err
			}
		}
	}
}

// interrupted looks for what ends a stream from outside. Everything that may
// wakes the reader, so that the select which each event passes is a small one.
func (r *Reflector) interrupted(ctx context.Context, s *stream) (ending, error) {
	var resyncFailed <-chan error // nobody's business before there is a list
	if s.initial == nil && r.resyncing != nil {
		resyncFailed = r.resyncing.failed
	}
	now := time.Now()
	select {
	case <-r.relistAsked:
		return endRelist, nil
	case err := <-resyncFailed:
		return endResync, err
	default:
	}
	switch grace := r.options.WatchGrace; {
	case grace > 0 && !now.Before(s.deadline(grace)):
		return endOutlived, fmt.Errorf("%w by %v", ErrOutlived, grace)
	case s.initial != nil && r.markerOverdue(ctx, s, now):
		return endNoMarker, nil
	}
	return endNone, nil
}

// wake makes the reader of a stream look up from it. Waking it in vain is fine.
func (r *Reflector) wake() {
	select {
	case r.woken <- struct{}{}:
	default: // it will look anyway
	}
}

// consumeBurst takes an event, or the end, and what can be had after it without
// waiting, up to burst events: a select over everything that may end a stream
// costs more than an event. What goes to a store that takes many at once is
// gathered first.
func (r *Reflector) consumeBurst(ctx context.Context, s *stream, events <-chan watch.Event, event watch.Event, open bool) (ending, error) {
	for n := 1; ; n++ {
		if s.initial == nil && r.batches != nil && open && event.Type != watch.Error {
			r.gather(ctx, s, event)
		} else {
			r.deliverGathered(ctx, s)
			if end, err := r.take(ctx, s, event, open); end != endNone {
				return end, err
			}
		}
		more := n < burst
		if more {
			select {
			case event, open = <-events:
			default:
				more = false
			}
		}
		if !more {
			r.deliverGathered(ctx, s)
			return endNone, nil
		}
	}
}

// take deals with one receive from the stream's channel.
func (r *Reflector) take(ctx context.Context, s *stream, event watch.Event, open bool) (ending, error) {
	switch {
	case !open:
		return endClosed, nil
	case event.Type == watch.Error:
		return endFailed, apierrors.FromObject(event.Object)
	}
	if marker := r.deliver(ctx, s, event); marker && s.initial != nil {
		return endMarker, nil
	}
	return endNone, nil
}

// deliver hands one event to the receiver, and notes what it says about the
// stream. It reports whether the event was the end marker. What can't be
// delivered is logged, counted and left behind; the resource version moves on
// nevertheless, unless the object was not even one to look at.
func (r *Reflector) deliver(ctx context.Context, s *stream, event watch.Event) (marker bool) {
	obj, err := r.expected.check(event.Object)
	if err != nil {
		r.skip(ctx, event.Type, event.Object, err)
		return false
	}
	var to receiver = r.store
	if s.initial != nil {
		to = s.initial
	} else {
		r.delivering.Store(true)
	}
	version := obj.GetResourceVersion()
	switch event.Type {
	case watch.Added:
		err = to.Add(event.Object)
	case watch.Modified:
		s.ordered = true
		err = to.Update(event.Object)
	case watch.Deleted:
		s.ordered = true
		err = to.Delete(event.Object)
	case watch.Bookmark:
		s.ordered = true
		marker = obj.GetAnnotations()[metav1.InitialEventsAnnotationKey] == "true"
		if s.initial == nil && r.bookmarks != nil {
			err = r.bookmarks.Bookmark(version)
		}
	default:
		err = errUnknownEvent
	}
	if err != nil {
		r.skip(ctx, event.Type, event.Object, err)
	}
	r.observe(s, event.Type, version)
	return marker
}

// skip counts an event that was not enqueued, and says why.
func (r *Reflector) skip(ctx context.Context, kind watch.EventType, obj any, err error) {
	what := string(kind)
	if key, keyErr := cache.MetaNamespaceKeyFunc(obj); keyErr == nil {
		what += " " + key
	}
	utilruntime.HandleErrorWithContext(ctx, err, "Watch event not enqueued", "reflector", r.name, "event", what)
	r.mu.Lock()
	r.vitals.Skipped++
	r.vitals.LastSkipped = what + ": " + err.Error()
	r.mu.Unlock()
	r.generation.Bump()
}

// markerPatience is how long after its last initial event a stream is waited for
// before something is done about its end marker.
func (r *Reflector) markerPatience() time.Duration {
	if r.options.EndMarkerDeadline > 0 {
		return r.options.EndMarkerDeadline
	}
	return markerComplaint
}

// markerOverdue says that the initial stream is to be given up. Where there is
// no deadline it only complains, as client-go does.
func (r *Reflector) markerOverdue(ctx context.Context, s *stream, now time.Time) bool {
	left := r.markerPatience() - now.Sub(s.quietSince)
	if left <= 0 {
		if r.options.EndMarkerDeadline > 0 {
			return true
		}
		klog.FromContext(ctx).Info("Warning: initial stream without its end marker", "reflector", r.name, "events", s.events)
		left = r.markerPatience()
	}
	s.patience.Reset(left)
	return false
}

// check returns an object's metadata if the object belongs into the store.
func (e expectation) check(obj runtime.Object) (metav1.Object, error) {
	if e.goType != nil && reflect.TypeOf(obj) != e.goType {
		return nil, fmt.Errorf("object is a %T, not a %v", obj, e.goType)
	}
	if !e.kind.Empty() {
		if kind := obj.GetObjectKind().GroupVersionKind(); kind != e.kind {
			return nil, fmt.Errorf("object is a %v, not a %v", kind, e.kind)
		}
	}
	if u, ok := obj.(*unstructured.Unstructured); ok && isTable(u.GroupVersionKind()) {
		return nil, fmt.Errorf("object is a %v, which holds rows and no objects", u.GroupVersionKind())
	}
	about, err := meta.Accessor(obj)
	if err != nil {
		return nil, fmt.Errorf("understand %T: %w", obj, err)
	}
	return about, nil
}

// isTable says that a server answered with the rows that kubectl prints instead
// of objects.
func isTable(kind schema.GroupVersionKind) bool {
	return kind.Kind == "Table" && kind.Group == metav1.GroupName &&
		(kind.Version == "v1" || kind.Version == "v1beta1")
}
