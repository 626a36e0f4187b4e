package tui

import (
	"slices"
	"strings"
	"unicode/utf8"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"
)

// columnsScreen lets the user choose the columns of a table, which stands beside
// it and changes at once. What is chosen holds for the run.
type columnsScreen struct {
	pane
	under  screen
	table  *table
	all    []column
	cursor int
}

// columnsWidth is how wide the list of columns is.
const columnsWidth = 34

// openColumns shows the columns of the table on the screen, if it has one.
func (m *Model) openColumns() {
	under := m.page()
	u, ok := under.(tabled)
	if !ok {
		m.note = "this screen has no columns to choose"
		return
	}
	p := &columnsScreen{pane: pane{m: m}, under: under}
	p.table, p.all = u.tableShown()
	p.all = slices.DeleteFunc(slices.Clone(p.all), func(c column) bool { return c.title == "" || c.hidden })
	m.columns = p
	m.setSizes()
}

func (p *columnsScreen) name() string { return "Columns" }
func (p *columnsScreen) scope() Scope { return ScopeColumns }

func (p *columnsScreen) handle(a Action) tea.Cmd {
	c := &p.all[p.cursor]
	switch a {
	case ActionUp:
		p.cursor--
	case ActionDown:
		p.cursor++
	case ActionTop:
		p.cursor = 0
	case ActionBottom:
		p.cursor = len(p.all) - 1
	case ActionToggle:
		if p.cursor > 0 { // the first one says which row it is
			p.table.hidden[c.title] = !p.table.hidden[c.title]
		}
	case ActionNarrower, ActionLeft:
		p.widen(c, -1)
	case ActionWider, ActionRight:
		p.widen(c, 1)
	case ActionOpen, ActionColumns:
		p.m.columns = nil
	default:
		p.table.handle(a, p.all)
	}
	p.cursor = max(min(p.cursor, len(p.all)-1), 0)
	return nil
}

func (p *columnsScreen) widen(c *column, n int) {
	const most = 100
	if w := c.min + p.table.wider[c.title] + n; w >= leastColumn && w <= most {
		p.table.wider[c.title] += n
	}
}

func (p *columnsScreen) click(x, y int) tea.Cmd {
	if i := y - 2; x >= p.w-columnsWidth && i >= 0 && i < len(p.all) {
		p.cursor = i
		return p.handle(ActionToggle)
	}
	p.m.columns = nil
	return nil
}

func (p *columnsScreen) wheel(n int) {
	p.handle(map[bool]Action{true: ActionDown, false: ActionUp}[n > 0])
}

func (p *columnsScreen) hints() []hint {
	return []hint{{ActionToggle, "show or hide"}, {ActionWider, "wider"}, {ActionNarrower, "narrower"}, {ActionBack, "done"}}
}

func (p *columnsScreen) lines() []string {
	t := p.m.theme
	w := min(columnsWidth, p.w)
	lines := p.under.lines() // first: it says which columns have no room
	list := []string{
		newLine(w).put(t.faint, "│ ").put(t.title, "Columns").String(),
		newLine(w).put(t.faint, "│").String(),
	}
	for i, c := range p.all {
		l := newLine(w)
		mark, st := "[x] ", style("")
		if p.table.hidden[c.title] {
			mark, st = "[ ] ", t.muted
		}
		cursor := part{}
		if i == p.cursor {
			l.base, cursor = t.selected, part{t.accent, "▸"}
		}
		l.put(t.faint, "│").left(cursor.st, cursor.s, 1).put(st, mark).left(st, c.title, 16)
		if c.by != "" && c.by == p.table.order.by {
			l.put(t.accent, orderMark(p.table.order.desc))
		}
		if p.table.noRoom[c.title] {
			l.to(w-11).put(t.muted, "no room")
		}
		if more := p.table.wider[c.title]; more != 0 {
			l.to(w-4).put(t.muted, signed(more))
		}
		list = append(list, l.String())
	}
	for len(list) < p.h {
		list = append(list, newLine(w).put(t.faint, "│").String())
	}
	for y := range lines {
		left := newLine(p.w-w).slice(wholeBefore(lines[y], p.w-w), 0)
		lines[y] = left.String() + list[min(y, len(list)-1)]
	}
	return block(lines, p.w, p.h)
}

// wholeBefore is what a line drew, with nothing before cell x that goes on beyond it
// and looks whole without that, such as the first digits of a number: a short word is
// left out, and a longer one ends in an ellipsis.
func wholeBefore(drawn string, x int) string {
	const short = 12
	from, to := crossing(ansi.Strip(drawn), x)
	switch {
	case to <= x:
		return drawn
	case to-from <= short:
		return overwrite(drawn, from, x, " ")
	}
	return overwrite(drawn, x-1, x, ellipsis)
}

// crossing returns the cells of the word that has some on both sides of cell x. The
// mark of the order behind a title is none of its word.
func crossing(text string, x int) (from, to int) {
	cell, open := 0, false
	for _, r := range text {
		word := r != ' ' && !strings.ContainsRune("▲▼", r)
		if cell >= x && (!word || !open) {
			break
		}
		if word && !open {
			from = cell
		}
		open = word
		cell += width(string(r))
		if word {
			to = cell
		}
	}
	return from, to
}

// overwrite puts a mark of one cell into those of what a line drew that are not
// before from and before to.
func overwrite(drawn string, from, to int, mark string) string {
	var b strings.Builder
	for i, cell := 0, 0; i < len(drawn); {
		if drawn[i] == '\x1b' {
			end := i + strings.IndexByte(drawn[i:], 'm') + 1
			b.WriteString(drawn[i:end])
			i = end
			continue
		}
		r, size := utf8.DecodeRuneInString(drawn[i:])
		w := width(string(r))
		if cell >= from && cell < to {
			b.WriteString(strings.Repeat(mark, w))
		} else {
			b.WriteString(drawn[i : i+size])
		}
		i += size
		cell += w
	}
	return b.String()
}

// signed writes a number with its sign.
func signed(n int) string {
	if n > 0 {
		return "+" + number(n)
	}
	return number(n)
}
