package tui

import (
	"strings"
	"testing"
	"time"

	"github.com/informeter/informeter/engine/inspect"
)

func TestARoundThatOutlastsItsPeriodIsAWarning(t *testing.T) {
	for _, c := range []struct {
		objects int
		share   string
		warned  bool
	}{{48211, "320%", true}, {5010, "33%", false}} {
		f := newFake(1)
		f.snapshot.Store.Objects = c.objects
		u := newUser(t, f, 120, 30)
		u.press("6")
		row := u.marked()
		if !strings.Contains(row, c.share) || strings.Contains(row, "⚠") != c.warned || strings.Contains(u.sees(), "6 Resync ⚠") != c.warned {
			t.Errorf("%d objects: %s", c.objects, u.sees())
		}
		if full := strings.Count(row, "█") == resyncBar; full != c.warned {
			t.Errorf("%d objects: the bar is full: %v", c.objects, full)
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

// TestResyncColumnsGoInOrder narrows the table.
func TestResyncColumnsGoInOrder(t *testing.T) {
	p := newResyncScreen(nil)
	gone := []string{"OF ITS PERIOD", "SKIPPED", "SEEN", "ASKED"}
	dropped := 0
	for w := 140; w >= leastWidth; w-- {
		p.w = w
		header := p.grid().header(newTheme(true))
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
