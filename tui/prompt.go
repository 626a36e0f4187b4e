package tui

import (
	"context"
	"errors"
	"fmt"
	"math"
	"sort"
	"strconv"
	"strings"
	"unicode"

	"charm.land/bubbles/v2/textinput"
	tea "charm.land/bubbletea/v2"

	"github.com/informeter/informeter/engine/inspect"
)

// slowestRate is the lowest limit that can be typed: below it the screen could
// not tell a limited queue from a stopped one.
const slowestRate = 0.1

// typedLimit is how many characters can be typed: a CEL expression may be long.
const typedLimit = 2000

// prompt is text being typed on the last line. The line above says what is wrong
// with it, or what can be typed.
type prompt struct {
	label  string
	hint   string
	input  textinput.Model
	fault  *fault              // with what is typed; nil if nothing is wrong
	change func(text string)   // after each key; may be nil
	cancel func()              // when given up; may be nil
	above  func(w int) string  // what the line above says; may be nil
	press  func(a Action) bool // takes actions the prompt has no use for; may be nil
	counts bool                // what the screen says of its rows stays in sight
	// accept takes what was typed. A *fault keeps the prompt open, to be
	// corrected; any other error is its answer.
	accept func(text string) (tea.Cmd, error)
}

// fault is what is wrong with a part of a line that was typed.
type fault struct {
	from, to int // bytes
	what     string
}

func (f *fault) Error() string { return f.what }

func newPrompt(label, hint, text string) *prompt {
	p := &prompt{label: label, hint: hint, input: textinput.New()}
	p.input.Prompt = ""
	p.input.SetVirtualCursor(false)
	p.input.CharLimit = typedLimit
	p.input.KeyMap.Paste.SetEnabled(false) // the terminal pastes
	p.input.SetValue(typeable(text))
	p.input.Focus() // its command only blinks a cursor that is not drawn
	return p
}

// typeable leaves out of s what can't be seen when it is typed or pasted, and
// turns white space into spaces.
func typeable(s string) string {
	if plain(s) {
		return s
	}
	return strings.Map(func(r rune) rune {
		switch {
		case unicode.IsSpace(r):
			return ' '
		case unicode.IsControl(r), invisible(r), unicode.In(r, unicode.Cf, unicode.Co, unicode.Cs):
			return -1
		}
		return r
	}, strings.ToValidUTF8(s, ""))
}

// typed takes a key: it accepts, cancels, or is typed.
func (m *Model) typed(msg tea.KeyPressMsg) tea.Cmd {
	p := m.prompt
	a := m.keymap.Resolve(ScopePrompt, msg)
	switch a {
	case ActionAccept:
		return m.accept()
	case ActionCancel:
		m.prompt = nil
		if p.cancel != nil {
			p.cancel()
		}
		return nil
	case ActionNone:
		p.feed(msg)
		return nil
	}
	if p.press == nil || !p.press(a) {
		p.feed(msg)
	}
	return nil
}

// accept does what was typed, or leaves it there with what is wrong with it.
func (m *Model) accept() tea.Cmd {
	p := m.prompt
	if p.accept == nil {
		if p.fault == nil {
			m.prompt = nil
		}
		return nil
	}
	m.prompt, m.accepting = nil, p.input.Value()
	cmd, err := p.accept(m.accepting)
	if wrong := (*fault)(nil); errors.As(err, &wrong) {
		p.fault, m.prompt = wrong, p
	} else if err != nil {
		m.fail(err)
	}
	return cmd
}

// feed lets the input have a message. What it then holds can be seen, all of it.
func (p *prompt) feed(msg tea.Msg) {
	before := p.input.Value()
	p.input, _ = p.input.Update(msg)
	text := p.input.Value()
	if text == before {
		return
	}
	if clean := typeable(text); clean != text {
		at := p.input.Position() - (len([]rune(text)) - len([]rune(clean)))
		p.input.SetValue(clean)
		p.input.SetCursor(max(at, 0))
	}
	p.changed()
}

// set types text in place of what is there.
func (p *prompt) set(text string) {
	p.input.SetValue(text)
	p.input.CursorEnd()
	p.changed()
}

func (p *prompt) changed() {
	p.fault = nil
	if p.change != nil {
		p.change(p.input.Value())
	}
}

func (m *Model) paste(msg tea.PasteMsg) tea.Cmd {
	if m.prompt != nil {
		m.dirty = true
		msg.Content = typeable(strings.TrimRight(msg.Content, "\r\n"))
		m.prompt.feed(msg)
	}
	return nil
}

// draw returns the line. What is typed is shown from where its cursor fits.
func (p *prompt) draw(t *theme, w int, status string) string {
	l := newLine(max(w-width(status)-3, 0)).put(t.title, " "+p.label)
	text := p.input.Value()
	start, _ := p.scrolled(l.room())
	from, to := len(text), len(text)
	if p.fault != nil {
		from, to = max(p.fault.from, start), max(p.fault.to, start)
	}
	l.put("", text[start:max(min(from, len(text)), start)])
	l.put(t.fault, text[min(from, len(text)):min(to, len(text))])
	l.put("", text[min(to, len(text)):])
	if text == "" {
		l.put(t.faint, "  "+p.hint)
	}
	return newLine(w).place("", l.String()).to(w-width(status)-1).put(t.muted, status).String()
}

// over draws the lines above: what is wrong, whole, or what can be typed.
func (p *prompt) over(t *theme, w int) []string {
	const most = 4
	switch {
	case p.fault != nil:
		return faultLines(t, w, part{t.bad, "✗ "}, "", p.fault.what, most)
	case p.above != nil:
		if l := p.above(w); l != "" {
			return []string{l}
		}
	}
	return nil
}

// faultLines wraps what is said behind a mark.
func faultLines(t *theme, w int, mark part, st style, text string, most int) []string {
	var lines []string
	for i, s := range wrap(clean(text), w-2-width(mark.s), most) {
		l := newLine(w).skip(1)
		if i == 0 {
			l.put(mark.st, mark.s)
		} else {
			l.skip(width(mark.s))
		}
		lines = append(lines, l.put(st, s).String())
	}
	return lines
}

// scrolled returns the byte from which on the text is shown in room cells, and
// how far from there the cursor is.
func (p *prompt) scrolled(room int) (start, cursor int) {
	before := []rune(p.input.Value())[:p.input.Position()]
	// Searched for and not walked to, and only near the end: what was pasted may
	// be long, and measuring it takes as long as it is. Few characters take no
	// cell of their own.
	const least = 4
	first := max(len(before)-least*max(room, 1), 0)
	from := first + sort.Search(len(before)-first, func(i int) bool {
		return width(clean(string(before[first+i:]))) <= max(room-1, 0)
	})
	return len(string(before[:from])), width(clean(string(before[from:])))
}

func (p *prompt) cursor(l layout, status string) *tea.Cursor {
	label := 1 + width(p.label)
	_, x := p.scrolled(max(l.w-width(status)-3-label, 0))
	return tea.NewCursor(min(label+x, l.w-1), l.footer.y)
}

// askFilter lets the user type a filter; the rows follow each key. One that does
// not parse changes nothing.
func (m *Model) askFilter(f filtered) {
	m.keepFilter(f)
	before := f.filter()
	hint := "part of a key; !not, /expression/, -f fuzzy, -l labels"
	_, searches := f.(searcher)
	if searches {
		hint = "text to find"
	}
	p := newPrompt("/", hint, before)
	p.change = func(text string) {
		if !searches {
			if p.fault = m.badFilter(f, text); p.fault != nil {
				return
			}
		}
		f.setFilter(text)
	}
	p.cancel = func() { f.setFilter(before) }
	p.counts = true
	m.prompt = p
}

// askRate lets the user type how many deltas a second may pass the gate.
func (m *Model) askRate() {
	p := newPrompt("deltas a second: ", "0 lifts the limit", "")
	p.accept = func(text string) (tea.Cmd, error) {
		if strings.TrimSpace(text) == "" {
			return nil, nil
		}
		perSecond, err := parseRate(text)
		if err != nil {
			return nil, &fault{0, len(text), err.Error()}
		}
		return m.setRate(perSecond), nil
	}
	m.prompt = p
}

// parseRate reads how many deltas a second, with or without "/s".
func parseRate(text string) (float64, error) {
	text = strings.TrimSuffix(strings.TrimSpace(text), "/s")
	perSecond, err := strconv.ParseFloat(text, 64)
	switch {
	case err != nil || math.IsNaN(perSecond) || perSecond < 0 || perSecond > 1e9:
		return 0, fmt.Errorf("%q is not a number of deltas a second", text)
	case perSecond > 0 && perSecond < slowestRate:
		return 0, fmt.Errorf("%s is slower than one delta in ten seconds; to stop the queue, pause it", text)
	}
	return perSecond, nil
}

func (m *Model) setRate(perSecond float64) tea.Cmd {
	done := "limited to " + rate(perSecond) + " deltas a second"
	if perSecond == 0 {
		done = "no limit"
	}
	return m.control(done, func(ctx context.Context, c inspect.Controls) error {
		return c.SetRate(ctx, perSecond)
	})
}
