package tui

import (
	"context"
	"strconv"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/informeter/informeter/engine/inspect"
)

// queueScreen shows the gate and the keys that wait in front of it. From 160
// columns on it shows beside them what waits for the selected one.
type queueScreen struct {
	pane
	rows    list[inspect.QueueItem]
	page    inspect.QueuePage
	err     error
	read    bool
	text    string // the filter
	table   *table
	preview preview // of the selected key's object, under what waits for it
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
// them; one below says more of the selected key, where that does not stand beside.
const headHeight = 6

func (p *queueScreen) setSize(w, h int) {
	p.pane.setSize(w, h)
	h -= headHeight
	if p.left() == w {
		h--
		p.preview.focus = false
	}
	p.rows.setHeight(h)
}

// left is how wide the rows are.
func (p *queueScreen) left() int { return p.w - previewWidth(p.w) }

// selected returns the key of the selected row; empty if there is none, or it
// stands for many objects.
func (p *queueScreen) selected() string {
	row, _ := p.rows.selected()
	return row.Key
}

func (p *queueScreen) ask(r *request) {
	w := p.rows.window()
	r.queue = want(inspect.QueueQuery{Filter: p.text, Offset: w.offset, Limit: w.limit})
	if p.left() < p.w {
		p.preview.ask(r, p.selected())
	}
}

func (p *queueScreen) previewed() *document { return p.preview.shown }

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
	p.preview.refresh(f, p.selected())
}

func (p *queueScreen) filter() string { return p.text }

func (p *queueScreen) setFilter(text string) {
	p.preview.focus = false
	if text != p.text {
		p.text = text
		p.rows.home()
	}
}

func (p *queueScreen) back() bool {
	if p.preview.back() {
		return true
	}
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
	if p.left() < p.w && (p.preview.handle(a) || p.preview.turn(a)) {
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

func (p *queueScreen) click(x, y int) tea.Cmd {
	if y >= headHeight-1 {
		p.preview.focus = x >= p.left() && p.preview.key != ""
	}
	if x >= p.left() {
		return nil
	}
	if _, again := p.rows.click(y - headHeight); again {
		return p.handle(ActionOpen)
	}
	return nil
}

func (p *queueScreen) wheel(n int) {
	if p.preview.focus {
		p.preview.yaml.view.scroll(n)
		return
	}
	p.rows.scroll(n)
}

func (p *queueScreen) hints() []hint {
	pause := "pause"
	if p.m.snapshot().Queue.Gate.Mode != inspect.GateRunning {
		pause = "resume"
	}
	hints := []hint{
		{ActionPause, pause},
		{ActionStep, "step"},
		{ActionStepTen, "step ten"},
		{ActionRate, "rate"},
		{ActionOpen, "object"},
		{ActionBiography, "biography"},
		{ActionFilter, "filter"},
	}
	switch {
	case p.preview.focus:
		hints = append(hints, hint{ActionNextPane, "rows"})
	case p.left() < p.w:
		hints = append(hints, hint{ActionNextPane, "preview"})
	}
	return hints
}

func (p *queueScreen) tableShown() (*table, []column) { return p.table, p.columns() }

// columns are those of what waits. There go first: how many deltas, objects, RV.
func (p *queueScreen) columns() []column {
	title := "WAITING, OLDEST FIRST"
	if ordered(&p.m.snapshot().Queue) {
		title = "EVENT"
	}
	columns := []column{
		flexible("KEY", max(min(p.longest, p.left()/2), 20), max(70, p.left()/2)),
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
	if p.preview.focus {
		return p.preview.yaml.view.status()
	}
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
	w := p.left()
	g := p.table.grid(w, p.columns())
	found := highlighter(p.text)
	rows := append([]string{g.header(t)}, p.rows.draw(w, func(i inspect.QueueItem, selected bool) string {
		mark := part{}
		if i.InFlight {
			mark = part{t.ok, "▶"}
		}
		return g.row(t, chosen(selected, !p.preview.focus), mark, queueCells(t, &i, found)...)
	})...)
	if h := p.h - len(lines); w < p.w {
		rows = beside(block(rows, w, h), p.waitingPane(t, p.w-w, h))
	} else {
		rows = append(rows, p.detail(t))
	}
	return block(append(lines, rows...), p.w, p.h)
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
