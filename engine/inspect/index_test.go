package inspect

import "testing"

// TestControllerRuntimesIndicesHaveNamesForPeople: it names an index after the
// field and writes namespaces before values.
func TestControllerRuntimesIndicesHaveNamesForPeople(t *testing.T) {
	for _, c := range []struct{ index, value, wantIndex, wantBucket string }{
		{"field:spec.nodeName", "shop/n1", "spec.nodeName", "n1 in shop"},
		{"field:spec.nodeName", "__all_namespaces/n1", "spec.nodeName", "n1 in all namespaces"},
		{"field:owner", "shop/apps/v1/web", "owner", "apps/v1/web in shop"},
		{"field:owner", "shop/", "owner", `"" in shop`},
		{"field:owner", "", "owner", ""},
		{"field:", "a/b", "field:", "b in a"},
		{"namespace", "shop", "namespace", "shop"},
		{"owner", "ReplicaSet/web", "owner", "ReplicaSet/web"},
		{"owner", "__all_namespaces/web", "owner", "__all_namespaces/web"},
		{"owner", "", "owner", ""},
	} {
		if got := IndexName(c.index); got != c.wantIndex {
			t.Errorf("index %q is called %q, want %q", c.index, got, c.wantIndex)
		}
		if got := BucketName(c.index, c.value); got != c.wantBucket {
			t.Errorf("bucket %q of %s is called %q, want %q", c.value, c.index, got, c.wantBucket)
		}
	}
}
