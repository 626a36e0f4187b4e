package engine

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"k8s.io/klog/v2"

	"github.com/informeter/informeter/engine/inspect"
)

// replay is a resync round that Controls asked for.
//
// It passes through the queue like any other, so that what it tells of a key fits
// what came before and comes after. Unlike that of others, whom it is for stays
// settled until the queue has let all of it go: the check period may be shorter
// than a closed gate's patience.
type replay struct {
	// one lets ResyncNow be called by one at a time; taken before handleMu.
	one sync.Mutex

	// Guarded by handleMu. held: the processor was told whom the round is for,
	// and is not told yet that it is over. enqueued is when the last of it was
	// put into the queue, the zero time before.
	held     bool
	enqueued time.Time
}

// ResyncNow implements inspect.Controls. With Hardening.SkipBusyResync a handler
// that has not been given all of its last round is left out.
func (i *Informer) ResyncNow(context.Context) error {
	i.lifeMu.Lock()
	state, queue := i.state, i.queue
	i.lifeMu.Unlock()
	switch state {
	case inspect.StateCreated:
		return errors.New("resync now: the informer has not started, so there is nothing to play back")
	case inspect.StateStopped:
		return fmt.Errorf("resync now: %w", inspect.ErrStopped)
	}
	i.replay.one.Lock()
	defer i.replay.one.Unlock()

	listeners, skipped := i.beginReplay()
	switch {
	case listeners == 0 && skipped > 0:
		return fmt.Errorf("resync now: each of the %d handlers is still busy with its last round; try again later", skipped)
	case listeners == 0:
		return errors.New("resync now: there is no handler to play the cache back to")
	}
	err := queue.Resync()
	i.noteReplay(listeners)

	i.handleMu.Lock()
	defer i.handleMu.Unlock()
	i.replay.enqueued = time.Now()
	if v := queue.Vitals(time.Now()); v.Deltas == 0 && v.InFlight == 0 {
		i.endReplay()
	}
	i.generation.Bump()
	if err != nil {
		return fmt.Errorf("resync now: %w", err)
	}
	return nil
}

func (i *Informer) beginReplay() (listeners, skipped int) {
	i.handleMu.Lock()
	defer i.handleMu.Unlock()
	listeners, skipped = i.processor.HoldResync(time.Now())
	i.replay.held, i.replay.enqueued = true, time.Time{}
	if listeners == 0 {
		i.endReplay()
	}
	return listeners, skipped
}

// checkReplay is called after each batch, with handleMu: once what waits in the
// queue came later than the round, that is over.
func (i *Informer) checkReplay() {
	if !i.replay.held || i.replay.enqueued.IsZero() {
		return
	}
	now := time.Now()
	if v := i.queue.Vitals(now); v.Deltas == 0 || now.Add(-v.Age).After(i.replay.enqueued) {
		i.endReplay()
	}
}

// endReplay is called with handleMu.
func (i *Informer) endReplay() {
	i.replay.held = false
	i.processor.ReleaseResync()
}

// noteReplay counts a round that Controls asked for.
func (i *Informer) noteReplay(listeners int) {
	i.statsMu.Lock()
	defer i.statsMu.Unlock()
	i.resync.objects, i.resync.listeners = i.store.Len(), listeners
	i.resync.asked++
	i.resync.lastAsked = time.Now()
}

// SetResync implements inspect.Controls. The handler is next due when the period
// has passed once from now. What it is granted follows the rules for handlers
// that are added: nothing below the check period of an informer that runs, and
// nothing below a second.
func (i *Informer) SetResync(_ context.Context, handler string, period time.Duration) error {
	i.lifeMu.Lock()
	defer i.lifeMu.Unlock()
	listener := i.handlerLocked(handler)
	switch {
	case i.state == inspect.StateStopped:
		return fmt.Errorf("resync period of %s: %w", handler, inspect.ErrStopped)
	case listener == nil:
		return fmt.Errorf("handler %q: %w", handler, inspect.ErrNotFound)
	case period < 0:
		return fmt.Errorf("resync period of %s: %v is negative; 0 asks for none", handler, period)
	case period > 0 && i.checkPeriod == 0:
		return fmt.Errorf("resync period of %s: this informer never checks whose turn it is; start it with a resync period of its own", handler)
	}
	i.processor.SetResync(listener, period, i.grantLocked(klog.Background(), period), time.Now())
	return nil
}
