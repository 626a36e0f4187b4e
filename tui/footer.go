package tui

// drawFooter shows the prompt, or the answer to the last wish, or the keys.
func (m *Model) drawFooter() string {
	t, status := m.theme, m.status()
	if m.prompt != nil {
		return m.prompt.draw(t, m.layout.w, status)
	}
	l := newLine(m.layout.w).skip(1)
	if note := m.noteLines(); len(note) > 0 {
		return note[len(note)-1]
	}
	keys := newLine(max(l.room()-width(status)-3, 0))
	keys.segments(2, m.hintSegments()...)
	l.place("", keys.String())
	return l.to(m.layout.w-width(status)-1).put(t.muted, status).String()
}

// noteLines draws the answer to the last wish: one line, or more if it is long.
func (m *Model) noteLines() []string {
	if m.note == "" {
		return nil
	}
	mark, st := part{}, m.theme.accent
	if m.failed {
		mark, st = part{m.theme.bad, "✗ "}, ""
	}
	const most = 4
	return faultLines(m.theme, m.layout.w, mark, st, m.note, most)
}

// looking says whether the rows shown are not yet those of the filter that holds,
// and which that is.
func (m *Model) looking() (filter string, looking bool) {
	now := m.request()
	filter = now.filter()
	return filter, filter != m.frame.request.filter() && filter != "" && !m.frozen
}

// status is what the last line says at its right end. It never has so much room
// that the keys have none.
func (m *Model) status() string {
	if m.prompt != nil && !m.prompt.counts {
		return ""
	}
	if filter, looking := m.looking(); looking {
		return "looking for " + shortFilter(filter)
	}
	return cut(clean(m.top().status()), m.statusWidth())
}

// statusWidth is the most that the status may have.
func (m *Model) statusWidth() int { return m.layout.w * 2 / 5 }

func (m *Model) hintSegments() []segment {
	t, scope := m.theme, m.top().scope()
	hints := append(m.top().hints(), hint{ActionHelp, "help"}, hint{ActionClose, "quit"})
	var segments []segment
	for i, h := range hints {
		label := m.keymap.label(scope, h.action)
		if label == "" {
			label = m.keymap.label(ScopeGlobal, h.action)
		}
		if h.action == ActionFreeze && m.frozen {
			h.text = "go on"
		}
		drop := i + 1
		if h.action == ActionHelp {
			drop = 0
		}
		segments = append(segments, segment{parts: []part{{t.accent, label}, {t.muted, " " + h.text}}, drop: drop})
	}
	return segments
}
