package cmd

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"
)

// completions returns what the tab key offers after a command line.
func completions(t *testing.T, args ...string) []string {
	t.Helper()
	got := run(t, append([]string{"__completeNoDesc"}, args...)...)
	lines := strings.Split(strings.TrimSpace(got.stdout), "\n")
	if got.code != 0 || len(lines) == 0 || lines[len(lines)-1] != ":4" {
		t.Fatalf("code %d, got %q: want names and no files", got.code, lines)
	}
	return lines[:len(lines)-1]
}

func TestCompletion(t *testing.T) {
	isolate(t)
	up := serve(t, mute)
	config := writeFile(t, "config", `{current-context: prod, clusters: [{name: c1, cluster: {server: "https://127.0.0.1:1"}}],
		users: [{name: u1, user: {}}], contexts: [{name: prod, context: {cluster: c1, user: u1}}, {name: dev, context: {cluster: c1, user: u1}}]}`)
	for _, tt := range []struct {
		args []string
		want string
	}{
		{[]string{"snapshot", "--demo", ""}, "pods deployments.apps replicasets.apps nodes"},
		{[]string{"snapshot", "--demo", "pods,no"}, "pods,nodes"},
		{[]string{"--demo", "po"}, "pods"},
		{[]string{"snap"}, "snapshot"},
		{[]string{"--demo="}, "steady slow-handler resync-storm expired hot-key recreated"},
		{[]string{"snapshot", "--demo=re"}, "resync-storm recreated"},
		{[]string{"snapshot", "--server", up, "w"}, "widgets"},
		{[]string{"snapshot", "--server", up, "pods,"}, "pods,widgets"},
		{[]string{"--server", nobody(t), "deploy"}, "deployments"},
		{[]string{"--kubeconfig", config, "--context", ""}, "dev prod"},
		{[]string{"--kubeconfig", config, "--cluster", ""}, "c1"},
		{[]string{"snapshot", "--kubeconfig", config, "--user", "u"}, "u1"},
		{[]string{"--color", "a"}, "auto always"},
		{[]string{"snapshot", "-o", ""}, "json yaml"},
		{[]string{"--queue", ""}, "deltafifo inorder"},
		{[]string{"--index", ""}, "zone=label:topology.kubernetes.io/zone image={.spec.containers[*].image} account=cel:object.spec.serviceAccountName"},
		{[]string{"snapshot", "--index", "a"}, "account=cel:object.spec.serviceAccountName"},
		{[]string{"--index", "mine={"}, "mine={.spec.containers[*].image}"},
		{[]string{"--projection", "m"}, "metadata"},
		{[]string{"version", ""}, ""},
	} {
		t.Run(strings.Join(tt.args, " "), func(t *testing.T) {
			if got := strings.Join(completions(t, tt.args...), " "); got != tt.want {
				t.Errorf("got  %s\nwant %s", got, tt.want)
			}
		})
	}
}

// The tab key must not hang on a cluster that doesn't answer.
func TestCompletionGivesUp(t *testing.T) {
	isolate(t)
	start := time.Now()
	if got := completions(t, "--server", serve(t, mute), "-n", ""); !slices.Equal(got, []string{}) {
		t.Errorf("got %q", got)
	}
	if took := time.Since(start); took > 10*completionPatience {
		t.Errorf("took %v", took)
	}
	never := within(t.Context(), func(context.Context) []string {
		<-t.Context().Done()
		return []string{"late"}
	})
	if never != nil {
		t.Errorf("got %q", never)
	}
}
