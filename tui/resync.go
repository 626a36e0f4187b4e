package tui

import (
	"errors"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/informeter/informeter/engine/inspect"
)

// resyncScreen shows when the cache is played back to which handler, and what
// that costs it: beside the rows from 118 columns on, else below them. From 160 on
// the rounds that were and that will be have the place beside them.
//
//	how often the informer checks, the next round, the last one
//	what a resync is
//	HANDLER ...
//	▸ the slowest one, or the selected one
//	what its periods come to, and why they differ
type resyncScreen struct {
	pane
	handlers handlerTable
}

func newResyncScreen(m *Model) *resyncScreen {
	return &resyncScreen{pane: pane{m: m}, handlers: newHandlerTable(m.table("resync", order{}), dearest)}
}

func (p *resyncScreen) name() string { return "Resync" }
func (p *resyncScreen) scope() Scope { return ScopeResync }

func (p *resyncScreen) refresh(f *frame) { p.handlers.refresh(f.snapshot.value.Listeners) }

func (p *resyncScreen) tableShown() (*table, []column) { return p.handlers.table, p.columns() }

func (p *resyncScreen) handle(a Action) tea.Cmd {
	row, ok := p.handlers.selected()
	switch a {
	case ActionOpen:
		if ok {
			p.m.openHandler(row.Name)
		}
	case ActionResyncNow:
		return p.m.resyncNow()
	case ActionPeriod:
		if reason := p.m.noPeriod(&row); ok && reason != "" {
			p.m.fail(errors.New(reason))
		} else if ok {
			p.m.askPeriod(row.Name)
		}
	default:
		p.handlers.handle(a, p.columns())
	}
	return nil
}

func (p *resyncScreen) filter() string        { return p.handlers.text }
func (p *resyncScreen) setFilter(text string) { p.handlers.setFilter(text) }
func (p *resyncScreen) back() bool            { return p.handlers.back() }

func (p *resyncScreen) wheel(n int) { p.handlers.scroll(n) }

func (p *resyncScreen) click(x, y int) tea.Cmd {
	y -= len(p.head(p.m.theme, p.m.snapshot(), p.left()))
	if y == 0 {
		p.handlers.clickTitle(x, p.tableWidth(), p.columns())
	} else if x >= p.tableWidth() {
		return nil
	} else if _, again := p.handlers.click(y - 1); again {
		return p.handle(ActionOpen)
	}
	return nil
}

func (p *resyncScreen) hints() []hint {
	return []hint{{ActionOpen, "handler"}, {ActionResyncNow, "resync now"}, {ActionPeriod, "ask for a period"}, {ActionSort, "sort"}, {ActionFreeze, "freeze"}}
}

func (p *resyncScreen) status() string {
	return p.handlers.status()
}

// left is how wide everything is but the rounds, which have a pane of their own
// where there is room for three.
func (p *resyncScreen) left() int { return p.w - momentsWidth(p.w) }

// tableWidth is how wide the table is: what the second pane leaves. Where there
// are three, what is said of a handler is under the table.
func (p *resyncScreen) tableWidth() int {
	switch panes(p.w) {
	case 1:
		return p.w
	case 2:
		const least = 76 // with all columns that one pane has at 80
		if beside := min(max(p.w/3, 42), 70); p.w-beside >= least {
			return p.w - beside
		}
		return p.w
	}
	return p.left()
}

func (p *resyncScreen) lines() []string {
	t, s := p.m.theme, p.m.snapshot()
	if s.At.IsZero() {
		return block(nil, p.w, p.h)
	}
	if left := p.left(); left < p.w {
		return beside(block(p.main(t, s, left), left, p.h), roundsPane(p.m, s, p.w-left, p.h))
	}
	return p.main(t, s, p.w)
}

// main draws everything but the rounds, in all of w cells.
func (p *resyncScreen) main(t *theme, s *inspect.Snapshot, width int) []string {
	lines := p.head(t, s, width)
	if len(s.Listeners) == 0 {
		p.handlers.setHeight(1)
		return append(lines, message(t, width, p.h-len(lines), "no handlers", "Nobody is there to whom the cache could be played back.")...)
	}
	row, ok := p.handlers.selected()
	if !ok {
		p.handlers.setHeight(1)
		return append(lines, message(t, width, p.h-len(lines), "no handler matches "+p.handlers.text, count(p.handlers.total, "handler is", "handlers are")+" registered.")...)
	}
	if w := p.tableWidth(); w < width {
		h := p.h - len(lines)
		p.handlers.setHeight(max(h-1, 1))
		detail := append([]string{newLine(width - w).String()}, p.detail(t, s, &row, width-w)...)
		return append(lines, beside(block(p.rowLines(t, s, w), w, h), block(detail, width-w, h))...)
	}
	detail := p.detail(t, s, &row, width)
	p.handlers.setHeight(max(min(p.h-len(lines)-2-len(detail), p.handlers.matched), min(p.handlers.matched, leastHandlers), 1))
	lines = append(lines, p.rowLines(t, s, width)...)
	lines = append(lines, newLine(width).String())
	return block(append(lines, detail...), width, p.h)
}

func (p *resyncScreen) rowLines(t *theme, s *inspect.Snapshot, w int) []string {
	return p.handlers.tableRows.draw(t, w, p.columns(), true, nil, func(l *inspect.ListenerVitals) []cell {
		return resyncCells(t, s, l, p.m.warnsOfResync(s, l))
	})
}

// head says when the rounds are, and what a round is.
func (p *resyncScreen) head(t *theme, s *inspect.Snapshot, w int) []string {
	r := &s.Resync
	facts := []segment{seg(0, "", "the informer never checks: no handler gets a period")}
	if r.CheckPeriod > 0 {
		facts = []segment{seg(0, "", "checks every "+period(r.CheckPeriod)), seg(0, "", dueIn(s.At, r.Next, "next in "))}
	}
	if !r.Last.IsZero() {
		facts = append(facts, seg(1, "", "last "+since(s.At, r.Last)+" ago: "+
			count(max(r.LastObjects, 0), "object", "objects")+" × "+count(max(r.LastListeners, 0), "handler", "handlers")))
	}
	if r.CheckPeriod > 0 || r.Rounds > 0 {
		facts = append(facts, seg(0, t.muted, count(r.Rounds, "round", "rounds")))
	}
	lines := []string{newLine(w).skip(gutter).segments(3, facts...).String()}
	for _, l := range wrap("A resync plays the cache back to the handlers and never asks the server; a handler gets a period only if the informer checks.",
		w-2*gutter, 3) {
		lines = append(lines, newLine(w).skip(gutter).put(t.muted, l).String())
	}
	return append(lines, newLine(w).String())
}

// dueIn writes a countdown; "due" once it is over.
func dueIn(now, at time.Time, before string) string {
	switch in := at.Sub(now); {
	case at.IsZero():
		return dash
	case in > 0:
		return before + age(in+time.Second-1)
	}
	return "due"
}

// resyncBar is how many cells a period has.
const resyncBar = 20

// columns are those of a handler's resyncs. There go first: the bar, resync's part
// of what it was told, skipped, seen, asked; never handler, granted, next, cost
// and its share.
func (p *resyncScreen) columns() []column {
	name := 20
	if panes(p.w) == 3 {
		name = 24 // the rounds beside the table have the bar, too
	}
	columns := []column{
		flexible("HANDLER", name, 44).sorted(byName, upwards),
		fixed("ASKED", 6, 1).sorted(byAsked, downwards),
		fixed("GRANTED", 7, 0).sorted(byGranted, downwards),
		fixed("SEEN", 6, 2).sorted(bySeen, downwards),
		fixed("NEXT", 6, 0).sorted(byNext, upwards),
		fixed("SKIPPED", 7, 3).sorted(bySkipped, downwards),
		fixed("RESYNC", 6, 4).sorted(byTold, downwards),
		fixed("COST", 6, 0).sorted(byRound, downwards),
		fixed("SHARE", 5, 0).sorted(byShare, downwards),
		fixedLeft("OF ITS PERIOD", resyncBar, 5),
		fixedLeft("", 1, 0),
	}
	columns[5].hidden = !p.handlers.lagged
	return columns
}

// resyncCells draws a handler. Where it has no period, what a round costs is what
// its last one did; marked says that its resyncs are to be looked at.
func resyncCells(t *theme, s *inspect.Snapshot, l *inspect.ListenerVitals, marked bool) []cell {
	none := cell{st: t.faint, s: dash}
	cost, share, full, mark := none, none, none, cell{}
	if d := l.Outlook(s.Store.Objects).Round; d > 0 {
		st := t.ok
		if resyncTooDear(l, s.Store.Objects) {
			st = t.warn
		}
		done := bar(float64(d), float64(l.ResyncGranted), resyncBar)
		cost, share = cell{s: duration(d)}, cell{st: st, s: percent(uint64(d), uint64(l.ResyncGranted))}
		full = cell{parts: []part{{st, done}, {t.faint, strings.Repeat("░", resyncBar-width(done))}}}
	} else if hadRound(l) {
		cost = cell{st: t.muted, s: duration(l.LastRound.Work)}
	}
	if marked {
		mark = cell{st: t.warn, s: "⚠"}
	}
	next := cell{st: t.muted, s: dueIn(s.At, l.NextResync, "")}
	if l.ResyncGranted == 0 {
		next = none
	}
	skipped := cell{st: t.muted, s: number(l.ResyncSkipped)}
	if l.ResyncSkipped > 0 {
		skipped.st = t.warn
	}
	return []cell{
		{s: handlerName(l)},
		{st: t.muted, s: period(l.ResyncAsked)},
		{s: period(l.ResyncGranted)},
		{st: t.muted, s: period(l.ResyncSeen)},
		next, skipped,
		{st: t.muted, s: percent(l.Causes.Resync, l.Causes.Total())},
		cost, share, full, mark,
	}
}

// detail says what the periods of a handler come to, and why they differ.
func (p *resyncScreen) detail(t *theme, s *inspect.Snapshot, l *inspect.ListenerVitals, w int) []string {
	const label = 9
	lines := []string{newLine(w).skip(gutter).put(t.title, handlerName(l)).String()}
	say := func(name string, st style, text string) {
		for i, line := range wrap(clean(text), w-gutter-label-1, p.h) {
			if i > 0 {
				name = ""
			}
			lines = append(lines, newLine(w).skip(gutter).left(t.muted, name, label).put(st, line).String())
		}
	}
	sayLast := func() {
		r := l.LastRound
		if r == nil {
			return
		}
		text := count(r.Objects, "object", "objects")
		if of, underWay := roundSize(s, l); underWay {
			text = number(r.Objects) + " of " + number(of) + " objects so far"
		}
		say("last", "", text+", "+duration(r.Work)+" of work, began "+since(s.At, r.Began)+" ago")
	}
	if l.ResyncAsked == 0 && l.ResyncGranted == 0 {
		switch told := number(l.Causes.Resync) + " of the " + count(l.Causes.Total(), "notification", "notifications") + " so far were resyncs"; {
		case l.Explorer:
			say("", "", "asks for none, and is told of the rounds of all others, which it shows: "+told)
		case l.Causes.Resync > 0:
			say("", "", "asks for none"+roundsOf(s)+": "+told)
			sayLast()
		default:
			say("", "", "asked for none: it is told of changes only")
		}
		return lines
	}
	say("asked", "", period(l.ResyncAsked))
	say("granted", "", period(l.ResyncGranted)+grantReason(s, l))
	if l.ResyncGranted == 0 {
		sayLast()
		return lines
	}
	switch {
	case l.ResyncSeen > 0:
		say("seen", "", period(l.ResyncSeen)+seenReason(s, l))
	default:
		say("seen", t.muted, "it has been given fewer than two rounds so far")
	}
	say("next", "", dueIn(s.At, l.NextResync, "in "))
	each := time.Duration(0)
	if l.BusyRate > 0 {
		each = time.Duration(float64(time.Second) / l.BusyRate)
	}
	if cost := l.Outlook(s.Store.Objects).Round; cost > 0 {
		text := "a round is " + number(s.Store.Objects) + " × " + duration(each) + " = " + duration(cost) + " of " + period(l.ResyncGranted)
		st := style("")
		if p.m.warnsOfResync(s, l) {
			st, text = t.warn, "⚠ "+text
		}
		if resyncTooDear(l, s.Store.Objects) {
			st, text = t.warn, text+": the next one begins before one is done"
		}
		say("cost", st, text)
	} else {
		say("cost", t.muted, "its pace is not known yet, so neither is what a round costs")
	}
	sayLast()
	if total := l.Causes.Total(); total > 0 {
		say("told", "", percent(l.Causes.Resync, total)+" of "+number(total)+" notifications were resyncs, which change nothing")
	}
	if l.ResyncSkipped > 0 {
		say("skipped", t.warn, "passed over "+times(l.ResyncSkipped)+", still busy with the round before")
	}
	return lines
}

// roundsOf says where the rounds of a handler come from that asks for none.
func roundsOf(s *inspect.Snapshot) string {
	if s.Resync.CheckPeriod == 0 {
		return ", and is told of rounds that were asked for by hand"
	}
	return " now, and was told of rounds asked for by hand, or when it did"
}

// grantReason says why a handler was granted another period than it asked for.
func grantReason(s *inspect.Snapshot, l *inspect.ListenerVitals) string {
	check := s.Resync.CheckPeriod
	switch {
	case l.ResyncGranted == l.ResyncAsked:
		return ""
	case l.ResyncGranted == 0 && check == 0:
		return ": the informer never checks, because it was made without a period and nobody asked for one before it ran. The explorer's --resync 30s makes it check"
	case l.ResyncGranted == 0:
		return ": none"
	case l.ResyncAsked < time.Second && l.ResyncGranted == time.Second:
		return ": less than a second is raised to one"
	case l.ResyncGranted == check && l.ResyncAsked < check:
		return ": it asked when the informer was running, which checks every " + period(check) + " and no more often"
	case l.ResyncGranted > l.ResyncAsked:
		return ": raised"
	}
	return ": shortened"
}

// seenReason says why the rounds come at another distance than granted.
func seenReason(s *inspect.Snapshot, l *inspect.ListenerVitals) string {
	check, seen, granted := s.Resync.CheckPeriod, l.ResyncSeen, l.ResyncGranted
	const slack = 10 // one part in so many is not worth a word
	switch {
	case (seen - granted).Abs() <= granted/slack:
		return ""
	case seen < granted:
		return ": a round was asked for in between"
	case l.ResyncSkipped > 0:
		return ": rounds were passed over"
	case check > 0 && granted%check != 0:
		n := (granted + check - 1) / check
		if expected := n * check; (seen - expected).Abs() <= expected/slack {
			return ": it is due only when the informer checks, every " + period(check) + ", so with the " + ordinal(int(n)) + " check"
		}
	}
	if l.Pending > 0 && l.Behind > granted/slack {
		return ": it is " + duration(l.Behind) + " behind with " + number(l.Pending) + " pending, and sees a round when it gets there"
	}
	return ": it took that long to get to one, or a check came late, as it does when a watch is interrupted"
}
