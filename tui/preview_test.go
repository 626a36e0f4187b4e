package tui

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"

	"github.com/informeter/informeter/engine/inspect"
)

// large makes the object of the first key one of 200 lines.
func (f *fake) large() *fake {
	data := map[string]string{}
	for i := range 197 {
		data[fmt.Sprintf("key-%03d", i)] = "value of " + f.rows[0].Key
	}
	text, err := json.Marshal(map[string]any{"apiVersion": "v1", "kind": "ConfigMap", "data": data})
	if err != nil {
		panic(err)
	}
	o := object(f.rows[0].Key)
	o.JSON = text
	f.objects[o.Key] = o
	return f
}

// step presses a key and reads nothing: what the screen shows before any answer.
func (u *user) step(key string) tea.Cmd {
	u.tb.Helper()
	_, cmd := u.m.Update(keyPress(u.tb, key))
	return cmd
}

// beside returns what stands right of the line between the panes.
func (u *user) beside() string {
	var b strings.Builder
	for l := range strings.Lines(u.sees()) {
		if _, right, ok := strings.Cut(l, "│"); ok {
			b.WriteString(right)
		}
	}
	return b.String()
}

func (u *user) expectBeside(texts ...string) {
	u.tb.Helper()
	for _, text := range texts {
		if !strings.Contains(u.beside(), text) {
			u.tb.Errorf("beside the rows %q is missing:\n%s", text, u.sees())
		}
	}
}

func TestThePreviewFollowsTheSelection(t *testing.T) {
	f := newFake(50)
	u := newUser(t, f, 160, 40)
	for i, key := range []string{"3", "j", "j"} {
		u.press(key).expectMarked(f.rows[i].Key)
		u.expectBeside("name: "+f.rows[i].Key, "kind: Pod", "2 entries of managed fields folded away")
	}
	u.press("k")
	u.expectBeside("name: " + f.rows[1].Key)
}

// TestThePreviewNeverShowsAnotherObject: between a key and the answer to it there
// is nothing rather than what was there before.
func TestThePreviewNeverShowsAnotherObject(t *testing.T) {
	f := newFake(50)
	u := newUser(t, f, 160, 40)
	u.press("3").expectBeside("name: " + f.rows[0].Key)
	u.step("j")
	if text := u.beside(); strings.Contains(text, f.rows[0].Key) || !strings.Contains(text, f.rows[1].Key) || strings.Contains(text, "kind:") {
		t.Errorf("%s is selected and not read, and beside it stands\n%s", f.rows[1].Key, text)
	}
}

// TestMovingDoesNotReadObjects: rows come first, and an object only once a frame
// has come with its row selected.
func TestMovingDoesNotReadObjects(t *testing.T) {
	u := newUser(t, newFake(500), 160, 40)
	u.press("3")
	for _, key := range []string{"j", "pgdown", "pgdown", "G"} {
		u.step(key)
		if r := u.m.request(); r.object.on || !r.store.on {
			t.Fatalf("after %s the object of %q is asked for with the rows", key, r.object.query.key)
		}
	}
	u.look()
	u.expectBeside("kind: Pod")
}

func TestWhereThereIsNoRoomNoObjectIsRead(t *testing.T) {
	f := newFake(50).waiting(20)
	for _, screen := range []string{"2", "3"} {
		u := newUser(t, f, 159, 40)
		u.press(screen, "j", "tab")
		u.look()
		if r := u.m.request(); r.object.on {
			t.Errorf("on screen %s of 159 columns %+v is asked for", screen, r.object.query)
		}
		u.expectMarked(f.rows[0].Key[:2]) // tab has left the keys with the rows
		u.send(tea.WindowSizeMsg{Width: 160, Height: 40})
		u.look()
		if r := u.m.request(); !r.object.on {
			t.Errorf("on screen %s of 160 columns no object is asked for", screen)
		}
	}
}

func TestTheFocusedPreviewScrolls(t *testing.T) {
	f := newFake(50).large()
	u := newUser(t, f, 160, 40)
	u.press("3").expectBeside("168 lines more", "key-000")
	u.press("tab", "j", "j", "j").expectBeside("165 lines more")
	u.expect("lines 4–")
	if strings.Contains(u.beside(), "apiVersion") {
		t.Errorf("it has not scrolled:\n%s", u.sees())
	}
	u.press("G").expectBeside("key-196")
	if strings.Contains(u.beside(), "more") {
		t.Errorf("at its end there is more:\n%s", u.sees())
	}
	u.press("g").expectBeside("168 lines more")
	u.press("esc", "j")
	u.expectMarked(f.rows[1].Key)
	u.press("k", "right", "enter").expect("pods › Store › "+f.rows[0].Key, "Biography")
	u.press("esc", "left", "j")
	u.expectMarked(f.rows[1].Key)
}

func TestAPreviewThatLosesItsRoomGivesTheKeysBack(t *testing.T) {
	f := newFake(50)
	u := newUser(t, f, 160, 40)
	u.press("3", "tab")
	u.send(tea.WindowSizeMsg{Width: 120, Height: 40})
	u.press("j")
	u.expectMarked(f.rows[1].Key)
}

func TestAnUnchangedObjectIsNotReadAgain(t *testing.T) {
	f := newFake(50)
	f.rows[0].ResourceVersion = "184467" // that of the fake's objects
	u := newUser(t, f, 160, 40)
	u.press("3")
	u.look()
	shown := u.m.screens[screenStore].(*storeScreen).preview.shown
	o := object(f.rows[0].Key)
	o.JSON = json.RawMessage(`{"kind":"Other"}`)
	f.objects[o.Key] = o
	u.look()
	if got := u.m.screens[screenStore].(*storeScreen).preview.shown; got != shown {
		t.Error("an object whose version is that of its row was read again")
	}
	f.rows[0].ResourceVersion = "184468"
	o.ResourceVersion = "184468"
	f.objects[o.Key] = o
	u.look()
	u.expectBeside("kind: Other", "rv 184468")
}

// TestAStalePreviewIsDimmed: what the last frame did not bring has no colours but
// one.
func TestAStalePreviewIsDimmed(t *testing.T) {
	f := newFake(50)
	u := newUser(t, f, 160, 40)
	u.press("3", "1")
	u.step("3")
	if fresh := u.m.screens[screenStore].(*storeScreen).preview.fresh(u.m.frame); fresh {
		t.Fatal("the frame of another screen is taken for one with the object")
	}
	faint := string(u.m.theme.faint) + "  apiVersion: v1"
	if !strings.Contains(u.m.View().Content, faint) {
		t.Errorf("the object is not dimmed:\n%q", u.m.View().Content)
	}
	u.look()
	if strings.Contains(u.m.View().Content, faint) {
		t.Error("the object stays dimmed after it was read")
	}
}

func TestTheQueueShowsWhatWaitsForTheSelectedKey(t *testing.T) {
	f := newFake(500).waiting(20)
	f.queue[3] = inspect.QueueItem{Key: f.rows[3].Key, Position: 2, Age: f.queue[3].Age, More: 40, Deltas: []inspect.DeltaInfo{
		{Type: "Added", Cause: inspect.CauseWatch, ResourceVersion: "70001", Age: 3200e6, Objects: 1},
		{Type: "Deleted", Cause: inspect.CauseRelist, ResourceVersion: "70002", Age: 1100e6, Objects: 1, Tombstone: true},
	}}
	u := newUser(t, f, 160, 50)
	u.press("2", "j", "j", "j")
	u.expectBeside("no. 3, 42 deltas", "A Added", "D Deleted", "3.2s", "70001", "tombstone", "40 more", "in the store now", "name: "+f.rows[3].Key)
	text := u.beside()
	if strings.Index(text, "Added") > strings.Index(text, "Deleted") {
		t.Errorf("the oldest is not the first:\n%s", text)
	}
	u.press("enter").expect("pods › Queue › " + f.rows[3].Key)
	u.press("esc", "tab", "esc", "j")
	u.expectMarked(f.queue[4].Key)
	u.expectBeside("name: " + f.queue[4].Key)
}

func TestTheQueueSaysThatAKeyIsNotInTheStore(t *testing.T) {
	f := newFake(500).waiting(20)
	f.queue[1].Key = "ns-9/new"
	u := newUser(t, f, 200, 50)
	u.press("2", "j")
	u.expectBeside("not in the store")
}

func TestAWholeListIsNotLookedUp(t *testing.T) {
	u := newUser(t, newFake(500).waiting(20).ordered(), 200, 50)
	u.press("2")
	for range 20 {
		if row, _ := u.m.screens[screenQueue].(*queueScreen).rows.selected(); row.Key == "" {
			u.expectBeside("stands for many objects")
			if r := u.m.request(); r.object.on {
				t.Errorf("%+v is asked for", r.object.query)
			}
			return
		}
		u.press("j")
	}
	t.Fatal("no entry stands for many objects")
}

// TestDeltasWithoutRoomAreCounted: below the queue stand those that fit, the oldest
// first, and how many there are besides.
func TestDeltasWithoutRoomAreCounted(t *testing.T) {
	f := newFake(500).waiting(20)
	item := &f.queue[0]
	item.InFlight, item.Position = false, 0
	item.Deltas = slices.Repeat([]inspect.DeltaInfo{{Type: "Updated", Cause: inspect.CauseWatch, Age: 3100e6, Objects: 1}}, 8)
	for more := range 90 {
		item.More = more
		l := newUser(t, f, 60+more, 30).press("2").line("no. 1")
		stand, said := strings.Count(l, "U watch 3.1s"), 0
		if _, after, ok := strings.Cut(l, "+"); ok {
			if _, err := fmt.Sscanf(after, "%d more", &said); err != nil {
				t.Errorf("at %d columns the count is cut: %s", 60+more, l)
			}
		}
		if stand+said != 8+more || stand == 0 {
			t.Errorf("%d deltas stand there and %d more, of %d: %s", stand, said, 8+more, l)
		}
	}
}

// TestTheSelectedRowIsSeenWithoutColours though its key is in flight or its call
// under way: both are marked.
func TestTheSelectedRowIsSeenWithoutColours(t *testing.T) {
	for _, w := range []int{60, 80, 120, 200} {
		f := newFake(500).waiting(30)
		u := newUser(t, f, w, 30).press("2")
		if row := u.marked(); !strings.HasPrefix(row, "▸▶"+f.queue[0].Key) {
			t.Errorf("at %d columns the selected row, in flight, is %q", w, row)
		}
		u.press("j")
		if row := u.marked(); !strings.HasPrefix(row, "▸ "+f.queue[1].Key) || u.line("▶ "+f.queue[0].Key) == "" {
			t.Errorf("at %d columns the selected row is %q", w, row)
		}
		u = newUser(t, backlogged(3, 2), w, 30).press("5", "enter")
		if row := u.marked(); !strings.Contains(row, "▸▶shop/") {
			t.Errorf("at %d columns the selected call is %q", w, row)
		}
	}
}
