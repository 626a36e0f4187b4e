package tui

import (
	"regexp"
	"time"

	"github.com/informeter/informeter/engine/inspect"
)

// waits is what waits in the queue for one key, the oldest first.
type waits struct {
	inFlight bool
	position int // from the head, of the oldest; -1 while in flight
	deltas   []inspect.DeltaInfo
	more     int
}

// waitsQuery asks for what waits for a key: one entry, or with a queue that keeps
// every event in order some.
func waitsQuery(key string) inspect.QueueQuery {
	return inspect.QueueQuery{Filter: "/^" + regexp.QuoteMeta(key) + "$/", Limit: 16}
}

// waitsOf gathers the entries of the key; others, which an expression finds that
// does not tell capitals apart, are left out.
func waitsOf(key string, page *inspect.QueuePage) waits {
	w := waits{}
	for i := range page.Items {
		item := &page.Items[i]
		if item.Key != key {
			continue
		}
		if len(w.deltas) == 0 {
			w.position = item.Position
		}
		w.inFlight = w.inFlight || item.InFlight
		w.deltas = append(w.deltas, item.Deltas...)
		w.more += item.More
	}
	return w
}

// draw says what waits and for how long; nothing if nothing does.
func (q *waits) draw(t *theme, w int) string {
	if len(q.deltas) == 0 {
		return ""
	}
	where := "in the queue, next"
	switch {
	case q.inFlight:
		where = "being handled"
	case q.position > 0:
		where = "in the queue, after " + number(q.position)
	}
	l := newLine(w).skip(gutter).put(t.warn, count(len(q.deltas)+q.more, "delta", "deltas")).put("", " "+where)
	for i := range q.deltas {
		d := &q.deltas[i]
		letter, st := t.delta(d.Type)
		text := " " + age(d.Age.Truncate(time.Millisecond))
		last := i == len(q.deltas)-1 && q.more == 0
		if room := l.room() - 2 - 1 - width(text); room < 0 || !last && room < 3+len("+99 more") {
			return l.skip(2).put(t.muted, "+"+number(len(q.deltas)-i+q.more)+" more").String()
		}
		l.skip(2).put(st, letter).put("", text)
	}
	if q.more > 0 {
		l.skip(2).put(t.muted, "+"+number(q.more)+" more")
	}
	return l.String()
}
