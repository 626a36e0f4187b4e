package tui

import tea "charm.land/bubbletea/v2"

// shown returns the levels that can be seen: those around the one with the keys.
func (p *indicesScreen) shown() (from, to int) {
	n := panes(p.w)
	from = max(min(p.focus-n+2, levelCount-n), 0)
	if n == 1 {
		from = p.focus
	}
	return from, from + n
}

func (p *indicesScreen) wheel(n int) {
	switch p.focus {
	case levelIndices:
		p.indices.scroll(n)
	case levelBuckets:
		p.buckets.scroll(n)
	default:
		p.objects.scroll(n)
	}
	p.follow()
}

func (p *indicesScreen) click(x, y int) tea.Cmd {
	from, to := p.shown()
	for level := from; level < to; level++ {
		left, w := p.rectOf(level)
		if x < left || x >= left+w {
			continue
		}
		was := p.focus
		p.focus = level
		if y == p.paneHead()-1 {
			p.clickTitle(level, x-left, w)
			break
		}
		again := false
		switch level {
		case levelIndices:
			_, again = p.indices.click(y - p.paneHead())
		case levelBuckets:
			_, again = p.buckets.click(y - p.paneHead())
		default:
			_, again = p.objects.click(y - p.paneHead())
		}
		if again && was == level {
			p.open()
		}
		p.follow()
	}
	return nil
}

// clickTitle sorts by the column whose title was clicked.
func (p *indicesScreen) clickTitle(level, x, w int) {
	switch level {
	case levelIndices:
		p.indices.clickTitle(x, w, indexColumns())
	case levelBuckets:
		if c := p.bucketTable.grid(w, bucketColumns(w)).at(x); c != nil && c.by != "" {
			p.bucketTable.sortBy(c)
			p.buckets.home()
		}
	default:
		p.objects.clickTitle(x, w)
	}
}

// rectOf returns where a level that can be seen stands, right of the line that
// parts it from the one before.
func (p *indicesScreen) rectOf(level int) (x, w int) {
	from, to := p.shown()
	const whole = 63 // all but the largest bucket and p99, of which the detail below tells
	first, second := max(p.w/4, min(whole, p.w*8/25)), p.w*11/40
	half := max(p.w/2, min(whole, p.w*11/20))
	switch {
	case to-from == 1:
		return 0, p.w
	case to-from == 2 && level == from:
		return 0, half
	case to-from == 2:
		x, w = half, p.w-half
	case level == levelIndices:
		return 0, first
	case level == levelBuckets:
		x, w = first, second
	default:
		x, w = first+second, p.w-first-second
	}
	return x + border, w - border
}

func (p *indicesScreen) lines() []string {
	t, s := p.m.theme, p.m.snapshot()
	if len(s.Indices) == 0 {
		return message(t, p.w, p.h, "no indices", "This informer was made without index functions: objects can be found by key only.")
	}
	from, to := p.shown()
	var columns [][]string
	for level := from; level < to; level++ {
		_, w := p.rectOf(level)
		var lines []string
		switch level {
		case levelIndices:
			lines = p.indexPane(t, w)
		case levelBuckets:
			lines = p.bucketPane(t, w)
		default:
			lines = p.objectPane(t, w)
		}
		if level == from {
			columns = append(columns, block(lines, w, p.h))
		} else {
			columns = append(columns, bordered(t, lines, w+border, p.h))
		}
	}
	return beside(columns...)
}
