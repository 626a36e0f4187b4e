package tui

import (
	"slices"
	"strconv"
	"strings"

	"github.com/informeter/informeter/engine/findings"
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
			cover(lines, m.prompt.over(m.theme, m.layout.w))
		} else if note := m.noteLines(); len(note) > 1 {
			cover(lines, note[:len(note)-1])
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

// cover draws over the last lines.
func cover(lines, by []string) { copy(lines[max(len(lines)-len(by), 0):], by) }

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
	kept, dropped := m.headed(true, w-between)
	if dropped {
		kept, _ = m.headed(false, w-between)
	}
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

// headed returns what of the header has room in w, and whether something has not.
func (m *Model) headed(inWords bool, w int) (kept []segment, dropped bool) {
	own := m.identity()
	all := append(own, m.vitals(inWords)...)
	for i := range all {
		all[i].left = i < len(own)
	}
	_, whole := fit(all, 2, 1<<20)
	kept, _ = fit(all, 2, w)
	return kept, whole > w
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

// vitals is the right half of the header; inWords has it say what it counts.
func (m *Model) vitals(inWords bool) []segment {
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
	if gate := &s.Queue.Gate; gate.Mode == inspect.GateLimited {
		segments = append(segments, seg(0, t.warn, "limited "+rate(gate.Rate)+"/s"))
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
	// There is room for it always, so that the rest stays where it is.
	mark, room := "", width("⚠ 1")
	if total := m.troubles(s); total > 0 {
		mark = "⚠ " + number(total)
		if inWords && m.lookout.looked {
			mark = "⚠ " + count(total, "finding", "findings")
		}
	}
	if inWords {
		room = width("⚠ 1 findings")
	}
	counted := segment{parts: []part{{t.warn, mark}, {"", strings.Repeat(" ", max(room-width(mark), 0))}}}
	return append(segments, counted, seg(5, t.muted, s.Queue.Kind))
}

// troubles is what the header warns of: the findings of all informers that are
// more than an explanation, as the tab of Findings is marked. Before anybody has
// looked for any, it is what the vitals show.
func (m *Model) troubles(s *inspect.Snapshot) int {
	if m.lookout.looked {
		return m.lookout.troubles()
	}
	return warningsInAll(s)
}

// pointsAt says whether a handler is one to look at: whether a finding that the
// header counts is about it.
func (m *Model) pointsAt(s *inspect.Snapshot, l *inspect.ListenerVitals) bool {
	if !m.lookout.looked {
		return troubled(l, s.Store.Objects)
	}
	return m.warned(l, findings.PlaceHandlers) || m.warned(l, findings.PlaceResync)
}

// warnsOfResync says whether a handler's resyncs are marked, on their screen and in
// its tab. What a round will cost is known before anybody can be sure of it: numbers
// say so, and marks wait.
func (m *Model) warnsOfResync(s *inspect.Snapshot, l *inspect.ListenerVitals) bool {
	if !m.lookout.looked {
		return resyncTooDear(l, s.Store.Objects)
	}
	return m.warned(l, findings.PlaceResync)
}

// warned says whether a finding that the header counts is about a handler, and can
// be seen there.
func (m *Model) warned(l *inspect.ListenerVitals, there findings.Place) bool {
	return slices.ContainsFunc(m.lookout.found, func(f findings.Finding) bool {
		return f.Informer == m.informer && f.Subject == l.Name && f.Ended.IsZero() && f.Severity > findings.Info && f.Place == there
	})
}

// marks counts what the tabs are marked for: the findings of this informer that
// can be seen there, and on their own tab those of all.
func (m *Model) marks() [screenCount]int {
	if !m.lookout.looked {
		return warnings(m.snapshot())
	}
	var n [screenCount]int
	for i := range m.lookout.found {
		f := &m.lookout.found[i]
		if f.Informer == m.informer && f.Ended.IsZero() && f.Severity > findings.Info {
			n[screenOf(f.Place)]++
		}
	}
	n[screenFindings] = m.lookout.troubles()
	return n
}

// screenOf is the screen of a place.
func screenOf(p findings.Place) screenID {
	switch p {
	case findings.PlaceQueue:
		return screenQueue
	case findings.PlaceStore:
		return screenStore
	case findings.PlaceIndices:
		return screenIndices
	case findings.PlaceHandlers:
		return screenHandlers
	case findings.PlaceResync:
		return screenResync
	case findings.PlaceRequests:
		return screenRequests
	}
	return screenPipeline
}

// phaseName is the phase in a word, or what matters more.
func phaseName(s *inspect.Snapshot) string {
	if s.Informer.State != inspect.StateRunning {
		return string(s.Informer.State)
	}
	if s.Reflector.Error == "" && unanswered(s) {
		return "no answer"
	}
	return s.Reflector.Phase.String()
}

func phaseLamp(t *theme, s *inspect.Snapshot) (string, style) {
	switch {
	case s.Informer.State != inspect.StateRunning:
		return "○", t.warn
	case s.Reflector.Error != "":
		return "●", t.bad
	case unanswered(s):
		return "○", t.warn
	case s.Reflector.Phase == inspect.PhaseWatching && s.Informer.Synced:
		return "●", t.ok
	}
	return "○", t.accent
}
