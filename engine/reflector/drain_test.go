package reflector

import (
	"context"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"

	v1 "k8s.io/api/core/v1"
)

// lastWord is a watch that has something to say when it is stopped, as a
// client's has whose connection is cut: the error of its reader.
type lastWord struct {
	result chan watch.Event
	once   sync.Once
	open   bool // Stop does not close the channel
}

func (w *lastWord) ResultChan() <-chan watch.Event { return w.result }

func (w *lastWord) Stop() {
	w.once.Do(func() {
		if w.open {
			return
		}
		go func() {
			w.result <- errorEvent("internal")
			close(w.result)
		}()
	})
}

// TestAStoppedStreamIsReadToItsEnd puts a watch.Filter before the watch, as
// controller-runtime does where it reads metadata: its goroutine ends, and so
// does the bubble, only if somebody takes what it has in its hand.
func TestAStoppedStreamIsReadToItsEnd(t *testing.T) {
	runBriefly(t, func() watch.Interface {
		pass := func(e watch.Event) (watch.Event, bool) { return e, true }
		return watch.Filter(&lastWord{result: make(chan watch.Event)}, pass)
	}, 0)
}

// TestAStreamThatDoesNotCloseIsLeft: a watch owes its reader that the channel
// closes, and one that does not pay must not keep the informer from stopping.
func TestAStreamThatDoesNotCloseIsLeft(t *testing.T) {
	runBriefly(t, func() watch.Interface {
		return &lastWord{result: make(chan watch.Event), open: true}
	}, drainWithin)
}

// runBriefly runs a reflector on a server with that watch, and checks how long
// it takes to stop.
func runBriefly(t *testing.T, open func() watch.Interface, want time.Duration) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		r := New(&cache.ListWatch{
			ListWithContextFunc: func(context.Context, metav1.ListOptions) (runtime.Object, error) {
				return podList("5"), nil
			},
			WatchFuncWithContext: func(context.Context, metav1.ListOptions) (watch.Interface, error) { return open(), nil },
		}, &v1.Pod{}, &recorder{trace: &trace{}}, Options{})
		if took := toStop(t, r, func() {}); took != want {
			t.Errorf("it took %v to stop, want %v", took, want)
		}
	})
}

// toStop runs r until nothing happens any more, stops it, lets then happen, and
// returns how long Run took to return. It is called in a bubble.
func toStop(t *testing.T, r *Reflector, then func()) time.Duration {
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		r.Run(ctx)
	}()
	synctest.Wait()
	cancel()
	stopping := time.Now()
	then()
	<-ended
	return time.Since(stopping)
}
