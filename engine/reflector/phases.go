package reflector

import (
	"context"
	"time"

	"github.com/informeter/informeter/engine/inspect"
)

// noStreamFor is how long initial streams are not tried again after a server
// left them without an end marker.
const noStreamFor = 10 * time.Minute

// destination is where a wait leads.
type destination uint8

const (
	toRound      destination = iota // a new round: WATCHLIST or LIST
	toStreamList                    // WATCHLIST again
	toWatching                      // WATCH again, from the same resource version
)

// beginRound decides how the round that begins gets its list.
func (r *Reflector) beginRound() {
	select {
	case <-r.relistAsked: // answered by the list that follows
		r.mostRecent = true
	default:
	}
	r.unfinished = 0
	r.internal = retryWindow{limit: r.options.MaxInternalErrorRetry}
	if r.streamsLists && !time.Now().Before(r.noStreamUntil) {
		r.becomeStreamingList()
		return
	}
	r.becomeListing()
}

// endRound leaves Watching for a new round. Unlike client-go, with SteadyResync
// the resync timer goes on: rounds shorter than its period would otherwise keep
// it from ever firing [steady resync].
func (r *Reflector) endRound() {
	if !r.options.SteadyResync {
		r.stopResync()
	}
}

// abandonRound is what is left to do after a panic in one of the steps.
func (r *Reflector) abandonRound() {
	r.gathered = gathered{}
	r.noted()
	r.dropStream()
	r.endRound()
	op := OpWatch
	switch r.phase {
	case inspect.PhaseListing:
		op = OpList
	case inspect.PhaseStreamingList:
		op = OpWatchList
	}
	r.failed(op, errPanic)
	r.endOpenRequest(inspect.OutcomeFailed, errPanic, nextRelist)
	r.becomeBackingOff(toRound)
}

// becomeListing begins a LIST.
func (r *Reflector) becomeListing() {
	r.become(inspect.PhaseListing, func(v *inspect.ReflectorVitals) { v.Expected = r.listed })
}

// becomeStreamingList begins a WATCHLIST.
func (r *Reflector) becomeStreamingList() {
	r.become(inspect.PhaseStreamingList, func(v *inspect.ReflectorVitals) { v.Expected = r.listed })
}

// becomeWatching begins a WATCH, or goes on with r.stream.
func (r *Reflector) becomeWatching() {
	r.become(inspect.PhaseWatching, nil)
}

// becomeBackingOff begins the wait that the backoff's sequence has next.
func (r *Reflector) becomeBackingOff(after destination) {
	now := time.Now()
	r.becomeWaiting(after, now.Add(r.delays.next(now)))
}

// becomeSpaced goes to where after says, at once or with WatchSpacing not before
// that has passed since the last request began [spacing].
func (r *Reflector) becomeSpaced(after destination) {
	r.mu.Lock()
	until := r.requests.newest().Started.Add(r.options.WatchSpacing)
	r.mu.Unlock()
	switch {
	case r.options.WatchSpacing > 0 && time.Now().Before(until):
		r.becomeWaiting(after, until)
	case after == toStreamList:
		r.becomeStreamingList()
	default:
		r.becomeWatching()
	}
}

// becomeWaiting begins a wait.
func (r *Reflector) becomeWaiting(after destination, until time.Time) {
	r.after, r.resumes = after, until
	r.become(inspect.PhaseBackingOff, func(v *inspect.ReflectorVitals) {
		v.NextAttempt = until
		if r.requests.made > 0 {
			r.requests.newest().NextAt = until
		}
	})
}

// becomeStopped ends everything that Run started.
func (r *Reflector) becomeStopped() {
	r.dropStream()
	r.stopResync()
	r.draining.Wait()
	r.become(inspect.PhaseStopped, func(*inspect.ReflectorVitals) {
		if r.requests.made > 0 && r.requests.newest().Ended.IsZero() {
			r.requests.end(time.Now(), inspect.OutcomeStopped, nil, "")
		}
	})
}

// become changes the phase. What belonged to the last one is over; set fills in
// what belongs to the new one.
func (r *Reflector) become(p inspect.Phase, set func(*inspect.ReflectorVitals)) {
	now := time.Now()
	r.mu.Lock()
	r.settleLocked(now)
	r.establishedAt = time.Time{}
	r.phase = p
	r.vitals.Phase, r.vitals.Since = p, now
	r.vitals.NextAttempt = time.Time{}
	r.vitals.Received, r.vitals.Expected = 0, -1
	if set != nil {
		set(&r.vitals)
	}
	r.mu.Unlock()
	r.generation.Bump()
}

// backOff waits, and goes where it was told to.
func (r *Reflector) backOff(ctx context.Context) {
	timer := time.NewTimer(time.Until(r.resumes))
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return
	case <-r.relistAsked:
		r.mostRecent = true
		r.endRound()
		r.beginRound()
		return
	case <-timer.C:
	}
	switch r.after {
	case toStreamList:
		r.becomeStreamingList()
	case toWatching:
		r.becomeWatching()
	default:
		r.beginRound()
	}
}
