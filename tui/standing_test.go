package tui

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/informeter/informeter/engine/inspect"
)

// backlogged is an informer whose audit handler is in a call, with some waiting
// and some done.
func backlogged(waits, told int) *fake {
	f := newFake(60)
	f.moments = []inspect.Moment{}
	for i := range waits + told {
		d := inspect.Delivery{Handler: "audit", Pending: i < waits-1, Calling: i == waits-1, Began: epoch.Add(-time.Duration(i) * time.Second), Took: 12 * time.Millisecond}
		f.moments = append(f.moments, inspect.Moment{
			Seq: uint64(waits + told - i), Key: fmt.Sprintf("shop/pod-%03d", waits+told-i), Type: "updated", Cause: inspect.CauseWatch,
			Published: epoch.Add(-time.Duration(i) * 2 * time.Second), Deliveries: []inspect.Delivery{d, {Handler: "other"}},
		})
	}
	return f
}

// rowsOf returns the keys on the screen from a title on, in order.
func rowsOf(screen, from, to string) []string {
	_, part, _ := strings.Cut(screen, from)
	part, _, _ = strings.Cut(part, to)
	var keys []string
	for _, word := range strings.Fields(part) {
		if key, ok := strings.CutPrefix(strings.TrimLeft(word, "▸▶"), "shop/pod-"); ok {
			keys = append(keys, key)
		}
	}
	return keys
}

func TestWhatWaitsForAHandlerStandsBesideItAndCanBeOpened(t *testing.T) {
	for _, w := range []int{80, 120, 160, 200} {
		f := backlogged(5, 4)
		u := newUser(t, f, w, 40).press("5")
		beside := strings.Contains(u.sees(), "WAITS, NEXT FIRST")
		if beside != (w >= threePanes) {
			t.Errorf("at %d columns what waits stands beside the handlers: %v", w, beside)
		}
		u.press("enter").expect("pods › Handlers › audit", "WAITS, NEXT FIRST")
		if got := rowsOf(u.sees(), "WAITS", "TOLD"); strings.Join(got, " ") != "005 006 007 008 009" {
			t.Errorf("at %d columns there wait %q, want the oldest first", w, got)
		}
		if got := rowsOf(u.sees(), "TOLD", "esc"); strings.Join(got, " ") != "004 003 002 001" {
			t.Errorf("at %d columns it was told %q, want the newest first", w, got)
		}
		u.press("j", "j", "enter").expect("shop/pod-007")
		if u.m.object == nil || u.m.object.key != "shop/pod-007" {
			t.Errorf("at %d columns enter did not open the selected one", w)
		}
		// One step back at a time.
		u.press("esc").expect("pods › Handlers › audit")
		u.press("esc")
		if strings.Contains(u.sees(), "› audit") || u.m.current != screenHandlers {
			t.Errorf("at %d columns esc does not go back to the handlers", w)
		}
		u.press("5", "tab", "b")
		if u.m.object == nil || u.m.object.page != pageBiography || u.m.object.key != "shop/pod-007" {
			t.Errorf("at %d columns b does not open the biography of the one selected before", w)
		}
	}
}

func TestAnotherHandlersBacklogIsNeverShown(t *testing.T) {
	f := backlogged(5, 4)
	u := newUser(t, f, 180, 40).press("5").expect("shop/pod-005")
	u.m.Update(keyPress(t, "k")) // and nothing is read yet
	if strings.Contains(u.sees(), "shop/pod-005") {
		t.Errorf("the rows are those of the handler before:\n%s", u.sees())
	}
	u.look()
	u.press("k", "k").expect("This is the explorer's own handler")
}

func TestABacklogThatIsNotRememberedIsSaidToBe(t *testing.T) {
	f := backlogged(0, 0).with(func(s *inspect.Snapshot) { s.Listeners[2].Pending = 4120 })
	u := newUser(t, f, 180, 40).press("5").expect("4,120, longer ago than is remembered")
	f.with(func(s *inspect.Snapshot) { s.Listeners[2].Synced = false })
	u.look()
	u.expect("4,120; what it is given to start with comes first")
	f.with(func(s *inspect.Snapshot) { s.Listeners[2].Pending = 0 })
	u.look()
	u.expect("nothing")
	f.moments = nil
	u.look()
	u.expect("What waits for a handler is not known here.")
}

func TestAFrozenBacklogStaysAsItWas(t *testing.T) {
	f := backlogged(5, 4)
	u := newUser(t, f, 180, 40).press("5", "f")
	before := rowsOf(u.sees(), "WAITS", "TOLD")
	f.moments = backlogged(9, 2).moments
	u.press("tab", "j")
	if got := rowsOf(u.sees(), "WAITS", "TOLD"); strings.Join(got, " ") != strings.Join(before, " ") {
		t.Errorf("frozen, it showed %q and now %q", before, got)
	}
}
