package tui

import (
	"strconv"
	"time"

	"github.com/informeter/informeter/engine/inspect"
)

// momentsPane shows the newest deltas that went through, the newest at the top:
// what came, why, how long it waited in the queue, and which handler took longest
// over it. A row that was selected stays selected while newer ones come above it,
// as far as it is still kept.
type momentsPane struct {
	rows list[inspect.Moment]
	read bool
	err  error
	// focus: it has the keys.
	focus bool
	// last: the user has gone to the oldest ones.
	last bool
	// longest and longestKey are the widths of the longest name of a handler and of
	// the longest key that were in sight.
	longest, longestKey int
}

// momentsReach is how many of the newest deltas can be reached.
const momentsReach = 1000

func newMomentsPane() momentsPane {
	return momentsPane{rows: list[inspect.Moment]{keyOf: func(m inspect.Moment) string { return strconv.FormatUint(m.Seq, 10) }}}
}

// momentsWidth is how wide the pane is at width w of the whole; 0 where it has no
// room.
func momentsWidth(w int) int {
	const handlers, least, most = 120, 56, 90
	if panes(w) < 3 {
		return 0
	}
	return max(min(w-handlers, most), least)
}

// ask asks for what can be seen where h lines are the most, and with the keys for
// as much again, so that a page down is there before it is asked for.
func (p *momentsPane) ask(r *request, h int) {
	limit := p.rows.top + h
	if p.focus {
		limit += 2 * h
	}
	if p.last {
		limit = momentsReach
	}
	r.moments = want(inspect.MomentQuery{Limit: min(limit, momentsReach)})
}

// turn gives the keys to the pane, or takes them away: then it shows the newest
// again.
func (p *momentsPane) turn(focus bool) {
	p.focus = focus
	if !focus {
		p.last = false
		p.rows.home()
	}
}

func (p *momentsPane) refresh(f *frame) {
	if !f.request.moments.on {
		return
	}
	if p.err = f.moments.err; !f.moments.ok {
		return
	}
	p.read = true
	all := f.moments.value.Moments
	p.rows.show(all, 0, len(all), len(all))
	if p.last && f.request.moments.query.Limit == momentsReach {
		p.last = false
		p.rows.moveTo(len(all) - 1)
	}
	own := explorerName(&f.snapshot.value)
	for i := range all[:min(len(all), p.rows.height)] {
		p.longestKey = max(p.longestKey, width(clean(all[i].Key)))
		for _, d := range all[i].Deliveries {
			if d.Handler != own {
				p.longest = max(p.longest, width(clean(d.Handler)))
			}
		}
	}
}

// there says whether the pane has something to show.
func (p *momentsPane) there() bool { return p.read || p.err != nil && !unsupported(p.err) }

// selected returns the key of the selected row; empty if there is none.
func (p *momentsPane) selected() string {
	row, _ := p.rows.selected()
	return row.Key
}

// handle does what movement actions ask for. more says that there may be older
// ones than those that are here.
func (p *momentsPane) handle(a Action, more bool) {
	p.last = a == ActionBottom && more
	p.rows.handle(a)
}

// status says how far back the selected row is.
func (p *momentsPane) status() string {
	switch {
	case p.rows.matched == 0:
		return ""
	case p.rows.pinned():
		return "following the newest"
	}
	return number(p.rows.cursor) + " newer ones"
}

// explorerName is what the explorer's own handler is called; empty if there is
// none.
func explorerName(s *inspect.Snapshot) string {
	for i := range s.Listeners {
		if l := &s.Listeners[i]; l.Explorer {
			return l.Name
		}
	}
	return ""
}

// besideNames is how wide everything but keys, causes and handlers is: the mark of
// a row, the type, how long it waited and how long the handler took.
const besideNames = gutter + 1 + 6 + 6 + 4*columnGap

// needs is how wide the pane has to be for all names in it to be whole.
func (p *momentsPane) needs() int { return border + besideNames + p.longestKey + p.longest + 1 }

// widths shares out w cells between the keys and the handlers: the cause goes where
// keys would be cut, then handlers are.
func (p *momentsPane) widths(w int) (key, handler int) {
	const leastKey, leastHandler, shortHandler, cause = 16, 10, 16, 9 + columnGap
	w -= besideNames
	key = max(min(p.longestKey, w-leastHandler), leastKey)
	handler = max(p.longest, 7)
	if key+min(handler, shortHandler)+cause <= w {
		w -= cause
	}
	return key, min(handler, max(w-key, leastHandler))
}

func (p *momentsPane) lines(t *theme, s *inspect.Snapshot, w, h int) []string {
	own := explorerName(s)
	key, handler := p.widths(w - 1)
	g := newGrid(w,
		flexible("JUST NOW", key, max(key, 60)),
		fixedLeft("", 1, 0),
		fixedLeft("CAUSE", 9, 2),
		fixed("WAITED", 6, 0),
		fixedLeft("SLOWEST", handler, 1),
		fixed("TOOK", 6, 1),
	)
	g.focus = p.focus
	rows := append([]string{g.header(t)}, p.rows.draw(w, func(m inspect.Moment, selected bool) string {
		letter, st := t.delta(deltaType(m.Type))
		waited := cell{st: t.faint, s: dash}
		if d := m.Popped.Sub(m.Enqueued); !m.Enqueued.IsZero() && !m.Popped.IsZero() {
			waited = cell{s: duration(d)}
		}
		name, took := slowestDelivery(t, s.At, m.Deliveries, own)
		return g.row(t, chosen(selected && p.focus, true), part{}, cell{s: m.Key}, cell{st: st, s: letter}, cell{st: t.muted, s: shortCause(m.Cause)}, waited, name, took)
	})...)
	switch {
	case p.err != nil:
		rows = append(rows[:1], newLine(w).skip(gutter).put(t.bad, p.err.Error()).String())
	case p.rows.matched == 0:
		rows = append(rows[:1], newLine(w).skip(gutter).put(t.muted, "nothing yet").String())
	}
	return block(rows, w, h)
}

// deltaType is the type of the delta that handlers are told of as told.
func deltaType(told string) string {
	switch told {
	case "added":
		return "Added"
	case "updated":
		return "Updated"
	case "deleted":
		return "Deleted"
	}
	return told
}

// slowestDelivery names the handler that took longest, or one that has not been
// told yet; a call that has not returned takes as long as it has lasted, marked; own is the explorer's, which does not count.
func slowestDelivery(t *theme, at time.Time, deliveries []inspect.Delivery, own string) (name, took cell) {
	none := cell{st: t.faint, s: dash}
	name, took = none, none
	most := time.Duration(-1)
	for _, d := range deliveries {
		switch {
		case d.Handler == own, d.Merged:
		case d.Pending:
			return cell{s: d.Handler}, cell{st: t.warn, s: "waits"}
		case d.Calling:
			if so := max(at.Sub(d.Began), 0); so > most {
				most = so
				name, took = cell{s: d.Handler}, cell{st: t.ok, s: "▶" + duration(so)}
			}
		case d.Took > most:
			most = d.Took
			name, took = cell{st: t.muted, s: d.Handler}, cell{s: duration(d.Took)}
		}
	}
	return name, took
}
