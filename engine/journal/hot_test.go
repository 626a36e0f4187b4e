package journal

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"pgregory.net/rapid"

	"github.com/informeter/informeter/engine/inspect"
)

func TestAKeyThatIsUpdatedInVainIsTheHottest(t *testing.T) {
	j := unhurried(Options{})
	at := j.rates.began
	other := pod("a/other", "1")
	j.observed("a/other", other, inspect.CauseInitial, at)
	p := pod("a/hot", "1")
	p.Status.Conditions = []corev1.PodCondition{{Type: "Ready", LastProbeTime: metav1.NewTime(at)}}
	j.observed("a/hot", p, inspect.CauseInitial, at)
	for n := range 8 * 120 {
		at = at.Add(125 * time.Millisecond)
		p = p.DeepCopy()
		p.ResourceVersion = fmt.Sprint(n + 2)
		p.Status.Conditions[0].LastProbeTime = metav1.NewTime(at)
		j.observed("a/hot", p, inspect.CauseWatch, at)
	}
	hot := j.Hot(at)
	if len(hot) != 1 || hot[0].Key != "a/hot" || hot[0].Compared != hot[0].Updates || hot[0].NoOps != hot[0].Compared {
		t.Fatalf("hot = %+v, want one key with nothing but no-ops", hot)
	}
	if hot[0].Rate < 7.8 || hot[0].Rate > 8.2 {
		t.Errorf("rate = %v, want 8", hot[0].Rate)
	}
	if got := j.Hot(at.Add(time.Minute))[0].Rate; got < 2.5 || got > 3.7 {
		t.Errorf("rate a minute later = %v, want about 8/e", got)
	}
}

func TestTwoManagersThatFightAreNamedWithTheField(t *testing.T) {
	j := unhurried(Options{})
	at := j.rates.began.Truncate(time.Second)
	var last any
	for n := range 10 {
		at = at.Add(500 * time.Millisecond)
		p := pod("a/x", fmt.Sprint(n+1))
		p.Spec.Priority = new(int32)
		*p.Spec.Priority = int32(3 + n%2*2)
		manager := []string{"manager-a", "manager-b"}[n%2]
		// Whoever wrote last owns the field; both may have written this second.
		for _, m := range []string{"manager-a", "manager-b"} {
			owns := `{"f:metadata":{}}`
			wrote := at
			if m == manager {
				owns = `{"f:metadata":{},"f:spec":{"f:priority":{}}}`
			} else if wrote = at.Add(-500 * time.Millisecond); n == 0 {
				continue
			}
			p.ManagedFields = append(p.ManagedFields, metav1.ManagedFieldsEntry{
				Manager: m, Time: &metav1.Time{Time: wrote.Truncate(time.Second)}, FieldsV1: metav1.NewFieldsV1(owns),
			})
		}
		j.Observe(&Event{Key: "a/x", Cause: inspect.CauseWatch, Old: last, New: p, At: at})
		last = p
	}
	hot := j.Hot(at)[0]
	want := inspect.HotKey{
		Key: "a/x", Updates: 9, Compared: 9, Writers: []string{"manager-b", "manager-a"}, Turns: 9, InTurn: 2, Paths: []string{".spec.priority"},
	}
	hot.Rate = 0
	if diff := gocmp.Diff(want, hot); diff != "" {
		t.Errorf("hot key (-want +got):\n%s", diff)
	}
}

// TestTurnsAreOfTheirWriters: who wrote before the turns, or stopped them, did not
// take them.
func TestTurnsAreOfTheirWriters(t *testing.T) {
	for written, want := range map[string]string{
		"":        "[] 0 0",
		"a":       "[a] 0 0",
		"ab":      "[b a] 1 2",
		"cabab":   "[b a c] 4 3",
		"cbaabab": "[b a c] 3 2",
		"caabcab": "[b a c] 4 3",
		"abcc":    "[c b a] 0 0",
	} {
		var records []record
		for _, w := range written {
			records = append(records, record{writer: string(w), kind: Updated, cause: inspect.CauseWatch})
		}
		writers, turns, among := writersOf(records)
		if got := fmt.Sprint(writers, turns, among); got != want {
			t.Errorf("%q: %s, want %s", written, got, want)
		}
	}
}

func TestTheHottestKeysAreExact(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		j := unhurried(Options{})
		at := j.rates.began
		heat := map[string]float64{} // of those that are there
		keys := rapid.IntRange(1, 3*maxHot).Draw(rt, "keys")
		for range rapid.IntRange(1, 300).Draw(rt, "events") {
			at = at.Add(time.Duration(rapid.IntRange(0, 5).Draw(rt, "passes")) * time.Second)
			key := fmt.Sprintf("a/%03d", rapid.IntRange(0, keys-1).Draw(rt, "key"))
			if rapid.IntRange(0, 4).Draw(rt, "delete") == 0 {
				j.gone(key)
				delete(heat, key)
				continue
			}
			j.observed(key, pod(key, "1"), inspect.CauseWatch, at)
			if _, known := heat[key]; !known {
				heat[key] = 0
				continue
			}
			heat[key] += math.Exp(at.Sub(j.rates.began).Minutes())
		}
		type hotKey struct {
			key  string
			heat float64
		}
		var want []hotKey
		for key, h := range heat {
			if h == 0 { // it was added, and not updated
				continue
			}
			want = append(want, hotKey{key, h})
		}
		slices.SortFunc(want, func(a, b hotKey) int { return cmp.Compare(b.heat, a.heat) })
		for i, h := range j.Hot(at) {
			// Among equals any order will do.
			if got := heat[h.Key]; math.Abs(got-want[i].heat) > 1e-9*want[i].heat {
				rt.Fatalf("place %d has %s of %v, want %s of %v", i, h.Key, got, want[i].key, want[i].heat)
			}
		}
		if len(want) > 0 && len(j.Hot(at)) == 0 && j.hot.floor == 0 {
			rt.Fatal("nothing is hot")
		}
	})
}

func TestAnObjectThatTookTheNameOfAnotherIsNamed(t *testing.T) {
	j := unhurried(Options{})
	j.observed("a/x", podOf("a/x", "1", "U1", 0), inspect.CauseInitial, start)
	j.observed("a/x", podOf("a/x", "2", "U1", 0), inspect.CauseWatch, start)
	j.observed("a/x", podOf("a/x", "3", "U2", 0), inspect.CauseRelistChanged, start)
	j.Observe(&Event{Key: "a/x", Cause: inspect.CauseRelistChanged, Old: podOf("a/x", "3", "U2", 0), Tombstone: true, Split: true, At: start})
	j.Observe(&Event{Key: "a/x", Cause: inspect.CauseRelistChanged, New: podOf("a/x", "9", "U3", 0), Split: true, At: start})
	j.gone("a/x")
	j.observed("a/x", podOf("a/x", "12", "U4", 0), inspect.CauseWatch, start)
	want := []inspect.IdentityChange{
		{Key: "a/x", From: "U2", To: "U3", At: start, Split: true},
		{Key: "a/x", From: "U1", To: "U2", At: start},
	}
	if diff := gocmp.Diff(want, j.Identities()); diff != "" {
		t.Errorf("identities (-want +got):\n%s", diff)
	}
}
