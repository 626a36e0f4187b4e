package tui

import (
	"time"

	tea "charm.land/bubbletea/v2"
)

// notStopped is after how long a program that wanted to be stopped and still runs
// knows that nobody has stopped it.
const notStopped = 300 * time.Millisecond

// notRead is for how long the keyboard's reader may be busy with what was typed
// before: Bubble Tea waits as long for its own.
const notRead = 500 * time.Millisecond

// suspend goes to the shell. Where there is none, because the program is the
// first of its terminal as under docker run -it, the kernel stops nobody, and
// nobody would ever continue it: it does that itself. While it is stopped this
// command is stopped too.
func (m *Model) suspend() tea.Cmd {
	if m.suspended != nil {
		return nil // on its way
	}
	resumed, ctx, keys := make(chan struct{}), m.ctx, m.keyboard
	m.suspended = resumed
	leave := func() tea.Msg {
		keys.interrupt(notRead) // what is typed from now on is the shell's
		return tea.Suspend()
	}
	return tea.Batch(leave, func() tea.Msg {
		tick := time.NewTicker(notStopped)
		defer tick.Stop()
		for {
			select {
			case <-resumed:
				return nil
			case <-ctx.Done():
				return nil
			case <-tick.C:
				wake()
			}
		}
	})
}

// resumed reads what has happened while the program was suspended.
func (m *Model) resumed() tea.Cmd {
	if m.suspended != nil {
		close(m.suspended)
		m.suspended = nil
	}
	if m.frozen {
		return nil
	}
	return m.pullNow()
}
