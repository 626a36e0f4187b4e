package engine

import (
	"context"
	"math"
	"sync"
	"time"

	"github.com/informeter/informeter/engine/inspect"
	"github.com/informeter/informeter/engine/tap"
)

const (
	// batchSize is how many deltas an open gate lets through at once: enough to
	// spread the cost of the locks, few enough that a reader of the store or a
	// handler that joins late waits less than a few milliseconds.
	batchSize = 512
	// burstFor is how much unused allowance a limited gate saves up.
	burstFor = 100 * time.Millisecond
	// limitedNap is the shortest time a limited gate sleeps: at high rates it
	// lets a few deltas through at once rather than wake for each.
	limitedNap = time.Millisecond
)

// gate stands before the queue's Pop and says how many deltas may pass. While
// it is closed nothing is popped, so what arrives stays in the queue, in sight.
//
//	          SetRate(n)            Step(n): steps += n
//	running ────────────▶ limited        ┌───┐
//	   │  ◀──────────────── │            ▼   │
//	   │       Resume       │          paused
//	   └──────── Pause ─────┴───────────▶ │
//	   ◀──────────── Resume ──────────────┘
//
// One goroutine asks wait, admit and spend, in this order; any may turn the
// gate.
type gate struct {
	generation *tap.Generation

	// mu guards the fields below. turned is closed and replaced whenever the
	// gate lets through more than it did.
	mu     sync.Mutex
	turned chan struct{}
	mode   inspect.GateMode
	since  time.Time
	// epoch grows with every change of mode, so that what was admitted in one
	// mode is not charged to the next; admitted is the epoch of the last admit.
	epoch, admitted uint64
	steps           int     // deltas a paused gate still owes
	rate            float64 // deltas a second through a limited gate
	tokens          float64 // unused allowance of a limited gate, as of refilled
	refilled        time.Time
}

func newGate(generation *tap.Generation) *gate {
	return &gate{generation: generation, turned: make(chan struct{}), mode: inspect.GateRunning}
}

// pause closes the gate. What was admitted already is still handled.
func (g *gate) pause() { g.turn(func() { g.becomeLocked(inspect.GatePaused) }) }

// resume opens the gate.
func (g *gate) resume() { g.turn(func() { g.becomeLocked(inspect.GateRunning) }) }

// step closes the gate if it was open, and lets n deltas through.
func (g *gate) step(n int) {
	g.turn(func() {
		g.becomeLocked(inspect.GatePaused)
		g.steps += n
	})
}

// limit lets perSecond deltas a second through; zero or less opens the gate.
func (g *gate) limit(perSecond float64) {
	g.turn(func() {
		if perSecond <= 0 || math.IsInf(perSecond, 0) || math.IsNaN(perSecond) {
			g.becomeLocked(inspect.GateRunning)
			return
		}
		g.becomeLocked(inspect.GateLimited)
		g.rate = perSecond
		g.tokens, g.refilled = 0, time.Now()
	})
}

// turn makes a change and wakes whoever waits.
func (g *gate) turn(change func()) {
	g.mu.Lock()
	change()
	close(g.turned)
	g.turned = make(chan struct{})
	g.mu.Unlock()
	g.generation.Bump()
}

func (g *gate) becomeLocked(mode inspect.GateMode) {
	if g.mode == mode {
		return
	}
	g.mode, g.since = mode, time.Now()
	g.steps, g.rate = 0, 0
	g.epoch++
}

// wait blocks until the gate lets something through or ctx ends.
func (g *gate) wait(ctx context.Context) error {
	for {
		g.mu.Lock()
		allowed, turned := g.allowedLocked(), g.turned
		var refill <-chan time.Time
		if allowed == 0 && g.mode == inspect.GateLimited {
			whole := time.Duration((1 - g.tokens) / g.rate * float64(time.Second))
			refill = time.After(max(whole, limitedNap))
		}
		g.mu.Unlock()
		if allowed > 0 {
			return ctx.Err()
		}
		select {
		case <-turned:
		case <-refill:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// admit returns how many deltas may pass now.
func (g *gate) admit() int {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.admitted = g.epoch
	return g.allowedLocked()
}

func (g *gate) allowedLocked() int {
	switch g.mode {
	case inspect.GatePaused:
		return min(g.steps, batchSize)
	case inspect.GateLimited:
		now := time.Now()
		saved := math.Max(1, g.rate*burstFor.Seconds())
		g.tokens = math.Min(saved, g.tokens+g.rate*now.Sub(g.refilled).Seconds())
		g.refilled = now
		// A token that is whole but for rounding is whole: wait slept for it.
		return min(int(g.tokens+1e-6), batchSize)
	default:
		return batchSize
	}
}

// spend charges n deltas that passed to what was admitted.
func (g *gate) spend(n int) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.admitted != g.epoch {
		return
	}
	switch g.mode {
	case inspect.GatePaused:
		g.steps = max(g.steps-n, 0)
	case inspect.GateLimited:
		g.tokens -= float64(n)
	}
}

func (g *gate) vitals() inspect.Gate {
	g.mu.Lock()
	defer g.mu.Unlock()
	return inspect.Gate{Mode: g.mode, Rate: g.rate, Steps: g.steps, Since: g.since}
}
