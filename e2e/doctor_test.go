package e2e_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/informeter/informeter/engine/findings"

	"github.com/informeter/informeter/e2e/testcluster"
)

func testDoctor(t *testing.T, p *program, cluster *testcluster.Cluster) {
	client := kubeClient(t, cluster)
	admin, nobody := cluster.KubeconfigFor(t, testcluster.Admin), cluster.KubeconfigFor(t, testcluster.Nobody)
	createNamespace(t, client, "healthy")
	createPod(t, client, "healthy", "fine")
	createNamespace(t, client, "half-allowed")
	allowListing(t, client, "half-allowed", testcluster.Nobody)

	for _, tc := range []struct {
		name       string
		kubeconfig string
		args       []string
		code       int
		found      string // the only rule
		stderr     string
	}{
		{"a healthy informer", admin, []string{"-n", "healthy"}, 0, "", ""},
		{"nothing is allowed", nobody, []string{"-n", "healthy"}, 2, findings.ListForbidden, `cannot list resource "pods"`},
		{"listing is allowed", nobody, []string{"-n", "half-allowed"}, 1, findings.WatchForbidden, ""},
		{
			"nobody listens", admin,
			[]string{"-n", "healthy", "--server", fmt.Sprintf("https://127.0.0.1:%d", closedPort(t))},
			2, "", "pods is not synced",
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel() // each of them only waits
			r := p.run(t, tc.kubeconfig, append([]string{"doctor", "pods", "--for", "5s", "-o", "json"}, tc.args...)...)
			var found struct{ Findings []findings.Finding }
			if err := json.Unmarshal([]byte(r.stdout), &found); err != nil {
				t.Fatalf("stdout is no JSON: %v\n%s\nstderr:\n%s", err, r.stdout, r.stderr)
			}
			var rules []string
			for _, f := range found.Findings {
				rules = append(rules, f.Rule)
			}
			if got := strings.Join(rules, " "); r.code != tc.code || got != tc.found {
				t.Errorf("got exit code %d and findings %q, want %d and %q", r.code, got, tc.code, tc.found)
			}
			if !strings.Contains(r.stderr, tc.stderr) || tc.stderr == "" && r.stderr != "" {
				t.Errorf("got stderr %q, want %q", r.stderr, tc.stderr)
			}
		})
	}
}
