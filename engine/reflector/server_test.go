package reflector

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"

	v1 "k8s.io/api/core/v1"
)

// trace is what was seen, in order, by everything that a reflector talks to.
type trace struct {
	mu    sync.Mutex
	began time.Time
	lines []string
	timed bool
}

func (t *trace) add(format string, args ...any) {
	t.mu.Lock()
	defer t.mu.Unlock()
	line := fmt.Sprintf(format, args...)
	if t.timed {
		line = fmt.Sprintf("%8v %s", time.Since(t.began), line)
	}
	t.lines = append(t.lines, line)
}

// take returns the lines since the last call.
func (t *trace) take() []string {
	t.mu.Lock()
	defer t.mu.Unlock()
	lines := t.lines
	t.lines = nil
	return lines
}

// server is a ListerWatcher whose every answer is given by the test. A request
// waits until there is an answer for it.
type server struct {
	trace   *trace
	lists   chan listAnswer
	watches chan watchAnswer
	// noStreaming makes it a client that does not do WATCHLIST.
	noStreaming bool

	mu     sync.Mutex
	opened []*scriptedWatch // guarded by mu
}

type listAnswer struct {
	list  runtime.Object
	err   error
	delay time.Duration
}

type watchAnswer struct {
	err error
	// watch is what the server answers with; nil is a new one.
	watch *scriptedWatch
	// play, if there is one, is run in a goroutine of its own with the watch.
	play func(w *scriptedWatch)
}

func newServer(t *trace) *server {
	return &server{trace: t, lists: make(chan listAnswer, 100), watches: make(chan watchAnswer, 100)}
}

func (s *server) IsWatchListSemanticsUnSupported() bool { return s.noStreaming }

func (s *server) List(o metav1.ListOptions) (runtime.Object, error) {
	return s.ListWithContext(context.Background(), o)
}

func (s *server) Watch(o metav1.ListOptions) (watch.Interface, error) {
	return s.WatchWithContext(context.Background(), o)
}

func (s *server) ListWithContext(ctx context.Context, o metav1.ListOptions) (runtime.Object, error) {
	s.trace.add("LIST %s", describeOptions(o))
	select {
	case a := <-s.lists:
		select {
		case <-time.After(a.delay):
		case <-ctx.Done():
			return nil, ctx.Err()
		}
		return a.list, a.err
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

func (s *server) WatchWithContext(ctx context.Context, o metav1.ListOptions) (watch.Interface, error) {
	s.trace.add("WATCH %s", describeOptions(o))
	select {
	case a := <-s.watches:
		if a.err != nil {
			return nil, a.err
		}
		w := a.watch
		if w == nil {
			w = &scriptedWatch{result: make(chan watch.Event, 100), stopped: make(chan struct{})}
		}
		s.mu.Lock()
		s.opened = append(s.opened, w)
		s.mu.Unlock()
		if a.play != nil {
			go a.play(w)
		}
		return w, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// current is the watch opened last.
func (s *server) current() *scriptedWatch {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.opened) == 0 {
		return nil
	}
	return s.opened[len(s.opened)-1]
}

// stopLeaked stops the watches that nobody stopped, and counts them.
func (s *server) stopLeaked() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := 0
	for _, w := range s.opened {
		select {
		case <-w.stopped:
		default:
			w.Stop()
			n++
		}
	}
	return n
}

type scriptedWatch struct {
	result  chan watch.Event
	stopped chan struct{}
	once    sync.Once // for stopped

	sending sync.Mutex // held while something is sent; guards closed
	closed  bool       // result is
}

func (w *scriptedWatch) ResultChan() <-chan watch.Event { return w.result }

func (w *scriptedWatch) Stop() {
	w.once.Do(func() { close(w.stopped) })
	w.close()
}

// close ends the stream as a server does.
func (w *scriptedWatch) close() {
	w.sending.Lock()
	defer w.sending.Unlock()
	if !w.closed {
		w.closed = true
		close(w.result)
	}
}

// send hands over an event unless the watch was stopped.
func (w *scriptedWatch) send(e watch.Event) {
	w.sending.Lock()
	defer w.sending.Unlock()
	if w.closed {
		return
	}
	select {
	case w.result <- e:
	case <-w.stopped:
	}
}

// describeOptions prints everything in o that is set, random timeouts only as
// being there.
func describeOptions(o metav1.ListOptions) string {
	parts := []string{"rv=" + strconv.Quote(o.ResourceVersion)}
	if o.Limit != 0 {
		parts = append(parts, fmt.Sprintf("limit=%d", o.Limit))
	}
	if o.Continue != "" {
		parts = append(parts, "continue="+o.Continue)
	}
	if o.ResourceVersionMatch != "" {
		parts = append(parts, "match="+string(o.ResourceVersionMatch))
	}
	if o.SendInitialEvents != nil {
		parts = append(parts, fmt.Sprintf("sendInitialEvents=%v", *o.SendInitialEvents))
	}
	if o.AllowWatchBookmarks {
		parts = append(parts, "bookmarks")
	}
	if o.TimeoutSeconds != nil {
		s := *o.TimeoutSeconds
		word := fmt.Sprintf("timeout=%ds", s)
		if s >= 300 && s <= 600 {
			word = "timeout=5m-10m"
		}
		parts = append(parts, word)
	}
	return strings.Join(parts, " ")
}

// recorder is a ReflectorStore that traces every call.
type recorder struct {
	trace *trace
	// fail, if set, decides on the error of a call such as "add" or "replace".
	fail      func(call string) error
	transform cache.TransformFunc
	// sorted prints the objects of Replace by name: client-go's initial
	// streams come in the order of a map.
	sorted bool
}

func (r *recorder) call(name, args string) error {
	var err error
	if r.fail != nil {
		err = r.fail(name)
	}
	if err != nil {
		args += " → " + err.Error()
	}
	r.trace.add("  store: %s %s", name, args)
	return err
}

func (r *recorder) Add(obj any) error    { return r.call("add", describeObject(obj)) }
func (r *recorder) Update(obj any) error { return r.call("update", describeObject(obj)) }
func (r *recorder) Delete(obj any) error { return r.call("delete", describeObject(obj)) }

func (r *recorder) Replace(items []any, rv string) error {
	names := make([]string, 0, len(items))
	for _, obj := range items {
		names = append(names, describeObject(obj))
	}
	if r.sorted {
		slices.Sort(names)
	}
	return r.call("replace", fmt.Sprintf("rv=%q [%s]", rv, strings.Join(names, " ")))
}

func (r *recorder) Resync() error                    { return r.call("resync", "") }
func (r *recorder) Bookmark(rv string) error         { return r.call("bookmark", rv) }
func (r *recorder) UpdateResourceVersion(rv string)  { _ = r.call("version", rv) }
func (r *recorder) Transformer() cache.TransformFunc { return r.transform }

var (
	_ cache.ReflectorStore         = (*recorder)(nil)
	_ cache.ReflectorBookmarkStore = (*recorder)(nil)
	_ cache.ResourceVersionUpdater = (*recorder)(nil)
	_ cache.TransformingStore      = (*recorder)(nil)
)

// manyRecorder is a recorder that takes many events at once.
type manyRecorder struct{ *recorder }

func (r manyRecorder) Enqueue(deltas []cache.Delta, failed func(int, error)) {
	for i, d := range deltas {
		var err error
		switch d.Type {
		case cache.Added:
			err = r.Add(d.Object)
		case cache.Updated:
			err = r.Update(d.Object)
		case cache.Deleted:
			err = r.Delete(d.Object)
		case cache.Bookmark:
			err = r.Bookmark(d.Object.(cache.BookmarkInfo).ResourceVersion)
		}
		if err != nil {
			failed(i, err)
		}
	}
}

func describeObject(obj any) string {
	m, ok := obj.(metav1.Object)
	if !ok {
		return fmt.Sprintf("%T", obj)
	}
	text := m.GetName() + "@" + m.GetResourceVersion()
	if l := m.GetLabels()["transformed"]; l != "" {
		text += "+" + l
	}
	return text
}

// pod makes a pod of name@version.
func pod(text string) *v1.Pod {
	name, version, _ := strings.Cut(text, "@")
	return &v1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "d", Name: name, ResourceVersion: version}}
}

// bookmark makes a bookmark event's object; the end marker if end.
func bookmark(version string, end bool) *v1.Pod {
	p := &v1.Pod{ObjectMeta: metav1.ObjectMeta{ResourceVersion: version}}
	if end {
		p.Annotations = map[string]string{metav1.InitialEventsAnnotationKey: "true"}
	}
	return p
}

func podList(version string, pods ...string) *v1.PodList {
	l := &v1.PodList{ListMeta: metav1.ListMeta{ResourceVersion: version}}
	for _, p := range pods {
		l.Items = append(l.Items, *pod(p))
	}
	return l
}

// scriptEvent makes the event of a command such as add a@1 or bookmark 7 end.
func scriptEvent(kind string, args []string) watch.Event {
	switch kind {
	case "add":
		return watch.Event{Type: watch.Added, Object: pod(args[0])}
	case "modify":
		return watch.Event{Type: watch.Modified, Object: pod(args[0])}
	case "delete":
		return watch.Event{Type: watch.Deleted, Object: pod(args[0])}
	case "unknown":
		return watch.Event{Type: "REVOKED", Object: pod(args[0])}
	case "other": // an object of another type
		p := pod(args[0])
		return watch.Event{Type: watch.Added, Object: &v1.Secret{ObjectMeta: p.ObjectMeta}}
	case "bookmark":
		return watch.Event{Type: watch.Bookmark, Object: bookmark(args[0], len(args) > 1)}
	}
	return errorEvent(args[0])
}

// failure makes the error of a word: an HTTP status, "toolarge" or "refused".
func failure(word string) error {
	pods := schema.GroupResource{Resource: "pods"}
	switch word {
	case "400":
		return apierrors.NewBadRequest("sendInitialEvents is forbidden")
	case "403":
		return apierrors.NewForbidden(pods, "", fmt.Errorf("no"))
	case "404":
		return apierrors.NewNotFound(pods, "")
	case "410":
		return apierrors.NewResourceExpired("too old")
	case "429":
		return apierrors.NewTooManyRequests("slow down", 0)
	case "500":
		return apierrors.NewInternalError(fmt.Errorf("etcd is gone"))
	case "504":
		return apierrors.NewTimeoutError("no answer", 0)
	case "toolarge":
		err := apierrors.NewTimeoutError("Too large resource version: 9, current: 5", 1)
		err.ErrStatus.Details.Causes = []metav1.StatusCause{{Type: metav1.CauseTypeResourceVersionTooLarge}}
		return err
	case "gone": // what servers before 1.18 call it
		return apierrors.NewGenericServerResponse(http.StatusGone, "get", pods, "", "too old", 0, false)
	case "toolarge117", "toolarge116": // what servers of that age say
		err := apierrors.NewTimeoutError("Too large resource version", 1)
		if word == "toolarge117" {
			err.ErrStatus.Message = "Timeout"
			err.ErrStatus.Details.Causes = []metav1.StatusCause{{Message: "Too large resource version"}}
		}
		return err
	case "bare": // a message alone is not taken for it
		err := apierrors.NewTimeoutError("Too large resource version", 1)
		err.ErrStatus.Details = nil
		return err
	case "refused":
		return fmt.Errorf("dial: %w", syscall.ECONNREFUSED)
	}
	return fmt.Errorf("%s", word)
}

// errorEvent makes the event by which a server tells of an error in a stream.
func errorEvent(word string) watch.Event {
	err := failure(word)
	if s, ok := err.(apierrors.APIStatus); ok {
		status := s.Status()
		return watch.Event{Type: watch.Error, Object: &status}
	}
	status := apierrors.NewGenericServerResponse(0, "", schema.GroupResource{}, "", word, 0, false).Status()
	return watch.Event{Type: watch.Error, Object: &status}
}
