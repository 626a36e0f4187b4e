package e2e_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/informeter/informeter/engine/inspect"

	"github.com/informeter/informeter/e2e/terminal"
)

// patience bounds every wait for the program. It is long, because the machine
// may be busy and an informer waits longer each time before it tries again; it
// says nothing about speed.
const patience = 90 * time.Second

// program is the built informeter.
type program struct {
	path string
	// races is where the race detector writes, if the program has one.
	races string
}

// build compiles the program from the folder above, with the race detector if
// the test has it, and reports the races it found when the test ends.
func build(t *testing.T) *program {
	t.Helper()
	dir := t.TempDir()
	p := &program{path: filepath.Join(dir, "informeter"), races: filepath.Join(dir, "races")}
	args := []string{"build", "-o", p.path}
	if raceDetector {
		args = append(args, "-race")
	}
	cmd := exec.CommandContext(t.Context(), "go", append(args, ".")...)
	cmd.Dir = ".."
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("build informeter: %v\n%s", err, out)
	}
	t.Cleanup(func() { p.reportRaces(t) })
	return p
}

func (p *program) reportRaces(t *testing.T) {
	files, err := filepath.Glob(p.races + ".*")
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range files {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for report := range strings.SplitSeq(string(text), "==================") {
			// Bubble Tea waits half a second for the goroutine that reads the keyboard
			// and then closes the file under it; on a busy machine that is too short.
			if !strings.Contains(report, "DATA RACE") || strings.Contains(report, "cancelreader.(*epollCancelReader).Close()") {
				continue
			}
			t.Errorf("the race detector reports:\n%s", report)
		}
	}
}

// command is the program with its own home, so that it neither reads nor writes
// the caller's files.
func (p *program) command(t *testing.T, kubeconfig string, args ...string) *exec.Cmd {
	t.Helper()
	home := t.TempDir()
	cmd := exec.Command(p.path, append(args, "--kubeconfig", kubeconfig)...)
	cmd.Dir = home
	cmd.Env = []string{
		"HOME=" + home, "PATH=" + os.Getenv("PATH"), "LANG=C.UTF-8",
		// Races are read from the files, so that exit codes stay the program's own.
		"GORACE=exitcode=0 atexit_sleep_ms=0 log_path=" + p.races,
	}
	return cmd
}

// ran is what a command left behind.
type ran struct {
	code           int
	stdout, stderr string
}

// run runs informeter to its end. Its exit code is for the caller to judge.
func (p *program) run(t *testing.T, kubeconfig string, args ...string) ran {
	t.Helper()
	cmd := p.command(t, kubeconfig, args...)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	kill := time.AfterFunc(2*patience, func() { _ = cmd.Process.Kill() })
	defer kill.Stop()
	err := cmd.Wait()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return ran{code: cmd.ProcessState.ExitCode(), stdout: stdout.String(), stderr: stderr.String()}
}

// result is what informeter snapshot left behind.
type result struct {
	inspect.Snapshot
	code   int
	stderr string
}

// snapshot runs informeter snapshot -o json. It fails the test if what it
// prints is not a snapshot; its exit code is for the caller to judge.
func (p *program) snapshot(t *testing.T, kubeconfig string, args ...string) result {
	t.Helper()
	r := p.run(t, kubeconfig, append([]string{"snapshot", "-o", "json"}, args...)...)
	s := result{code: r.code, stderr: r.stderr}
	if err := json.Unmarshal([]byte(r.stdout), &s.Snapshot); err != nil {
		t.Fatalf("informeter snapshot %s: exit code %d: stdout is not a snapshot: %v\nstdout:\n%s\nstderr:\n%s",
			strings.Join(args, " "), r.code, err, r.stdout, r.stderr)
	}
	return s
}

// mustSync fails the test if the snapshot was not one of a synced informer.
func (r result) mustSync(t *testing.T) result {
	t.Helper()
	if r.code != 0 || !r.Informer.Synced {
		t.Fatalf("got exit code %d, synced=%t, phase %q, error %q, stderr %q; want 0 and a synced informer",
			r.code, r.Informer.Synced, r.Reflector.Phase, r.Reflector.Error, r.stderr)
	}
	return r
}

// explorer is the program on a screen of 160 columns and 45 rows.
type explorer struct {
	*terminal.Terminal
	t *testing.T
}

// explore starts the explorer.
func (p *program) explore(t *testing.T, kubeconfig string, args ...string) explorer {
	t.Helper()
	return start(t, p.command(t, kubeconfig, args...))
}

// start runs a command as an explorer.
func start(t *testing.T, cmd *exec.Cmd) explorer {
	t.Helper()
	term, err := terminal.Start(cmd, 160, 45)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := term.Close(); err != nil {
			t.Error(err)
		}
	})
	return explorer{Terminal: term, t: t}
}

// press types keys, one after the other.
func (e explorer) press(keys ...string) {
	e.t.Helper()
	for _, k := range keys {
		if err := e.Send(k); err != nil {
			e.t.Fatal(err)
		}
	}
}

// shows waits until every text is on the screen.
func (e explorer) shows(texts ...string) {
	e.t.Helper()
	err := e.WaitFor("the screen shows "+strings.Join(texts, " and "), func(screen string) bool {
		for _, text := range texts {
			if !strings.Contains(screen, text) {
				return false
			}
		}
		return true
	}, patience)
	if err != nil {
		e.t.Fatal(err)
	}
}

// hides waits until the text is not on the screen.
func (e explorer) hides(text string) {
	e.t.Helper()
	err := e.WaitFor("the screen shows no "+text, func(screen string) bool {
		return !strings.Contains(screen, text)
	}, patience)
	if err != nil {
		e.t.Fatal(err)
	}
}

// quits presses the keys that quit, and checks that all went well and that the
// terminal is as it was.
func (e explorer) quits() {
	e.t.Helper()
	e.press("\x03")
	if code := e.ends(); code != 0 {
		e.t.Errorf("got exit code %d after ctrl+c, want 0", code)
	}
	if err := e.Restored(); err != nil {
		e.t.Error(err)
	}
}

// ends waits until the program has ended and gives its exit code.
func (e explorer) ends() int {
	e.t.Helper()
	code, err := e.Wait(patience)
	if err != nil {
		e.t.Fatal(err)
	}
	return code
}
