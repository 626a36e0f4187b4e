package journal

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"
	"unsafe"

	gocmp "github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// untyped is a pod as the dynamic client has it.
func untyped(t testing.TB, p *corev1.Pod) *unstructured.Unstructured {
	t.Helper()
	text, err := json.Marshal(p)
	if err != nil {
		t.Fatal(err)
	}
	u := &unstructured.Unstructured{}
	if err := u.UnmarshalJSON([]byte(strings.Replace(string(text), "{", `{"apiVersion":"v1","kind":"Pod",`, 1))); err != nil {
		t.Fatal(err)
	}
	return u
}

func TestOnlyMeaningfulChangesAreFound(t *testing.T) {
	later := metav1.NewTime(start.Add(time.Hour))
	for _, c := range []struct {
		name   string
		change func(p *corev1.Pod)
		want   []string
	}{
		{"nothing", func(*corev1.Pod) {}, nil},
		{"noise", func(p *corev1.Pod) {
			p.ResourceVersion, p.Generation = "99", 99
			p.ManagedFields = append(p.ManagedFields, metav1.ManagedFieldsEntry{Manager: "x", Time: &later})
			p.Status.Conditions[0].LastTransitionTime = later
			p.Annotations = map[string]string{"renewed": "2026-01-01T00:00:01Z"}
		}, nil},
		{"a label and a status", func(p *corev1.Pod) {
			p.Labels["app.kubernetes.io/name"] = "other"
			delete(p.Labels, "tier")
			p.Status.Conditions[1].Status = "False"
		}, []string{`.metadata.labels.tier`, `.metadata.labels["app.kubernetes.io/name"]`, `.status.conditions[1].status`}},
		{"a deletion", func(p *corev1.Pod) { p.DeletionTimestamp = &later }, []string{".metadata.deletionTimestamp"}},
		{"a list of another length", func(p *corev1.Pod) {
			p.Spec.Containers = append(p.Spec.Containers, corev1.Container{Name: "sidecar"})
		}, []string{".spec.containers"}},
		{"the same quantity", func(p *corev1.Pod) {
			p.Spec.Overhead = corev1.ResourceList{"cpu": resource.MustParse("1000m")}
		}, nil},
		{"another quantity", func(p *corev1.Pod) {
			p.Spec.Overhead = corev1.ResourceList{"cpu": resource.MustParse("2")}
		}, []string{".spec.overhead.cpu"}},
		{"a pointer", func(p *corev1.Pod) { p.Spec.Priority = new(int32) }, []string{".spec.priority"}},
	} {
		before := richPod("a/x", 7)
		before.Annotations = map[string]string{"renewed": "2026-01-01T00:00:00Z"}
		before.Spec.Overhead = corev1.ResourceList{"cpu": resource.MustParse("1")}
		after := before.DeepCopy()
		c.change(after)
		var compare comparer
		if diff := gocmp.Diff(c.want, compare.changedPaths(before, after)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", c.name, diff)
		}
		if c.name == "the same quantity" {
			continue // in JSON it is another text
		}
		if diff := gocmp.Diff(c.want, compare.changedPaths(untyped(t, before), untyped(t, after))); diff != "" {
			t.Errorf("%s, unstructured (-want +got):\n%s", c.name, diff)
		}
	}
}

func TestComparingStopsAtEnoughPaths(t *testing.T) {
	before, after := pod("a/x", "1"), pod("a/x", "2")
	after.Labels = map[string]string{}
	for _, name := range strings.Split("abcdefghijklmnop", "") {
		after.Labels[name] = name
	}
	var c comparer
	if got := c.changedPaths(before, after); len(got) != maxChanged {
		t.Errorf("%d paths, want %d: %v", len(got), maxChanged, got)
	}
}

func TestTheLastWriterIsTheOneThatChangedSomething(t *testing.T) {
	entry := func(manager string, second int, fields string) metav1.ManagedFieldsEntry {
		return metav1.ManagedFieldsEntry{
			Manager: manager, Time: &metav1.Time{Time: start.Add(time.Duration(second) * time.Second)}, FieldsV1: metav1.NewFieldsV1(fields),
		}
	}
	for _, c := range []struct {
		name          string
		before, after []metav1.ManagedFieldsEntry
		want          string
	}{
		{"nobody says", nil, nil, ""},
		{"the newest", nil, []metav1.ManagedFieldsEntry{entry("a", 1, `{}`), entry("b", 3, `{}`), entry("c", 2, `{}`)}, "b"},
		{
			"new in the second",
			[]metav1.ManagedFieldsEntry{entry("a", 3, `{}`), entry("b", 1, `{}`)},
			[]metav1.ManagedFieldsEntry{entry("b", 3, `{}`), entry("a", 3, `{}`)},
			"b",
		},
		{
			"gained a field",
			[]metav1.ManagedFieldsEntry{entry("a", 3, `{"f:x":{}}`), entry("b", 3, `{"f:spec":{}}`)},
			[]metav1.ManagedFieldsEntry{entry("a", 3, `{"f:x":{},"f:spec":{}}`), entry("b", 3, `{}`)},
			"a",
		},
	} {
		before, after := pod("a/x", "1"), pod("a/x", "2")
		before.ManagedFields, after.ManagedFields = c.before, c.after
		if got := writerOf(after, before); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
		if got := writerOf(untyped(t, after), untyped(t, before)); got != c.want {
			t.Errorf("%s, unstructured: %q, want %q", c.name, got, c.want)
		}
	}
}

func TestPathsCanBeRead(t *testing.T) {
	p := Path{{Name: "spec"}, {Name: "containers"}, {Element: true, Index: 12}, {Name: "a.b/c"}, {Name: "x\"y"}, {Name: "_z-1"}, {}}
	if got, want := p.String(), `.spec.containers[12]["a.b/c"]["x\"y"]._z-1[""]`; got != want {
		t.Errorf("path = %s, want %s", got, want)
	}
}

func TestAnEntryFitsItsSizeClass(t *testing.T) {
	if got := unsafe.Sizeof(entry{}); got > 112 {
		t.Errorf("an entry takes %d bytes", got)
	}
	if !slices.IsSorted([]int{int(None), int(Added), int(Updated), int(Deleted)}) {
		t.Error("kinds are out of order")
	}
}
