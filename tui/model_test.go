package tui

import (
	"context"
	"os"
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"
)

func defaultKeymap(tb testing.TB) *Keymap {
	tb.Helper()
	text, err := os.ReadFile("../keymap.yaml")
	if err != nil {
		tb.Fatal(err)
	}
	k, err := ParseKeymap(text, nil, "")
	if err != nil {
		tb.Fatal(err)
	}
	return k
}

// user is somebody in front of the explorer, without a terminal: what is asked
// for is read at once, what follows by itself only on look.
type user struct {
	tb    testing.TB
	m     *Model
	depth int // of reads that led to one another
}

func newUser(tb testing.TB, f *fake, w, h int) *user {
	tb.Helper()
	m := NewModel(context.Background(), Options{Process: f, Keymap: defaultKeymap(tb)})
	u := &user{tb: tb, m: m}
	u.send(tea.WindowSizeMsg{Width: w, Height: h})
	u.look()
	return u
}

// send delivers a message and then does what the explorer asks for.
func (u *user) send(msg tea.Msg) {
	_, cmd := u.m.Update(msg)
	u.run(cmd)
}

func (u *user) run(cmd tea.Cmd) {
	if cmd == nil {
		return
	}
	before := u.m.seq
	msg := cmd()
	batch, ok := msg.(tea.BatchMsg)
	if !ok {
		if f, isFrame := msg.(frameMsg); isFrame && f.frame.seq != before {
			return
		}
		// What follows a frame by itself waits for news: left to look.
		_, next := u.m.Update(msg)
		f, isFrame := msg.(frameMsg)
		switch {
		case !isFrame:
			u.run(next)
		case u.m.asked != f.frame.request && u.depth < 3:
			// It asks for more, and so does not wait.
			u.depth++
			u.look()
			u.depth--
		}
		return
	}
	for _, c := range batch {
		u.run(c)
	}
}

// look reads what is there now.
func (u *user) look() { u.run(u.m.pullNow()) }

// press presses keys, given as the keymap writes them.
func (u *user) press(keys ...string) *user {
	u.tb.Helper()
	for _, k := range keys {
		u.send(keyPress(u.tb, k))
	}
	return u
}

// types types text, one key a character.
func (u *user) types(text string) *user {
	for _, r := range text {
		u.send(tea.KeyPressMsg{Code: r, Text: string(r)})
	}
	return u
}

func keyPress(tb testing.TB, name string) tea.KeyPressMsg {
	tb.Helper()
	k, ok := keyNamed(name)
	if !ok || k.String() != name {
		tb.Fatalf("no key is called %q", name)
	}
	return k
}

// sees returns the screen without its colours.
func (u *user) sees() string { return ansi.Strip(u.m.View().Content) }

func (u *user) expect(texts ...string) *user {
	u.tb.Helper()
	for _, text := range texts {
		if !strings.Contains(u.sees(), text) {
			u.tb.Errorf("the screen does not say %q:\n%s", text, u.sees())
		}
	}
	return u
}

func TestScreensSayWhatTheInformerDoes(t *testing.T) {
	u := newUser(t, newFake(48211).waiting(31), 120, 40)
	u.expect("● watching", "48,211 objects", "slowest: audit", "4,120 pending", "drain: 8.2s", "never")
	u.press("3").expect("ns-0/web-00000", "184467", "1 of 48,211")
	u.press("enter").expect("kind: Pod", "2 entries of managed fields folded away", "namespace default")
}
