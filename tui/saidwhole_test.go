package tui

import (
	"strings"
	"testing"
	"time"

	"github.com/informeter/informeter/engine/inspect"
)

// TestWhatIsWrongIsSaidWhole: the way out is at the end of an error or, where a
// command was meant, at its beginning.
func TestWhatIsWrongIsSaidWhole(t *testing.T) {
	u, d := withDoor(t, 120, 36)
	d.opens = func() (Opened, error) {
		return Opened{}, errorString(`the server has no resource type "qeue"; near it are: ` + strings.Repeat("replicasets.apps, ", 12) + "nodes: the last word")
	}
	u.command("qeue").expect("✗ did you mean the command queue? Else: the server", "nodes: the last word", ":qeue")
	u.press("esc")
	u.m.fail(errorString(strings.Repeat("a word ", 30) + "the end"))
	u.m.dirty = true
	u.look()
	u.expect("the end")
}

type errorString string

func (e errorString) Error() string { return string(e) }

// TestALimitedGateIsInSightEverywhere, not only on the Queue screen.
func TestALimitedGateIsInSightEverywhere(t *testing.T) {
	f := newFake(30).with(func(s *inspect.Snapshot) { s.Queue.Gate = inspect.Gate{Mode: inspect.GateLimited, Rate: 2} })
	for _, w := range []int{60, 80, 120} {
		newUser(t, f, w, 24).press("3").expect("limited 2.0/s")
	}
}

// TestTheCausesThatThereWereComeFirst: where there is little room, too.
func TestTheCausesThatThereWereComeFirst(t *testing.T) {
	f := newFake(30).with(func(s *inspect.Snapshot) {
		s.Listeners[0].Causes = inspect.CauseCounts{Resync: 900, Watch: 90, Initial: 10}
	})
	u := newUser(t, f, 80, 24)
	u.press("5")
	u.m.screens[screenHandlers].(*handlersScreen).handlers.choose(f.snapshot.Listeners[0].Name)
	u.look()
	u.expect("resync", "90%", "initial")
	all := u.sees()
	if strings.Contains(all, "late join") || strings.Contains(all, "relist") {
		t.Errorf("causes that there were none of are shown:\n%s", all)
	}
	if strings.Index(all, "900") > strings.Index(all, " 90 ") {
		t.Errorf("the most frequent cause is not the first:\n%s", all)
	}
}

// TestTheVerdictOnARequestIsLegible also where the time line takes room, and the
// error below has none of the URL that was asked.
func TestTheVerdictOnARequestIsLegible(t *testing.T) {
	f := newFake(30)
	f.requests = []inspect.Request{
		{ID: 2, Verb: inspect.VerbWatchList, Started: epoch.Add(-time.Minute), Marked: epoch.Add(-50 * time.Second), Outcome: inspect.OutcomeOpen},
		{
			ID: 1, Verb: inspect.VerbWatchList, Started: epoch.Add(-2 * time.Minute), Ended: epoch.Add(-time.Minute), Outcome: inspect.OutcomeFailed,
			Error: `Get "https://10.0.0.1:6443/api/v1/namespaces/shop/pods?resourceVersionMatch=NotOlderThan&watch=true": dial tcp 10.0.0.1:6443: connect: connection refused`,
		},
	}
	u := newUser(t, f, 100, 30)
	u.press("7").expect("● open, watching", "AGO")
	u.press("j").expect("dial tcp", "connection refused")
	if strings.Contains(u.sees(), "NotOlderThan&") {
		t.Errorf("the URL takes the room:\n%s", u.sees())
	}
}
