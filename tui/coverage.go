package tui

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/informeter/informeter/engine/inspect"
)

// coverage is how much of the time a stream was open that kept the cache up to
// date. Between the end of one and the next the cache answers with what it held.
type coverage struct {
	from time.Time // of the first stream; the zero time if there was none
	gaps []gap     // the newest first
}

// gap is a time without a stream.
type gap struct {
	from, to time.Time
	after    *requestRow // the stream that ended
	open     bool        // it lasts
}

// covered works out the gaps between streams in requests that are the newest
// first.
func covered(rows []requestRow, now time.Time) coverage {
	c := coverage{}
	var until time.Time // up to which there was a stream
	var last *requestRow
	for i := len(rows) - 1; i >= 0; i-- {
		r := &rows[i]
		begin, ok := streamed(&r.Request)
		if !ok {
			continue
		}
		if last == nil {
			c.from = begin
		} else if !until.IsZero() && begin.After(until) {
			c.gaps = append(c.gaps, gap{from: until, to: begin, after: last})
		}
		last = r
		if r.Ended.IsZero() {
			until = time.Time{} // as long as it is open
		} else if until.IsZero() || r.Ended.After(until) {
			until = r.Ended
		}
	}
	if last != nil && !until.IsZero() && now.After(until) {
		c.gaps = append(c.gaps, gap{from: until, to: now, after: last, open: true})
	}
	slices.Reverse(c.gaps)
	return c
}

// streamed returns from when on a request kept the cache up to date; false if it
// never did. One that failed before anything came is taken not to have.
func streamed(r *inspect.Request) (from time.Time, ok bool) {
	switch {
	case r.Verb == inspect.VerbWatchList:
		return r.Marked, !r.Marked.IsZero()
	case r.Verb != inspect.VerbWatch:
		return time.Time{}, false
	}
	switch r.Outcome {
	case inspect.OutcomeExpired, inspect.OutcomeTooNew, inspect.OutcomeRefused, inspect.OutcomeFailed:
		return r.Started, r.Items > 0 || r.Bookmarks > 0
	}
	return r.Started, true
}

// blind returns how long there was no stream in all, and the longest gap.
func (c *coverage) blind() (total time.Duration, longest gap) {
	for _, g := range c.gaps {
		total += g.to.Sub(g.from)
		if g.to.Sub(g.from) > longest.to.Sub(longest.from) {
			longest = g
		}
	}
	return total, longest
}

// ending is how often requests ended in one way.
type ending struct {
	row   *requestRow // the newest of them
	times int
	lives []time.Duration
	items int
}

// endings counts how requests ended, the most frequent first.
func endings(rows []requestRow, now time.Time) []ending {
	var all []ending
	at := map[string]int{}
	for i := range rows {
		r := &rows[i]
		key := string(r.Verb) + " " + r.verdict.name()
		k, ok := at[key]
		if !ok {
			k = len(all)
			at[key] = k
			all = append(all, ending{row: r})
		}
		all[k].times++
		all[k].lives = append(all[k].lives, lasted(now, &r.Request))
		all[k].items += max(r.Items, 0)
	}
	slices.SortStableFunc(all, func(a, b ending) int { return cmp.Compare(b.times, a.times) })
	return all
}

// name is the verdict's words without how often in a row.
func (v *verdict) name() string {
	name, _, _ := strings.Cut(v.words, " ×")
	return name
}

// median returns the middle one of how long they lasted.
func (e *ending) median() time.Duration {
	lives := slices.Sorted(slices.Values(e.lives))
	return lives[len(lives)/2]
}

// coveragePane says what all the requests together come to: how much of the time
// the cache was kept up to date, how requests ended, and when nothing was heard
// from the server.
func coveragePane(t *theme, s *inspect.Snapshot, rows []requestRow, w, h int) []string {
	inner := w - border
	c := covered(rows, s.At)
	lines := c.head(t, s, inner)
	lines = append(lines, newLine(inner).String())

	g := newGrid(inner, fixedLeft("BY VERDICT", 27, 0), fixed("TIMES", 5, 0), fixed("MEDIAN", 6, 0), fixed("ITEMS", 6, 1), fixedLeft("", 12, 2))
	lines = append(lines, g.header(t))
	ends := endings(rows, s.At)
	for i := range ends[:min(len(ends), max(h/2-len(lines), 3))] {
		e := &ends[i]
		glyph, st := outcomeMark(t, e.row)
		verb := newLine(g.widths[0]).left(t.muted, string(e.row.Verb), 10).put(st, glyph+" "+e.row.verdict.name())
		lines = append(lines, newLine(inner).skip(gutter).place("", verb.String()).skip(columnGap).
			slice(g.row(t, plainRow, part{}, cell{}, cell{s: number(e.times)}, cell{s: life(e.median())}, cell{st: t.muted, s: compact(uint64(e.items))},
				cell{st: t.accent, s: bar(float64(e.times), float64(len(rows)), 12)}), gutter+g.widths[0]+columnGap).String())
	}
	lines = append(lines, newLine(inner).String())
	return bordered(t, append(lines, c.list(t, s, inner, h-len(lines))...), w, h)
}

// head says how much of the time there was a stream.
func (c *coverage) head(t *theme, s *inspect.Snapshot, w int) []string {
	line := func(name string, segments ...segment) string {
		return newLine(w).skip(gutter).left(t.muted, name, 9).segments(3, segments...).String()
	}
	if c.from.IsZero() {
		return []string{newLine(w).skip(gutter).put(t.muted, "THE CACHE").String(), line("followed", seg(0, t.warn, "not yet: no stream has been open"))}
	}
	total := s.At.Sub(c.from)
	blind, longest := c.blind()
	part := percent(uint64(max(total-blind, 0)), uint64(max(total, 0)))
	if blind == 0 {
		part = "100%" // of no time at all, too
	}
	lines := []string{
		newLine(w).skip(gutter).put(t.muted, "THE CACHE, SINCE "+c.from.Format("15:04:05")).String(),
		line("followed", seg(0, "", part+" of "+life(total)), seg(1, t.ok, bar(float64(total-blind), float64(total), min(30, max(w-34, 0))))),
	}
	if blind == 0 {
		return append(lines, line("gaps", seg(0, t.muted, "none: one stream followed the other")))
	}
	return append(lines, line("gaps", seg(0, "", duration(blind)+" in "+count(len(c.gaps), "gap", "gaps")), seg(1, t.muted, "the longest "+duration(longest.to.Sub(longest.from)))))
}

// list shows the longest gaps.
func (c *coverage) list(t *theme, s *inspect.Snapshot, w, h int) []string {
	if len(c.gaps) == 0 || h < 2 {
		return nil
	}
	gaps := slices.Clone(c.gaps)
	slices.SortStableFunc(gaps, func(a, b gap) int { return cmp.Compare(b.to.Sub(b.from), a.to.Sub(a.from)) })
	g := newGrid(w, fixedLeft("LONGEST GAPS", 12, 0), fixed("AGO", 6, 1), fixed("LASTED", 6, 0), column{title: "AFTER", min: 14, max: 40})
	lines := []string{g.header(t)}
	for i := range gaps[:min(len(gaps), h-1)] {
		gap := &gaps[i]
		glyph, st := outcomeMark(t, gap.after)
		lasted := cell{s: duration(gap.to.Sub(gap.from))}
		if gap.open {
			lasted.st = t.warn
		}
		lines = append(lines, g.row(t, plainRow, part{}, cell{s: clock(gap.from)}, cell{st: t.muted, s: ago(s.At, gap.from)}, lasted,
			cell{st: st, s: glyph + " " + gap.after.verdict.name()}))
	}
	return lines
}
