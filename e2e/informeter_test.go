package e2e_test

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"

	"k8s.io/client-go/tools/clientcmd"

	"github.com/informeter/informeter/engine/inspect"

	"github.com/informeter/informeter/e2e/testcluster"
)

// refused is how an address answers at which nobody listens, as far as it has
// room on the screen.
const refused = "connection ref"

// forbidden is what an API server answers to someone without rights on pods.
var forbidden = regexp.MustCompile(`cannot (list|watch) resource "pods"`)

func TestInformeter(t *testing.T) {
	p := build(t)
	cluster := testcluster.ForTest(t)
	t.Run("pods created, changed and deleted appear in the snapshot", func(t *testing.T) {
		testPodsInSnapshot(t, p, cluster)
	})
	t.Run("pods created, changed and deleted appear on the screen", func(t *testing.T) {
		testPodsOnScreen(t, p, cluster)
	})
	t.Run("every screen shows the informer it is about", func(t *testing.T) {
		testScreens(t, p, cluster)
	})
	t.Run("a user without rights is told which verb is forbidden", func(t *testing.T) {
		testForbidden(t, p, cluster)
	})
	t.Run("a user who may list and not watch sees the objects and the reason", func(t *testing.T) {
		testListOnly(t, p, cluster)
	})
	t.Run("objects of a custom resource are shown", func(t *testing.T) {
		testCustomResource(t, p, cluster)
	})
	t.Run("another namespace and another resource are opened in place of what is shown", func(t *testing.T) {
		testSwitch(t, p, cluster)
	})
	t.Run("expressions make indices", func(t *testing.T) {
		testIndices(t, p, cluster)
	})
	t.Run("a wrong expression ends the program before any server is asked", func(t *testing.T) {
		testWrongExpression(t, p, cluster)
	})
	t.Run("a slow handler falls behind, until it is removed", func(t *testing.T) {
		testSlowHandler(t, p, cluster)
	})
	t.Run("a relist is a request", func(t *testing.T) {
		testRelist(t, p, cluster)
	})
	t.Run("a biography goes on when its pod is created again", func(t *testing.T) {
		testBiography(t, p, cluster)
	})
	t.Run("no screen shows what is in a Secret", func(t *testing.T) {
		testSecret(t, p, cluster)
	})
	t.Run("doctor says what is wrong, and with its exit code whether", func(t *testing.T) {
		testDoctor(t, p, cluster)
	})
	t.Run("what comes over the wire is counted", func(t *testing.T) {
		testTraffic(t, p, cluster)
	})
	t.Run("the snapshot equals the server's list before and after 1,000 changes", func(t *testing.T) {
		testThousandChanges(t, p, cluster)
	})
	t.Run("sizes and keys come as fast as they may", func(t *testing.T) {
		testStorms(t, p, cluster)
	})
	t.Run("a paste of any length is taken at once", func(t *testing.T) {
		testPaste(t, p, cluster)
	})
	t.Run("it goes to the shell and comes back", func(t *testing.T) {
		testSuspend(t, p, cluster)
	})
	t.Run("it goes on after it was stopped", func(t *testing.T) {
		testStopped(t, p, cluster)
	})
	t.Run("nothing is left of it when its terminal is gone", func(t *testing.T) {
		testTerminalGone(t, p, cluster)
	})
	t.Run("the terminal is restored", func(t *testing.T) {
		testRestored(t, p, cluster)
	})
	t.Run("a server that never answers is a state on the screen", func(t *testing.T) {
		testNoServer(t, p)
	})
	// The last one, since it stops the server.
	t.Run("a server that is down, comes, goes and comes again is a state on the screen", func(t *testing.T) {
		testServerDown(t, p, cluster)
	})
}

func testPodsInSnapshot(t *testing.T, p *program, cluster *testcluster.Cluster) {
	client, kubeconfig := kubeClient(t, cluster), cluster.KubeconfigFor(t, testcluster.Admin)
	createNamespace(t, client, "snap")
	first := createPod(t, client, "snap", "first")
	second := createPod(t, client, "snap", "second")

	before := p.snapshot(t, kubeconfig, "pods", "-n", "snap").mustSync(t)
	wantObjects(t, before, 2, second.ResourceVersion)
	if before.Reflector.Phase != inspect.PhaseWatching || before.Reflector.Error != "" {
		t.Errorf("reflector: got phase %q and error %q, want %q and none", before.Reflector.Phase, before.Reflector.Error, inspect.PhaseWatching)
	}
	if before.Queue.Kind != "DeltaFIFO" || before.Queue.Deltas != 0 || before.Queue.Keys != 0 {
		t.Errorf("queue: got %d deltas on %d keys in a %s, want an empty DeltaFIFO", before.Queue.Deltas, before.Queue.Keys, before.Queue.Kind)
	}
	if len(before.Indices) == 0 {
		t.Error("indices: got none, want those of pods")
	}
	for _, listener := range before.Listeners {
		if listener.Pending != 0 {
			t.Errorf("listener %s: got %d pending, want 0", listener.Name, listener.Pending)
		}
	}

	changed := labelPod(t, client, first, "tier", "gold")
	deletePod(t, client, "snap", "second")
	after := p.snapshot(t, kubeconfig, "pods", "-n", "snap").mustSync(t)
	wantObjects(t, after, 1, changed.ResourceVersion)

	everywhere := p.snapshot(t, kubeconfig, "pods", "-A").mustSync(t)
	wantObjects(t, everywhere, 1, changed.ResourceVersion)
	inOrder := p.snapshot(t, kubeconfig, "pods", "-n", "snap", "--queue", "inorder").mustSync(t)
	wantObjects(t, inOrder, 1, changed.ResourceVersion)
	if inOrder.Queue.Kind != "InOrder" {
		t.Errorf("queue: got %s, want InOrder", inOrder.Queue.Kind)
	}
	deletePod(t, client, "snap", "first")
}

// wantObjects checks the count and that the store is not older than a write that
// was made before.
func wantObjects(t *testing.T, r result, objects int, atLeast string) {
	t.Helper()
	if r.Store.Objects != objects {
		t.Errorf("store: got %d objects, want %d", r.Store.Objects, objects)
	}
	for name, version := range map[string]string{"store": r.Store.ResourceVersion, "reflector": r.Reflector.ResourceVersion} {
		if !notOlder(t, version, atLeast) {
			t.Errorf("%s: got resource version %q, want at least %s", name, version, atLeast)
		}
	}
}

func testPodsOnScreen(t *testing.T, p *program, cluster *testcluster.Cluster) {
	client := kubeClient(t, cluster)
	createNamespace(t, client, "screen")
	createPod(t, client, "screen", "here-before")
	e := p.explore(t, cluster.KubeconfigFor(t, testcluster.Admin), "pods", "-A")
	e.press("3")
	e.shows("here-before")

	pod := createPod(t, client, "screen", "here-later")
	e.shows("here-before", "here-later")
	changed := labelPod(t, client, pod, "tier", "gold")
	e.shows("here-later", changed.ResourceVersion)
	deletePod(t, client, "screen", "here-before")
	e.hides("here-before")
	e.shows("here-later")
	deletePod(t, client, "screen", "here-later")
	e.hides("here-later")
	e.press("q")
	if code := e.ends(); code != 0 {
		t.Errorf("got exit code %d after q, want 0", code)
	}
}

func testScreens(t *testing.T, p *program, cluster *testcluster.Cluster) {
	client := kubeClient(t, cluster)
	createNamespace(t, client, "screens")
	createPod(t, client, "screens", "the-one")
	defer deletePod(t, client, "screens", "the-one")
	e := p.explore(t, cluster.KubeconfigFor(t, testcluster.Admin), "pods", "-n", "screens")
	for _, screen := range []struct {
		key   string
		shows []string
	}{
		{"1", []string{"Reflector", "DeltaFIFO", "HandleDeltas", "Indexer", "Processor", "watching"}},
		{"2", []string{"Queue", "watching"}},
		{"3", []string{"the-one"}},
		{"4", []string{"namespace"}},
		{"5", []string{"informeter"}},
	} {
		e.press(screen.key)
		e.shows(screen.shows...)
	}
}

func testForbidden(t *testing.T, p *program, cluster *testcluster.Cluster) {
	kubeconfig := cluster.KubeconfigFor(t, testcluster.Nobody)
	r := p.snapshot(t, kubeconfig, "pods", "-A", "--for", "4s")
	if r.code != 2 || r.Informer.Synced {
		t.Errorf("got exit code %d and synced=%t, want 2 and not synced", r.code, r.Informer.Synced)
	}
	if !forbidden.MatchString(r.Reflector.Error) {
		t.Errorf("reflector.error: got %q, want it to match %s", r.Reflector.Error, forbidden)
	}
	if !forbidden.MatchString(r.stderr) {
		t.Errorf("stderr: got %q, want it to match %s", r.stderr, forbidden)
	}
	e := p.explore(t, kubeconfig, "pods", "-A")
	if err := e.WaitFor("the screen shows the forbidden verb", forbidden.MatchString, patience); err != nil {
		t.Error(err)
	}
	e.press("q")
	e.ends()
}

func testListOnly(t *testing.T, p *program, cluster *testcluster.Cluster) {
	client, kubeconfig := kubeClient(t, cluster), cluster.KubeconfigFor(t, testcluster.Nobody)
	createNamespace(t, client, "listonly")
	createPod(t, client, "listonly", "listed")
	defer deletePod(t, client, "listonly", "listed")
	allowListing(t, client, "listonly", testcluster.Nobody)

	r := p.snapshot(t, kubeconfig, "pods", "-n", "listonly", "--for", "4s").mustSync(t)
	if r.Store.Objects != 1 || !strings.Contains(r.Reflector.Error, `cannot watch resource "pods"`) {
		t.Errorf("got %d objects and error %q, want 1 and the forbidden watch", r.Store.Objects, r.Reflector.Error)
	}
	e := p.explore(t, kubeconfig, "pods", "-n", "listonly")
	e.shows(`cannot watch resource "pods"`)
	e.press("3")
	e.shows("listed")
}

func testCustomResource(t *testing.T, p *program, cluster *testcluster.Cluster) {
	kubeconfig := cluster.KubeconfigFor(t, testcluster.Admin)
	createWidgets(t, cluster, "sprocket", "cog", "flange")
	for _, resource := range []string{"widgets.example.com", "widgets.v1.example.com", "wd"} {
		r := p.snapshot(t, kubeconfig, resource, "-A").mustSync(t)
		if r.Store.Objects != 3 {
			t.Errorf("%s: got %d objects, want 3", resource, r.Store.Objects)
		}
	}
	e := p.explore(t, kubeconfig, "widgets.example.com", "-A")
	e.press("3")
	e.shows("sprocket", "cog", "flange")
}

func testRestored(t *testing.T, p *program, cluster *testcluster.Cluster) {
	kubeconfig := cluster.KubeconfigFor(t, testcluster.Admin)
	for _, tc := range []struct {
		name string
		end  func(e explorer) error
		code int // a signal's is 128 and its number, as shells have it
	}{
		{"q", func(e explorer) error { return e.Send("q") }, 0},
		{"ctrl+c", func(e explorer) error { return e.Send("\x03") }, 0},
		{"SIGTERM", func(e explorer) error { return e.Signal(syscall.SIGTERM) }, 143},
		{"SIGHUP", func(e explorer) error { return e.Signal(syscall.SIGHUP) }, 129},
		{"SIGINT", func(e explorer) error { return e.Signal(syscall.SIGINT) }, 130},
	} {
		t.Run("after "+tc.name, func(t *testing.T) {
			e := p.explore(t, kubeconfig, "pods", "-A")
			e.shows("watching")
			if err := tc.end(e); err != nil {
				t.Fatal(err)
			}
			if code := e.ends(); code != tc.code {
				t.Errorf("got exit code %d, want %d", code, tc.code)
			}
			if err := e.Restored(); err != nil {
				t.Error(err)
			}
		})
	}
}

func testServerDown(t *testing.T, p *program, cluster *testcluster.Cluster) {
	client := kubeClient(t, cluster)
	createNamespace(t, client, "down")
	createPod(t, client, "down", "patient")
	kubeconfig := cluster.KubeconfigFor(t, testcluster.Admin)
	stop := func() {
		if err := cluster.StopAPIServer(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	start := func() {
		if err := cluster.StartAPIServer(t.Context()); err != nil {
			t.Fatal(err)
		}
	}

	stop()
	r := p.snapshot(t, kubeconfig, "pods", "-A", "--for", "2s")
	if r.code != 2 || !strings.Contains(r.Reflector.Error, refused) || !strings.Contains(r.stderr, refused) {
		t.Errorf("snapshot: got exit code %d, error %q, stderr %q; want 2 and a refused connection in both", r.code, r.Reflector.Error, r.stderr)
	}
	e := p.explore(t, kubeconfig, "pods", "-n", "down")
	e.shows("backing off", refused)
	start()
	e.press("3")
	e.shows("patient", "watching")
	stop()
	e.shows("patient", "backing off")
	e.press("1")
	e.shows(refused)
	start()
	createPod(t, client, "down", "newcomer")
	deletePod(t, client, "down", "patient")
	e.press("3")
	e.shows("newcomer", "watching")
	e.hides("patient")
	e.press("q")
	if code := e.ends(); code != 0 {
		t.Errorf("got exit code %d after q, want 0", code)
	}
}

func testNoServer(t *testing.T, p *program) {
	kubeconfig := filepath.Join(t.TempDir(), "kubeconfig")
	config := fmt.Sprintf(`
apiVersion: v1
kind: Config
current-context: nowhere
clusters: [{name: nowhere, cluster: {server: "https://127.0.0.1:%d"}}]
contexts: [{name: nowhere, context: {cluster: nowhere, user: nobody}}]
users: [{name: nobody, user: {token: none}}]
`, closedPort(t))
	if err := os.WriteFile(kubeconfig, []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := clientcmd.LoadFromFile(kubeconfig); err != nil {
		t.Fatal(err)
	}
	e := p.explore(t, kubeconfig, "pods")
	e.shows("backing off", refused)
	e.shows("attempt 3") // it is tried again, and again
	e.press("\x03")
	e.ends()
	if err := e.Restored(); err != nil {
		t.Error(err)
	}
}
