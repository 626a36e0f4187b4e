package tui

import "github.com/informeter/informeter/engine/inspect"

// located is a screen that is deeper than its name says.
type located interface {
	// path names what is open, from the outside in.
	path() []string
}

// drawPath says where the user is, from the informer inwards, and in a demo what
// there is to look at. Where both have no room, it is the first if the user has
// gone deeper than the screen.
func (m *Model) drawPath() string {
	const between = " › "
	t := m.theme
	steps := []string{m.screens[m.current].name()}
	if m.current != screenInformers {
		steps = append([]string{m.informer}, steps...)
	}
	if s, ok := m.screens[m.current].(located); ok {
		steps = append(steps, s.path()...)
	}
	if m.object != nil {
		steps = append(steps, m.object.path()...)
	}
	if m.overlay != nil {
		steps = append(steps, m.overlay.name())
	}
	deep := len(steps) > 2
	need := 0
	for i := range steps {
		steps[i] = clean(steps[i])
		need += width(steps[i]) + width(between)
	}
	sentence := clean(m.options.Sentence)
	l := newLine(m.layout.w).skip(gutter)
	if sentence != "" && need+width(sentence) > l.room()-2 {
		if !deep {
			return l.put(t.muted, sentence).String()
		}
		sentence = ""
	}
	// What does not fit is cut where it is longest: in the key, or the value.
	for over := need - width(between) - l.room() + 1; over > 0; {
		longest := 0
		for i := range steps {
			if width(steps[i]) > width(steps[longest]) {
				longest = i
			}
		}
		w := width(steps[longest])
		to := max(w-over, 8)
		if to >= w {
			break
		}
		steps[longest] = cutKey(steps[longest], to)
		over -= w - to
	}
	for i, s := range steps {
		if i > 0 {
			l.put(t.faint, between)
		}
		if i == len(steps)-1 && deep {
			l.put(t.strong, s)
		} else {
			l.put(t.muted, s)
		}
	}
	if sentence != "" {
		l.to(m.layout.w-width(sentence)-1).put(t.muted, sentence)
	}
	return l.String()
}

func (p *indicesScreen) path() []string {
	var steps []string
	if p.focus >= levelBuckets && p.index != "" {
		steps = append(steps, inspect.IndexName(p.index))
	}
	if p.focus >= levelObjects && p.valued {
		steps = append(steps, bucketName(p.m.theme, p.index, p.value).s)
	}
	return steps
}

func (p *objectScreen) path() []string {
	key := p.key
	if key == "" {
		key = "uid " + p.uid
	}
	if p.page == pageYAML {
		return []string{key}
	}
	return []string{key, keyPages[p.page].name}
}
