package journal

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/informeter/informeter/engine/inspect"
)

var start = time.Unix(1_000_000, 0)

func pod(key, rv string) *corev1.Pod {
	ns, name, _ := strings.Cut(key, "/")
	return &corev1.Pod{ObjectMeta: metav1.ObjectMeta{
		Namespace: ns, Name: name, ResourceVersion: rv, CreationTimestamp: metav1.NewTime(start),
	}}
}

// unhurried returns a journal that has time to compare everything, however busy
// the machine is.
func unhurried(o Options) *Journal {
	j := New(o)
	j.budget.left, j.budget.burst = time.Hour, time.Hour
	j.attention.left, j.attention.burst = 1<<30, 1<<30
	return j
}

// observed tells a journal that an object came, with what was there before.
func (j *Journal) observed(key string, obj any, cause inspect.Cause, at time.Time) {
	ev := Event{Key: key, Cause: cause, New: obj, At: at}
	if e := j.entries.get(key); e != nil {
		ev.Old = e.object
	}
	j.Observe(&ev)
}

func (j *Journal) gone(key string) { j.observed(key, nil, inspect.CauseWatch, start) }

func page(t testing.TB, j *Journal, q inspect.Query) inspect.Page {
	t.Helper()
	p, err := j.Page(t.Context(), q)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func keysOf(p inspect.Page) []string {
	keys := []string{}
	for _, r := range p.Rows {
		keys = append(keys, r.Key)
	}
	return keys
}

func TestOnlyNewsCountAsUpdates(t *testing.T) {
	j := unhurried(Options{})
	for i, c := range []inspect.Cause{
		inspect.CauseLateJoin, inspect.CauseWatch, inspect.CauseResync, inspect.CauseRelistUnchanged, inspect.CauseRelistChanged,
	} {
		j.observed("a/x", pod("a/x", fmt.Sprint(i)), c, start.Add(time.Duration(i)*time.Second))
	}
	row := page(t, j, inspect.Query{Limit: 10}).Rows[0]
	row.Rate, row.Size = 0, 0
	want := inspect.Row{
		Key: "a/x", ResourceVersion: "4", Created: start, Changed: start.Add(4 * time.Second), Updates: 2, Compared: 2, NoOps: 2,
	}
	if diff := cmp.Diff(want, row); diff != "" {
		t.Errorf("row (-want +got):\n%s", diff)
	}
}

func TestAnObjectThatStartedBeforeHasNotChanged(t *testing.T) {
	j := unhurried(Options{})
	j.observed("a/x", pod("a/x", "1"), inspect.CauseLateJoin, start)
	if row := page(t, j, inspect.Query{Limit: 1}).Rows[0]; !row.Changed.IsZero() || row.Updates != 0 || row.Rate != 0 {
		t.Errorf("a startup batch shows as a change: %+v", row)
	}
}

// TestAnAdditionIsNoUpdate: an object that comes while somebody looks has changed
// and was not updated, like those that were there before.
func TestAnAdditionIsNoUpdate(t *testing.T) {
	j := unhurried(Options{})
	j.observed("a/x", pod("a/x", "1"), inspect.CauseWatch, start)
	row := page(t, j, inspect.Query{Limit: 1}).Rows[0]
	if !row.Changed.Equal(start) || row.Updates != 0 || row.Rate != 0 || len(j.Hot(start)) != 0 {
		t.Errorf("an addition shows as an update: %+v, hot %+v", row, j.Hot(start))
	}
	for n := range 5 {
		j.observed("a/x", pod("a/x", fmt.Sprint(2+n)), inspect.CauseWatch, start.Add(time.Second))
	}
	row = page(t, j, inspect.Query{Limit: 1}).Rows[0]
	if row.Updates != 5 || row.Compared != 5 || row.NoOps != 5 {
		t.Errorf("%+v, want 5 updates, all compared and no-ops", row)
	}
}

func TestAnUpdateThatChangesNothingIsANoOp(t *testing.T) {
	j := unhurried(Options{})
	p := pod("a/x", "1")
	j.observed("a/x", p, inspect.CauseInitial, start)
	for n := range 8 {
		p = p.DeepCopy()
		p.ResourceVersion, p.Generation = fmt.Sprint(2+n), int64(n)
		p.ManagedFields = []metav1.ManagedFieldsEntry{{Manager: "kubelet", Time: &metav1.Time{Time: start.Add(time.Duration(n) * time.Second)}}}
		p.Status.Conditions = []corev1.PodCondition{{Type: "Ready", LastProbeTime: metav1.NewTime(start.Add(time.Duration(n) * time.Second))}}
		j.observed("a/x", p, inspect.CauseWatch, start)
	}
	row := page(t, j, inspect.Query{Limit: 1}).Rows[0]
	// The first one brought the condition.
	if row.Updates != 8 || row.Compared != 8 || row.NoOps != 7 || row.Writer != "kubelet" {
		t.Errorf("row = %+v, want 7 no-ops of 8 by kubelet", row)
	}
	if row.Size != p.Size() {
		t.Errorf("size = %d, want %d", row.Size, p.Size())
	}
}

func TestWhatThereIsNoTimeToCompareIsNotCounted(t *testing.T) {
	j := unhurried(Options{})
	j.budget.share, j.budget.left = 0, 0
	j.observed("a/x", pod("a/x", "1"), inspect.CauseInitial, start)
	j.observed("a/x", pod("a/x", "2"), inspect.CauseWatch, start)
	if row := page(t, j, inspect.Query{Limit: 1}).Rows[0]; row.Updates != 1 || row.Compared != 0 || row.NoOps != 0 {
		t.Errorf("row = %+v, want one update that was not compared", row)
	}
}
