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
//	heat = Σ exp((u - began) / rateForgets)
//
// which only an update changes: it grows.
type rates struct {
	began time.Time // before the first update
	// at is the time of the last update and one what it adds: many updates have
	// the time of the one before. Only the goroutine that observes touches these.
	at  int64
	one heat
}

// heat is a number from 1 on, or 0, with the precision of 13 digits and room for
// more than a year of updates: its exponent to the base of 2, and 1, in the high
// bits, then its fraction without the leading 1. As integers they are in the
// order of the numbers.
type heat uint64

const (
	heatBits = 44 // of the fraction
	heatOne  = 1 << heatBits
	heatMask = heatOne - 1
	heatMax  = 1<<(64-heatBits) - 2 // the largest exponent
)

// heatOf returns 2 to the power of y, which is not negative.
func heatOf(y float64) heat {
	exponent, fraction := math.Modf(min(y, heatMax))
	return heat(exponent+1)<<heatBits | heat((math.Exp2(fraction)-1)*heatOne)&heatMask
}

// log returns the logarithm of a heat that is not 0 to the base of 2.
func (h heat) log() float64 {
	return float64(h>>heatBits) - 1 + math.Log2(1+float64(h&heatMask)/heatOne)
}

// plus returns the sum of two heats.
func (h heat) plus(other heat) heat {
	high, low := max(h, other), min(h, other)
	if low == 0 {
		return high
	}
	apart := high>>heatBits - low>>heatBits
	if apart > heatBits {
		return high
	}
	// high is (heatOne + its fraction) times a power of two: what is added to the
	// fraction may carry over into the exponent.
	fraction := high&heatMask + (low&heatMask|heatOne)>>apart
	exponent := high >> heatBits
	if fraction >= heatOne {
		fraction = (heatOne+fraction)>>1 - heatOne
		exponent = min(exponent+1, heatMax+1)
	}
	return exponent<<heatBits | fraction
}

// heated returns a key's heat after an update at t, Unix nanoseconds.
func (r *rates) heated(h heat, t int64) heat {
	if t != r.at || r.one == 0 {
		passed := time.Duration(max(t-r.began.UnixNano(), 0))
		r.at, r.one = t, heatOf(passed.Seconds()/rateForgets.Seconds()*math.Log2E)
	}
	return h.plus(r.one)
}

// rate returns updates a second as of now. What was not seen yet, because
// nobody looked, is left out of the average.
func (r *rates) rate(h heat, now time.Time) float64 {
	if h == 0 {
		return 0
	}
	age := max(now.Sub(r.began), rateMin).Seconds() / rateForgets.Seconds()
	sum := math.Exp2(h.log() - age*math.Log2E)
	rate := sum / rateForgets.Seconds() / (1 - math.Exp(-age))
	if rate < rateNone {
		return 0
	}
	return rate
}
