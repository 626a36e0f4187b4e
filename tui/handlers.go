package tui

import (
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/informeter/informeter/engine/inspect"
)

// handlersScreen shows every handler, and all about the selected one.
type handlersScreen struct {
	pane
	handlers handlerTable
	trends   map[string]*trend // by name
	second   int64             // of the newest sample
}

// trend is what has waited for a handler and how fast it went.
type trend struct{ pending, rate series }

func newHandlersScreen(m *Model) *handlersScreen {
	return &handlersScreen{pane: pane{m: m}, handlers: newHandlerTable(m.table("handlers", order{}), furthestBehind), trends: map[string]*trend{}}
}

// openHandler shows one handler on the Handlers screen.
func (m *Model) openHandler(name string) {
	h := m.screens[screenHandlers].(*handlersScreen)
	m.show(screenHandlers)
	h.handlers.choose(name)
}

func (p *handlersScreen) name() string { return "Handlers" }

func (p *handlersScreen) refresh(f *frame) {
	p.handlers.refresh(f.snapshot.value.Listeners)
	if f.snapshot.ok {
		p.sample(f)
	}
}

// sample takes the values of a frame, if a second has passed since the last, and
// forgets the handlers that are gone.
func (p *handlersScreen) sample(f *frame) {
	passed := f.at.Unix() - p.second
	if passed <= 0 {
		return
	}
	p.second = f.at.Unix()
	trends := make(map[string]*trend, len(f.snapshot.value.Listeners))
	for i := range f.snapshot.value.Listeners {
		l := &f.snapshot.value.Listeners[i]
		one := p.trends[l.Name]
		if one == nil {
			one = &trend{}
		}
		one.pending.shift(int(min(passed, samples)))
		one.rate.shift(int(min(passed, samples)))
		one.pending.set(float64(l.Pending))
		one.rate.set(l.Rate)
		trends[l.Name] = one
	}
	p.trends = trends
}

func (p *handlersScreen) tableShown() (*table, []column) {
	return p.handlers.table, p.handlers.columns()
}

func (p *handlersScreen) handle(a Action) tea.Cmd {
	if page, ok := pageFor(a); ok && a != ActionOpen {
		if row, ok := p.handlers.selected(); ok && row.CurrentKey != "" {
			p.m.openPage(row.CurrentKey, page)
		}
		return nil
	}
	p.handlers.handle(a, p.handlers.columns())
	return nil
}

func (p *handlersScreen) filter() string        { return p.handlers.text }
func (p *handlersScreen) setFilter(text string) { p.handlers.setFilter(text) }
func (p *handlersScreen) back() bool            { return p.handlers.back() }

func (p *handlersScreen) wheel(n int) { p.handlers.scroll(n) }

func (p *handlersScreen) click(x, y int) tea.Cmd {
	if y == 0 {
		p.handlers.clickTitle(x, p.w, p.handlers.columns())
		return nil
	}
	p.handlers.click(y - 1)
	return nil
}

func (p *handlersScreen) hints() []hint {
	return []hint{{ActionDown, "next"}, {ActionUp, "previous"}, {ActionSort, "sort"}, {ActionReverse, "reverse"}, {ActionColumns, "columns"}, {ActionFreeze, "freeze"}}
}

func (p *handlersScreen) status() string {
	return p.handlers.status()
}

// leastHandlers is how many handlers can be seen at least, if there are as many:
// before that the details go.
const leastHandlers = 4

func (p *handlersScreen) lines() []string {
	t, s := p.m.theme, p.m.snapshot()
	if len(s.Listeners) == 0 {
		p.handlers.setHeight(1)
		return message(t, p.w, p.h, "no handlers", "Nobody is told about changes: the informer only keeps its cache up to date.")
	}
	if p.handlers.matched == 0 {
		p.handlers.setHeight(1)
		return message(t, p.w, p.h, "no handler matches "+p.handlers.text, count(p.handlers.total, "handler is", "handlers are")+" registered.")
	}
	var detail []string
	if row, ok := p.handlers.selected(); ok {
		detail = p.detail(t, s, &row)
	}
	height := min(p.h-2-len(detail), len(s.Listeners))
	p.handlers.setHeight(max(height, min(len(s.Listeners), leastHandlers)))
	lines := append(p.handlers.draw(t, s, p.w, true), p.blank())
	return block(append(lines, detail...), p.w, p.h)
}

// detail says everything about one handler.
func (p *handlersScreen) detail(t *theme, s *inspect.Snapshot, l *inspect.ListenerVitals) []string {
	const label = 10
	row := func(name string, segments ...segment) string {
		return newLine(p.w).skip(gutter).left(t.muted, name, label).segments(3, segments...).String()
	}
	lines := []string{newLine(p.w).skip(gutter).put(t.title, handlerName(l)).String()}
	lines = append(lines, prose(drain(t, s, l), p.w, 2, gutter)...)
	lines = append(lines, row("synced", syncSegments(t, s, l)...))
	lines = append(lines, row("calls", callSegments(t, l)...))
	lines = append(lines, row("resync", resyncSegments(t, s, l)...))
	lines = append(lines, p.trendLines(t, l, label)...)
	lines = append(lines, p.blank())
	return append(lines, p.causes(t, l)...)
}

// trendLines draw what waited for a handler over the last minute, and how fast it
// went.
func (p *handlersScreen) trendLines(t *theme, l *inspect.ListenerVitals, label int) []string {
	one := p.trends[l.Name]
	if one == nil {
		return nil
	}
	w := max(min(p.w-gutter-label-24, samples), 0)
	return []string{
		newLine(p.w).skip(gutter).left(t.muted, "pending", label).put(t.warn, one.pending.spark(w, 1, 8)[0]).skip(2).put("", number(l.Pending)).String(),
		newLine(p.w).skip(gutter).left(t.muted, "rate", label).put(t.ok, one.rate.spark(w, 1, 1)[0]).skip(2).put("", rate(l.Rate)+"/s").String(),
	}
}

// syncSegments are the two lamps: the store's, and the handler's own.
func syncSegments(t *theme, s *inspect.Snapshot, l *inspect.ListenerVitals) []segment {
	store := segment{parts: []part{lamp(t, s.Informer.Synced), {"", " store synced"}}}
	if !s.Informer.Synced {
		store.parts[1].s = " store not synced yet"
	}
	initial := segment{parts: []part{lamp(t, l.Synced), {"", " initial list delivered"}}}
	if !l.Synced {
		initial.parts = append(initial.parts, part{"", " " + number(l.InitialDelivered) + " of " + number(l.InitialTotal) + " so far"})
	} else {
		initial.parts = append(initial.parts, part{t.muted, ", " + count(l.InitialTotal, "object", "objects")})
	}
	return []segment{store, initial}
}

func callSegments(t *theme, l *inspect.ListenerVitals) []segment {
	out := []segment{seg(0, "", count(l.Delivered, "delivered", "delivered"))}
	if l.Time.Count > 0 {
		out = append(out, segment{parts: []part{
			{t.muted, "p50 "},
			{"", duration(l.Time.P50)},
			{t.muted, "  p99 "},
			{"", duration(l.Time.P99)},
			{t.muted, "  max "},
			{"", duration(l.Time.Max)},
		}})
	}
	if l.Conflated > 0 {
		out = append(out, seg(1, "", number(l.Conflated)+" conflated: a newer one of the same key waited"))
	}
	if l.InHandler > 0 {
		st := style("")
		if stuck(l) {
			st = t.warn
		}
		out = append(out, seg(1, st, "now in "+l.CurrentKey+" for "+duration(l.InHandler)))
	}
	return out
}

func resyncSegments(t *theme, s *inspect.Snapshot, l *inspect.ListenerVitals) []segment {
	if l.ResyncAsked == 0 && l.ResyncGranted == 0 {
		return []segment{seg(0, t.muted, "none asked for")}
	}
	out := []segment{seg(0, "", "asked "+period(l.ResyncAsked)), seg(0, "", "granted "+period(l.ResyncGranted))}
	if l.ResyncSeen > 0 {
		out = append(out, seg(1, "", "seen every "+period(l.ResyncSeen)))
	}
	if in := l.NextResync.Sub(s.At); !l.NextResync.IsZero() && in > 0 {
		out = append(out, seg(0, "", "next in "+age(in+time.Second-1)))
	} else if !l.NextResync.IsZero() {
		out = append(out, seg(0, "", "due with the next check"))
	}
	if l.ResyncSkipped > 0 {
		out = append(out, seg(0, t.warn, "⚠ passed over "+times(l.ResyncSkipped)))
	}
	if s.Resync.CheckPeriod > 0 && s.Resync.CheckPeriod != l.ResyncGranted {
		out = append(out, seg(2, t.muted, "checked every "+period(s.Resync.CheckPeriod)))
	}
	return out
}

// causes draws a bar for each cause of notifications, two beside each other
// where there is room.
func (p *handlersScreen) causes(t *theme, l *inspect.ListenerVitals) []string {
	total := l.Causes.Total()
	all := []struct {
		cause inspect.Cause
		n     uint64
	}{
		{inspect.CauseWatch, l.Causes.Watch},
		{inspect.CauseInitial, l.Causes.Initial},
		{inspect.CauseLateJoin, l.Causes.LateJoin},
		{inspect.CauseRelistChanged, l.Causes.RelistChanged},
		{inspect.CauseRelistUnchanged, l.Causes.RelistUnchanged},
		{inspect.CauseResync, l.Causes.Resync},
	}
	const name, counted, share = 17, 11, 5
	across := 1
	if p.w >= twoPanes {
		across = 2
	}
	w := (p.w - gutter - 1) / across
	barW := min(w-name-counted-share-5, 30)
	var lines []string
	for i := 0; i < len(all); i += across {
		line := newLine(p.w).skip(gutter)
		for k := range across {
			c := all[i+k]
			line.to(gutter+k*w).left(t.muted, c.cause.String(), name)
			line.right("", number(c.n), counted).skip(1).right(t.muted, percent(c.n, total), share).skip(2)
			line.put(t.accent, bar(float64(c.n), float64(total), barW))
		}
		lines = append(lines, line.String())
	}
	return lines
}
