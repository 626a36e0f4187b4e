package engine

import (
	"context"
	"errors"
	"math"
	"testing"
	"testing/synctest"
	"time"

	"github.com/informeter/informeter/engine/inspect"
	"github.com/informeter/informeter/engine/tap"
)

// pass lets deltas through the gate as fast as it allows and counts them.
func pass(ctx context.Context, g *gate, count *int) {
	for g.wait(ctx) == nil {
		n := g.admit()
		*count += n
		g.spend(n)
	}
}

func TestAPausedGateLetsExactlyItsStepsThrough(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		g := newGate(&tap.Generation{})
		g.pause()
		var count int
		go pass(ctx, g, &count)
		synctest.Wait()
		if count != 0 {
			t.Errorf("a closed gate let %d through", count)
		}
		for _, want := range []int{1, 11} {
			g.step(want - count)
			synctest.Wait()
			if count != want {
				t.Errorf("%d passed, want %d", count, want)
			}
		}
		if got := g.vitals(); got.Mode != inspect.GatePaused || got.Steps != 0 {
			t.Errorf("after the steps the gate is %+v, want it closed and owing nothing", got)
		}
		cancel()
		synctest.Wait()
	})
}

func TestAStepClosesAnOpenGate(t *testing.T) {
	g := newGate(nil)
	if n := g.admit(); n != batchSize {
		t.Fatalf("an open gate admits %d", n)
	}
	g.step(1)
	// The batch that was admitted while the gate was open comes to its end.
	g.spend(batchSize)
	if n := g.admit(); n != 1 {
		t.Errorf("the step asked for admits %d, want 1", n)
	}
	g.spend(1)
	if n := g.admit(); n != 0 {
		t.Errorf("after its step the gate admits %d", n)
	}
}

func TestALimitedGateKeepsItsRate(t *testing.T) {
	for _, rate := range []float64{0.5, 3, 10, 250, 40_000} {
		synctest.Test(t, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
			defer cancel()
			g := newGate(&tap.Generation{})
			g.limit(rate)
			var count int
			pass(ctx, g, &count)
			if want := rate * 20; math.Abs(float64(count)-want) > math.Max(1, want/100) {
				t.Errorf("at %v a second %d passed in 20 s, want %v", rate, count, want)
			}
		})
	}
}

func TestAnIdleLimitedGateSavesOnlyAShortBurst(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newGate(nil)
		g.limit(100)
		time.Sleep(time.Hour)
		if n := g.admit(); n != 10 {
			t.Errorf("after an idle hour %d may pass at once, want a tenth of a second's worth, 10", n)
		}
	})
}

func TestNoRateOrANonsensicalOneOpensTheGate(t *testing.T) {
	for _, rate := range []float64{0, -1, math.Inf(1), math.NaN()} {
		g := newGate(nil)
		g.limit(5)
		g.limit(rate)
		if got := g.vitals(); got.Mode != inspect.GateRunning || got.Rate != 0 {
			t.Errorf("limit(%v) leaves the gate %+v, want it open", rate, got)
		}
	}
}

func TestResumeReleasesAWaiter(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newGate(nil)
		g.pause()
		done := make(chan error)
		go func() { done <- g.wait(t.Context()) }()
		synctest.Wait()
		g.resume()
		if err := <-done; err != nil {
			t.Errorf("wait = %v", err)
		}
	})
}

func TestWaitingAtAClosedGateEndsWithItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newGate(nil)
		g.pause()
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if err := g.wait(ctx); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("wait = %v, want the deadline", err)
		}
	})
}
