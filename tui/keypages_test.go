package tui

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/charmbracelet/x/ansi"
	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/informeter/informeter/engine/inspect"
)

const (
	oldUID = "1f0a4c1e-0000-4000-8000-00000000000a"
	newUID = "1f0a4c1e-0000-4000-8000-00000000000b"
)

// lived gives the first object a life: it came with the initial list, was written
// by two managers, deleted while nobody watched, and made anew.
func (f *fake) lived() *fake {
	key := f.rows[0].Key
	at := func(seconds int) time.Time { return epoch.Add(time.Duration(seconds-300) * time.Second) }
	delivered := func(at time.Time, pending bool) []inspect.Delivery {
		return []inspect.Delivery{
			{Handler: "deployment-controller", Began: at.Add(2 * time.Millisecond), Took: 80 * time.Microsecond},
			{Handler: "audit", Began: at.Add(8 * time.Second), Took: 1900 * time.Microsecond, Pending: pending},
		}
	}
	b := inspect.Biography{Key: key, Exists: true, Since: at(0), Forgotten: 31}
	add := func(seconds int, e inspect.KeyEvent) {
		e.At, e.Seq = at(seconds), uint64(len(b.Events)+1)
		b.Events = append(b.Events, e)
	}
	add(1, inspect.KeyEvent{Type: "added", Cause: inspect.CauseLateJoin, ResourceVersion: "180000", UID: oldUID, Version: 1, Writer: "kube-scheduler"})
	add(20, inspect.KeyEvent{
		Type: "updated", Cause: inspect.CauseWatch, ResourceVersion: "180100", UID: oldUID, Version: 2, Writer: "kubelet", Compared: true,
		Changed: []string{".status.phase", ".status.podIP"}, Waited: 1300 * time.Microsecond, Deliveries: delivered(at(20), false),
	})
	add(25, inspect.KeyEvent{Type: "updated", Cause: inspect.CauseWatch, ResourceVersion: "180104", UID: oldUID, Version: 3, Writer: "load-balancer-controller", Compared: true, Waited: 80 * time.Microsecond})
	add(60, inspect.KeyEvent{Type: "updated", Cause: inspect.CauseResync, ResourceVersion: "180104", UID: oldUID, Times: 12})
	add(100, inspect.KeyEvent{Cause: inspect.CauseRelistUnchanged, ResourceVersion: "180104", UID: oldUID, Skipped: "same resource version, and no handler is due"})
	add(140, inspect.KeyEvent{Type: "deleted", Cause: inspect.CauseRelistChanged, ResourceVersion: "180104", UID: oldUID, Tombstone: true, Deliveries: delivered(at(140), false)})
	add(150, inspect.KeyEvent{Type: "added", Cause: inspect.CauseWatch, ResourceVersion: "180200", UID: newUID, Version: 4, Writer: "kubelet", Waited: 2 * time.Second})
	add(299, inspect.KeyEvent{
		Type: "updated", Cause: inspect.CauseWatch, ResourceVersion: "180300", UID: newUID, Version: 5, Writer: "kubelet", Compared: true,
		Changed: []string{`.metadata.annotations["example.com/checksum"]`, ".spec.containers[0].image"}, Waited: 700 * time.Microsecond, Deliveries: delivered(at(299), true),
	})
	other := inspect.Biography{Key: "ns-9/gone", Since: at(0), Events: []inspect.KeyEvent{
		{Seq: 1, At: at(3), Type: "added", Cause: inspect.CauseWatch, ResourceVersion: "7", UID: "2f0a4c1e-0000-4000-8000-00000000000c", Version: 1},
		{Seq: 2, At: at(4), Type: "deleted", Cause: inspect.CauseWatch, ResourceVersion: "8", UID: "2f0a4c1e-0000-4000-8000-00000000000c", Version: 2},
	}}
	f.lives = []inspect.Biography{b, other}
	f.diff = func(r inspect.DiffRequest) (inspect.Diff, error) {
		raw := func(v any) json.RawMessage {
			text, err := json.Marshal(v)
			if err != nil {
				panic(err)
			}
			return text
		}
		return inspect.Diff{Key: r.Key, FromRV: fmt.Sprint(r.From), ToRV: fmt.Sprint(r.To), Changes: []inspect.Change{
			{Path: `.metadata.labels["tier"]`, From: raw("front"), To: raw("back")},
			{Path: ".metadata.resourceVersion", From: raw("180200"), To: raw("180300"), Noise: true},
			{Path: ".spec.containers[1]", To: raw(map[string]any{"name": "sidecar", "image": "r/proxy:2", "args": []string{"-v", "4"}})},
			{Path: ".spec.volumes[0]", From: raw(map[string]any{"name": "cache"})},
			{Path: ".data.config", From: raw("a: 1\nb: 2\nc: 3\nd: 4\ne: 5\n"), To: raw("a: 1\nb: 2\nc: 3\nd: 9\ne: 5\nf: 6\n")},
			{Path: ".stringData.password", Hidden: true},
			{Path: ".spec.replicas", From: raw(3), To: raw(5)},
		}}, nil
	}
	return f
}

// once leaves only one version of the first object.
func (f *fake) once() *fake {
	f.lives[0].Events = f.lives[0].Events[:1]
	return f
}

// without deletes the first object from the store; its row stays until it is read
// again.
func (f *fake) without() *fake {
	f.lives[0].Exists = false
	f.lives[0].Events = f.lives[0].Events[:6]
	return f
}

func TestADiffShowsWhatChangedAndHidesNoise(t *testing.T) {
	f := newFake(20).lived()
	u := newUser(t, f, 100, 40)
	u.press("3", "d").expect(
		"version 5 of 5 kept", "rv 180200", "rv 180300", "the newest", "by kubelet",
		`.metadata.labels["tier"]`, "- front", "+ back", "+ - \"-v\"", "- name: cache", "- d: 4", "+ d: 9", "+ f: 6",
		"~ changed; what it is stays hidden", "- 3", "+ 5")
	for _, hidden := range []string{".metadata.resourceVersion", "- a: 1"} {
		if strings.Contains(u.sees(), hidden) {
			t.Errorf("%q is shown:\n%s", hidden, u.sees())
		}
	}
	u.press("m").expect(".metadata.resourceVersion   noise", "- \"180200\"")
	if want := (inspect.DiffRequest{Key: f.rows[0].Key, From: 4, To: 5}); f.diffed[len(f.diffed)-1] != want {
		t.Errorf("asked for %+v, want %+v", f.diffed[len(f.diffed)-1], want)
	}
}

func TestAnyTwoVersionsCanBeCompared(t *testing.T) {
	f := newFake(20).lived()
	u := newUser(t, f, 100, 30)
	u.press("3", "d")
	for _, step := range []struct {
		key      string
		from, to uint64
	}{
		{"h", 3, 4},
		{"h", 2, 3},
		{"left", 1, 2},
		{"h", 1, 2},
		{"l", 2, 3},
		{"l", 3, 4},
		{"H", 2, 4},
		{"H", 1, 4},
		{"H", 1, 4},
		{"L", 2, 4},
		{"l", 4, 5},
		{"l", 4, 5},
		{"H", 3, 5},
	} {
		u.press(step.key)
		got := f.diffed[len(f.diffed)-1]
		if got.From != step.from || got.To != step.to {
			t.Fatalf("after %s %d and %d are compared, want %d and %d", step.key, got.From, got.To, step.from, step.to)
		}
	}
}

// TestTheDiffFollowsTheNewestVersion until another is chosen.
func TestTheDiffFollowsTheNewestVersion(t *testing.T) {
	f := newFake(20).lived()
	u := newUser(t, f, 100, 30)
	u.press("3", "d")
	grow := func(version uint64) {
		f.bump(func() {
			f.lives[0].Events = append(slices.Clone(f.lives[0].Events), inspect.KeyEvent{Seq: version * 100, At: epoch, Type: "updated", ResourceVersion: fmt.Sprint(180000 + version), Version: version})
		})
		u.look()
		u.look()
	}
	grow(6)
	if got := f.diffed[len(f.diffed)-1]; got.From != 5 || got.To != 6 {
		t.Errorf("%d and %d are compared, want the two newest", got.From, got.To)
	}
	u.press("h")
	grow(7)
	if got := f.diffed[len(f.diffed)-1]; got.From != 4 || got.To != 5 {
		t.Errorf("%d and %d are compared, want the two that were chosen", got.From, got.To)
	}
}

func TestABiographyTellsEverything(t *testing.T) {
	f := newFake(20).lived()
	for _, w := range []int{80, 120, 200} {
		u := newUser(t, f, w, 34)
		u.press("3", "b").expect("in the store", "watch", "resync ×12", "kubelet", "another UID", "tombstone", "skipped: same resource")
		if w >= 120 {
			u.expect("31 older ones forgotten", "180300", "700µs", "1/2")
		}
		// The newest first, with all about it.
		u.expectMarked("11:59:59")
		u.expect("uid "+newUID, "deployment-controller after 2.0ms, took 80µs", "audit waits for it", "waited 700µs")
		u.press("O").expectMarked("late join")
		u.press("G").expectMarked("watch")
	}
}

func TestAnEventOpensItsDiff(t *testing.T) {
	f := newFake(20).lived()
	u := newUser(t, f, 100, 34)
	u.press("3", "b", "O", "j").expectMarked("180100")
	u.press("enter").expect("- front")
	if got := f.diffed[len(f.diffed)-1]; got.From != 1 || got.To != 2 {
		t.Errorf("%d and %d are compared, want the event's and the one before", got.From, got.To)
	}
	u.press("esc").expectMarked("180100")
	u.press("j", "j", "enter").expect("this version is not kept")
}

func TestABiographyIsFoundByAnOldUID(t *testing.T) {
	f := newFake(20).lived()
	u := newUser(t, f, 120, 34)
	u.press("3", "j", "b").expect("nothing is known of it")
	u.press("/").types("2f0a4c1e-0000-4000-8000-00000000000c").press("enter")
	u.expect("ns-9/gone", "not in the store any more")
	u.press("esc", "esc")
	u.m.openUID(oldUID)
	u.look()
	u.expect(f.rows[0].Key, "180104")
	u.m.openUID("nobody")
	u.look()
	u.expect("nothing is known of it")
}

func TestABiographyIsSearched(t *testing.T) {
	u := newUser(t, newFake(20).lived(), 120, 34)
	u.press("3", "b", "/").types("kubelet").press("enter").expect("3 of 8 match kubelet")
	u.press("esc", "/").types(".status").press("enter").expect("1 of 8 match").expectMarked("180100")
	u.press("esc", "/").types("zzz").press("enter").expect("no event has zzz")
}

func TestTheBucketsOfAnObjectLeadToThem(t *testing.T) {
	f := newFake(20)
	u := newUser(t, f, 160, 34)
	u.press("3", "i").expect("namespace", "default", "no bucket: its index function has no value")
	u.press("enter").expect("4 Indices")
	p := u.m.screens[screenIndices].(*indicesScreen)
	if u.m.object != nil || p.index != "namespace" || p.value != "default" || p.focus != levelObjects {
		t.Errorf("at %s/%s, level %d", p.index, p.value, p.focus)
	}
}

func TestYAMLFolds(t *testing.T) {
	u := newUser(t, newFake(20), 100, 34)
	u.press("3", "enter", "j", "j").expect("labels:", "app: web")
	u.press("space").expect("metadata:  … 5 lines")
	if strings.Contains(u.sees(), "app: web") {
		t.Errorf("what is folded is shown:\n%s", u.sees())
	}
	u.press("enter").expect("app: web")
	u.press("Z").expect("metadata:  … 5 lines", "spec:  … 4 lines")
	u.press("/").types("front").press("enter").expect("tier: front", "spec:  … 4 lines") // opens what it is in
	u.press("Z").expect("image:")
}

func TestAnObjectStaysWhereItIsWhileItChanges(t *testing.T) {
	f := newFake(20)
	key := f.rows[0].Key
	big := func(rv int, extra bool) inspect.Object {
		data := map[string]any{}
		for i := range 3000 {
			data[fmt.Sprintf("key-%04d", i)] = fmt.Sprint("value ", i, " of ", rv)
		}
		if extra {
			data["a"] = "new"
		}
		o := object(key)
		o.JSON, _ = json.Marshal(map[string]any{"kind": "ConfigMap", "data": data})
		o.ResourceVersion = fmt.Sprint(rv)
		return o
	}
	f.objects[key] = big(1, false)
	u := newUser(t, f, 100, 34)
	u.press("3", "enter", "/").types("key-2000").press("enter").expect("value 2000 of 1", "1 line has key-2000")
	f.bump(func() { f.objects[key] = big(2, false) })
	u.look()
	u.expect("value 2000 of 2")
}

// TestDiffLinesAreBoth: the lines without sign and with one sign are what was, or
// is.
func TestDiffLinesAreBoth(t *testing.T) {
	texts := rapid.SliceOfN(rapid.SampledFrom([]string{"a", "b", "c", "d"}), 2, 12)
	rapid.Check(t, func(t *rapid.T) {
		from, to := texts.Draw(t, "from"), texts.Draw(t, "to")
		var was, is []string
		for _, l := range middle(from, to, false) {
			if l.sign != '+' {
				was = append(was, l.text)
			}
			if l.sign != '-' {
				is = append(is, l.text)
			}
		}
		if diff := cmp.Diff(from, was) + cmp.Diff(to, is); diff != "" {
			t.Fatal(diff)
		}
	})
}

// TestVeryLargeObjectsAreDrawn: one line of two megabytes, and very many lines.
func TestVeryLargeObjectsAreDrawn(t *testing.T) {
	f := newFake(3)
	key := f.rows[0].Key
	o := object(key)
	o.JSON, _ = json.Marshal(map[string]any{"long": strings.Repeat("x", 2<<20), "wide": strings.Repeat("世", 1<<19), "many": strings.Repeat("line\n", 100_000)})
	f.objects[key] = o
	u := newUser(t, f, 100, 34)
	u.press("3", "enter").expect("long: xxx", "of 100,003")
	u.press("l", "l", "G").expect("lines 99,", "of 100,003")
	if err := checkScreen(u.m.View().Content, 100, 34); err != nil {
		t.Error(err)
	}
}

// TestABiographySaysWhatWaits goes from the queue to a key's biography.
func TestABiographySaysWhatWaits(t *testing.T) {
	f := newFake(20).lived().waiting(4)
	u := newUser(t, f, 120, 40)
	key := f.queue[0].Key
	f.queue[0] = inspect.QueueItem{Key: key, Position: 7, More: 2, Deltas: []inspect.DeltaInfo{
		{Type: "Updated", Age: 4 * time.Second}, {Type: "Deleted", Age: time.Second},
	}}
	f.queue[1].Key = strings.ToUpper(key) // another key
	u.look()
	u.press("2", "b").expect("4 deltas in the queue, after 7  U 4s  D 1s  +2 more")
	f.queue = f.queue[1:]
	f.snapshot.Generation++
	u.look()
	if strings.Contains(u.sees(), "in the queue, after") {
		t.Error("what has been handled still waits")
	}
}

// TestABiographySaysWhatWasMerged: an event may stand for others that waited with
// it, and a handler may be told of a later one instead.
func TestABiographySaysWhatWasMerged(t *testing.T) {
	f := newFake(20).lived()
	events := f.lives[0].Events
	last, deleted := &events[len(events)-1], &events[5]
	last.Merged, last.MergedWhy = 3, inspect.MergedCompressed
	last.Deliveries[1] = inspect.Delivery{Handler: "audit", Merged: true}
	deleted.Merged, deleted.MergedWhy = 1, inspect.MergedDeletions
	u := newUser(t, f, 120, 40)
	u.press("3", "b").expect(
		"1/2  ", // audit was not called with it, and will not be
		"tombstone  +1 more", "+3 more  .metadata",
		"waited 700µs   and 3 more, compressed in the queue",
		"audit was behind: merged into a later one",
	)
	u.press("j", "j").expect("and 1 more, deletions of what was about to be deleted")
	u.press("/", "c", "o", "m", "p", "r", "enter").expect("1 of 8")
}

func TestWhatWaitsFitsAnyWidth(t *testing.T) {
	q := waits{position: 3, more: 120, deltas: make([]inspect.DeltaInfo, 16)}
	for w := 30; w < 200; w++ {
		l := ansi.Strip(q.draw(newTheme(true), w))
		if width(l) != w || !strings.Contains(l, " more") && w > 46 {
			t.Errorf("in %d cells: %q", w, l)
		}
	}
}

// TestABiographySaysWhichHandlerIsInTheCall: a call that has not returned has
// taken nothing yet.
func TestABiographySaysWhichHandlerIsInTheCall(t *testing.T) {
	f := newFake(20).lived()
	events := f.lives[0].Events
	events[len(events)-1].Deliveries[1] = inspect.Delivery{Handler: "audit", Began: epoch.Add(-3 * time.Second), Calling: true}
	u := newUser(t, f, 120, 40)
	u.press("3", "b").expect("audit in the call for 3.0s")
	if strings.Contains(u.sees(), "took 0s") {
		t.Error("a call that has not returned took no time")
	}
	if row := u.marked(); !strings.Contains(row, " 1/2 ") { // and it has not been told yet
		t.Errorf("of two handlers one has returned: %s", row)
	}
}

// TestABiographySaysHowOftenACauseCame: the count is never what is cut off.
func TestABiographySaysHowOftenACauseCame(t *testing.T) {
	f := newFake(20).lived()
	event := &f.lives[0].Events[4]
	event.Times = 2
	for _, w := range []int{80, 120, 200} {
		newUser(t, f, w, 34).press("3", "b").expect("relist unchanged ×2 ")
	}
	event.Times = 12345
	newUser(t, f, 80, 34).press("3", "b").expect("unchanged ×12,345 ")
	newUser(t, f, 120, 34).press("3", "b").expect("relist unchanged ×12,345 ")
}

// TestWhatChangedHasWhatTheCausesLeave: it is not cut while there are blank columns.
func TestWhatChangedHasWhatTheCausesLeave(t *testing.T) {
	const path = `.metadata.annotations["cluster-autoscaler.kubernetes.io/safe-to-evict"]`
	f := newFake(20).lived()
	f.lives[0].Events = f.lives[0].Events[len(f.lives[0].Events)-1:]
	e := &f.lives[0].Events[0]
	e.Cause, e.Changed = inspect.CauseResync, []string{path}
	for w := 80; w <= 200; w++ {
		u := newUser(t, f, w, 34).press("3", "b")
		row := u.marked()
		if !strings.Contains(row, "  U  resync  ") || !strings.Contains(row, "  kubelet  ") || strings.Contains(row, "resync   ") {
			t.Errorf("at %d columns: %s", w, row)
		}
		if whole := strings.Contains(row, path); whole != (w >= 134) {
			t.Errorf("at %d columns the path is whole: %v\n%s", w, whole, row)
		}
	}
}

// TestTheWriterIsNamedInFull: at any width, in a biography and in a diff.
func TestTheWriterIsNamedInFull(t *testing.T) {
	const writer = "load-balancer-controller"
	f := newFake(20).lived()
	events := f.lives[0].Events
	events[len(events)-1].Writer = writer
	for _, w := range []int{80, 120, 200} {
		newUser(t, f, w, 24).press("3", "b").expect("written by " + writer)
		newUser(t, f, w, 24).press("3", "d").expect("by " + writer)
	}
}

// TestWhoWasToldIsMissedOnlyWhereSomebodyCouldBe: with no handler but the
// explorer's own there is nothing to record.
func TestWhoWasToldIsMissedOnlyWhereSomebodyCouldBe(t *testing.T) {
	row := &biographyRow{KeyEvent: inspect.KeyEvent{Type: "added", Cause: inspect.CauseInitial}}
	for handled, want := range map[bool]bool{true: true, false: false} {
		lines := deliveryLines(newTheme(true), time.Time{}, row, handled, 100, 5, 8)
		if got := strings.Contains(ansi.Strip(strings.Join(lines, "\n")), "not recorded"); got != want {
			t.Errorf("handlers: %v, it says so: %v", handled, got)
		}
	}
}
