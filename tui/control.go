package tui

import (
	"context"
	"errors"

	tea "charm.land/bubbletea/v2"

	"github.com/informeter/informeter/engine/inspect"
)

// controlMsg is the outcome of a wish that changes the informer.
type controlMsg struct {
	done string
	err  error
}

// control asks the informer to change.
func (m *Model) control(done string, f func(context.Context, inspect.Controls) error) tea.Cmd {
	source, name, ctx := m.source, m.informer, m.ctx
	return func() tea.Msg {
		_, controls, err := source.find(name)
		if err == nil && controls == nil {
			err = inspect.ErrReadOnly
		}
		if err != nil {
			return controlMsg{err: err}
		}
		ctx, cancel := context.WithTimeout(ctx, readTime)
		defer cancel()
		return controlMsg{done: done, err: f(ctx, controls)}
	}
}

func (m *Model) controlled(msg controlMsg) tea.Cmd {
	m.dirty = true
	switch {
	case errors.Is(msg.err, inspect.ErrReadOnly), errors.Is(msg.err, inspect.ErrUnsupported):
		m.note = "not possible here: " + msg.err.Error()
	case msg.err != nil:
		m.note = msg.err.Error()
	default:
		m.note = msg.done
	}
	if m.frozen {
		return nil
	}
	return m.pullNow()
}
