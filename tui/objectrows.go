package tui

import (
	"strconv"
	"time"

	"github.com/informeter/informeter/engine/inspect"
)

// objectRows is a list of objects, as the store and a bucket show it. It is
// sorted and filtered behind the Inspector.
type objectRows struct {
	list[inspect.Row]
	*table
	err  error
	read bool
	// scanned is how many objects order and filter have been worked out for.
	scanned int
	// longest, versions and writers are the widths of the longest key, resource
	// version and writer that was in sight, filled the columns that had something in
	// them: once seen, so that columns do not come and go with single rows. That
	// something waits says nothing before the queue stands still for a moment.
	longest, versions, writers int
	filled                     map[string]bool
}

func newObjectRows(t *table) objectRows {
	o := objectRows{list: list[inspect.Row]{keyOf: func(r inspect.Row) string { return r.Key }}, table: t}
	o.forget()
	return o
}

// forget starts to look anew at what is in the columns.
func (o *objectRows) forget() {
	o.longest, o.versions, o.writers, o.filled = 0, 0, 0, map[string]bool{}
}

// byKey says whether the rows are in the order of their keys.
func (o *objectRows) byKey() bool { return o.order.by == string(inspect.SortKey) }

// query asks for the rows in sight.
func (o *objectRows) query(filter string) inspect.Query {
	o.byCursor = !o.byKey()
	w := o.window()
	return inspect.Query{
		Filter: filter, Sort: inspect.Sort(o.order.by), Desc: bool(o.order.desc),
		Cursor: w.cursor, Offset: w.offset, Limit: w.limit,
	}
}

// answers says whether the rows read for a query are those to be shown.
func (o *objectRows) answers(q *inspect.Query, filter string) bool {
	return q.Filter == filter && q.Sort == inspect.Sort(o.order.by) && q.Desc == bool(o.order.desc)
}

func (o *objectRows) take(m *Model, a answer[inspect.Page]) {
	if a.err != nil && unsupported(a.err) && !o.byKey() {
		m.note = "this informer can't sort by " + o.order.by
		o.order = order{by: string(inspect.SortKey)}
		o.home()
		return
	}
	o.err = a.err
	if !a.ok {
		return
	}
	o.read, o.scanned = true, a.value.Scanned
	o.show(a.value.Rows, a.value.Start, a.value.Matched, a.value.Total)
	stands := m != nil && m.snapshot().Queue.Age >= noticeable
	for rank := o.top; rank < o.top+o.height; rank++ {
		if i := rank - o.start; i >= 0 && i < len(o.rows) {
			o.look(&o.rows[i], stands)
		}
	}
	if m != nil && m.snapshot().Queue.Deltas == 0 {
		o.filled["WAITING"] = false
	}
}

// look notes what a row in sight has in its columns.
func (o *objectRows) look(r *inspect.Row, stands bool) {
	o.longest = max(o.longest, width(clean(r.Key)))
	o.versions = max(o.versions, width(clean(r.ResourceVersion)))
	o.writers = max(o.writers, width(clean(r.Writer)))
	for title, is := range map[string]bool{
		"CHANGED": !r.Changed.IsZero(), "UPDATES": r.Updates > 0, "RATE/s": r.Rate >= leastRate, "NO-OP": r.Compared > 0,
		"WRITER": r.Writer != "", "SIZE": r.Size > 0, "WAITING": stands && r.Waiting > 0,
	} {
		if is {
			o.filled[title] = true
		}
	}
}

// leastRate is the lowest rate that is not written as none.
const leastRate = 0.005

// columns are those of an object. There go first those that have nothing in
// them; a key is not cut while there is another column to drop.
func (o *objectRows) columns(w int) []column {
	least := max(min(o.longest, w*2/3), 24)
	columns := []column{
		flexible("KEY", least, max(o.longest+2, min(40, w/2))).sorted(string(inspect.SortKey), upwards),
		fixed("AGE", 6, 2).sorted(string(inspect.SortAge), upwards),
		fixed("RV", max(min(o.versions, 14), 6), 8).sorted(string(inspect.SortVersion), downwards),
		fixed("CHANGED", 7, 1).sorted(string(inspect.SortChanged), downwards),
		fixed("UPDATES", 8, 4).sorted(string(inspect.SortUpdates), downwards),
		fixed("RATE/s", 6, 3).sorted(string(inspect.SortRate), downwards),
		fixed("NO-OP", 5, 6).sorted(string(inspect.SortNoOps), downwards),
		fixedLeft("WRITER", max(min(o.writers, 24), 10), 7).sorted(string(inspect.SortWriter), upwards),
		fixed("SIZE", 6, 9).sorted(string(inspect.SortSize), downwards),
		fixed("WAITING", 7, 10), // the Queue says it, too: it takes no other one's place
	}
	for i := range columns {
		if c := &columns[i]; i > 2 {
			c.empty = !o.filled[c.title]
		}
	}
	waiting := &columns[len(columns)-1]
	waiting.hidden = waiting.empty
	return columns
}

// handle moves, or changes the order.
func (o *objectRows) handle(a Action, w int) {
	if o.table.handle(a, o.columns(w)) {
		o.home()
		return
	}
	o.list.handle(a)
}

// clickTitle sorts by the column whose title was clicked.
func (o *objectRows) clickTitle(x, w int) {
	if c := o.grid(w, o.columns(w)).at(x); c != nil && c.by != "" {
		o.sortBy(c)
		o.home()
	}
}

// working says how far the order is worked out, while it is not.
func (o *objectRows) working() string {
	if o.scanned == 0 || o.scanned >= o.total {
		return ""
	}
	return number(o.scanned) + " of " + number(o.total)
}

// status says where in the rows one is, and in which order they are.
func (o *objectRows) status(filter string) string {
	s := place(o.cursor, o.matched, o.total, filter)
	if o.working() != "" {
		verb := "sorting "
		if o.byKey() {
			verb = "filtering "
		}
		return verb + o.working()
	}
	if !o.byKey() && s != "" {
		s += " by " + o.title(o.columns(120))
		if o.order.by == string(inspect.SortChanged) && o.order.desc == downwards && o.pinned() && o.matched > 0 {
			s = "following the newest of " + number(o.matched)
		}
	}
	return s
}

// draw returns the title line and height rows.
func (o *objectRows) draw(t *theme, at time.Time, w int, focus bool, filter string) []string {
	g := o.grid(w, o.columns(w))
	found := highlighter(filter)
	lines := []string{g.header(t)}
	return append(lines, o.list.draw(w, func(r inspect.Row, selected bool) string {
		return g.row(t, chosen(selected, focus), part{}, objectCells(t, at, &r, found)...)
	})...)
}

func objectCells(t *theme, at time.Time, r *inspect.Row, found func(string) [][2]int) []cell {
	none := cell{st: t.faint, s: dash}
	updates, changed, pace, noOps, writer, size, waiting := none, none, none, none, none, none, none
	if r.Updates > 0 {
		updates = cell{s: number(r.Updates)}
	}
	if !r.Changed.IsZero() {
		changed = cell{s: since(at, r.Changed)}
		if at.Sub(r.Changed) < 2*time.Second {
			changed.st = t.accent
		}
	}
	if r.Rate >= leastRate {
		pace = cell{s: fineRate(r.Rate)}
	}
	if r.Compared > 0 {
		noOps = cell{s: percent(r.NoOps, r.Compared)}
		if r.NoOps*2 > r.Compared && r.Compared > 4 {
			noOps.st = t.warn
		}
	}
	if r.Writer != "" {
		writer = cell{st: t.muted, s: r.Writer}
	}
	if r.Size > 0 {
		size = cell{st: t.muted, s: byteCount(int64(r.Size))}
	}
	if r.Waiting > 0 {
		waiting = cell{st: t.warn, s: number(r.Waiting)}
	}
	return []cell{
		{s: r.Key, found: found(r.Key)},
		{s: since(at, r.Created)},
		{st: t.muted, s: r.ResourceVersion},
		changed, updates, pace, noOps, writer, size, waiting,
	}
}

// fineRate writes how many a second where most are less than one.
func fineRate(r float64) string {
	if r < 0.995 {
		return strconv.FormatFloat(r, 'f', 2, 64)
	}
	return rate(r)
}

// byteCount writes a size in at most five characters.
func byteCount(n int64) string {
	const unit = 1024
	switch {
	case n < unit:
		return strconv.FormatInt(n, 10) + "B"
	case n < 10*unit:
		return strconv.FormatFloat(float64(n)/unit, 'f', 1, 64) + "k"
	case n < unit*unit:
		return strconv.FormatInt(n/unit, 10) + "k"
	case n < 10*unit*unit:
		return strconv.FormatFloat(float64(n)/(unit*unit), 'f', 1, 64) + "M"
	case n < unit*unit*unit:
		return strconv.FormatInt(n/(unit*unit), 10) + "M"
	}
	return strconv.FormatFloat(float64(n)/(unit*unit*unit), 'f', 1, 64) + "G"
}
