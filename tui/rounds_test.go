package tui

import (
	"math"
	"strings"
	"testing"
	"time"

	"github.com/charmbracelet/x/ansi"

	"github.com/informeter/informeter/engine/inspect"
)

func TestARoundIsShownAsFarAsItHasCome(t *testing.T) {
	f := newFake(500).with(func(s *inspect.Snapshot) {
		s.Resync.Last, s.Resync.LastObjects = epoch.Add(-19*time.Second), 500
		s.Listeners[2].LastRound = &inspect.Round{Began: epoch.Add(-18 * time.Second), Ended: epoch.Add(-3 * time.Second), Objects: 120, Work: 14 * time.Second}
	})
	u := newUser(t, f, 200, 40).press("6")
	u.expect("120 of 500     14s     15s", "under way", "120 of 500 objects so far, 14s of work, began 18s ago")
	f.with(func(s *inspect.Snapshot) { s.Listeners[2].LastRound.Objects = 500 })
	u.look()
	u.expect("500     14s     15s", "began 18s ago")
	if strings.Contains(u.sees(), "under way") {
		t.Error("a round that is over is said to be under way")
	}
	// A newer one is due that it has not begun.
	f.with(func(s *inspect.Snapshot) { s.Listeners[2].NextResync = epoch.Add(25 * time.Second) })
	u.look()
	if l := u.line("the next round waits already"); l == "" || strings.Contains(l, "⚠") {
		t.Errorf("marked, though nothing has been found of it: %q", l)
	}
	f.with(func(s *inspect.Snapshot) { s.Listeners[2].LastRound = nil })
	u.look()
	u.expect("there was none yet")
}

func TestTheNextRoundsStandOnOneScale(t *testing.T) {
	s := &inspect.Snapshot{At: epoch, Listeners: []inspect.ListenerVitals{
		{Name: "often", ResyncGranted: 15 * time.Second, NextResync: epoch.Add(15 * time.Second)},
		{Name: "overdue", ResyncGranted: time.Minute, NextResync: epoch.Add(-time.Second)},
		{Name: "never"},
		{Name: "seldom", ResyncGranted: 24 * time.Hour, NextResync: epoch.Add(2 * time.Minute)},
		{Name: "restless", ResyncGranted: 1, NextResync: epoch},
		{Name: "once", ResyncGranted: math.MaxInt64, NextResync: epoch.Add(time.Minute)},
	}}
	due := []*inspect.ListenerVitals{&s.Listeners[0], &s.Listeners[1], &s.Listeners[3], &s.Listeners[4], &s.Listeners[5]}
	marks := map[string]string{}
	for _, l := range comingLines(newTheme(false), s, due, 68) {
		name, scale, _ := strings.Cut(strings.TrimSpace(ansi.Strip(l)), " ")
		marks[name] = strings.TrimSpace(scale)
	}
	for name, want := range map[string]string{
		"often": "·····▲····▲····▲····▲····▲····▲····▲···▲", "overdue": "▲···················▲··················▲",
		"seldom": "·······································▲", "restless": strings.Repeat("▲", 40),
		"once": "····················▲···················",
	} {
		if got := marks[name]; got != want {
			t.Errorf("%s: %s, want %s", name, got, want)
		}
	}
}
