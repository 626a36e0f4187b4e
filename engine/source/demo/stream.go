package demo

import (
	"context"
	"errors"
	"strings"
	"sync"
	"time"

	"github.com/tidwall/btree"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
)

// stream is one open watch: a cursor in the history of its table, and a
// goroutine that sends what it passes. What ends it is its client (Stop, or the
// context), its timeout, or the server (dropped).
type stream struct {
	server    *server
	table     *table
	namespace string
	selector  selector
	query     watchQuery

	// result has no buffer: what the client has not taken is in the history,
	// behind the cursor.
	result  chan watch.Event
	stopped chan struct{}
	stop    sync.Once
	// dropped is closed by the server, under its lock, when the stream is taken
	// out of table.watches.
	dropped chan struct{}

	// The server's lock guards what follows.

	// next is the number of the first event not yet taken.
	next uint64
	// initial says that the present state is still being sent.
	initial bool
	// failure, if set, is sent instead of anything else and ends the stream.
	failure *apierrors.StatusError
}

// watch opens a stream. What a real server reports inside the stream is
// reported there.
func (s *server) watch(ctx context.Context, t *table, namespace string, sel selector, q watchQuery) (watch.Interface, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return nil, errShutDown()
	}
	if q.fresh {
		err := s.awaitLocked(ctx, q.revision)
		if status := (*apierrors.StatusError)(nil); errors.As(err, &status) {
			return newEndedStream(status), nil
		}
		if err != nil {
			return nil, err
		}
	}
	if !q.state && q.revision > 0 && q.revision < t.history.floor {
		return newEndedStream(errWatchExpired(q.revision, t.history.floor)), nil
	}
	w := &stream{
		server: s, table: t, namespace: namespace, selector: sel, query: q,
		result:  make(chan watch.Event),
		stopped: make(chan struct{}),
		dropped: make(chan struct{}),
		next:    t.history.end,
		initial: q.state,
	}
	var state *btree.Map[string, object]
	switch {
	case q.state:
		state = t.objects.Copy()
	case q.revision > 0:
		w.next = t.history.after(q.revision)
	}
	t.watches[w] = struct{}{}
	s.streams.Add(1)
	go w.run(ctx, state, s.revision)
	return w, nil
}

// ResultChan implements watch.Interface.
func (w *stream) ResultChan() <-chan watch.Event { return w.result }

// Stop implements watch.Interface.
func (w *stream) Stop() { w.stop.Do(func() { close(w.stopped) }) }

// tooSlowLocked reports whether the client cannot keep up. While it is being
// sent the present state it may take its time, to the end of the history.
func (w *stream) tooSlowLocked(buffer int) bool {
	h := &w.table.history
	return w.next < h.start || !w.initial && h.end-w.next > uint64(buffer)
}

// failLocked ends the stream with an error.
func (w *stream) failLocked(err *apierrors.StatusError) {
	w.failure = err
	w.table.wakeLocked()
}

// leave takes the stream out of its table.
func (w *stream) leave() {
	w.server.mu.Lock()
	defer w.server.mu.Unlock()
	w.table.dropLocked(w)
}

// run sends what the client asked for until the stream ends: the state, if it is
// not nil, which is as of the revision, and then what the cursor passes.
func (w *stream) run(ctx context.Context, state *btree.Map[string, object], revision uint64) {
	defer w.server.streams.Done()
	defer close(w.result)
	defer w.leave()
	ctx, cancel := context.WithTimeout(ctx, w.query.timeout)
	defer cancel()
	if state != nil && !w.sendState(ctx, state, revision) {
		return
	}
	deadline, _ := ctx.Deadline()
	var timer *time.Timer
	var bookmark <-chan time.Time
	due := false
	if w.query.bookmarks {
		timer = time.NewTimer(w.untilBookmark(deadline))
		defer timer.Stop()
		bookmark = timer.C
	}
	for {
		at := w.take()
		if at.failure != nil {
			status := at.failure.Status()
			w.send(ctx, watch.Event{Type: watch.Error, Object: &status})
			return
		}
		if e, ours := w.translate(at.event); ours && !w.send(ctx, e) {
			return
		}
		if due {
			// Nothing new is what a bookmark cannot say.
			if at.revision > w.query.revision && !w.send(ctx, w.bookmark(at.revision)) {
				return
			}
			due = false
			timer.Reset(w.untilBookmark(deadline))
		}
		// With more events at hand this only looks; without, it waits.
		select {
		case <-at.more:
		case <-bookmark:
			due = true
		case <-w.dropped:
			return
		case <-w.stopped:
			return
		case <-ctx.Done():
			return
		}
	}
}

// untilBookmark is how long to wait for the next bookmark: they come
// periodically, and once shortly before the end, so that the client can go on
// from there.
func (w *stream) untilBookmark(deadline time.Time) time.Duration {
	period, last := w.server.limits.bookmarks, time.Until(deadline)-lastBookmark
	if last > 0 {
		return min(period, last)
	}
	return period
}

// position is what a stream's cursor stands at.
type position struct {
	// event is the one just passed, if its revision is not 0.
	event event
	// revision is the one up to which the client has been told everything, once
	// it has the event.
	revision uint64
	failure  *apierrors.StatusError
	// more is closed when there is something to take.
	more <-chan struct{}
}

// take moves the cursor over one event, if there is one.
func (w *stream) take() position {
	w.server.mu.Lock()
	defer w.server.mu.Unlock()
	h := &w.table.history
	if w.failure != nil {
		return position{failure: w.failure}
	}
	if w.table.stalled {
		return position{more: w.table.changedLocked()}
	}
	at := position{revision: w.server.revision}
	// A cursor that fell out of the history has been dropped.
	if w.next >= h.start && w.next < h.end {
		at.event = *h.at(w.next)
		w.next++
		if w.next < h.end {
			at.revision = at.event.revision
			at.more = w.server.always
			return at
		}
	}
	at.more = w.table.changedLocked()
	return at
}

// translate says what an event is to this client: an object that begins to
// match is added, one that ceases to is deleted.
func (w *stream) translate(e event) (watch.Event, bool) {
	// A watch from a revision yet to come waits for what follows it.
	if e.revision <= w.query.revision || !strings.HasPrefix(e.key, w.prefix()) {
		return watch.Event{}, false
	}
	before := e.previous != nil && w.selector.matches(e.previous)
	after := e.object != nil && w.selector.matches(e.object)
	switch {
	case before && after:
		return watch.Event{Type: watch.Modified, Object: e.object.DeepCopyObject()}, true
	case after:
		return watch.Event{Type: watch.Added, Object: e.object.DeepCopyObject()}, true
	case before:
		// The last state that matched, at the revision at which it ceased to.
		last := e.previous.DeepCopyObject().(object)
		last.SetResourceVersion(formatRevision(e.revision))
		return watch.Event{Type: watch.Deleted, Object: last}, true
	}
	return watch.Event{}, false
}

// sendState sends the present objects and, if it was asked for, the bookmark
// that says that this was all.
func (w *stream) sendState(ctx context.Context, state *btree.Map[string, object], revision uint64) bool {
	open := true
	state.Ascend(w.prefix(), func(key string, o object) bool {
		if !strings.HasPrefix(key, w.prefix()) {
			return false
		}
		if w.selector.matches(o) {
			open = w.send(ctx, watch.Event{Type: watch.Added, Object: o.DeepCopyObject()})
		}
		return open
	})
	if open && w.query.endMark {
		mark := w.bookmark(revision)
		mark.Object.(object).SetAnnotations(map[string]string{metav1.InitialEventsAnnotationKey: "true"})
		open = w.send(ctx, mark)
	}
	w.server.mu.Lock()
	defer w.server.mu.Unlock()
	w.initial = false
	return open
}

func (w *stream) bookmark(revision uint64) watch.Event {
	o := w.table.resource.newObject()
	o.SetResourceVersion(formatRevision(revision))
	return watch.Event{Type: watch.Bookmark, Object: o}
}

// send hands one event to the client and reports whether the stream goes on.
func (w *stream) send(ctx context.Context, e watch.Event) bool {
	select {
	case w.result <- e:
		return true
	case <-w.dropped:
	case <-w.stopped:
	case <-ctx.Done():
	}
	return false
}

// prefix is what the keys of the watch's namespace begin with.
func (w *stream) prefix() string {
	if w.namespace == "" {
		return ""
	}
	return w.namespace + "/"
}
