package cmd

import (
	"encoding/json"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"
	"unicode"

	"github.com/google/go-cmp/cmp"
	"k8s.io/klog/v2"
	"sigs.k8s.io/yaml"

	"github.com/informeter/informeter/engine/inspect"
)

// parseSnapshot reads strictly what snapshot printed.
func parseSnapshot(t *testing.T, text string, v any) {
	t.Helper()
	d := json.NewDecoder(strings.NewReader(text))
	d.DisallowUnknownFields()
	if err := d.Decode(v); err != nil {
		t.Fatalf("%v in\n%s", err, text)
	}
}

func TestSnapshotOfTheDemo(t *testing.T) {
	isolate(t)
	got := run(t, "snapshot", "--demo", "-n", "storefront")
	if got.code != 0 || got.stderr != "" {
		t.Fatalf("code %d, said %q", got.code, got.stderr)
	}
	var fields map[string]json.RawMessage
	if err := json.Unmarshal([]byte(got.stdout), &fields); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"generation", "at", "informer", "reflector", "queue", "handle", "store", "indices", "listeners", "resync", "requests", "lost",
	} {
		if len(fields[want]) == 0 || string(fields[want]) == "null" {
			t.Errorf("%s is not there", want)
		}
	}
	var s inspect.Snapshot
	parseSnapshot(t, got.stdout, &s)
	if !s.Informer.Synced || s.Informer.Name != "pods" || s.Informer.Scope != "namespace storefront" || s.Informer.Origin != "demo: steady" {
		t.Errorf("got %+v", s.Informer)
	}
	if s.Store.Objects == 0 || len(s.Indices) == 0 || len(s.Listeners) == 0 || len(s.Requests.Last) == 0 {
		t.Errorf("objects %d, indices %d, listeners %d, requests %d: want some of each",
			s.Store.Objects, len(s.Indices), len(s.Listeners), len(s.Requests.Last))
	}
}

func TestSnapshotAsYAML(t *testing.T) {
	isolate(t)
	got := run(t, "snapshot", "--demo", "-o", "yaml")
	var s inspect.Snapshot
	if err := yaml.UnmarshalStrict([]byte(got.stdout), &s); err != nil || got.code != 0 {
		t.Fatalf("code %d, %v", got.code, err)
	}
	if s.Informer.Name != "pods" || !s.Informer.Synced {
		t.Errorf("got %+v", s.Informer)
	}
}

func TestSnapshotOnEitherQueue(t *testing.T) {
	isolate(t)
	for flag, want := range map[string]string{"--queue=deltafifo": "DeltaFIFO", "--queue=inorder": "InOrder", "--strict": "InOrder"} {
		got := run(t, "snapshot", "--demo", flag)
		var s inspect.Snapshot
		parseSnapshot(t, got.stdout, &s)
		if s.Queue.Kind != want || s.Store.Objects == 0 || got.code != 0 {
			t.Errorf("%s: code %d, a %s with %d objects", flag, got.code, s.Queue.Kind, s.Store.Objects)
		}
	}
}

func TestSnapshotOfSeveral(t *testing.T) {
	isolate(t)
	got := run(t, "snapshot", "--demo", "nodes,deploy", "pods", "no")
	var all struct{ Informers []inspect.Snapshot }
	parseSnapshot(t, got.stdout, &all)
	var names []string
	for _, s := range all.Informers {
		names = append(names, s.Informer.Name)
	}
	if diff := cmp.Diff([]string{"nodes", "deployments.apps", "pods"}, names); diff != "" || got.code != 0 {
		t.Errorf("code %d, names (-want +got):\n%s", got.code, diff)
	}
}

func TestSnapshotAfterATime(t *testing.T) {
	isolate(t)
	got := run(t, "snapshot", "--demo", "--resync", "1s", "--for", "1500ms")
	var s inspect.Snapshot
	parseSnapshot(t, got.stdout, &s)
	if age := s.At.Sub(s.Informer.Created); age < 1500*time.Millisecond {
		t.Errorf("printed after %v", age)
	}
	var asked bool
	for _, l := range s.Listeners {
		asked = asked || l.Name == "resync" && l.ResyncAsked == time.Second && l.Causes.Resync > 0
	}
	if !asked || s.Resync.Rounds == 0 {
		t.Errorf("no handler was given a resync: %+v", s.Resync)
	}
}

func TestSnapshotThatIsNotSynced(t *testing.T) {
	isolate(t)
	for _, tt := range []struct{ name, server, want string }{
		{"nobody there", nobody(t), "connection refused"},
		{"forbidden", serve(t, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(http.StatusForbidden)
			_, _ = io.WriteString(w, `{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"Forbidden","code":403,"message":"pods is forbidden: User \"jane\" cannot list"}`)
		}), "pods is forbidden: User \"jane\" cannot list"},
		{"no answer", serve(t, mute), "not synced after "},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got := run(t, "snapshot", "--server", tt.server, "--for", "300ms")
			var s inspect.Snapshot
			parseSnapshot(t, got.stdout, &s)
			if got.code != 2 || s.Informer.Synced || !strings.Contains(s.Reflector.Error, tt.want) {
				t.Errorf("code %d, synced %v, reflector.error %q", got.code, s.Informer.Synced, s.Reflector.Error)
			}
			if want := "error: pods is not synced: " + inspect.PlainError(s.Reflector.Error) + "\n"; got.stderr != want || strings.Contains(want, "http") {
				t.Errorf("said %q, want %q", got.stderr, want)
			}
		})
	}
}

// closedPipe is an output whose reader has gone.
type closedPipe struct{}

func (closedPipe) Write([]byte) (int, error) { return 0, syscall.EPIPE }

func TestSnapshotIntoAClosedPipe(t *testing.T) {
	isolate(t)
	var stderr strings.Builder
	code := Run(t.Context(), Program{
		Args: []string{"informeter", "snapshot", "--demo"}, Stdin: strings.NewReader(""), Stdout: closedPipe{}, Stderr: &stderr,
	})
	if code != 0 || stderr.Len() > 0 {
		t.Errorf("code %d, said %q", code, stderr.String())
	}
}

// What client-go logs is in the file, and nowhere else.
func TestLogFile(t *testing.T) {
	isolate(t)
	name := writeFile(t, "log", "before\n")
	run(t, "snapshot", "--server", nobody(t), "widgets", "--for", "200ms", "--log-file", name)
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	if log := string(text); !strings.HasPrefix(log, "before\n") || !strings.Contains(log, "asking the server what it serves") {
		t.Errorf("got %s", log)
	}
}

func TestLogTakesInTheStandardLibrarys(t *testing.T) {
	name := writeFile(t, "log", "")
	_, stop, err := startLog(name)
	if err != nil {
		t.Fatal(err)
	}
	log.Print("http: unsolicited response")
	klog.Background().Info("watch ended")
	stop()
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"http: unsolicited response\n", `msg="watch ended"`} {
		if !strings.Contains(string(text), want) {
			t.Errorf("%q is not in\n%s", want, text)
		}
	}
	if log.Writer() != os.Stderr {
		t.Error("the standard logger was not given back")
	}
}

// A credential plugin neither writes over the screen nor takes the keyboard.
func TestCredentialPlugin(t *testing.T) {
	isolate(t)
	token := make(chan string, 100)
	// client-go shows credentials to nobody whom it does not reach by TLS.
	server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		select {
		case token <- r.Header.Get("Authorization"):
		default:
		}
		mute(w, r)
	}))
	defer server.Close()
	plugin := writeFile(t, "plugin", `#!/bin/sh
echo "log in at https://login.example" >&2
case "$KUBERNETES_EXEC_INFO" in *'"interactive":false'*) ;; *) exit 1 ;; esac
echo '{"apiVersion":"client.authentication.k8s.io/v1","kind":"ExecCredential","status":{"token":"fresh"}}'
`)
	if err := os.Chmod(plugin, 0o700); err != nil {
		t.Fatal(err)
	}
	config := writeFile(t, "config", fmt.Sprintf(`{current-context: c, clusters: [{name: c, cluster: {server: %q, insecure-skip-tls-verify: true}}], contexts: [{name: c, context: {cluster: c, user: u}}],
		users: [{name: u, user: {exec: {apiVersion: client.authentication.k8s.io/v1, command: %q, interactiveMode: IfAvailable}}}]}`, server.URL, plugin))
	logFile := writeFile(t, "log", "")
	got := run(t, "snapshot", "--kubeconfig", config, "--for", "2s", "--log-file", logFile)
	select {
	case bearer := <-token:
		if bearer != "Bearer fresh" {
			t.Errorf("the server was shown %q", bearer)
		}
	default:
		t.Errorf("the server was never asked: %s", got.stderr)
	}
	if strings.Contains(got.stderr+got.stdout, "login.example") {
		t.Errorf("the plugin wrote over the screen: %s", got.stderr)
	}
	text, err := os.ReadFile(logFile)
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(text), "log in at https://login.example") {
		t.Errorf("the log has not what the plugin said: %s", text)
	}
}

func TestSnapshotWithIndicesOfOnesOwn(t *testing.T) {
	isolate(t)
	args := []string{"snapshot", "--demo"}
	exprs := map[string]string{
		"app":    "label:app",
		"images": "{.spec.containers[*].image}",
		"host":   "cel:object.spec.?nodeName",
		"picky":  "cel:object.spec.nothing",
	}
	for name, text := range exprs {
		args = append(args, "--index", name+"="+text)
	}
	got := run(t, args...)
	var s inspect.Snapshot
	parseSnapshot(t, got.stdout, &s)
	found := 0
	for _, ix := range s.Indices {
		text, own := exprs[ix.Name]
		if ix.Expr != text {
			t.Errorf("%s was made from %q, want %q", ix.Name, ix.Expr, text)
		}
		if !own {
			continue
		}
		found++
		switch {
		case ix.Name != "picky" && (ix.Buckets == 0 || ix.Errors != 0):
			t.Errorf("%+v, want it filled", ix)
		case ix.Name == "picky" && (int(ix.Errors) != s.Store.Objects || !strings.Contains(ix.LastError, "no such key: nothing")):
			t.Errorf("%+v, want it to fail on every object", ix)
		}
	}
	if found != len(exprs) || got.code != 0 {
		t.Errorf("code %d, %d of the indices asked for", got.code, found)
	}
}

// What a server says may be made to play with the terminal.
func TestControlCharactersReachNoTerminal(t *testing.T) {
	isolate(t)
	url := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusForbidden)
		_, _ = io.WriteString(w, `{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"Forbidden","code":403,
			"message":"go \u001b]0;pwned\u0007\u001b[2J away\nand\u009b31m \u202etxt.exe\u202c é"}`)
	})
	for _, format := range []string{"json", "yaml"} {
		got := run(t, "snapshot", "--server", url, "--for", "1s", "-o", format)
		if got.code != exitNotSynced || !strings.Contains(got.stderr, "away and") || !strings.Contains(got.stderr, "é") || strings.Count(got.stderr, "\n") != 1 {
			t.Errorf("code %d, said %q", got.code, got.stderr)
		}
		for name, text := range map[string]string{"stdout": got.stdout, "stderr": got.stderr} {
			// The YAML encoder can't be told to escape more than control characters.
			turns := func(r rune) bool {
				return unicode.Is(unicode.Bidi_Control, r) && (format == "json" || name == "stderr")
			}
			if i := strings.IndexFunc(text, func(r rune) bool { return r != '\n' && unicode.IsControl(r) || turns(r) }); i >= 0 {
				t.Errorf("%s, %s: %q", format, name, text[i:min(i+40, len(text))])
			}
		}
		var s inspect.Snapshot
		if err := yaml.Unmarshal([]byte(got.stdout), &s); err != nil || !strings.Contains(s.Reflector.Error, "\x1b[2J away\nand\u009b31m \u202etxt.exe") {
			t.Errorf("%s: the data say %q, %v", format, s.Reflector.Error, err)
		}
	}
}

func TestAnEmptyListLeavesTheStoreNotBehind(t *testing.T) {
	isolate(t)
	got := run(t, "snapshot", "--demo", "-n", "nope")
	var s inspect.Snapshot
	parseSnapshot(t, got.stdout, &s)
	if got.code != exitOK || !s.Informer.Synced || s.Store.Objects != 0 || s.Store.Behind {
		t.Errorf("code %d, synced %v, %d objects, behind %v", got.code, s.Informer.Synced, s.Store.Objects, s.Store.Behind)
	}
}
