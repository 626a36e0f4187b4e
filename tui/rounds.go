package tui

import (
	"strings"
	"time"

	"github.com/informeter/informeter/engine/inspect"
)

// roundsPane shows what the last round cost each handler, on a line as long as
// its period, and under that when the next rounds are.
//
//	LAST ROUND             OBJECTS    WORK    TOOK
//	search-indexer        61 of 184   4.8s    5.1s
//	  █████████████████░░░░░░░░░░░░  under way
//
//	COMING              now       30s        1m
//	search-indexer          ▲      ▲      ▲
func roundsPane(m *Model, s *inspect.Snapshot, w, h int) []string {
	t, inner := m.theme, w-border
	var told, due []*inspect.ListenerVitals
	for i := range s.Listeners {
		l := &s.Listeners[i]
		if l.LastRound != nil && !l.Explorer {
			told = append(told, l)
		}
		if l.ResyncGranted > 0 {
			due = append(due, l)
		}
	}
	const lineEach, head, blank = 2, 1, 1
	coming := min(len(due), max(h/3, 1))
	room := max((h-2*head-blank-coming)/lineEach, 1)
	g := newGrid(inner, flexible("LAST ROUND", 16, 44), fixed("OBJECTS", 15, 1), fixed("WORK", 6, 0), fixed("TOOK", 6, 0))
	lines := []string{g.header(t)}
	if len(told) == 0 {
		lines = append(lines, newLine(inner).skip(gutter).put(t.faint, "there was none yet").String())
	}
	for i, l := range told {
		if i == room-1 && len(told) > room {
			lines = append(lines, newLine(inner).skip(gutter).put(t.faint, number(len(told)-i)+" more").String())
			break
		}
		lines = append(lines, roundLines(t, s, l, g, m.warnsOfResync(s, l))...)
	}
	lines = append(lines, newLine(inner).String())
	if len(due) > 0 {
		lines = append(lines, comingLines(t, s, due[:coming], inner)...)
	}
	return bordered(t, lines, w, h)
}

// roundLines draws the last round of one handler: in numbers, and as a part of its
// period; marked says that its resyncs are to be looked at.
func roundLines(t *theme, s *inspect.Snapshot, l *inspect.ListenerVitals, g grid, marked bool) []string {
	r := l.LastRound
	took := time.Duration(0)
	if !r.Ended.IsZero() {
		took = max(r.Ended.Sub(r.Began), 0)
	}
	of, underWay := roundSize(s, l)
	objects := number(r.Objects)
	if underWay {
		objects += " of " + number(of)
	}
	lines := []string{g.row(t, plainRow, part{}, cell{s: l.Name}, cell{s: objects}, cell{s: duration(r.Work)}, cell{s: duration(took)})}
	st, note := t.muted, "began "+since(s.At, r.Began)+" ago"
	switch {
	case waitsForNext(l):
		st, note = t.warn, "the next round waits already"
		if marked {
			note = "⚠ " + note
		}
	case underWay:
		st, note = t.accent, "under way"
	}
	line := newLine(g.width).skip(gutter)
	if cells := min(line.room()-width(note)-3, 40); cells > 4 && l.ResyncGranted > 0 {
		done := bar(min(float64(took), float64(l.ResyncGranted)), float64(l.ResyncGranted), cells)
		full := t.ok
		if took >= l.ResyncGranted || waitsForNext(l) {
			full = t.warn
		}
		line.put(full, done).put(t.faint, strings.Repeat("░", cells-width(done))).skip(2)
	}
	return append(lines, line.put(st, note).String())
}

// roundSize returns how many objects the round has that a handler was called with
// last, and whether it is still at it; 0 if that is not known.
func roundSize(s *inspect.Snapshot, l *inspect.ListenerVitals) (objects int, underWay bool) {
	if l.LastRound.Began.Before(s.Resync.Last) {
		return 0, false
	}
	return s.Resync.LastObjects, l.LastRound.Objects < uint64(max(s.Resync.LastObjects, 0))
}

// waitsForNext says whether a newer round waits for a handler than the one it was
// called with last.
func waitsForNext(l *inspect.ListenerVitals) bool {
	return l.ResyncGranted > 0 && l.Pending > 0 && !l.NextResync.IsZero() && l.NextResync.Add(-l.ResyncGranted).After(l.LastRound.Began)
}

// comingLines draws when the next rounds of handlers are, on a common scale.
func comingLines(t *theme, s *inspect.Snapshot, due []*inspect.ListenerVitals, w int) []string {
	const leastSpan, name = time.Minute, 24
	span := leastSpan
	for _, l := range due {
		span = max(span, l.NextResync.Sub(s.At))
	}
	scale := w - gutter - name - 2
	if scale < 10 {
		return nil
	}
	half, whole := duration(span/2), duration(span)
	head := newLine(w).skip(gutter).left(t.muted, "COMING", name).put(t.faint, "now")
	head.to(gutter+name+(scale-width(half))/2).put(t.faint, half)
	head.to(gutter+name+scale-width(whole)).put(t.faint, whole)
	lines := []string{head.String()}
	for _, l := range due {
		marks := []rune(strings.Repeat("·", scale))
		// A handler may ask for a round a second, and the scale be of days.
		every := max(l.ResyncGranted, span/time.Duration(scale))
		for at := max(l.NextResync.Sub(s.At), 0); at <= span; at += every {
			marks[min(int(float64(at)/float64(span)*float64(scale)), scale-1)] = '▲'
			if at > span-every {
				break // and do not count on: periods may be as long as durations go
			}
		}
		lines = append(lines, newLine(w).skip(gutter).left("", l.Name, name-1).skip(1).runsOf(t, string(marks)).String())
	}
	return lines
}

// runsOf appends a scale: its marks in one colour, what is between them in another.
func (l *line) runsOf(t *theme, scale string) *line {
	for scale != "" {
		st, end := t.faint, strings.IndexRune(scale, '▲')
		switch {
		case end < 0:
			end = len(scale)
		case end == 0:
			st, end = t.accent, len("▲")
		}
		l.put(st, scale[:end])
		scale = scale[end:]
	}
	return l
}
