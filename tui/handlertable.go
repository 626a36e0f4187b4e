package tui

import (
	"strings"
	"time"

	"github.com/informeter/informeter/engine/inspect"
)

// handlerTable is the table of handlers, as the Pipeline and the Handlers screen
// show it.
type handlerTable struct {
	list[inspect.ListenerVitals]
}

func newHandlerTable() handlerTable {
	return handlerTable{list[inspect.ListenerVitals]{keyOf: func(l inspect.ListenerVitals) string { return l.Name }}}
}

func (h *handlerTable) refresh(listeners []inspect.ListenerVitals) {
	h.show(listeners, 0, len(listeners), len(listeners))
	// Until the user chooses, the one that is furthest behind is looked at, and
	// stays so until another one is.
	if h.cursorKey == "" {
		if worst := slowest(listeners); worst >= 0 {
			h.cursor = worst
			h.top = max(min(h.top, worst), worst-h.height+1)
		} else {
			h.cursor = min(h.cursor, max(len(listeners)-1, 0))
		}
	}
}

// grid returns the columns that have room. There go first: resync, causes, p50,
// rate; never name, pending, behind, sync.
func (h *handlerTable) grid(w int) grid {
	return newGrid(w,
		flexible("HANDLER", 24, 44),
		fixed("PENDING", 9, 0),
		fixed("BEHIND", 6, 0),
		fixed("p50", 5, 3),
		fixed("p99", 5, 1),
		fixed("RATE/s", 7, 2),
		fixedLeft("CAUSES", 14, 4),
		fixed("ASKED", 5, 5),
		fixed("GRANTED", 7, 5),
		fixed("SEEN", 5, 5),
		fixedLeft("SYNC", 8, 0),
	)
}

// table returns the title line and height rows.
func (h *handlerTable) table(t *theme, s *inspect.Snapshot, w int) []string {
	g := h.grid(w)
	lines := []string{g.header(t)}
	return append(lines, h.draw(w, func(l inspect.ListenerVitals, selected bool) string {
		return g.row(t, chosen(selected, true), part{}, handlerCells(t, s, &l)...)
	})...)
}

func handlerCells(t *theme, s *inspect.Snapshot, l *inspect.ListenerVitals) []cell {
	name := l.Name
	if l.Explorer {
		name += " (this screen)"
	}
	if l.Removing {
		name += " (removed)"
	}
	behind, st := t.muted, style("")
	if l.Pending > 0 {
		behind = ""
	}
	if l.Behind >= noticeable {
		st, behind = t.warn, t.warn
	}
	sync := []part{lamp(t, l.Synced)}
	if !l.Synced && l.InitialTotal > 0 {
		sync = append(sync, part{t.muted, " " + percent(l.InitialDelivered, l.InitialTotal)})
	}
	if troubled(l, s.Store.Objects) {
		sync = append(sync, part{t.warn, " ⚠"})
	}
	granted := cell{s: period(l.ResyncGranted)}
	if resyncTooDear(l, s.Store.Objects) {
		granted.st = t.warn
	}
	return []cell{
		{s: name},
		{st: st, s: number(l.Pending)},
		{st: behind, s: duration(l.Behind)},
		latencyCell(t, &l.Time, l.Time.P50),
		latencyCell(t, &l.Time, l.Time.P99),
		{s: rate(l.Rate)},
		{st: t.muted, s: mainCause(l.Causes)},
		{st: t.muted, s: period(l.ResyncAsked)},
		granted,
		{st: t.muted, s: period(l.ResyncSeen)},
		{parts: sync},
	}
}

func lamp(t *theme, on bool) part {
	if on {
		return part{t.ok, "●"}
	}
	return part{t.accent, "○"}
}

func latencyCell(t *theme, l *inspect.Latency, d time.Duration) cell {
	if l.Count == 0 {
		return cell{st: t.faint, s: dash}
	}
	return cell{s: duration(d)}
}

// period writes a resync period; zero is none.
func period(d time.Duration) string {
	if d == 0 {
		return dash
	}
	return duration(d.Round(100 * time.Millisecond))
}

// mainCause names the most frequent cause and its share.
func mainCause(c inspect.CauseCounts) string {
	total := c.Total()
	if total == 0 {
		return dash
	}
	cause, n := c.Largest()
	name := cause.String()
	switch cause {
	case inspect.CauseRelistChanged:
		name = "relist"
	case inspect.CauseRelistUnchanged:
		name = "relist ="
	}
	return name + " " + percent(n, total)
}

// drain says how a handler gets on with what waits for it, and what a resync
// costs it.
func drain(t *theme, s *inspect.Snapshot, l *inspect.ListenerVitals) []segment {
	var out []segment
	say := func(drop int, parts ...part) { out = append(out, segment{parts: parts, drop: drop}) }
	switch {
	case stuck(l):
		say(0, part{t.warn, "in one call for " + duration(l.InHandler)}, part{"", ": " + l.CurrentKey})
	case l.Pending == 0 && l.Delivered == 0:
		say(0, part{"", "has not been told anything yet"})
	case l.Behind < noticeable:
		say(0, part{"", "keeps up"})
	case l.Drain < 0:
		say(0, part{"", count(l.Pending, "notification", "notifications") + " waiting; its pace is not known yet"})
	default:
		say(0, part{"", "drain: " + duration(l.Drain) + " if nothing more came"})
	}
	if l.BusyRate > 0 {
		pace := part{"", "arriving " + rate(l.ArrivalRate) + "/s, could handle " + rate(l.BusyRate) + "/s"}
		switch {
		case losing(l):
			say(1, pace, part{t.warn, ": at this rate never"})
		case l.Behind >= noticeable && l.BusyRate > l.ArrivalRate:
			in := time.Duration(float64(l.Pending) / (l.BusyRate - l.ArrivalRate) * float64(time.Second))
			say(1, pace, part{"", ": caught up in " + duration(in)})
		default:
			say(1, pace)
		}
	}
	out = append(out, roundSegment(t, s, l)...)
	if l.Panics > 0 {
		say(1, part{t.bad, count(l.Panics, "panic", "panics")}, part{"", ", last: " + firstLine(l.LastPanic)})
	}
	return out
}

// roundSegment says what a resync round costs a handler, if it has any and its
// pace is known.
func roundSegment(t *theme, s *inspect.Snapshot, l *inspect.ListenerVitals) []segment {
	cost := roundCost(l, s.Store.Objects)
	if l.ResyncGranted <= 0 || cost <= 0 {
		return nil
	}
	each := time.Duration(float64(time.Second) / l.BusyRate)
	parts := []part{{"", "a resync round is " + number(s.Store.Objects) + " × " + duration(each) + " = " + duration(cost)}}
	if resyncTooDear(l, s.Store.Objects) {
		parts = append(parts, part{t.warn, " > " + period(l.ResyncGranted)})
	} else {
		parts = append(parts, part{t.muted, " of " + period(l.ResyncGranted)})
	}
	return []segment{{parts: parts, drop: 2}}
}

func firstLine(s string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(s), "\n")
	return line
}

// prose writes segments as sentences in lines of w cells, n at most, without
// breaking a segment where it fits.
func prose(segments []segment, w, n, indent int) []string {
	const gap = 3
	var lines []string
	l := newLine(w).skip(indent)
	for i := range segments {
		need := segments[i].width()
		if l.used > indent && need > l.room()-gap-1 {
			lines = append(lines, l.String())
			l = newLine(w).skip(indent)
		}
		if l.used > indent {
			l.skip(gap)
		}
		for _, p := range segments[i].parts {
			l.put(p.st, p.s)
		}
	}
	lines = append(lines, l.String())
	return lines[:min(len(lines), max(n, 0))]
}
