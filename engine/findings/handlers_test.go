package findings

import (
	"strings"
	"testing"
	"time"

	"github.com/informeter/informeter/engine/inspect"
)

// load lets so many notifications a second arrive and be handled, one call
// taking as long as that takes.
func load(arriving, handled uint64) func(s *inspect.Snapshot) {
	return func(s *inspect.Snapshot) {
		l := &s.Listeners[0]
		done := min(l.Pending+arriving, handled)
		l.Pending += arriving - done
		l.Delivered += done
		l.Causes.Watch += done
		l.BusyRate, l.ArrivalRate, l.ChangeRate, l.Rate = float64(handled), float64(arriving), float64(arriving), float64(done)
		l.Behind = seconds(float64(l.Pending) / float64(handled))
		if l.Pending == 0 {
			l.Behind = 0
		}
	}
}

func TestWhatAHandlerIsCalledForIsNotMostlyAll(t *testing.T) {
	for n, want := range map[uint64]string{
		0: "called only with the initial list: 123 calls",
		1: "called mostly with the initial list: 99% of 124 calls",
	} {
		l := inspect.ListenerVitals{Causes: inspect.CauseCounts{Initial: 123, Watch: n}}
		if got := causes(&l); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

func TestAHandlerThatLosesIsAGrowingBacklog(t *testing.T) {
	p := healthy(t)
	p.pass(growsFor-3*time.Second, load(120, 50))
	p.none() // not yet long enough
	p.pass(5*time.Second, load(120, 50))
	f := p.has(Warning, GrowingBacklog, "audit",
		"arriving 120/s, handled 50/s at most", "in 10m, if this goes on: 43,190 pending", "called mostly with what the watch brought")
	if f.Place != PlaceHandlers {
		t.Errorf("seen at %s", f.Place)
	}
	p.pass(40*time.Second, load(120, 50))
	p.has(Error, GrowingBacklog, "audit") // behind by more than a minute
	p.pass(growsFor+2*time.Second, load(10, 50))
	p.has(Warning, FarBehind, "audit", "arriving 10/s, handled 50/s at most: caught up in")
	p.pass(time.Minute, load(10, 50))
	p.none()
}

func TestWhatIsNoGrowingBacklog(t *testing.T) {
	second := 0
	for name, change := range map[string]func(*inspect.Snapshot){
		"as much is handled as arrives": load(50, 50),
		"a burst that is worked off":    func(s *inspect.Snapshot) { second++; load(map[bool]uint64{true: 100, false: 20}[second%20 < 8], 50)(s) },
		"a round of resync every ten seconds that is worked off": func(s *inspect.Snapshot) {
			second++
			load(map[bool]uint64{true: 450, false: 0}[second%10 == 0], 50)(s)
		},
		"the initial list arrives": func(s *inspect.Snapshot) {
			load(120, 50)(s)
			s.Listeners[0].InitialTotal += 100
			s.Listeners[0].Synced = false
			s.Listeners[0].InitialDelivered = s.Listeners[0].InitialTotal
		},
		"it is hardly behind": func(s *inspect.Snapshot) {
			load(1001, 1000)(s)
			s.Listeners[0].Behind = noticeable - time.Millisecond
		},
		"the explorer's own": func(s *inspect.Snapshot) { load(120, 50)(s); s.Listeners[0].Explorer = true },
	} {
		t.Run(name, func(t *testing.T) {
			second = 0
			p := healthy(t)
			for range 120 {
				p.pass(time.Second, change)
				p.none()
			}
		})
	}
}

func TestAResyncThatCannotBeDoneInTimeIsAStorm(t *testing.T) {
	p := healthy(t) // 1,000 objects × 2ms = 2s
	l := p.handler()
	l.ResyncAsked, l.ResyncGranted = 2*time.Second, 2*time.Second
	p.pass(time.Minute, nil)
	p.none() // exactly as long as its period

	l.BusyRate = 499
	p.pass(time.Second, nil)
	p.has(Info, ResyncStorm, "audit", "1,000 objects × 2.0ms = 2.0s", "will take") // before it has happened

	l.Causes.Resync = 1000
	p.pass(time.Second, nil)
	f := p.has(Warning, ResyncStorm, "audit", "never done", "period asked 2.0s, granted 2.0s, seen not yet", "resync is 17%")
	if f.Place != PlaceResync {
		t.Errorf("seen at %s", f.Place)
	}
	l.BusyRate = 600 // 1.67s: has not clearly ended yet
	p.pass(time.Second, nil)
	p.has(Warning, ResyncStorm, "audit")
	l.BusyRate = 700
	p.pass(time.Second, nil)
	p.none()

	l.BusyRate, l.Time.Count = 10, knownAfter-1
	p.pass(time.Second, nil)
	p.none() // too few calls to know
	l.Time.Count, l.ResyncGranted = knownAfter, 0
	p.pass(time.Second, nil)
	p.none() // it gets none
}

func TestAStormExplainsTheBacklogItMakes(t *testing.T) {
	p := healthy(t)
	l := p.handler()
	l.ResyncAsked, l.ResyncGranted = time.Second, time.Second
	p.pass(time.Minute, func(s *inspect.Snapshot) {
		load(2000, 500)(s)
		s.Listeners[0].Causes = inspect.CauseCounts{Watch: 10, Resync: s.Listeners[0].Delivered}
	})
	p.has(Warning, ResyncStorm, "audit")
}

func TestAHandlerThatDoesNotReturnIsStuck(t *testing.T) {
	p := healthy(t)
	l := p.handler()
	l.CurrentKey, l.Pending = "ns/a", 7
	l.InHandler = stuckAfter - time.Millisecond
	p.pass(time.Second, nil)
	p.none()
	l.InHandler = stuckAfter
	p.pass(time.Second, nil)
	f := p.has(Warning, HandlerStuck, "audit", "has not returned for 10s", "called with ns/a", "7 pending")
	if want := p.s.At.Add(-stuckAfter); !f.Since.Equal(want) {
		t.Errorf("since %v, want when it was called, %v", f.Since, want)
	}
	l.InHandler = deadAfter
	p.pass(time.Second, nil)
	p.has(Error, HandlerStuck, "audit")
	l.InHandler = 0
	p.pass(time.Second, nil)
	p.none()

	// One that always takes long is slow and not stuck.
	l.InHandler, l.Time.Max = 12*time.Second, 11*time.Second
	p.pass(time.Second, nil)
	p.none()
	l.Time.Max, l.Delay = 0, 11*time.Second // a slow one of the lab, at its first call
	p.pass(time.Second, nil)
	p.none()
}

func TestAPanicIsNewsForAWhile(t *testing.T) {
	p := healthy(t)
	p.handler().Panics, p.handler().LastPanic = 3, "nil map\ngoroutine 7"
	p.pass(time.Second, nil)
	p.has(Error, HandlerPanics, "audit", "3 panics in 5,000 calls", "the last: nil map")
	p.pass(panickedFor-time.Second, nil)
	p.has(Error, HandlerPanics, "audit")
	p.pass(time.Second, nil)
	p.none()
	p.handler().Panics++
	p.pass(time.Second, nil)
	p.has(Error, HandlerPanics, "audit", "4 panics")
	p.s.Listeners = nil
	p.pass(time.Second, nil)
	p.none()
}

func TestAHandlerWaitsForItsInitialList(t *testing.T) {
	p := healthy(t)
	late := p.s.Listeners[0]
	late.Name, late.Synced, late.InitialDelivered, late.InitialTotal, late.BusyRate = "late", false, 10, 1000, 10
	p.s.Listeners = append(p.s.Listeners, late)
	p.pass(initialSlow, nil)
	p.none() // a late handler is given everything at once: normal
	p.pass(time.Second, nil)
	p.has(Info, NotSynced, "late", "10 of 1,000 objects", "at 10/s it takes about 1m39s more")
	p.s.Listeners[1].Synced = true
	p.pass(time.Second, nil)
	p.none()
}

func TestAHandlerThatIsFarBehindAndDoesNotLose(t *testing.T) {
	p := healthy(t)
	l := p.handler()
	l.Pending, l.ChangeRate, l.BusyRate = 647, 2, 7
	l.Behind = longBehind - time.Millisecond
	p.pass(time.Second, nil)
	p.none()
	l.Behind = 84 * time.Second
	p.pass(time.Second, nil)
	p.has(Warning, FarBehind, "audit", "told of everything 1m24s late", "647 pending", "arriving 2.0/s, handled 7.0/s at most: caught up in 2m9s")
	l.Behind = longBehind / 2
	p.pass(time.Second, nil)
	p.has(Warning, FarBehind, "audit")
	l.Behind--
	p.pass(time.Second, nil)
	p.none()

	l.Behind, l.Synced, l.InitialTotal = 2*longBehind, false, l.InitialDelivered // the initial list comes once
	p.pass(time.Second, nil)
	p.none()
}

func TestWhatIsOverIsToldInThePast(t *testing.T) {
	p := healthy(t)
	late := p.s.Listeners[0]
	late.Name, late.Synced, late.InitialDelivered, late.InitialTotal, late.BusyRate = "late", false, 10, 1000, 10
	p.s.Listeners = append(p.s.Listeners, late)
	p.pass(initialSlow+time.Second, nil)
	p.has(Info, NotSynced, "late", "is still being given", "10 of 1,000 objects so far", "takes about 1m39s more")
	p.s.Listeners[1].Synced = true
	p.pass(time.Second, nil)
	all := p.w.Findings()
	if len(all) != 1 || all[0].Ended.IsZero() {
		t.Fatalf("found %s", dump(all))
	}
	for _, wrong := range []string{"is still", "more", "so far"} {
		if said := all[0].Title + strings.Join(all[0].Evidence, " "); strings.Contains(said, wrong) {
			t.Errorf("over, and says %q: %s", wrong, said)
		}
	}
	if !strings.Contains(all[0].Title, "was given the last of the initial list") {
		t.Errorf("title %q", all[0].Title)
	}
}
