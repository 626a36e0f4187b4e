package tui

// The least size at which the explorer draws its screens, and the widths from
// which there is room for more.
const (
	leastWidth  = 60
	leastHeight = 16
	twoPanes    = 100
	threePanes  = 160
)

// rect is a part of the screen.
type rect struct{ x, y, w, h int }

func (r rect) contains(x, y int) bool { return x >= r.x && x < r.x+r.w && y >= r.y && y < r.y+r.h }

// layout says where everything is.
//
//	header   which informer, and how it is
//	tabs     the screens
//	path     where the user is, where there is room; a blank line if there is more
//	body     the screen
//	footer   the keys, or a prompt; at the right where one is
type layout struct {
	w, h                             int
	header, tabs, path, body, footer rect
	tooSmall                         bool
}

func newLayout(w, h int) layout {
	l := layout{w: w, h: h, tooSmall: w < leastWidth || h < leastHeight}
	l.header = rect{0, 0, w, 1}
	l.tabs = rect{0, 1, w, 1}
	top := 2
	if h > 20 {
		l.path = rect{0, top, w, 1}
		top = 3
	}
	if h >= 30 {
		top = 4
	}
	l.body = rect{0, top, w, max(h-top-1, 0)}
	l.footer = rect{0, h - 1, w, 1}
	return l
}

// panes returns how many panes stand beside each other at width w.
func panes(w int) int {
	switch {
	case w >= threePanes:
		return 3
	case w >= twoPanes:
		return 2
	}
	return 1
}
