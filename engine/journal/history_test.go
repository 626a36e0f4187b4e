package journal

import (
	"errors"
	"fmt"
	"math"
	"runtime"
	"strings"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"pgregory.net/rapid"

	"github.com/informeter/informeter/engine/inspect"
)

func biography(t testing.TB, j *Journal, r inspect.BiographyRequest) inspect.Biography {
	t.Helper()
	b, err := j.Biography(t.Context(), r)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// told writes a biography's events down in short.
func told(b inspect.Biography) []string {
	var lines []string
	for _, e := range b.Events {
		line := strings.TrimSpace(fmt.Sprintf("%s %v %s/%s", e.Type, e.Cause, e.ResourceVersion, e.UID))
		if e.Times > 0 {
			line += fmt.Sprint(" x", e.Times)
		}
		if len(e.Changed) > 0 {
			line += " " + strings.Join(e.Changed, " ")
		}
		if e.Skipped != "" {
			line += " skipped: " + e.Skipped
		}
		if e.Tombstone {
			line += " tombstone"
		}
		lines = append(lines, line)
	}
	return lines
}

func podOf(key, rv, uid string, restarts int32) *corev1.Pod {
	p := pod(key, rv)
	p.UID = types.UID(uid)
	p.Status.ContainerStatuses = []corev1.ContainerStatus{{Name: "main", RestartCount: restarts}}
	return p
}

func TestABiographyTellsOfEveryDelta(t *testing.T) {
	j := unhurried(Options{})
	key := "a/x"
	at := j.rates.began
	step := func(obj any, cause inspect.Cause) {
		at = at.Add(time.Second)
		if obj == nil {
			j.Observe(&Event{Key: key, Cause: cause, Old: podOf(key, "6", "U1", 2), Tombstone: true, At: at})
			return
		}
		j.observed(key, obj, cause, at)
	}
	step(podOf(key, "1", "U1", 0), inspect.CauseInitial)
	step(podOf(key, "2", "U1", 1), inspect.CauseWatch)
	for range 3 {
		step(podOf(key, "2", "U1", 1), inspect.CauseResync)
	}
	j.Skip(Skip{Key: key, Object: podOf(key, "3", "U1", 0), Cause: inspect.CauseWatch, Reason: "transform: no", At: at})
	step(podOf(key, "4", "U1", 1), inspect.CauseRelistChanged)
	step(podOf(key, "4", "U1", 1), inspect.CauseRelistUnchanged)
	step(nil, inspect.CauseRelistChanged)
	step(podOf(key, "9", "U2", 0), inspect.CauseWatch)
	want := []string{
		"added initial 1/U1",
		"updated watch 2/U1 .status.containerStatuses[0].restartCount",
		"updated resync 2/U1 x3",
		"watch 3/U1 skipped: transform: no",
		"updated relist changed 4/U1",
		"updated relist unchanged 4/U1",
		"deleted relist changed 6/U1 tombstone",
		"added watch 9/U2",
	}
	for _, r := range []inspect.BiographyRequest{{Key: key}, {UID: "U1"}, {UID: "U2"}} {
		b := biography(t, j, r)
		if diff := gocmp.Diff(want, told(b)); diff != "" {
			t.Errorf("%+v (-want +got):\n%s", r, diff)
		}
		if b.Key != key || !b.Exists || b.Forgotten != 0 {
			t.Errorf("biography = %+v", b)
		}
	}
	checkHistories(t, j)
}

func TestABiographySurvivesDeletion(t *testing.T) {
	j := unhurried(Options{})
	j.observed("a/x", podOf("a/x", "1", "U1", 0), inspect.CauseInitial, start)
	j.gone("a/x")
	b := biography(t, j, inspect.BiographyRequest{UID: "U1"})
	if b.Exists || len(b.Events) != 2 || b.Events[1].Type != "deleted" {
		t.Errorf("biography = %+v", b)
	}
	if _, err := j.Biography(t.Context(), inspect.BiographyRequest{Key: "a/y"}); !errors.Is(err, inspect.ErrNotFound) {
		t.Errorf("biography of what never was: %v", err)
	}
	if _, err := j.Biography(t.Context(), inspect.BiographyRequest{UID: "U9"}); !errors.Is(err, inspect.ErrNotFound) {
		t.Errorf("biography of a UID that never was: %v", err)
	}
}

func TestAnObjectThatNeverChangedIsFoundByItsUID(t *testing.T) {
	j := unhurried(Options{})
	for i := range 10_000 {
		key := fmt.Sprintf("a/%05d", i)
		j.observed(key, podOf(key, "1", fmt.Sprint("U", i), 0), inspect.CauseInitial, start)
	}
	if b := biography(t, j, inspect.BiographyRequest{UID: "U9876"}); b.Key != "a/09876" {
		t.Errorf("found %s", b.Key)
	}
}

func TestEveryVersionTellsWhichObjectItIs(t *testing.T) {
	j := unhurried(Options{})
	for n := range 5 {
		j.observed("a/x", podOf("a/x", fmt.Sprint(n), "U", int32(n)), inspect.CauseWatch, start)
	}
	j.gone("a/x")
	for _, e := range biography(t, j, inspect.BiographyRequest{Key: "a/x"}).Events {
		obj, kept := j.Version("a/x", e.Version)
		if !kept || obj.(*corev1.Pod).ResourceVersion != e.ResourceVersion {
			t.Errorf("version %d is %v, want resource version %s", e.Version, obj, e.ResourceVersion)
		}
	}
	if _, kept := j.Version("a/x", 0); kept {
		t.Error("there is a version 0")
	}
}

// TestBiographiesAnswerLikeAPlainList compares random events with a list that
// forgets nothing.
func TestBiographiesAnswerLikeAPlainList(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		j := unhurried(Options{})
		model := map[string][]inspect.KeyEvent{}
		live := map[string]*corev1.Pod{}
		at := j.rates.began
		for n := range rapid.IntRange(1, 60).Draw(rt, "events") {
			key := rapid.SampledFrom([]string{"a/x", "a/y", "b/z"}).Draw(rt, "key")
			at = at.Add(time.Second)
			e := inspect.KeyEvent{Seq: uint64(n + 1), At: at, Type: "updated", Cause: inspect.CauseWatch}
			p := podOf(key, fmt.Sprint(n), rapid.SampledFrom([]string{"U1", "U2"}).Draw(rt, "uid"), int32(n))
			e.ResourceVersion, e.UID = p.ResourceVersion, string(p.UID)
			old := live[key]
			ev := Event{Key: key, Seq: e.Seq, Cause: e.Cause, New: p, At: at}
			switch {
			case old == nil:
				e.Type, e.Seq = "added", 0
				if len(model[key]) > 0 {
					e.Seq = ev.Seq
				}
			case rapid.IntRange(0, 3).Draw(rt, "delete") == 0:
				e.Type = "deleted"
				ev.Old, ev.New = p, nil
				p = nil
			default:
				ev.Old, e.Compared = old, true
			}
			j.Observe(&ev)
			model[key] = append(model[key], e)
			live[key] = p
			if rapid.IntRange(0, 5).Draw(rt, "ask") > 0 {
				continue
			}
			checkHistories(rt, j)
			b, err := j.Biography(rt.Context(), inspect.BiographyRequest{Key: key})
			if err != nil {
				rt.Fatal(err)
			}
			if diff := gocmp.Diff(model[key], b.Events, cmpopts.IgnoreFields(inspect.KeyEvent{}, "Version", "Changed", "Seq"),
				cmpopts.EquateApproxTime(time.Millisecond)); diff != "" {
				rt.Fatalf("biography of %s (-want +got):\n%s", key, diff)
			}
		}
	})
}

type fataler interface {
	Helper()
	Fatalf(format string, args ...any)
}

// checkHistories counts anew what the histories say they hold.
func checkHistories(t fataler, j *Journal) {
	t.Helper()
	s := &j.histories
	bytes, events, versions, listed := int64(0), 0, 0, 0
	all := map[*history]bool{}
	for key, h := range s.gone {
		if h.key != key || j.entries.get(key) != nil {
			t.Fatalf("the history of %s is kept as that of a key that is gone: %+v", key, h)
		}
		all[h] = true
	}
	for _, e := range j.entries.entries {
		if e != nil && e.history != nil && e.history.class >= 0 {
			all[e.history] = true
		}
	}
	for class := range s.classes {
		ring := &s.classes[class]
		for h := ring.after; h != ring; h = h.after {
			if !all[h] || h.class != class || h.after.before != h {
				t.Fatalf("%s is listed in class %d: %+v", h.key, class, h)
			}
			listed++
		}
	}
	if listed != len(all) {
		t.Fatalf("%d histories are listed, want %d", listed, len(all))
	}
	for h := range all {
		own := historyBytes + int64(len(h.key))
		for i := range h.records {
			r := &h.records[i]
			own += r.bytes() + r.charge
			events++
			if r.object != nil {
				versions++
			}
			if (r.object == nil) != (r.version == 0) {
				t.Fatalf("%s has version %d of %v", h.key, r.version, r.object)
			}
		}
		for uid, key := range s.uids {
			if key == h.key {
				own += uidBytes + int64(len(uid))
			}
		}
		if own != h.bytes {
			t.Fatalf("%s has %d bytes, says %d", h.key, own, h.bytes)
		}
		bytes += own
	}
	if bytes != s.bytes || events != s.events || versions != s.versions {
		t.Fatalf("bytes, events, versions = %d, %d, %d, says %d, %d, %d", bytes, events, versions, s.bytes, s.events, s.versions)
	}
	if s.bytes > s.bound {
		t.Fatalf("%d bytes are over the bound of %d", s.bytes, s.bound)
	}
}

func TestBiographiesStayBelowTheirBound(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		j := unhurried(Options{Bound: int64(rapid.IntRange(1, 40_000).Draw(rt, "bound"))})
		at := j.rates.began
		for n := range rapid.IntRange(1, 150).Draw(rt, "events") {
			at = at.Add(time.Second)
			key := fmt.Sprint("a/", rapid.IntRange(0, 5).Draw(rt, "key"))
			p := podOf(key, fmt.Sprint(n), fmt.Sprint("U", rapid.IntRange(0, 3).Draw(rt, "uid"), key), int32(n))
			p.Annotations = map[string]string{"big": strings.Repeat("x", rapid.IntRange(0, 4000).Draw(rt, "size"))}
			switch rapid.IntRange(0, 5).Draw(rt, "event") {
			case 0:
				j.Observe(&Event{Key: key, Cause: inspect.CauseWatch, Old: p, At: at})
			case 1:
				j.Skip(Skip{Key: key, Object: p, Reason: "bad", At: at})
			case 2:
				if e := j.entries.get(key); e != nil {
					j.observed(key, e.object, inspect.CauseResync, at)
				}
			case 3:
				_, err := j.Biography(rt.Context(), inspect.BiographyRequest{Key: key})
				if err != nil && !errors.Is(err, inspect.ErrNotFound) {
					rt.Fatal(err)
				}
			default:
				j.observed(key, p, inspect.CauseWatch, at)
			}
			checkHistories(rt, j)
		}
	})
}

func TestABusyKeyDoesNotPushOutTheOthers(t *testing.T) {
	j := unhurried(Options{Bound: 4 << 20})
	for i := range 200 {
		key := fmt.Sprintf("a/%03d", i)
		for n := range 3 {
			j.observed(key, richPod(key, n), inspect.CauseWatch, start)
		}
	}
	for n := range 50_000 {
		j.observed("a/busy", richPod("a/busy", n), inspect.CauseWatch, start)
	}
	for i := range 200 {
		b := biography(t, j, inspect.BiographyRequest{Key: fmt.Sprintf("a/%03d", i)})
		if len(b.Events) != 3 || b.Events[0].Version == 0 {
			t.Fatalf("%s has lost what it had: %+v", b.Key, b)
		}
	}
	b := biography(t, j, inspect.BiographyRequest{Key: "a/busy"})
	if len(b.Events) != maxRecords || b.Forgotten != 50_000-maxRecords {
		t.Errorf("the busy key has %d events, forgot %d", len(b.Events), b.Forgotten)
	}
	if _, lost := j.Vitals(); lost.History < 50_000-maxRecords {
		t.Errorf("lost = %+v", lost)
	}
}

// decoded is a pod as it comes from the wire, sharing nothing.
func decoded(t *testing.T, p *corev1.Pod) *corev1.Pod {
	t.Helper()
	text, err := p.Marshal()
	if err != nil {
		t.Fatal(err)
	}
	fresh := &corev1.Pod{}
	if err := fresh.Unmarshal(text); err != nil {
		t.Fatal(err)
	}
	return fresh
}

// heap is how much memory is in use once nothing more can be collected: what pools
// and finalizers of other tests hold takes more than one collection.
func heap() int64 {
	var m runtime.MemStats
	for last := uint64(math.MaxUint64); ; last = m.HeapAlloc {
		runtime.GC()
		if runtime.ReadMemStats(&m); m.HeapAlloc+m.HeapAlloc/1000 >= last {
			return int64(m.HeapAlloc)
		}
	}
}

// TestVersionsAreChargedWhatTheyTake compares the estimate with the heap.
func TestVersionsAreChargedWhatTheyTake(t *testing.T) {
	const n = 2000
	for name, made := range map[string]func(i int) any{
		"pod": func(i int) any { return decoded(t, richPod("a/x", i)) },
		"configmap": func(i int) any {
			return &corev1.ConfigMap{Data: map[string]string{"key": strings.Repeat("x", 5000+i%100)}}
		},
		"unstructured": func(i int) any { return untyped(t, richPod("a/x", i)) },
	} {
		objects := make([]any, n)
		before := heap()
		for i := range objects {
			objects[i] = made(i)
		}
		after := heap()
		var f footprints
		charged := int64(0)
		for _, obj := range objects {
			charged += f.of(obj)
		}
		taken := after - before
		if ratio := float64(charged) / float64(taken); ratio < 0.7 || ratio > 1.5 {
			t.Errorf("%s: charged %d bytes each, they take %d", name, charged/n, taken/n)
		}
		runtime.KeepAlive(objects)
	}
}
