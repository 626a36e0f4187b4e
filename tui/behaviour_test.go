package tui

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"
)

// rows returns the lines of the screen that have text in them.
func (u *user) line(text string) string {
	for l := range strings.Lines(u.sees()) {
		if strings.Contains(l, text) {
			return l
		}
	}
	return ""
}

// marked returns the row that is selected.
func (u *user) marked() string {
	u.tb.Helper()
	l := u.line("▸")
	if l == "" {
		u.tb.Errorf("no row is selected:\n%s", u.sees())
	}
	return l
}

func (u *user) expectMarked(text string) {
	u.tb.Helper()
	if !strings.Contains(u.marked(), text) {
		u.tb.Errorf("selected is %q, want %s", u.marked(), text)
	}
}

func TestTheFilterTakesPastedText(t *testing.T) {
	u := newUser(t, newFake(300), 100, 24)
	u.send(tea.PasteMsg{Content: "ignored"})
	u.press("3", "/")
	u.send(tea.PasteMsg{Content: "00299"})
	u.expect("1 of 300 match 00299")
}

func TestTheGateObeysItsKeys(t *testing.T) {
	f := newFake(30).waiting(12)
	u := newUser(t, f, 120, 30)
	u.press("2", "space").expect("PAUSED", "space resume")
	u.press("s", "S", "r").types("12.5").press("enter").expect("limited to 13 deltas a second")
	u.press("space")
	want := []string{"pause", "step 1", "step 10", "rate 12.5", "resume"}
	if !slices.Equal(f.controls, want) {
		t.Errorf("asked for %q, want %q", f.controls, want)
	}
	u.press("r").types("ten").press("enter").expect(`"ten" is not a number`)
	u.press("r").types("5").press("esc")
	if !slices.Equal(f.controls, want) {
		t.Errorf("asked for %q, want %q", f.controls, want)
	}
}

func TestAGateOutOfReachSaysSo(t *testing.T) {
	f := newFake(30)
	f.readOnly = true
	u := newUser(t, f, 120, 30)
	u.press("2", "space").expect("not possible here: read-only")
	u.press("j").expect("space pause") // the answer goes with the next key
}

func TestAFrozenViewStandsStill(t *testing.T) {
	f := newFake(30)
	u := newUser(t, f, 120, 30)
	u.press("f").expect("frozen")
	before := u.sees()
	f.bump(func() { f.snapshot.Store.Objects = 7777; f.snapshot.At = epoch.Add(time.Hour) })
	reads := f.reads
	if u.m.asked != u.m.request() {
		t.Error("a frozen view wants to be read")
	}
	if u.sees() != before || f.reads != reads {
		t.Errorf("a frozen view has changed:\n%s", u.sees())
	}
	// Other screens can be looked at, as of the same moment.
	u.press("3").expect("30", "ns-0/web-00000", "frozen")
	if strings.Contains(u.sees(), "7,777") {
		t.Errorf("the vitals are newer than the frozen ones:\n%s", u.sees())
	}
	u.press("f").expect("7,777")
	if strings.Contains(u.sees(), "frozen") {
		t.Errorf("still frozen:\n%s", u.sees())
	}
}

func TestAnObjectThatIsDeletedStaysInSight(t *testing.T) {
	f := newFake(30)
	u := newUser(t, f, 120, 30)
	u.press("3", "enter").expect("nodeName: node-3")
	f.remove("ns-0/web-00000")
	u.look()
	u.expect("nodeName: node-3", "not in the store any more; this is its last version")
	u.press("q").expect("KEY")
}

func TestSearchingAnObject(t *testing.T) {
	f := newFake(3)
	u := newUser(t, f, 80, 16)
	u.press("3", "enter", "/").types("IMAGE").press("enter").expect("image: registry")
	u.press("/")
	for range "IMAGE" {
		u.press("backspace")
	}
	u.types("nothere").press("enter").expect("0 lines have nothere")
	u.press("esc", "g").expect("apiVersion")
	u.press("G").expect("nodeName")
}

func TestAnObjectIsLaidOutOncePerVersion(t *testing.T) {
	f := newFake(3)
	u := newUser(t, f, 80, 24)
	u.press("3", "enter")
	first := u.m.object.document
	u.look()
	if again := u.m.object.document; &again.lines[0] != &first.lines[0] {
		t.Error("the same version was laid out again")
	}
	changed := object("ns-0/web-00000")
	changed.ResourceVersion, changed.JSON = "184468", []byte(`{"kind":"Other"}`)
	f.bump(func() { f.objects["ns-0/web-00000"] = changed })
	u.look()
	u.expect("kind: Other", "rv 184468")
}

func TestKeysGoDownAndBackUp(t *testing.T) {
	f := newFake(300)
	u := newUser(t, f, 80, 24)
	u.press("4").expect("INDEX")
	u.press("j", "enter").expect("namespace-00", "3 buckets")
	u.press("j", "enter").expect("in namespace, 7 objects")
	u.press("enter").expect("kind: Pod")
	u.press("esc").expect("in namespace, 7 objects")
	u.press("esc").expect("3 buckets")
	u.press("q").expect("INDEX")
	if _, cmd := u.m.Update(keyPress(t, "q")); cmd == nil || fmt.Sprintf("%T", cmd()) != "tea.QuitMsg" {
		t.Error("q at the top must quit")
	}
}

func TestABucketStaysOpenWhileTheOrderChanges(t *testing.T) {
	f := newFake(300)
	u := newUser(t, f, 80, 24)
	u.press("4", "enter", "enter")
	open := u.m.screens[screenIndices].(*indicesScreen).value
	f.bump(func() {
		for i := range f.buckets["app"] {
			f.buckets["app"][i].Objects = i
		}
	})
	u.look()
	if now := u.m.screens[screenIndices].(*indicesScreen).value; now != open {
		t.Errorf("bucket %q became %q while it was open", open, now)
	}
}

func TestHelpListsTheKeysThatHold(t *testing.T) {
	u := newUser(t, newFake(3), 120, 40)
	u.press("2", "?").expect("On this screen", "let one delta through", "Everywhere", "freeze the view")
	u.press("?")
	if strings.Contains(u.sees(), "On this screen") {
		t.Error("? must close the help again")
	}
	u.press("?", "3") // a key of another screen does not work through the help
	u.press("esc").expect("popped as it comes")
}

func TestInformersAreSwitched(t *testing.T) {
	f := several()
	u := newUser(t, f, 120, 30)
	u.press("3", "j", "j", "0").expect("deployments.apps", "backing off")
	u.press("j", "enter").expect("services")
	if f.open != 0 && u.m.informer == "services" {
		t.Errorf("pods is still open though services is looked at")
	}
	u.expect("no answer", "not found") // the fake has no inspector for it
	u.press("[").expect("● watching", "900 objects")
	if f.open != 1 {
		t.Errorf("open %d times, want once", f.open)
	}
}

// TestTheInformersSayWhatIsWrongWithThem: the reason, not only that there is one.
func TestTheInformersSayWhatIsWrongWithThem(t *testing.T) {
	f := several()
	f.others[1].Error, f.others[1].Type = forbiddenText, "*v1.Deployment"
	u := newUser(t, f, 100, 30)
	u.press("0").expect("synced", "3 handlers, nothing waits for them")
	f.others[0].Slowest, f.others[0].SlowestPending = "billing", 4120
	u.look()
	u.press("j").expect("most waits for billing: 4,120 pending")
	u.press("j").expect("*v1.Deployment", "cannot list resource")
	u.press("j").expect("nobody has run it yet", "no handlers")
	u.expect("The explorer's own handler is not counted.")
}

// TestTheNamesOfInformersAreWholeBeforeTheirScopes.
func TestTheNamesOfInformersAreWholeBeforeTheirScopes(t *testing.T) {
	f := several()
	f.others[0].Name = "apiservices.apiregistration.k8s.io"
	u := newUser(t, f, 120, 30)
	u.press("0").expect("apiservices.apiregistration.k8s.io  all namespaces")
	newUser(t, f, 80, 30).press("0").expect("…", "watching")
}

func TestOneInformerHasNoListOfInformers(t *testing.T) {
	u := newUser(t, newFake(3), 120, 30)
	u.press("0")
	if strings.Contains(u.sees(), "Informers") {
		t.Errorf("a list of one:\n%s", u.sees())
	}
}

func TestAnInspectorThatFailsIsAState(t *testing.T) {
	f := newFake(3)
	u := newUser(t, f, 120, 30)
	f.err = errors.New("connection lost: \x1b[31mEOF")
	u.look()
	u.expect("no answer", "3 objects")
	if strings.Contains(u.m.View().Content, "\x1b[31mEOF") {
		t.Error("an error reached the terminal as it was")
	}
	f.err = nil
	u.look()
	u.expect("● watching")
}

func TestAProcessWithoutInformersIsAState(t *testing.T) {
	u := newUser(t, newFake(3), 120, 30)
	u.m = NewModel(t.Context(), Options{Process: nobody{}, Keymap: defaultKeymap(t)})
	u.send(tea.WindowSizeMsg{Width: 120, Height: 30})
	u.look()
	u.expect("no informer")
}

func TestTheMouse(t *testing.T) {
	u := newUser(t, newFake(300), 120, 30)
	click := func(text string, dx int) {
		t.Helper()
		for y, l := range strings.Split(u.sees(), "\n") {
			if x := strings.Index(l, text); x >= 0 {
				u.send(tea.MouseClickMsg{X: ansi.StringWidth(l[:x]) + dx, Y: y, Button: tea.MouseLeft})
				return
			}
		}
		t.Fatalf("%q is not on the screen", text)
	}
	click("3 Store", 1)
	u.expect("KEY")
	click("ns-0/web-00012", 3)
	u.expectMarked("ns-0/web-00012")
	u.send(tea.MouseWheelMsg{Button: tea.MouseWheelDown})
	if strings.Contains(u.sees(), "ns-0/web-00000") || !strings.Contains(u.sees(), "ns-0/web-00009") {
		t.Errorf("the wheel must move by %d rows:\n%s", wheelRows, u.sees())
	}
	click("ns-0/web-00012", 3)
	u.expect("kind: Pod") // the second click opens
	click("1 Pipeline", 0)
	click("audit", 0)
	u.expectMarked("audit")
	click("4 Indices", 0)
	click("node ", 0)
	u.expectMarked("node")
	click("node-0", 0)
	u.expectMarked("node-0")
}

func TestWithoutMouseNoneIsAskedFor(t *testing.T) {
	u := newUser(t, newFake(3), 100, 24)
	if u.m.View().MouseMode != tea.MouseModeCellMotion {
		t.Error("no mouse")
	}
	u.m.options.NoMouse = true
	if u.m.View().MouseMode != tea.MouseModeNone {
		t.Error("a mouse in spite of NoMouse")
	}
}

func TestNothingIsComposedWithoutAReason(t *testing.T) {
	u := newUser(t, newFake(3), 100, 24)
	u.m.content = "untouched"
	u.send(tea.FocusMsg{})
	u.send(tea.MouseMotionMsg{X: 1, Y: 1})
	u.send(frameMsg{&frame{seq: u.m.seq - 1}})
	if u.m.View().Content != "untouched" {
		t.Error("the screen was composed though nothing changed")
	}
}

func TestColourComesFromTheOptionsOrTheEnvironment(t *testing.T) {
	for _, c := range []struct {
		color string
		env   map[string]string
		want  string
		set   bool
	}{
		{"auto", nil, "", false},
		{"auto", map[string]string{"NO_COLOR": "yes please"}, "Ascii", true},
		{"auto", map[string]string{"NO_COLOR": ""}, "", false},
		{"never", nil, "Ascii", true},
		{"always", map[string]string{"NO_COLOR": "1"}, "ANSI256", true},
		{"always", map[string]string{"COLORTERM": "truecolor"}, "TrueColor", true},
		{"auto", map[string]string{"TERM": "xterm-16color"}, "ANSI", true},
		{"always", map[string]string{"TERM": "linux"}, "ANSI", true},
		{"auto", map[string]string{"TERM": "xterm-16color", "COLORTERM": "truecolor"}, "", false},
		{"auto", map[string]string{"TERM": "xterm-16color", "NO_COLOR": "1"}, "Ascii", true},
	} {
		p, set := profile(c.color, func(k string) string { return c.env[k] })
		if set != c.set || set && p.String() != c.want {
			t.Errorf("%s %v: %v %v, want %v %v", c.color, c.env, p, set, c.want, c.set)
		}
	}
}

func TestWhatIsSetAsideIsNamedOnThePipeline(t *testing.T) {
	for _, w := range []int{80, 120} {
		u := newUser(t, newFake(500).with(quarantined), w, 30)
		u.press("1")
		l := u.line("⚠ 5 set aside, newest")
		for _, want := range []string{"ns-1/web-00007", "transform", "4 times", "12s ago"} {
			if !strings.Contains(l, want) {
				t.Errorf("at %d columns %q is not said: %s", w, want, l)
			}
		}
		u.press("5")
		if u.line("passed over 3 times") == "" {
			t.Errorf("at %d columns the skipped rounds are not said:\n%s", w, u.sees())
		}
	}
}
