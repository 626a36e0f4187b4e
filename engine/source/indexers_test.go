package source

import (
	"maps"
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/tools/cache"
)

func TestEveryKindGetsTheIndicesThatMakeSense(t *testing.T) {
	for _, c := range []struct {
		kind                   string
		namespaced, onlyHeader bool
		want                   []string
	}{
		{"Pod", true, false, []string{"namespace", "node", "owner", "phase"}},
		{"Pod", true, true, []string{"namespace", "owner"}},
		{"Deployment", true, false, []string{"namespace", "owner"}},
		{"Node", false, false, []string{"owner"}},
	} {
		got := slices.Sorted(maps.Keys(DefaultIndexers(c.kind, c.namespaced, c.onlyHeader)))
		if !slices.Equal(got, c.want) {
			t.Errorf("%s, namespaced %v, only metadata %v: %v, want %v", c.kind, c.namespaced, c.onlyHeader, got, c.want)
		}
	}
}

func TestAPodIsFiledAlikeTypedAndUnstructured(t *testing.T) {
	yes := true
	typed := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: "ns", Name: "web-0",
			OwnerReferences: []metav1.OwnerReference{
				{Kind: "Batch", Name: "nightly"},
				{Kind: "ReplicaSet", Name: "web", Controller: &yes},
			},
		},
		Spec:   corev1.PodSpec{NodeName: "node-1"},
		Status: corev1.PodStatus{Phase: corev1.PodRunning},
	}
	fields, err := runtime.DefaultUnstructuredConverter.ToUnstructured(typed)
	if err != nil {
		t.Fatal(err)
	}
	want := map[string][]string{
		cache.NamespaceIndex: {"ns"}, OwnerIndex: {"ReplicaSet/web"}, NodeIndex: {"node-1"}, PhaseIndex: {"Running"},
	}
	for _, obj := range []any{typed, &unstructured.Unstructured{Object: fields}} {
		for name, index := range DefaultIndexers("Pod", true, false) {
			if got, err := index(obj); err != nil || !slices.Equal(got, want[name]) {
				t.Errorf("%T is filed under %v in %s, %v, want %v", obj, got, name, err, want[name])
			}
		}
	}
}

func TestWhatIsNotSetYetFilesAPodUnderNothing(t *testing.T) {
	indexers := DefaultIndexers("Pod", true, false)
	for _, name := range []string{OwnerIndex, NodeIndex, PhaseIndex} {
		for _, obj := range []any{&corev1.Pod{}, &unstructured.Unstructured{Object: map[string]any{}}} {
			if got, err := indexers[name](obj); err != nil || len(got) != 0 {
				t.Errorf("an empty %T is filed under %q in %s, %v", obj, got, name, err)
			}
		}
	}
}

func TestAFieldOfAForeignTypeIsAnError(t *testing.T) {
	obj := &unstructured.Unstructured{Object: map[string]any{"spec": map[string]any{"nodeName": int64(7)}}}
	if _, err := DefaultIndexers("Pod", true, false)[NodeIndex](obj); err == nil {
		t.Error("a number for a node's name gave no error")
	}
	if _, err := ownerIndex(42); err == nil {
		t.Error("what is no object gave no error")
	}
}
