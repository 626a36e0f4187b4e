package tui

import (
	"context"
	"encoding/json"
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

// hostile are texts that a cluster may really hold, and some that it may not.
var hostile = []string{
	"", "plain", "kube-system/" + strings.Repeat("n", 253), "名前空間/ポッド-七", "e\u0301\u0301\u0301", "\x1b[2J\x1b[31mred",
	"a\nb\tc\rd", "user\u202etxt.exe", "👩\u200d👩\u200d👧/🇩🇪", "\xff\xfe", "\u0903start", "tab\there", strings.Repeat("ｗ", 60), "\x9b31m",
}

// wild fills an informer with anything.
func wild(t *rapid.T) *fake {
	text := rapid.OneOf(rapid.SampledFrom(hostile), rapid.String())
	count := rapid.OneOf(rapid.Uint64Range(0, 9), rapid.Uint64())
	span := rapid.OneOf(rapid.Just(int64(0)), rapid.Int64Range(-1e9, 1e19/2))
	f := newFake(rapid.IntRange(0, 40).Draw(t, "objects")).waiting(rapid.IntRange(0, 40).Draw(t, "waiting"))
	s := &f.snapshot
	for i := range f.rows {
		if rapid.Bool().Draw(t, "odd key") {
			f.rows[i].Key = text.Draw(t, "key")
			f.rows[i].ResourceVersion = text.Draw(t, "rv")
			f.rows[i].Updates = count.Draw(t, "updates")
			f.rows[i].Waiting = int(count.Draw(t, "waiting") >> 1)
			f.rows[i].Changed = epoch.Add(time.Duration(span.Draw(t, "changed")))
		}
	}
	for i := range f.queue {
		f.queue[i].Key = text.Draw(t, "queued")
		f.queue[i].Age = time.Duration(span.Draw(t, "age"))
	}
	for i := range s.Listeners {
		l := &s.Listeners[i]
		l.Name, l.CurrentKey, l.LastPanic = text.Draw(t, "handler"), text.Draw(t, "current"), text.Draw(t, "panic")
		l.Pending, l.Delivered, l.Panics = count.Draw(t, "pending"), count.Draw(t, "delivered"), count.Draw(t, "panics")
		l.Behind, l.Drain, l.InHandler = time.Duration(span.Draw(t, "behind")), time.Duration(span.Draw(t, "drain")), time.Duration(span.Draw(t, "in handler"))
		l.BusyRate = rapid.Float64Range(0, 1e9).Draw(t, "busy")
		l.ResyncAsked, l.ResyncGranted, l.ResyncSkipped = time.Duration(span.Draw(t, "asked")), time.Duration(span.Draw(t, "granted")), count.Draw(t, "skipped")
		l.NextResync = epoch.Add(time.Duration(span.Draw(t, "due")))
		l.Synced = rapid.Bool().Draw(t, "synced")
		l.InitialDelivered, l.InitialTotal = count.Draw(t, "delivered"), count.Draw(t, "total")
	}
	if rapid.Bool().Draw(t, "hot") {
		s.Hot = []inspect.HotKey{{
			Key: text.Draw(t, "hot key"), Rate: rapid.Float64Range(0, 1e9).Draw(t, "hot rate"), Updates: count.Draw(t, "hot updates"), Turns: 9,
			Writers: []string{text.Draw(t, "writer"), text.Draw(t, "writer")}, Paths: []string{text.Draw(t, "path")},
		}}
		s.Identities = []inspect.IdentityChange{{Key: text.Draw(t, "renewed"), From: text.Draw(t, "uid"), To: text.Draw(t, "uid"), At: epoch}}
	}
	if rapid.Bool().Draw(t, "set aside") {
		s.Quarantine = []inspect.Quarantined{{Key: text.Draw(t, "bad key"), Stage: text.Draw(t, "stage"), Error: text.Draw(t, "bad"), Times: count.Draw(t, "times")}}
	}
	if rapid.Bool().Draw(t, "lived") && len(f.rows) > 0 {
		f.lived()
		for i := range f.lives[0].Events {
			e := &f.lives[0].Events[i]
			e.Type, e.Writer, e.UID, e.Skipped = text.Draw(t, "type"), text.Draw(t, "writer"), text.Draw(t, "uid"), text.Draw(t, "why")
			e.Changed, e.Version = []string{text.Draw(t, "path"), text.Draw(t, "path")}, count.Draw(t, "version")
			e.Waited, e.At = time.Duration(span.Draw(t, "waited")), epoch.Add(time.Duration(span.Draw(t, "at")))
			for d := range e.Deliveries {
				e.Deliveries[d].Handler = text.Draw(t, "to")
			}
		}
		diff := inspect.Diff{Changes: []inspect.Change{
			{Path: text.Draw(t, "changed"), From: quote(text.Draw(t, "before")), To: quote(text.Draw(t, "after"))},
			{Path: text.Draw(t, "added"), To: json.RawMessage(text.Draw(t, "no JSON"))},
		}}
		f.diff = func(inspect.DiffRequest) (inspect.Diff, error) { return diff, nil }
		f.objects[f.rows[0].Key] = inspect.Object{Key: f.rows[0].Key, JSON: quote(text.Draw(t, "object")), Indices: []inspect.ObjectIndex{{Index: text.Draw(t, "index"), Values: []string{text.Draw(t, "in")}}}}
	}
	if rapid.Bool().Draw(t, "ordered") {
		f.ordered()
	}
	for i := range f.rows {
		f.rows[i].Writer, f.rows[i].Rate = text.Draw(t, "writer"), rapid.Float64Range(0, 1e9).Draw(t, "row rate")
		f.rows[i].Size, f.rows[i].NoOps, f.rows[i].Compared = int(count.Draw(t, "size")>>1), count.Draw(t, "no-ops"), count.Draw(t, "compared")
	}
	outcomes := []inspect.Outcome{inspect.OutcomeOpen, inspect.OutcomeOK, inspect.OutcomeExpired, inspect.OutcomeFailed, "unheard of"}
	for i := range rapid.IntRange(0, 30).Draw(t, "requests") {
		r := inspect.Request{
			ID: uint64(i), Verb: inspect.Verb(text.Draw(t, "verb")), Outcome: rapid.SampledFrom(outcomes).Draw(t, "outcome"),
			ResourceVersion: text.Draw(t, "asked"), Returned: text.Draw(t, "returned"), Match: text.Draw(t, "match"),
			Error: text.Draw(t, "request error"), Next: text.Draw(t, "next"), Code: rapid.IntRange(-1, 9999).Draw(t, "code"),
			Items: int(count.Draw(t, "items") >> 1), Lifetime: time.Duration(span.Draw(t, "lifetime")),
			Started: epoch.Add(-time.Duration(span.Draw(t, "started"))), NextAt: epoch.Add(time.Duration(span.Draw(t, "next at"))),
		}
		if rapid.Bool().Draw(t, "ended") {
			r.Ended = r.Started.Add(r.Lifetime)
		}
		f.requests = append(f.requests, r)
	}
	for i := range s.Indices {
		s.Indices[i].Largest, s.Indices[i].LastError = text.Draw(t, "largest"), text.Draw(t, "index error")
		s.Indices[i].Errors = count.Draw(t, "errors")
	}
	for name := range f.buckets {
		for i := range f.buckets[name] {
			f.buckets[name][i].Value = text.Draw(t, "value")
		}
	}
	s.Informer.Scope, s.Informer.Origin = text.Draw(t, "scope"), text.Draw(t, "origin")
	s.Informer.State = rapid.SampledFrom([]inspect.State{inspect.StateCreated, inspect.StateRunning, inspect.StateStopped}).Draw(t, "state")
	s.Informer.Synced = rapid.Bool().Draw(t, "store synced")
	s.Reflector.Phase = inspect.Phase(rapid.IntRange(0, 7).Draw(t, "phase"))
	s.Reflector.Error, s.Reflector.ErrorReason = text.Draw(t, "error"), text.Draw(t, "reason")
	s.Reflector.Received, s.Reflector.Expected = int(count.Draw(t, "received")>>1), rapid.IntRange(-1, 1000).Draw(t, "expected")
	s.Reflector.EventRate, s.Reflector.Updated = rapid.Float64Range(0, 1e12).Draw(t, "rate"), count.Draw(t, "updated")
	s.Queue.Gate = inspect.Gate{
		Mode:  rapid.SampledFrom([]inspect.GateMode{inspect.GateRunning, inspect.GatePaused, inspect.GateLimited}).Draw(t, "gate"),
		Steps: rapid.IntRange(0, 1000).Draw(t, "steps"),
	}
	s.Queue.BackPressure = rapid.Bool().Draw(t, "back-pressure")
	s.Lost.Journal = count.Draw(t, "lost")
	if rapid.Bool().Draw(t, "several") {
		f.others = append(f.others, inspect.Summary{Name: text.Draw(t, "other"), Scope: text.Draw(t, "scope"), Error: text.Draw(t, "error"), Slowest: text.Draw(t, "slowest"), SlowestPending: 3})
	}
	return f
}

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

// TestTabsNarrowInSteps: counts go before names, and neither the current name
// nor a warning goes.
func TestTabsNarrowInSteps(t *testing.T) {
	u := newUser(t, newFake(48211).waiting(31), 100, 20)
	tabs := func(w int) string {
		u.send(tea.WindowSizeMsg{Width: w, Height: 20})
		return strings.Split(u.sees(), "\n")[1]
	}
	for w, want := range map[int]string{
		120: "  1 Pipeline   2 Queue 148   3 Store 48,211   4 Indices 3 ⚠ 5 Handlers 3 ⚠ 6 Resync 12s ⚠ 7 Requests   8 Findings",
		100: "  1 Pipeline   2 Queue   3 Store   4 Indices 3 ⚠ 5 Handlers 3 ⚠ 6 Resync ⚠ 7 Requests   8 Findings",
		80:  " 1 Pipeline 2 Queue 3 Store 4 Indices⚠5 Handlers⚠6 Resync⚠7 Requests 8 Findings",
		78:  "  1 Pipeline   2   3   4 ⚠ 5 ⚠ 6 ⚠ 7   8",
		60:  "  1 Pipeline   2   3   4 ⚠ 5 ⚠ 6 ⚠ 7   8",
	} {
		if got := strings.TrimRight(tabs(w), " "); got != want {
			t.Errorf("at %d columns: %q, want %q", w, got, want)
		}
	}
}

// TestHandlerColumnsGoInOrder narrows the table of handlers.
func TestHandlerColumnsGoInOrder(t *testing.T) {
	h := newHandlerTable(&table{}, furthestBehind)
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

func quote(s string) json.RawMessage {
	text, err := json.Marshal(s)
	if err != nil {
		panic(err)
	}
	return text
}
