package e2e_test

import (
	"strings"
	"syscall"
	"testing"

	"github.com/informeter/informeter/e2e/testcluster"
)

// everyScreen are the keys to each screen and what it shows at any size from
// 60x16 on.
func everyScreen() []struct{ keys, shows string } {
	return []struct{ keys, shows string }{
		{"1", "› Pipeline"},
		{"2", "› Queue"},
		{"3", "› Store"},
		{"4", "› Indices"},
		{"5", "› Handlers"},
		{"6", "› Resync"},
		{"7", "› Requests"},
		{"8", "› Findings"},
		{"3y", "namespace: storms"},
		{"3b", "› Biography"},
		{"3d", "› Diff"},
		{"3i", "› Buckets"},
		{"?", "› Help"},
	}
}

func testStorms(t *testing.T, p *program, cluster *testcluster.Cluster) {
	client := kubeClient(t, cluster)
	createNamespace(t, client, "storms")
	createPod(t, client, "storms", "in-the-eye")
	defer deletePod(t, client, "storms", "in-the-eye")
	e := p.explore(t, cluster.KubeconfigFor(t, testcluster.Admin), "pods", "-n", "storms")
	e.press("3")
	e.shows("storms/in-the-eye")
	for _, screen := range everyScreen() {
		e.press(screen.keys)
		e.shows(screen.shows)
		for range 5 {
			for _, size := range [][2]int{{10, 3}, {300, 100}, {59, 16}, {1, 1}, {60, 16}, {80, 24}, {100, 30}} {
				if err := e.Resize(size[0], size[1]); err != nil {
					t.Fatal(err)
				}
			}
			e.press(strings.Repeat("jkGg\x04\x15", 10)) // no key that leaves the screen
		}
		if err := e.Resize(160, 45); err != nil {
			t.Fatal(err)
		}
		e.shows(screen.shows, "informeter  pods · namespace storms")
	}
	e.quits()
}

func testPaste(t *testing.T, p *program, cluster *testcluster.Cluster) {
	e := p.explore(t, cluster.KubeconfigFor(t, testcluster.Admin), "pods", "-A")
	e.press("3")
	e.shows("› Store")
	for _, prompt := range []string{"/", ":"} {
		for _, text := range []string{"日本é👩‍👩‍👧‍👦\u202e\t", "pods -A\nq\n", "\x1b[31m\x00"} {
			e.press(prompt, "\x1b[200~", strings.Repeat(text, 100_000/len(text)), "\x1b[201~", "\x15")
			e.press("what-is-typed-then")
			e.shows(prompt + "what-is-typed-then")
			e.press("\x1b")
			e.hides("what-is-typed-then")
		}
	}
	e.quits()
}

func testSuspend(t *testing.T, p *program, cluster *testcluster.Cluster) {
	kubeconfig := cluster.KubeconfigFor(t, testcluster.Admin)
	t.Run("with a shell", func(t *testing.T) {
		cmd := p.command(t, kubeconfig, "pods", "-A")
		cmd.Args = append([]string{"sh", "-c", `set -m; "$0" "$@"; echo in the shell; read line; fg >/dev/null; echo at the end`}, cmd.Args...)
		cmd.Path = "/bin/sh"
		e := start(t, cmd)
		e.shows("› Pipeline")
		e.press("\x1a")
		e.shows("in the shell")
		e.press("\n")
		e.shows("› Pipeline")
		e.press("3")
		e.shows("› Store")
		e.press("q")
		e.shows("at the end")
		e.ends()
		if err := e.Restored(); err != nil {
			t.Error(err)
		}
	})
	t.Run("without one", func(t *testing.T) {
		// The program is the first of its terminal: nobody could continue it.
		e := p.explore(t, kubeconfig, "pods", "-A")
		e.shows("› Pipeline")
		e.press("\x1a")
		e.press("3")
		e.shows("› Store")
		e.quits()
	})
}

func testTerminalGone(t *testing.T, p *program, cluster *testcluster.Cluster) {
	kubeconfig := cluster.KubeconfigFor(t, testcluster.Admin)
	for _, screen := range []struct{ keys, shows string }{{"1", "› Pipeline"}, {"3", "› Store"}, {":", " :"}} {
		e := p.explore(t, kubeconfig, "pods", "-A")
		e.shows("watching")
		e.press(screen.keys)
		e.shows(screen.shows)
		if err := e.HangUp(); err != nil {
			t.Fatal(err)
		}
		e.ends()
	}
}

func testStopped(t *testing.T, p *program, cluster *testcluster.Cluster) {
	client := kubeClient(t, cluster)
	createNamespace(t, client, "stopped")
	e := p.explore(t, cluster.KubeconfigFor(t, testcluster.Admin), "pods", "-n", "stopped")
	e.press("3")
	e.shows("› Store")
	if err := e.Signal(syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	if err := e.Resize(100, 30); err != nil {
		t.Fatal(err)
	}
	createPod(t, client, "stopped", "meanwhile")
	defer deletePod(t, client, "stopped", "meanwhile")
	if err := e.Signal(syscall.SIGCONT); err != nil {
		t.Fatal(err)
	}
	e.shows("meanwhile")
	e.quits()
}
