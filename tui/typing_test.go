package tui

import (
	"slices"
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"
	"pgregory.net/rapid"
)

func TestTabCompletes(t *testing.T) {
	u, _ := withDoor(t, 120, 30)
	type step struct{ types, press, line string }
	for name, steps := range map[string][]step{
		"a command":            {{"han", "tab", "handler"}, {" a", "tab", "handler add "}},
		"all they have":        {{"po", "tab", "pod"}, {"", "tab", "pods"}, {"", "tab", "podtemplates"}, {"", "shift+tab", "pods"}},
		"one":                  {{"podt", "tab", "podtemplates "}, {"-", "tab", "podtemplates -n"}},
		"a namespace":          {{"pods -n k", "tab", "pods -n kube-"}, {"s", "tab", "pods -n kube-system "}},
		"a context":            {{"ctx t", "tab", "ctx test "}},
		"a handler":            {{"resync au", "tab", "resync audit "}},
		"the second word":      {{"resync n", "tab", "resync now "}},
		"an index":             {{"verify n", "tab", "verify namespace"}, {"", "tab", "verify node"}},
		"nothing":              {{"xyzzy", "tab", "xyzzy"}},
		"nothing of an answer": {{"step ", "tab", "step "}},
	} {
		t.Run(name, func(t *testing.T) {
			u.press(":")
			for _, s := range steps {
				u.types(s.types).press(s.press)
				if got := u.m.prompt.input.Value(); got != s.line {
					t.Errorf("after %q and %s the line is %q, want %q", s.types, s.press, got, s.line)
				}
			}
			u.press("esc")
		})
	}
	u.press(":").types("po").expect("pods  podtemplates")
	u.press("esc", ":").types("index add ").expect(":index add NAME=EXPR", "label:KEY")
}

func TestLinesComeBack(t *testing.T) {
	u := newUser(t, newFake(30), 120, 30)
	var kept []string
	u.m.options.Remember = func(line string) { kept = append(kept, line) }
	u.command("pause").command("resume").command("rate ten").press("esc").command("pause")
	u.press(":").types("dra").press("up").expect(":pause")
	u.press("up").expect(":rate ten").press("up").expect(":resume")
	u.press("up", "up").expect(":resume")
	u.press("down", "down", "down").expect(":dra")
	u.press("down", "esc")
	if want := []string{"pause", "resume", "rate ten", "pause"}; !slices.Equal(kept, want) {
		t.Errorf("kept %q, want %q", kept, want)
	}
	u.m = NewModel(t.Context(), Options{Process: newFake(3), Keymap: defaultKeymap(t), History: []string{"one", "two"}})
	u.send(tea.WindowSizeMsg{Width: 100, Height: 30})
	u.press(":", "up", "up").expect(":one")
}

func TestPastedTextIsOneVisibleLine(t *testing.T) {
	u := newUser(t, newFake(300), 100, 24)
	u.press("3", "/")
	u.send(tea.PasteMsg{Content: "\x1b[31m0029\u202e\u200b\x009\r\n"})
	if got := u.m.prompt.input.Value(); got != "[31m00299" {
		t.Errorf("the line is %q", got)
	}
	u.press("esc", "/")
	u.send(tea.PasteMsg{Content: "a\tb\nc 世"})
	if got := u.m.prompt.input.Value(); got != "a b c 世" {
		t.Errorf("the line is %q", got)
	}
}

func TestAFilterThatDoesNotParseLeavesTheOldOne(t *testing.T) {
	u := newUser(t, newFake(300), 100, 24)
	u.press("3", "/").types("0010").press("enter", "/", "ctrl+u").types("/[/").expect("missing closing ]: `[`", "of 300 ")
	u.press("enter").expect("missing closing ]") // it stays to be corrected
	u.press("backspace").types("1]/").expect("match /[1]/")
	u.press("enter", "/").types("x[").press("esc").expect("match /[1]/")
}

func TestALongFilterLeavesRoomForTheKeys(t *testing.T) {
	u := newUser(t, newFake(300), 80, 24)
	u.press("3", "/").types("!"+strings.Repeat("x", 60)).press("enter").expect("? help", "300 of 300 match !xxx")
}

// TestAnyCommandLineIsAnswered: whatever is typed, something is said or done, and
// the candidates can be gone through.
func TestAnyCommandLineIsAnswered(t *testing.T) {
	u, _ := withDoor(t, 80, 24)
	words := append(commandNames(), "add", "now", "remove", "x=y", "5s", "10", "-n", `"`, "audit", "node", "  ", "世界", "'a b'", "=", "-A")
	rapid.Check(t, func(t *rapid.T) {
		u.m.options.Opener.(*door).closed = nil
		line := strings.Join(rapid.SliceOfN(rapid.OneOf(rapid.SampledFrom(words), rapid.String()), 0, 5).Draw(t, "words"), " ")
		if first, _, _ := strings.Cut(strings.TrimSpace(line), " "); strings.Contains(line, "save") || first == "quit" || first == "q" {
			t.Skip()
		}
		u.m.prompt, u.m.overlay = nil, nil
		u.press(":")
		u.m.prompt.set(typeable(line))
		for range 3 {
			u.press(rapid.SampledFrom([]string{"tab", "shift+tab", "up", "down", "backspace", "left"}).Draw(t, "key"))
			if err := checkScreen(u.m.View().Content, 80, 24); err != nil {
				t.Fatalf("%q: %v", line, err)
			}
			if p := u.m.prompt; p != nil && len(p.input.Value()) > 3*typedLimit {
				t.Fatalf("%q has grown to %d bytes", line, len(p.input.Value()))
			}
		}
		u.m.prompt.set(typeable(line))
		u.press("enter")
		if err := checkScreen(u.m.View().Content, 80, 24); err != nil {
			t.Fatalf("%q: %v", line, err)
		}
		if f := u.m.prompt; f != nil && f.fault != nil {
			if text := f.input.Value(); f.fault.from > f.fault.to || f.fault.to > len(text) {
				t.Fatalf("%q is wrong at %d to %d", text, f.fault.from, f.fault.to)
			}
		}
	})
}

// TestTheCursorStandsWhereIsTyped: also in text that is longer than the line.
func TestTheCursorStandsWhereIsTyped(t *testing.T) {
	u := newUser(t, newFake(3), 60, 16)
	u.press(":").types(strings.Repeat("世界", 60) + "end")
	cursor := u.m.View().Cursor
	if cursor == nil || cursor.Y != 15 || cursor.X < 55 || cursor.X > 59 {
		t.Fatalf("the cursor is at %+v", cursor)
	}
	lines := strings.Split(u.sees(), "\n")
	if !strings.Contains(lines[15], "世界end") {
		t.Errorf("the end is not in sight: %q", lines[15])
	}
	u.press("home")
	if cursor := u.m.View().Cursor; cursor.X != 2 {
		t.Errorf("at the beginning the cursor is at %d", cursor.X)
	}
}
