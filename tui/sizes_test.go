package tui

import (
	"context"
	"fmt"
	"regexp"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"
	"pgregory.net/rapid"

	"github.com/informeter/informeter/engine/inspect"
)

var colours = regexp.MustCompile(`\x1b\[[0-9;]*m`)

// checkScreen returns an error unless the screen has h lines of w cells, and
// nothing that a terminal would obey but colours.
func checkScreen(content string, w, h int) error {
	lines := strings.Split(content, "\n")
	if len(lines) != h {
		return fmt.Errorf("%d lines, want %d", len(lines), h)
	}
	for y, l := range lines {
		if got := ansi.StringWidth(l); got != w {
			return fmt.Errorf("line %d is %d cells wide, want %d: %q", y, got, w, l)
		}
		if at := colours.ReplaceAllString(l, ""); strings.ContainsFunc(at, func(r rune) bool { return r < ' ' || r >= 0x7f && r < 0xa0 || r == '\u202e' }) {
			return fmt.Errorf("line %d has a control character: %q", y, l)
		}
	}
	return nil
}

// TestEveryScreenFillsTheTerminal draws any state at any size, and does what a
// user might.
func TestEveryScreenFillsTheTerminal(t *testing.T) {
	keys := []string{
		"0", "1", "2", "3", "4", "5", "6", "7", "8", "j", "k", "g", "G", "h", "l", "pgup", "pgdown", "ctrl+d", "ctrl+u", "enter", "esc", "/", "o", "m", "n", "N",
		"d", "b", "y", "i", "w", "F", "v", "R", "p", "H", "L", "Z", "O", "<", ">", "+", "-", ":", ":", "c", "ctrl+s", "ctrl+k", "ctrl+a",
		"tab", "shift+tab", "?", "f", "r", "space", "s", "S", "x", "é", "[", "]",
	}
	keymap := defaultKeymap(t)
	t.Chdir(t.TempDir()) // what is saved, is saved there
	commands := append(commandNames(), "log", "help", "columns -rv", "sort size", "goto a", "uid u", "filter /[/", "verify node", "index add a=b", "世界 -n x")
	rapid.Check(t, func(t *rapid.T) {
		f := wild(t)
		w, h := rapid.IntRange(0, 210).Draw(t, "width"), rapid.IntRange(0, 70).Draw(t, "height")
		l := &logged{}
		m := NewModel(context.Background(), Options{
			Process: f, Keymap: keymap, ASCII: rapid.Bool().Draw(t, "ascii"), Log: l, Sentence: rapid.SampledFrom(hostile).Draw(t, "sentence"),
			Opener: &door{opens: func() (Opened, error) { return Opened{Process: f}, nil }},
		})
		u := &user{m: m}
		u.send(tea.WindowSizeMsg{Width: w, Height: h})
		u.look()
		check := func(after string) {
			if w == 0 || h == 0 {
				return
			}
			if err := checkScreen(u.m.View().Content, w, h); err != nil {
				t.Fatalf("after %s at %dx%d: %v", after, w, h, err)
			}
		}
		check("the start")
		for range rapid.IntRange(0, 25).Draw(t, "actions") {
			switch rapid.IntRange(0, 9).Draw(t, "action") {
			case 0:
				w, h = rapid.IntRange(0, 210).Draw(t, "width"), rapid.IntRange(0, 70).Draw(t, "height")
				u.send(tea.WindowSizeMsg{Width: w, Height: h})
				check("a resize")
			case 1:
				u.send(tea.MouseClickMsg{X: rapid.IntRange(0, 210).Draw(t, "x"), Y: rapid.IntRange(0, 70).Draw(t, "y"), Button: tea.MouseLeft})
				check("a click")
			case 2:
				u.send(tea.MouseWheelMsg{Button: rapid.SampledFrom([]tea.MouseButton{tea.MouseWheelUp, tea.MouseWheelDown}).Draw(t, "wheel")})
				check("a turn of the wheel")
			case 4:
				line := rapid.SampledFrom(commands).Draw(t, "command")
				if u.m.askCommand(line); line != "quit" {
					enter, _ := keyNamed("enter")
					u.send(enter)
				}
				check(":" + line)
			case 5:
				u.send(tea.PasteMsg{Content: rapid.SampledFrom(hostile).Draw(t, "pasted")})
				check("a paste")
			case 6:
				l.lines = append(l.lines, rapid.SampledFrom(hostile).Draw(t, "logged"))
				check("a line of the log")
			case 3:
				f.bump(func() { f.snapshot.At = f.snapshot.At.Add(time.Second) })
				u.look()
				u.m.Update(u.m.lookOut(0)()) // what follows waits for a heartbeat
				check("a second")
			default:
				key := rapid.SampledFrom(keys).Draw(t, "key")
				msg, _ := keyNamed(key)
				u.send(msg)
				check(key)
			}
		}
	})
}

// TestLayoutsCoverTheTerminal: the parts lie one under the other and fill it.
func TestLayoutsCoverTheTerminal(t *testing.T) {
	for _, c := range []struct {
		w, h, body, panes int
		tooSmall          bool
	}{
		{40, 10, 7, 1, true},
		{59, 16, 13, 1, true},
		{60, 15, 12, 1, true},
		{60, 16, 13, 1, false},
		{80, 20, 17, 1, false},
		{80, 24, 20, 1, false},
		{99, 24, 20, 1, false},
		{100, 24, 20, 2, false},
		{100, 30, 25, 2, false},
		{159, 40, 35, 2, false},
		{160, 40, 35, 3, false},
	} {
		l := newLayout(c.w, c.h)
		if l.body.h != c.body || l.tooSmall != c.tooSmall || panes(c.w) != c.panes {
			t.Errorf("%dx%d: body %d, too small %v, %d panes; want %d, %v, %d", c.w, c.h, l.body.h, l.tooSmall, panes(c.w), c.body, c.tooSmall, c.panes)
		}
		if l.footer.y != c.h-1 || l.body.y+l.body.h != l.footer.y || l.body.y < l.tabs.y+1 {
			t.Errorf("%dx%d: the parts do not lie under each other: %+v", c.w, c.h, l)
		}
	}
}

// TestTheHeaderKeepsWhatMatters narrows the terminal until it is too small.
func TestTheHeaderKeepsWhatMatters(t *testing.T) {
	f := newFake(48211).with(paused).with(func(s *inspect.Snapshot) { s.Lost.Journal = 12 })
	gone := []string{"DeltaFIFO", "prod-eu/admin", "ev/s", "rv 184467"}
	dropped := 0
	for w := 130; w >= leastWidth; w-- {
		u := newUser(t, f, w, 20)
		header, _, _ := strings.Cut(u.sees(), "\n")
		for _, must := range []string{"pods", "PAUSED", "lost 12", "● watching", "⚠ 2"} {
			if !strings.Contains(header, must) {
				t.Errorf("at %d columns the header has lost %q: %s", w, must, header)
			}
		}
		for i, s := range gone {
			if !strings.Contains(header, s) {
				if i > dropped {
					t.Errorf("at %d columns %q is gone before %q: %s", w, s, gone[dropped], header)
				}
				dropped = max(dropped, i+1)
			}
		}
	}
	if dropped != len(gone) {
		t.Errorf("only %v went", gone[:dropped])
	}
}

// TestTabsNarrowInSteps: a mark is within its own tab, counts go before names,
// those are cut before they go, and neither the current name nor a warning goes.
func TestTabsNarrowInSteps(t *testing.T) {
	u := newUser(t, newFake(48211).waiting(31), 100, 20)
	tabs := func(w int) string {
		u.send(tea.WindowSizeMsg{Width: w, Height: 20})
		return strings.Split(u.sees(), "\n")[1]
	}
	for w, want := range map[int]string{
		120: "  1 Pipeline   2 Queue 148   3 Store 48,211   4⚠Indices 3   5⚠Handlers 3   6⚠Resync 12s   7 Requests   8 Findings",
		100: "  1 Pipeline   2 Queue   3 Store   4⚠Indices 3   5⚠Handlers 3   6⚠Resync   7 Requests   8 Findings",
		80:  " 1 Pipeline 2 Queue 3 Store 4⚠Indices 5⚠Handlers 6⚠Resync 7 Requests 8 Findings",
		78:  " 1 Pipeline 2 Queue 3 Store 4⚠Indices 5⚠Handle… 6⚠Resync 7 Reques… 8 Findin…",
		70:  " 1 Pipeline 2 Queue 3 Store 4⚠Indi… 5⚠Hand… 6⚠Resy… 7 Requ… 8 Find…",
		66:  "  1 Pipeline   2   3   4⚠  5⚠  6⚠  7   8",
		60:  "  1 Pipeline   2   3   4⚠  5⚠  6⚠  7   8",
	} {
		if got := strings.TrimRight(tabs(w), " "); got != want {
			t.Errorf("at %d columns: %q, want %q", w, got, want)
		}
	}
}

// TestHandlerColumnsGoInOrder narrows the table of handlers.
func TestHandlerColumnsGoInOrder(t *testing.T) {
	h := newHandlerTable(&table{noRoom: map[string]bool{}}, furthestBehind)
	gone := []string{"ASKED GRANTED SEEN", "CAUSES", "p50", "RATE/s", "p99"}
	dropped := 0
	for w := 130; w >= leastWidth; w-- {
		header := h.table.grid(w, h.columns()).header(newTheme(true))
		for _, must := range []string{"HANDLER", "PENDING", "BEHIND", "SYNC"} {
			if !strings.Contains(header, must) {
				t.Errorf("at %d columns %s is gone", w, must)
			}
		}
		for i, group := range gone {
			for _, title := range strings.Fields(group) {
				if strings.Contains(header, title) != (i >= dropped) && strings.Contains(header, title) {
					t.Errorf("at %d columns %s is there and %s was gone", w, title, gone[dropped-1])
				}
				if !strings.Contains(header, title) {
					if i > dropped {
						t.Errorf("at %d columns %s is gone before %s", w, title, gone[dropped])
					}
					dropped = max(dropped, i+1)
				}
			}
		}
	}
	if dropped != len(gone) {
		t.Errorf("only %v went", gone[:dropped])
	}
}
