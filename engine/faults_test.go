package engine

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
)

// faulty answers one informer as its server does, but for the faults it was
// told to make. Two of them on one server make the same faults for each.
//
//	List ──▶ next fault of lists? ──▶ pages, if told to ──▶ server
//	Watch ─▶ next fault of watches? ─▶ stream: passes on, and what is injected
type faulty struct {
	server
	streams bool // it answers a watch that asks for what there is first

	mu      sync.Mutex // guards the fields below
	lists   []error    // what the next LISTs fail with
	watches []error    // what the next WATCHes fail with
	pageOf  int        // how many objects a page has; 0: all
	// tokens are those pages that can still be asked for: what is left of a list.
	tokens map[string]*corev1.List
	paged  int // how many lists were cut into pages
	stream *stream
}

// List answers with the next fault, a page, or what the server has.
func (f *faulty) List(o metav1.ListOptions) (runtime.Object, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if err := shift(&f.lists); err != nil {
		return nil, err
	}
	list, found := f.tokens[o.Continue]
	if o.Continue != "" && !found {
		return nil, apierrors.NewResourceExpired("the continue token is too old")
	}
	if !found {
		all, err := f.server.List(o)
		if err != nil {
			return nil, err
		}
		list = all.(*corev1.List)
		// A page of a random order would not be one.
		slices.SortFunc(list.Items, func(a, b runtime.RawExtension) int {
			return strings.Compare(label(a.Object), label(b.Object))
		})
	}
	if f.pageOf == 0 || o.Limit == 0 || len(list.Items) <= f.pageOf {
		return list, nil
	}
	f.paged++
	page, rest := list.DeepCopy(), list.DeepCopy()
	page.Items, rest.Items = page.Items[:f.pageOf], rest.Items[f.pageOf:]
	page.Continue = fmt.Sprintf("%d more, %d", len(rest.Items), f.paged)
	if f.tokens == nil {
		f.tokens = map[string]*corev1.List{}
	}
	f.tokens[page.Continue] = rest
	return page, nil
}

// Watch answers with the next fault, or a stream of what happens on the server.
func (f *faulty) Watch(o metav1.ListOptions) (watch.Interface, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if err := shift(&f.watches); err != nil {
		return nil, err
	}
	initial, from, err := f.initial(o)
	if err != nil {
		return nil, err
	}
	inner, err := f.server.Watch(metav1.ListOptions{ResourceVersion: from})
	if err != nil {
		return nil, err
	}
	f.stream = newStream(inner, from, initial)
	return f.stream, nil
}

// IsWatchListSemanticsUnSupported implements what reflectors ask first.
func (f *faulty) IsWatchListSemanticsUnSupported() bool { return !f.streams }

// initial returns the events of what there is, if a watch asks for them, with the
// bookmark that ends them, and the resource version from which to go on.
func (f *faulty) initial(o metav1.ListOptions) (events []watch.Event, from string, err error) {
	if o.SendInitialEvents == nil || !*o.SendInitialEvents {
		return nil, o.ResourceVersion, nil
	}
	all, err := f.server.List(metav1.ListOptions{})
	if err != nil {
		return nil, "", err
	}
	list := all.(*corev1.List)
	for _, item := range list.Items {
		events = append(events, watch.Event{Type: watch.Added, Object: item.Object})
	}
	slices.SortFunc(events, func(a, b watch.Event) int { return strings.Compare(label(a.Object), label(b.Object)) })
	end := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{
		ResourceVersion: list.ResourceVersion, Annotations: map[string]string{metav1.InitialEventsAnnotationKey: "true"},
	}}
	return append(events, watch.Event{Type: watch.Bookmark, Object: end}), list.ResourceVersion, nil
}

func shift(faults *[]error) error {
	if len(*faults) == 0 {
		return nil
	}
	err := (*faults)[0]
	*faults = (*faults)[1:]
	return err
}

// fail makes a fault, or arranges for it.
func (f *faulty) fail(kind string, n int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	switch kind {
	case "list fails":
		f.lists = append(f.lists, slices.Repeat([]error{listFaults[n%len(listFaults)]}, 1+n%3)...)
	case "watch fails":
		f.watches = append(f.watches, slices.Repeat([]error{watchFaults[n%len(watchFaults)]}, 1+n%3)...)
	case "pages":
		f.pageOf = n % 3
	case "tokens expire":
		f.tokens = nil
	default:
		if f.stream != nil {
			f.stream.inject(kind)
		}
	}
}

var (
	listFaults = []error{
		apierrors.NewTooManyRequests("slow down", 1),
		apierrors.NewInternalError(fmt.Errorf("etcd is not there")),
		apierrors.NewForbidden(corev1.Resource("pods"), "", nil),
		apierrors.NewResourceExpired("too old resource version"),
		apierrors.NewServiceUnavailable("starting"),
		tooLarge(),
		fmt.Errorf("connection refused"),
	}
	watchFaults = []error{
		apierrors.NewTooManyRequests("slow down", 1),
		apierrors.NewInternalError(fmt.Errorf("etcd is not there")),
		apierrors.NewResourceExpired("too old resource version"),
		apierrors.NewForbidden(corev1.Resource("pods"), "", nil),
		apierrors.NewServiceUnavailable("starting"),
		fmt.Errorf("connection refused"),
	}
)

// tooLarge is what a server answers that has not come that far yet.
func tooLarge() error {
	return &apierrors.StatusError{ErrStatus: metav1.Status{
		Status: metav1.StatusFailure, Code: http.StatusGatewayTimeout, Reason: metav1.StatusReasonTimeout,
		Message: "Too large resource version",
		Details: &metav1.StatusDetails{Causes: []metav1.StatusCause{{Type: metav1.CauseTypeResourceVersionTooLarge, Message: "Too large resource version"}}},
	}}
}

// stream passes on what a watch of the server brings, and what is injected.
// Stopping it ends it.
type stream struct {
	inner  watch.Interface
	first  []watch.Event // before anything else
	out    chan watch.Event
	extra  chan string
	ended  chan struct{}
	once   sync.Once
	passed string // resource version of the event passed on last; only run uses it
}

func newStream(inner watch.Interface, from string, first []watch.Event) *stream {
	s := &stream{inner: inner, first: first, out: make(chan watch.Event), extra: make(chan string, 100), ended: make(chan struct{}), passed: from}
	go s.run()
	return s
}

func (s *stream) ResultChan() <-chan watch.Event { return s.out }

func (s *stream) Stop() {
	s.once.Do(func() { close(s.ended) })
	s.inner.Stop()
}

// inject makes something happen after what has been passed on.
func (s *stream) inject(kind string) {
	select {
	case s.extra <- kind:
	default: // more than anybody drew
	}
}

func (s *stream) run() {
	defer close(s.out)
	for _, e := range s.first {
		if !s.pass(e) {
			return
		}
	}
	for {
		select {
		case e, open := <-s.inner.ResultChan():
			if !open || !s.pass(e) {
				return
			}
			if m, err := meta.Accessor(e.Object); err == nil {
				s.passed = m.GetResourceVersion()
			}
		case kind := <-s.extra:
			if !s.happen(kind) {
				return
			}
		case <-s.ended:
			return
		}
	}
}

// pass hands an event on; false if nobody takes it any more.
func (s *stream) pass(e watch.Event) bool {
	select {
	case s.out <- e:
		return true
	case <-s.ended:
		return false
	}
}

// happen makes what was injected happen; false if that ends the stream.
func (s *stream) happen(kind string) bool {
	switch kind {
	case "bookmark":
		// It vouches for no more than was passed on.
		return s.pass(watch.Event{Type: watch.Bookmark, Object: &corev1.Pod{ObjectMeta: metav1.ObjectMeta{ResourceVersion: s.passed}}})
	case "expires":
		return s.error(apierrors.NewResourceExpired("too old resource version"))
	case "breaks":
		return s.error(apierrors.NewInternalError(fmt.Errorf("etcd is not there")))
	case "other type":
		return s.pass(watch.Event{Type: watch.Added, Object: &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "n", ResourceVersion: s.passed}}})
	case "other event":
		return s.pass(watch.Event{Type: "REMARKABLE", Object: pod("z")})
	}
	return false // closes
}

func (s *stream) error(err *apierrors.StatusError) bool {
	status := err.Status()
	return s.pass(watch.Event{Type: watch.Error, Object: &status})
}
