package tui

import (
	"time"

	"github.com/informeter/informeter/engine/inspect"
)

// momentsPane shows the newest deltas that went through, the newest at the top:
// what came, why, how long it waited in the queue, and which handler took longest
// over it.
type momentsPane struct {
	page inspect.MomentPage
	read bool
	err  error
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

func (p *momentsPane) ask(r *request, rows int) { r.moments = want(inspect.MomentQuery{Limit: rows}) }

func (p *momentsPane) refresh(f *frame) {
	if !f.request.moments.on {
		return
	}
	if p.err = f.moments.err; f.moments.ok {
		p.page, p.read = f.moments.value, true
	}
}

// there says whether the pane has something to show.
func (p *momentsPane) there() bool { return p.read || p.err != nil && !unsupported(p.err) }

// keyAt returns the key of the row drawn y rows below the first; empty if there is
// none.
func (p *momentsPane) keyAt(y int) string {
	if y < 0 || y >= len(p.page.Moments) {
		return ""
	}
	return p.page.Moments[y].Key
}

func (p *momentsPane) lines(t *theme, s *inspect.Snapshot, w, h int) []string {
	own := ""
	for i := range s.Listeners {
		if l := &s.Listeners[i]; l.Explorer {
			own = l.Name
		}
	}
	g := newGrid(w-border,
		flexible("JUST NOW", 16, 60),
		fixedLeft("", 1, 0),
		fixedLeft("CAUSE", 9, 2),
		fixed("WAITED", 6, 0),
		fixedLeft("SLOWEST", 16, 1),
		fixed("TOOK", 6, 1),
	)
	rows := []string{g.header(t)}
	for i := range p.page.Moments {
		m := &p.page.Moments[i]
		if len(rows) >= h {
			break
		}
		letter, st := t.delta(deltaType(m.Type))
		waited := cell{st: t.faint, s: dash}
		if d := m.Popped.Sub(m.Enqueued); !m.Enqueued.IsZero() && !m.Popped.IsZero() {
			waited = cell{s: duration(d)}
		}
		name, took := slowestDelivery(t, m.Deliveries, own)
		rows = append(rows, g.row(t, plainRow, part{}, cell{s: m.Key}, cell{st: st, s: letter}, cell{st: t.muted, s: shortCause(m.Cause)}, waited, name, took))
	}
	switch {
	case p.err != nil:
		rows = append(rows, newLine(w-border).skip(gutter).put(t.bad, p.err.Error()).String())
	case len(p.page.Moments) == 0:
		rows = append(rows, newLine(w-border).skip(gutter).put(t.muted, "nothing yet").String())
	}
	return bordered(t, rows, w, h)
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
// told yet; own is the explorer's, which does not count.
func slowestDelivery(t *theme, deliveries []inspect.Delivery, own string) (name, took cell) {
	none := cell{st: t.faint, s: dash}
	name, took = none, none
	most := time.Duration(-1)
	for _, d := range deliveries {
		switch {
		case d.Handler == own:
		case d.Pending:
			return cell{s: d.Handler}, cell{st: t.warn, s: "waits"}
		case d.Took > most:
			most = d.Took
			name, took = cell{st: t.muted, s: d.Handler}, cell{s: duration(d.Took)}
		}
	}
	return name, took
}
