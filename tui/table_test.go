package tui

import (
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/informeter/informeter/engine/inspect"
)

// TestTheWorstHandlerIsLookedAtUntilOneIsChosen: also if it gets worse later.
func TestTheWorstHandlerIsLookedAtUntilOneIsChosen(t *testing.T) {
	f := newFake(20)
	f.snapshot.Listeners[1].Behind, f.snapshot.Listeners[2].Behind = 2*time.Second, time.Millisecond
	for _, key := range []string{"1", "5"} {
		u := newUser(t, f, 120, 30)
		u.press(key).expectMarked("deployment-controller")
		f.bump(func() { f.snapshot.Listeners[2].Behind = time.Minute })
		u.look()
		u.expectMarked("audit")
		f.bump(func() {
			f.snapshot.Listeners[1].Behind, f.snapshot.Listeners[2].Behind = 5*time.Millisecond, 3*time.Millisecond
		})
		u.look()
		u.expectMarked("audit") // none is worth a word: it stays
		u.press("k").expectMarked("deployment-controller")
		f.bump(func() { f.snapshot.Listeners[2].Behind = time.Minute })
		u.look()
		u.expectMarked("deployment-controller")
		f.bump(func() {
			f.snapshot.Listeners[1].Behind, f.snapshot.Listeners[2].Behind = 2*time.Second, time.Millisecond
		})
	}
}

// TestTablesAreSortedByAnyColumn: with the keys, and with a click on a title.
func TestTablesAreSortedByAnyColumn(t *testing.T) {
	f := newFake(300)
	u := newUser(t, f, 120, 30)
	u.press("5", "o", "g").expectMarked("audit")      // by name
	u.press("o", "g").expectMarked("audit")           // by pending, the most first
	u.press("O", "g").expectMarked("informeter")      // the fewest
	u.press("<", "O", "g").expectMarked("informeter") // by name, from the end
	x := strings.Index(u.line("HANDLER"), "p99")
	u.send(tea.MouseClickMsg{X: len([]rune(u.line("HANDLER")[:x])), Y: u.m.layout.body.y, Button: tea.MouseLeft})
	u.press("g").expectMarked("audit")
	if !strings.Contains(u.line("HANDLER"), "p99▼") {
		t.Errorf("no mark at p99: %s", u.line("HANDLER"))
	}
}

// TestTheStoreIsSortedByAnyColumn: what is selected stands still while the order
// changes around it, and the view can stay at the newest.
func TestTheStoreIsSortedByAnyColumn(t *testing.T) {
	f := newFake(300)
	u := newUser(t, f, 200, 30)
	u.press("3")
	for _, title := range []string{"AGE▲", "RV▼", "CHANGED▼", "UPDATES▼", "RATE/s▼", "NO-OP▼", "WRITER▲", "SIZE▼", "KEY▲"} {
		u.press("o").expect(title)
	}
	u.press("F").expect("CHANGED▼", "following the newest")
	u.expectMarked("ns-0/web-00000")
	touch := func(i int, at time.Time) { f.bump(func() { f.rows[i].Changed = at }) }
	touch(250, epoch.Add(time.Second))
	u.look()
	u.expectMarked(f.rows[250].Key)
	u.press("j", "j", "j")
	was, y := strings.Fields(u.marked())[1], strings.Index(u.sees(), "▸")
	for i := range 40 {
		touch(100+i, epoch.Add(time.Duration(i+2)*time.Second))
		u.look()
	}
	u.expectMarked(was)
	if strings.Index(u.sees(), "▸") != y {
		t.Errorf("the selected row has moved on the screen:\n%s", u.sees())
	}
	f.remove(was)
	u.look()
	u.marked()
}

func TestAColumnThatCannotBeSortedByIsSaid(t *testing.T) {
	f := newFake(30)
	f.unsorted = true
	u := newUser(t, f, 120, 30)
	u.press("3", "o").expect("can't sort by age", "KEY▲")
	u.expectMarked(f.rows[0].Key)
}

// TestAKeyIsNotCutWhileColumnsAreEmpty: what has nothing in it goes first.
func TestAKeyIsNotCutWhileColumnsAreEmpty(t *testing.T) {
	f := newFake(0)
	long := "kube-system/aws-load-balancer-controller-7d5d8f7c9b-x2x4q"
	f.rows = []inspect.Row{{Key: long, ResourceVersion: "1", Created: epoch.Add(-time.Hour), Waiting: 3}}
	f.snapshot.Queue.Deltas, f.snapshot.Queue.Age = 3, time.Minute
	u := newUser(t, f, 80, 24)
	u.press("3").expect(long, " RV ")
	for _, gone := range []string{"UPDATES", "RATE/s", "WRITER"} {
		if strings.Contains(u.sees(), gone) {
			t.Errorf("%s is there and has nothing in it:\n%s", gone, u.sees())
		}
	}
}

func TestColumnsAreChosenForTheRun(t *testing.T) {
	f := several()
	u := newUser(t, f, 150, 30)
	u.press("3", "w").expect("Columns", "[x] RV")
	u.press("j", "j", "space", "esc")
	header := func() string { return u.line("CHANGED") }
	if strings.Contains(header(), "RV") {
		t.Errorf("RV is still there: %s", header())
	}
	age := strings.Index(header(), "AGE")
	u.press("w", "+", "+", "+", "esc")
	if got := strings.Index(header(), "AGE"); got != age+3 {
		t.Errorf("the key column is %d cells wider, want 3:\n%s", got-age, header())
	}
	u.press("w", "space", "esc").expect("KEY") // the first one stays
	u.press("]", "[", "3")
	if strings.Contains(header(), "RV") {
		t.Errorf("RV is back: %s", header())
	}
}

// TestColumnsWithoutRoomAreMarked: those that are chosen and are not in the table.
func TestColumnsWithoutRoomAreMarked(t *testing.T) {
	f := several()
	u := newUser(t, f, 80, 30)
	u.press("3", "w").expect("[x] KEY", "[x] WRITER")
	marked := func(title string) bool { return strings.Contains(u.line("] "+title), "no room") }
	if marked("KEY") || !marked("WRITER") {
		t.Errorf("the table has a key and no writer:\n%s", u.sees())
	}
	u.press("G", "k", "space")
	u.send(tea.WindowSizeMsg{Width: 150, Height: 30})
	if strings.Contains(u.sees(), "no room") {
		t.Errorf("all have room at 150 columns:\n%s", u.sees())
	}
}

func TestGoingToAKey(t *testing.T) {
	f := newFake(30000)
	u := newUser(t, f, 100, 24)
	u.press("3", "o")
	u.m.goTo("ns-1/web-15")
	u.look()
	u.look()
	u.expectMarked("ns-1/web-15001")
	u.press("j").expectMarked("ns-1/web-15004")
	u.m.goTo("zz")
	u.look()
	u.look()
	u.expectMarked(f.rows[len(f.rows)-1].Key)
}

func TestEntriesThatStandForAListAreNamed(t *testing.T) {
	f := newFake(20).waiting(3)
	f.queue = append([]inspect.QueueItem{
		{Position: 0, Deltas: []inspect.DeltaInfo{{Type: "ReplacedAll", Cause: inspect.CauseRelist, Objects: 48211, ResourceVersion: "9"}}},
		{Position: 1, Deltas: []inspect.DeltaInfo{{Type: "SyncAll", Cause: inspect.CauseResync, Objects: 20}}},
	}, f.queue...)
	f.snapshot.Queue.Kind, f.snapshot.Queue.Deltas, f.snapshot.Queue.Keys, f.snapshot.Queue.Objects = "InOrder", 8, 3, 48237
	for _, w := range []int{80, 120} {
		u := newUser(t, f, w, 30)
		u.press("2").expect("the whole list", "everything in the store", "8 entries │ 3 keys │ 48,237 objects", "48,211")
		u.press("enter").expect("this entry stands for many objects")
		u.press("j").expectMarked("everything in the store")
	}
}

// TestHandlersAndIndicesAreFiltered: their few rows, too.
func TestHandlersAndIndicesAreFiltered(t *testing.T) {
	f := newFake(300)
	u := newUser(t, f, 120, 30)
	for _, key := range []string{"1", "5", "6"} {
		u.press(key, "/").types("deploy").press("enter").expectMarked("deployment-controller")
		u.expect("1 of 3 match deploy")
		u.press("esc").expect("of 3")
	}
	u.press("4", "/").types("no").press("enter").expectMarked("node")
	u.expect("1 of 3 match no", "12 buckets")
	u.press("enter", "esc", "esc").expect("of 3")
}

// TestThatSomethingWaitsIsShownWhereItStays: in a queue that runs it is over
// before anybody reads it.
func TestThatSomethingWaitsIsShownWhereItStays(t *testing.T) {
	f := newFake(300)
	f.snapshot.Queue.Deltas = 3
	u := newUser(t, f, 120, 30)
	u.press("3")
	if strings.Contains(u.sees(), "WAITING") {
		t.Error("a column for what is over at once")
	}
	f.bump(func() { f.snapshot.Queue.Age = 2 * time.Second })
	u.look()
	u.expect("WAITING")
	f.bump(func() { f.snapshot.Queue.Age = 0 })
	u.look()
	u.expect("WAITING") // it does not flicker
	f.bump(func() { f.snapshot.Queue.Deltas = 0 })
	u.look()
	if strings.Contains(u.sees(), "WAITING") {
		t.Error("nothing waits, and the column is still there")
	}
}

// TestWhatTheJournalLetGoOfIsOnTheStore: biographies and diffs go back less far.
func TestWhatTheJournalLetGoOfIsOnTheStore(t *testing.T) {
	u := newUser(t, newFake(300).with(func(s *inspect.Snapshot) { s.Lost.History = 1203 }), 120, 30)
	u.press("3").expect("older history let go: 1,203   1 of 300")
	u.send(tea.WindowSizeMsg{Width: 80, Height: 24})
	u.expect("1 of 300")
	if strings.Contains(u.sees(), "let go") {
		t.Error("said where there is no room")
	}
}

// TestWhatRowsAreSortedByIsInSight however narrow the table is.
func TestWhatRowsAreSortedByIsInSight(t *testing.T) {
	f := newFake(300).written()
	for _, w := range []int{60, 80, 120} {
		u := newUser(t, f, w, 24)
		for _, by := range []string{"rv", "size", "no-op", "writer", "age"} {
			u.press("3", ":").types("sort " + by).press("enter")
			if !strings.Contains(u.sees(), strings.ToUpper(by)+"▼") && !strings.Contains(u.sees(), strings.ToUpper(by)+"▲") {
				t.Errorf("%d columns, sorted by %s:\n%s", w, by, u.line("KEY"))
			}
		}
	}
}
