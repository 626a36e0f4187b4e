package tui

import (
	"context"
	"errors"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/informeter/informeter/engine/inspect"
)

// controlMsg is the outcome of a wish that changes the informer.
type controlMsg struct {
	done string
	err  error
	then func(m *Model) // what follows where it worked; may be nil
}

// wishes are the changes asked for and not answered yet. One is under way, the
// others wait for it, so that they happen in the order in which they were asked
// for: commands run each on its own.
type wishes struct {
	waiting []tea.Cmd
	// gate is what they make of the gate, as far as no frame shows it yet; empty
	// if what is shown holds.
	gate inspect.GateMode
}

// control asks the informer to change, and says done when it has.
func (m *Model) control(done string, f func(context.Context, inspect.Controls) error) tea.Cmd {
	return m.change(nil, func(ctx context.Context, _ inspect.Inspector, c inspect.Controls) (string, error) {
		return done, f(ctx, c)
	})
}

// change asks the informer to change; f runs off the loop and returns what to say
// of it. Where it worked, then follows; it may be nil.
func (m *Model) change(then func(*Model), f func(context.Context, inspect.Inspector, inspect.Controls) (string, error)) tea.Cmd {
	source, name, ctx := m.source, m.informer, m.ctx
	wish := func() tea.Msg {
		inspector, controls, err := source.find(name)
		if err == nil && controls == nil {
			err = inspect.ErrReadOnly
		}
		if err != nil {
			return controlMsg{err: err}
		}
		ctx, cancel := context.WithTimeout(ctx, readTime)
		defer cancel()
		done, err := f(ctx, inspector, controls)
		return controlMsg{done, err, then}
	}
	m.wishes.waiting = append(m.wishes.waiting, wish)
	if len(m.wishes.waiting) > 1 {
		return nil
	}
	return wish
}

// paused says whether the gate is closed, or will be by what was asked for.
func (m *Model) paused() bool {
	mode := m.snapshot().Queue.Gate.Mode
	if m.wishes.gate != "" {
		mode = m.wishes.gate
	}
	return mode == inspect.GatePaused
}

func (m *Model) controlled(msg controlMsg) tea.Cmd {
	m.dirty = true
	switch {
	case errors.Is(msg.err, inspect.ErrReadOnly), errors.Is(msg.err, inspect.ErrUnsupported):
		m.note, m.failed = "not possible here: "+withoutKind(msg.err), true
	case msg.err != nil:
		m.fail(msg.err)
	default:
		m.note, m.failed = msg.done, false
		if msg.then != nil {
			msg.then(m)
		}
	}
	m.wishes.waiting = m.wishes.waiting[1:]
	if len(m.wishes.waiting) > 0 {
		return m.wishes.waiting[0]
	}
	if m.frozen {
		return nil
	}
	return m.pullNow()
}

// withoutKind leaves out what kind of error it is at the end of a sentence that
// says so already.
func withoutKind(err error) string {
	s := err.Error()
	for _, kind := range []error{inspect.ErrReadOnly, inspect.ErrUnsupported} {
		s = strings.TrimSuffix(s, ": "+kind.Error())
	}
	return s
}

// resultMsg brings what came of a wish that only reads.
type resultMsg struct{ take func(m *Model) }

// inquire asks the informer something that is not part of every frame. read runs
// off the loop; what it returns shows the answer.
func (m *Model) inquire(read func(context.Context, inspect.Inspector) (take func(m *Model))) tea.Cmd {
	source, name, ctx := m.source, m.informer, m.ctx
	return func() tea.Msg {
		inspector, _, err := source.find(name)
		if err != nil {
			return resultMsg{func(m *Model) { m.note = err.Error() }}
		}
		ctx, cancel := context.WithTimeout(ctx, inquiryTime)
		defer cancel()
		take := read(ctx, inspector)
		return resultMsg{func(m *Model) {
			if m.informer == name {
				take(m)
			}
		}}
	}
}

// inquiryTime is how long an inquiry may take: computing an index of a million
// objects anew takes seconds.
const inquiryTime = time.Minute

// fail answers a wish with an error.
func (m *Model) fail(err error) { m.note, m.failed = firstLine(err.Error()), true }
