package tap

import (
	"math/bits"
	"time"

	"github.com/informeter/informeter/engine/inspect"
)

const (
	// Each power of two is split into subBuckets linear parts, so that a
	// quantile is at most one eighth too high.
	subBits    = 3
	subBuckets = 1 << subBits
	// Durations up to 2^40 ns (18 minutes) have their own buckets; what is
	// longer is counted in the last one.
	maxBits   = 40
	buckets   = (maxBits - subBits + 1) * subBuckets
	windowFor = 10 * time.Second
)

// histogram counts durations in log-linear buckets.
type histogram struct {
	counts [buckets]uint32
	count  uint64
	max    time.Duration
}

// bucketOf returns the bucket of d. Buckets below subBuckets are exact; above,
// the leading bit chooses the group and the next subBits bits the bucket in it.
func bucketOf(d time.Duration) int {
	if d < 0 {
		d = 0
	}
	v := uint64(d)
	if v < subBuckets {
		return int(v)
	}
	shift := bits.Len64(v) - 1 - subBits
	b := (shift+1)*subBuckets + int(v>>shift) - subBuckets
	return min(b, buckets-1)
}

// upperBound returns the largest duration that bucketOf puts into b.
func upperBound(b int) time.Duration {
	if b < subBuckets {
		return time.Duration(b)
	}
	shift := b/subBuckets - 1
	lower := uint64(subBuckets+b%subBuckets) << shift
	return time.Duration(lower + 1<<shift - 1)
}

func (h *histogram) record(d time.Duration, n uint32) {
	h.counts[bucketOf(d)] += n
	h.count += uint64(n)
	h.max = max(h.max, d)
}

// Latency keeps how long something took over the last ten to twenty seconds in
// which it was recorded. The zero value is ready. Not safe for concurrent use.
type Latency struct {
	// current takes the records of the window that began at began; previous
	// holds the window before it. Both are dropped by whoever comes later.
	current, previous histogram
	began             time.Time
}

// Record adds n occurrences that took d each, at the time now.
func (l *Latency) Record(now time.Time, d time.Duration, n int) {
	l.advance(now)
	l.current.record(d, uint32(n))
}

// advance moves the windows to where now needs them.
func (l *Latency) advance(now time.Time) {
	if l.began.IsZero() {
		l.began = now
		return
	}
	switch elapsed := now.Sub(l.began); {
	case elapsed < windowFor:
	case l.current.count == 0:
		l.began = now
	default:
		l.previous, l.current = l.current, histogram{}
		l.began = now
	}
}

// Summary returns the count, the median, the 99th percentile and the maximum.
func (l *Latency) Summary() inspect.Latency {
	return inspect.Latency{
		Count: l.current.count + l.previous.count,
		P50:   l.quantile(0.50),
		P99:   l.quantile(0.99),
		Max:   max(l.current.max, l.previous.max),
	}
}

// bandBuckets is how many buckets make a band, where there are as many in half a
// power of two.
const bandBuckets = subBuckets / 2

// Spread returns how what was recorded is spread over bands, those that have any,
// the shortest first. What took longer than the last bucket reaches is in the
// last band.
func (l *Latency) Spread() []inspect.Band {
	var bands []inspect.Band
	for first := 0; first < buckets; {
		// Below subBuckets a bucket is one nanosecond and the bands are shorter.
		n := bandBuckets
		switch {
		case first < 2:
			n = 1
		case first < subBuckets:
			n = max(1<<(bits.Len(uint(first))-2), 1)
		}
		var count uint64
		for b := first; b < first+n; b++ {
			count += uint64(l.current.counts[b]) + uint64(l.previous.counts[b])
		}
		if count > 0 {
			from := time.Duration(0)
			if first > 0 {
				from = upperBound(first-1) + 1
			}
			bands = append(bands, inspect.Band{From: from, To: upperBound(first+n-1) + 1, Count: count})
		}
		first += n
	}
	return bands
}

// quantile returns a duration that the fraction q of the records did not
// exceed, at most one eighth too high.
func (l *Latency) quantile(q float64) time.Duration {
	total := l.current.count + l.previous.count
	if total == 0 {
		return 0
	}
	// The smallest rank that covers the fraction q.
	rank := uint64(float64(total) * q)
	if float64(rank) < float64(total)*q {
		rank++
	}
	rank = max(rank, 1)
	var seen uint64
	for b := range l.current.counts {
		seen += uint64(l.current.counts[b]) + uint64(l.previous.counts[b])
		if seen >= rank {
			return min(upperBound(b), max(l.current.max, l.previous.max))
		}
	}
	return max(l.current.max, l.previous.max)
}
