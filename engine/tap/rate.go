package tap

import (
	"cmp"
	"math"
	"time"
)

const (
	// rateForgets is the time constant of the moving average, unless a Rate has
	// its own.
	rateForgets = 5 * time.Second
	// rateMin is the shortest interval over which a rate is measured; readers
	// that come sooner get the last answer.
	rateMin = 200 * time.Millisecond
)

// Rate turns a growing total into a rate per second: an exponentially weighted
// moving average with a time constant of five seconds. The zero value is ready.
// Not safe for concurrent use.
type Rate struct {
	// Forgets is the time constant, if it is not 0. It does not change.
	Forgets time.Duration

	value float64
	total uint64
	at    time.Time
	// warm is how much time the average has seen; until that is much longer
	// than the time constant, the plain mean of what was seen is the better
	// answer.
	warm time.Duration
}

// Sample tells the rate what the total is now and returns the rate. Between two
// samples the total is taken to have grown evenly, so whoever owns a Rate
// samples it regularly, not only when somebody asks.
func (r *Rate) Sample(now time.Time, total uint64) float64 {
	if r.at.IsZero() {
		r.at, r.total = now, total
		return 0
	}
	dt := now.Sub(r.at)
	if dt < rateMin {
		return r.value
	}
	forgets := cmp.Or(r.Forgets, rateForgets)
	r.warm += dt
	weight := max(1-math.Exp(-dt.Seconds()/forgets.Seconds()), dt.Seconds()/r.warm.Seconds())
	r.warm = min(r.warm, 10*forgets)
	current := float64(total-r.total) / dt.Seconds()
	r.value += weight * (current - r.value)
	if r.value < 0.005 {
		r.value = 0
	}
	r.at, r.total = now, total
	return r.value
}

// Value returns the rate as of the last sample.
func (r *Rate) Value() float64 { return r.value }
