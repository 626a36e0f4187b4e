package tui

import (
	tea "charm.land/bubbletea/v2"

	"github.com/informeter/informeter/engine/inspect"
)

// pane is what the screens have in common: a size, and ways of doing nothing.
type pane struct {
	m    *Model
	w, h int
}

func (p *pane) scope() Scope           { return ScopeGlobal }
func (p *pane) setSize(w, h int)       { p.w, p.h = w, h }
func (p *pane) ask(*request)           {}
func (p *pane) refresh(*frame)         {}
func (p *pane) click(int, int) tea.Cmd { return nil }
func (p *pane) status() string         { return "" }
func (p *pane) back() bool             { return false }

// blank returns an empty line.
func (p *pane) blank() string { return newLine(p.w).String() }

// place says which row of how many is selected, and with a filter how many it
// keeps.
func place(cursor, matched, total int, filter string) string {
	if f, err := inspect.ParseFilter(filter); err == nil && f.All() {
		filter = "" // it is being typed
	}
	if matched == 0 && filter == "" {
		return ""
	}
	s := number(min(cursor+1, matched)) + " of " + number(matched)
	if filter != "" {
		s = number(matched) + " of " + number(total) + " match " + shortFilter(filter)
	}
	return s
}

// shortFilter cuts a filter for the last line, where the keys need room, too.
func shortFilter(filter string) string { return cut(clean(filter), 16) }

// click takes a click: on a tab, or in the body.
func (m *Model) click(msg tea.MouseClickMsg) tea.Cmd {
	if msg.Button != tea.MouseLeft || m.prompt != nil || m.layout.tooSmall {
		return nil
	}
	m.dirty = true
	if m.layout.tabs.contains(msg.X, msg.Y) {
		for _, t := range m.tabs {
			if msg.X >= t.from && msg.X < t.to {
				m.show(t.screen)
			}
		}
		return nil
	}
	if b := m.layout.body; b.contains(msg.X, msg.Y) {
		return m.top().click(msg.X-b.x, msg.Y-b.y)
	}
	return nil
}

// wheelRows is how many rows one notch of the wheel moves.
const wheelRows = 3

func (m *Model) wheel(msg tea.MouseWheelMsg) {
	switch msg.Button {
	case tea.MouseWheelUp:
		m.top().wheel(-wheelRows)
	case tea.MouseWheelDown:
		m.top().wheel(wheelRows)
	default:
		return
	}
	m.dirty = true
}
