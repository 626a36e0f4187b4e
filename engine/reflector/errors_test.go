package reflector

import (
	"context"
	"errors"
	"fmt"
	"io"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/apimachinery/pkg/watch"

	v1 "k8s.io/api/core/v1"

	"github.com/informeter/informeter/engine/inspect"
)

// What becomes of errors and panics.

func TestAToleratedPanicEndsTheRound(t *testing.T) {
	defer func(crash bool) { utilruntime.ReallyCrash = crash }(utilruntime.ReallyCrash)
	utilruntime.ReallyCrash = false
	synctest.Test(t, func(t *testing.T) {
		s := newServer(&trace{})
		s.noStreaming = true
		panics := true
		r := New(s, &v1.Pod{}, &recorder{trace: s.trace, fail: func(call string) error {
			if call == "add" && panics {
				panics = false
				panic("no room")
			}
			return nil
		}}, Options{})
		ctx, cancel := context.WithCancel(t.Context())
		go r.Run(ctx)
		s.lists <- listAnswer{list: podList("1")}
		s.watches <- watchAnswer{}
		synctest.Wait()
		s.current().send(watch.Event{Type: watch.Added, Object: pod("a@2")})
		synctest.Wait()
		if v := r.Vitals(time.Now()); v.Phase != inspect.PhaseBackingOff || v.ErrorOp != OpWatch || v.Failures != 1 {
			t.Errorf("after the panic: %v, error op %q, %d failures, want backing off because of the watch", v.Phase, v.ErrorOp, v.Failures)
		}
		if q := r.Requests()[0]; q.Outcome != inspect.OutcomeFailed || q.Next != nextRelist || q.NextAt.IsZero() {
			t.Errorf("the request during the panic = %+v, want failed, then a relist", q)
		}
		if s.stopLeaked() > 0 {
			t.Error("the watch was not stopped")
		}
		time.Sleep(2 * time.Second)
		s.lists <- listAnswer{list: podList("3", "a@2")}
		s.watches <- watchAnswer{}
		synctest.Wait()
		if v := r.Vitals(time.Now()); v.Phase != inspect.PhaseWatching || v.ResourceVersion != "3" {
			t.Errorf("a round later: %v at %s, want watching at 3", v.Phase, v.ResourceVersion)
		}
		cancel()
	})
}

func TestAPanicIsNotSwallowed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newServer(&trace{})
		s.noStreaming = true
		s.lists <- listAnswer{list: podList("1")}
		r := New(s, &v1.Pod{}, &recorder{trace: s.trace, fail: func(string) error { panic("no room") }}, Options{})
		defer func() {
			if got := recover(); got != "no room" {
				t.Errorf("Run panicked with %v, want the store's panic", got)
			}
			if v := r.Vitals(time.Now()); v.Phase != inspect.PhaseStopped {
				t.Errorf("phase after the panic = %v", v.Phase)
			}
		}()
		r.Run(t.Context())
	})
}

// Without OnError errors are logged, expected ones quietly.
func TestErrorsAreLoggedIfNobodyWantsThem(t *testing.T) {
	var logged []string
	defer func(handlers []utilruntime.ErrorHandler) { utilruntime.ErrorHandlers = handlers }(utilruntime.ErrorHandlers)
	utilruntime.ErrorHandlers = []utilruntime.ErrorHandler{func(_ context.Context, err error, _ string, _ ...any) {
		logged = append(logged, err.Error())
	}}
	bubble(t, Options{}, func(t *testing.T, s *server, _ *Reflector) {
		for _, word := range []string{"403", "410", "410"} {
			s.lists <- listAnswer{err: failure(word)}
			synctest.Wait()
			time.Sleep(time.Minute)
		}
	})
	if diff := cmp.Diff([]string{"list *v1.Pod: pods is forbidden: no"}, logged); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

func TestErrorsNamePhaseAndCause(t *testing.T) {
	err := error(&Error{Op: OpWatch, Phase: inspect.PhaseWatching, Type: "pods", Err: fmt.Errorf("read: %w", io.ErrUnexpectedEOF)})
	if got, want := err.Error(), "watch pods: read: unexpected EOF"; got != want {
		t.Errorf("text = %q, want %q", got, want)
	}
	if !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Error("the cause can't be found in the error")
	}
}

// A handler that is told of a WATCH gets the server's own error, as from
// client-go; one that is told of a LIST can find it.
func TestOnErrorCanLookAtTheCause(t *testing.T) {
	var got []error
	o := Options{OnError: func(_ context.Context, err error) { got = append(got, err) }}
	bubble(t, o, func(t *testing.T, s *server, _ *Reflector) {
		s.lists <- listAnswer{err: failure("403")}
		synctest.Wait()
		time.Sleep(time.Minute)
		s.lists <- listAnswer{list: podList("1")}
		s.watches <- watchAnswer{err: io.EOF}
		synctest.Wait()
	})
	if len(got) != 2 {
		t.Fatalf("told of %d errors, want 2: %v", len(got), got)
	}
	var failed *Error
	if !errors.As(got[0], &failed) || failed.Op != OpList || failed.Phase != inspect.PhaseListing || reasonOf(got[0]) != "Forbidden" {
		t.Errorf("error of the LIST = %#v", got[0])
	}
	if got[1] != io.EOF {
		t.Errorf("error of the WATCH = %#v, want io.EOF itself", got[1])
	}
}

// What expired is counted apart from other failures, as the requests say it.
func TestWhatExpiredIsCountedAmongWhatFailed(t *testing.T) {
	bubble(t, Options{}, func(t *testing.T, s *server, r *Reflector) {
		s.lists <- listAnswer{err: failure("403")}
		synctest.Wait()
		time.Sleep(time.Minute)
		s.lists <- listAnswer{list: podList("1")}
		s.watches <- watchAnswer{}
		synctest.Wait()
		s.current().send(errorEvent("410"))
		synctest.Wait()
		time.Sleep(time.Minute)
		failed, expired := uint64(0), uint64(0)
		for _, q := range r.Requests() {
			if q.Error != "" {
				failed++
			}
			if q.Outcome == inspect.OutcomeExpired {
				expired++
			}
		}
		if v := r.RequestVitals(); v.Failed != failed || v.Expired != expired || failed != 2 || expired != 1 {
			t.Errorf("%d failed and %d expired, counted are %d and %d; want 2 and 1", failed, expired, v.Failed, v.Expired)
		}
	})
}
