package engine

import (
	"errors"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"
)

// script is a ListerWatcher that answers as the test says. Objects and events
// are written in a small notation:
//
//	a@5      pod a at resource version 5; a@5/U1 with that UID
//	+a@5     ADDED, ~a@5 MODIFIED, -a@5 DELETED, B@9 BOOKMARK
//	E410     an ERROR event with status 410
//	EOF      a clean close; a stream without it stays open
type script struct {
	// list and watch answer the n-th request, counted from 0; what is past the
	// end is answered like the last one.
	lists   []string // "rv: objects", or "E403"
	watches []string

	mu       sync.Mutex
	requests []string // "LIST", "WATCH 10"
	streams  []*watch.FakeWatcher
}

func (s *script) IsWatchListSemanticsUnSupported() bool { return true }

func (s *script) List(metav1.ListOptions) (runtime.Object, error) {
	n := s.note("LIST")
	answer := s.lists[min(n, len(s.lists)-1)]
	if err := statusError(answer); err != nil {
		return nil, err
	}
	rv, objects, _ := strings.Cut(answer, ":")
	list := &corev1.PodList{ListMeta: metav1.ListMeta{ResourceVersion: rv}}
	for _, text := range strings.Fields(objects) {
		list.Items = append(list.Items, *parsePod(text))
	}
	return list, nil
}

func (s *script) Watch(o metav1.ListOptions) (watch.Interface, error) {
	n := s.note("WATCH " + o.ResourceVersion)
	events := ""
	if len(s.watches) > 0 {
		events = s.watches[min(n, len(s.watches)-1)]
	}
	if err := statusError(events); err != nil && !strings.Contains(events, " ") {
		return nil, err
	}
	w := watch.NewFakeWithChanSize(1000, false)
	for _, text := range strings.Fields(events) {
		send(w, text)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.streams = append(s.streams, w)
	return w, nil
}

// note writes a request down and returns how many of its kind came before.
func (s *script) note(request string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := 0
	for _, r := range s.requests {
		if strings.Fields(r)[0] == strings.Fields(request)[0] {
			n++
		}
	}
	s.requests = append(s.requests, request)
	return n
}

// made returns the requests so far.
func (s *script) made() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]string{}, s.requests...)
}

// count returns how many requests of a kind were made.
func (s *script) count(kind string) int {
	n := 0
	for _, r := range s.made() {
		if strings.HasPrefix(r, kind) {
			n++
		}
	}
	return n
}

// send sends an event down the newest stream.
func (s *script) send(texts ...string) {
	s.mu.Lock()
	w := s.streams[len(s.streams)-1]
	s.mu.Unlock()
	for _, text := range texts {
		send(w, text)
	}
}

func send(w *watch.FakeWatcher, text string) {
	switch {
	case text == "EOF":
		w.Stop()
	case text[0] == 'E':
		status := statusError(text).Status()
		w.Error(&status)
	case strings.HasPrefix(text, "B@"):
		w.Action(watch.Bookmark, &corev1.Pod{ObjectMeta: metav1.ObjectMeta{ResourceVersion: text[2:]}})
	default:
		kind := map[byte]watch.EventType{'+': watch.Added, '~': watch.Modified, '-': watch.Deleted}[text[0]]
		w.Action(kind, parsePod(text[1:]))
	}
}

func statusError(text string) *apierrors.StatusError {
	switch text {
	case "E403":
		return apierrors.NewForbidden(corev1.Resource("pods"), "", nil)
	case "E404":
		return apierrors.NewNotFound(corev1.Resource("pods"), "")
	case "E500":
		return apierrors.NewInternalError(errors.New("conversion webhook failed"))
	case "E410":
		return apierrors.NewResourceExpired("too old resource version")
	case "E429":
		return apierrors.NewTooManyRequests("slow down", 1)
	}
	return nil
}

func parsePod(text string) *corev1.Pod {
	text, uid, _ := strings.Cut(text, "/")
	name, rv, _ := strings.Cut(text, "@")
	p := pod(name)
	p.ResourceVersion, p.UID = rv, types.UID(uid)
	return p
}

// numbered writes n objects in the notation: "+p0@101 +p1@102 ...".
func numbered(n int, prefix string) string {
	var b strings.Builder
	for i := range n {
		b.WriteString(prefix + "p" + strconv.Itoa(i) + "@" + strconv.Itoa(101+i) + " ")
	}
	return b.String()
}

// onScript runs an informer on a script in a bubble. prepare may add handlers.
func onScript(t *testing.T, s *script, o Options, prepare func(*Informer), test func(t *testing.T, i *Informer)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		i := New(s, &corev1.Pod{}, o)
		if prepare != nil {
			prepare(i)
		}
		stop := run(i)
		synctest.Wait()
		test(t, i)
		stop()
	})
}

// sleeper is a handler that takes its time.
type sleeper struct {
	recorder
	each time.Duration
}

func (s *sleeper) OnAdd(obj any, initial bool) {
	time.Sleep(s.each)
	s.recorder.OnAdd(obj, initial)
}

func (s *sleeper) OnUpdate(before, after any) {
	time.Sleep(s.each)
	s.recorder.OnUpdate(before, after)
}

// join adds a handler that asks for a resync period; 0 asks for none.
func join(t *testing.T, i *Informer, h cache.ResourceEventHandler, resync time.Duration) {
	t.Helper()
	if _, err := i.AddEventHandlerWithResyncPeriod(h, resync); err != nil {
		t.Fatal(err)
	}
}
