package cluster

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestNear(t *testing.T) {
	candidates := []string{
		"pods", "po", "podtemplates", "services", "svc", "serviceaccounts", "deployments", "deploy",
		"configmaps", "cm", "nodes", "no", "statefulsets", "sts", "snapshot", "version",
	}
	for _, tt := range []struct {
		name string
		want []string
	}{
		{"depolyments", []string{"deployments"}},
		{"deploymens", []string{"deployments"}},
		{"POOS", []string{"pods"}},
		{"pds", []string{"pods"}},
		{"configm", []string{"configmaps"}},
		{"statefullsets", []string{"statefulsets"}},
		{"snapshto", []string{"snapshot"}},
		{"service", []string{"services", "serviceaccounts"}},
		{"podtemplates", nil},
		{"xx", nil},
		{"quux", nil},
		{"", nil},
	} {
		got := Near(tt.name, candidates)
		if len(got) == 0 && len(tt.want) == 0 {
			continue
		}
		if diff := cmp.Diff(tt.want, got); diff != "" {
			t.Errorf("Near(%q) (-want +got):\n%s", tt.name, diff)
		}
	}
}

func TestNearKeepsTheNearestThree(t *testing.T) {
	got := Near("webs-1", []string{"webs-5", "webs-4", "webs-3", "webs-2", "webs-2"})
	if diff := cmp.Diff([]string{"webs-2", "webs-3", "webs-4"}, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestDistance(t *testing.T) {
	for _, tt := range []struct {
		a, b string
		want int
	}{
		{"", "", 0},
		{"", "abc", 3},
		{"abc", "", 3},
		{"abc", "abc", 0},
		{"abc", "acb", 1},
		{"abc", "abd", 1},
		{"abc", "ab", 1},
		{"kitten", "sitting", 3},
		{"ca", "abc", 3},
	} {
		if got := distance(tt.a, tt.b); got != tt.want {
			t.Errorf("distance(%q, %q) = %d, want %d", tt.a, tt.b, got, tt.want)
		}
	}
}
