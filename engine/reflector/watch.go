package reflector

import (
	"context"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"

	"github.com/informeter/informeter/engine/inspect"
)

// watch is the step of PhaseWatching: one WATCH from the last resource version,
// or the rest of the stream that brought the list.
//
//	closed                   → becomeWatching    same version (spaced if WatchSpacing)
//	closed at once, empty    → becomeBackingOff  to a new round
//	busy (429, refused)      → becomeBackingOff  to Watching, same version
//	internal error           → becomeWatching    while MaxInternalErrorRetry allows
//	outlived its timeout     → becomeWatching    only with WatchGrace
//	could not be opened      → becomeBackingOff  to a new round, OnError
//	410, any other error     → becomeBackingOff  to a new round
//	a resync failed          → becomeBackingOff  to a new round
//	Relist                   → a new round       mostRecent = true
func (r *Reflector) watch(ctx context.Context) {
	r.startResync(ctx)
	s := r.stream
	if s == nil {
		var err error
		if s, err = r.openWatch(ctx, metav1.ListOptions{ResourceVersion: r.LastSyncResourceVersion()}); err != nil {
			r.watchNotOpened(ctx, err)
			return
		}
		r.stream = s
	}
	end, err := r.consume(ctx, s)
	r.dropStream()
	switch end {
	case endStopped:
	case endRelist:
		r.endRequest(inspect.OutcomeStopped, nil, nextRelist)
		r.mostRecent = true
		r.endRound()
		r.beginRound()
	case endOutlived:
		r.endRequest(inspect.OutcomeStopped, err, nextWatch)
		r.failed(OpWatch, err)
		r.becomeSpaced(toWatching)
	case endResync:
		r.endRequest(inspect.OutcomeStopped, err, nextRelist)
		r.relistAfter(ctx, OpResync, err)
	case endClosed:
		if s.tooShort() {
			err := &cache.VeryShortWatchError{Name: r.name}
			r.endRequest(inspect.OutcomeClosed, err, nextRelist)
			r.relistAfter(ctx, OpWatch, err)
			return
		}
		r.endRequest(inspect.OutcomeClosed, nil, nextWatch)
		r.becomeSpaced(toWatching)
	default:
		r.watchFailed(ctx, err)
	}
}

// watchNotOpened decides what follows a WATCH that the server did not accept.
func (r *Reflector) watchNotOpened(ctx context.Context, err error) {
	switch {
	case ctx.Err() != nil:
		// Unlike client-go, a request that the stop cancelled is no error [stop].
	case isBusy(err):
		r.endRequest(inspect.OutcomeFailed, err, nextRetry)
		r.failed(OpWatch, err)
		r.becomeBackingOff(toWatching)
	default:
		r.endRequest(outcomeOf(inspect.VerbWatch, err), err, nextRelist)
		r.failed(OpWatch, err)
		// The cause alone, as client-go has it: handlers compare it.
		r.report(ctx, err)
		r.endRound()
		r.becomeBackingOff(toRound)
	}
}

// watchFailed decides what follows an error that came through the stream.
func (r *Reflector) watchFailed(ctx context.Context, err error) {
	outcome := outcomeOf(inspect.VerbWatch, err)
	retry := apierrors.IsInternalError(err) && r.internal.allows(time.Now())
	switch {
	case isExpired(err):
		// The LIST that follows still asks for nothing older than what was
		// seen: that is always possible and never goes back in time.
		r.endRequest(outcome, err, nextRelist)
		r.relistAfter(ctx, OpWatch, err)
	case apierrors.IsTooManyRequests(err):
		r.endRequest(outcome, err, nextRetry)
		r.failed(OpWatch, err)
		r.becomeBackingOff(toWatching)
	case retry:
		r.endRequest(outcome, err, nextRetry)
		r.failed(OpWatch, err)
		r.becomeSpaced(toWatching)
	default:
		r.endRequest(outcome, err, nextRelist)
		r.relistAfter(ctx, OpWatch, err)
	}
}

// relistAfter ends the round because of an error that OnError is not told of.
func (r *Reflector) relistAfter(ctx context.Context, op string, err error) {
	level := klog.FromContext(ctx)
	if isExpired(err) {
		level = level.V(4)
	}
	level.Info("Warning: watch ended; listing again", "reflector", r.name, "type", r.typeDescription, "op", op, "err", err)
	r.failed(op, err)
	r.endRound()
	r.becomeBackingOff(toRound)
}
