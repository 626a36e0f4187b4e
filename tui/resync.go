package tui

import (
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/informeter/informeter/engine/inspect"
)

// resyncScreen shows when the cache is played back to which handler, and what
// that costs it.
//
//	how often the informer checks, the next round, the last one
//	what a resync is
//	HANDLER ...
//	▸ the slowest one, or the selected one
//	what its periods come to
type resyncScreen struct {
	pane
	handlers handlerTable
}

func newResyncScreen(m *Model) *resyncScreen {
	return &resyncScreen{pane: pane{m: m}, handlers: newHandlerTable()}
}

func (p *resyncScreen) name() string { return "Resync" }

func (p *resyncScreen) refresh(f *frame) { p.handlers.refresh(f.snapshot.value.Listeners) }

func (p *resyncScreen) handle(a Action) tea.Cmd {
	if a == ActionOpen {
		if row, ok := p.handlers.selected(); ok {
			p.m.openHandler(row.Name)
		}
		return nil
	}
	p.handlers.handle(a)
	return nil
}

func (p *resyncScreen) wheel(n int) { p.handlers.scroll(n) }

func (p *resyncScreen) click(_, y int) tea.Cmd {
	if _, again := p.handlers.click(y - len(p.head(p.m.theme, p.m.snapshot())) - 1); again {
		return p.handle(ActionOpen)
	}
	return nil
}

func (p *resyncScreen) hints() []hint {
	return []hint{{ActionOpen, "handler"}, {ActionDown, "next"}, {ActionUp, "previous"}, {ActionFreeze, "freeze"}}
}

func (p *resyncScreen) status() string {
	return place(p.handlers.cursor, p.handlers.matched, p.handlers.total, "")
}

func (p *resyncScreen) lines() []string {
	t, s := p.m.theme, p.m.snapshot()
	if s.At.IsZero() {
		return block(nil, p.w, p.h)
	}
	lines := p.head(t, s)
	if len(s.Listeners) == 0 {
		p.handlers.setHeight(1)
		return append(lines, message(t, p.w, p.h-len(lines), "no handlers", "Nobody is there to whom the cache could be played back.")...)
	}
	const below = 4
	p.handlers.setHeight(max(min(p.h-len(lines)-1-below, p.handlers.matched), 1))
	g := p.grid()
	lines = append(lines, g.header(t))
	lines = append(lines, p.handlers.draw(p.w, func(l inspect.ListenerVitals, selected bool) string {
		return g.row(t, chosen(selected, true), part{}, resyncCells(t, s, &l)...)
	})...)
	if row, ok := p.handlers.selected(); ok {
		lines = append(lines, p.blank())
		lines = append(lines, prose(resyncCost(t, s, &row), p.w, below-1, gutter)...)
	}
	return block(lines, p.w, p.h)
}

// head says when the rounds are, and what a round is.
func (p *resyncScreen) head(t *theme, s *inspect.Snapshot) []string {
	r := &s.Resync
	facts := []segment{seg(0, "", "the informer never checks: no handler gets a period")}
	if r.CheckPeriod > 0 {
		facts = []segment{seg(0, "", "checks every "+period(r.CheckPeriod)), seg(0, "", dueIn(s.At, r.Next, "next in "))}
		if !r.Last.IsZero() {
			facts = append(facts, seg(1, "", "last "+since(s.At, r.Last)+" ago: "+
				count(max(r.LastObjects, 0), "object", "objects")+" × "+count(max(r.LastListeners, 0), "handler", "handlers")))
		}
		facts = append(facts, seg(0, t.muted, count(r.Rounds, "round", "rounds")))
	}
	lines := []string{newLine(p.w).skip(gutter).segments(3, facts...).String()}
	for _, l := range wrap("A resync plays the cache back to the handlers and never asks the server; a handler gets a period only if the informer checks.",
		p.w-2*gutter, 3) {
		lines = append(lines, newLine(p.w).skip(gutter).put(t.muted, l).String())
	}
	return append(lines, p.blank())
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

// grid returns the columns that have room. There go first: the bar, skipped,
// seen, asked; never handler, granted, next, cost and its share.
func (p *resyncScreen) grid() grid {
	return newGrid(p.w,
		flexible("HANDLER", 20, 44),
		fixed("ASKED", 6, 1),
		fixed("GRANTED", 7, 0),
		fixed("SEEN", 6, 2),
		fixed("NEXT", 6, 0),
		fixed("SKIPPED", 7, 3),
		fixed("COST", 6, 0),
		fixed("SHARE", 5, 0),
		fixedLeft("OF ITS PERIOD", resyncBar, 4),
		fixedLeft("", 1, 0),
	)
}

func resyncCells(t *theme, s *inspect.Snapshot, l *inspect.ListenerVitals) []cell {
	none := cell{st: t.faint, s: dash}
	cost, share, full, mark := none, none, none, cell{}
	if d := roundCost(l, s.Store.Objects); l.ResyncGranted > 0 && d > 0 {
		st := t.ok
		if resyncTooDear(l, s.Store.Objects) {
			st, mark = t.warn, cell{st: t.warn, s: "⚠"}
		}
		done := bar(float64(d), float64(l.ResyncGranted), resyncBar)
		cost, share = cell{s: duration(d)}, cell{st: st, s: percent(uint64(d), uint64(l.ResyncGranted))}
		full = cell{parts: []part{{st, done}, {t.faint, strings.Repeat("░", resyncBar-width(done))}}}
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
		{s: l.Name},
		{st: t.muted, s: period(l.ResyncAsked)},
		{s: period(l.ResyncGranted)},
		{st: t.muted, s: period(l.ResyncSeen)},
		next, skipped, cost, share, full, mark,
	}
}

// resyncCost says what the periods of a handler come to.
func resyncCost(t *theme, s *inspect.Snapshot, l *inspect.ListenerVitals) []segment {
	switch {
	case l.ResyncGranted == 0 && l.ResyncAsked == 0:
		return []segment{seg(0, "", l.Name+" asked for none: it is told of changes only")}
	case l.ResyncGranted == 0:
		return []segment{seg(0, t.warn, l.Name+" asked for "+period(l.ResyncAsked)+" and gets none")}
	}
	out := roundSegment(t, s, l)
	if len(out) == 0 {
		out = append(out, seg(0, t.muted, "its pace is not known yet, so neither is what a round costs"))
	}
	if resyncTooDear(l, s.Store.Objects) {
		out = append(out, seg(0, t.warn, "⚠ the next round begins before one is done"))
	}
	if l.ResyncGranted != l.ResyncAsked {
		out = append(out, seg(0, "", "asked for "+period(l.ResyncAsked)+", granted "+period(l.ResyncGranted)))
	}
	if l.ResyncSkipped > 0 {
		out = append(out, seg(1, t.warn, "passed over "+times(l.ResyncSkipped)+", still busy with the round before"))
	}
	return out
}
