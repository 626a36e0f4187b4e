package tap

import (
	"context"
	"sync"
	"sync/atomic"
)

// Generation is a number that grows with every change, and a way to wait for
// it. The zero value is ready. Safe for concurrent use.
type Generation struct {
	n       atomic.Uint64
	waiting atomic.Int32

	// mu guards changed, the channel that the next Bump closes for those who
	// wait; nil if nobody does.
	mu      sync.Mutex
	changed chan struct{}
}

// Bump says that something changed. A nil Generation ignores it.
func (g *Generation) Bump() {
	if g == nil {
		return
	}
	g.n.Add(1)
	if g.waiting.Load() == 0 {
		return
	}
	g.mu.Lock()
	if g.changed != nil {
		close(g.changed)
		g.changed = nil
	}
	g.mu.Unlock()
}

// Current returns the generation as it is.
func (g *Generation) Current() uint64 { return g.n.Load() }

// Wait blocks until the generation is greater than since, and returns it.
func (g *Generation) Wait(ctx context.Context, since uint64) (uint64, error) {
	// waiting is raised before the generation is read, and Bump reads it after
	// the generation was raised: either Bump sees the waiter or the waiter sees
	// the new generation.
	g.waiting.Add(1)
	defer g.waiting.Add(-1)
	for {
		g.mu.Lock()
		if now := g.n.Load(); now > since {
			g.mu.Unlock()
			return now, nil
		}
		if g.changed == nil {
			g.changed = make(chan struct{})
		}
		changed := g.changed
		g.mu.Unlock()
		select {
		case <-changed:
		case <-ctx.Done():
			return g.n.Load(), ctx.Err()
		}
	}
}
