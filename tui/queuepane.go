package tui

import "github.com/informeter/informeter/engine/inspect"

// waitingPane shows what waits for the selected key, the oldest first, and under
// it the object as it is in the store: what the deltas are about to change.
func (p *queueScreen) waitingPane(t *theme, w, h int) []string {
	row, ok := p.rows.selected()
	if !ok {
		return bordered(t, nil, w, h)
	}
	inner := w - border
	name, whole := queueName(&row)
	lines := []string{newLine(inner).skip(gutter).key(t.strong, name, inner-gutter).String()}
	lines = append(lines, waitingLines(t, &row, inner, max(h/2-len(lines), 2))...)
	if whole {
		lines = append(lines, newLine(inner).String(), newLine(inner).skip(gutter).put(t.muted, "This entry stands for many objects.").String())
		return bordered(t, lines, w, h)
	}
	lines = append(lines, newLine(inner).String())
	lines = append(lines, p.preview.title(t, inner, "in the store now", row.Key)...)
	lines = append(lines, p.preview.body(t, p.m.frame, inner, h-len(lines), row.Key)...)
	return bordered(t, lines, w, h)
}

// waitingLines lists the deltas of one key in at most h lines, of which the first
// says where it stands in the queue.
func waitingLines(t *theme, i *inspect.QueueItem, w, h int) []string {
	place := newLine(w).skip(gutter)
	if i.InFlight {
		place.put(t.ok, "in flight")
	} else {
		place.put(t.muted, "no. "+number(i.Position+1))
	}
	waiting := len(i.Deltas) + i.More
	place.put(t.muted, ", "+count(waiting, "delta", "deltas"))
	g := newGrid(w,
		column{title: "OLDEST FIRST", min: 12, max: 12},
		fixedLeft("CAUSE", 9, 0), // a queue knows the short ones only
		fixed("AGE", 6, 0),
		fixed("RV", 12, 1),
		column{min: 9, max: 24, drop: 2},
	)
	lines := []string{place.String(), g.header(t)}
	room := h - len(lines)
	shown := i.Deltas[:min(len(i.Deltas), max(room, 0))]
	if len(shown) < waiting && len(shown) == room {
		shown = shown[:max(len(shown)-1, 0)]
	}
	for n := range shown {
		d := &shown[n]
		letter, st := t.delta(d.Type)
		note := cell{}
		switch {
		case d.Tombstone:
			note = cell{st: t.warn, s: "tombstone"}
		case d.Objects > 1:
			note = cell{st: t.muted, s: count(d.Objects, "object", "objects")}
		}
		lines = append(lines, g.row(t, plainRow, part{},
			cell{parts: []part{{st, letter}, {"", " " + d.Type}}}, cell{st: t.muted, s: d.Cause.String()},
			cell{s: duration(d.Age)}, cell{st: t.muted, s: d.ResourceVersion}, note))
	}
	if more := waiting - len(shown); more > 0 {
		lines = append(lines, newLine(w).skip(gutter).put(t.faint, number(more)+" more").String())
	}
	return lines
}

// detail says of each delta of the selected key why it came and how long it has
// waited, the oldest first, and how many more there are than have room.
func (p *queueScreen) detail(t *theme) string {
	row, ok := p.rows.selected()
	if !ok {
		return p.blank()
	}
	const gap = 3
	l := newLine(p.w).skip(gutter)
	if row.InFlight {
		l.put(t.ok, "in flight")
	} else {
		l.put(t.muted, "no. "+number(row.Position+1))
	}
	waiting := len(row.Deltas) + row.More
	for n := range row.Deltas {
		d := &row.Deltas[n]
		letter, st := t.delta(d.Type)
		text := " " + d.Cause.String() + " " + duration(d.Age)
		if d.Tombstone {
			text += " tombstone"
		}
		if d.Objects > 1 {
			text += " of " + number(d.Objects) + " objects"
		}
		need := gap + width(letter+text)
		if left := waiting - n - 1; left > 0 {
			need += gap + width(moreText(left))
		}
		if need > l.room() {
			return l.skip(gap).put(t.muted, moreText(waiting-n)).String()
		}
		l.skip(gap).put(st, letter).put("", text)
	}
	if row.More > 0 {
		l.skip(gap).put(t.muted, moreText(row.More))
	}
	return l.String()
}

// moreText says that there are n more.
func moreText(n int) string { return "+" + number(n) + " more" }
