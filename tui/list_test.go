package tui

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/informeter/informeter/engine/inspect"
)

// insert adds objects to the store and tells who waits.
func (f *fake) insert(keys ...string) {
	f.bump(func() {
		for _, k := range keys {
			f.rows = append(f.rows, inspect.Row{Key: k, ResourceVersion: "1"})
		}
		slices.SortFunc(f.rows, func(a, b inspect.Row) int { return strings.Compare(a.Key, b.Key) })
	})
}

func (f *fake) remove(key string) {
	f.bump(func() { f.rows = slices.DeleteFunc(f.rows, func(r inspect.Row) bool { return r.Key == key }) })
}

func TestTheSelectedRowStaysWhileOthersComeAndGo(t *testing.T) {
	f := newFake(300)
	u := newUser(t, f, 100, 24)
	u.press("3", "pgdown", "j", "j")
	before, at := strings.Fields(u.marked())[1], strings.Index(u.sees(), "▸")
	for i := range 50 {
		f.insert(fmt.Sprintf("a/%03d", i))
	}
	u.look()
	u.expectMarked(before)
	if got := strings.Index(u.sees(), "▸"); got != at {
		t.Errorf("the selected row has moved on the screen:\n%s", u.sees())
	}
	f.remove(before)
	u.look()
	if next := strings.Fields(u.marked())[1]; next <= before {
		t.Errorf("after %s was deleted %s is selected, want the one after it", before, next)
	}
}

func TestAnUntouchedListStaysAtItsTop(t *testing.T) {
	f := newFake(300)
	u := newUser(t, f, 100, 24)
	u.press("3")
	f.insert("a/000")
	u.look()
	u.expectMarked("a/000")
	u.press("j", "g")
	f.insert("a/-")
	u.look()
	u.expectMarked("a/-")
}

func TestMovingReachesEveryRow(t *testing.T) {
	f := newFake(1000)
	u := newUser(t, f, 100, 24)
	u.press("3")
	last := f.rows[len(f.rows)-1].Key
	u.press("G").expectMarked(last)
	u.press("g").expectMarked(f.rows[0].Key)
	for range 40 {
		u.press("pgdown", "pgdown", "pgdown")
	}
	u.expectMarked(last)
	for range 2000 {
		u.press("k")
	}
	u.expectMarked(f.rows[0].Key)
	u.press("ctrl+d").expectMarked(f.rows[9].Key)
	u.press("ctrl+u", "j", "j").expectMarked(f.rows[2].Key)
	u.press("O").expectMarked(last)
}

// TestAListNeverLosesItsWay moves through rows that come and go.
func TestAListNeverLosesItsWay(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		f := newFake(rapid.IntRange(0, 60).Draw(t, "objects"))
		by := rapid.SampledFrom([]inspect.Sort{inspect.SortKey, inspect.SortUpdates, inspect.SortChanged}).Draw(t, "by")
		l := newObjectRows(&table{order: order{string(by), direction(rapid.Bool().Draw(t, "desc"))}})
		l.setHeight(rapid.IntRange(0, 20).Draw(t, "height"))
		moves := []Action{ActionUp, ActionDown, ActionHalfUp, ActionHalfDown, ActionPageUp, ActionPageDown, ActionTop, ActionBottom}
		for range rapid.IntRange(1, 30).Draw(t, "steps") {
			switch rapid.IntRange(0, 5).Draw(t, "what") {
			case 0:
				f.insert(fmt.Sprintf("ns-%d/new-%d", rapid.IntRange(0, 3).Draw(t, "ns"), rapid.IntRange(0, 999).Draw(t, "name")))
			case 1:
				if len(f.rows) > 0 {
					f.remove(rapid.SampledFrom(f.rows).Draw(t, "gone").Key)
				}
				if len(f.rows) > 0 { // another one changes its place
					f.rows[rapid.IntRange(0, len(f.rows)-1).Draw(t, "changed")].Updates += 3
				}
			case 2:
				l.setHeight(rapid.IntRange(0, 20).Draw(t, "height"))
			case 3:
				l.scroll(rapid.IntRange(-9, 9).Draw(t, "wheel"))
			case 4:
				l.click(rapid.IntRange(-1, 21).Draw(t, "click"))
			case 5:
				l.handle(rapid.SampledFrom(moves).Draw(t, "move"), 80)
			}
			kept := l.cursorKey
			var page inspect.Page
			for range 2 { // where it has gone astray it asks again
				var err error
				if page, err = f.Store(t.Context(), l.query("")); err != nil {
					t.Fatal(err)
				}
				l.take(nil, answer[inspect.Page]{value: page, ok: true})
			}
			switch row, ok := l.selected(); {
			case page.Matched > 0 && l.height > 0 && !ok:
				t.Fatalf("nothing is selected of %d rows (cursor %d, top %d, start %d)", page.Matched, l.cursor, l.top, page.Start)
			case ok && kept != "" && row.Key != kept && slices.ContainsFunc(page.Rows, func(r inspect.Row) bool { return r.Key == kept }):
				t.Fatalf("%s was selected and is here, but now it is %s", kept, row.Key)
			case l.height > 0 && page.Matched > 0 && !l.visible(l.cursor):
				t.Fatalf("row %d is selected, in sight are %d from %d on", l.cursor, l.height, l.top)
			}
			if got := len(l.list.draw(10, func(inspect.Row, bool) string { return "" })); got != l.height {
				t.Fatalf("%d lines, want %d", got, l.height)
			}
		}
	})
}

func TestAFilterFollowsEachKey(t *testing.T) {
	u := newUser(t, newFake(300), 100, 24)
	u.press("3", "/").types("0010").expect("11 of 300 match 0010")
	u.press("backspace", "backspace", "backspace", "backspace").types("!ns-0")
	u.expect("200 of 300 match !ns-0")
	u.press("enter").expect("ns-1/web-00001")
	u.press("esc").expect("1 of 300")
	u.press("/").types("zzz").expect("no key matches zzz")
	u.press("esc").expect("1 of 300")
}

func TestTheNextMatchOfAFilterIsTheNextRow(t *testing.T) {
	u := newUser(t, newFake(300), 100, 24)
	u.press("3", "n").expect("nothing to find: / says what")
	u.press("/").types("0010").press("enter", "n", "n").expectMarked("ns-0/web-00108")
	u.press("N").expectMarked("ns-0/web-00105")
}
