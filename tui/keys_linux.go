package tui

import (
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
	"syscall"
	"time"

	"github.com/charmbracelet/x/term"
)

// keyboard reads the keys of a terminal without holding a processor.
//
// Bubble Tea's own reader waits in epoll_wait. The runtime lets a goroutine keep
// its processor during a system call, until it notices, 10 to 20 ms later, that the
// call lasts; and whoever was woken just before stands in that processor's queue.
// So of two processors the reader takes one with every key, and in its queue the
// goroutine that the key was given to: while the other processor has enough to do,
// nobody else fetches that. A keyboard waits in the runtime's own poller, as for a
// network connection, which holds nothing:
//
//	terminal ──▶ epoll instance of the keyboard ──▶ the runtime's poller ──▶ Read
//
// The instance in between is there because the runtime polls only files that don't
// block, and a terminal must not become one: it is shared with the shell.
//
// It has no name, unlike an *os.File, so that Bubble Tea reads from it instead of
// from its descriptor; the descriptor is for the terminal's settings. Then Bubble
// Tea can't interrupt a Read, see interrupt.
type keyboard struct {
	terminal *os.File
	news     *os.File // the epoll instance: readable when the terminal is

	mu sync.Mutex
	// interrupted is closed by the Read that an interrupt ends; nil if none is to.
	interrupted chan struct{}
	closed      bool
}

// newKeyboard returns what reads from a terminal, or nil if r is none or can't be
// waited for, so that Bubble Tea's reader has to do. Whoever calls it closes it.
func newKeyboard(r io.Reader) *keyboard {
	file, ok := r.(*os.File)
	if !ok || !term.IsTerminal(file.Fd()) {
		return nil
	}
	k, err := openKeyboard(file)
	if err != nil {
		return nil
	}
	return k
}

// openKeyboard is newKeyboard for a file of any kind that can be waited for.
func openKeyboard(file *os.File) (*keyboard, error) {
	instance, err := syscall.EpollCreate1(syscall.EPOLL_CLOEXEC)
	if err != nil {
		return nil, fmt.Errorf("wait for keys: create an epoll instance: %w", err)
	}
	if err := syscall.SetNonblock(instance, true); err != nil { // else the runtime does not poll it
		syscall.Close(instance)
		return nil, fmt.Errorf("wait for keys: %w", err)
	}
	k := &keyboard{terminal: file, news: os.NewFile(uintptr(instance), "keys")}
	fd := int(file.Fd())
	event := syscall.EpollEvent{Events: syscall.EPOLLIN, Fd: int32(fd)}
	if err := syscall.EpollCtl(instance, syscall.EPOLL_CTL_ADD, fd, &event); err != nil {
		k.Close()
		return nil, fmt.Errorf("wait for keys of %s: %w", file.Name(), err)
	}
	if err := k.news.SetReadDeadline(time.Time{}); err != nil { // the runtime does not poll it
		k.Close()
		return nil, fmt.Errorf("wait for keys of %s: %w", file.Name(), err)
	}
	return k, nil
}

// Read reads what was typed, and waits until something is. It returns io.EOF
// once after an interrupt, and always once the keyboard is closed.
func (k *keyboard) Read(p []byte) (int, error) {
	for {
		switch err := k.wait(); {
		case err == nil:
			return k.terminal.Read(p)
		case k.isClosed():
			return 0, io.EOF
		case !errors.Is(err, os.ErrDeadlineExceeded):
			return 0, fmt.Errorf("wait for keys: %w", err)
		case k.answer():
			return 0, io.EOF
		}
	}
}

// wait returns when there is something to read.
func (k *keyboard) wait() error {
	conn, err := k.news.SyscallConn()
	if err != nil {
		return err
	}
	var found int
	var failed error
	err = conn.Read(func(fd uintptr) bool {
		var events [1]syscall.EpollEvent
		found, failed = syscall.EpollWait(int(fd), events[:], 0)
		return found > 0 || failed != nil && failed != syscall.EINTR
	})
	return errors.Join(err, failed)
}

// interrupt makes the Read under way, or the next one, return io.EOF, so that
// whoever reads stops. It returns when that has happened, but not later than
// patience: then nobody read, and nothing is interrupted. A nil keyboard does
// nothing.
func (k *keyboard) interrupt(patience time.Duration) {
	if k == nil {
		return
	}
	done := make(chan struct{})
	k.mu.Lock()
	k.interrupted = done
	k.news.SetReadDeadline(time.Unix(1, 0)) // fails only once it is closed
	k.mu.Unlock()
	timer := time.NewTimer(patience)
	defer timer.Stop()
	select {
	case <-done:
	case <-timer.C:
		k.answer()
	}
}

// answer ends the interrupt under way; false if there is none.
func (k *keyboard) answer() bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.news.SetReadDeadline(time.Time{})
	if k.interrupted == nil {
		return false
	}
	close(k.interrupted)
	k.interrupted = nil
	return true
}

// Fd returns the terminal's descriptor.
func (k *keyboard) Fd() uintptr { return k.terminal.Fd() }

// Write writes to the terminal.
func (k *keyboard) Write(p []byte) (int, error) { return k.terminal.Write(p) }

// Close ends every Read. The terminal stays open: it is not the keyboard's.
func (k *keyboard) Close() error {
	k.mu.Lock()
	k.closed = true
	k.mu.Unlock()
	return k.news.Close()
}

func (k *keyboard) isClosed() bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.closed
}
