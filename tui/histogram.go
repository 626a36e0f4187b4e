package tui

import (
	"math/bits"
	"strings"
	"time"

	"github.com/informeter/informeter/engine/inspect"
)

// placeOfBand returns the number of the band that begins at from; neighbours follow
// each other. See inspect.Band.
func placeOfBand(from time.Duration) int {
	if from < 2 {
		return 0 // bands shorter than a nanosecond there are none
	}
	n := bits.Len64(uint64(from)) - 1
	return 2*n + int(uint64(from)>>(n-1)&1)
}

// histogram is how calls are spread over time, to be looked at.
type histogram struct {
	counts   []uint64 // of neighbouring bands of equal size on a scale of powers
	from, to time.Duration
	// each is how many cells a count is wide.
	each int
}

// newHistogram lays the bands out in w cells at most: what has no room falls
// together with its neighbours.
func newHistogram(bands []inspect.Band, w int) histogram {
	const widest = 3
	if len(bands) == 0 || w <= 0 {
		return histogram{}
	}
	first, last := placeOfBand(bands[0].From), placeOfBand(bands[len(bands)-1].From)
	together := 1
	for (last-first)/together+1 > w {
		together++
	}
	n := (last-first)/together + 1
	h := histogram{
		counts: make([]uint64, n), from: bands[0].From, to: bands[len(bands)-1].To,
		each: max(min(w/n, widest), 1),
	}
	for _, b := range bands {
		h.counts[(placeOfBand(b.From)-first)/together] += b.Count
	}
	return h
}

// width is how many cells it takes.
func (h *histogram) width() int { return len(h.counts) * h.each }

// bars draws it in so many lines, the upper one first: whatever there is any of
// shows.
func (h *histogram) bars(rows int) []string {
	most := uint64(0)
	for _, n := range h.counts {
		most = max(most, n)
	}
	lines := make([]string, rows)
	var b strings.Builder
	for row := range rows {
		b.Reset()
		under := (rows - 1 - row) * len(levels)
		for _, n := range h.counts {
			height := 0
			if n > 0 {
				height = max(int(float64(n)/float64(most)*float64(rows*len(levels))+0.5), 1)
			}
			glyph := " "
			if height > under {
				glyph = levels[min(height-under, len(levels))-1]
			}
			b.WriteString(strings.Repeat(glyph, max(h.each-1, 1)))
			if h.each > 1 {
				b.WriteByte(' ')
			}
		}
		lines[row] = b.String()
	}
	return lines
}

// histogramLines draws how the calls of a handler are spread, with the ends of
// the scale under it; label is how wide the field of names is. Nothing if it was
// not called lately.
func histogramLines(t *theme, l *inspect.ListenerVitals, w, label, rows int) []string {
	h := newHistogram(l.Spread, w-gutter-label-1)
	if len(h.counts) == 0 || rows < 1 {
		return nil
	}
	var lines []string
	for i, bar := range h.bars(rows) {
		name := ""
		if i == rows-1 {
			name = "latency"
		}
		lines = append(lines, newLine(w).skip(gutter).left(t.muted, name, label).put(t.accent, bar).String())
	}
	from, to := duration(h.from), duration(h.to)
	axis := newLine(w).skip(gutter + label)
	if gap := h.width() - width(from) - width(to); gap > 0 {
		axis.put(t.faint, from).skip(gap).put(t.faint, to)
	} else {
		axis.put(t.faint, from+" to "+to)
	}
	return append(lines, axis.String())
}
