package tui

import (
	"slices"
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"
	"pgregory.net/rapid"

	"github.com/informeter/informeter/engine/inspect"
)

// TestTheEndIsReachedAlthoughNoRowsHadComeYet: what was pressed is done once they
// come.
func TestTheEndIsReachedAlthoughNoRowsHadComeYet(t *testing.T) {
	f := newFake(300)
	last := f.rows[299].Key
	u := newUser(t, f, 100, 24)
	read := u.step("3")
	u.step("G")
	u.run(read)
	u.look()
	u.expectMarked(last)
	// A way out before they come holds.
	u = newUser(t, f, 100, 24)
	read = u.step("3")
	u.step("G")
	u.step("g")
	u.run(read)
	u.look()
	u.expectMarked(f.rows[0].Key)
}

// TestMatchesAreFoundAfterTheFilterIsGone: n and N go on to those of the last one,
// among all rows and in their order.
func TestMatchesAreFoundAfterTheFilterIsGone(t *testing.T) {
	f := newFake(300).waiting(60).lived()
	u := newUser(t, f, 100, 24)
	u.press("3", "/").types("0010").press("enter", "esc").expect("1 of 300")
	u.press("n").expectMarked("ns-0/web-00102")
	u.press("n").expectMarked("ns-0/web-00105")
	u.expect("of 300").press("N").expectMarked("ns-0/web-00102")
	u.press("N").expect("nothing before this row matches 0010")
	u.press("G", "N").expectMarked("ns-2/web-00107")
	u.press("G", "n").expect("nothing after this row matches 0010")
	// In another order, the other way round too.
	u.press("O", "g", "n").expectMarked("ns-2/web-00107")
	u.press(":").types("sort updates").press("enter", "g")
	for range 11 {
		u.press("n")
		if !strings.Contains(u.marked(), "0010") {
			t.Errorf("gone to %q", u.marked())
		}
	}
	u.press("n").expect("nothing after this row")
	// Elsewhere, and where rows are few.
	u.press("2", "G", "N").expectMarked("web-00105")
	u.press("N").expect("nothing before this row")
	u.press("5", "/").types("-co").press("enter", "esc", "g", "n").expectMarked("deployment-controller")
	u.press("1", "g", "n").expectMarked("deployment-controller")
	u.press("6", "g", "n").expectMarked("deploymen")
	u.press("4", "/").types("no").press("enter", "esc", "g", "n").expectMarked("node")
	// The lines of an object, too.
	u.press("3", "enter", "/").types("kind").press("enter", "esc", "g")
	if u.m.object.filter() != "" {
		t.Fatal("the search is still there")
	}
	u.press("n").expect("kind: Pod", "1 line has kind")
	// Nothing was looked for yet.
	newUser(t, f, 100, 24).press("3", "n").expect("nothing to find")
}

// TestEventsAndRequestsAreFoundAfterTheFilterIsGone: the rows of both are all here.
func TestEventsAndRequestsAreFoundAfterTheFilterIsGone(t *testing.T) {
	u := newUser(t, newFake(20).lived().requested(40), 120, 34)
	u.press("3", "b", "/").types("relist").press("enter", "esc", "g", "n").expectMarked("relist changed")
	u.press("n").expectMarked("relist unchanged")
	u.press("n").expect("nothing after this row matches relist").press("N").expectMarked("relist changed")
	u.press("/").types("!watch").press("enter", "esc", "g", "n").expectMarked("relist changed")
	u.press("n", "n").expectMarked("resync ×12")
	u.press("7", "/").types("too old").press("enter", "esc", "g", "n").expectMarked("WATCH")
	first := u.marked()
	u.press("n").expect("of 40").press("N")
	if again := u.marked(); !strings.Contains(first, "expired") || again != first {
		t.Errorf("gone to %s, and back to %s", first, again)
	}
	u.press("N").expect("nothing before this row matches too old")
}

// TestBucketsAreFoundAfterTheFilterIsGone in both of their orders.
func TestBucketsAreFoundAfterTheFilterIsGone(t *testing.T) {
	f := newFake(900)
	u := newUser(t, f, 100, 24)
	u.press("4", "enter", "/").types("00").press("enter", "esc")
	value := func() string {
		p := u.m.screens[screenIndices].(*indicesScreen)
		b, _ := p.buckets.selected()
		return b.Value
	}
	for _, order := range []string{"", "O", ":sort value", "O"} {
		if strings.HasPrefix(order, ":") {
			u.press(":").types(order[1:]).press("enter")
		} else if order != "" {
			u.press(order)
		}
		u.press("g")
		seen := []string{}
		if strings.Contains(value(), "00") {
			seen = append(seen, value())
		}
		for range 10 {
			was := value()
			u.press("n")
			if value() == was {
				u.expect("nothing after this row")
				break
			}
			seen = append(seen, value())
		}
		slices.Sort(seen)
		if want := []string{"app-000", "app-001", "app-002", "app-003", "app-004", "app-005", "app-006", "app-007", "app-008", "app-009"}; !slices.Equal(seen, want) {
			t.Errorf("after %q: %v", order, seen)
		}
	}
}

// TestARankIsSought against a walk from row to row.
func TestARankIsSought(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rows := rapid.SliceOfNDistinct(rapid.IntRange(0, 30), 0, 12, rapid.ID).Draw(t, "rows")
		slices.Sort(rows)
		from := rapid.IntRange(-1, 31).Draw(t, "from")
		forward := rapid.Bool().Draw(t, "forward")
		row, found, err := seekRank(len(rows), func(i int) (int, error) { return rows[i], nil },
			func(r int) bool { return r < from }, func(r int) bool { return r == from }, forward)
		want := -1
		for _, r := range rows {
			if forward && r > from {
				want = r
				break
			}
			if !forward && r < from {
				want = r
			}
		}
		if err != nil || found != (want >= 0) || found && row != want {
			t.Fatalf("from %d in %v, forward %v: %d, %v, %v; want %d", from, rows, forward, row, found, err, want)
		}
	})
	_, _, err := seekRank(3, func(int) (int, error) { return 0, inspect.ErrNotFound }, func(int) bool { return false }, func(int) bool { return false }, true)
	if err == nil {
		t.Error("an error is lost")
	}
}

// TestAQueueIsSortedByItsTitles by key and by click, back again, and matches are
// found in the order shown.
func TestAQueueIsSortedByItsTitles(t *testing.T) {
	f := newFake(300).waiting(60)
	u := newUser(t, f, 120, 24)
	keys := make([]string, len(f.queue))
	for i := range f.queue {
		keys[i] = f.queue[i].Key
	}
	least, most := slices.Min(keys), slices.Max(keys)
	selected := func(want string) {
		t.Helper()
		if row, _ := u.m.screens[screenQueue].(*queueScreen).rows.selected(); row.Key != want {
			t.Errorf("%s is selected, want %s", row.Key, want)
		}
	}
	u.press("2")
	selected(keys[0])
	u.press("<").expect("by key ▲")
	selected(least)
	u.press("O").expect("by key ▼")
	selected(most)
	u.press("o", "o", "o").expect("by deltas ▼")
	row, _ := u.m.screens[screenQueue].(*queueScreen).rows.selected()
	for i := range f.queue {
		if len(f.queue[i].Deltas)+f.queue[i].More > len(row.Deltas)+row.More {
			t.Errorf("more deltas wait for %s than for the first row", f.queue[i].Key)
		}
	}
	lines := strings.Split(u.sees(), "\n")
	y := slices.IndexFunc(lines, func(l string) bool { return strings.Contains(l, "DELTAS▼") })
	click := func(title string) {
		u.send(tea.MouseClickMsg{X: width(lines[y][:strings.Index(lines[y], title)]), Y: y, Button: tea.MouseLeft})
	}
	click("KEY")
	u.expect("by key ▲")
	u.press("/").types("003").press("enter", "esc", "g", "n").expectMarked("ns-0/web-00315")
	u.press("n").expectMarked("ns-0/web-00336")
	u.press("N").expectMarked("ns-0/web-00315")
	u.press("N").expect("nothing before this row matches 003")
	click("NO.")
	selected(keys[0])
	u.press("n").expectMarked("ns-2/web-00035")
}
