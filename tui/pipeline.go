package tui

import (
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/informeter/informeter/engine/inspect"
)

// pipelineScreen shows every stage at a glance, and the handlers under them.
//
//	Reflector ─▶ queue ─▶ HandleDeltas ─▶ Indexer ─▶ Processor      from 100 columns
//	a state that has to be said, if there is one
//	HANDLER ...
//	▸ the slowest one, or the selected one
//	how it gets on
type pipelineScreen struct {
	pane
	handlers handlerTable
}

func newPipelineScreen(m *Model) *pipelineScreen {
	return &pipelineScreen{pane: pane{m: m}, handlers: newHandlerTable()}
}

func (p *pipelineScreen) name() string { return "Pipeline" }

func (p *pipelineScreen) refresh(f *frame) { p.handlers.refresh(f.snapshot.value.Listeners) }

func (p *pipelineScreen) handle(a Action) tea.Cmd {
	if a == ActionOpen {
		if row, ok := p.handlers.selected(); ok {
			p.m.openHandler(row.Name)
		}
		return nil
	}
	p.handlers.handle(a)
	return nil
}

func (p *pipelineScreen) hints() []hint {
	return []hint{{ActionOpen, "handler"}, {ActionQueue, "queue"}, {ActionStore, "store"}, {ActionIndices, "indices"}, {ActionFreeze, "freeze"}}
}

func (p *pipelineScreen) wheel(n int) { p.handlers.scroll(n) }

func (p *pipelineScreen) click(_, y int) tea.Cmd {
	if _, again := p.handlers.click(y - p.tableTop() - 1); again {
		return p.handle(ActionOpen)
	}
	return nil
}

// lines draws the stages at the top, the table at the bottom, and gives the
// table's rows what is left.
func (p *pipelineScreen) lines() []string {
	t, s := p.m.theme, p.m.snapshot()
	if err := p.m.frame.snapshot.err; err != nil && s.At.IsZero() {
		return message(t, p.w, p.h, "no answer", err.Error())
	}
	if s.At.IsZero() {
		return block(nil, p.w, p.h)
	}
	top := p.upper(t, s)
	detail := p.detail(t, s)
	room := p.h - len(top) - 1 - len(detail)
	p.handlers.setHeight(max(min(room, p.handlers.matched), 1))
	lines := append(top, p.handlers.table(t, s, p.w)...)
	lines = append(lines, detail...)
	lines = append(lines, p.requests(t, s, p.h-len(lines))...)
	return block(lines, p.w, p.h)
}

// upper returns everything above the table.
func (p *pipelineScreen) upper(t *theme, s *inspect.Snapshot) []string {
	var lines []string
	if p.w >= twoPanes {
		lines = append(p.columns(t, s), p.blank())
	} else {
		lines = p.rows(t, s)
	}
	if c, ok := conditionOf(t, s); ok {
		if p.w < twoPanes {
			lines = append(lines, p.blank())
		}
		lines = append(lines, c.draw(t, p.w, max(p.h-len(lines)-5, 2))...)
		lines = append(lines, p.blank())
	} else if p.h >= 18 && p.w < twoPanes {
		lines = append(lines, p.blank())
	}
	return lines
}

// tableTop is the line of the table's titles.
func (p *pipelineScreen) tableTop() int { return len(p.upper(p.m.theme, p.m.snapshot())) }

// detail says how the selected handler gets on.
func (p *pipelineScreen) detail(t *theme, s *inspect.Snapshot) []string {
	row, ok := p.handlers.selected()
	if !ok {
		return nil
	}
	if row.Explorer && len(s.Listeners) == 1 {
		return []string{newLine(p.w).skip(gutter).put(t.muted, "no other handler is registered").String()}
	}
	return prose(drain(t, s, &row), p.w, 2, gutter)
}

// requests lists the newest requests, where h lines are enough for some.
func (p *pipelineScreen) requests(t *theme, s *inspect.Snapshot, h int) []string {
	const least = 4
	if h < least || len(s.Requests.Last) == 0 {
		return nil
	}
	g := newGrid(p.w,
		fixedLeft("REQUEST", 9, 0),
		fixed("AGO", 6, 0),
		fixed("LASTED", 6, 2),
		fixed("ITEMS", 9, 0),
		fixed("BOOKMARKS", 9, 4),
		fixed("FROM RV", 12, 3),
		column{title: "OUTCOME", min: 24, max: 100},
	)
	lines := []string{p.blank(), g.header(t)}
	for i := range s.Requests.Last[:min(len(s.Requests.Last), h-len(lines))] {
		lines = append(lines, g.row(t, plainRow, part{}, requestCells(t, s, &s.Requests.Last[i])...))
	}
	return lines
}

func requestCells(t *theme, s *inspect.Snapshot, r *inspect.Request) []cell {
	lasted := r.Lifetime
	if r.Ended.IsZero() {
		lasted = s.At.Sub(r.Started)
	}
	outcome := cell{st: t.muted, s: string(r.Outcome)}
	switch r.Outcome {
	case inspect.OutcomeOpen:
		outcome.st = t.ok
	case inspect.OutcomeFailed, inspect.OutcomeExpired, inspect.OutcomeTooNew:
		outcome.st = t.warn
	}
	if r.Error != "" {
		outcome.s += ": " + firstLine(withoutURLs(r.Error))
	}
	if r.Next != "" {
		outcome.s += ", then " + r.Next
	}
	version := r.ResourceVersion
	if version == "" {
		version = dash
	}
	return []cell{
		{s: string(r.Verb)},
		{st: t.muted, s: since(s.At, r.Started)},
		{s: duration(lasted)},
		{s: number(r.Items)},
		{st: t.muted, s: number(r.Bookmarks)},
		{st: t.muted, s: version},
		outcome,
	}
}

// stage is what is shown of one stage.
type stage struct {
	name  string
	facts []segment // for the columns, one a line
	row   []segment // for the list, one line
	spark []string
	color style
}

func (p *pipelineScreen) stages(t *theme, s *inspect.Snapshot, w, rows int) []stage {
	h := p.m.history()
	return []stage{
		reflectorStage(t, s, h.events.spark(w, rows, 1)),
		queueStage(t, s, h.depth.spark(w, rows, 8)),
		handleStage(t, s, h.handled.spark(w, rows, 1)),
		indexerStage(t, s, h.objects.spark(w, rows, 2*float64(max(s.Store.Objects, 1)))),
		processorStage(t, s, h.pending.spark(w, rows, 8)),
	}
}

func reflectorStage(t *theme, s *inspect.Snapshot, spark []string) stage {
	r := &s.Reflector
	phase := seg(0, "", phaseName(s)+" "+since(s.At, r.Since))
	if r.Since.IsZero() {
		phase = seg(0, "", phaseName(s))
	}
	if r.Error != "" {
		phase.parts[0].st = t.bad
	}
	counts := segment{drop: 2}
	for _, c := range []struct {
		kind string
		n    uint64
	}{{"Added", r.Added}, {"Updated", r.Updated}, {"Deleted", r.Deleted}} {
		letter, st := t.delta(c.kind)
		if len(counts.parts) > 0 {
			letter = " " + letter
		}
		counts.parts = append(counts.parts, part{st, letter}, part{"", " " + compact(c.n)})
	}
	last := seg(3, t.muted, "no bookmark yet")
	if !r.LastBookmark.IsZero() {
		last = seg(3, t.muted, "bookmark "+since(s.At, r.LastBookmark)+" ago")
	}
	return stage{
		name: "Reflector", facts: []segment{phase, counts, last}, spark: spark, color: t.ok,
		row: []segment{phase, seg(1, "", rate(r.EventRate)+" ev/s"), counts},
	}
}

func queueStage(t *theme, s *inspect.Snapshot, spark []string) stage {
	q := &s.Queue
	deltas := seg(0, "", count(q.Deltas, "delta", "deltas"))
	keys := seg(0, t.muted, count(q.Keys, "key", "keys"))
	if q.Objects > q.Deltas {
		keys = seg(0, t.muted, count(q.Objects, "object", "objects"))
	}
	age := seg(1, t.muted, "nothing waits")
	if q.Deltas > 0 {
		age = seg(1, "", "oldest "+duration(q.Age))
	}
	if q.BackPressure {
		age = seg(0, t.warn, "⚠ back-pressure")
	}
	name := q.Kind
	if name == "" {
		name = "queue"
	}
	both := segment{parts: []part{deltas.parts[0], {t.muted, " on " + keys.parts[0].s}}}
	return stage{name: name, facts: []segment{deltas, keys, age}, row: []segment{both, age}, spark: spark, color: t.accent}
}

func handleStage(t *theme, s *inspect.Snapshot, spark []string) stage {
	v := &s.Handle
	pace := seg(0, "", rate(v.Rate)+"/s")
	p99 := seg(1, t.muted, "p99 "+duration(v.Time.P99))
	if v.Time.Count == 0 {
		p99 = seg(1, t.muted, "p99 "+dash)
	}
	gate := segment{parts: []part{gateState(t, &s.Queue.Gate)}}
	facts := []segment{pace, p99, gate}
	if v.Quarantined > 0 {
		facts[1] = seg(0, t.warn, "⚠ "+number(v.Quarantined)+" set aside")
	}
	return stage{name: "HandleDeltas", facts: facts, row: facts, spark: spark, color: t.ok}
}

// gateState is the state of the gate in a word.
func gateState(t *theme, g *inspect.Gate) part {
	switch g.Mode {
	case inspect.GatePaused:
		return part{t.paused, " PAUSED "}
	case inspect.GateLimited:
		return part{t.warn, "limited " + rate(g.Rate) + "/s"}
	}
	return part{t.ok, "▶ running"}
}

func indexerStage(t *theme, s *inspect.Snapshot, spark []string) stage {
	v := &s.Store
	objects := seg(0, "", count(v.Objects, "object", "objects"))
	indices := seg(1, t.muted, count(len(s.Indices), "index", "indices"))
	version := seg(2, t.muted, "rv "+v.ResourceVersion)
	if v.ResourceVersion == "" {
		version = seg(2, t.muted, "rv "+dash)
	}
	if v.Behind {
		version.parts[0].st = t.warn
	}
	facts := []segment{objects, indices, version}
	return stage{name: "Indexer", facts: facts, row: facts, spark: spark, color: t.accent}
}

func processorStage(t *theme, s *inspect.Snapshot, spark []string) stage {
	listeners := seg(0, "", count(len(s.Listeners), "listener", "listeners"))
	worst := slowest(s.Listeners)
	if worst < 0 || s.Listeners[worst].Behind < noticeable {
		facts := []segment{listeners, seg(1, t.muted, "all keep up"), seg(2, t.muted, pendingInAll(s))}
		return stage{name: "Processor", facts: facts, row: facts, spark: spark, color: t.ok}
	}
	l := &s.Listeners[worst]
	st := style("")
	if troubled(l, s.Store.Objects) || l.Behind >= noticeable {
		st = t.warn
	}
	return stage{
		name: "Processor", spark: spark, color: st,
		facts: []segment{listeners, seg(0, t.muted, "slowest: "+l.Name), seg(0, st, number(l.Pending)+" pending")},
		row: []segment{
			listeners,
			seg(1, st, "slowest "+l.Name+": "+number(l.Pending)+" pending, "+duration(l.Behind)),
		},
	}
}

// pendingInAll sums up what waits for the handlers.
func pendingInAll(s *inspect.Snapshot) string {
	n := uint64(0)
	for i := range s.Listeners {
		n += s.Listeners[i].Pending
	}
	return number(n) + " pending"
}

// compact writes a count in at most five characters.
func compact(n uint64) string {
	switch {
	case n < 100_000:
		return number(n)
	case n < 1_000_000:
		return number(n/1000) + "k"
	case n < 1_000_000_000:
		return tenths(time.Duration(n), 1_000_000) + "M"
	}
	return tenths(time.Duration(n), 1_000_000_000) + "G"
}

// columns draws the stages beside each other.
func (p *pipelineScreen) columns(t *theme, s *inspect.Snapshot) []string {
	const arrow, gap, facts = "─▶", 4, 3
	w := min((p.w-2*gutter-4*gap)/5, 34)
	charts := max(min((p.h-16)/6, 4), 1)
	stages := p.stages(t, s, w, charts)
	lines := make([]string, 0, 1+facts+charts)
	for i := range cap(lines) {
		l := newLine(p.w).skip(gutter)
		for n, st := range stages {
			x := gutter + n*(w+gap)
			if n > 0 && i == 1 {
				l.to(x-3).put(t.faint, arrow)
			}
			l.to(x)
			switch {
			case i == 0:
				l.left(t.title, st.name, w)
			case i <= facts:
				cells := newLine(w)
				for _, part := range st.facts[i-1].parts {
					cells.put(part.st, part.s)
				}
				l.place("", cells.String())
			default:
				l.left(st.color, st.spark[i-facts-1], w)
			}
		}
		lines = append(lines, l.String())
	}
	return lines
}

// rows draws the stages under each other.
func (p *pipelineScreen) rows(t *theme, s *inspect.Snapshot) []string {
	const name, spark = 14, 8
	facts := p.w - gutter - name - 2 - spark - 2
	lines := make([]string, 0, 5)
	for _, st := range p.stages(t, s, spark, 1) {
		l := newLine(p.w).skip(gutter).left(t.title, st.name, name)
		inner := newLine(facts)
		inner.segments(3, st.row...)
		l.place("", inner.String())
		lines = append(lines, l.skip(2).left(st.color, st.spark[0], spark).String())
	}
	return lines
}
