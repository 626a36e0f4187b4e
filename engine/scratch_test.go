package engine

import (
	"fmt"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/cache"

	"github.com/informeter/informeter/engine/deltafifo"
)

// A list that comes as one delta, and a resync of what it brought, leave no
// memory behind that batches don't need.
func TestALargeListLeavesNoScratch(t *testing.T) {
	i := New(&script{}, &corev1.Pod{}, Options{Queue: InOrder})
	if !i.begin() {
		t.Fatal("it runs already")
	}
	objects := make([]any, 10*scratchKept)
	for n := range objects {
		objects[n] = &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprint(n), ResourceVersion: "1"}}
	}
	for _, d := range []cache.Delta{
		{Type: cache.ReplacedAll, Object: cache.ReplacedAllInfo{Objects: objects, ResourceVersion: "1"}},
		{Type: cache.SyncAll, Object: cache.SyncAllInfo{}},
	} {
		i.handle([]deltafifo.Entry{{Delta: d}})
		if got := max(cap(i.scratch.ops), cap(i.scratch.sources), cap(i.scratch.notifications)); got > scratchKept {
			t.Errorf("%s leaves room for %d", d.Type, got)
		}
		if got := i.scratch.performed; got != len(objects) {
			t.Errorf("%s performed %d writes, want %d", d.Type, got, len(objects))
		}
	}
	if got := i.store.Len(); got != len(objects) {
		t.Errorf("%d objects are stored, want %d", got, len(objects))
	}
}
