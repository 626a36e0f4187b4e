package tui

import (
	"strings"

	tea "charm.land/bubbletea/v2"
)

// helpScreen says everything that can be asked for: the keys that hold, made
// from the keymap, and the commands.
type helpScreen struct {
	pane
	of  Scope // the screen it was asked for on
	top int
}

func newHelpScreen(m *Model, of Scope) *helpScreen { return &helpScreen{pane: pane{m: m}, of: of} }

// The titles of the help.
const (
	helpHere       = "On this screen"
	helpEverywhere = "Everywhere"
	helpTyping     = "While typing"
	helpFilters    = "Filters"
	helpCommands   = "Commands"
	helpSigns      = "Signs"
)

func (p *helpScreen) name() string { return "Help" }

func (p *helpScreen) hints() []hint {
	return []hint{{ActionBack, "back"}, {ActionDown, "down"}, {ActionCommand, "command"}}
}

func (p *helpScreen) wheel(n int) { p.scroll(n) }

func (p *helpScreen) handle(a Action) tea.Cmd {
	switch a {
	case ActionUp:
		p.scroll(-1)
	case ActionDown:
		p.scroll(1)
	case ActionPageUp, ActionHalfUp:
		p.scroll(-p.h / 2)
	case ActionPageDown, ActionHalfDown:
		p.scroll(p.h / 2)
	case ActionTop:
		p.top = 0
	case ActionBottom:
		p.scroll(1 << 20)
	}
	return nil
}

func (p *helpScreen) scroll(n int) { p.top = max(min(p.top+n, len(p.all())-p.h), 0) }

// turnTo shows the part under a title.
func (p *helpScreen) turnTo(title string) {
	at := 0
	for _, s := range p.sections() {
		if s.title == title {
			p.top = 0
			p.scroll(at)
			return
		}
		at += len(s.lines) + 2
	}
}

func (p *helpScreen) status() string {
	if n := len(p.all()); n > p.h {
		return "lines " + number(p.top+1) + "–" + number(min(p.top+p.h, n)) + " of " + number(n)
	}
	return ""
}

func (p *helpScreen) lines() []string {
	p.scroll(0)
	return block(p.all()[p.top:], p.w, p.h)
}

// section is a part of the help.
type section struct {
	title string
	lines []string
}

// all returns every line of the help.
func (p *helpScreen) all() []string {
	var lines []string
	for _, s := range p.sections() {
		lines = append(lines, p.blank(), newLine(p.w).skip(gutter).put(p.m.theme.title, s.title).String())
		lines = append(lines, s.lines...)
	}
	return lines
}

func (p *helpScreen) sections() []section {
	t := p.m.theme
	of := map[Scope][]Binding{}
	for _, b := range p.m.keymap.bindings {
		of[b.Scope] = append(of[b.Scope], b)
	}
	var all []section
	if here := of[p.of]; p.of != ScopeGlobal && len(here) > 0 {
		all = append(all, section{helpHere, p.table(t, here)})
	}
	return append(all,
		section{helpEverywhere, p.table(t, of[ScopeGlobal])},
		section{helpTyping, p.table(t, of[ScopePrompt])},
		section{helpFilters, p.pairs(t, p.filterHelp())},
		section{helpCommands, p.pairs(t, commandHelp())},
		section{helpSigns, p.legend(t)},
	)
}

// table writes the bindings in as many columns as have room, downwards.
func (p *helpScreen) table(t *theme, bindings []Binding) []string {
	const keys, text, gap = 14, 23, 2
	across := max(min((p.w-gutter)/(keys+text+gap), 4), 1)
	rows := (len(bindings) + across - 1) / across
	lines := make([]string, rows)
	for y := range rows {
		l := newLine(p.w).skip(gutter)
		for x := range across {
			if i := x*rows + y; i < len(bindings) {
				l.to(gutter + x*(keys+text+gap))
				l.left(t.accent, bindings[i].Label(), keys).left("", bindings[i].Help, text)
			}
		}
		lines[y] = l.String()
	}
	return lines
}

// pairs writes how something is written, and beside it what it does. What is
// written long pushes that to the right.
func (p *helpScreen) pairs(t *theme, pairs [][2]string) []string {
	first := 0
	for _, s := range pairs {
		first = max(first, min(width(s[0]), p.w*2/5))
	}
	lines := make([]string, len(pairs))
	for i, s := range pairs {
		l := newLine(p.w).skip(gutter).put(t.accent, s[0])
		lines[i] = l.to(gutter+first).skip(2).put("", s[1]).String()
	}
	return lines
}

func (p *helpScreen) filterHelp() [][2]string {
	next, previous := p.m.keymap.label(ScopeGlobal, ActionNextMatch), p.m.keymap.label(ScopeGlobal, ActionPreviousMatch)
	sorts := p.m.keymap.label(ScopeGlobal, ActionSort)
	return [][2]string{
		{"text", "the keys that contain it; case does not matter"},
		{"/expression/", "the keys that match a regular expression; a capital makes case matter"},
		{"-f text", "the keys that have its letters in this order"},
		{"-l selector", "the objects with these labels, as in app=web,tier!=cache"},
		{"!filter", "the others"},
		{next + " " + previous, "the next match and the one before: the next row where rows are filtered, else a match of the last filter"},
		{sorts, "sort by the next column; what waits keeps the order in which it will be popped, and is counted in sight only"},
	}
}

func commandHelp() [][2]string {
	var pairs [][2]string
	for _, c := range Commands() {
		pairs = append(pairs, [2]string{c.Usage, c.Help})
	}
	return pairs
}

// legend says what the letters of deltas mean, and the marks.
func (p *helpScreen) legend(t *theme) []string {
	l := newLine(p.w).skip(gutter)
	for i, kind := range []string{"Added", "Updated", "Deleted", "Replaced", "Sync", "Bookmark"} {
		letter, st := t.delta(kind)
		if i > 0 {
			l.skip(2)
		}
		l.put(st, letter).put("", " "+strings.ToLower(kind))
	}
	marks := newLine(p.w).skip(gutter).put(t.ok, "●").put("", " synced  ").put(t.accent, "○").put("", " not yet  ").
		put(t.warn, "⚠").put("", " look here  ").put(t.ok, "▶").put("", " in flight  ").put(t.accent, "▸").put("", " selected")
	lines := []string{l.String(), marks.String()}
	for _, text := range wrap("⚠ and a number, at the top right: how many findings of all informers go on and are more than an explanation; on a tab, or a handler's row: those to be seen there", p.w-2*gutter, 4) {
		lines = append(lines, newLine(p.w).skip(gutter).put("", text).String())
	}
	return lines
}
