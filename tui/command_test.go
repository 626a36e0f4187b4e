package tui

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/informeter/informeter/engine/inspect"
)

// door is an Opener that notes what was asked for.
type door struct {
	asked  []Target
	opens  func() (Opened, error)
	names  map[NameKind][]string
	closed []string
}

func (d *door) Open(_ context.Context, t Target) (Opened, error) {
	d.asked = append(d.asked, t)
	return d.opens()
}

func (d *door) Names(_ context.Context, k NameKind) ([]string, error) { return d.names[k], nil }

// withDoor is a user who can open other things, of which there is one.
func withDoor(t *testing.T, w, h int) (*user, *door) {
	f := newFake(30)
	d := &door{names: map[NameKind][]string{
		NamesOfResources:  {"pods", "podtemplates", "services", "nodes", "deployments.apps"},
		NamesOfNamespaces: {"default", "kube-system", "kube-public"},
		NamesOfContexts:   {"prod", "test"},
	}}
	d.opens = func() (Opened, error) {
		other := newFake(7)
		other.snapshot.Informer.Name, other.snapshot.Informer.Resource = "services", "services"
		return Opened{Process: other, Close: func() { d.closed = append(d.closed, "services") }}, nil
	}
	m := NewModel(t.Context(), Options{
		Process: f, Keymap: defaultKeymap(t), Opener: d, Close: func() { d.closed = append(d.closed, "pods") },
	})
	u := &user{tb: t, m: m}
	u.send(tea.WindowSizeMsg{Width: w, Height: h})
	u.look()
	return u, d
}

func (u *user) command(line string) *user { return u.press(":").types(line).press("enter") }

func TestCommandsControlTheInformer(t *testing.T) {
	f := newFake(30)
	slow := inspect.ListenerVitals{Name: "slow", Lab: true}
	f.snapshot.Listeners = append(f.snapshot.Listeners, slow)
	u := newUser(t, f, 120, 30)
	for _, c := range []struct{ line, did, says string }{
		{"pause", "pause", "paused"},
		{"step", "step 1", "1 delta let through"},
		{"step 25", "step 25", "25 deltas let through"},
		{"rate 12.5/s", "rate 12.5", "limited to 13 deltas a second"},
		{"resume", "resume", "running"},
		{"resync now", "resync", "the cache is being played back"},
		{"resync audit 45s", "resync audit every 45s", "audit asks for a resync every 45s"},
		{"resync audit 0", "resync audit every 0s", "audit asks for no resync"},
		{"relist", "relist", "asking for everything again"},
		{"index add zone=cel: object.metadata.name + 'x'", "index zone cel: object.metadata.name + 'x'", "index zone added"},
		{"handler add slow 5ms", "handler slow 5ms 0s", "handler slow added"},
		{`handler add "very slow" 1s resync 10s`, "handler very slow 1s 10s", "handler very slow added"},
		{"handler remove slow", "remove slow", "handler slow removed"},
	} {
		f.controls = nil
		u.command(c.line).expect(c.says)
		if !slices.Equal(f.controls, []string{c.did}) {
			t.Errorf(":%s asked for %q, want %q", c.line, f.controls, c.did)
		}
	}
}

// TestWhatCanBeRemovedIsNamed where a handler that was not added here is to go.
func TestWhatCanBeRemovedIsNamed(t *testing.T) {
	f := newFake(30)
	f.snapshot.Listeners = append(f.snapshot.Listeners, inspect.ListenerVitals{Name: "slow", Lab: true}, inspect.ListenerVitals{Name: "lab", Lab: true})
	newUser(t, f, 120, 30).command("handler remove audit").expect("audit was not added here; can be removed: lab or slow")
	if len(f.controls) > 0 {
		t.Errorf("asked for %q", f.controls)
	}
}

func TestAnIndexIsVerified(t *testing.T) {
	f := newFake(30)
	f.verified = map[string]inspect.IndexCheck{
		"app": {Index: "app", Objects: 30, Took: 12 * time.Millisecond},
		"node": {Index: "node", Objects: 30, Took: 12 * time.Millisecond, Wrong: 1, Examples: []inspect.IndexMismatch{
			{Key: "ns-0/web-00000", Indexed: []string{"node-3"}},
		}},
	}
	u := newUser(t, f, 120, 30)
	u.command("verify node").expect("node: 30 objects computed anew in 12ms, 1 in the wrong buckets, such as ns-0/web-00000: in node-3, now none")
	u.command("verify app").expect("all in their buckets")
	u.command("verify namespace").expect("not possible here")
}

func TestRowsAreSoughtSortedAndCut(t *testing.T) {
	u := newUser(t, newFake(300), 120, 30)
	u.command("goto ns-1/web-00100").expectMarked("ns-1/web-00100")
	u.command("sort rv").expect("RV▼")
	u.command("sort size").expect("SIZE")
	u.command("sort rate").expect("RATE/s▼") // the only one that begins so
	u.command("sort a").expect("AGE▲")
	u.command("sort colour").expect(`no column "colour" to sort by; there is key, age, rv`)
	u.press("esc")
	u.command("columns -rv")
	if title := u.line("KEY"); strings.Contains(title, "RV") || !strings.Contains(title, "AGE") {
		t.Errorf("the titles are %q", title)
	}
	u.command("columns rv")
	if title := u.line("KEY"); !strings.Contains(title, "RV") || strings.Contains(title, "AGE") {
		t.Errorf("the titles are %q", title)
	}
	u.command("columns +age +hue").expect(`no column "hue"`)
	u.press("esc")
	u.command("columns").expect("Columns", "[x] RV", "[ ] AGE")
	u.press("esc", "2")
	u.command("uid u-1").expect("Biography")
}

func TestALineThatIsWrongStaysAndSaysWhatAndWhere(t *testing.T) {
	u, d := withDoor(t, 120, 30)
	for _, c := range []struct{ line, wrong, says string }{
		{"index ad x=y", "ad", `no "index ad"; there is add`},
		{"handler", "handler", "handler what? add or remove"},
		{"rate ten", "ten", `"ten" is not a number of deltas a second`},
		{"rate", "", "expects a number of deltas a second, as in 10/s"},
		{"step 0", "0", `"0" is not a number of deltas from 1 to 1,000,000`},
		{"step 1 2", "2", "only a number of deltas follows"},
		{"pause now", "now", "nothing follows this command"},
		{"resync audot 5s", "audot", `no handler "audot"; did you mean audit?`},
		{"resync audit", "", "expects a period as in 30s"},
		{"resync audit 5", "5", `"5" is no duration`},
		{"resync audit 5ms", "5ms", "once a second at most"},
		{"resync audit -5s", "-5s", "not negative"},
		{"index add zone", "zone", "write NAME=EXPR"},
		{"index add node={.spec}", "node", `an index "node" already`},
		{"verify nod", "nod", `no index "nod"; did you mean node?`},
		{"handler remove audit", "audit", "audit was not added here; :handler add makes one that can be removed"},
		{"handler remove sloe", "sloe", `no handler "sloe"; :handler add makes one that can be removed`},
		{"handler add slow soon", "soon", `"soon" is no duration`},
		{"handler add slow 5ms sync 3s", "sync", "only resync and a period may follow"},
		{`handler add "slow 5ms`, `"slow 5ms`, `the quote " is not closed`},
		{"filter /[/", "/[/", "missing closing ]"},
		{"pods --color", "--color", "no flag --color; there are -n, -A, -l, --field-selector or --context"},
		{"pods -n", "-n", "-n what?"},
		{"-n default", "-n", "no command -n"},
	} {
		u.press("3")
		u.command(c.line).expect(c.says, ":"+c.line)
		p := u.m.prompt
		if p == nil || p.fault == nil {
			t.Errorf(":%s is not kept for correction", c.line)
			u.press("esc")
			continue
		}
		if got := c.line[p.fault.from:p.fault.to]; got != c.wrong {
			t.Errorf(":%s is wrong at %q, want %q", c.line, got, c.wrong)
		}
		u.press("backspace")
		if p.fault != nil {
			t.Errorf(":%s is still wrong after it was changed", c.line)
		}
		u.press("esc")
	}
	if len(d.asked) > 0 {
		t.Errorf("opened %v", d.asked)
	}
}

func TestCommandsShowScreens(t *testing.T) {
	u := newUser(t, newFake(30), 120, 30)
	u.command("3").expect("KEY")
	u.command("handlers").expect("HANDLER", "deployment-controller")
	u.command("0").expect("there is only one informer")
	u.press("esc")
	u.command("help").expect(":index add NAME=EXPR", "pause")
	u.press("esc")
	u.command("keys").expect("Everywhere", "half a page up")
	u.press("esc").expect("deployment-controller")
	u.press("?")
	u.command("filter x").expect("nothing to filter")
	u.press("esc", "esc", "3")
	u.command("filter 0001").expect("match 0001")
	if _, cmd := u.m.Update(keyPress(t, ":")); cmd != nil {
		t.Error("a prompt asks for something")
	}
	u.types("q")
	if _, cmd := u.m.Update(keyPress(t, "enter")); cmd == nil {
		t.Error(":q must quit")
	}
}

func TestAnotherResourceTakesThePlaceOfTheOld(t *testing.T) {
	u, d := withDoor(t, 120, 30)
	u.press("3", "/").types("web").press("enter")
	u.command("services -n kube-system -l app=web").expect("now services in kube-system with app=web", "7", "ns-0/web-00000")
	want := Target{Resources: []string{"services"}, Namespace: "kube-system", Labels: "app=web"}
	if got := d.asked[0]; fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("asked for %+v, want %+v", got, want)
	}
	if header, _, _ := strings.Cut(u.sees(), "\n"); !strings.Contains(header, "services") {
		t.Errorf("the header is %q", header)
	}
	if !slices.Equal(d.closed, []string{"pods"}) {
		t.Errorf("closed %v, want pods", d.closed)
	}
	for line, want := range map[string]Target{
		"ctx prod":                           {Context: "prod"},
		"ns default":                         {Namespace: "default"},
		"ns all":                             {AllNamespaces: true},
		"demo":                               {Scenario: DefaultScenario},
		"demo steady":                        {Scenario: "steady"},
		"open quit":                          {Resources: []string{"quit"}},
		"pods svc -A --field-selector=a=b":   {Resources: []string{"pods", "svc"}, AllNamespaces: true, Fields: "a=b"},
		"deployments.apps --context test -A": {Resources: []string{"deployments.apps"}, AllNamespaces: true, Context: "test"},
	} {
		d.asked = nil
		u.command(line)
		if len(d.asked) != 1 || fmt.Sprint(d.asked[0]) != fmt.Sprint(want) {
			t.Errorf(":%s asked for %+v, want %+v", line, d.asked, want)
		}
	}
}

func TestWhatCanNotBeOpenedLeavesTheOldInPlace(t *testing.T) {
	u, d := withDoor(t, 120, 30)
	d.opens = func() (Opened, error) { return Opened{}, errors.New(`the server has no resource "puase"`) }
	u.press("3")
	u.command("puase").expect(`did you mean the command pause? Else: the server has no resource "puase"`, ":puase", "ns-0/web-00000")
	u.press("esc").expect("1 of 30")
	if len(d.closed) > 0 {
		t.Errorf("closed %v", d.closed)
	}
}

// TestALineIsNotBroughtBackUnderSomebodysHands: it would take the next keys.
func TestALineIsNotBroughtBackUnderSomebodysHands(t *testing.T) {
	u, d := withDoor(t, 120, 30)
	d.opens = func() (Opened, error) { return Opened{}, errors.New(`the server has no resource "podz"`) }
	u.press("3", ":").types("podz")
	_, opening := u.m.Update(keyPress(t, "enter"))
	u.press("7")
	u.run(opening)
	u.expect(`the server has no resource "podz"`)
	if u.m.prompt != nil || u.m.current != screenRequests {
		t.Errorf("prompt %v over screen %d, want Requests", u.m.prompt, u.m.current)
	}
}

// TestOnlyTheLastWishIsOpened: the answer to an earlier one comes too late.
func TestOnlyTheLastWishIsOpened(t *testing.T) {
	u, d := withDoor(t, 120, 30)
	u.press(":").types("services")
	_, first := u.m.Update(keyPress(t, "enter"))
	u.press(":").types("nodes").expect("opening services")
	_, second := u.m.Update(keyPress(t, "enter"))
	u.run(first)
	if len(d.closed) != 1 || d.closed[0] != "services" || u.m.informer != "pods" {
		t.Errorf("looking at %s, closed %v", u.m.informer, d.closed)
	}
	u.run(second)
	u.expect("now nodes")
}

// logged is a Log that a test writes to.
type logged struct {
	lines     []string
	forgotten uint64
}

func (l *logged) Lines() ([]string, uint64) { return slices.Clone(l.lines), l.forgotten }

func TestTheLogIsShownAndFollowed(t *testing.T) {
	u := newUser(t, newFake(30), 100, 20)
	u.command("log").expect("nothing is logged here")
	u.press("esc")
	l := &logged{}
	u.m.options.Log = l
	u.command("log").expect("nothing was logged")
	for i := range 100 {
		l.lines = append(l.lines, fmt.Sprintf("line %02d \x1b[31m", i))
	}
	u.look()
	u.expect("line 99 �[31m", "100 of 100")
	u.press("g").expect("line 00")
	l.lines, l.forgotten = append(l.lines[1:], "line 100"), 1
	u.look()
	u.expect("line 01", "1 older ones forgotten")
	u.press("k", "G").expect("line 100")
	u.press("/").types("line 4").press("enter").expect("line 49", "10 of 100 match line 4")
	u.press("esc").expect("line 100")
	u.press("esc").expect("Reflector")
}
