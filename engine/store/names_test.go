package store_test

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/cache"

	"github.com/informeter/informeter/engine/inspect"
	"github.com/informeter/informeter/engine/store"
)

// TestBucketsAreFoundByWhatPeopleCallThem, and by what they are: a field's buckets
// have a namespace before the value.
func TestBucketsAreFoundByWhatPeopleCallThem(t *testing.T) {
	x := store.New(cache.MetaNamespaceKeyFunc, cache.Indexers{
		"field:spec.nodeName": func(obj any) ([]string, error) {
			p := obj.(*corev1.Pod)
			return []string{p.Namespace + "/" + p.Spec.NodeName, "__all_namespaces/" + p.Spec.NodeName}, nil
		},
	}, store.Options{})
	for _, at := range [][2]string{{"shop", "n1"}, {"shop", "n2"}, {"bank", "n1"}} {
		p := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: at[0], Name: at[1]}, Spec: corev1.PodSpec{NodeName: at[1]}}
		if err := x.Add(p); err != nil {
			t.Fatal(err)
		}
	}
	for filter, want := range map[string]int{
		"": 5, "n1": 3, "n1 in shop": 1, "shop/n1": 1, "all namespaces": 2, "__all": 2,
		"!n1 in shop": 4, "!shop/n1": 4, "!__all": 3, "/^n1 in/": 3, "/^shop/": 2,
	} {
		page, err := x.Buckets("field:spec.nodeName", inspect.BucketQuery{Filter: filter, Limit: 9})
		if err != nil || page.Matched != want {
			t.Errorf("%q finds %d, want %d: %v, %v", filter, page.Matched, want, page.Rows, err)
		}
	}
}
