package reflector

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"pgregory.net/rapid"

	v1 "k8s.io/api/core/v1"
)

// stubborn is a server that never changes its mind: every LIST, WATCHLIST and
// WATCH is answered as the one before.
type stubborn struct {
	listError         string
	streaming, steady watchPlan
	requests          int
	limit             int
	stop              context.CancelFunc
}

// count ends a run that makes more requests than it may: in a bubble a loop
// without a wait would never end.
func (s *stubborn) count() error {
	if s.requests++; s.requests > s.limit {
		s.stop()
		return errors.New("too many requests were made")
	}
	return nil
}

func (s *stubborn) List(metav1.ListOptions) (runtime.Object, error) {
	if err := s.count(); err != nil {
		return nil, err
	}
	if s.listError != "" {
		return nil, failure(s.listError)
	}
	return podList("5", "a@5"), nil
}

func (s *stubborn) Watch(o metav1.ListOptions) (watch.Interface, error) {
	if err := s.count(); err != nil {
		return nil, err
	}
	plan := s.steady
	if o.SendInitialEvents != nil {
		plan = s.streaming
	}
	a := plan.answer()
	if a.err != nil {
		return nil, a.err
	}
	w := &scriptedWatch{result: make(chan watch.Event, 100), stopped: make(chan struct{})}
	go a.play(w)
	return w, nil
}

// A hardened reflector makes at most about one request a second and one list
// more for each, whatever the server does. (Client-go makes as many as the
// server can answer if streams carry an event and close.)
func TestNoServerMakesAHardenedReflectorSpin(t *testing.T) {
	const minutes = 4
	end := rapid.SampledFrom([]string{"eof", "410", "429", "500", "504", "toolarge"})
	openError := rapid.SampledFrom([]string{"", "", "", "400", "403", "410", "429", "500", "toolarge", "refused"})
	event := rapid.SampledFrom([]eventPlan{
		{kind: "add", pod: "a", version: "6"},
		{kind: "modify", pod: "a", version: "6"},
		{kind: "bookmark", version: "6"},
		{kind: "bookmark end", version: "6"},
		{kind: "other", pod: "a", version: "6"},
	})
	plan := rapid.Custom(func(rt *rapid.T) watchPlan {
		return watchPlan{
			err:    openError.Draw(rt, "open error"),
			events: rapid.SliceOfN(event, 0, 2).Draw(rt, "events"),
			end:    end.Draw(rt, "end"),
		}
	})
	rapid.Check(t, func(rt *rapid.T) {
		s := &stubborn{
			listError: rapid.SampledFrom([]string{"", "", "", "410", "429", "500"}).Draw(rt, "list error"),
			streaming: plan.Draw(rt, "streaming"),
			steady:    plan.Draw(rt, "steady"),
			limit:     minutes * 60 * 3,
		}
		internal := rapid.SampledFrom([]time.Duration{0, time.Hour}).Draw(rt, "internal")
		synctest.Test(t, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), minutes*time.Minute)
			defer cancel()
			s.stop = cancel
			New(s, &v1.Pod{}, &sink{replaced: make(chan struct{}, 10_000)}, Options{
				MaxInternalErrorRetry: internal,
				WatchSpacing:          time.Second,
				EndMarkerDeadline:     30 * time.Second,
				WatchGrace:            time.Minute,
			}).Run(ctx)
		})
		if s.requests > s.limit {
			rt.Fatal(fmt.Sprintf("more than %d requests in %d minutes by %+v", s.limit, minutes, s))
		}
	})
}
