package tui

import (
	"context"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"github.com/informeter/informeter/engine/inspect"
)

func TestThePathSaysWhereOneIs(t *testing.T) {
	u := newUser(t, newFake(300), 100, 30)
	at := func(keys ...string) string {
		u.press(keys...)
		return strings.TrimSpace(strings.Split(u.sees(), "\n")[2])
	}
	for _, c := range []struct {
		key, want string
	}{
		{"1", "pods › Pipeline"},
		{"4", "pods › Indices"},
		{"enter", "pods › Indices › app"},
		{"enter", "pods › Indices › app › app-005"},
		{"enter", "pods › Indices › app › app-005 › ns-0/web-00000"},
		{"b", "pods › Indices › app › app-005 › ns-0/web-00000 › Biography"},
		{"?", "pods › Indices › app › app-005 › ns-0/web-00000 › Biography › Help"},
		{"esc", "pods › Indices › app › app-005 › ns-0/web-00000 › Biography"},
		{"esc", "pods › Indices › app › app-005"},
		{"esc", "pods › Indices › app"},
		{"esc", "pods › Indices"},
	} {
		if got := at(c.key); got != c.want {
			t.Errorf("after %s: %q, want %q", c.key, got, c.want)
		}
	}
	u.m.openPage("kube-system/"+strings.Repeat("n", 253), pageDiff)
	u.look()
	if got := at("f"); !strings.HasSuffix(got, "n › Diff") || !strings.HasPrefix(got, "pods › Indices › kube-system/nn") {
		t.Errorf("a long key: %q", got)
	}
}

func TestTheSentenceOfADemoIsInSight(t *testing.T) {
	const sentence = "billing-export is slower than the events come: its backlog only grows"
	u := newUser(t, newFake(30), 80, 24)
	u.m.options.Sentence = sentence
	u.press("1").expect(sentence)
	u.press("3", "enter")
	if strings.Contains(u.sees(), sentence) {
		t.Error("the sentence takes the place of the path")
	}
	u.send(tea.WindowSizeMsg{Width: 120, Height: 40})
	u.press("1").expect("pods › Pipeline", sentence)
}

func TestOnWideTerminalsTheNewestDeltasAreShown(t *testing.T) {
	f := newFake(300)
	u := newUser(t, f, 159, 40)
	if l := u.line("JUST NOW"); strings.Contains(l, "HANDLER") {
		t.Error("three panes on 159 columns")
	}
	u.send(tea.WindowSizeMsg{Width: 160, Height: 40})
	u.expect("JUST NOW", "│", "waits", "audit")
	if l := u.line("JUST NOW"); !strings.Contains(l, "HANDLER") {
		t.Errorf("it is not beside the handlers: %q", l)
	}
	for y, l := range strings.Split(u.sees(), "\n") {
		if x := strings.Index(l, "ns-1/web-00007"); x >= 0 {
			u.send(tea.MouseClickMsg{X: x, Y: y, Button: tea.MouseLeft})
			break
		}
	}
	f.bump(func() { f.moments = nil })
	u.press("1")
	u.send(tea.WindowSizeMsg{Width: 200, Height: 60})
	u.expect("JUST NOW") // what was read stays
	u = newUser(t, f, 200, 60)
	if strings.Contains(u.sees(), "JUST NOW") {
		t.Error("a pane for what can't be had")
	}
}

// TestTheNewestDeltasStandUnderEverythingWhereLinesAreFree: where they can't stand
// beside the handlers, and only there.
func TestTheNewestDeltasStandUnderEverythingWhereLinesAreFree(t *testing.T) {
	for _, c := range []struct {
		w, h int
		rows int // of the newest deltas; 0 for no pane
	}{{100, 30, 7}, {120, 29, 7}, {120, 26, 4}, {120, 25, 0}, {80, 26, 4}, {80, 25, 0}} {
		f := newFake(300)
		u := newUser(t, f, c.w, c.h)
		rows := strings.Split(u.sees(), "\n")
		at := slices.IndexFunc(rows, func(l string) bool { return strings.HasPrefix(l, "  JUST NOW") })
		if shown := at >= 0; shown != (c.rows > 0) {
			t.Errorf("%d×%d: the newest deltas are shown: %v\n%s", c.w, c.h, shown, u.sees())
			continue
		} else if !shown {
			u.press("tab").expectMarked("audit")
			continue
		}
		if got := len(rows) - 1 - (at + 1); got != c.rows {
			t.Errorf("%d×%d: %d rows of them, want %d", c.w, c.h, got, c.rows)
		}
		u.expect("tab just now")
		u.press("tab", "j").expectMarked(f.moments[1].Key)
		u.press("tab").expectMarked("audit")
		u.send(tea.MouseClickMsg{X: 3, Y: at + 1, Button: tea.MouseLeft})
		u.expectMarked(f.moments[0].Key)
		u.send(tea.MouseClickMsg{X: 3, Y: at + 3, Button: tea.MouseLeft})
		u.expectMarked(f.moments[2].Key)
		// What has no room any more has no keys.
		u.send(tea.WindowSizeMsg{Width: c.w, Height: 20})
		u.expectMarked("audit")
		u.send(tea.WindowSizeMsg{Width: c.w, Height: 40})
		u.press("tab").expectMarked(f.moments[0].Key)
		u.send(tea.MouseClickMsg{X: 3, Y: slices.IndexFunc(strings.Split(u.sees(), "\n"), func(l string) bool {
			return strings.Contains(l, "endpoints") || strings.Contains(l, "deployment-controller ")
		}), Button: tea.MouseLeft})
		if u.m.screens[screenPipeline].(*pipelineScreen).moments.focus {
			t.Errorf("%d×%d: a click at a handler does not give it the keys", c.w, c.h)
		}
	}
}

// TestNoDeltasAreAskedForThatHaveNoRoom: nobody would see them.
func TestNoDeltasAreAskedForThatHaveNoRoom(t *testing.T) {
	u := newUser(t, newFake(300), 80, 24)
	if u.look(); u.m.frame.request.moments.on {
		t.Error("they were asked for")
	}
}

// TestNamesJustNowAreWholeBeforeHandlersAreWide: the pane takes what the handlers'
// columns leave, and no more than it needs.
func TestNamesJustNowAreWholeBeforeHandlersAreWide(t *testing.T) {
	const key, handler = "fulfilment/shipping-labels-745ac98e6-n7r74", "billing-export"
	f := newFake(300)
	for i := range f.moments {
		f.moments[i].Key = key
		f.moments[i].Deliveries = []inspect.Delivery{{Handler: handler, Pending: true}}
	}
	for w, want := range map[int]string{
		160: "fulfilment/shi…45ac98e6-n7r74", 190: "fulfilment/shippin…s-745ac98e6-n7r74", 200: key + "  D    22µs  " + handler + "   waits", 240: handler + "   waits",
	} {
		u := newUser(t, f, w, 40)
		u.expect(want)
		l := u.line("HANDLER")
		left, _, _ := strings.Cut(l, "│")
		if titles := u.m.screens[screenPipeline].(*pipelineScreen).handlers.columns(); w >= 200 && !strings.Contains(left, titles[8].title) {
			t.Errorf("at %d columns a column went for it: %q", w, l)
		}
		if w <= 200 && !strings.HasSuffix(left, "SYNC     ") {
			t.Errorf("at %d columns the handlers' columns have given more than they had, or less: %q", w, l)
		}
	}
}

// TestKeysJustNowAreWholeBeforeCauses: what came is looked for first.
func TestKeysJustNowAreWholeBeforeCauses(t *testing.T) {
	const long = "storefront/web-6bdca355f-qnfn8"
	f := newFake(300)
	u := newUser(t, f, 200, 40)
	u.expect("CAUSE ")
	f.bump(func() {
		for i := range f.moments {
			f.moments[i].Key = long
		}
	})
	u.look()
	u.expect(long)
	for _, c := range []struct{ w, longKey, longHandler, key, handler int }{
		{77, 20, 21, 20, 21}, // with causes
		{77, 27, 21, 27, 16},
		{77, 30, 21, 30, 21}, // without
		{77, 40, 21, 40, 14},
		{77, 90, 21, 44, 10}, // nothing is left
		{53, 14, 5, 16, 7},
	} {
		p := momentsPane{longestKey: c.longKey, longest: c.longHandler}
		if key, handler := p.widths(c.w); key != c.key || handler != c.handler {
			t.Errorf("%+v: keys have %d cells, handlers %d", c, key, handler)
		}
	}
	if l := u.line("JUST NOW"); strings.Contains(l, "CAUSE ") {
		t.Errorf("there is no room for causes: %s", l)
	}
}

// TestACallThatLastsIsTheSlowest: it has taken nothing yet, and is the one to look
// at all the same.
func TestACallThatLastsIsTheSlowest(t *testing.T) {
	const key = "ns-9/called"
	f := newFake(300)
	m := &f.moments[0]
	m.Key = key
	m.Deliveries = []inspect.Delivery{
		{Handler: "deployment-controller", Began: epoch.Add(-time.Minute), Took: time.Millisecond},
		{Handler: "audit", Began: epoch.Add(-3 * time.Second), Calling: true},
	}
	u := newUser(t, f, 200, 40)
	if l := u.line(key); !strings.Contains(l, "audit") || !strings.Contains(l, "▶3.0s") {
		t.Errorf("who is in the call is not said: %s", l)
	}
}

func TestAServerOutOfReachIsNoGoodNews(t *testing.T) {
	for _, w := range []int{80, 120} {
		u := newUser(t, newFake(30).with(lonely).with(disconnected), w, 30)
		for _, wrong := range []string{"all keep up", "nothing waits"} {
			if strings.Contains(u.sees(), wrong) {
				t.Errorf("%q is said though nothing can come:\n%s", wrong, u.sees())
			}
		}
		u.expect("nothing arrives", "nothing to tell them")
	}
}

func TestStepsStillOwedAreCounted(t *testing.T) {
	u := newUser(t, newFake(30).waiting(9).with(paused), 120, 30)
	u.press("1").expect("PAUSED  3 to go")
	u.press("2").expect("3 steps to go")
	if strings.Contains(u.sees(), "nothing is popped") {
		t.Error("nothing is popped, while it is stepped")
	}
}

func TestTabsKeepNoGapInTheirNames(t *testing.T) {
	f := newFake(30)
	u := newUser(t, f, 120, 30)
	f.bump(func() { f.snapshot.Queue.Deltas = 12345 })
	u.look()
	u.expect("2 Queue 12,345   3 Store")
	f.bump(func() { f.snapshot.Queue.Deltas = 0 })
	u.look()
	u.expect("2 Queue 0")
	tabs := strings.Split(u.sees(), "\n")[1]
	if strings.Index(tabs, "3 Store") != strings.Index("  1 Pipeline   2 Queue 12,345   3 Store", "3 Store") {
		t.Errorf("the tabs have moved: %q", tabs)
	}
}

// TestTabsForgetANumberThatWasWide: what was received at the start leaves no hole.
func TestTabsForgetANumberThatWasWide(t *testing.T) {
	var c tabCount
	for _, step := range []struct {
		w     int
		after time.Duration
		want  int
	}{{6, 0, 0}, {1, 9 * time.Second, 5}, {6, 9 * time.Second, 0}, {1, 18 * time.Second, 5}, {2, 20 * time.Second, 0}, {1, 20 * time.Second, 1}} {
		if got := c.pad(step.w, epoch.Add(step.after)); got != step.want {
			t.Errorf("after %v a number of %d cells leaves %d free, want %d", step.after, step.w, got, step.want)
		}
	}
}

// TestATerminalThatLiesAboutItsSize is drawn on all the same.
func TestATerminalThatLiesAboutItsSize(t *testing.T) {
	u := newUser(t, newFake(300), 100, 30)
	for _, size := range [][2]int{{-1, -1}, {0, 30}, {100, 0}, {1, 1}, {1 << 30, 1 << 30}, {65535, 65535}, {-7, 20}, {80, 24}} {
		u.send(tea.WindowSizeMsg{Width: size[0], Height: size[1]})
		u.press("3", "j", "enter", "esc", ":", "x", "esc", "?", "esc")
		u.send(tea.MouseClickMsg{X: 1 << 20, Y: -3, Button: tea.MouseLeft})
		if n := len(u.m.View().Content); n > 40<<20 {
			t.Errorf("%v: %d bytes", size, n)
		}
	}
	if err := checkScreen(u.m.View().Content, 80, 24); err != nil {
		t.Error(err)
	}
}

// closing is a terminal that goes away in the middle of a frame.
type closingTerminal struct {
	left int // bytes it still takes
}

func (c *closingTerminal) Write(p []byte) (int, error) {
	if len(p) > c.left {
		n := c.left
		c.left = 0
		return n, errors.New("write /dev/tty: input/output error")
	}
	c.left -= len(p)
	return len(p), nil
}

// TestATerminalThatGoesAway ends the explorer when its input ends, too, and never
// breaks it.
func TestATerminalThatGoesAway(t *testing.T) {
	for _, bytes := range []int{0, 10, 3000} {
		synctest.Test(t, func(t *testing.T) {
			f := newFake(100)
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			in, keys := io.Pipe()
			ended := make(chan error, 1)
			go func() {
				o := Options{Process: f, Keymap: defaultKeymap(t), Input: in, Output: &closingTerminal{left: bytes}}
				ended <- run(ctx, o, tea.WithoutSignalHandler(), tea.WithWindowSize(120, 40), tea.WithEnvironment([]string{"TERM=xterm-256color"}))
			}()
			time.Sleep(time.Second)
			f.bump(nil)
			time.Sleep(time.Second)
			keys.Close()
			cancel()
			select {
			case err := <-ended:
				if errors.Is(err, tea.ErrProgramPanic) {
					t.Errorf("after %d bytes: %v", bytes, err)
				}
			case <-time.After(time.Minute):
				t.Errorf("after %d bytes it never ends", bytes)
			}
			in.Close()
			if f.viewers() != 0 {
				t.Error("the informer is still open")
			}
		})
	}
}

// TestAStormOfSizes costs one read at most for each, and ends at the last.
func TestAStormOfSizes(t *testing.T) {
	f := newFake(300)
	u := newUser(t, f, 100, 30)
	u.press("3")
	for i := range 300 {
		u.send(tea.WindowSizeMsg{Width: 60 + i%100, Height: 16 + i%40})
	}
	u.send(tea.WindowSizeMsg{Width: 90, Height: 25})
	if err := checkScreen(u.m.View().Content, 90, 25); err != nil {
		t.Error(err)
	}
	u.expect("ns-0/web-00000")
}

func TestComingBackFromTheShellReadsAtOnce(t *testing.T) {
	f := newFake(30)
	u := newUser(t, f, 100, 30)
	u.m.Update(keyPress(t, "ctrl+z"))
	f.bump(func() { f.snapshot.Store.Objects = 4321 })
	u.send(tea.ResumeMsg{})
	u.expect("4,321")
}

func TestTheStatusIsNotThatOfAnotherFilter(t *testing.T) {
	u := newUser(t, newFake(300), 100, 30)
	u.press("3", "/").types("0010").expect("11 of 300 match 0010")
	// The next letter is there before the answer to it.
	u.m.Update(tea.KeyPressMsg{Code: '5', Text: "5"})
	u.expect("looking for 00105")
	if strings.Contains(u.sees(), "11 of 300") {
		t.Errorf("the old count stands beside the new filter:\n%s", u.sees())
	}
	u.look()
	u.expect("1 of 300 match 00105")
}

// TestALineCutFromAnotherIsFilledUp: however wide it is, and its background goes to
// the end where it has one.
func TestALineCutFromAnotherIsFilledUp(t *testing.T) {
	for _, w := range []int{0, 1, 127, 128, 129, 500} {
		if got := ansi.StringWidth(newLine(w).slice("", 0).String()); got != w {
			t.Errorf("%d cells, want %d", got, w)
		}
	}
	l := newLine(300)
	l.base = newTheme(true).selected
	for _, part := range strings.SplitAfter(l.put("", "e\u0301世").String(), reset) {
		if part != "" && !strings.HasPrefix(part, string(l.base)) {
			t.Errorf("%q has no background", part)
		}
	}
}

// TestTheNewestDeltasHaveTheKeysAfterTab: they scroll by themselves, and lead to
// what happened to their keys.
func TestTheNewestDeltasHaveTheKeysAfterTab(t *testing.T) {
	f := newFake(300).lived()
	f.passed(300)
	u := newUser(t, f, 200, 40)
	newest := func(n int) string { return f.moments[n].Key }
	u.expectMarked("audit")
	u.press("tab").expect("following the newest", "enter biography")
	u.expectMarked(newest(0))
	u.press("j", "j").expectMarked(newest(2))
	u.expect("2 newer ones")
	if l := u.line("JUST NOW"); !strings.Contains(u.m.View().Content, string(u.m.theme.title)+"JUST NOW") || strings.Contains(l, "▸") {
		t.Errorf("the pane does not show that it has the keys: %q", l)
	}
	// Newer ones come above the selected one, and do not take it away.
	older := newest(2)
	f.bump(func() {
		more := f.moments[0]
		more.Seq, more.Key = 1000, "new/one"
		f.moments = append([]inspect.Moment{more}, f.moments...)
	})
	u.look()
	u.expectMarked(older)
	u.expect("3 newer ones")
	// The oldest can be reached, although only those in sight had been read.
	u.press("G").expectMarked(newest(300))
	u.expect("300 newer ones")
	u.press("g").expectMarked("new/one")
	u.press("j", "enter").expect("Biography").press("esc")
	u.expectMarked(newest(1))
	u.press("tab").expectMarked("audit")
	u.press("l").expectMarked("new/one")
	u.press("esc").expectMarked("audit")
	if u.m.screens[screenPipeline].back() {
		t.Error("esc took away more than the keys")
	}
	// Without the pane there is nowhere to go.
	u.send(tea.WindowSizeMsg{Width: 120, Height: 40})
	u.press("tab").expectMarked("audit")
}

// TestAFrozenViewKeepsTheNewestDeltas: they are not those that were the newest
// when they are moved through.
func TestAFrozenViewKeepsTheNewestDeltas(t *testing.T) {
	f := newFake(300)
	u := newUser(t, f, 200, 40)
	u.press("tab", "f")
	first := f.moments[0].Key
	f.bump(func() {
		more := f.moments[0]
		more.Seq, more.Key = 1000, "new/one"
		f.moments = append([]inspect.Moment{more}, f.moments...)
	})
	u.press("j", "k").expectMarked(first)
	u.press("f", "g").expectMarked("new/one")
}
