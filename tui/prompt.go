package tui

import (
	"context"
	"fmt"
	"math"
	"strconv"
	"strings"

	"charm.land/bubbles/v2/textinput"
	tea "charm.land/bubbletea/v2"

	"github.com/informeter/informeter/engine/inspect"
)

// slowestRate is the lowest limit that can be typed: below it the screen could
// not tell a limited queue from a stopped one.
const slowestRate = 0.1

// prompt is text being typed on the last line.
type prompt struct {
	label  string
	hint   string
	input  textinput.Model
	change func(text string)         // after each key; may be nil
	accept func(text string) tea.Cmd // when done
	cancel func()                    // when given up; may be nil
}

func newPrompt(label, hint, text string) *prompt {
	p := &prompt{label: label, hint: hint, input: textinput.New()}
	p.input.Prompt = ""
	p.input.SetVirtualCursor(false)
	p.input.CharLimit = 253
	p.input.SetValue(text)
	p.input.Focus() // its command only blinks a cursor that is not drawn
	return p
}

// press takes a key: it accepts, cancels, or is typed.
func (p *prompt) press(m *Model, msg tea.KeyPressMsg) tea.Cmd {
	switch m.keymap.Resolve(ScopePrompt, msg) {
	case ActionAccept:
		m.prompt = nil
		if p.accept != nil {
			return p.accept(p.input.Value())
		}
		return nil
	case ActionCancel:
		m.prompt = nil
		if p.cancel != nil {
			p.cancel()
		}
		return nil
	}
	p.feed(msg)
	return nil
}

func (p *prompt) feed(msg tea.Msg) {
	before := p.input.Value()
	p.input, _ = p.input.Update(msg)
	if text := p.input.Value(); text != before && p.change != nil {
		p.change(text)
	}
}

func (m *Model) paste(msg tea.PasteMsg) tea.Cmd {
	if m.prompt != nil {
		m.dirty = true
		m.prompt.feed(msg)
	}
	return nil
}

// draw returns the line. What is typed is shown from where it fits.
func (p *prompt) draw(t *theme, w int, status string) string {
	typed := newLine(max(w-width(status)-3, 0))
	typed.put(t.title, " "+p.label).put("", p.visible(typed.room()))
	if p.input.Value() == "" {
		typed.put(t.faint, "  "+p.hint)
	}
	return newLine(w).place("", typed.String()).to(w-width(status)-1).put(t.muted, status).String()
}

// visible returns the end of what is typed before the cursor, and what follows.
func (p *prompt) visible(room int) string {
	runes := []rune(p.input.Value())
	start := max(p.input.Position()-room+2, 0)
	return string(runes[min(start, len(runes)):])
}

func (p *prompt) cursor(l layout) *tea.Cursor {
	before := []rune(p.input.Value())[:p.input.Position()]
	x := 1 + width(p.label) + width(clean(string(before)))
	return tea.NewCursor(min(x, l.w-1), l.footer.y)
}

// askFilter lets the user type a filter; the rows follow each key.
func (m *Model) askFilter(f filtered) {
	before := f.filter()
	p := newPrompt("/", "keeps keys that contain it; !text those that do not", before)
	p.change = f.setFilter
	p.cancel = func() { f.setFilter(before) }
	m.prompt = p
}

// askRate lets the user type how many deltas a second may pass the gate.
func (m *Model) askRate() {
	p := newPrompt("deltas a second: ", "0 lifts the limit", "")
	p.accept = func(text string) tea.Cmd {
		text = strings.TrimSuffix(strings.TrimSpace(text), "/s")
		if text == "" {
			return nil
		}
		perSecond, err := strconv.ParseFloat(text, 64)
		switch {
		case err != nil || math.IsNaN(perSecond) || perSecond < 0 || perSecond > 1e9:
			m.note = fmt.Sprintf("%q is not a number of deltas a second", text)
			return nil
		case perSecond > 0 && perSecond < slowestRate:
			m.note = fmt.Sprintf("%s is slower than one delta in ten seconds; to stop the queue, pause it", text)
			return nil
		}
		done := "limited to " + rate(perSecond) + " deltas a second"
		if perSecond == 0 {
			done = "no limit"
		}
		return m.control(done, func(ctx context.Context, c inspect.Controls) error {
			return c.SetRate(ctx, perSecond)
		})
	}
	m.prompt = p
}
