package reflector

import (
	"errors"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
)

// listsOf are lists of every kind that clients return, of n objects.
func listsOf(n int) map[string]runtime.Object {
	pods, partial, dynamic := &corev1.PodList{}, &metav1.PartialObjectMetadataList{}, &unstructured.UnstructuredList{}
	raw, objects := &corev1.List{}, &metav1.List{}
	for i := range n {
		name := fmt.Sprint("pod-", i)
		pods.Items = append(pods.Items, corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: name}})
		partial.Items = append(partial.Items, metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{Name: name}})
		dynamic.Items = append(dynamic.Items, unstructured.Unstructured{Object: map[string]any{"metadata": map[string]any{"name": name}}})
		raw.Items = append(raw.Items, runtime.RawExtension{Object: pods.Items[i].DeepCopy()})
		objects.Items = append(objects.Items, runtime.RawExtension{Raw: []byte(name)})
	}
	lists := map[string]runtime.Object{"typed": pods, "metadata": partial, "unstructured": dynamic, "raw": raw, "undecoded": objects}
	for _, list := range lists {
		list.(metav1.ListInterface).SetResourceVersion("7")
	}
	return lists
}

// TestWhatIsTakenOutOfAListIsWhatClientGoTakes: whoever copies it, and however
// many do.
func TestWhatIsTakenOutOfAListIsWhatClientGoTakes(t *testing.T) {
	for _, n := range []int{0, 1, objectsACopier - 1, 2 * objectsACopier, mostCopiers*objectsACopier + 7} {
		for kind, list := range listsOf(n) {
			want, err := meta.ExtractListWithAlloc(list)
			if err != nil {
				t.Fatal(err)
			}
			got, version, err := extract(list)
			if err != nil || version != "7" || len(got) != len(want) {
				t.Fatalf("%s: %d objects at %q, %v; want %d", kind, len(got), version, err, len(want))
			}
			for i := range want {
				if diff := cmp.Diff(want[i], got[i]); diff != "" {
					t.Fatalf("%s: object %d of %d: %s", kind, i, n, diff)
				}
			}
		}
	}
}

// TestAnObjectOfAListDoesNotKeepTheOthers: it is a copy.
func TestAnObjectOfAListDoesNotKeepTheOthers(t *testing.T) {
	pods := listsOf(3 * objectsACopier)["typed"].(*corev1.PodList)
	got, _, err := extract(pods)
	if err != nil {
		t.Fatal(err)
	}
	for i, obj := range got {
		if obj.(*corev1.Pod) == &pods.Items[i] {
			t.Fatalf("object %d is the list's own", i)
		}
	}
}

// TestWhatIsNoListIsRefused.
func TestWhatIsNoListIsRefused(t *testing.T) {
	for _, list := range []runtime.Object{&corev1.Pod{}, &metav1.Status{}} {
		if got, _, err := extract(list); err == nil {
			t.Errorf("%T: took out %d", list, len(got))
		}
	}
	if _, _, err := extract(&metav1.Status{}); errors.Is(err, nil) {
		t.Error("no error")
	}
}
