package tui

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/informeter/informeter/engine/inspect"
)

// TestAnAddedHandlerSaysWhatItHasBecome: its name may be another than it was to
// have, and its period too.
func TestAnAddedHandlerSaysWhatItHasBecome(t *testing.T) {
	f := newFake(30)
	f.snapshot.Resync = inspect.ResyncVitals{}
	u := newUser(t, f, 160, 36)
	f.joins = &inspect.ListenerVitals{Name: "slow"}
	u.command("handler add slow 5ms").expect(" handler slow added ")
	f.joins = &inspect.ListenerVitals{Name: "slow#2", ResyncAsked: 3 * time.Second}
	u.command("handler add slow 5ms resync 3s").expect("handler slow#2 added: there is a slow already", "every 3.0s and was granted", "the informer never checks")
}

// TestAKeyThatIsNotThereIsSaidToBeMissing, and what is selected in its place.
func TestAKeyThatIsNotThereIsSaidToBeMissing(t *testing.T) {
	f := newFake(30)
	u := newUser(t, f, 120, 36)
	u.command("goto " + f.rows[3].Key)
	u.expectMarked(f.rows[3].Key)
	if strings.Contains(u.sees(), "no key") {
		t.Errorf("a key that is there is missing:\n%s", u.sees())
	}
	u.command("goto a").expect("no key a: this is the first one after it")
	u.expectMarked(f.rows[0].Key)
	u.command("goto zzz").expect("no key zzz, and none after it: this is the last one")
	u.expectMarked(f.rows[29].Key)
}

// TestARoundThatIsSeenLateHasAReason, and the explorer says that it is told of
// rounds it did not ask for.
func TestARoundThatIsSeenLateHasAReason(t *testing.T) {
	f := newFake(30).with(func(s *inspect.Snapshot) {
		s.Resync.CheckPeriod = 10 * time.Second
		l := &s.Listeners[2]
		l.ResyncAsked, l.ResyncGranted, l.ResyncSeen, l.ResyncSkipped = 10*time.Second, 10*time.Second, 17*time.Second, 0
		l.Pending, l.Behind = 340, 20*time.Second
		for i := range s.Listeners {
			if l := &s.Listeners[i]; l.Explorer {
				l.Causes = inspect.CauseCounts{Resync: 545, Watch: 455}
			}
		}
	})
	u := newUser(t, f, 160, 40)
	h := &u.m.screens[screenResync].(*resyncScreen).handlers
	u.press("6")
	h.choose(f.snapshot.Listeners[2].Name)
	u.look()
	u.expect("it is 20s behind with 340 pending, and sees a round when it gets there")
	f.bump(func() { f.snapshot.Listeners[2].ResyncSeen = 0 })
	u.look()
	u.expect("fewer than two rounds so far")
	h.choose(explorerName(&f.snapshot))
	u.look()
	u.expect("is told of the rounds of all others", "545 of the 1,000")
	u.press("5")
	u.m.screens[screenHandlers].(*handlersScreen).handlers.choose(explorerName(&f.snapshot))
	u.look()
	u.expect("asks for none, is told of every round")
}

// TestAColumnOfDashesTakesNoOtherPlace: what waits comes and goes.
func TestAColumnOfDashesTakesNoOtherPlace(t *testing.T) {
	f := newFake(60)
	for i := range f.rows {
		f.rows[i].Writer, f.rows[i].Size, f.rows[i].Compared, f.rows[i].Rate = "load-balancer-controller", 900, 10, 1
	}
	for _, w := range []int{100, 120} {
		u := newUser(t, f, w, 24)
		before := strings.Fields(u.press("3").line("KEY"))
		for i := range f.rows {
			f.rows[i].Waiting = 3
		}
		u.look()
		if got := strings.Fields(u.line("KEY")); strings.Join(got, " ") != strings.Join(before, " ") {
			t.Errorf("at %d columns %q have become %q", w, before, got)
		}
		if w == 120 {
			u.expect("load-balancer-controller")
		}
	}
	u := newUser(t, f, 80, 24).press("3", "F").expect("following the newest of 60")
	u.press("/").types("zzz").press("enter").expect("0 of 60 match zzz")
}

// TestTheFooterOffersNoDeadKeys: what there is nothing for is not offered, and
// what a second press undoes is called that.
func TestTheFooterOffersNoDeadKeys(t *testing.T) {
	f := newFake(30)
	f.queue = nil
	u := newUser(t, f, 200, 30)
	footer := func() string {
		lines := strings.Split(strings.TrimRight(u.sees(), "\n"), "\n")
		return lines[len(lines)-1]
	}
	for page, dead := range map[string][]string{"2": {"preview", "object", "biography"}, "8": {"enter", "next", "previous"}} {
		u.press(page)
		for _, key := range dead {
			if strings.Contains(footer(), key) {
				t.Errorf("%s: %q is offered: %s", page, key, footer())
			}
		}
	}
	u.press("3", "/").types("zzz").press("enter")
	if l := footer(); strings.Contains(l, "object") || strings.Contains(l, "preview") || !strings.Contains(l, "filter") {
		t.Errorf("without a row: %s", l)
	}
	u.press("esc")
	if l := footer(); !strings.Contains(l, "f freeze") || !strings.Contains(l, "enter object") {
		t.Errorf("with rows: %s", l)
	}
	u.press("f")
	if l := footer(); strings.Contains(l, "freeze") || !strings.Contains(l, "f go on") {
		t.Errorf("frozen: %s", l)
	}
}

// TestTheExplorersInitialListIsNotCounted: it passes over what it need not be
// told of.
func TestTheExplorersInitialListIsNotCounted(t *testing.T) {
	f := newFake(30)
	u := newUser(t, f, 120, 36).press("5").expect("initial list delivered, ")
	f.bump(func() {
		for i := range f.snapshot.Listeners {
			f.snapshot.Listeners[i].Explorer, f.snapshot.Listeners[i].InitialTotal = true, 0
		}
	})
	u.look()
	if u.expect("initial list delivered"); strings.Contains(u.sees(), "initial list delivered, ") {
		t.Errorf("it is counted:\n%s", u.sees())
	}
}

// TestResyncsToComeDoNotArriveYet.
func TestResyncsToComeDoNotArriveYet(t *testing.T) {
	f := newFake(300).with(func(s *inspect.Snapshot) {
		l := &s.Listeners[2]
		l.ResyncGranted, l.ResyncSkipped, l.ChangeRate, l.BusyRate, l.Causes.Resync = 30*time.Second, 0, 20, 100, 0
	})
	u := newUser(t, f, 120, 36).press("5")
	u.expect("arriving 20/s, 30/s with the resyncs to come")
	f.bump(func() { f.snapshot.Listeners[2].Causes.Resync = 300 })
	u.look()
	u.expect("arriving 30/s (10/s resyncs)")
}

func TestPeriodsHaveNoEmptyUnit(t *testing.T) {
	for d, want := range map[time.Duration]string{
		0: dash, time.Minute: "1m", 90 * time.Second: "1m30s", time.Hour: "1h", 21 * 24 * time.Hour: "21d", 10 * time.Minute: "10m", 1500 * time.Millisecond: "1.5s",
	} {
		if got := period(d); got != want {
			t.Errorf("period(%v) is %q, want %q", d, got, want)
		}
	}
}

// TestAKeyThatDoesNothingSaysWhy.
func TestAKeyThatDoesNothingSaysWhy(t *testing.T) {
	f := newFake(30).with(func(s *inspect.Snapshot) {
		for i := range s.Listeners {
			s.Listeners[i].CurrentKey, s.Listeners[i].InHandler = "", 0
		}
	})
	u := newUser(t, f, 120, 36)
	u.press("0").expect("there is only one informer")
	u.press("5", "d").expect("in no call right now")
}

// TestTheNameOfTheSlowestHandlerIsWhole where it has room.
func TestTheNameOfTheSlowestHandlerIsWhole(t *testing.T) {
	f := newFake(30).with(func(s *inspect.Snapshot) {
		s.Listeners[2].Name, s.Listeners[2].Pending, s.Listeners[2].Behind = "billing-export", 260, 12*time.Second
	})
	u := newUser(t, f, 120, 36)
	if l := u.press("1").line("bookmark"); l == "" || strings.Contains(strings.Split(u.sees(), "HANDLER")[0], "billing-ex…") {
		t.Errorf("the name is cut:\n%s", u.sees())
	}
	newUser(t, f, 60, 16).press("1").expect("billing-export 260 pending")
}

// TestASparklineSaysItsScale.
func TestASparklineSaysItsScale(t *testing.T) {
	f := newFake(30)
	u := newUser(t, f, 120, 36)
	u.press("1").expect("max 1,204/s ", "max 4,123 ") // a rate; a count, of all handlers
	f.bump(func() { f.snapshot.Reflector.EventRate = 2000 })
	u.look() // in the same second
	u.expect("2,000 ev/s", "max 2,000/s ")
	f.bump(func() { f.snapshot.Reflector.EventRate = 7 })
	u.look()
	u.expect("max 2,000/s ")
	// What is there now is never above it, whichever handlers it waits for, and
	// although the clock was set back.
	f.bump(func() {
		f.snapshot.Reflector.EventRate, f.snapshot.Handle.Rate = 3000, 5000
		f.snapshot.At = epoch.Add(-time.Minute)
		for i := range f.snapshot.Listeners {
			f.snapshot.Listeners[i].Pending, f.snapshot.Listeners[i].Behind = 2000, 0
		}
	})
	u.m.history().second = epoch.Add(time.Hour).Unix()
	u.look()
	u.expect("3,000 ev/s", "max 3,000/s ", "6,000 pending", "max 6,000 ")
	if l := u.line("5,000/s"); !strings.Contains(l, "max 5,000/s") {
		t.Errorf("where the title has no room it does not stand under it: %q", l)
	}
}

// TestWhatIsNotPossibleIsSaidOnce: not its kind again at the end of the sentence.
func TestWhatIsNotPossibleIsSaidOnce(t *testing.T) {
	for _, c := range []struct {
		err  error
		want string
	}{
		{fmt.Errorf("remove handler audit: only handlers that were added here can be removed: %w", inspect.ErrReadOnly), "remove handler audit: only handlers that were added here can be removed"},
		{fmt.Errorf("add index a: this program cannot compile expressions: %w", inspect.ErrUnsupported), "add index a: this program cannot compile expressions"},
		{inspect.ErrReadOnly, "read-only"},
	} {
		if got := withoutKind(c.err); got != c.want {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
}

// TestTheNameOfAPageHasRoomAroundIt, that of the one in sight too.
func TestTheNameOfAPageHasRoomAroundIt(t *testing.T) {
	u := newUser(t, newFake(30), 120, 36)
	u.press("3", "d")
	if tabs := u.m.View().Content; !strings.Contains(tabs, " Diff d ") {
		t.Errorf("the chosen page swallows its gap:\n%s", u.sees())
	}
}

// TestTheMainCauseIsAWord: what a relist tells of unchanged objects is called that.
func TestTheMainCauseIsAWord(t *testing.T) {
	f := newFake(20).with(func(s *inspect.Snapshot) {
		s.Listeners[0].Causes = inspect.CauseCounts{RelistUnchanged: 1000}
		s.Listeners[1].Causes = inspect.CauseCounts{RelistUnchanged: 36, Watch: 20}
	})
	newUser(t, f, 200, 40).expect("unchanged 100%", "unchanged 64%")
}
