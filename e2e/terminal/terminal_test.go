package terminal_test

import (
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/informeter/informeter/e2e/terminal"
)

const patience = 10 * time.Second

func run(t *testing.T, script string) *terminal.Terminal {
	t.Helper()
	term, err := terminal.Start(exec.Command("sh", "-c", script), 40, 10)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := term.Close(); err != nil {
			t.Error(err)
		}
	})
	return term
}

func contains(text string) func(string) bool {
	return func(screen string) bool { return strings.Contains(screen, text) }
}

func TestTypedKeysReachTheProgramAndItsOutputTheScreen(t *testing.T) {
	term := run(t, `read line; printf 'got \033[31m%s\033[0m' "$line"`)
	if err := term.Send("hello\r"); err != nil {
		t.Fatal(err)
	}
	if err := term.WaitFor("the answer", contains("got hello"), patience); err != nil {
		t.Fatal(err)
	}
	code, err := term.Wait(patience)
	if err != nil || code != 0 {
		t.Errorf("got exit code %d and error %v, want 0 and none", code, err)
	}
}

func TestTheProgramSeesTheSize(t *testing.T) {
	term := run(t, "stty size")
	if err := term.WaitFor("the size", contains("10 40"), patience); err != nil {
		t.Fatal(err)
	}
}

func TestTheProgramIsToldOfAnotherSize(t *testing.T) {
	term := run(t, `trap 'stty size' WINCH; stty size; while :; do sleep 0.05; done`)
	for _, size := range []struct {
		cols, rows int
		shows      string
	}{{40, 10, "10 40"}, {30, 5, "5 30"}, {100, 30, "30 100"}} {
		if err := term.Resize(size.cols, size.rows); err != nil {
			t.Fatal(err)
		}
		if err := term.WaitFor("the size", contains(size.shows), patience); err != nil {
			t.Fatal(err)
		}
		if rows := strings.Count(term.Screen(), "\n") + 1; rows != size.rows {
			t.Errorf("the screen has %d rows, want %d", rows, size.rows)
		}
	}
}

func TestWaitingInVainReturnsTheScreen(t *testing.T) {
	for _, tc := range []struct{ script, want string }{
		{"echo here I am; sleep 60", "not within"},
		{"echo here I am; exit 3", "the program ended (exit status 3)"},
	} {
		term := run(t, tc.script)
		if err := term.WaitFor("the first line", contains("here I am"), patience); err != nil {
			t.Fatal(err)
		}
		err := term.WaitFor("an elephant", contains("elephant"), time.Second)
		if err == nil || !strings.Contains(err.Error(), tc.want) || !strings.Contains(err.Error(), "here I am") {
			t.Errorf("%q: got error %v, want one with %q and the screen", tc.script, err, tc.want)
		}
	}
}

func TestWhatAProgramLeavesBehindIsNamed(t *testing.T) {
	for _, tc := range []struct{ script, want string }{
		{`printf '\033[?1049h\033[?25l\033[?1002h\033[?2004h'; printf '\033[?1049l\033[?25h\033[?1002l\033[?2004l'`, ""},
		{`printf '\033[?1049h'`, "alternate screen"},
		{`printf '\033[?25l'`, "cursor is hidden"},
		{`printf '\033[?1002h'`, "mouse"},
		{`printf '\033[?2004h'`, "bracketed paste"},
		{`stty raw -echo`, "line settings"},
	} {
		term := run(t, tc.script)
		if _, err := term.Wait(patience); err != nil {
			t.Fatal(err)
		}
		err := term.Restored()
		if tc.want == "" && err != nil || tc.want != "" && (err == nil || !strings.Contains(err.Error(), tc.want)) {
			t.Errorf("%q: got %v, want %q", tc.script, err, tc.want)
		}
	}
}

func TestASignalReachesTheProgram(t *testing.T) {
	term := run(t, `trap 'exit 7' TERM; echo ready; while :; do sleep 0.05; done`)
	if err := term.WaitFor("ready", contains("ready"), patience); err != nil {
		t.Fatal(err)
	}
	if err := term.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if code, err := term.Wait(patience); err != nil || code != 7 {
		t.Errorf("got exit code %d and error %v, want 7 and none", code, err)
	}
}

func TestAProgramWhoseTerminalIsTakenAwayIsTold(t *testing.T) {
	term := run(t, `trap 'exit 7' HUP; echo ready; while :; do sleep 0.05; done`)
	if err := term.WaitFor("ready", contains("ready"), patience); err != nil {
		t.Fatal(err)
	}
	if err := term.HangUp(); err != nil {
		t.Fatal(err)
	}
	if code, err := term.Wait(patience); err != nil || code != 7 {
		t.Errorf("got exit code %d and error %v, want 7 and none", code, err)
	}
}
