package inspect

import (
	"math"
	"testing"
	"time"
)

func TestOutlook(t *testing.T) {
	for name, c := range map[string]struct {
		l         ListenerVitals
		arriving  float64
		loses     bool
		in        time.Duration
		ever      bool
		tooLong   bool
		afterTen  float64
		roundCost time.Duration
	}{
		"it catches up": {
			l:        ListenerVitals{BusyRate: 20, ChangeRate: 10, Pending: 100},
			arriving: 10, in: 10 * time.Second, ever: true,
		},
		"more changes than it can handle": {
			l:        ListenerVitals{BusyRate: 5, ChangeRate: 10, Pending: 100},
			arriving: 10, loses: true, afterTen: 150,
		},
		"between two rounds, a round counts all the same": {
			l:        ListenerVitals{BusyRate: 12, ChangeRate: 3, Pending: 10, ResyncGranted: 10 * time.Second},
			arriving: 23, loses: true, afterTen: 120, tooLong: true, roundCost: 200 * time.Second / 12,
		},
		"a round has room in its period": {
			l:        ListenerVitals{BusyRate: 100, ChangeRate: 10, Pending: 700, ResyncGranted: 10 * time.Second},
			arriving: 30, in: 10 * time.Second, ever: true, roundCost: 2 * time.Second,
		},
		"it has no more to give": {
			l:        ListenerVitals{BusyRate: 10.2, ChangeRate: 10, Pending: 100},
			arriving: 10, afterTen: 98,
		},
		"busy, it is passed over": {
			l:        ListenerVitals{BusyRate: 12, ChangeRate: 2, Pending: 100, ResyncGranted: 10 * time.Second, ResyncSkipped: 1},
			arriving: 2, in: 10 * time.Second, ever: true, tooLong: true, roundCost: 200 * time.Second / 12,
		},
		"the explorer's own is given rounds without a period": {
			l:        ListenerVitals{BusyRate: 1000, ChangeRate: 2, Explorer: true},
			arriving: 2, ever: true,
		},
		"its pace is not known": {
			l:        ListenerVitals{ChangeRate: 2, Pending: 1, ResyncGranted: 10 * time.Second},
			arriving: 22, afterTen: 221,
		},
	} {
		t.Run(name, func(t *testing.T) {
			o := c.l.Outlook(200)
			in, ever := o.CaughtUp()
			if o.Arriving != c.arriving || o.Loses() != c.loses || in != c.in || ever != c.ever || o.RoundTooLong() != c.tooLong || o.Round != c.roundCost {
				t.Errorf("arriving %v, loses %v, caught up in %v, ever %v, round %v, too long %v; want %+v", o.Arriving, o.Loses(), in, ever, o.Round, o.RoundTooLong(), c)
			}
			if got := o.In(10 * time.Second); math.Abs(got-c.afterTen) > 1e-6 {
				t.Errorf("%v wait after ten seconds, want %v", got, c.afterTen)
			}
		})
	}
}

func TestAnOutlookIsBounded(t *testing.T) {
	l := ListenerVitals{BusyRate: 1e-9, Pending: math.MaxUint64}
	o := l.Outlook(1)
	if in, ever := o.CaughtUp(); !ever || in != math.MaxInt64 {
		t.Errorf("caught up in %v, %v", in, ever)
	}
}
