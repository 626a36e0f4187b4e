package tui

import "strconv"

// drawTabs names the screens, with counts where there is room: first the countdown goes, then the counts
// go, except where a warning is, then all names but the current one's.
func (m *Model) drawTabs() string {
	for level := range 4 {
		if line, fits := m.tabLine(level); fits || level == 3 {
			return line
		}
	}
	return "" // not reached
}

func (m *Model) tabLine(level int) (line string, fits bool) {
	t := m.theme
	warned := warnings(m.snapshot())
	warned[screenFindings] = m.lookout.troubles()
	l := newLine(m.layout.w).skip(1)
	m.tabs = m.tabs[:0]
	need := 1
	for id, s := range m.screens {
		id := screenID(id)
		if !m.exists(id) {
			continue
		}
		label := strconv.Itoa(int(id))
		if level < 3 || id == m.current {
			label += " " + s.name()
		}
		pad := 0
		if text := m.tabText(id, level == 0); text != "" && (level <= 1 || level == 2 && warned[id] > 0) {
			// What was as wide as this once may become so again: the tabs behind it
			// stand still.
			m.counts[id] = max(m.counts[id], len(text))
			label += " " + text
			pad = m.counts[id] - len(text)
		}
		st := t.muted
		if id == m.current {
			st = t.tab
		}
		mark := " "
		if warned[id] > 0 {
			mark = "⚠"
		}
		from := l.used
		l.put(st, " "+label+" ")
		l.put(t.warn, mark)
		m.tabs = append(m.tabs, span{from, l.used, id})
		l.skip(pad)
		need += width(label) + 2 + width(mark) + pad
	}
	return l.String(), need <= m.layout.w
}

// tabText is what stands behind a screen's name: a number, or how long until the
// next resync, where there is room for that.
func (m *Model) tabText(id screenID, room bool) string {
	if id == screenResync {
		if r := &m.snapshot().Resync; r.CheckPeriod > 0 && room {
			return dueIn(m.snapshot().At, r.Next, "")
		}
		return ""
	}
	if n, counted := m.count(id); counted {
		return number(n)
	}
	return ""
}

// count is the number in a screen's tab.
func (m *Model) count(id screenID) (n int, counted bool) {
	s := m.snapshot()
	switch id {
	case screenInformers:
		return len(m.summaries), true
	case screenQueue:
		return s.Queue.Deltas, true
	case screenStore:
		return s.Store.Objects, true
	case screenIndices:
		return len(s.Indices), true
	case screenHandlers:
		return len(s.Listeners), true
	case screenFindings:
		return m.lookout.going(), m.lookout.looked
	}
	return 0, false
}
