package tui

import (
	"context"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/informeter/informeter/engine/inspect"
)

// queueScreen shows the gate and the keys that wait in front of it.
type queueScreen struct {
	pane
	rows list[inspect.QueueItem]
	page inspect.QueuePage
	err  error
	read bool
	text string // the filter
	// limit is the rate to which the gate was open when it was closed here; 0 is
	// no limit. Resuming goes back to it.
	limit float64
}

func newQueueScreen(m *Model) *queueScreen {
	return &queueScreen{pane: pane{m: m}, rows: list[inspect.QueueItem]{
		keyOf: func(i inspect.QueueItem) string { return i.Key }, byRank: true,
	}}
}

func (p *queueScreen) name() string { return "Queue" }
func (p *queueScreen) scope() Scope { return ScopeQueue }

// headHeight is how many lines stand above the table's rows, its titles among
// them; one below says more of the selected key.
const headHeight = 6

func (p *queueScreen) setSize(w, h int) {
	p.pane.setSize(w, h)
	p.rows.setHeight(h - headHeight - 1)
}

func (p *queueScreen) ask(r *request) {
	w := p.rows.window()
	r.queue = want(inspect.QueueQuery{Filter: p.text, Offset: w.offset, Limit: w.limit})
}

func (p *queueScreen) refresh(f *frame) {
	if !f.request.queue.on || f.request.queue.query.Filter != p.text {
		return
	}
	p.err = f.queue.err
	if f.queue.ok {
		p.read, p.page = true, f.queue.value
		p.rows.show(p.page.Items, p.page.Start, p.page.Matched, p.page.Keys)
	}
}

func (p *queueScreen) filter() string { return p.text }

func (p *queueScreen) setFilter(text string) {
	if text != p.text {
		p.text = text
		p.rows.home()
	}
}

func (p *queueScreen) back() bool {
	if p.text == "" {
		return false
	}
	p.setFilter("")
	return true
}

func (p *queueScreen) handle(a Action) tea.Cmd {
	switch a {
	case ActionOpen:
		if row, ok := p.rows.selected(); ok {
			p.m.openObject(row.Key)
		}
	case ActionPause:
		return p.togglePause()
	case ActionStep:
		return p.step(1)
	case ActionStepTen:
		return p.step(10)
	case ActionRate:
		p.m.askRate()
	default:
		p.rows.handle(a)
	}
	return nil
}

// togglePause closes the gate, or opens it as far as it was open before.
func (p *queueScreen) togglePause() tea.Cmd {
	gate := p.m.snapshot().Queue.Gate
	if gate.Mode != inspect.GatePaused {
		p.limit = gate.Rate
		return p.m.control("", func(ctx context.Context, c inspect.Controls) error { return c.Pause(ctx) })
	}
	limit := p.limit
	return p.m.control("", func(ctx context.Context, c inspect.Controls) error {
		if limit > 0 {
			return c.SetRate(ctx, limit)
		}
		return c.Resume(ctx)
	})
}

func (p *queueScreen) step(n int) tea.Cmd {
	if gate := p.m.snapshot().Queue.Gate; gate.Mode != inspect.GatePaused {
		p.limit = gate.Rate
	}
	return p.m.control("", func(ctx context.Context, c inspect.Controls) error { return c.Step(ctx, n) })
}

func (p *queueScreen) click(_, y int) tea.Cmd {
	if _, again := p.rows.click(y - headHeight); again {
		return p.handle(ActionOpen)
	}
	return nil
}

func (p *queueScreen) wheel(n int) { p.rows.scroll(n) }

func (p *queueScreen) hints() []hint {
	pause := "pause"
	if p.m.snapshot().Queue.Gate.Mode != inspect.GateRunning {
		pause = "resume"
	}
	return []hint{
		{ActionPause, pause},
		{ActionStep, "step"},
		{ActionStepTen, "step ten"},
		{ActionRate, "rate"},
		{ActionOpen, "object"},
		{ActionFilter, "filter"},
	}
}

func (p *queueScreen) status() string {
	return place(p.rows.cursor, p.rows.matched, p.rows.total, p.text)
}

func (p *queueScreen) lines() []string {
	t, s := p.m.theme, p.m.snapshot()
	if p.err != nil {
		return message(t, p.w, p.h, "the queue did not answer", p.err.Error())
	}
	if !p.read {
		return block(nil, p.w, p.h)
	}
	lines := p.head(t, s)
	if p.rows.matched == 0 {
		return append(lines, p.empty(t, s)...)
	}
	g := newGrid(p.w,
		flexible("KEY", 20, max(70, p.w/2)),
		fixed("AGE", 6, 0),
		fixed("DELTAS", 6, 3),
		fixedLeft("WAITING, OLDEST FIRST", 21, 0),
		fixedLeft("CAUSE", 8, 1),
		fixed("RV", 12, 2),
	)
	lines = append(lines, g.header(t))
	lines = append(lines, p.rows.draw(p.w, func(i inspect.QueueItem, selected bool) string {
		mark := part{}
		if i.InFlight {
			mark = part{t.ok, "▶"}
		}
		return g.row(t, chosen(selected, true), mark, queueCells(t, &i)...)
	})...)
	return block(append(lines, p.detail(t)), p.w, p.h)
}

func queueCells(t *theme, i *inspect.QueueItem) []cell {
	newest := inspect.DeltaInfo{}
	if n := len(i.Deltas); n > 0 {
		newest = i.Deltas[n-1]
	}
	age := style("")
	if i.Age > time.Second {
		age = t.warn
	}
	return []cell{
		{s: i.Key},
		{st: age, s: duration(i.Age)},
		{s: number(len(i.Deltas) + i.More)},
		{parts: deltaParts(t, i)},
		{st: t.muted, s: newest.Cause.String()},
		{st: t.muted, s: newest.ResourceVersion},
	}
}

// deltaParts writes a key's deltas as letters, the oldest first.
func deltaParts(t *theme, i *inspect.QueueItem) []part {
	const most = 8
	parts := make([]part, 0, most+2)
	shown := i.Deltas[:min(len(i.Deltas), most)]
	for _, d := range shown {
		letter, st := t.delta(d.Type)
		if d.Objects > 1 {
			letter += " ×" + number(d.Objects)
		}
		parts = append(parts, part{st, letter + " "})
	}
	if more := len(i.Deltas) - len(shown) + i.More; more > 0 {
		parts = append(parts, part{t.muted, "+" + number(more)})
	}
	return parts
}

// head says how the gate stands and how much waits: always the same lines, so
// that what is below stands still.
func (p *queueScreen) head(t *theme, s *inspect.Snapshot) []string {
	q := &s.Queue
	line := func(segments ...segment) string {
		return newLine(p.w).skip(gutter).segments(3, segments...).String()
	}
	depth := []part{{t.strong, count(q.Deltas, "delta", "deltas")}, {"", " on " + count(q.Keys, "key", "keys")}}
	if q.Objects > q.Deltas {
		depth = append(depth, part{t.muted, " for " + count(q.Objects, "object", "objects")})
	}
	oldest := seg(2, t.muted, "nothing waits")
	if q.Deltas > 0 {
		oldest = seg(1, "", "oldest "+duration(q.Age))
	}
	waited := seg(3, t.muted, "waited "+dash)
	if q.Wait.Count > 0 {
		waited = segment{drop: 3, parts: []part{
			{t.muted, "waited p50 "},
			{"", duration(q.Wait.P50)},
			{t.muted, "  p99 "},
			{"", duration(q.Wait.P99)},
			{t.muted, "  max "},
			{"", duration(q.Wait.Max)},
		}}
	}
	return []string{
		line(gateSegments(t, s)...),
		line(segment{parts: depth}, seg(0, "", number(q.InFlight)+" in flight"), oldest, seg(3, t.muted, "most ever "+number(q.Peak))),
		line(segment{parts: []part{{t.muted, "in "}, {"", rate(q.ArrivalRate) + "/s"}, {t.muted, "  out "}, {"", rate(q.PopRate) + "/s"}}}, waited),
		line(pressure(t, q)),
		p.blank(),
	}
}

func gateSegments(t *theme, s *inspect.Snapshot) []segment {
	g := &s.Queue.Gate
	out := []segment{{parts: []part{gateState(t, g)}}}
	switch g.Mode {
	case inspect.GatePaused:
		out = append(out, seg(1, "", "for "+since(s.At, g.Since)))
		if g.Steps > 0 {
			out = append(out, seg(0, "", count(g.Steps, "step", "steps")+" to go"))
		}
		out = append(out, seg(2, t.muted, "nothing is popped: what arrives stays in the queue"))
	case inspect.GateLimited:
		out = append(out, seg(2, t.muted, "what arrives faster waits"))
	default:
		out = append(out, seg(2, t.muted, "popped as it comes"))
	}
	return out
}

func pressure(t *theme, q *inspect.QueueVitals) segment {
	if q.BackPressure {
		return seg(0, t.warn, "⚠ back-pressure: the reflector is held back, "+number(q.BackPressureAt)+" deltas wait or more")
	}
	if q.BackPressureAt == 0 {
		return seg(0, t.muted, "no back-pressure")
	}
	return seg(0, t.muted, "back-pressure from "+number(q.BackPressureAt)+" deltas on, "+times(q.Held)+" so far")
}

func times(n uint64) string {
	switch n {
	case 0:
		return "never"
	case 1:
		return "once"
	}
	return number(n) + " times"
}

func (p *queueScreen) empty(t *theme, s *inspect.Snapshot) []string {
	h := p.h - headHeight + 1
	switch {
	case p.text != "":
		return message(t, p.w, h, "no waiting key matches "+p.text, number(p.rows.total)+" keys wait.")
	case s.Queue.Gate.Mode == inspect.GatePaused:
		return message(t, p.w, h, "nothing waits", "The gate is closed and nothing has arrived since.")
	}
	return message(t, p.w, h, "nothing waits",
		"Deltas are handled as fast as they come. Pause the gate to see them wait here, then step them through one at a time.")
}

// detail says of each delta of the selected key why it came and how long it has
// waited.
func (p *queueScreen) detail(t *theme) string {
	row, ok := p.rows.selected()
	if !ok {
		return p.blank()
	}
	var segments []segment
	if row.InFlight {
		segments = append(segments, seg(0, t.ok, "in flight"))
	} else {
		segments = append(segments, seg(0, t.muted, "no. "+number(row.Position+1)))
	}
	for n, d := range row.Deltas {
		letter, st := t.delta(d.Type)
		text := " " + d.Cause.String() + " " + duration(d.Age)
		if d.Tombstone {
			text += " tombstone"
		}
		segments = append(segments, segment{parts: []part{{st, letter}, {"", text}}, drop: n + 1})
	}
	return newLine(p.w).skip(gutter).segments(3, segments...).String()
}
