package findings_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"

	"github.com/informeter/informeter/engine"
	"github.com/informeter/informeter/engine/findings"
)

// server answers as a test wants. Without list or watch it holds one pod, and its
// watches stay open.
type server struct {
	list    func(ctx context.Context) (runtime.Object, error)
	watch   func(ctx context.Context, o metav1.ListOptions) (watch.Interface, error)
	streams bool // it has initial streams
}

func (s *server) IsWatchListSemanticsUnSupported() bool { return !s.streams }

func (s *server) List(o metav1.ListOptions) (runtime.Object, error) {
	return s.ListWithContext(context.Background(), o)
}

func (s *server) Watch(o metav1.ListOptions) (watch.Interface, error) {
	return s.WatchWithContext(context.Background(), o)
}

func (s *server) ListWithContext(ctx context.Context, _ metav1.ListOptions) (runtime.Object, error) {
	if s.list != nil {
		return s.list(ctx)
	}
	return &corev1.PodList{ListMeta: metav1.ListMeta{ResourceVersion: "10"}, Items: []corev1.Pod{*pod("a", 5)}}, nil
}

func (s *server) WatchWithContext(ctx context.Context, o metav1.ListOptions) (watch.Interface, error) {
	if s.watch != nil {
		return s.watch(ctx, o)
	}
	return begin(ctx, func(*stream) {}), nil
}

// stream is a watch that tells a story, and then stays open.
type stream struct {
	events  chan watch.Event
	stopped chan struct{}
	once    sync.Once
}

func begin(ctx context.Context, story func(s *stream)) *stream {
	s := &stream{events: make(chan watch.Event), stopped: make(chan struct{})}
	context.AfterFunc(ctx, s.Stop)
	go func() {
		defer close(s.events)
		story(s)
		<-s.stopped
	}()
	return s
}

func (s *stream) Stop()                          { s.once.Do(func() { close(s.stopped) }) }
func (s *stream) ResultChan() <-chan watch.Event { return s.events }

// tell sends an event and says whether anybody listens.
func (s *stream) tell(t watch.EventType, obj runtime.Object) bool {
	select {
	case s.events <- watch.Event{Type: t, Object: obj}:
		return true
	case <-s.stopped:
		return false
	}
}

// wait lets d pass, or less if nobody listens any more.
func (s *stream) wait(d time.Duration) {
	select {
	case <-time.After(d):
	case <-s.stopped:
	}
}

func pod(name string, version int) *corev1.Pod {
	return &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: name, ResourceVersion: fmt.Sprint(version)}}
}

// said is everything that was found and how severe it became, in the order in
// which it was first found.
type said []string

func (s *said) add(all []findings.Finding) {
	for _, f := range all {
		line := strings.TrimRight(fmt.Sprintf("%v %s %s", f.Severity, f.Rule, f.Subject), " ")
		known := false
		for _, old := range *s {
			known = known || old == line
		}
		if !known {
			*s = append(*s, line)
		}
	}
}

// are says whether that is what was wanted. What begins with a question mark may
// be missing: waits between attempts are random, so that two may lie between one
// look and the next.
func (s said) are(wanted []string) bool {
	for _, want := range wanted {
		name, optional := strings.CutPrefix(want, "?")
		switch {
		case len(s) > 0 && s[0] == name:
			s = s[1:]
		case !optional:
			return false
		}
	}
	return len(s) == 0
}

// onServer runs an informer on a server in a bubble, and looks at it once a second
// for d. It returns everything that was found, and what is there at the end and
// goes on.
func onServer(t *testing.T, s *server, o engine.Options, prepare func(i *engine.Informer), d time.Duration) (ever said, left []findings.Finding) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		o.Name, o.Registry, o.HandlerPanic = "pods", engine.NewRegistry(), engine.Contain
		i := engine.New(s, &corev1.Pod{}, o)
		if err := i.SetWatchErrorHandler(func(*cache.Reflector, error) {}); err != nil {
			t.Fatal(err)
		}
		if prepare != nil {
			prepare(i)
		}
		ctx, cancel := context.WithCancel(t.Context())
		var running sync.WaitGroup
		running.Go(func() { i.RunWithContext(ctx) })
		p := findings.NewProcess(o.Registry)
		for start := time.Now(); time.Since(start) < d; {
			time.Sleep(time.Second)
			if err := p.Look(ctx, "pods"); err != nil {
				t.Fatal(err)
			}
			ever.add(p.Findings())
		}
		for _, f := range p.Findings() {
			if f.Ended.IsZero() {
				left = append(left, f)
			}
		}
		cancel()
		running.Wait()
	})
	return ever, left
}

var pods = schema.GroupResource{Resource: "pods"}

// handler calls f with the name of each pod it is told of.
func handler(f func(name string)) cache.ResourceEventHandler {
	return cache.ResourceEventHandlerFuncs{
		AddFunc:    func(obj any) { f(obj.(*corev1.Pod).Name) },
		UpdateFunc: func(_, obj any) { f(obj.(*corev1.Pod).Name) },
	}
}

func TestTheRulesUnderstandTheEngine(t *testing.T) {
	with := func(name string, h cache.ResourceEventHandler) func(*engine.Informer) {
		return func(i *engine.Informer) {
			if _, err := i.AddNamedEventHandler(name, h, cache.HandlerOptions{}); err != nil {
				panic(err)
			}
		}
	}
	lasting := func(d time.Duration, err error) func(context.Context, metav1.ListOptions) (watch.Interface, error) {
		return func(ctx context.Context, _ metav1.ListOptions) (watch.Interface, error) {
			return begin(ctx, func(s *stream) {
				s.tell(watch.Modified, pod("a", 11))
				s.wait(d)
				var answer apierrors.APIStatus
				if errors.As(err, &answer) {
					status := answer.Status()
					s.tell(watch.Error, &status)
				}
				s.Stop()
			}), nil
		}
	}
	for name, c := range map[string]struct {
		server  server
		options engine.Options
		prepare func(*engine.Informer)
		d       time.Duration
		ever    []string // what is found, in that order; see said.are
		left    string   // the rule that still holds in the end
	}{
		"nothing is wrong": {d: 10 * time.Minute},
		"the list is forbidden": {
			server: server{list: func(context.Context) (runtime.Object, error) {
				return nil, apierrors.NewForbidden(pods, "", errors.New("no"))
			}},
			d: 3 * time.Minute, ever: []string{"?warning list-forbidden", "error list-forbidden"}, left: findings.ListForbidden,
		},
		"the watch is forbidden": {
			server: server{watch: func(context.Context, metav1.ListOptions) (watch.Interface, error) {
				return nil, apierrors.NewForbidden(pods, "", errors.New("no"))
			}},
			d: 3 * time.Minute, ever: []string{"?warning watch-forbidden", "error watch-forbidden"}, left: findings.WatchForbidden,
		},
		"every watch expires at once": {
			server: server{watch: func(context.Context, metav1.ListOptions) (watch.Interface, error) {
				return nil, apierrors.NewResourceExpired("too old")
			}},
			d: time.Minute, ever: []string{"?info expired", "?warning expired", "error expired"}, left: findings.Expired,
		},
		"the server is broken": {
			server: server{list: func(context.Context) (runtime.Object, error) {
				return nil, apierrors.NewInternalError(errors.New("webhook"))
			}},
			d: 3 * time.Minute, ever: []string{"warning requests-failing", "error requests-failing"}, left: findings.RequestsFailing,
		},
		"the server does not answer": {
			server: server{list: func(ctx context.Context) (runtime.Object, error) { <-ctx.Done(); return nil, ctx.Err() }},
			d:      time.Minute, ever: []string{"info not-synced", "warning no-answer"}, left: findings.NoAnswer,
		},
		"watches are closed young": {
			server: server{watch: lasting(4*time.Second, nil)},
			d:      time.Minute, ever: []string{"warning short-watches"}, left: findings.ShortWatches,
		},
		"watches are closed early": {
			server: server{watch: lasting(time.Minute, nil)},
			d:      5 * time.Minute, ever: []string{"info short-watches"}, left: findings.ShortWatches,
		},
		"watches are lost": {
			server: server{watch: lasting(30*time.Second, apierrors.NewInternalError(errors.New("etcd")))},
			d:      3 * time.Minute, ever: []string{"warning relist-loop"}, left: findings.RelistLoop,
		},
		"an initial stream does not end": {
			server: server{streams: true, watch: func(ctx context.Context, o metav1.ListOptions) (watch.Interface, error) {
				return begin(ctx, func(s *stream) {
					if o.SendInitialEvents != nil {
						s.tell(watch.Added, pod("a", 5))
					}
				}), nil
			}},
			d: 3 * time.Minute, ever: []string{"warning end-marker-missing"},
		},
		"a handler blocks": {
			// It returns between two looks: at the moment of one, it may have and not
			// be counted as synced yet.
			prepare: with("h", handler(func(string) { time.Sleep(90*time.Second + 500*time.Millisecond) })),
			d:       3 * time.Minute, ever: []string{"warning handler-stuck h", "error handler-stuck h"},
		},
		"a handler panics": {
			prepare: with("h", handler(func(string) { panic("nil map") })),
			d:       time.Minute, ever: []string{"error handler-panics h"}, left: findings.HandlerPanics,
		},
		"a transform fails": {
			prepare: func(i *engine.Informer) {
				if err := i.SetTransform(func(any) (any, error) { return nil, errors.New("cannot strip it") }); err != nil {
					panic(err)
				}
			},
			d: time.Minute, ever: []string{"error quarantined ns/a"}, left: findings.Quarantined,
		},
		"an index function fails": {
			options: engine.Options{Indexers: cache.Indexers{"node": func(any) ([]string, error) { return nil, errors.New("no node") }}},
			d:       time.Minute, ever: []string{"error index-errors node"}, left: findings.IndexErrors,
		},
		"a handler loses": {
			server: server{watch: func(ctx context.Context, _ metav1.ListOptions) (watch.Interface, error) {
				return begin(ctx, func(s *stream) {
					for n := 11; s.tell(watch.Modified, pod("a", n)); n++ {
						s.wait(100 * time.Millisecond)
					}
				}), nil
			}},
			prepare: with("h", handler(func(string) { time.Sleep(150 * time.Millisecond) })),
			d:       time.Minute, ever: []string{"warning growing-backlog h"}, left: findings.GrowingBacklog,
		},
		"the gate is closed": {
			server: server{watch: func(ctx context.Context, _ metav1.ListOptions) (watch.Interface, error) {
				return begin(ctx, func(s *stream) {
					for n := 11; n < 60 && s.tell(watch.Added, pod(fmt.Sprint("b", n), n)); n++ {
						s.wait(time.Second)
					}
				}), nil
			}},
			prepare: func(i *engine.Informer) {
				time.AfterFunc(5*time.Second, func() { _ = i.Pause(context.Background()) })
				time.AfterFunc(40*time.Second, func() { _ = i.Resume(context.Background()) })
			},
			d: time.Minute, ever: []string{"info gate-paused"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			ever, left := onServer(t, &c.server, c.options, c.prepare, c.d)
			if !ever.are(c.ever) {
				t.Errorf("found %q, want %q", ever, c.ever)
			}
			if c.left == "" && len(left) > 0 || c.left != "" && (len(left) != 1 || left[0].Rule != c.left) {
				t.Errorf("left in the end: %+v, want %q", left, c.left)
			}
		})
	}
}
