package tui

import (
	"cmp"
	"slices"
	"strings"

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

// dearest picks the handler whose resync rounds take most of its period; where
// none has one, the first that asks for one, or may be given one.
func dearest(listeners []inspect.ListenerVitals) int {
	worst := -1
	for i := range listeners {
		if share := roundShare(&listeners[i]); share > 0 && (worst < 0 || share > roundShare(&listeners[worst])) {
			worst = i
		}
	}
	if worst < 0 {
		worst = slices.IndexFunc(listeners, func(l inspect.ListenerVitals) bool { return l.ResyncAsked > 0 && !l.Explorer })
	}
	if worst < 0 {
		return slices.IndexFunc(listeners, func(l inspect.ListenerVitals) bool { return !l.Explorer })
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
		return cmp.Compare(roundOfOne(a), roundOfOne(b))
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
	return roundOfOne(l) / l.ResyncGranted.Seconds()
}

// roundOfOne is what a round of one object would cost a handler, or did where it
// has no period: rows are in the same order with any number.
func roundOfOne(l *inspect.ListenerVitals) float64 {
	if l.ResyncGranted <= 0 && hadRound(l) {
		return l.LastRound.Work.Seconds() / float64(l.LastRound.Objects)
	}
	return l.Outlook(1).Round.Seconds()
}

// hadRound says whether a round did cost a handler anything so far. What it costs
// the explorer is not counted.
func hadRound(l *inspect.ListenerVitals) bool {
	return !l.Explorer && l.LastRound != nil && l.LastRound.Objects > 0
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
func (h *handlerTable) draw(m *Model, s *inspect.Snapshot, w int, focus bool) []string {
	return h.tableRows.draw(m.theme, w, h.columns(), focus, nil, func(l *inspect.ListenerVitals) []cell {
		return handlerCells(m.theme, s, l, m.pointsAt(s, l))
	})
}
