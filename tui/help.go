package tui

import (
	tea "charm.land/bubbletea/v2"
)

// helpScreen lists every key that holds here, made from the keymap.
type helpScreen struct {
	pane
	of  Scope // the screen it was asked for on
	top int
}

func newHelpScreen(m *Model, of Scope) *helpScreen { return &helpScreen{pane: pane{m: m}, of: of} }

func (p *helpScreen) name() string { return "Help" }

func (p *helpScreen) hints() []hint { return []hint{{ActionBack, "back"}} }

func (p *helpScreen) wheel(n int) { p.top += n }

func (p *helpScreen) handle(a Action) tea.Cmd {
	switch a {
	case ActionUp:
		p.top--
	case ActionDown:
		p.top++
	case ActionPageUp, ActionHalfUp:
		p.top -= p.h / 2
	case ActionPageDown, ActionHalfDown:
		p.top += p.h / 2
	case ActionTop:
		p.top = 0
	case ActionBottom:
		p.top = len(p.m.keymap.bindings)
	}
	return nil
}

func (p *helpScreen) lines() []string {
	t := p.m.theme
	var here, everywhere []Binding
	for _, b := range p.m.keymap.bindings {
		switch b.Scope {
		case p.of:
			if p.of != ScopeGlobal {
				here = append(here, b)
				continue
			}
			everywhere = append(everywhere, b)
		case ScopeGlobal:
			everywhere = append(everywhere, b)
		}
	}
	lines := []string{p.blank()}
	if len(here) > 0 {
		lines = append(lines, newLine(p.w).skip(gutter).put(t.title, "On this screen").String())
		lines = append(lines, p.table(t, here)...)
		lines = append(lines, p.blank())
	}
	lines = append(lines, newLine(p.w).skip(gutter).put(t.title, "Everywhere").String())
	lines = append(lines, p.table(t, everywhere)...)
	lines = append(lines, p.blank(), p.legend(t))
	p.top = max(min(p.top, len(lines)-p.h), 0)
	return block(lines[p.top:], p.w, p.h)
}

// table writes the bindings in as many columns as have room, downwards.
func (p *helpScreen) table(t *theme, bindings []Binding) []string {
	const keys, text, gap = 14, 22, 2
	across := max(min((p.w-gutter)/(keys+text+gap), 3), 1)
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

// legend says what the letters of deltas mean.
func (p *helpScreen) legend(t *theme) string {
	l := newLine(p.w).skip(gutter).put(t.muted, "deltas: ")
	for i, kind := range []string{"Added", "Updated", "Deleted", "Replaced", "Sync"} {
		letter, st := t.delta(kind)
		if i > 0 {
			l.put("", "  ")
		}
		l.put(st, letter).put("", " "+kind)
	}
	return l.String()
}
