package tui

import (
	"strings"
	"testing"

	"github.com/informeter/informeter/engine/inspect"
)

// focused returns which level of the Indices screen has the keys.
func (u *user) focused() int { return u.m.screens[screenIndices].(*indicesScreen).focus }

// TestThreePanesShowTheWayToAnObject: from 160 columns on all levels stand beside
// each other, what is right of a pane is of its selected row, and the keys go
// from one to the next.
func TestThreePanesShowTheWayToAnObject(t *testing.T) {
	f := newFake(500)
	u := newUser(t, f, 160, 40)
	u.press("4").expect("pods › Indices", "40 buckets   500 entries", "in app, 7 objects", f.rows[0].Key)
	u.press("j").expect("3 buckets   500 entries", "in namespace, 7 objects")
	u.press("tab", "j").expect("pods › Indices › namespace")
	value := u.m.screens[screenIndices].(*indicesScreen).value
	u.expectMarked(value)
	u.press("right", "j").expect("pods › Indices › namespace › "+value, "2 of 7")
	u.expectMarked(f.rows[1].Key)
	if u.press("tab"); u.focused() != levelObjects {
		t.Errorf("from the last pane tab goes to level %d", u.focused())
	}
	u.press("enter").expect("› "+f.rows[1].Key, "Biography")
	u.press("esc")
	for _, back := range []struct {
		key  string
		want int
	}{{"shift+tab", levelBuckets}, {"enter", levelObjects}, {"left", levelBuckets}, {"right", levelObjects}, {"esc", levelBuckets}, {"esc", levelIndices}} {
		if u.press(back.key); u.focused() != back.want {
			t.Errorf("%s goes to level %d, want %d", back.key, u.focused(), back.want)
		}
	}
}

// TestTheFocusedPaneIsFilteredAndSorted, and no other.
func TestTheFocusedPaneIsFilteredAndSorted(t *testing.T) {
	u := newUser(t, newFake(500), 200, 50)
	u.press("4", "tab", "/").types("03").press("enter").expect("11 of 40 match 03")
	u.press("o").expect("VALUE▲")
	if p := u.m.screens[screenIndices].(*indicesScreen); p.objects.order.by != string(inspect.SortKey) || p.indices.table.order.by != byName || p.texts[levelObjects] != "" {
		t.Error("sorting and filtering buckets has touched another pane")
	}
	u.press("tab", "/").types("00003").press("enter").expect("1 of 7 match 00003")
	if r := u.m.request(); r.buckets.query.Filter != "03" || r.bucket.query.Filter != "00003" {
		t.Errorf("asked for buckets that match %q and objects that match %q", r.buckets.query.Filter, r.bucket.query.Filter)
	}
	u.press("esc", "esc", "esc", "esc").expect("40 buckets")
}

// TestThePanesAskForWhatIsInSight, however much there is.
func TestThePanesAskForWhatIsInSight(t *testing.T) {
	f := newFake(20_000)
	rows := make([]inspect.BucketRow, 10_000)
	for i := range rows {
		rows[i] = inspect.BucketRow{Value: "app-" + number(i), Objects: 2}
	}
	f.buckets["app"] = rows
	u := newUser(t, f, 160, 40)
	u.press("4", "tab", "G")
	r := u.m.request()
	if most := 3 * 40; r.buckets.query.Limit > most || r.bucket.query.Limit > most || r.bucket.query.value == "" {
		t.Errorf("asked for %d buckets and for %d objects of %q, want at most %d", r.buckets.query.Limit, r.bucket.query.Limit, r.bucket.query.value, most)
	}
	u.expect("10,000 of 10,000")
	if marked := u.marked(); !strings.Contains(marked, r.bucket.query.value) {
		t.Errorf("the objects of %q are shown, and selected is %s", r.bucket.query.value, marked)
	}
	if narrow := newUser(t, f, 159, 40).press("4").m.request(); narrow.bucket.on {
		t.Errorf("where objects are out of sight those of %q are asked for", narrow.bucket.query.value)
	}
}

// TestAFieldsBucketsHaveNamesForPeople, and are found by both.
func TestAFieldsBucketsHaveNamesForPeople(t *testing.T) {
	f := newFake(300)
	const index = "field:spec.nodeName"
	f.snapshot.Indices = []inspect.IndexVitals{{Name: index, Buckets: 2, Entries: 600, Largest: "__all_namespaces/n1", LargestObjects: 300}}
	f.buckets[index] = []inspect.BucketRow{{Value: "__all_namespaces/n1", Objects: 300}, {Value: "shop/n1", Objects: 7}}
	for _, w := range []int{80, 120, 200} {
		u := newUser(t, f, w, 30)
		u.press("4", "enter").expect("Indices › spec.nodeName", "n1 in all namespaces", "n1 in shop")
		u.press("j", "enter").expect("Indices › spec.nodeName › n1 in shop", "in spec.nodeName, 7 objects")
		if strings.Contains(u.sees(), "__all") || strings.Contains(u.sees(), "field:") {
			t.Errorf("names for machines:\n%s", u.sees())
		}
		u.press("esc", "/").types("shop/n1").press("enter").expectMarked("n1 in shop")
	}
}

// TestALevelThatStandsAloneIsNamedOnce: by the path, or where there is none by its
// title.
func TestALevelThatStandsAloneIsNamedOnce(t *testing.T) {
	u := newUser(t, newFake(300), 80, 24)
	u.press("4", "enter").expect("pods › Indices › app", "40 buckets")
	if n := strings.Count(u.sees(), "› app"); n != 1 {
		t.Errorf("the level is named %d times:\n%s", n, u.sees())
	}
	u.press("/").types("1").press("enter").expect("/1")
	u = newUser(t, newFake(300), 80, 18)
	u.press("4", "enter").expect("Indices › app")
}

// TestAWiderScreenShowsNoFewerCountsOfAnIndex than a narrow one.
func TestAWiderScreenShowsNoFewerCountsOfAnIndex(t *testing.T) {
	for _, w := range []int{80, 120, 200} {
		u := newUser(t, newFake(20), w, 30).press("4")
		if l := u.line("ENTRIES"); !strings.Contains(l, "EMPTY") || !strings.Contains(l, "NO VALUE") || !strings.Contains(l, "ERRORS") {
			t.Errorf("at %d columns: %s", w, l)
		}
	}
}

// TestALargeBucketSaysThatItIsRead until its first objects come; a small one is there
// at once, and nothing flickers.
func TestALargeBucketSaysThatItIsRead(t *testing.T) {
	for objects, said := range map[int]bool{1_000_000: true, 7: false} {
		f := newFake(500)
		f.buckets["app"] = []inspect.BucketRow{{Value: "web", Objects: objects}, {Value: "db", Objects: 1}}
		u := newUser(t, f, 80, 24)
		u.press("4", "enter").expect("web")
		read := u.step("enter")
		u.expect("in app, " + number(objects) + " objects")
		if strings.Contains(u.sees(), "reading "+number(objects)+" objects") != said {
			t.Errorf("before the answer, with %d objects:\n%s", objects, u.sees())
		}
		u.run(read)
		u.expect("in app, 7 objects", f.rows[0].Key)
		if strings.Contains(u.sees(), "reading") {
			t.Errorf("after the answer:\n%s", u.sees())
		}
	}
}

// TestManyBucketsSayThatTheyAreRead, as a large bucket's objects do.
func TestManyBucketsSayThatTheyAreRead(t *testing.T) {
	f := newFake(500)
	for i := range f.snapshot.Indices {
		f.snapshot.Indices[i].Buckets = 1_000_000
	}
	u := newUser(t, f, 80, 24)
	u.step("4")
	u.step("enter")
	u.expect("reading 1,000,000 buckets")
}
