//go:build unix

package cmd

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/informeter/informeter/engine/inspect"
)

func interruptSelf(t *testing.T, s syscall.Signal) {
	t.Helper()
	if err := syscall.Kill(os.Getpid(), s); err != nil {
		t.Error(err)
	}
}

func TestUntilSignal(t *testing.T) {
	for signal, code := range map[syscall.Signal]int{syscall.SIGINT: 130, syscall.SIGTERM: 143, syscall.SIGHUP: 129} {
		ctx, stop := untilSignal(t.Context())
		interruptSelf(t, signal)
		select {
		case <-ctx.Done():
		case <-time.After(10 * time.Second):
			t.Fatalf("%v did not end the context", signal)
		}
		var exit *exitWith
		if err := stop(); !errors.As(err, &exit) || exit.code != code || exit.err != nil {
			t.Errorf("%v: got %v, want exit code %d and nothing to say", signal, err, code)
		}
	}
}

func TestUntilSignalWithoutOne(t *testing.T) {
	ctx, stop := untilSignal(t.Context())
	if ctx.Err() != nil {
		t.Error("the context has ended")
	}
	if err := stop(); err != nil {
		t.Errorf("got %v", err)
	}
	if ctx.Err() == nil {
		t.Error("the context goes on")
	}
}

// Who gives up while the cluster is still being asked what it serves is not told
// what was wrong with it.
func TestInterruptedWhileOpening(t *testing.T) {
	isolate(t)
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		interruptSelf(t, syscall.SIGINT)
		<-r.Context().Done()
	}))
	defer server.Close()
	for _, args := range [][]string{{"deployments"}, {"snapshot", "deployments"}} {
		got := run(t, append(args, "--server", server.URL)...)
		if got.code != 130 || got.stderr != "" || got.stdout != "" {
			t.Errorf("%q: code %d, said %q, printed %q", args, got.code, got.stderr, got.stdout)
		}
	}
}

// Who is tired of waiting gets what there is.
func TestInterruptedSnapshot(t *testing.T) {
	isolate(t)
	var once sync.Once
	server := serve(t, func(w http.ResponseWriter, r *http.Request) {
		once.Do(func() { interruptSelf(t, syscall.SIGINT) })
		mute(w, r)
	})
	got := run(t, "snapshot", "--server", server, "--for", "1h")
	var s inspect.Snapshot
	parseSnapshot(t, got.stdout, &s)
	if got.code != 2 {
		t.Errorf("code %d, said %q", got.code, got.stderr)
	}
}

func TestDoctorStopsAtAnInterrupt(t *testing.T) {
	isolate(t)
	stop := time.AfterFunc(1500*time.Millisecond, func() { interruptSelf(t, syscall.SIGINT) })
	defer stop.Stop()
	got := run(t, "doctor", "--demo", "--for", "10m")
	if got.code != exitSignal+int(syscall.SIGINT) || !strings.HasPrefix(got.stdout, "watched for ") || strings.HasPrefix(got.stdout, "watched for 10m") || !strings.HasSuffix(got.stdout, "nothing found\n") || got.stderr != "" {
		t.Errorf("code %d, said %q\n%s", got.code, got.stderr, got.stdout)
	}
}
