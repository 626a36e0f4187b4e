package journal

import (
	"math"
	"time"
)

const (
	// rateForgets is the time constant of a key's rate.
	rateForgets = time.Minute
	// rateMin is the shortest time that a rate is taken over, so that one update
	// in the first moment is not hundreds a second.
	rateMin = time.Second
	// rateNone is the lowest rate that is told.
	rateNone = 1e-4
)

// rates turns updates into moving averages that need no upkeep. A key's average
// at time t is the sum over its updates of exp((u - t) / rateForgets); as all of
// them shrink by the same factor, their order is that of
//
//	score = 1 + ln Σ exp((u - began) / rateForgets)
//
// which only an update changes: it grows. The logarithm keeps it in range.
type rates struct {
	began time.Time // before the first update
}

// score returns a key's score after an update at t; 0 stands for none so far.
func (r *rates) score(score float64, t time.Time) float64 {
	x := 1 + max(t.Sub(r.began).Seconds(), 0)/rateForgets.Seconds()
	if score == 0 {
		return x
	}
	high, low := max(score, x), min(score, x)
	return high + math.Log1p(math.Exp(low-high))
}

// rate returns updates a second as of now. What was not seen yet, because
// nobody looked, is left out of the average.
func (r *rates) rate(score float64, now time.Time) float64 {
	if score == 0 {
		return 0
	}
	age := max(now.Sub(r.began), rateMin).Seconds() / rateForgets.Seconds()
	sum := math.Exp(score - 1 - age)
	rate := sum / rateForgets.Seconds() / (1 - math.Exp(-age))
	if rate < rateNone {
		return 0
	}
	return rate
}
