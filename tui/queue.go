package tui

import (
	"context"
	"strconv"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/informeter/informeter/engine/inspect"
)

// queueScreen shows the gate and the keys that wait in front of it.
type queueScreen struct {
	pane
	rows  list[inspect.QueueItem]
	page  inspect.QueuePage
	err   error
	read  bool
	text  string // the filter
	table *table
	// longest is the width of the longest key that was in sight, bulk says that an
	// entry was that stands for more than one object.
	longest int
	bulk    bool
	// limit is the rate to which the gate was open when it was closed here; 0 is
	// no limit. Resuming goes back to it.
	limit float64
}

func newQueueScreen(m *Model) *queueScreen {
	return &queueScreen{pane: pane{m: m}, table: m.table("queue", order{}), rows: list[inspect.QueueItem]{
		keyOf: queueKey, byRank: true,
	}}
}

// queueKey tells the entries of a queue apart. Those that stand for a whole list
// have no key: their place has to do.
func queueKey(i inspect.QueueItem) string {
	if i.Key == "" {
		return strconv.Itoa(i.Position)
	}
	return i.Key
}

// queueName names an entry: its key, or what it stands for.
func queueName(i *inspect.QueueItem) (name string, whole bool) {
	if i.Key != "" || len(i.Deltas) == 0 {
		return i.Key, false
	}
	switch i.Deltas[0].Type {
	case "ReplacedAll":
		return "the whole list", true
	case "SyncAll":
		return "everything in the store", true
	case "Bookmark":
		return "bookmark", true
	}
	return strings.ToLower(i.Deltas[0].Type), true
}

// ordered says whether the queue keeps every event in order, instead of by key.
func ordered(q *inspect.QueueVitals) bool { return q.Kind == "InOrder" }

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
		total := p.page.Keys
		if ordered(&f.snapshot.value.Queue) {
			total = p.page.Deltas
		}
		p.rows.show(p.page.Items, p.page.Start, p.page.Matched, max(total, p.page.Matched))
		for i := range p.page.Items {
			item := &p.page.Items[i]
			p.longest = max(p.longest, width(clean(item.Key)))
			for d := range item.Deltas {
				p.bulk = p.bulk || item.Deltas[d].Objects > 1
			}
		}
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
	if page, ok := pageFor(a); ok {
		if row, ok := p.rows.selected(); ok && row.Key != "" {
			p.m.openPage(row.Key, page)
		} else if ok {
			p.m.note = "this entry stands for many objects"
		}
		return nil
	}
	switch a {
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
	if !p.m.paused() {
		p.keepLimit()
		p.m.wishes.gate = inspect.GatePaused
		return p.m.control("", func(ctx context.Context, c inspect.Controls) error { return c.Pause(ctx) })
	}
	p.m.wishes.gate = inspect.GateRunning
	limit := p.limit
	return p.m.control("", func(ctx context.Context, c inspect.Controls) error {
		if limit > 0 {
			return c.SetRate(ctx, limit)
		}
		return c.Resume(ctx)
	})
}

// keepLimit remembers how far the gate is open, before it is closed.
func (p *queueScreen) keepLimit() {
	if p.m.wishes.gate == "" { // else what is shown is over
		p.limit = p.m.snapshot().Queue.Gate.Rate
	}
}

func (p *queueScreen) step(n int) tea.Cmd {
	if !p.m.paused() {
		p.keepLimit()
	}
	p.m.wishes.gate = inspect.GatePaused
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
		{ActionBiography, "biography"},
		{ActionFilter, "filter"},
	}
}

func (p *queueScreen) tableShown() (*table, []column) { return p.table, p.columns() }

// columns are those of what waits. There go first: how many deltas, objects, RV.
func (p *queueScreen) columns() []column {
	title := "WAITING, OLDEST FIRST"
	if ordered(&p.m.snapshot().Queue) {
		title = "EVENT"
	}
	columns := []column{
		flexible("KEY", max(min(p.longest, p.w/2), 20), max(70, p.w/2)),
		fixed("AGE", 6, 0),
		fixed("DELTAS", 6, 3),
		fixed("OBJECTS", 8, 4),
		fixedLeft(title, 21, 0),
		fixedLeft("CAUSE", 16, 1),
		fixed("RV", 12, 2),
	}
	columns[2].hidden = ordered(&p.m.snapshot().Queue) // each entry is one
	columns[3].hidden = !p.bulk
	return columns
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
	g := p.table.grid(p.w, p.columns())
	found := highlighter(p.text)
	lines = append(lines, g.header(t))
	lines = append(lines, p.rows.draw(p.w, func(i inspect.QueueItem, selected bool) string {
		mark := part{}
		if i.InFlight {
			mark = part{t.ok, "▶"}
		}
		return g.row(t, chosen(selected, true), mark, queueCells(t, &i, found)...)
	})...)
	return block(append(lines, p.detail(t)), p.w, p.h)
}

func queueCells(t *theme, i *inspect.QueueItem, found func(string) [][2]int) []cell {
	name, whole := queueName(i)
	key := cell{s: name, found: found(name)}
	if whole {
		key = cell{st: t.synced, s: name}
	}
	objects := 0
	for d := range i.Deltas {
		objects += max(i.Deltas[d].Objects, 1)
	}
	newest := inspect.DeltaInfo{}
	if n := len(i.Deltas); n > 0 {
		newest = i.Deltas[n-1]
	}
	age := style("")
	if i.Age > time.Second {
		age = t.warn
	}
	return []cell{
		key,
		{st: age, s: duration(i.Age)},
		{s: number(len(i.Deltas) + i.More)},
		{s: number(objects + i.More)},
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
	if ordered(q) {
		depth = []part{{t.strong, count(q.Deltas, "entry", "entries")}, {t.faint, " │ "}, {"", count(q.Keys, "key", "keys")}, {t.faint, " │ "}, {"", count(q.Objects, "object", "objects")}}
	} else if q.Objects > q.Deltas {
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
		line(segment{parts: []part{{t.muted, "in "}, {"", rate(q.ArrivalRate) + "/s"}, {t.muted, "  out "}, {"", rate(q.PopRate) + "/s"}}}, waited, kindSegment(t, q)),
		line(pressure(t, q)),
		p.blank(),
	}
}

// kindSegment says how the queue treats several events of one key.
func kindSegment(t *theme, q *inspect.QueueVitals) segment {
	if ordered(q) {
		return seg(4, t.muted, "every event in its order; a list or resync is one entry")
	}
	if q.Compressed > 0 {
		return seg(4, t.muted, number(q.Compressed)+" compressed")
	}
	return seg(4, t.muted, "by key, in the order of first arrival")
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
		out = append(out, seg(2, t.muted, "what arrives stays in the queue"))
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
		return message(t, p.w, h, "no waiting key matches "+p.text, count(p.rows.total, "waits.", "wait."))
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
		if d.Objects > 1 {
			text += " of " + number(d.Objects) + " objects"
		}
		segments = append(segments, segment{parts: []part{{st, letter}, {"", text}}, drop: n + 1})
	}
	return newLine(p.w).skip(gutter).segments(3, segments...).String()
}
