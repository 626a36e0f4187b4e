package engine

import (
	"fmt"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/informeter/informeter/engine/deltafifo"
)

// What a list does to the store does not depend on the order in which it comes,
// nor on what could have kept it from being taken as it is.
func TestAListFillsAStoreWhateverItsOrder(t *testing.T) {
	version := func(name, rv string) any {
		return &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: name, ResourceVersion: rv}}
	}
	for _, c := range []struct {
		what, stored string
		list         []any
		want         string
	}{
		{"nothing", "", nil, ""},
		{"in order", "", []any{version("a", "1"), version("b", "2")}, "a@1 b@2"},
		{"out of order", "", []any{version("b", "2"), version("a", "1")}, "b@2 a@1"},
		{"a key twice in a row", "", []any{version("a", "1"), version("a", "2"), version("b", "3")}, "a@2 b@3"},
		{"a key twice", "", []any{version("a", "1"), version("b", "2"), version("a", "3")}, "a@3 b@2"},
		{"one that is kept", "", []any{version("a", "1"), deltafifo.Keep{Key: "b"}, version("c", "2")}, "a@1 c@2"},
		{"one without a key", "", []any{version("a", "1"), "no object", version("c", "2")}, "a@1 c@2"},
		{"something is stored", "b", []any{version("a", "1"), version("c", "2")}, "-b a@1 c@2"},
	} {
		i := New(&script{}, &corev1.Pod{}, Options{Queue: InOrder})
		if c.stored != "" {
			if err := i.store.Add(version(c.stored, "0")); err != nil {
				t.Fatal(err)
			}
		}
		if !i.replaceAll(c.list) {
			t.Errorf("%s: the list is without effect", c.what)
		}
		var got []string
		for _, op := range i.scratch.ops {
			if op.Delete {
				got = append(got, "-"+op.Key)
				continue
			}
			got = append(got, fmt.Sprint(op.Key, "@", op.Object.(*corev1.Pod).ResourceVersion))
		}
		if got := strings.Join(got, " "); got != c.want {
			t.Errorf("%s: %s, want %s", c.what, got, c.want)
		}
	}
}
