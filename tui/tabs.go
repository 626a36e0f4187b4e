package tui

import (
	"strconv"
	"time"
)

// The ways to draw the tabs, from the widest to the narrowest.
const (
	tabsWhole  = iota // names, counts, and when the next resync is due
	tabsCounts        // without that
	tabsWarned        // counts only where a warning is
	tabsTight         // names close together, without counts
	tabsCut           // the same, long names cut
	tabsBare          // numbers, and the name of the current one
	tabsLevels
)

// drawTabs names the screens, with counts where there is room: first the countdown
// goes, then the counts go, except where a warning is, then the space between the
// names, then the ends of the longest names but the current one's, then all of those.
func (m *Model) drawTabs() string {
	for level := range tabsLevels {
		if line, fits := m.tabLine(level); fits || level == tabsBare {
			return line
		}
	}
	return "" // not reached
}

func (m *Model) tabLine(level int) (line string, fits bool) {
	t := m.theme
	warned := m.marks()
	l := newLine(m.layout.w)
	tight := level == tabsTight || level == tabsCut
	if !tight {
		l.skip(1)
	}
	longest := m.longestTab(level)
	m.tabs = m.tabs[:0]
	need := l.used
	for id, s := range m.screens {
		id := screenID(id)
		if !m.exists(id) {
			continue
		}
		digit, name := strconv.Itoa(int(id)), ""
		switch {
		case level < tabsCut || id == m.current:
			name = s.name()
		case level == tabsCut:
			name = cut(s.name(), longest)
		}
		pad := 0
		if text := m.tabText(id, level == tabsWhole); text != "" && (level <= tabsCounts || level == tabsWarned && warned[id] > 0) {
			name += " " + text
			pad = m.counts[id].pad(len(text), m.frame.read)
		}
		mark := " "
		if warned[id] > 0 {
			mark = "⚠"
		}
		// The mark parts number and name: it takes no room of its own, and nobody
		// takes it for that of the tab beside it.
		from, box, gap := l.used, "", 1
		switch {
		case tight:
			gap = 0
		case name != "":
			box = " " // as much behind the name as before the number
		}
		switch {
		case id != m.current:
			l.put("", " ").put(t.accent, digit).put(t.warn, mark).put(t.muted, name+box)
		case warned[id] > 0:
			l.put(t.tab, " "+digit).put(t.tabWarn, mark).put(t.tab, name+box)
		default:
			l.put(t.tab, " "+digit+mark+name+box)
		}
		l.skip(gap)
		need += width(" "+digit+mark+name+box) + gap + pad
		m.tabs = append(m.tabs, span{from, l.used, id})
		l.skip(pad)
	}
	return l.String(), need <= m.layout.w && (level != tabsCut || longest > 0)
}

// shortestTab is the fewest cells in which a name that is cut can be told.
const shortestTab = 5

// longestTab returns how long names may be for all of them to have room, whichever
// is the current one and whole: so they don't change with it. It is 0 if there is
// no such length.
func (m *Model) longestTab(level int) int {
	if level != tabsCut {
		return 0
	}
	for longest := m.layout.w; longest >= shortestTab; longest-- {
		need, whole := 0, 0
		for id, s := range m.screens {
			if m.exists(screenID(id)) {
				w := width(s.name())
				need += len(" 0 ") + min(w, longest)
				whole = max(whole, w-longest)
			}
		}
		if need+whole <= m.layout.w {
			return longest
		}
	}
	return 0
}

// tabCount is how wide the number in a tab has been of late: it may become so again,
// and meanwhile the tabs behind it stand still.
type tabCount struct {
	width int
	since time.Time // when it was last as wide
}

// countForgets is how long room is kept for a number that was wider.
const countForgets = 10 * time.Second

// pad returns how many cells to leave free behind a number of w cells.
func (c *tabCount) pad(w int, now time.Time) int {
	if w >= c.width || now.Sub(c.since) > countForgets {
		c.width, c.since = w, now
	}
	return c.width - w
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
