package tui

import (
	"github.com/informeter/informeter/engine/inspect"
)

// requests lists the newest requests, where h lines are enough for some.
func (p *pipelineScreen) requests(t *theme, s *inspect.Snapshot, h int) []string {
	const least = 4
	if h < least || len(s.Requests.Last) == 0 {
		return nil
	}
	g := newGrid(p.left(),
		fixedLeft("REQUEST", 9, 0),
		fixed("AGO", 6, 0),
		fixed("LASTED", 6, 2),
		fixed("ITEMS", 9, 0),
		fixed("BOOKMARKS", 9, 4),
		fixed("FROM RV", 12, 3),
		column{title: "OUTCOME", min: 24, max: 100},
	)
	lines := []string{newLine(p.left()).String(), g.header(t)}
	for i, v := range judge(s.Requests.Last, s.At)[:min(len(s.Requests.Last), h-len(lines))] {
		lines = append(lines, g.row(t, plainRow, part{}, requestCells(t, s, &requestRow{s.Requests.Last[i], v})...))
	}
	return lines
}

func requestCells(t *theme, s *inspect.Snapshot, r *requestRow) []cell {
	glyph, st := outcomeMark(t, r)
	outcome := cell{st: st, s: glyph + " " + r.verdict.words}
	if r.Error != "" {
		outcome.s += ": " + firstLine(inspect.PlainError(r.Error))
	}
	if r.Next != "" && (!r.Ended.IsZero() || r.Marked.IsZero()) {
		outcome.s += ", then " + r.Next
	}
	version := r.ResourceVersion
	if version == "" {
		version = dash
	}
	return []cell{
		{s: string(r.Verb)},
		{st: t.muted, s: ago(s.At, r.Started)},
		{s: life(lasted(s.At, &r.Request))},
		{s: number(r.Items)},
		{st: t.muted, s: number(r.Bookmarks)},
		{st: t.muted, s: version},
		outcome,
	}
}
