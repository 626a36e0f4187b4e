package journal

import (
	"math"
	"time"
)

const (
	// closeRate is how many updates a second are looked at closely for as long as
	// it takes, closeBurst how many at once.
	closeRate, closeBurst = 8192, 16384
	// It is a flood when more than twice as many come for floodWindow. Then it is
	// floodRate a second: nobody reads more, and it is time for the others.
	floodRate   = 1024
	floodWindow = 100 * time.Millisecond
	// Half of the burst is kept for keys that change less often than every
	// closeSpacing.
	closeSpacing = time.Second
)

// attention says which updates are looked at closely: written down one by one,
// with their versions and what they changed. It is a bucket that fills as time
// passes, on the clock of the notifications.
//
//	burst ──┬─ every update is looked at closely
//	        │
//	 half ──┼─ only those of keys that were quiet for closeSpacing
//	        │
//	    0 ──┴─ none
//
// The others are counted and their objects taken over; only that each was one of
// many is told. Only the goroutine that observes touches it.
type attention struct {
	rate, burst float64 // updates a second, and at once
	flooded     float64 // what rate is in a flood
	left        float64 // 0 <= left <= burst
	at          time.Time

	// seen counts the updates since windowBegan; flood is what the window before
	// has shown.
	seen        int
	windowBegan time.Time
	flood       bool
}

// spare says whether an update of a key is to be looked at closely; e is what was
// known of the key before.
func (a *attention) spare(e *entry, at time.Time) bool {
	if passed := at.Sub(a.at); passed > 0 {
		rate := a.rate
		if a.flood {
			rate = a.flooded
		}
		a.left = min(a.left+passed.Seconds()*rate, a.burst)
		a.at = at
		if window := at.Sub(a.windowBegan); window >= floodWindow {
			a.flood = float64(a.seen) > 2*a.rate*window.Seconds()
			a.seen, a.windowBegan = 0, at
		}
	}
	a.seen++
	if a.left < 1 || a.left <= a.burst/2 && at.UnixNano()-e.changed < int64(closeSpacing) {
		return false
	}
	a.left--
	return true
}

// passLocked makes room in an entry for an update that is only counted. It
// returns false if the update must be written down: else what is known of the
// one before would be lost that is not one of many.
//
// The update that stands in the entry is written down when the next one that is
// looked at closely comes, or somebody asks, with how many came before it:
//
//	records   r1 r2 r3          the entry has the version of r3
//	records   r1 r2 r3   u      one update passed: the entry is u
//	records   r1 r2 r3   ...u   n passed; written down, u happened n times in a row
func (j *Journal) passLocked(e *entry) bool {
	s := &j.histories
	switch {
	case e.flags&storied == 0 || e.passed == 0 && e.history.class < 0:
		if e.flags&storied != 0 {
			e.setHistory(nil)
		}
		s.lost++
		if e.flags&repeated != 0 {
			s.lost++ // that it was played back
		}
		return true
	case e.flags&repeated != 0 || e.passed == math.MaxUint16:
		return false
	case e.passed == 0:
		s.supersede(e.history)
		s.touch(e.history)
		s.shrink()
	default:
		s.lost++
	}
	e.passed++
	return true
}

// passedLocked writes down the last of the updates that passed.
func (j *Journal) passedLocked(e *entry) {
	if e.passed == 0 {
		return
	}
	r := e.record(uidOf(e.object), e.changed)
	r.times = uint32(e.passed) - 1
	e.passed = 0
	j.histories.append(e.history, r)
}
