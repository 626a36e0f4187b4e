package tui

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/informeter/informeter/engine/findings"
	"github.com/informeter/informeter/engine/inspect"
)

func TestARoundThatOutlastsItsPeriodIsAWarning(t *testing.T) {
	for _, c := range []struct {
		objects int
		share   string
		warned  bool
	}{{48211, "321%", true}, {5010, "33%", false}} {
		f := newFake(1)
		f.snapshot.Store.Objects = c.objects
		u := newUser(t, f, 200, 30)
		u.press("6")
		row := u.marked()
		if !strings.Contains(row, c.share) || strings.Contains(row, "⚠") != c.warned || strings.Contains(u.sees(), "6⚠Resync 12s") != c.warned {
			t.Errorf("%d objects: %s", c.objects, u.sees())
		}
		if full := strings.Count(row, "█") == resyncBar; full != c.warned {
			t.Errorf("%d objects: the bar is full: %v", c.objects, full)
		}
	}
}

// TestARoundIsMarkedWhereItsFindingIs: what it will cost is said before that is sure,
// and marked nowhere; then row, words, tab and header are marked together, as long
// as the finding goes on.
func TestARoundIsMarkedWhereItsFindingIs(t *testing.T) {
	for _, w := range []int{80, 120, 200} {
		f := newFake(48211).with(func(s *inspect.Snapshot) {
			s.Indices = nil // which has a warning of its own
			l := &s.Listeners[2]
			l.LastRound = &inspect.Round{Began: epoch.Add(-40 * time.Second), Ended: epoch.Add(-3 * time.Second), Objects: 120, Work: 14 * time.Second}
			l.NextResync = epoch.Add(25 * time.Second)
		})
		u := newUser(t, f, w, 36).press("6")
		marks := func() int {
			return strings.Count(strings.ReplaceAll(u.sees(), "8⚠Findings", "8 Findings"), "⚠")
		}
		storm := findings.Finding{Rule: findings.ResyncStorm, Informer: "pods", Severity: findings.Info, Place: findings.PlaceResync, Subject: "audit", Since: epoch, At: epoch}
		u.finds(nil, storm)
		u.look()
		u.expect("321%", "the next one")
		if marks() > 0 {
			t.Errorf("at %d columns something is marked before anybody is sure:\n%s", w, u.sees())
		}
		storm.Severity = findings.Warning
		u.finds(nil, storm)
		u.look()
		want := 4 // header, tab, row, cost
		if w == 200 {
			want++ // the round
		}
		if row := u.marked(); marks() != want || !strings.Contains(row, "⚠") || u.line("cost     ⚠ a round is") == "" {
			t.Errorf("at %d columns there are %d marks, want %d:\n%s", w, marks(), want, u.sees())
		}
		u.expect("6⚠Resync")
		// It goes on for a while though a round has room again.
		f.with(func(s *inspect.Snapshot) { s.Store.Objects = 14000 })
		if u.look(); marks() != want || strings.Contains(u.sees(), "the next one") {
			t.Errorf("at %d columns there are %d marks, want %d:\n%s", w, marks(), want, u.sees())
		}
		storm.Ended = epoch
		u.finds(nil, storm)
		if u.look(); marks() > 0 {
			t.Errorf("at %d columns something is marked that is over:\n%s", w, u.sees())
		}
	}
}

func TestTheResyncHeadSaysWhenAndHowMuch(t *testing.T) {
	f := newFake(20).with(resynced)
	u := newUser(t, f, 120, 30)
	u.press("6")
	for _, want := range []string{"checks every 30s", "next in 12s", "last 18s ago: 48,211 objects × 31 handlers", "8 rounds", "never asks the server"} {
		if u.line(want) == "" {
			t.Errorf("%q is not said:\n%s", want, u.sees())
		}
	}
	f.bump(func() { f.snapshot.At = epoch.Add(12 * time.Second) })
	u.look()
	if u.line("due   last 30s ago") == "" {
		t.Errorf("a round whose time has come is not due:\n%s", u.sees())
	}
	f.bump(func() { f.snapshot.Resync = inspect.ResyncVitals{} })
	u.look()
	if u.line("never checks: no handler gets a period") == "" {
		t.Errorf("an informer that never checks is not said to:\n%s", u.sees())
	}
}

// TestAWiderScreenShowsNoFewerColumns than a narrow one.
func TestAWiderScreenShowsNoFewerColumns(t *testing.T) {
	for _, w := range []int{80, 100, 117, 118, 120, 159, 160, 200} {
		u := newUser(t, newFake(20).with(resynced), w, 30).press("6")
		if l := u.line("GRANTED"); !strings.Contains(l, "SEEN") {
			t.Errorf("at %d columns: %s", w, l)
		}
		p := newUser(t, newFake(20), w, 30).m.screens[screenFindings].(*findingsScreen)
		if l := p.list(newTheme(true), p.listWidth())[0]; !strings.Contains(l, "OVER") {
			t.Errorf("at %d columns: %s", w, l)
		}
	}
}

// TestResyncColumnsGoInOrder narrows the table.
func TestResyncColumnsGoInOrder(t *testing.T) {
	p := newUser(t, newFake(5).with(resynced), 120, 30).m.screens[screenResync].(*resyncScreen)
	gone := []string{"OF ITS PERIOD", "RESYNC", "SKIPPED", "SEEN", "ASKED"}
	dropped := 0
	for w := 140; w >= leastWidth; w-- {
		header := p.handlers.table.grid(w, p.columns()).header(newTheme(true))
		for _, must := range []string{"HANDLER", "GRANTED", "NEXT", "COST", "SHARE"} {
			if !strings.Contains(header, must) {
				t.Errorf("at %d columns %s is gone", w, must)
			}
		}
		for dropped < len(gone) && !strings.Contains(header, gone[dropped]) {
			dropped++
		}
		for i, title := range gone {
			if strings.Contains(header, title) != (i >= dropped) {
				t.Errorf("at %d columns %s is not in its turn: %s", w, title, header)
			}
		}
	}
	if dropped == 0 {
		t.Error("no column went")
	}
}

// TestWhyPeriodsDifferIsSaid: the cases of asked, granted and seen.
func TestWhyPeriodsDifferIsSaid(t *testing.T) {
	second := time.Second
	for name, c := range map[string]struct {
		check, asked, granted, seen time.Duration
		skipped                     uint64
		want                        []string
	}{
		"as asked":                  {2 * second, 2 * second, 2 * second, 2 * second, 0, []string{"granted  2.0s ", "seen     2.0s "}},
		"never checked":             {0, 30 * second, 0, 0, 0, []string{"the informer never checks"}},
		"less than a second":        {second, second / 5, second, second, 0, []string{"less than a second is raised to one"}},
		"asked late":                {2 * second, second, 2 * second, 2 * second, 0, []string{"it asked when the informer was running, which checks every 2.0s"}},
		"not a multiple of a check": {2 * second, 2500 * time.Millisecond, 2500 * time.Millisecond, 4 * second, 0, []string{"only when the informer checks, every 2.0s", "the 2nd check"}},
		"passed over":               {2 * second, 2 * second, 2 * second, 6 * second, 2, []string{"rounds were passed over", "passed over 2 times"}},
		"late":                      {2 * second, 2 * second, 2 * second, 9 * second, 0, []string{"it is 8.2s behind with 4,120 pending"}},
		"by hand":                   {30 * second, 30 * second, 30 * second, second, 0, []string{"asked for in between"}},
		"no rounds yet":             {30 * second, 30 * second, 30 * second, 0, 0, []string{"fewer than two rounds so far"}},
	} {
		f := newFake(20).with(func(s *inspect.Snapshot) {
			s.Resync.CheckPeriod = c.check
			l := &s.Listeners[2]
			l.ResyncAsked, l.ResyncGranted, l.ResyncSeen, l.ResyncSkipped = c.asked, c.granted, c.seen, c.skipped
		})
		for _, w := range []int{80, 200} {
			u := newUser(t, f, w, 40)
			u.press("6")
			seen := strings.Join(strings.Fields(u.sees()), " ")
			for _, want := range c.want {
				if !strings.Contains(seen, strings.Join(strings.Fields(want), " ")) {
					t.Errorf("%s: at %d columns %q is not said:\n%s", name, w, want, u.sees())
				}
			}
			if c.granted == c.asked && c.granted == c.seen && (strings.Contains(seen, "granted 2.0s:") || strings.Contains(seen, "seen 2.0s:")) {
				t.Errorf("%s: a reason is given:\n%s", name, u.sees())
			}
		}
	}
}

func TestAPeriodIsAskedForOnTheResyncScreen(t *testing.T) {
	f := newFake(20)
	u := newUser(t, f, 120, 30)
	u.press("6", "p").types("10s").press("enter").expect("audit asks for a resync every 10s")
	u.press("p").types("0").press("enter").expect("audit asks for no resync")
	u.press("p").types("soon").press("enter").expect(`"soon" is not a period`)
	u.press("esc", "R").expect("the cache is being played back")
	if want := []string{"resync audit every 10s", "resync audit every 0s", "resync"}; !slices.Equal(f.controls, want) {
		t.Errorf("asked for %q, want %q", f.controls, want)
	}
}

func TestTheNextResyncCountsDownInItsTab(t *testing.T) {
	f := newFake(20)
	u := newUser(t, f, 120, 30)
	u.expect("6 Resync 12s")
	f.bump(func() { f.snapshot.At = epoch.Add(9 * time.Second) })
	u.look()
	u.expect("6 Resync 3s")
}

// TestWhatIsSaidOfAHandlersRoundsIsWhole: nothing is left out of its middle while
// lines below are free.
func TestWhatIsSaidOfAHandlersRoundsIsWhole(t *testing.T) {
	for _, w := range []int{80, 100, 120, 200} {
		u := newUser(t, newFake(20), w, 36)
		u.press("6", "/").types("informeter").press("enter")
		u.expect("asks for none", "rounds of all others", "50,000", "notifications", "so far")
	}
}

// TestTheOutlookDoesNotWaitForTheInitialList: what will never be worked off is
// said while a handler is still being given it, and who will catch up, when.
func TestTheOutlookDoesNotWaitForTheInitialList(t *testing.T) {
	for want, arriving := range map[string]float64{"at this rate never": 14, "caught up in": 1, "it can do no more": 6.1} {
		f := newFake(30).with(func(s *inspect.Snapshot) {
			l := &s.Listeners[2]
			l.Synced, l.InitialDelivered, l.InitialTotal = false, 100, 183
			l.Pending, l.Behind, l.Drain = 300, 20*time.Second, 50*time.Second
			l.BusyRate, l.ChangeRate, l.ResyncGranted = 6.2, arriving, 0
		})
		u := newUser(t, f, 120, 36)
		u.press("5", "g", "j", "j").expect("could handle 6.2/s: " + want)
	}
}

// TestWhoCanBeGivenNoPeriodIsNotAskedForOne: why not is said before anything is
// typed, and a command is refused for the same reason.
func TestWhoCanBeGivenNoPeriodIsNotAskedForOne(t *testing.T) {
	f := newFake(20)
	u := newUser(t, f, 80, 24)
	u.press("6", "g", "p").expect("informeter is the explorer's own handler")
	if u.m.prompt != nil {
		t.Error("a period is asked for, for the explorer's own handler")
	}
	u.press(":").types("resync informeter 5s").press("enter").expect("is the explorer's own handler").press("esc", "esc")
	f.with(func(s *inspect.Snapshot) { s.Resync.CheckPeriod = 0 })
	u.look()
	u.press("6", "G", "p").expect("this informer never checks", "--resync 30s")
	if u.m.prompt != nil {
		t.Error("a period is asked for where nobody checks")
	}
	u.press(":").types("resync audit 5s").press("enter").expect("--resync 30s").press("esc", "esc")
	if len(f.controls) > 0 {
		t.Errorf("asked for %q", f.controls)
	}
	u.press(":").types("resync audit 0").press("enter").expect("audit asks for no resync")
}

func TestTheResyncScreenLooksAtAHandlerThatMayHaveAPeriod(t *testing.T) {
	u := newUser(t, newFake(20).with(noPeriods), 120, 30).press("6")
	p := u.m.screens[screenResync].(*resyncScreen)
	if row, _ := p.handlers.selected(); row.Explorer || row.Name == "" {
		t.Errorf("%q is selected", row.Name)
	}
}

// noPeriods is an informer that never checks.
func noPeriods(s *inspect.Snapshot) {
	s.Resync.CheckPeriod, s.Resync.Next = 0, time.Time{}
	for i := range s.Listeners {
		l := &s.Listeners[i]
		l.ResyncAsked, l.ResyncGranted, l.ResyncSeen, l.NextResync = 0, 0, 0, time.Time{}
	}
}

// TestWhatARoundDidCostIsSaidWithoutAPeriod: rounds that were asked for by hand
// cost as much as others.
func TestWhatARoundDidCostIsSaidWithoutAPeriod(t *testing.T) {
	f := newFake(20).with(noPeriods).with(func(s *inspect.Snapshot) {
		s.Resync.Last, s.Resync.Rounds, s.Resync.LastObjects, s.Resync.LastListeners = epoch.Add(-20*time.Second), 1, 7400, 2
		s.Listeners[2].LastRound.Work = 14 * time.Second
	})
	u := newUser(t, f, 120, 30).press("6")
	u.expect("the informer never checks", "last 20s ago: 7,400 objects × 2 handlers", "1 round")
	if row := u.line("audit "); !strings.Contains(row, "14s") {
		t.Errorf("its row does not say what its last round did cost: %s", row)
	}
	u.press("G").expect("asks for none, and is told of", "rounds that were asked for by", "14s of work")
	u.press("R").expect("the cache is being played back to 2 handlers")

	f.with(func(s *inspect.Snapshot) { s.Resync.CheckPeriod = 30 * time.Second })
	u.look()
	u.expect("asks for none now, and was", "told of rounds asked for by")
	f.with(func(s *inspect.Snapshot) { s.Resync.CheckPeriod, s.Listeners[2].ResyncAsked = 0, 4*time.Second })
	u.look()
	u.expect("never checks", "--resync 30s", "14s of work").press("5").expect("none because the informer never checks")
}
