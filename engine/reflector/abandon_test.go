package reflector

import (
	"context"
	"runtime"
	"testing"
	"testing/synctest"
	"time"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	apiruntime "k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"

	"github.com/informeter/informeter/engine/inspect"
)

// deaf answers a LIST when it is let, whatever has become of its context: what
// clients do whose ListerWatcher hands on another one.
type deaf struct {
	let  chan struct{}
	list func() (apiruntime.Object, error)
}

func (d deaf) IsWatchListSemanticsUnSupported() bool { return true }

func (d deaf) List(metav1.ListOptions) (apiruntime.Object, error) {
	<-d.let
	return d.list()
}

func (d deaf) Watch(metav1.ListOptions) (watch.Interface, error) { return watch.NewFake(), nil }

var _ cache.ListerWatcher = deaf{}

func TestAListThatTakesNoNoticeOfAStopIsLeft(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := deaf{let: make(chan struct{}), list: func() (apiruntime.Object, error) { return podList("5", "a@4"), nil }}
		calls := &trace{}
		r := New(d, &v1.Pod{}, &recorder{trace: calls}, Options{})
		if took := toStop(t, r, func() {}); took != abandonAfter {
			t.Errorf("it took %v to stop, want %v", took, abandonAfter)
		}
		if q := r.Requests()[0]; q.Outcome != inspect.OutcomeStopped {
			t.Errorf("the request ended as %q, want %q", q.Outcome, inspect.OutcomeStopped)
		}
		close(d.let) // an answer that nobody waits for any more
		synctest.Wait()
		if late := calls.take(); len(late) > 0 {
			t.Errorf("after the stop the store was told %q", late)
		}
		if v := r.Vitals(time.Now()); v.Phase != inspect.PhaseStopped || v.Received != 0 || v.ResourceVersion != "" {
			t.Errorf("after the late answer: %v, %d objects, at %q", v.Phase, v.Received, v.ResourceVersion)
		}
	})
}

func TestAListThatComesInTimeAfterAStopIsWaitedFor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := deaf{let: make(chan struct{}), list: func() (apiruntime.Object, error) { return podList("5"), nil }}
		r := New(d, &v1.Pod{}, &recorder{trace: &trace{}}, Options{})
		took := toStop(t, r, func() { time.AfterFunc(abandonAfter/2, func() { close(d.let) }) })
		if took != abandonAfter/2 {
			t.Errorf("it took %v to stop, the list took %v", took, abandonAfter/2)
		}
	})
}

func TestAPanicOfTheClientIsPassedOn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := deaf{let: make(chan struct{}), list: func() (apiruntime.Object, error) { panic("no client") }}
		close(d.let)
		r := New(d, &v1.Pod{}, &recorder{trace: &trace{}}, Options{})
		defer func() {
			if got := recover(); got != "no client" {
				t.Errorf("Run panicked with %v, want the client's panic", got)
			}
		}()
		r.Run(t.Context())
	})
}

func TestAListThatEndsItsGoroutineIsAFailure(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := deaf{let: make(chan struct{}), list: func() (apiruntime.Object, error) { runtime.Goexit(); return nil, nil }}
		close(d.let)
		ctx, cancel := context.WithCancel(t.Context())
		r := New(d, &v1.Pod{}, &recorder{trace: &trace{}}, Options{OnError: func(context.Context, error) {}})
		go r.Run(ctx)
		synctest.Wait()
		if v := r.Vitals(time.Now()); v.Phase != inspect.PhaseBackingOff || v.ErrorOp != OpList {
			t.Errorf("%v after %q, want backing off after the list", v.Phase, v.ErrorOp)
		}
		cancel()
	})
}
