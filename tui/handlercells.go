package tui

import (
	"time"

	"github.com/informeter/informeter/engine/inspect"
)

// handlerCells draws a handler; marked says that it is one to look at.
func handlerCells(t *theme, s *inspect.Snapshot, l *inspect.ListenerVitals, marked bool) []cell {
	behind, st := t.muted, style("")
	if l.Pending > 0 {
		behind = ""
	}
	if l.Behind >= noticeable {
		st, behind = t.warn, t.warn
	}
	sync := []part{lamp(t, l.Synced)}
	if !l.Synced && l.InitialTotal > 0 {
		sync = append(sync, part{t.muted, " " + percent(l.InitialDelivered, l.InitialTotal)})
	}
	if marked {
		sync = append(sync, part{t.warn, " ⚠"})
	}
	granted := cell{s: period(l.ResyncGranted)}
	if resyncTooDear(l, s.Store.Objects) {
		granted.st = t.warn
	}
	return []cell{
		{s: handlerName(l)},
		{st: st, s: number(l.Pending)},
		{st: behind, s: duration(l.Behind)},
		latencyCell(t, &l.Time, l.Time.P50),
		latencyCell(t, &l.Time, l.Time.P99),
		{s: rate(l.Rate)},
		{st: t.muted, s: mainCause(l.Causes)},
		{st: t.muted, s: number(l.Conflated)},
		{st: t.muted, s: period(l.ResyncAsked)},
		granted,
		{st: t.muted, s: period(l.ResyncSeen)},
		{parts: sync},
	}
}

// handlerName names a handler, and what is special about it.
func handlerName(l *inspect.ListenerVitals) string {
	name := l.Name
	if l.Explorer {
		name += " (this screen)"
	}
	if l.Lab {
		name += " (lab, " + duration(l.Delay) + ")"
	}
	if l.Removing {
		name += " (removed)"
	}
	return name
}

func lamp(t *theme, on bool) part {
	if on {
		return part{t.ok, "●"}
	}
	return part{t.accent, "○"}
}

func latencyCell(t *theme, l *inspect.Latency, d time.Duration) cell {
	if l.Count == 0 {
		return cell{st: t.faint, s: dash}
	}
	return cell{s: duration(d)}
}

// period writes a resync period; zero is none.
func period(d time.Duration) string {
	if d == 0 {
		return dash
	}
	return duration(d.Round(100 * time.Millisecond))
}

// mainCause names the most frequent cause and its share.
func mainCause(c inspect.CauseCounts) string {
	total := c.Total()
	if total == 0 {
		return dash
	}
	cause, n := c.Largest()
	return shortCause(cause) + " " + percent(n, total)
}

// shortCause is a cause in at most nine characters.
func shortCause(c inspect.Cause) string {
	switch c {
	case inspect.CauseRelistChanged:
		return "relist"
	case inspect.CauseRelistUnchanged:
		return "unchanged"
	}
	return c.String()
}
