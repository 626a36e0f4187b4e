package cmd

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"k8s.io/client-go/tools/clientcmd"
)

// outcome is what a run left behind.
type outcome struct {
	code           int
	stdout, stderr string
}

// run runs informeter in this process, without a terminal and without the
// kubeconfig of whoever runs the tests.
func run(t *testing.T, args ...string) outcome {
	t.Helper()
	return runAs(t, t.Context(), "informeter", args...)
}

func runAs(t *testing.T, ctx context.Context, name string, args ...string) outcome {
	t.Helper()
	var stdout, stderr bytes.Buffer
	code := Run(ctx, Program{
		Keymap: keymapText(t),
		Args:   append([]string{name}, args...),
		Stdin:  strings.NewReader(""), Stdout: &stdout, Stderr: &stderr,
	})
	return outcome{code, stdout.String(), stderr.String()}
}

// isolate takes the user's own files and cluster out of sight.
func isolate(t *testing.T) {
	t.Helper()
	home := t.TempDir()
	t.Setenv("HOME", home)
	for _, name := range []string{
		"KUBECONFIG", "KUBERNETES_MASTER", "KUBERNETES_SERVICE_HOST", "KUBERNETES_SERVICE_PORT",
		"XDG_CONFIG_HOME", "XDG_STATE_HOME", "XDG_CACHE_HOME",
	} {
		t.Setenv(name, "")
	}
	was := clientcmd.RecommendedHomeFile
	clientcmd.RecommendedHomeFile = filepath.Join(home, ".kube", "config")
	t.Cleanup(func() { clientcmd.RecommendedHomeFile = was })
}

// serve starts an API server of which discovery finds pods and widgets, and that
// answers everything else with objects. It returns its URL.
func serve(t *testing.T, objects http.HandlerFunc) string {
	t.Helper()
	answers := map[string]string{
		"/api":    `{"kind":"APIVersions","versions":["v1"]}`,
		"/api/v1": `{"kind":"APIResourceList","groupVersion":"v1","resources":[{"name":"pods","singularName":"pod","kind":"Pod","namespaced":true,"verbs":["list","watch"]}]}`,
		"/apis": `{"kind":"APIGroupList","groups":[{"name":"example.com","versions":[{"groupVersion":"example.com/v1","version":"v1"}],
			"preferredVersion":{"groupVersion":"example.com/v1","version":"v1"}}]}`,
		"/apis/example.com/v1": `{"kind":"APIResourceList","groupVersion":"example.com/v1","resources":[{"name":"widgets","singularName":"widget","kind":"Widget","namespaced":true,"verbs":["list","watch"]}]}`,
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if text, ok := answers[r.URL.Path]; ok {
			w.Header().Set("Content-Type", "application/json")
			_, _ = fmt.Fprint(w, text)
			return
		}
		objects(w, r)
	}))
	t.Cleanup(func() {
		server.CloseClientConnections()
		server.Close()
	})
	return server.URL
}

// nobody returns the URL of a server that is not there.
func nobody(t *testing.T) string {
	t.Helper()
	server := httptest.NewServer(nil)
	defer server.Close()
	return server.URL
}

// mute is an API server that never answers.
func mute(w http.ResponseWriter, r *http.Request) { <-r.Context().Done() }

func writeFile(t *testing.T, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestCommandLinesThatAreWrong(t *testing.T) {
	isolate(t)
	up := serve(t, mute)
	missing := filepath.Join(t.TempDir(), "missing")
	broken := writeFile(t, "config", "contexts: [}")
	for _, tt := range []struct {
		args string
		code int
		want string // the beginning of what is said
	}{
		// Who has no cluster is told so; only the bare explorer has the demo.
		{"snapshot", 2, "error: no kubeconfig: there is no default file"},
		{"snapshot pods", 2, "error: no kubeconfig: "},
		{"pods", 2, "error: no kubeconfig: "},
		{"-A", 2, "error: no kubeconfig: "},
		{"-n web", 2, "error: no kubeconfig: "},
		{"--projection metadata", 2, "error: no kubeconfig: "},

		{"snapshot --kubeconfig " + missing, 1, "error: --kubeconfig: reading the kubeconfig: open " + missing + ": "},
		{"snapshot --kubeconfig " + broken, 1, "error: reading the kubeconfig: " + broken + " is not one: line 1: "},
		{"snapshot --server " + up + " --request-timeout abc", 1, "error: --request-timeout \"abc\": give seconds, or a number with a unit as in 30s or 2m\n"},
		{"snapshot --server " + up + " --request-timeout=-1s", 1, "error: --request-timeout \"-1s\": "},
		{"snapshot --quux", 1, "error: unknown flag: --quux; informeter snapshot --help lists the flags"},
		{"--attach unix:x", 1, "error: unknown flag: --attach; informeter --help lists the flags"},
		{"snapshot --for x", 1, "error: invalid argument \"x\" for \"--for\" flag: "},
		{"snapshot --for -1s", 1, "error: --for -1s: give how long to watch, as in 10s; without it snapshot prints as soon as it is synced\n"},
		{"snapshot --demo --for 0", 1, "error: --for 0s: give how long to watch, as in 10s; "},
		{"snapshot --resync 10ms --demo", 1, "error: --resync 10ms: an informer resyncs once a second at most; 0 is never"},
		{"snapshot --demo --queue lifo", 1, `error: --queue "lifo": use deltafifo or inorder`},
		{"snapshot --demo --strict --queue deltafifo", 1, "error: --strict runs on the inorder queue, as stock client-go does; leave out --queue deltafifo"},
		{"snapshot --demo --index zone", 1, "error: --index zone: write NAME=EXPR, as in --index zone=label:topology.kubernetes.io/zone"},
		{"snapshot --demo --index =label:zone", 1, "error: --index =label:zone: write NAME=EXPR"},
		{"snapshot --demo --index label:a=b", 1, "error: --index label:a=b: write NAME=EXPR"},
		{"snapshot --demo --index zone=zone", 1, `error: --index zone: expression "zone", column 1: begin with label:`},
		{"--demo --index node={.spec.nodeName", 1, `error: --index node: expression "{.spec.nodeName", column 16: not a JSONPath: unclosed action`},
		{"snapshot --demo --index a=label:a --index a=label:b", 1, "error: --index a=label:b: there is another one called a; choose another name"},
		{"snapshot --demo --index node=label:a", 1, "error: informer pods: add index node: there is an index of that name; choose another than namespace, node, owner, phase"},
		{"snapshot -o xml", 1, `error: --output "xml": use json or yaml`},
		{"version -o xml", 1, `error: --output "xml": use json or yaml`},
		{"version now", 1, `error: unknown command "now" for "informeter version"`},
		{"--color sometimes", 1, `error: --color "sometimes": use auto, always or never`},
		{"snapshot --demo --log-file " + missing + "/log", 1, "error: --log-file: open " + missing + "/log: "},

		{"steady", 1, `error: "steady" is a scenario of the simulated cluster, not a resource; did you mean --demo=steady?`},
		{"--demo steady", 1, `error: "steady" is a scenario of the simulated cluster, not a resource; did you mean --demo=steady?`},
		{"snapshot --demo steady", 1, `error: "steady" is a scenario of the simulated cluster`},
		{"snapshot --demo=unsteady", 1, `error: --demo: no scenario is called "unsteady"; did you mean steady? There are steady, slow-handler, resync-storm, expired, hot-key, recreated` + "\n"},
		{"--demo hot-key", 1, `error: "hot-key" is a scenario of the simulated cluster, not a resource; did you mean --demo=hot-key?`},
		{"snapshot --demo --context prod", 1, "error: the simulated cluster has no use for --context"},
		{"snapshot --demo --projection metadata", 1, "error: --projection metadata: the simulated cluster has typed objects only"},
		{"snapshot --demo pdos", 1, `error: the simulated cluster has no resource type "pdos"`},

		{"snapshot --server " + up + " podz", 1, `error: the server has no resource "podz"; did you mean pods?`},
		{"--server " + up + " podz", 1, `error: the server has no resource "podz"; did you mean pods?`},
		{"--server " + up + " snapshto", 1, `error: the server has no resource "snapshto"; perhaps the command "informeter snapshot"?`},
		{"--demo snapshto", 1, `error: the simulated cluster has no resource type "snapshto"; it has pods, deployments.apps, replicasets.apps, nodes; perhaps the command "informeter snapshot"?`},
		{"--server " + up + " -- version", 1, `error: the server has no resource "version"`},

		{"--server " + up + " pods.apps", 1, `error: the server has no resource "pods.apps"; did you mean pods?` + "\n"},
		{"--server " + up + " widget.exmple.com", 1, `error: the server has no resource "widget.exmple.com"; did you mean widgets.example.com?` + "\n"},
		{"snapshot --demo pods.apps", 1, `error: the simulated cluster has no resource type "pods.apps"; did you mean pods?` + "\n"},
		{"snapshot --demo deployment.app", 1, `error: the simulated cluster has no resource type "deployment.app"; did you mean deployments.apps?` + "\n"},

		{"snapshot --server " + up + " -n bad/ns", 1, `error: namespace "bad/ns": the name of a namespace has up to 63 lower case letters, digits and "-", and neither begins nor ends with "-"` + "\n"},
		{"snapshot --demo -n Bad", 1, `error: namespace "Bad": the name of a namespace has `},
		{"snapshot --server " + up + " pods/a,b", 1, `error: resource "pods/a,b": a second object is written pods/b, and another resource apart` + "\n"},
		{"snapshot --demo pods/a,b", 1, `error: resource "pods/a,b": a second object is written pods/b, and another resource apart` + "\n"},
		{"snapshot --server " + up + " pods/a -A", 1, `error: pods/a is one object of one namespace: name that one with --namespace in place of --all-namespaces` + "\n"},
		{"snapshot --demo pods/a -A", 1, `error: pods/a is one object of one namespace: `},
		{"snapshot --server " + up + " pods/a -l app=web", 1, `error: pods/a is one object by its name: a label selector has nothing to choose from` + "\n"},
		{"snapshot --demo pods/a -l app=web", 1, `error: pods/a is one object by its name: `},

		{"snapshott", exitNotSynced, `error: no kubeconfig: there is no default file, KUBECONFIG is not set, and this does not run in a cluster; perhaps the command "informeter snapshot"?` + "\n"},
		{"snapshot --server ftp://x", 1, `error: server "ftp://x": its address begins with https:// or http://` + "\n"},
		{"snapshot --server http://127.0.0.1:99999", 1, `error: server "http://127.0.0.1:99999": its port is none` + "\n"},
		{"snapshot --server :::", 1, `error: server ":::": `},
		{"snapshot --server " + up + " --certificate-authority " + missing, 1, "error: preparing to connect: unable to read certificate-authority " + missing},
		{"snapshot --server " + up + " po:ds", 1, `error: resource "po:ds": the name of a resource has letters, digits, "-" and "."` + "\n"},
		{"snapshot --demo pods/a/b", 1, `error: resource "pods/a/b": one object is written TYPE/NAME, as in pods/web-0` + "\n"},
		{"snapshot --demo pods/", 1, `error: resource "pods/": one object is written TYPE/NAME, as in pods/web-0` + "\n"},
		{"snapshot --demo pods,", 1, `error: resource "pods,": a name is missing` + "\n"},
		{"snapshot --demo=wrong", 1, `error: --demo: no scenario is called "wrong"; there are steady, slow-handler, `},
		{"snapshot --demo=hotkey", 1, `error: --demo: no scenario is called "hotkey"; did you mean hot-key? There are steady, slow-handler, `},
		{"help snapshto", 1, `error: help "snapshto": there is no such command; did you mean "informeter help snapshot"?` + "\n"},
		{"help snapshot now", 1, `error: help "snapshot now": there is no such command; there are `},

		{"completion tcsh", 1, `error: completion "tcsh": use bash, fish, powershell or zsh` + "\n"},
		{"completion bash now", 1, `error: unknown command "now" for "informeter completion bash"`},

		{"snapshot --server " + up + " -l =a", 1, `error: label selector "=a": `},

		{"--demo", 1, `error: the explorer needs a terminal, and standard input is not one; for the same as data there is "informeter snapshot", and "informeter doctor" says what is wrong`},
		{"", 1, "error: the explorer needs a terminal"},
	} {
		t.Run(tt.args, func(t *testing.T) {
			got := run(t, strings.Fields(tt.args)...)
			if got.code != tt.code || !strings.HasPrefix(got.stderr, tt.want) || got.stdout != "" {
				t.Errorf("code %d, want %d\nsaid %q\nwant %q\nstdout %q", got.code, tt.code, got.stderr, tt.want, got.stdout)
			}
			if n := strings.Count(got.stderr, "\n"); n != 1 {
				t.Errorf("%d lines of error, want 1", n)
			}
		})
	}
}

func TestKubeconfigVariableThatLeadsNowhere(t *testing.T) {
	isolate(t)
	missing := filepath.Join(t.TempDir(), "missing")
	t.Setenv("KUBECONFIG", missing)
	for _, args := range [][]string{nil, {"pods"}, {"snapshot"}} {
		got := run(t, args...)
		if want := "error: KUBECONFIG names " + missing + ", which does not exist: "; got.code != 1 || !strings.HasPrefix(got.stderr, want) {
			t.Errorf("%q: code %d, said %q", args, got.code, got.stderr)
		}
	}
}

func TestTerminalThatIsDumb(t *testing.T) {
	isolate(t)
	t.Setenv("TERM", "dumb")
	p := Program{Args: []string{"informeter"}, Stdin: terminal(t), Stdout: terminal(t)}
	err := p.checkTerminal(p.rootCommand())
	if want := `the explorer needs a terminal, and TERM is dumb; for the same as data there is "informeter snapshot", and "informeter doctor" says what is wrong`; err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
	t.Setenv("TERM", "xterm")
	if err := p.checkTerminal(p.rootCommand()); err != nil {
		t.Errorf("got %v", err)
	}
}

// terminal returns one side of a pseudo terminal.
func terminal(t *testing.T) *os.File {
	t.Helper()
	f, err := os.OpenFile("/dev/ptmx", os.O_RDWR, 0)
	if err != nil {
		t.Skip(err)
	}
	t.Cleanup(func() { _ = f.Close() })
	return f
}

func TestNameFollowsTheProgram(t *testing.T) {
	isolate(t)
	for argv0, want := range map[string]string{
		"/usr/local/bin/kubectl-informeter": "\n  kubectl informeter [RESOURCE...] [flags]\n",
		`kubectl-informeter.exe`:            "\n  kubectl informeter [RESOURCE...] [flags]\n",
		"./informeter":                      "\n  informeter [RESOURCE...] [flags]\n",
		"main":                              "\n  informeter [RESOURCE...] [flags]\n",
	} {
		got := runAs(t, t.Context(), argv0, "--help")
		if got.code != 0 || !strings.Contains(got.stdout, want) {
			t.Errorf("%s: code %d\n%s", argv0, got.code, got.stdout)
		}
	}
	got := runAs(t, t.Context(), "kubectl-informeter", "snapshot", "--quux")
	if want := "error: unknown flag: --quux; kubectl informeter snapshot --help lists the flags\n"; got.stderr != want {
		t.Errorf("got %q, want %q", got.stderr, want)
	}
}

func TestVersion(t *testing.T) {
	isolate(t)
	if got := run(t, "version"); got.code != 0 || !strings.HasPrefix(got.stdout, "informeter ") || !strings.Contains(got.stdout, "client-go") {
		t.Errorf("got %+v", got)
	}
	if got := run(t, "version", "-o", "json"); got.code != 0 || !strings.Contains(got.stdout, `"go": "go1.`) {
		t.Errorf("got %+v", got)
	}
	if got := run(t, "version", "-o", "yaml"); got.code != 0 || !strings.Contains(got.stdout, "\ngo: go1.") {
		t.Errorf("got %+v", got)
	}
}

func TestInfo(t *testing.T) {
	isolate(t)
	config := t.TempDir()
	t.Setenv("XDG_CONFIG_HOME", config)
	t.Setenv("XDG_STATE_HOME", "/state")
	t.Setenv("XDG_CACHE_HOME", "relative")
	t.Setenv("KUBECONFIG", "/a:/b")
	keymap := filepath.Join(config, "informeter", "keymap.yaml")
	got := run(t, "info")
	for _, want := range []string{
		"config      " + filepath.Join(config, "informeter") + "\n",
		"keymap      " + keymap + " (not there: the built-in one)\n",
		"state       /state/informeter\n",
		"kubeconfig  /a:/b\n",
	} {
		if got.code != 0 || !strings.Contains(got.stdout, want) {
			t.Errorf("code %d, %q is not in\n%s", got.code, want, got.stdout)
		}
	}
	if strings.Contains(got.stdout, "relative") {
		t.Errorf("a relative path was used:\n%s", got.stdout)
	}
	if err := os.MkdirAll(filepath.Dir(keymap), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(keymap, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if got := run(t, "info"); !strings.Contains(got.stdout, keymap+"\n") {
		t.Errorf("the keymap is not seen:\n%s", got.stdout)
	}
}

func TestCompletionScripts(t *testing.T) {
	isolate(t)
	for _, shell := range []string{"bash", "zsh", "fish", "powershell"} {
		if got := run(t, "completion", shell); got.code != 0 || !strings.Contains(got.stdout, "informeter") || got.stderr != "" {
			t.Errorf("%s: code %d, said %q", shell, got.code, got.stderr)
		}
	}
	if got := run(t, "completion"); got.code != 0 || !strings.Contains(got.stdout, "powershell") {
		t.Errorf("without a shell: code %d\n%s", got.code, got.stdout)
	}
}

func TestHelpOfACommand(t *testing.T) {
	isolate(t)
	for args, want := range map[string]string{"help": "informeter COMMAND", "help snapshot": "informeter snapshot [RESOURCE...]"} {
		if got := run(t, strings.Fields(args)...); got.code != 0 || !strings.Contains(got.stdout, want) {
			t.Errorf("%s: code %d, %s%s", args, got.code, got.stdout, got.stderr)
		}
	}
}

// A file that is no kubeconfig is said to be none, with the line where that
// shows, and no word of Go.
func TestFilesThatAreNoKubeconfig(t *testing.T) {
	isolate(t)
	for name, tt := range map[string]struct{ text, want string }{
		"prose":         {"hello world", "line 1: this is a string, and a kubeconfig begins with names and values"},
		"a list":        {"\n- a\n- b\n", "line 2: this is a list, and a kubeconfig begins with names and values"},
		"broken":        {"a: b\nclusters: [}\n", "line 2: "},
		"a tab":         {"a: b\n\tc: d\n", "line 2: "},
		"a pod":         {"apiVersion: v1\nkind: Pod\n", `line 2: its kind is "Pod", not Config`},
		"other version": {"apiVersion: v9\nkind: Config\n", `line 1: its apiVersion is "v9", not v1`},
		"no list":       {"kind: Config\nclusters: hello\n", "line 2: clusters is a string, not a list"},
		"deeper":        {"clusters:\n- name: a\n  cluster: hello\n", "clusters.cluster can't be a string"},
		"binary":        {"\x00\x01\xff\xfe", "it is not text"},
		"huge":          {strings.Repeat("x: [\n", 300_000), "it is too large"},
		"deep":          {strings.Repeat("x: [", 200_000), "it is nested too deep"},
		"deep lists":    {strings.Repeat("- ", 200_000), "it is nested too deep"},
		"empty name":    {"clusters: [{name: a, cluster: 7}]", "clusters.cluster can't be a number"},
		"two documents": {"kind: Config\nclusters: [}\n---\nx: y\n", "line 2: "},
	} {
		t.Run(name, func(t *testing.T) {
			file := writeFile(t, "config", tt.text)
			got := run(t, "snapshot", "--kubeconfig", file)
			begin, end := "error: reading the kubeconfig: "+file+" is not one: ", "; correct it, or name another with --kubeconfig\n"
			if got.code != 1 || !strings.HasPrefix(got.stderr, begin+tt.want) || !strings.HasSuffix(got.stderr, end) || len(got.stderr) > 500 {
				t.Errorf("code %d, said %.600q\nwant %q", got.code, got.stderr, begin+tt.want)
			}
			if strings.Contains(got.stderr, "struct") || strings.Contains(got.stderr, ".go:") || strings.Count(got.stderr, "\n") != 1 {
				t.Errorf("said %q", got.stderr)
			}
		})
	}
}
