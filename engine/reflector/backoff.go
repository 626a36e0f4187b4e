package reflector

import (
	"math"
	"math/rand/v2"
	"time"

	"k8s.io/apimachinery/pkg/util/wait"
)

const (
	// A watch is asked to live for a random time from minWatchTimeout to twice
	// that, so that the watches of many clients don't all end together.
	minWatchTimeout = 5 * time.Minute
	// A watch that ends sooner than this and brought nothing is a failure.
	veryShort = time.Second
	// backoffReset is how long after its last reset the backoff begins anew.
	backoffReset = 2 * time.Minute
	// internalErrorReset is how long without an internal error it takes until
	// the next one counts as the first.
	internalErrorReset = time.Minute
)

// defaultBackoff waits 0.8 s at first and at most 30 s, up to doubled by jitter:
// client-go's.
func defaultBackoff() wait.Backoff {
	const first, most = 800 * time.Millisecond, 30 * time.Second
	return wait.Backoff{
		Duration: first,
		Cap:      most,
		Steps:    int(math.Ceil(float64(most) / float64(first))),
		Factor:   2,
		Jitter:   1,
	}
}

// delays hands out the waits between attempts, as wait.Backoff.DelayWithReset
// does. One sequence serves every kind of failure.
type delays struct {
	initial, current wait.Backoff
	resetAt          time.Time
}

func newDelays(now time.Time, b wait.Backoff) delays {
	return delays{initial: b, current: b, resetAt: now}
}

func (d *delays) next(now time.Time) time.Duration {
	if d.initial.Factor > 0 && now.Sub(d.resetAt) > backoffReset {
		d.current, d.resetAt = d.initial, now
	}
	return d.current.Step()
}

// retryWindow says for how long a WATCH that the server breaks off with an
// internal error is opened again at once, instead of listing.
type retryWindow struct {
	limit       time.Duration
	first, last time.Time
}

// allows is called once for each internal error.
func (w *retryWindow) allows(now time.Time) bool {
	if w.first.IsZero() || now.Sub(w.last) >= internalErrorReset {
		w.first = now
	}
	w.last = now
	return w.limit > 0 && now.Sub(w.first) <= w.limit
}

// watchTimeout draws how long the next watch is asked to live, in whole seconds
// as the API has it.
func watchTimeout(shortest time.Duration) int64 {
	return int64(shortest.Seconds() * (1 + rand.Float64()))
}
