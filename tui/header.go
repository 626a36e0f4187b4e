package tui

import (
	"strconv"
	"strings"

	"github.com/informeter/informeter/engine/inspect"
)

// compose draws everything anew.
func (m *Model) compose() {
	m.dirty = false
	if m.layout.w <= 0 || m.layout.h <= 0 {
		m.content = ""
		return
	}
	var lines []string
	if m.layout.tooSmall {
		lines = m.tooSmall()
	} else {
		lines = make([]string, 0, m.layout.h)
		lines = append(lines, m.drawHeader(), m.drawTabs())
		if m.layout.path.h > 0 {
			lines = append(lines, m.drawPath())
		}
		lines = block(lines, m.layout.w, m.layout.body.y)
		lines = append(lines, m.top().lines()...)
		lines = block(lines, m.layout.w, m.layout.h-1)
		if m.prompt != nil {
			if over := m.prompt.over(m.theme, m.layout.w); over != "" {
				lines[len(lines)-1] = over
			}
		} else if note := m.noteLines(); len(note) > 1 {
			lines[len(lines)-1] = note[0]
		}
		lines = append(lines, m.drawFooter())
	}
	if m.options.ASCII {
		for i := range lines {
			lines[i] = toASCII(lines[i], m.layout.w)
		}
	}
	m.content = strings.Join(lines, "\n")
}

func (m *Model) tooSmall() []string {
	say := "informeter needs 60×16, this is " + strconv.Itoa(m.layout.w) + "×" + strconv.Itoa(m.layout.h)
	return block([]string{newLine(m.layout.w).put("", say).String()}, m.layout.w, m.layout.h)
}

// drawHeader says which informer this is, at the left, and how it is, at the
// right: what comes and goes stands furthest from the edge, so that the rest
// stays where it is. When it gets narrow there go, in this order: engine, context, rate and
// resource version; never resource, phase, warnings, PAUSED, lost.
func (m *Model) drawHeader() string {
	const between = 3
	w := m.layout.w - 2
	all := append(m.identity(), m.vitals()...)
	own := len(m.identity())
	for i := range all {
		all[i].left = i < own
	}
	kept, _ := fit(all, 2, w-between)
	n := 0
	for n < len(kept) && kept[n].left {
		n++
	}
	_, need := fit(kept[n:], 2, w)
	l := newLine(m.layout.w).skip(1)
	// Where even what must not go has no room, the right half is the more
	// important one.
	head := newLine(max(w-need-between, 0)).segments(1, kept[:n]...)
	return l.place("", head.String()).to(m.layout.w-need-1).segments(2, kept[n:]...).String()
}

// identity is the left half of the header.
func (m *Model) identity() []segment {
	t, i := m.theme, &m.snapshot().Informer
	name := i.Name
	if name == "" {
		name = m.informer
	}
	segments := []segment{seg(0, t.title, "informeter ")}
	if name == "" {
		return append(segments, seg(0, t.muted, "no informer"))
	}
	segments = append(segments, seg(0, t.strong, name))
	dotted := func(drop int, s string) {
		if s != "" {
			segments = append(segments, segment{parts: []part{{t.faint, "· "}, {"", s}}, drop: drop})
		}
	}
	dotted(1, i.Scope)
	dotted(4, i.Origin)
	if m.options.Notice != "" && m.options.Notice != i.Origin {
		segments = append(segments, seg(4, t.warn, m.options.Notice))
	}
	return segments
}

// vitals is the right half of the header.
func (m *Model) vitals() []segment {
	t, s := m.theme, m.snapshot()
	var segments []segment
	if m.opening != nil {
		segments = append(segments, seg(0, t.accent, "opening "+cut(clean(m.opening.what), m.layout.w/4)))
	}
	if m.frozen {
		segments = append(segments, seg(0, t.warn, "frozen"))
	}
	if m.frame.snapshot.err != nil {
		return append(segments, seg(0, t.bad, "no answer"))
	}
	if !m.frame.snapshot.ok {
		return segments
	}
	if s.Queue.Gate.Mode == inspect.GatePaused {
		segments = append(segments, seg(0, t.paused, " PAUSED "))
	}
	if s.Lost.Journal > 0 {
		segments = append(segments, seg(0, t.warn, "lost "+number(s.Lost.Journal)))
	}
	lamp, st := phaseLamp(t, s)
	segments = append(segments, segment{parts: []part{{st, lamp + " " + phaseName(s)}}})
	if s.Reflector.ResourceVersion != "" {
		segments = append(segments, seg(2, t.muted, "rv "+s.Reflector.ResourceVersion))
	}
	events := rate(s.Reflector.EventRate) + " ev/s"
	segments = append(segments, seg(3, "", strings.Repeat(" ", max(0, 11-len(events)))+events))
	mark := "   "
	if total := m.troubles(s); total > 0 {
		mark = "⚠ " + number(total)
	}
	return append(segments, seg(0, t.warn, mark), seg(5, t.muted, s.Queue.Kind))
}

// troubles is what the header warns of: the findings, and while there are none
// what the screens mark themselves, which is quicker and forgets at once.
func (m *Model) troubles(s *inspect.Snapshot) int {
	if n := m.lookout.troubles(); n > 0 {
		return n
	}
	return warningsInAll(s)
}

// phaseName is the phase in a word, or what matters more.
func phaseName(s *inspect.Snapshot) string {
	if s.Informer.State != inspect.StateRunning {
		return string(s.Informer.State)
	}
	return s.Reflector.Phase.String()
}

func phaseLamp(t *theme, s *inspect.Snapshot) (string, style) {
	switch {
	case s.Informer.State != inspect.StateRunning:
		return "○", t.warn
	case s.Reflector.Error != "":
		return "●", t.bad
	case s.Reflector.Phase == inspect.PhaseWatching && s.Informer.Synced:
		return "●", t.ok
	}
	return "○", t.accent
}

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

// located is a screen that is deeper than its name says.
type located interface {
	// path names what is open, from the outside in.
	path() []string
}

// drawPath says where the user is, from the informer inwards, and in a demo what
// there is to look at. Where both have no room, it is the first if the user has
// gone deeper than the screen.
func (m *Model) drawPath() string {
	const between = " › "
	t := m.theme
	steps := []string{m.screens[m.current].name()}
	if m.current != screenInformers {
		steps = append([]string{m.informer}, steps...)
	}
	if s, ok := m.screens[m.current].(located); ok {
		steps = append(steps, s.path()...)
	}
	if m.object != nil {
		steps = append(steps, m.object.path()...)
	}
	if m.overlay != nil {
		steps = append(steps, m.overlay.name())
	}
	deep := len(steps) > 2
	need := 0
	for i := range steps {
		steps[i] = clean(steps[i])
		need += width(steps[i]) + width(between)
	}
	sentence := clean(m.options.Sentence)
	l := newLine(m.layout.w).skip(gutter)
	if sentence != "" && need+width(sentence) > l.room()-2 {
		if !deep {
			return l.put(t.muted, sentence).String()
		}
		sentence = ""
	}
	// What does not fit is cut where it is longest: in the key, or the value.
	for over := need - width(between) - l.room() + 1; over > 0; {
		longest := 0
		for i := range steps {
			if width(steps[i]) > width(steps[longest]) {
				longest = i
			}
		}
		w := width(steps[longest])
		to := max(w-over, 8)
		if to >= w {
			break
		}
		steps[longest] = cutKey(steps[longest], to)
		over -= w - to
	}
	for i, s := range steps {
		if i > 0 {
			l.put(t.faint, between)
		}
		if i == len(steps)-1 && deep {
			l.put(t.strong, s)
		} else {
			l.put(t.muted, s)
		}
	}
	if sentence != "" {
		l.to(m.layout.w-width(sentence)-1).put(t.muted, sentence)
	}
	return l.String()
}

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

// noteLines draws the answer to the last wish: one line, or two if it is long.
func (m *Model) noteLines() []string {
	if m.note == "" {
		return nil
	}
	mark, st := part{}, m.theme.accent
	if m.failed {
		mark, st = part{m.theme.bad, "✗ "}, ""
	}
	var lines []string
	for i, text := range wrap(clean(m.note), m.layout.w-4, 2) {
		l := newLine(m.layout.w).skip(1)
		if i == 0 {
			l.put(mark.st, mark.s)
		} else {
			l.skip(width(mark.s))
		}
		lines = append(lines, l.put(st, text).String())
	}
	return lines
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
	return cut(clean(m.top().status()), m.layout.w*2/5)
}

func (m *Model) hintSegments() []segment {
	t, scope := m.theme, m.top().scope()
	hints := append(m.top().hints(), hint{ActionHelp, "help"}, hint{ActionClose, "quit"})
	var segments []segment
	for i, h := range hints {
		label := m.keymap.label(scope, h.action)
		if label == "" {
			label = m.keymap.label(ScopeGlobal, h.action)
		}
		drop := i + 1
		if h.action == ActionHelp {
			drop = 0
		}
		segments = append(segments, segment{parts: []part{{t.accent, label}, {t.muted, " " + h.text}}, drop: drop})
	}
	return segments
}

// Where the user is, on the screens that go deeper.

func (p *indicesScreen) path() []string {
	var steps []string
	if p.focus >= levelBuckets && p.index != "" {
		steps = append(steps, p.index)
	}
	if p.focus >= levelObjects && p.valued {
		value := p.value
		if value == "" {
			value = "(empty)"
		}
		steps = append(steps, value)
	}
	return steps
}

func (p *objectScreen) path() []string {
	key := p.key
	if key == "" {
		key = "uid " + p.uid
	}
	if p.page == pageYAML {
		return []string{key}
	}
	return []string{key, keyPages[p.page].name}
}
