package reflector

import (
	"context"
	"time"

	"k8s.io/klog/v2"
)

// resyncing is the resync timer's goroutine while it runs.
type resyncing struct {
	cancel context.CancelFunc
	done   chan struct{} // closed when the goroutine has ended
	// failed has room for one error, so that the goroutine never waits for a
	// watch to read it.
	failed chan error
}

// startResync starts the timer if there is to be one and none runs. The
// goroutine ends with stopResync, which whoever ends the round, or Run, calls.
func (r *Reflector) startResync(ctx context.Context) {
	if r.options.ResyncPeriod <= 0 || r.resyncing != nil {
		return
	}
	ctx, cancel := context.WithCancel(ctx)
	t := &resyncing{cancel: cancel, done: make(chan struct{}), failed: make(chan error, 1)}
	r.resyncing = t
	go func() {
		defer close(t.done)
		r.resyncLoop(ctx, t.failed)
	}()
}

// stopResync ends the timer and waits for it: after that the store sees no more
// resync.
func (r *Reflector) stopResync() {
	if r.resyncing == nil {
		return
	}
	r.resyncing.cancel()
	<-r.resyncing.done
	r.resyncing = nil
	r.mu.Lock()
	r.nextResync = time.Time{}
	r.mu.Unlock()
}

func (r *Reflector) resyncLoop(ctx context.Context, failed chan<- error) {
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		r.setNextResync(timer)
		select {
		case <-timer.C:
		case <-ctx.Done():
			return
		}
		if r.options.ShouldResync != nil && !r.options.ShouldResync() {
			continue
		}
		klog.FromContext(ctx).V(4).Info("Resync", "reflector", r.name)
		if err := r.store.Resync(); err != nil {
			select {
			case failed <- err:
			default: // one is enough to end the round
			}
			r.wake()
			if r.options.SteadyResync {
				continue
			}
			return
		}
		r.mu.Lock()
		r.lastResync = time.Now()
		r.resyncRounds++
		r.mu.Unlock()
		r.generation.Bump()
	}
}

// setNextResync sets the timer. The period begins when a round has been
// enqueued, not when it began.
func (r *Reflector) setNextResync(timer *time.Timer) {
	timer.Reset(r.options.ResyncPeriod)
	r.mu.Lock()
	r.nextResync = time.Now().Add(r.options.ResyncPeriod)
	r.mu.Unlock()
	r.generation.Bump()
}

// Resync says when the resync timer fires next (the zero time while none runs),
// when the store was last asked to resync, and how often it was.
func (r *Reflector) Resync() (next, last time.Time, rounds uint64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.nextResync, r.lastResync, r.resyncRounds
}
