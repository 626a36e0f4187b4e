package engine

import (
	"context"
	"fmt"
	"io"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"
	cachetesting "k8s.io/client-go/tools/cache/testing"
	"k8s.io/klog/v2"

	"github.com/informeter/informeter/engine/inspect"
)

func TestMain(m *testing.M) {
	// What reflectors warn of is what most tests are about.
	klog.LogToStderr(false)
	klog.SetOutput(io.Discard)
	// The handler that brakes whoever reports errors does so by a clock of the
	// whole process, which no bubble can stop.
	utilruntime.ErrorHandlers = nil
	m.Run()
}

// server is client-go's fake API server. It knows no initial events in a watch,
// and says so.
type server struct {
	*cachetesting.FakeControllerSource
	oldest *atomic.Int64 // the resource version before which history is gone
}

func newServer() server {
	return server{cachetesting.NewFakeControllerSource(), &atomic.Int64{}}
}

func (server) IsWatchListSemanticsUnSupported() bool { return true }

// Watch refuses to start where history is gone.
func (s server) Watch(o metav1.ListOptions) (watch.Interface, error) {
	if rv, err := strconv.ParseInt(o.ResourceVersion, 10, 64); err == nil && rv < s.oldest.Load() {
		return nil, apierrors.NewResourceExpired("too old resource version")
	}
	return s.FakeControllerSource.Watch(o)
}

// expire makes something happen unseen, forgets all history and cuts every
// watch, so that whoever watched has to list again.
func (s server) expire() {
	s.AddDropWatch(pod("unseen"))
	list, err := s.List(metav1.ListOptions{})
	if err != nil {
		panic(err)
	}
	m, err := meta.ListAccessor(list)
	if err != nil {
		panic(err)
	}
	rv, err := strconv.ParseInt(m.GetResourceVersion(), 10, 64)
	if err != nil {
		panic(err)
	}
	s.oldest.Store(rv)
	s.ResetWatch()
}

func pod(name string, labels ...string) *corev1.Pod {
	p := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: name, Labels: map[string]string{}}}
	for n := 0; n+1 < len(labels); n += 2 {
		p.Labels[labels[n]] = labels[n+1]
	}
	return p
}

// run runs an informer until the returned function is called, which waits until
// it has ended.
func run(i cache.SharedIndexInformer) (stop func()) {
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		i.RunWithContext(ctx)
	}()
	return func() {
		cancel()
		<-done
	}
}

// inBubble runs an informer on a server in a synctest bubble.
func inBubble(t *testing.T, o Options, test func(t *testing.T, s server, i *Informer)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		s := newServer()
		i := New(s, &corev1.Pod{}, o)
		test(t, s, i)
		s.Shutdown()
	})
}

// recorder is a handler that writes down what it is told. If hold is not nil,
// every call waits for it to yield; and it takes its time.
type recorder struct {
	hold  chan struct{}
	takes time.Duration

	mu   sync.Mutex
	told []string
}

func (r *recorder) note(text string) {
	if r.hold != nil {
		<-r.hold
	}
	if r.takes > 0 {
		time.Sleep(r.takes)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.told = append(r.told, text)
}

func (r *recorder) OnAdd(obj any, initial bool) {
	r.note(fmt.Sprintf("add %s%s", label(obj), map[bool]string{true: " initially"}[initial]))
}

func (r *recorder) OnUpdate(before, after any) {
	r.note(fmt.Sprintf("update %s to %s", label(before), label(after)))
}

func (r *recorder) OnDelete(obj any) { r.note("delete " + label(obj)) }

// all returns what the handler was told since it was last asked.
func (r *recorder) all() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	told := r.told
	r.told = nil
	return told
}

// label writes an object as name@resourceVersion, tombstones in brackets.
func label(obj any) string {
	if tombstone, ok := obj.(cache.DeletedFinalStateUnknown); ok {
		return "[" + label(tombstone.Obj) + "]"
	}
	m, err := meta.Accessor(obj)
	if err != nil {
		return fmt.Sprintf("%T", obj)
	}
	return m.GetName() + "@" + m.GetResourceVersion()
}

func snapshot(t *testing.T, i *Informer) inspect.Snapshot {
	t.Helper()
	s, err := i.Snapshot(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func must[T any](t *testing.T) func(T, error) T {
	return func(v T, err error) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}
