package tui

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/informeter/informeter/engine/inspect"
)

func TestARequestsErrorIsShownWhole(t *testing.T) {
	words := make([]string, 40)
	for i := range words {
		words[i] = fmt.Sprintf("cause%02d", i)
	}
	f := refused()
	f.requests[0].Error = strings.Join(words, ": ")
	u := newUser(t, f, 80, 24)
	u.press("7")
	for _, w := range words {
		if !strings.Contains(u.sees(), w) {
			t.Fatalf("%s is not on the screen:\n%s", w, u.sees())
		}
	}
}

func TestASelectedRequestStaysWhileNewOnesCome(t *testing.T) {
	f := newFake(20).requested(40)
	u := newUser(t, f, 120, 30)
	u.press("7", "j", "j", "j")
	was := u.line("LIST no. 37")
	if was == "" {
		t.Fatalf("the fourth request is not shown:\n%s", u.sees())
	}
	newer := inspect.Request{ID: 41, Verb: inspect.VerbWatch, Started: epoch, Outcome: inspect.OutcomeOpen}
	f.bump(func() { f.requests = append([]inspect.Request{newer}, f.requests...) })
	u.look()
	if u.line("LIST no. 37") != was || u.line("5 of 41") == "" {
		t.Errorf("another request is selected:\n%s", u.sees())
	}
	u.press("g")
	if u.line("WATCH no. 41") == "" {
		t.Errorf("the newest request is not shown:\n%s", u.sees())
	}
}

func TestRequestsAreReadOnlyWhereTheyAreShown(t *testing.T) {
	u := newUser(t, newFake(20), 120, 30)
	for key, want := range map[string]bool{"1": false, "7": true, "3": false} {
		u.press(key)
		if got := u.m.request().requests; got != want {
			t.Errorf("screen %s asks for requests: %v", key, got)
		}
	}
}

func TestAnAttemptToComeCountsDown(t *testing.T) {
	f := refused()
	u := newUser(t, f, 120, 30)
	u.press("7")
	for _, want := range []string{"attempt 4 failed, next in 3.2s", "retry in 3.2s", "retry after 2.0s"} {
		if u.line(want) == "" {
			t.Errorf("%q is not said:\n%s", want, u.sees())
		}
	}
	f.bump(func() { f.snapshot.At = epoch.Add(3 * time.Second) })
	u.look()
	for _, want := range []string{"next in 200ms", "retry in 200ms"} {
		if u.line(want) == "" {
			t.Errorf("three seconds later %q is not said:\n%s", want, u.sees())
		}
	}
}

// TestOutcomesReadWithoutColour: each outcome has a word of its own, and a mark
// that sets apart what went well, what ended and what went wrong.
func TestOutcomesReadWithoutColour(t *testing.T) {
	theme := newTheme(true)
	for outcome, want := range map[inspect.Outcome]string{
		inspect.OutcomeOpen: "●", inspect.OutcomeOK: "✓", inspect.OutcomeClosed: "○", inspect.OutcomeStopped: "○",
		inspect.OutcomeRefused: "×", inspect.OutcomeExpired: "⚠", inspect.OutcomeTooNew: "⚠", inspect.OutcomeFailed: "⚠",
	} {
		if glyph, _ := outcomeMark(theme, &inspect.Request{Outcome: outcome, Ended: epoch}); glyph != want {
			t.Errorf("%s is marked %s, want %s", outcome, glyph, want)
		}
	}
	if glyph, _ := outcomeMark(theme, &inspect.Request{Verb: inspect.VerbWatchList, Outcome: inspect.OutcomeOK}); glyph != "●" {
		t.Errorf("a watch-list that goes on as a watch is marked %s", glyph)
	}
}

func TestTheLongestRequestHasTheFullBar(t *testing.T) {
	f := newFake(20)
	f.requests = []inspect.Request{
		{ID: 2, Verb: inspect.VerbWatch, Started: epoch.Add(-100 * time.Second), Outcome: inspect.OutcomeOpen},
		{ID: 1, Verb: inspect.VerbList, Started: epoch.Add(-150 * time.Second), Ended: epoch.Add(-100 * time.Second), Lifetime: 50 * time.Second, Outcome: inspect.OutcomeOK},
	}
	u := newUser(t, f, 200, 30)
	u.press("7")
	bars := func(row string) int { return strings.Count(u.line(row), "█") }
	if bars("● open") != 12 || bars("✓ ok") != 6 || u.line("of 1m40s") == "" {
		t.Errorf("bars of %d and %d cells, want 12 and 6 on a scale to 1m40s:\n%s", bars("● open"), bars("✓ ok"), u.sees())
	}
}

// TestRequestColumnsGoInOrder narrows the table of requests.
func TestRequestColumnsGoInOrder(t *testing.T) {
	p := newRequestsScreen(nil)
	gone := []string{"of 0s", "MATCH", "BOOKMARKS", "PAGES", "RETURNED", "CODE", "ASKED RV", "LASTED"}
	dropped := 0
	for w := 180; w >= leastWidth; w-- {
		p.w = w
		header := p.grid().header(newTheme(true))
		for _, must := range []string{"VERB", "AGO", "ITEMS", "OUTCOME", "NEXT"} {
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
	if dropped < len(gone)-1 {
		t.Errorf("only %v went", gone[:dropped])
	}
}
