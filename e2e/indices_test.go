package e2e_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/informeter/informeter/engine/inspect"

	"github.com/informeter/informeter/e2e/testcluster"
)

func testIndices(t *testing.T, p *program, cluster *testcluster.Cluster) {
	client, kubeconfig := kubeClient(t, cluster), cluster.KubeconfigFor(t, testcluster.Admin)
	createNamespace(t, client, "indexed")
	for name, tier := range map[string]string{"gold-one": "gold", "gold-two": "gold", "tin-one": "tin", "bare": ""} {
		pod := createPod(t, client, "indexed", name)
		defer deletePod(t, client, "indexed", name)
		if tier != "" {
			labelPod(t, client, pod, "tier", tier)
		}
	}
	byLabel, byPath := []string{"--index", "tier=label:tier"}, []string{"--index", "img={.spec.containers[*].image}"}
	pods := append(append([]string{"pods", "-n", "indexed"}, byLabel...), byPath...)
	r := p.snapshot(t, kubeconfig, pods...).mustSync(t)
	r.wantIndex(t, inspect.IndexVitals{
		Name: "tier", Expr: "label:tier", Buckets: 2, Entries: 3, Unindexed: 1, Largest: "gold", LargestObjects: 2,
	})
	r.wantIndex(t, inspect.IndexVitals{
		Name: "img", Expr: "{.spec.containers[*].image}", Buckets: 1, Entries: 4, Largest: "example.com/main:1", LargestObjects: 4,
	})
	r = p.snapshot(t, kubeconfig, "widgets.example.com", "-A", "--index", "size=cel:string(object.spec.size)").mustSync(t)
	r.wantIndex(t, inspect.IndexVitals{ // sprocket; cog; flange
		Name: "size", Expr: "cel:string(object.spec.size)", Buckets: 3, Entries: 3, LargestObjects: 1, Largest: "3",
	})

	e := p.explore(t, kubeconfig, pods...)
	e.press("4")
	e.shows("6 indices")
	e.press("G")
	e.shows("▸ tier", "made of  label:tier", "2 buckets", "gold", "tin")
	e.press("\r", "\r") // its first bucket, and the pods in it
	e.shows("tier › gold", "gold-one", "gold-two")
	e.quits()
}

// wantIndex checks what an index holds; how long its function takes is anybody's
// guess.
func (r result) wantIndex(t *testing.T, want inspect.IndexVitals) {
	t.Helper()
	for _, got := range r.Indices {
		if got.Name == want.Name {
			got.Time = inspect.Latency{}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("index %s (-want +got):\n%s", want.Name, diff)
			}
			return
		}
	}
	t.Errorf("got no index %s", want.Name)
}

func testWrongExpression(t *testing.T, p *program, cluster *testcluster.Cluster) {
	kubeconfig := cluster.KubeconfigFor(t, testcluster.Admin)
	for _, tc := range []struct{ index, column string }{
		{"img={.spec.containers[*", "--index img: expression \"{.spec.containers[*\", column 18: "},
		{"size=cel:object.spec..size", "--index size: expression \"cel:object.spec..size\", column 17: "},
		{"size=cel:string(object.spec.size", "column 28: "},
		{"tier=tier", "--index tier: expression \"tier\", column 1: "},
	} {
		// Whoever asks this server first gets another error than the expected one.
		r := p.run(t, kubeconfig, "pods", "--index", tc.index, "--server", fmt.Sprintf("https://127.0.0.1:%d", closedPort(t)))
		if r.code != 1 || r.stdout != "" || !strings.Contains(r.stderr, tc.column) {
			t.Errorf("--index %s: got exit code %d, stdout %q, stderr %q; want 1, none, and %s", tc.index, r.code, r.stdout, r.stderr, tc.column)
		}
	}
}
