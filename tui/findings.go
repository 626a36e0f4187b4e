package tui

import (
	"cmp"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/informeter/informeter/engine/findings"
	"github.com/informeter/informeter/engine/inspect"
)

// findingsScreen lists what is wrong with the informers of the process, the worst
// first unless the user sorts them, and says all about the selected one: beside the list where there is room
// for two panes, else under it.
//
//	  RULE              INFORMER  SUBJECT               SINCE  OVER
//	▸ ⚠ growing-backlog  pods      billing-export          42s     –
//	the sentence, the evidence, what to do
type findingsScreen struct {
	pane
	rows tableRows[findings.Finding]
	// jump is a finding of another informer, to go to when that is on screen.
	jump *findings.Finding
}

func newFindingsScreen(m *Model) *findingsScreen {
	return &findingsScreen{pane: pane{m: m}, rows: tableRows[findings.Finding]{
		list: list[findings.Finding]{
			keyOf: func(f findings.Finding) string { return f.Informer + "\x00" + f.Rule + "\x00" + f.Subject },
		},
		table:    m.table("findings", order{}),
		searched: findingSearched,
		compare:  compareFindings,
	}}
}

// What findings can be sorted by; without, the worst stand first.
const (
	byRule  = "rule"
	bySince = "since"
	byOver  = "over"
)

// findingSearched is what a filter looks at.
func findingSearched(f *findings.Finding) string {
	return strings.Join([]string{f.Rule, f.Informer, f.Subject}, " ")
}

func compareFindings(a, b *findings.Finding, by string) int {
	switch by {
	case byRule:
		return strings.Compare(a.Rule, b.Rule)
	case byName:
		return cmp.Or(strings.Compare(a.Informer, b.Informer), strings.Compare(a.Subject, b.Subject))
	case bySince:
		return a.Since.Compare(b.Since)
	case byOver:
		return a.Ended.Compare(b.Ended)
	}
	return 0
}

func (p *findingsScreen) name() string { return "Findings" }

func (p *findingsScreen) refresh(f *frame) {
	p.rows.set(p.m.lookout.found)
	if p.jump != nil && f.snapshot.ok && f.request.informer == p.jump.Informer {
		jump := p.jump
		p.jump = nil
		p.m.openFinding(jump)
	}
}

func (p *findingsScreen) handle(a Action) tea.Cmd {
	if a != ActionOpen {
		p.rows.handle(a, findingColumns())
		return nil
	}
	f, ok := p.rows.selected()
	switch {
	case !ok:
	case f.Informer == p.m.informer:
		p.m.openFinding(&f)
	default:
		p.m.look(f.Informer)
		p.jump = &f
	}
	return nil
}

func (p *findingsScreen) wheel(n int) { p.rows.scroll(n) }

func (p *findingsScreen) click(x, y int) tea.Cmd {
	if x >= p.listWidth() {
		return nil
	}
	if y == 0 {
		p.rows.clickTitle(x, p.listWidth(), findingColumns())
	} else if _, again := p.rows.click(y - 1); again {
		return p.handle(ActionOpen)
	}
	return nil
}

func (p *findingsScreen) filter() string        { return p.rows.text }
func (p *findingsScreen) setFilter(text string) { p.rows.setFilter(text) }
func (p *findingsScreen) back() bool            { return p.rows.back() }

func (p *findingsScreen) tableShown() (*table, []column) { return p.rows.table, findingColumns() }

// seek goes to the next finding that the filter would keep.
func (p *findingsScreen) seek(filter string, forward bool) tea.Cmd {
	seekRow(p.m, &p.rows.list, findingSearched, filter, forward)
	return nil
}

func (p *findingsScreen) hints() []hint {
	if len(p.m.lookout.found) == 0 {
		return []hint{{ActionFreeze, "freeze"}}
	}
	return []hint{{ActionOpen, "where it is"}, {ActionDown, "next"}, {ActionUp, "previous"}, {ActionFilter, "filter"}, {ActionSort, "sort"}, {ActionFreeze, "freeze"}}
}

func (p *findingsScreen) status() string { return p.rows.status() }

// widestList is how wide the list is at most: the rest belongs to the sentences.
const widestList = 84

// listWidth is how much of the width the list has.
func (p *findingsScreen) listWidth() int {
	if panes(p.w) == 1 {
		return p.w
	}
	return min(max(p.w*11/20, 61), widestList)
}

func (p *findingsScreen) lines() []string {
	t, l := p.m.theme, &p.m.lookout
	switch {
	case l.err != nil && len(l.found) == 0:
		return message(t, p.w, p.h, "no answer", l.err.Error())
	case !l.looked:
		return block(nil, p.w, p.h)
	case len(l.found) == 0:
		p.rows.setHeight(1)
		return p.nothing(t)
	case p.rows.matched == 0:
		return message(t, p.w, p.h, "no finding matches "+p.rows.text, count(len(l.found), "finding is", "findings are")+" there. Searched are rule, informer and subject.")
	}
	w := p.listWidth()
	if w < p.w {
		p.rows.setHeight(p.h - 1)
		return beside(block(p.list(t, w), w, p.h), block(p.detail(t, p.w-w, p.h), p.w-w, p.h))
	}
	// What is kept for the details does not depend on the selected one, so that
	// the rows stand still while the user goes through them.
	below := max(min(p.h*2/3, 15), 8)
	p.rows.setHeight(min(max(p.h-1-below, 2), p.rows.matched))
	lines := append(p.list(t, w), p.blank())
	return block(append(lines, p.detail(t, w, p.h-len(lines))...), p.w, p.h)
}

// findingColumns are those of the list. There goes first how long a finding is over.
func findingColumns() []column {
	return []column{
		fixedLeft("", 1, 0),
		fixedLeft("RULE", 18, 0).sorted(byRule, upwards),
		flexible("WHAT", 20, 60).sorted(byName, upwards),
		fixed("SINCE", 6, 0).sorted(bySince, downwards),
		fixed("OVER", 5, 1).sorted(byOver, downwards),
	}
}

// list draws a line for each finding. The informer is named where there are
// several.
func (p *findingsScreen) list(t *theme, w int) []string {
	several := len(p.m.summaries) > 1
	return p.rows.draw(t, w, findingColumns(), true, nil, func(f *findings.Finding) []cell {
		glyph, st := severityMark(t, f)
		what := f.Subject
		if what == "" {
			what = f.Informer
		} else if several {
			what = f.Informer + " " + what
		}
		rule, over := style(""), cell{st: t.faint, s: dash}
		if !f.Ended.IsZero() {
			rule, over = t.muted, cell{st: t.muted, s: since(p.now(), f.Ended)}
		}
		return []cell{{st: st, s: glyph}, {st: rule, s: f.Rule}, {st: rule, s: what}, {st: t.muted, s: since(p.now(), f.Since)}, over}
	})
}

// now is the moment that ages count to: that of the frame shown, so that they
// stand still with it.
func (p *findingsScreen) now() time.Time { return p.m.frame.at }

// severityMark is how a severity looks, with and without colour.
func severityMark(t *theme, f *findings.Finding) (glyph string, st style) {
	switch {
	case !f.Ended.IsZero():
		return "✓", t.muted
	case f.Severity == findings.Error:
		return "×", t.bad
	case f.Severity == findings.Warning:
		return "⚠", t.warn
	}
	return "○", t.accent
}

// detail says everything about the selected finding in at most h lines.
func (p *findingsScreen) detail(t *theme, w, h int) []string {
	f, ok := p.rows.selected()
	if !ok || h <= 0 {
		return nil
	}
	const label = 6
	glyph, st := severityMark(t, &f)
	title := newLine(w).skip(gutter).put(st, glyph+" "+f.Severity.String()+" ").put(t.title, f.Rule)
	if f.Subject != "" {
		title.skip(1).key(t.strong, f.Subject, min(width(clean(f.Subject)), title.room()-1))
	}
	lines := []string{title.String()}
	paragraph := func(name string, bullet bool, text string, most int) {
		for i, l := range wrap(clean(text), w-gutter-label-3, most) {
			line := newLine(w).skip(gutter)
			if i > 0 {
				name = ""
			}
			line.left(t.muted, name, label)
			switch {
			case bullet && i == 0:
				line.put(t.muted, "· ")
			case bullet:
				line.skip(2)
			}
			lines = append(lines, line.put("", l).String())
		}
	}
	paragraph("what", false, f.Title, 4)
	for i, text := range f.Evidence {
		name := ""
		if i == 0 {
			name = "seen"
		}
		paragraph(name, true, inspect.PlainError(text), 4)
	}
	paragraph("next", false, f.Next, 5)
	when := "since " + clock(f.Since) + ", seen last " + clock(f.At)
	if !f.Ended.IsZero() {
		when = "since " + clock(f.Since) + ", over since " + clock(f.Ended)
	}
	if p.m.informer != f.Informer || len(p.m.summaries) > 1 {
		when = "informer " + f.Informer + ", " + when
	}
	paragraph("when", false, when, 2)
	return lines[:min(len(lines), h)]
}

// nothing says that nothing was found, and what was looked for.
func (p *findingsScreen) nothing(t *theme) []string {
	lines := message(t, p.w, 3, "nothing is wrong", "Looked for once a second, in every informer of this process:")
	if unsettled := findings.Unsettled(p.m.summaries); unsettled != "" {
		lines = message(t, p.w, 4, "nothing can be said yet", unsettled+". Looked for once a second:")
	}
	const name = 20
	rules := findings.Rules()
	for i, r := range rules {
		if len(lines) == p.h-1 && i < len(rules)-1 {
			return append(lines, newLine(p.w).skip(gutter).put(t.muted, "and ").segments(2, ruleNames(t, rules[i:])...).String())
		}
		lines = append(lines, newLine(p.w).skip(gutter).left(t.strong, r.Name, name).put(t.muted, r.Looks).String())
	}
	return block(lines, p.w, p.h)
}

func ruleNames(t *theme, rules []findings.Rule) []segment {
	names := make([]segment, len(rules))
	for i, r := range rules {
		names[i] = seg(i+1, t.strong, r.Name)
	}
	return names
}
