package inspect

import (
	"math"
	"time"
)

// OutlookOver is the time constant of the average that an outlook is reckoned
// from: what comes in waves of some seconds, and is worked off between them,
// does not change the outlook with every wave.
const OutlookOver = 15 * time.Second

// Outlook is what will become of what waits for a handler if all goes on like
// this. Whatever says so, on any screen and in any finding, says it from here.
type Outlook struct {
	// Arriving is notifications a second: what changes, and each resync round
	// spread evenly over its period. Of these, Rounds are the resyncs.
	Arriving float64
	Rounds   float64
	// Handles is how many a second the handler could work off; 0 where that is
	// not known yet.
	Handles float64
	// Round is how long a resync round takes it, Period how long it has for
	// one; 0 where it gets none, or where its pace is not known.
	Round  time.Duration
	Period time.Duration

	pending float64
}

// Outlook reckons from the handler's vitals, and from how many objects the store
// holds: as many notifications has a resync round. A handler that is passed over
// while it is busy is given no more rounds than it has time for: they are left
// out.
func (l *ListenerVitals) Outlook(objects int) Outlook {
	o := Outlook{Handles: l.BusyRate, Arriving: l.ChangeRate, pending: float64(l.Pending)}
	if l.ResyncGranted <= 0 || l.Explorer || l.Removing {
		return o
	}
	if l.ResyncSkipped == 0 {
		o.Rounds = float64(objects) / l.ResyncGranted.Seconds()
		o.Arriving += o.Rounds
	}
	if o.Handles > 0 {
		o.Round, o.Period = inSeconds(float64(objects)/o.Handles), l.ResyncGranted
	}
	return o
}

// Loses says whether more arrives than the handler can work off.
func (o *Outlook) Loses() bool { return o.Handles > 0 && o.Arriving > o.Handles }

// barely is the share of its pace that a handler has to have left to catch up in
// a time that means anything: both are averages.
const barely = 0.05

// CaughtUp is how long it takes until nothing waits; ever is false if more
// arrives than the handler can work off, or about as much.
func (o *Outlook) CaughtUp() (in time.Duration, ever bool) {
	left := o.Handles - o.Arriving
	if o.Handles <= 0 || left < barely*o.Handles {
		return 0, false
	}
	return inSeconds(o.pending / left), true
}

// RoundTooLong says whether a resync round takes longer than its period.
func (o *Outlook) RoundTooLong() bool { return o.Round > o.Period }

// In is how much waits after d more.
func (o *Outlook) In(d time.Duration) float64 {
	return max(o.pending+(o.Arriving-o.Handles)*d.Seconds(), 0)
}

// inSeconds is a number of seconds as a duration, as long as one goes.
func inSeconds(n float64) time.Duration {
	if n >= math.MaxInt64/float64(time.Second) {
		return math.MaxInt64
	}
	return time.Duration(n * float64(time.Second))
}
