package tui

import (
	"errors"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/informeter/informeter/engine/inspect"
)

// biographyPage shows what happened to a key, an event a row, and all about the
// selected one.
type biographyPage struct {
	table  *table
	rows   list[biographyRow]
	events []inspect.KeyEvent // in the order in which they happened
	exists bool
	since  time.Time
	// forgotten counts older events that were let go of.
	forgotten uint64
	handled   bool                     // there are handlers beside the explorer's own
	text      string                   // the filter
	keeps     func(*biographyRow) bool // what it lets through; nil for all
	waits     waits                    // what has not happened yet
	read      bool
	err       error
}

// biographyRow is an event with what sets it apart from the one before.
type biographyRow struct {
	inspect.KeyEvent
	number int // among the events, from 0
	// newUID: it is of another object than the event before.
	newUID bool
}

// byTime is the only order of events.
const byTime = "time"

func newBiographyPage(m *Model) biographyPage {
	return biographyPage{
		table: m.table("biography", order{byTime, downwards}),
		rows: list[biographyRow]{keyOf: func(r biographyRow) string {
			// The place in the order changes when old ones are forgotten, the rest
			// of an event does not.
			return strconv.FormatUint(r.Seq, 10) + " " + strconv.FormatInt(r.At.UnixNano(), 10)
		}},
	}
}

func (b *biographyPage) take(a answer[inspect.Biography]) {
	b.err = a.err
	if a.ok {
		b.read = true
		b.events, b.exists, b.since, b.forgotten = a.value.Events, a.value.Exists, a.value.Since, a.value.Forgotten
		b.arrange()
	}
}

// arrange filters the events and puts them in order.
func (b *biographyPage) arrange() {
	rows := b.rows.rows[:0] // only the list has them
	uid := ""
	for i, e := range b.events {
		row := biographyRow{KeyEvent: e, number: i, newUID: e.UID != "" && uid != "" && e.UID != uid}
		if e.UID != "" {
			uid = e.UID
		}
		if b.keeps == nil || b.keeps(&row) {
			rows = append(rows, row)
		}
	}
	if b.table.order.desc == downwards {
		slices.Reverse(rows)
	}
	b.rows.show(rows, 0, len(rows), len(b.events))
}

// eventSought returns what says whether an event has text in anything of it, or with
// a "!" in front has it nowhere.
func eventSought(text string) func(*biographyRow) bool {
	text, without := strings.CutPrefix(text, "!")
	needle := newNeedle(text)
	return func(e *biographyRow) bool {
		has := slices.ContainsFunc(append([]string{
			e.Type, e.Cause.String(), e.ResourceVersion, e.UID, e.Writer, e.Skipped, e.MergedWhy,
		}, e.Changed...), func(s string) bool { return needle.in(s) >= 0 })
		return has != without
	}
}

func (b *biographyPage) setFilter(text string) {
	b.text, b.keeps = text, nil
	if text != "" {
		b.keeps = eventSought(text)
	}
	b.rows.home()
	b.arrange()
}

// seek goes to the next event that a filter keeps.
func (b *biographyPage) seek(m *Model, filter string, forward bool) {
	keeps := eventSought(filter)
	if !b.rows.step(func(r biographyRow) bool { return keeps(&r) }, forward) {
		m.noMatch(filter, forward)
	}
}

// uidText is how UIDs are written; the key of one may be asked for.
var uidText = regexp.MustCompile(`^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$`)

func (b *biographyPage) handle(a Action) {
	switch a {
	case ActionReverse, ActionSort, ActionSortPrevious:
		b.table.order.desc = !b.table.order.desc
		b.rows.home()
		b.arrange()
	default:
		b.rows.handle(a)
	}
}

// head says whether the key is there, and what is known of it.
func (b *biographyPage) head(t *theme, at time.Time) []segment {
	if !b.read {
		return nil
	}
	state := seg(0, t.ok, "in the store")
	if !b.exists {
		state = seg(0, t.warn, "not in the store any more")
	}
	out := []segment{state, seg(1, t.muted, count(len(b.events), "event", "events")+" since "+clock(b.since)+", "+since(at, b.since)+" ago")}
	if b.forgotten > 0 {
		out = append(out, seg(2, t.warn, number(b.forgotten)+" older ones forgotten"))
	}
	return out
}

// failed says why there is no biography.
func (b *biographyPage) failed(t *theme, w, h int) []string {
	switch {
	case gone(b.err):
		return message(t, w, h, "nothing is known of it",
			"Biographies begin when the explorer looks, and the oldest are let go of to stay within bounds. Nothing has happened to this key since.")
	case errors.Is(b.err, inspect.ErrUnsupported):
		return message(t, w, h, "this informer keeps no biographies", b.err.Error())
	}
	return message(t, w, h, "the biography could not be read", b.err.Error())
}

// biographyDetail is how many lines below the rows say more of the selected one.
const biographyDetail = 9

// needed is a column as wide as what the events have in it: the changes have what it
// leaves. Where there is no more room it is content with 16 cells.
func (b *biographyPage) needed(title string, most, drop int, text func(*biographyRow) string) column {
	need := width(title)
	for i := range b.rows.rows {
		need = max(need, width(clean(text(&b.rows.rows[i]))))
	}
	need = min(need, most)
	return column{title: title, min: min(need, 16), max: need, drop: drop}
}

// maxCause is how wide a cause can be, with how often it came.
const maxCause = 32

// causeText writes why an event came and how often in a row, in at most w cells
// where that can be: the count must be legible.
func causeText(r *biographyRow, w int) string {
	if r.Times <= 1 {
		return r.Cause.String()
	}
	in := " ×" + number(r.Times)
	if text := r.Cause.String() + in; width(text) <= w {
		return text
	}
	return shortCause(r.Cause) + in
}

func (b *biographyPage) grid(w int) grid {
	version := b.needed("RV", 10, 4, func(r *biographyRow) string { return r.ResourceVersion })
	version.right = true
	return b.table.grid(w, []column{
		fixedLeft("TIME", 12, 0).sorted(byTime, downwards),
		fixedLeft("", 1, 0),
		b.needed("CAUSE", maxCause, 1, func(r *biographyRow) string { return causeText(r, maxCause) }),
		version,
		b.needed("WRITER", 16, 3, func(r *biographyRow) string { return r.Writer }),
		fixed("WAITED", 6, 5),
		fixedLeft("HANDLERS", 8, 6),
		{title: "WHAT CHANGED", min: 20, max: 200, key: true},
	})
}

func (b *biographyPage) lines(t *theme, at time.Time, w, h int) []string {
	switch {
	case b.err != nil && !b.read:
		return b.failed(t, w, h)
	case !b.read:
		return nil
	case b.rows.matched == 0 && b.text != "":
		return message(t, w, h, "no event has "+b.text, count(len(b.events), "event is", "events are")+" known of this key. Searched are type, cause, resource version, UID, writer, reason and what changed.")
	case b.rows.matched == 0:
		return message(t, w, h, "nothing has happened yet", "Since the explorer looks, this key has not changed.")
	}
	below := min(biographyDetail, h/2)
	b.rows.setHeight(max(h-1-below, 1))
	g := b.grid(w)
	lines := []string{g.header(t)}
	lines = append(lines, b.rows.draw(w, func(r biographyRow, selected bool) string {
		return g.row(t, chosen(selected, true), part{}, b.cells(t, &r, g.widths[2])...)
	})...)
	if row, ok := b.rows.selected(); ok {
		lines = append(lines, newLine(w).String())
		lines = append(lines, eventDetail(t, at, &row, b.handled, w, below-1)...)
	}
	return lines
}

// eventType is the letter of what handlers were told, or of what they were not.
func eventType(t *theme, e *inspect.KeyEvent) part {
	kind := map[string]string{"added": "Added", "updated": "Updated", "deleted": "Deleted"}[e.Type]
	if kind == "" {
		return part{t.muted, "·"}
	}
	letter, st := t.delta(kind)
	if e.Skipped != "" {
		st = t.faint
	}
	return part{st, letter}
}

// cells draws an event; cause is how wide that column is.
func (b *biographyPage) cells(t *theme, r *biographyRow, cause int) []cell {
	waited := cell{st: t.faint, s: dash}
	if r.Waited > 0 {
		waited = cell{s: duration(r.Waited)}
		if r.Waited >= noticeable {
			waited.st = t.warn
		}
	}
	return []cell{
		{st: t.muted, s: clock(r.At)},
		{parts: []part{eventType(t, &r.KeyEvent)}},
		{s: causeText(r, cause)},
		{st: t.muted, s: r.ResourceVersion},
		{st: t.muted, s: orDash(r.Writer)},
		waited,
		deliveredCell(t, r.Deliveries),
		eventCell(t, r),
	}
}

// deliveredCell says how many handlers have been told of an event: have returned
// from the call.
func deliveredCell(t *theme, deliveries []inspect.Delivery) cell {
	if len(deliveries) == 0 {
		return cell{st: t.faint, s: dash}
	}
	done, merged := 0, 0
	for i := range deliveries {
		switch {
		case deliveries[i].Merged:
			merged++
		case !deliveries[i].Pending && !deliveries[i].Calling:
			done++
		}
	}
	c := cell{st: t.ok, s: number(done) + "/" + number(len(deliveries))}
	if done+merged < len(deliveries) {
		c.st = t.warn
	}
	return c
}

// mergedText says for how many other deltas an event stands, and why.
func mergedText(e *inspect.KeyEvent) string {
	return "and " + number(e.Merged) + " more, " + e.MergedWhy
}

// eventCell says what an event changed, or why nobody was told of it.
func eventCell(t *theme, r *biographyRow) cell {
	var out []part
	if r.newUID {
		out = append(out, part{t.warn, "another UID  "})
	}
	if r.Tombstone {
		out = append(out, part{t.warn, "tombstone  "})
	}
	if r.Merged > 0 {
		out = append(out, part{t.muted, "+" + number(r.Merged) + " more  "})
	}
	switch {
	case r.Skipped != "":
		out = append(out, part{t.muted, "skipped: " + r.Skipped})
	case len(r.Changed) == 1 && len(out) == 0:
		return cell{s: r.Changed[0]} // cut inside, if it must be: its end tells most
	case len(r.Changed) > 0:
		out = append(out, part{"", strings.Join(r.Changed, "  ")})
	case r.Compared:
		out = append(out, part{t.muted, "nothing but noise"})
	}
	return cell{parts: out}
}

// eventDetail says everything about one event in at most h lines.
func eventDetail(t *theme, at time.Time, r *biographyRow, handled bool, w, h int) []string {
	const label = 9
	row := func(name string, segments ...segment) string {
		return newLine(w).skip(gutter).left(t.muted, name, label).segments(3, segments...).String()
	}
	kind := eventType(t, &r.KeyEvent)
	title := newLine(w).skip(gutter).put(kind.st, kind.s).put(t.title, " "+orDash(r.Type)).put("", ", "+r.Cause.String())
	if r.Times > 1 {
		title.put(t.muted, ", "+number(r.Times)+" times in a row, the last")
	}
	title.put(t.muted, " at "+clock(r.At))
	lines := []string{title.String()}
	paragraph := func(name string, segments []segment) {
		for _, l := range prose(segments, w-gutter-label, 2, 0) {
			lines = append(lines, newLine(w).skip(gutter).left(t.muted, name, label).slice(l, 0).String())
			name = ""
		}
	}
	object := []segment{seg(0, "", "rv "+orDash(r.ResourceVersion))}
	if r.UID != "" {
		st := style("")
		if r.newUID {
			st = t.warn
		}
		object = append(object, seg(1, st, "uid "+r.UID))
	}
	if r.Writer != "" {
		object = append(object, seg(2, "", "written by "+r.Writer))
	}
	paragraph("object", object)
	switch {
	case r.Skipped != "":
		lines = append(lines, row("skipped", seg(0, t.warn, "handlers were not told: "+r.Skipped)))
	case len(r.Changed) > 0:
		var paths []segment
		for _, p := range r.Changed {
			paths = append(paths, seg(0, "", p))
		}
		paragraph("changed", paths)
	case r.Compared:
		lines = append(lines, row("changed", seg(0, t.muted, "nothing but resource version, managed fields and times")))
	}
	var queue []segment
	if r.Waited > 0 {
		queue = append(queue, seg(1, "", "waited "+duration(r.Waited)))
	}
	if r.Merged > 0 {
		queue = append(queue, seg(0, "", mergedText(&r.KeyEvent)))
	}
	if len(queue) > 0 {
		lines = append(lines, row("queue", queue...))
	}
	return append(lines, deliveryLines(t, at, r, handled, w, h-len(lines), label)...)
}

// deliveryLines says when each handler got an event and how long it took; handled
// says whether there are any.
func deliveryLines(t *theme, at time.Time, r *biographyRow, handled bool, w, h, label int) []string {
	var segments []segment
	for i := range r.Deliveries {
		d := &r.Deliveries[i]
		if d.Pending {
			segments = append(segments, segment{parts: []part{{"", d.Handler}, {t.warn, " waits for it"}}})
			continue
		}
		if d.Merged {
			segments = append(segments, segment{parts: []part{{"", d.Handler}, {t.muted, " was behind: merged into a later one"}}})
			continue
		}
		if d.Calling {
			segments = append(segments, segment{parts: []part{{"", d.Handler}, {t.warn, " in the call for " + sinceIn(at, d.Began)}}})
			continue
		}
		if d.Began.IsZero() {
			segments = append(segments, segment{parts: []part{{"", d.Handler}, {t.muted, " was told"}}})
			continue
		}
		after := ""
		if waited := d.Began.Sub(r.At); waited > 0 {
			after = " after " + duration(waited)
		}
		segments = append(segments, segment{parts: []part{{"", d.Handler}, {t.muted, after + ", took " + duration(d.Took)}}})
	}
	if len(segments) == 0 && r.Type != "" && handled {
		segments = []segment{seg(0, t.faint, "not recorded: nobody looked then, or too much has happened since")}
	}
	if len(segments) == 0 || h <= 0 {
		return nil
	}
	var lines []string
	for i, l := range prose(segments, w-gutter-label, h, 0) {
		name := ""
		if i == 0 {
			name = "handlers"
		}
		lines = append(lines, newLine(w).skip(gutter).left(t.muted, name, label).slice(l, 0).String())
	}
	return lines
}
