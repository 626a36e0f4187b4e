package tap

import (
	"context"
	"errors"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

func TestEveryDurationIsInTheBucketThatBoundsIt(t *testing.T) {
	for range 100_000 {
		d := time.Duration(rand.Int64N(1 << rand.IntN(maxBits)))
		b := bucketOf(d)
		if upperBound(b) < d {
			t.Fatalf("%d is in bucket %d, which ends at %d", d, b, upperBound(b))
		}
		if b > 0 && upperBound(b-1) >= d {
			t.Fatalf("%d is in bucket %d, but bucket %d holds up to %d", d, b, b-1, upperBound(b-1))
		}
	}
	if b := bucketOf(1 << 62); b != buckets-1 {
		t.Errorf("a duration of years is in bucket %d, want the last, %d", b, buckets-1)
	}
	if b := bucketOf(-time.Second); b != 0 {
		t.Errorf("a clock that went back is in bucket %d, want 0", b)
	}
}

func TestQuantilesAreExactToOneEighth(t *testing.T) {
	var l Latency
	now := time.Unix(1000, 0)
	durations := make([]time.Duration, 5000)
	for i := range durations {
		durations[i] = time.Duration(rand.Int64N(int64(50 * time.Millisecond)))
		l.Record(now, durations[i], 1)
	}
	slices.Sort(durations)
	got := l.Summary()
	for _, c := range []struct {
		name  string
		got   time.Duration
		exact time.Duration
	}{
		{"p50", got.P50, durations[2499]},
		{"p99", got.P99, durations[4949]},
	} {
		if c.got < c.exact || float64(c.got) > float64(c.exact)*1.125+1 {
			t.Errorf("%s = %v, want %v to one eighth more", c.name, c.got, c.exact)
		}
	}
	if got.Max != durations[4999] || got.Count != 5000 {
		t.Errorf("max, count = %v, %d, want %v, 5000", got.Max, got.Count, durations[4999])
	}
}

func TestLatencyForgetsWhatIsOlderThanTwoWindows(t *testing.T) {
	var l Latency
	now := time.Unix(1000, 0)
	l.Record(now, time.Second, 1)
	l.Record(now.Add(windowFor), time.Millisecond, 1)
	if got := l.Summary().Max; got != time.Second {
		t.Errorf("max one window later = %v, want the second still known", got)
	}
	l.Record(now.Add(2*windowFor), time.Millisecond, 1)
	if got := l.Summary(); got.Max != time.Millisecond || got.Count != 2 {
		t.Errorf("two windows later = %+v, want the second forgotten", got)
	}
}

func TestRecordingAllocatesNothing(t *testing.T) {
	var l Latency
	var g Generation
	now := time.Unix(1000, 0)
	if n := testing.AllocsPerRun(1000, func() {
		l.Record(now, time.Millisecond, 1)
		g.Bump()
	}); n != 0 {
		t.Errorf("recording allocates %v times", n)
	}
}

func TestRateFollowsASteadyFlowAndForgetsIt(t *testing.T) {
	var r Rate
	now := time.Unix(1000, 0)
	r.Sample(now, 0)
	var total uint64
	for range 20 {
		now = now.Add(time.Second)
		total += 300
		r.Sample(now, total)
	}
	if got := r.Value(); got < 299 || got > 301 {
		t.Errorf("rate of a steady 300/s = %v", got)
	}
	now = now.Add(rateForgets)
	if got := r.Sample(now, total); got < 90 || got > 130 {
		t.Errorf("rate one time constant after the flow stopped = %v, want 300/e", got)
	}
	for range 100 {
		now = now.Add(time.Second)
		r.Sample(now, total)
	}
	if got := r.Value(); got != 0 {
		t.Errorf("rate long after the flow stopped = %v, want 0", got)
	}
}

func TestRateIsRightFromTheFirstSecond(t *testing.T) {
	var r Rate
	now := time.Unix(1000, 0)
	r.Sample(now, 0)
	if got := r.Sample(now.Add(time.Second), 100); got != 100 {
		t.Errorf("rate after the first second = %v, want 100", got)
	}
}

func TestWaitReturnsWhenSomethingChanges(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var g Generation
		got := make(chan uint64)
		go func() {
			n, err := g.Wait(t.Context(), 0)
			if err != nil {
				t.Error(err)
			}
			got <- n
		}()
		synctest.Wait()
		g.Bump()
		if n := <-got; n != 1 {
			t.Errorf("Wait returned generation %d, want 1", n)
		}
		if n, err := g.Wait(t.Context(), 0); n != 1 || err != nil {
			t.Errorf("Wait for what has already happened = %d, %v", n, err)
		}
	})
}

func TestWaitEndsWithItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var g Generation
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		if _, err := g.Wait(ctx, 0); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("Wait = %v, want the deadline", err)
		}
	})
}

func TestNoWaiterMissesTheLastBump(t *testing.T) {
	const bumps = 20_000
	var g Generation
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			var since uint64
			for since < bumps {
				n, err := g.Wait(t.Context(), since)
				if err != nil || n <= since {
					t.Errorf("Wait(%d) = %d, %v", since, n, err)
					return
				}
				since = n
			}
		})
	}
	for range bumps {
		g.Bump()
	}
	wg.Wait()
}

func TestBandsHoldEverythingOnceAndWhereItBelongs(t *testing.T) {
	var l Latency
	now := time.Unix(1000, 0)
	durations := make([]time.Duration, 20_000)
	for i := range durations {
		durations[i] = time.Duration(rand.Int64N(1 << rand.IntN(maxBits)))
		l.Record(now, durations[i], 1)
	}
	total := uint64(0)
	before := time.Duration(0)
	for _, b := range l.Spread() {
		power := time.Duration(1)
		for power*2 <= b.From {
			power *= 2
		}
		if begins := b.From == 0 || b.From == power || b.From == power+power/2; !begins || b.From < before {
			t.Errorf("a band from %d, after one to %d: it begins neither at a power of two nor halfway to the next", b.From, before)
		}
		if b.From > 1 && b.To-b.From != max(power/2, 1) {
			t.Errorf("a band from %d to %d: it does not reach half of the way to the next power of two", b.From, b.To)
		}
		want := uint64(0)
		for _, d := range durations {
			if d >= b.From && d < b.To {
				want++
			}
		}
		if b.Count != want || want == 0 {
			t.Errorf("the band from %d to %d has %d, want %d", b.From, b.To, b.Count, want)
		}
		total, before = total+b.Count, b.To
	}
	if total != uint64(len(durations)) {
		t.Errorf("the bands hold %d of %d", total, len(durations))
	}
}

func TestBandsHoldWhatIsTooLongAndWhatTheWindowBeforeHas(t *testing.T) {
	var l Latency
	now := time.Unix(1000, 0)
	if got := l.Spread(); got != nil {
		t.Errorf("nothing was recorded: %v", got)
	}
	l.Record(now, 1<<62, 1)
	l.Record(now.Add(windowFor), 3*time.Nanosecond, 2)
	got := l.Spread()
	if len(got) != 2 || got[0].From != 3 || got[0].To != 4 || got[0].Count != 2 || got[1].Count != 1 || got[1].To != 1<<maxBits {
		t.Errorf("a call of years and two of 3ns: %v", got)
	}
}
