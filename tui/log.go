package tui

import (
	tea "charm.land/bubbletea/v2"

	"github.com/informeter/informeter/engine/inspect"
)

// Log is what the program has logged, such as client-go's complaints. Safe for
// concurrent use, and never waits.
type Log interface {
	// Lines returns the newest lines, the oldest of them first, and how many
	// older ones were let go of.
	Lines() (lines []string, forgotten uint64)
}

// logScreen shows the log over everything, the newest line at the bottom.
type logScreen struct {
	pane
	all       []string
	shown     []string // those that match
	forgotten uint64
	text      string // the filter
	up        int    // lines above the newest; 0 follows it
	left      int
}

func newLogScreen(m *Model) *logScreen { return &logScreen{pane: pane{m: m}} }

func (p *logScreen) name() string { return "Log" }

func (p *logScreen) ask(r *request) { r.log = true }

func (p *logScreen) refresh(f *frame) {
	if !f.request.log {
		return
	}
	if p.up > 0 { // what is looked at stays in its place
		fresh := uint64(len(f.log)) + f.forgotten - uint64(len(p.all)) - p.forgotten
		keep := keeper(p.text)
		for _, l := range f.log[len(f.log)-int(min(fresh, uint64(len(f.log)))):] {
			if keep(l) {
				p.up++
			}
		}
	}
	p.all, p.forgotten = f.log, f.forgotten
	p.match()
	p.scroll(0)
}

func (p *logScreen) match() {
	p.shown = nil
	keep := keeper(p.text)
	for _, l := range p.all {
		if keep(l) {
			p.shown = append(p.shown, l)
		}
	}
}

// keeper returns what a filter keeps.
func keeper(filter string) func(string) bool {
	if keep := inspect.Match(filter); keep != nil {
		return keep
	}
	return func(string) bool { return true }
}

func (p *logScreen) filter() string { return p.text }

func (p *logScreen) setFilter(text string) {
	p.text, p.up = text, 0
	p.match()
}

func (p *logScreen) back() bool {
	if p.text == "" {
		return false
	}
	p.setFilter("")
	return true
}

// scroll moves up by n lines, or down if n is negative.
func (p *logScreen) scroll(n int) { p.up = max(min(p.up+n, len(p.shown)-p.h), 0) }

func (p *logScreen) wheel(n int) { p.scroll(-n) }

func (p *logScreen) handle(a Action) tea.Cmd {
	const sideways = 16
	switch a {
	case ActionUp:
		p.scroll(1)
	case ActionDown:
		p.scroll(-1)
	case ActionHalfUp:
		p.scroll(p.h / 2)
	case ActionHalfDown:
		p.scroll(-p.h / 2)
	case ActionPageUp:
		p.scroll(p.h)
	case ActionPageDown:
		p.scroll(-p.h)
	case ActionTop:
		p.scroll(len(p.shown))
	case ActionBottom:
		p.up = 0
	case ActionLeft:
		p.left = max(p.left-sideways, 0)
	case ActionRight:
		p.left += sideways
	}
	return nil
}

func (p *logScreen) hints() []hint {
	return []hint{{ActionBack, "back"}, {ActionFilter, "filter"}, {ActionTop, "oldest"}, {ActionBottom, "newest"}}
}

func (p *logScreen) status() string {
	if len(p.all) == 0 {
		return ""
	}
	s := place(len(p.shown)-p.up-1, len(p.shown), len(p.all), p.text)
	if p.forgotten > 0 {
		s += ", " + number(p.forgotten) + " older ones forgotten"
	}
	return s
}

func (p *logScreen) copied() (what, text string) {
	if n := len(p.shown) - p.up; n > 0 {
		return "a line of the log", p.shown[n-1]
	}
	return "", ""
}

func (p *logScreen) lines() []string {
	t := p.m.theme
	switch {
	case len(p.all) == 0:
		return message(t, p.w, p.h, "nothing was logged", "What client-go and the program complain about stands here. --log-file keeps it in a file, too.")
	case len(p.shown) == 0:
		return message(t, p.w, p.h, "no line matches "+p.text, number(len(p.all))+" lines are here.")
	}
	end := len(p.shown) - p.up
	found := highlighter(p.text)
	var lines []string
	for _, text := range p.shown[max(end-p.h, 0):end] {
		l := newLine(p.w).skip(1)
		all := newLine(max(width(clean(text)), 1)).found("", t.match, text, found(text), 1<<20)
		lines = append(lines, l.slice(all.String(), p.left).String())
	}
	return block(lines, p.w, p.h)
}
