package tui

import (
	"cmp"
	"strings"
	"time"

	"github.com/informeter/informeter/engine/inspect"
)

// handlerTable is the table of handlers, as the Pipeline, the Handlers and the
// Resync screen show it.
type handlerTable struct {
	tableRows[inspect.ListenerVitals] // without an order as they were added
	// conflated, lagged: some handler's backlog was conflated, some handler was
	// passed over.
	conflated, lagged bool
	// worst picks the handler to look at until the user has chosen one; -1 for
	// none in particular. name is the one it picked.
	worst  func([]inspect.ListenerVitals) int
	name   string
	chosen bool
}

func newHandlerTable(t *table, worst func([]inspect.ListenerVitals) int) handlerTable {
	return handlerTable{
		tableRows: tableRows[inspect.ListenerVitals]{
			list:     list[inspect.ListenerVitals]{keyOf: func(l inspect.ListenerVitals) string { return l.Name }},
			table:    t,
			searched: func(l *inspect.ListenerVitals) string { return l.Name },
			compare:  compareHandlers,
		},
		worst: worst,
	}
}

// furthestBehind picks the handler that is furthest behind, if that is worth a
// word.
func furthestBehind(listeners []inspect.ListenerVitals) int {
	if i := slowest(listeners); i >= 0 && listeners[i].Behind >= noticeable {
		return i
	}
	return -1
}

// dearest picks the handler whose resync rounds take most of its period.
func dearest(listeners []inspect.ListenerVitals) int {
	worst := -1
	for i := range listeners {
		if share := roundShare(&listeners[i]); share > 0 && (worst < 0 || share > roundShare(&listeners[worst])) {
			worst = i
		}
	}
	return worst
}

// What handlers can be sorted by; without, they stand as they were added.
const (
	byPending   = "pending"
	byBehind    = "behind"
	byP50       = "p50"
	byP99       = "p99"
	byRate      = "rate"
	byConflated = "conflated"
	bySkipped   = "skipped"
	byAsked     = "asked"
	byGranted   = "granted"
	bySeen      = "seen"
	byNext      = "next"
	byRound     = "round"
	byShare     = "share"
	byTold      = "told"
)

func compareHandlers(a, b *inspect.ListenerVitals, by string) int {
	switch by {
	case byName:
		return strings.Compare(a.Name, b.Name)
	case byPending:
		return cmp.Compare(a.Pending, b.Pending)
	case byBehind:
		return cmp.Compare(a.Behind, b.Behind)
	case byP50:
		return cmp.Compare(a.Time.P50, b.Time.P50)
	case byP99:
		return cmp.Compare(a.Time.P99, b.Time.P99)
	case byRate:
		return cmp.Compare(a.Rate, b.Rate)
	case byConflated:
		return cmp.Compare(a.Conflated, b.Conflated)
	case bySkipped:
		return cmp.Compare(a.ResyncSkipped, b.ResyncSkipped)
	case byAsked:
		return cmp.Compare(a.ResyncAsked, b.ResyncAsked)
	case byGranted:
		return cmp.Compare(a.ResyncGranted, b.ResyncGranted)
	case bySeen:
		return cmp.Compare(a.ResyncSeen, b.ResyncSeen)
	case byNext:
		return a.NextResync.Compare(b.NextResync)
	case byRound:
		return cmp.Compare(roundCost(a, 1), roundCost(b, 1))
	case byShare:
		return cmp.Compare(roundShare(a), roundShare(b))
	case byTold:
		return cmp.Compare(resyncPart(a), resyncPart(b))
	}
	return 0
}

// roundShare is the cost of a round of one object in the handler's period.
func roundShare(l *inspect.ListenerVitals) float64 {
	if l.ResyncGranted <= 0 {
		return 0
	}
	return float64(roundCost(l, 1)) / float64(l.ResyncGranted)
}

// resyncPart is the part of what a handler was told that was resync.
func resyncPart(l *inspect.ListenerVitals) float64 {
	if total := l.Causes.Total(); total > 0 {
		return float64(l.Causes.Resync) / float64(total)
	}
	return 0
}

func (h *handlerTable) refresh(listeners []inspect.ListenerVitals) {
	h.conflated, h.lagged = false, false
	for i := range listeners {
		h.conflated = h.conflated || listeners[i].Conflated > 0
		h.lagged = h.lagged || listeners[i].ResyncSkipped > 0
	}
	h.set(listeners)
	h.point()
}

// point looks, until the user chooses, at the worst handler, until another is.
func (h *handlerTable) point() {
	if h.chosen {
		return
	}
	if worst := h.worst(h.rows); worst >= 0 {
		h.name = h.rows[worst].Name
	}
	at, _ := h.rankOf(h.name)
	h.cursor, h.cursorKey, h.topKey = at, "", ""
	h.top = max(min(h.top, at), at-h.height+1, 0)
}

func (h *handlerTable) setFilter(text string) {
	h.tableRows.setFilter(text)
	h.point()
}

func (h *handlerTable) back() bool {
	was := h.tableRows.back()
	h.point()
	return was
}

// moveTo, click and scroll are the user's.
func (h *handlerTable) moveTo(rank int) {
	h.chosen = true
	h.list.moveTo(rank)
}

// choose selects a handler, if it is there.
func (h *handlerTable) choose(name string) {
	if rank, ok := h.rankOf(name); ok {
		h.moveTo(rank)
	}
}

func (h *handlerTable) click(y int) (row, again bool) {
	h.chosen = true
	return h.list.click(y)
}

func (h *handlerTable) scroll(n int) {
	h.chosen = true
	h.list.scroll(n)
}

// handle moves, or changes the order.
func (h *handlerTable) handle(a Action, columns []column) {
	if h.tableRows.handle(a, columns) {
		h.chosen = true
		return
	}
	h.point()
}

// clickTitle sorts by the column whose title was clicked.
func (h *handlerTable) clickTitle(x, w int, columns []column) {
	h.tableRows.clickTitle(x, w, columns)
	h.point()
}

// columns are those of a handler. There go first: conflated, resync, causes, p50,
// rate; never name, pending, behind, sync.
func (h *handlerTable) columns() []column {
	columns := []column{
		flexible("HANDLER", 24, 44).sorted(byName, upwards),
		fixed("PENDING", 9, 0).sorted(byPending, downwards),
		fixed("BEHIND", 6, 0).sorted(byBehind, downwards),
		fixed("p50", 5, 3).sorted(byP50, downwards),
		fixed("p99", 5, 1).sorted(byP99, downwards),
		fixed("RATE/s", 7, 2).sorted(byRate, downwards),
		fixedLeft("CAUSES", 14, 4),
		fixed("CONFLATED", 9, 6).sorted(byConflated, downwards),
		fixed("ASKED", 5, 5).sorted(byAsked, downwards),
		fixed("GRANTED", 7, 5).sorted(byGranted, downwards),
		fixed("SEEN", 5, 5).sorted(bySeen, downwards),
		fixedLeft("SYNC", 8, 0),
	}
	columns[7].hidden = !h.conflated
	return columns
}

// draw returns the title line and height rows; focus says whether the table has
// the keys.
func (h *handlerTable) draw(t *theme, s *inspect.Snapshot, w int, focus bool) []string {
	return h.tableRows.draw(t, w, h.columns(), focus, nil, func(l *inspect.ListenerVitals) []cell { return handlerCells(t, s, l) })
}

func handlerCells(t *theme, s *inspect.Snapshot, l *inspect.ListenerVitals) []cell {
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
		{s: handlerName(l)},
		{st: st, s: number(l.Pending)},
		{st: behind, s: duration(l.Behind)},
		latencyCell(t, &l.Time, l.Time.P50),
		latencyCell(t, &l.Time, l.Time.P99),
		{s: rate(l.Rate)},
		{st: t.muted, s: mainCause(l.Causes)},
		{st: t.muted, s: number(l.Conflated)},
		{st: t.muted, s: period(l.ResyncAsked)},
		granted,
		{st: t.muted, s: period(l.ResyncSeen)},
		{parts: sync},
	}
}

// handlerName names a handler, and what is special about it.
func handlerName(l *inspect.ListenerVitals) string {
	name := l.Name
	if l.Explorer {
		name += " (this screen)"
	}
	if l.Lab {
		name += " (lab, " + duration(l.Delay) + ")"
	}
	if l.Removing {
		name += " (removed)"
	}
	return name
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
	return shortCause(cause) + " " + percent(n, total)
}

// shortCause is a cause in at most nine characters.
func shortCause(c inspect.Cause) string {
	switch c {
	case inspect.CauseRelistChanged:
		return "relist"
	case inspect.CauseRelistUnchanged:
		return "relist ="
	}
	return c.String()
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
