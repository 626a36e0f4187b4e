package tui

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/informeter/informeter/engine/findings"
	"github.com/informeter/informeter/engine/inspect"
)

// watch lets the rules look once, as they do beside the frames.
func (u *user) watch() *user {
	u.tb.Helper()
	msg := u.m.lookOut(0)()
	if _, ok := msg.(findingsMsg); !ok {
		u.tb.Fatalf("looking brought %T", msg)
	}
	u.m.Update(msg) // what follows waits for a heartbeat
	return u
}

// finds lets the rules have found this.
func (u *user) finds(err error, found ...findings.Finding) {
	u.tb.Helper()
	u.watch()
	u.m.Update(findingsMsg{source: u.m.source, found: found, err: err})
}

// sick is an informer with something wrong of every severity, and some that is
// over.
func sick(s *inspect.Snapshot) {
	quarantined(s)
	s.Quarantine = s.Quarantine[:1]
	s.Listeners[1].Panics, s.Listeners[1].LastPanic = 3, "runtime error: invalid memory address\ngoroutine 12"
	s.Listeners[2].Causes.Resync = 0
	s.Hot = []inspect.HotKey{{
		Key: "ns-1/web-00001", Rate: 1.9, Updates: 240, Compared: 200, Turns: 9,
		Writers: []string{"keda-operator", "argocd-controller"}, Paths: []string{".spec.replicas"},
	}}
}

// cooling is how long after what was hot it is over.
const cooling = 20 * time.Second

// recovered lets what is only a matter of the moment be over.
func recovered(s *inspect.Snapshot) { s.Hot, s.At = nil, s.At.Add(cooling) }

// sickUser looks at an informer that has something wrong with it.
func sickUser(t *testing.T, f *fake, w, h int) *user {
	f.with(sick)
	f.snapshot.At = f.snapshot.At.Add(-cooling)
	u := newUser(t, f, w, h).watch()
	f.bump(func() { recovered(&f.snapshot) })
	return u.watch()
}

func TestTheFindingsSayWhatIsWrongWhereAndWhatToDo(t *testing.T) {
	u := sickUser(t, newFake(48211), 120, 40)
	u.expect("8⚠Findings 4", "⚠ 3")
	u.press("8").expect(
		"×  quarantined", "×  handler-panics", "×  index-errors", "✓  hot-key", "○  resync-storm", "1 of 5",
		"× error handler-panics deployment-controller", "3 panics in 50,000 calls", "next  Fix the handler",
	)
	u.press("G").expect("hot-key ns-1/web-00001", "argocd-controller↔keda-operator on", "over since 12:00:00")
}

// TestFindingsAreFilteredAndSorted: as every other table.
func TestFindingsAreFilteredAndSorted(t *testing.T) {
	u := sickUser(t, newFake(48211), 120, 40)
	u.press("8", "/").types("HOT").press("enter").expect("1 of 5 match HOT", "✓  hot-key")
	if strings.Contains(u.sees(), "handler-panics") {
		t.Errorf("the filter keeps what does not match:\n%s", u.sees())
	}
	u.press("esc").expect("handler-panics", "1 of 5")
	u.press("G").press("N").expect("✓ warning hot-key")
	u.press("/").types("nothing like it").press("enter").expect("no finding matches", "5 findings are there")
	u.press("esc").command("sort rule").press("g").expect("RULE▲", "1 of 5")
	rows := []string{}
	for _, l := range strings.Split(u.sees(), "\n") {
		for _, rule := range []string{"handler-panics", "hot-key", "index-errors", "quarantined", "resync-storm"} {
			if len(l) > 24 && strings.Contains(l[:min(len(l), 30)], rule) {
				rows = append(rows, rule)
			}
		}
	}
	if !slices.IsSorted(rows) || len(rows) != 5 {
		t.Errorf("rows by rule: %q\n%s", rows, u.sees())
	}
	u.press("O").expect("RULE▼")
}

func TestEnterShowsWhereAFindingIs(t *testing.T) {
	for name, c := range map[string]struct {
		f    findings.Finding
		want []string
	}{
		"handler":  {findings.Finding{Place: findings.PlaceHandlers, Subject: "audit"}, []string{"▸ audit", "drain: 8.2s"}},
		"resync":   {findings.Finding{Place: findings.PlaceResync, Subject: "audit"}, []string{"▸ audit", "GRANTED"}},
		"index":    {findings.Finding{Place: findings.PlaceIndices, Subject: "node"}, []string{"▸ node"}},
		"key":      {findings.Finding{Place: findings.PlaceStore, Subject: "ns-0/web-00000"}, []string{"kind: Pod"}},
		"store":    {findings.Finding{Place: findings.PlaceStore}, []string{"ns-0/web-00000"}},
		"queue":    {findings.Finding{Place: findings.PlaceQueue}, []string{"nothing waits"}},
		"requests": {findings.Finding{Place: findings.PlaceRequests}, []string{"WATCHLIST"}},
		"pipeline": {findings.Finding{Place: findings.PlacePipeline}, []string{"Reflector", "HandleDeltas"}},
	} {
		t.Run(name, func(t *testing.T) {
			u := newUser(t, newFake(900), 120, 40)
			c.f.Informer = "pods"
			u.finds(nil, c.f)
			u.press("8", "enter").expect(c.want...)
			if name == "key" {
				u.press("esc").expect("1 of 1") // back at the findings
			}
		})
	}
}

func TestEnterGoesToAnotherInformer(t *testing.T) {
	f := newFake(900)
	u := newUser(t, f, 120, 40)
	u.m.informer = "nodes" // as if that one were on screen
	u.finds(nil, findings.Finding{Rule: findings.HandlerStuck, Informer: "pods", Place: findings.PlaceHandlers, Subject: "deployment-controller"})
	u.press("8", "enter").expect("▸ deployment-controller", "pods · all namespaces")
	if u.m.current != screenHandlers {
		t.Errorf("screen %d is shown", u.m.current)
	}
}

func TestNothingWrongSaysWhatIsLookedFor(t *testing.T) {
	f := newFake(20).with(func(s *inspect.Snapshot) { s.Listeners = s.Listeners[:2] })
	u := newUser(t, f, 120, 40).press("8")
	if u.m.lookout.looked {
		t.Fatal("looked already")
	}
	u.watch().expect("nothing is wrong", "growing-backlog", "a handler given more than it can work off", "8 Findings 0")
}

func TestAFrozenViewKeepsItsFindings(t *testing.T) {
	f := newFake(900)
	u := sickUser(t, f, 120, 40).press("8", "f")
	before := u.sees()
	f.bump(func() { f.snapshot.Indices, f.snapshot.At = nil, f.snapshot.At.Add(time.Minute) })
	if u.watch(); u.sees() != before {
		t.Errorf("the view has changed:\n%s", u.sees())
	}
}

func TestFindingsOfAnotherSourceAreNotShown(t *testing.T) {
	u := newUser(t, newFake(900), 120, 40)
	u.watch()
	before := u.m.lookout.going()
	u.m.Update(findingsMsg{source: &source{}, found: []findings.Finding{{Rule: "r"}}})
	if u.m.lookout.going() != before {
		t.Error("shown")
	}
	late := u.m.lookOut(0)()
	u.m.source = &source{process: newFake(3).with(lonely)} // another cluster
	u.m.begin()
	u.m.Update(late) // what was under way comes too late
	if u.m.lookout.looked || u.m.lookout.going() > 0 {
		t.Error("shown after a switch")
	}
	u.watch()
	if got := u.m.lookout.going(); got != 0 {
		t.Errorf("%d findings, want none of the cluster before", got)
	}
}

func TestAProcessThatDoesNotAnswerSaysSo(t *testing.T) {
	u := newUser(t, newFake(900), 120, 40)
	u.finds(errors.New("connection \x1b[31mrefused"))
	u.press("8").expect("no answer", "refused")
}

func TestTheRulesLookOnceAHeartbeatAndEndWithTheExplorer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		f := newFake(900)
		m := NewModel(ctx, Options{Process: f, Keymap: defaultKeymap(t)})
		look := func(cmd tea.Cmd) (tea.Msg, time.Duration) {
			start := time.Now()
			msg := cmd()
			return msg, time.Since(start)
		}
		msg, took := look(m.lookOut(0))
		if took != 0 {
			t.Errorf("the first look took %v", took)
		}
		for range 3 {
			next := m.takeFindings(msg.(findingsMsg))
			if msg, took = look(next); took != heartbeat {
				t.Errorf("a look after %v, want after %v", took, heartbeat)
			}
		}
		last := m.lookOut(time.Hour)
		time.AfterFunc(time.Second, cancel)
		if msg, took := look(last); msg != nil || took != time.Second {
			t.Errorf("%v after %v, want to end with the explorer", msg, took)
		}
	})
}

func TestFindingsThatLookTheSameAreNotDrawnAgain(t *testing.T) {
	f := newFake(900)
	u := sickUser(t, f, 120, 40)
	u.m.content = "as it was"
	f.bump(func() { f.snapshot.At = f.snapshot.At.Add(time.Second) })
	if u.watch(); u.m.content != "as it was" {
		t.Error("drawn again for new ages on another screen")
	}
	f.bump(func() { f.snapshot.Indices = nil })
	if u.watch(); u.m.content == "as it was" {
		t.Error("a finding that is over is not drawn")
	}
}

func TestNothingIsSaidToBeRightBeforeAnythingIsKnown(t *testing.T) {
	f := newFake(0).with(func(s *inspect.Snapshot) {
		s.Informer.Synced, s.Listeners = false, nil
		s.Reflector.Phase, s.Reflector.Error, s.Reflector.Failures = inspect.PhaseBackingOff, "list pods: connection refused", 1
	})
	u := newUser(t, f, 120, 40).watch().press("8")
	u.expect("nothing can be said yet", "pods is not synced, backing off: list pods: connection refused")
	if strings.Contains(u.sees(), "nothing is wrong") {
		t.Errorf("it says that nothing is wrong:\n%s", u.sees())
	}
}

func TestTheMarksAreThoseOfTheFindings(t *testing.T) {
	// A handler that will lose is marked nowhere before that is found.
	f := newFake(500)
	u := newUser(t, f, 120, 40)
	storm := findings.Finding{Rule: findings.ResyncStorm, Informer: "pods", Severity: findings.Warning, Place: findings.PlaceResync, Subject: "audit", Since: epoch, At: epoch}
	other := storm
	other.Informer, other.Place = "nodes", findings.PlaceHandlers
	over := storm
	over.Place, over.Ended = findings.PlaceQueue, epoch
	info := storm
	info.Place, info.Severity = findings.PlaceStore, findings.Info
	u.finds(nil, storm, other, over, info)
	u.press("2")
	tabs := strings.Split(u.sees(), "\n")[1]
	for _, want := range []string{"2 Queue 0   ", "3 Store 500   ", "5 Handlers 3   ", "6⚠Resync 12s", "8⚠Findings 3"} {
		if !strings.Contains(tabs, want) {
			t.Errorf("%q is not in %q", want, tabs)
		}
	}
	u.expect("⚠ 2 findings")
	row := func(name string) string {
		u.press("5")
		return u.line(name)
	}
	if row, other := row("audit"), row("deployment-controller"); !strings.Contains(row, "⚠") || strings.Contains(other, "⚠") {
		t.Errorf("the handler that something was found of is not the one that is marked:\n%s\n%s", row, other)
	}
	newUser(t, f, 60, 16).watch().press("?").press("G").expect("at the top right")
}

// TestTheNumberInTheHeaderSaysWhatItCounts where nothing has to go for it.
func TestTheNumberInTheHeaderSaysWhatItCounts(t *testing.T) {
	f := newFake(500)
	found := findings.Finding{Rule: findings.ResyncStorm, Informer: "pods", Severity: findings.Warning, Place: findings.PlaceResync, Subject: "audit", Since: epoch, At: epoch}
	header := func(w int, found ...findings.Finding) string {
		u := newUser(t, f, w, 30)
		u.finds(nil, found...)
		return strings.Split(u.sees(), "\n")[0]
	}
	for _, w := range []int{140, 200} {
		none, one := header(w), header(w, found)
		if !strings.Contains(one, "⚠ 1 finding ") || strings.Index(none, "ev/s") != strings.Index(one, "ev/s") {
			t.Errorf("at %d columns, without and with one:\n%s\n%s", w, none, one)
		}
	}
	for w := 60; w < 200; w++ {
		narrow := header(w, found)
		if !strings.Contains(narrow, "⚠ 1") {
			t.Errorf("at %d columns: %s", w, narrow)
		}
		if strings.Contains(narrow, "finding") && !strings.Contains(narrow, "rv ") {
			t.Errorf("at %d columns something has gone for words: %s", w, narrow)
		}
	}
}
