// Package terminal runs a program in a pseudo-terminal and reads what a person
// would see: bytes go through a terminal emulator, which also answers the
// questions that programs ask of terminals.
//
//	program ◀── keys, answers ── pty ◀── Send, emulator
//	        ──── output ───────▶ pty ──▶ emulator ──▶ Screen, Restored
//
// Guarantees:
//
//   - If WaitFor returns an error, then it holds the screen as it was last.
//   - If Wait returns, everything the program wrote is on the screen.
//   - If Close returns, the program and the goroutines that served it have ended.
//
// Cost: two goroutines and one emulated screen a program.
package terminal

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"reflect"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/charmbracelet/x/ansi"
	"github.com/charmbracelet/x/vt"
	"github.com/creack/pty"
	"golang.org/x/sys/unix"
	"golang.org/x/term"
)

// poll is how often WaitFor looks at the screen.
const poll = 5 * time.Millisecond

// Terminal is a running program and the screen it draws on.
type Terminal struct {
	cmd *exec.Cmd
	// pty is our side; tty is the program's, kept open until the program has ended
	// so that its settings can be read then.
	pty, tty      *os.File
	before, after *term.State

	mu       sync.Mutex
	emulator *vt.Emulator       // guarded by mu, but for its pipe of answers
	modes    map[ansi.Mode]bool // guarded by mu: what the program switched on and not off

	written atomic.Uint64 // how often the program wrote

	// exited is closed when the program has ended and its output is read; err and
	// after are set before.
	exited chan struct{}
	err    error
	// answered is closed when the goroutine that passes on answers has ended.
	answered chan struct{}
}

// Start runs cmd in a terminal of the given size. The caller calls Close.
func Start(cmd *exec.Cmd, cols, rows int) (*Terminal, error) {
	t := &Terminal{
		cmd:      cmd,
		emulator: vt.NewEmulator(cols, rows),
		modes:    map[ansi.Mode]bool{},
		exited:   make(chan struct{}),
		answered: make(chan struct{}),
	}
	t.emulator.SetCallbacks(vt.Callbacks{
		EnableMode:  func(mode ansi.Mode) { t.modes[mode] = true },
		DisableMode: func(mode ansi.Mode) { delete(t.modes, mode) },
	})
	var err error
	if t.pty, t.tty, err = pty.Open(); err != nil {
		return nil, fmt.Errorf("open a pseudo-terminal: %w", err)
	}
	if err := t.start(cols, rows); err != nil {
		t.tty.Close()
		t.pty.Close()
		return nil, fmt.Errorf("run %s in a terminal: %w", cmd.Path, err)
	}
	go t.run()
	go t.answer()
	return t, nil
}

func (t *Terminal) start(cols, rows int) (err error) {
	// The package pty makes our side block; then closing it would wait for the
	// next output, and HangUp would not be one.
	if err := syscall.SetNonblock(int(t.pty.Fd()), true); err != nil {
		return fmt.Errorf("make the terminal wait for nobody: %w", err)
	}
	if err := t.setSize(cols, rows); err != nil {
		return err
	}
	if t.before, err = term.GetState(int(t.tty.Fd())); err != nil {
		return fmt.Errorf("read the terminal's settings: %w", err)
	}
	if t.cmd.Env == nil {
		t.cmd.Env = os.Environ()
	}
	t.cmd.Env = append(t.cmd.Env, "TERM=xterm-256color")
	t.cmd.Stdin, t.cmd.Stdout, t.cmd.Stderr = t.tty, t.tty, t.tty
	t.cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	return t.cmd.Start()
}

// run owns the program: it ends when the program has ended and its last output
// has reached the screen.
func (t *Terminal) run() {
	defer close(t.exited)
	read := make(chan struct{})
	go func() {
		defer close(read)
		// Ends with an error when the last file that is open on the other side
		// closes, after everything was read.
		io.Copy(screen{t}, t.pty)
	}()
	t.err = t.cmd.Wait()
	t.after, _ = term.GetState(int(t.tty.Fd()))
	t.tty.Close()
	<-read
}

// answer passes the emulator's answers on to the program until Close closes the
// pipe. It goes on reading after a failed write: the emulator would block.
func (t *Terminal) answer() {
	defer close(t.answered)
	buffer := make([]byte, 1024)
	for {
		n, err := t.emulator.Read(buffer)
		if err != nil {
			return
		}
		_, _ = t.pty.Write(buffer[:n])
	}
}

// screen is the emulator as a writer.
type screen struct{ t *Terminal }

func (s screen) Write(p []byte) (int, error) {
	s.t.mu.Lock()
	defer s.t.mu.Unlock()
	s.t.written.Add(1)
	return s.t.emulator.Write(p)
}

// Send types keys.
func (t *Terminal) Send(keys string) error {
	if _, err := t.pty.WriteString(keys); err != nil {
		return fmt.Errorf("type %q: %w", keys, err)
	}
	return nil
}

// Resize changes the size of the terminal; the kernel tells the program.
func (t *Terminal) Resize(cols, rows int) error {
	t.mu.Lock()
	defer t.mu.Unlock() // the screen has the new size before what is drawn for it comes
	t.emulator.Resize(cols, rows)
	return t.setSize(cols, rows)
}

func (t *Terminal) setSize(cols, rows int) error {
	conn, err := t.pty.SyscallConn()
	if err != nil {
		return fmt.Errorf("set the size of the terminal: %w", err)
	}
	var failed error
	err = conn.Control(func(fd uintptr) {
		failed = unix.IoctlSetWinsize(int(fd), unix.TIOCSWINSZ, &unix.Winsize{Col: uint16(cols), Row: uint16(rows)})
	})
	if err := errors.Join(err, failed); err != nil {
		return fmt.Errorf("set the size of the terminal: %w", err)
	}
	return nil
}

// Signal sends a signal to the program.
func (t *Terminal) Signal(signal os.Signal) error {
	if err := t.cmd.Process.Signal(signal); err != nil {
		return fmt.Errorf("send %s: %w", signal, err)
	}
	return nil
}

// HangUp takes the terminal away, as closing a window does. The kernel sends the
// program SIGHUP, and there is nothing to read or write any more.
func (t *Terminal) HangUp() error {
	if err := t.pty.Close(); err != nil {
		return fmt.Errorf("close the pseudo-terminal: %w", err)
	}
	return nil
}

// PID is the program's process id.
func (t *Terminal) PID() int { return t.cmd.Process.Pid }

// Written is another number whenever the screen may have changed: much cheaper to
// ask for than the screen.
func (t *Terminal) Written() uint64 { return t.written.Load() }

// Screen returns the text on the screen, without colours, as one line a row.
func (t *Terminal) Screen() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.emulator.String()
}

// WaitFor returns when the screen is as wanted, and an error with the screen
// when that has not come within the timeout, or cannot come since the program
// has ended.
func (t *Terminal) WaitFor(what string, wanted func(screen string) bool, timeout time.Duration) error {
	deadline := time.Now().Add(timeout)
	for {
		ended := t.Ended() // asked first, so that the last output is looked at
		if text := t.Screen(); wanted(text) {
			return nil
		} else if ended {
			return fmt.Errorf("%s: the program ended (%v); the screen:\n%s", what, t.err, frame(text))
		} else if time.Now().After(deadline) {
			return fmt.Errorf("%s: not within %s; the screen:\n%s", what, timeout, frame(text))
		}
		time.Sleep(poll)
	}
}

// Ended says whether the program has ended and its last output has been read.
func (t *Terminal) Ended() bool {
	select {
	case <-t.exited:
		return true
	default:
		return false
	}
}

// Wait returns the program's exit code. A program that a signal killed has the
// code -1.
func (t *Terminal) Wait(timeout time.Duration) (int, error) {
	select {
	case <-t.exited:
	case <-time.After(timeout):
		return 0, fmt.Errorf("the program is still running after %s; the screen:\n%s", timeout, frame(t.Screen()))
	}
	var exit *exec.ExitError
	if t.err != nil && !errors.As(t.err, &exit) {
		return 0, fmt.Errorf("wait for the program: %w", t.err)
	}
	return t.cmd.ProcessState.ExitCode(), nil
}

// Restored says, after Wait, what the program did not put back: an error that
// names each thing.
func (t *Terminal) Restored() error {
	t.mu.Lock()
	defer t.mu.Unlock()
	var left []string
	if t.emulator.IsAltScreen() {
		left = append(left, "the alternate screen is on")
	}
	if t.emulator.CursorHidden() {
		left = append(left, "the cursor is hidden")
	}
	for mode := range t.modes {
		if name, matters := modeNames()[mode]; matters {
			left = append(left, name+" is on")
		}
	}
	if t.after == nil || !reflect.DeepEqual(t.before, t.after) {
		left = append(left, "the line settings (echo, line editing) are not what they were")
	}
	if len(left) == 0 {
		return nil
	}
	slices.Sort(left)
	return errors.New("not restored: " + strings.Join(left, "; "))
}

// modeNames are the modes that disturb a shell if they stay on.
func modeNames() map[ansi.Mode]string {
	return map[ansi.Mode]string{
		ansi.ModeMouseNormal:      "mouse reporting",
		ansi.ModeMouseButtonEvent: "mouse reporting of drags",
		ansi.ModeMouseAnyEvent:    "mouse reporting of every motion",
		ansi.ModeMouseExtSgr:      "the SGR mouse encoding",
		ansi.ModeBracketedPaste:   "bracketed paste",
		ansi.ModeFocusEvent:       "focus reporting",
		ansi.ModeCursorKeys:       "the application mode of the cursor keys",
	}
}

// Close kills the program if it still runs and frees the terminal.
func (t *Terminal) Close() error {
	if err := t.cmd.Process.Kill(); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return fmt.Errorf("kill the program: %w", err)
	}
	<-t.exited
	if pipe, ok := t.emulator.InputPipe().(io.Closer); ok {
		if err := pipe.Close(); err != nil {
			return fmt.Errorf("close the emulator: %w", err)
		}
		<-t.answered
	}
	if err := t.pty.Close(); err != nil && !errors.Is(err, os.ErrClosed) {
		return fmt.Errorf("close the pseudo-terminal: %w", err)
	}
	return nil
}

// frame draws a border beside a screen, so that a dump shows where it begins;
// empty lines at its end say nothing.
func frame(text string) string {
	var b strings.Builder
	for line := range strings.Lines(strings.TrimRight(text, "\n ")) {
		b.WriteString("  |" + strings.TrimRight(line, "\n") + "\n")
	}
	return b.String()
}
