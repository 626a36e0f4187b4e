package tui

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/colorprofile"

	"github.com/informeter/informeter/engine/inspect"
)

// Options says what to look at and how. Process and Keymap are required.
type Options struct {
	Process inspect.Process
	Keymap  *Keymap
	// Notice is something the user should know all the time, such as why the
	// demo is shown.
	Notice string
	// Sentence says what there is to look at, where somebody planned it: the
	// demo's scenario in one line.
	Sentence string
	// Opener opens other things to look at; nil if nothing else can be.
	Opener Opener
	// Close stops what Process is of, once something else is looked at; may be
	// nil. Whoever calls Run does so for what is open when it returns.
	Close func()
	// CheckFilter says what is wrong with a filter of objects, a selector of labels
	// included: what inspect.ParseFilter can't. May be nil.
	CheckFilter func(text string) error
	// Log is what the program has logged; nil if that is not kept.
	Log Log
	// History is the lines that were typed in runs before, the oldest first, and
	// Remember keeps another one; it is called off the loop and may be nil.
	History  []string
	Remember func(line string)
	// Color is auto (the default: what terminal and environment say, NO_COLOR
	// included), always or never.
	Color string
	// ASCII draws with ASCII characters only.
	ASCII bool
	// NoMouse leaves the mouse to the terminal.
	NoMouse bool
	// Input and Output are the terminal; nil is the standard ones.
	Input  io.Reader
	Output io.Writer
}

// Run shows the explorer until the user quits or ctx ends; both are no error.
// The terminal is restored in every case. Whatever informer it looks at, it
// looks at through an Inspector only; one that has an Open method is opened while
// it is on screen.
func Run(ctx context.Context, o Options) error { return run(ctx, o) }

func run(ctx context.Context, o Options, more ...tea.ProgramOption) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel() // ends what is still being read
	m := NewModel(ctx, o)
	defer func() { m.source.close() }() // that of what is looked at in the end
	options := append([]tea.ProgramOption{tea.WithContext(ctx), tea.WithFPS(writesPerSecond)}, more...)
	if o.Input == nil {
		o.Input = os.Stdin
	}
	if m.keyboard = newKeyboard(o.Input); m.keyboard != nil {
		defer m.keyboard.Close()
		options = append(options, tea.WithInput(m.keyboard))
	} else if o.Input != os.Stdin { // of which Bubble Tea knows what to do where it is no terminal
		options = append(options, tea.WithInput(o.Input))
	}
	if o.Output != nil {
		options = append(options, tea.WithOutput(o.Output))
	}
	if p, ok := profile(o.Color, os.Getenv); ok {
		options = append(options, tea.WithColorProfile(p))
	}
	program := tea.NewProgram(m, options...)
	m.pulse = newPulse(program)
	defer m.pulse.end()
	_, err := program.Run()
	switch {
	case err == nil, errors.Is(err, tea.ErrInterrupted):
		return nil
	case errors.Is(err, tea.ErrProgramPanic):
		return fmt.Errorf("show the explorer: %w", err)
	case ctx.Err() != nil:
		return nil
	}
	return fmt.Errorf("show the explorer: %w", err)
}

// profile returns the colours to use, where they are not for Bubble Tea to find
// out: it takes only some values of NO_COLOR for one, and believes a multiplexer
// more than the terminal's name.
func profile(color string, getenv func(string) string) (colorprofile.Profile, bool) {
	deep := getenv("COLORTERM") == "truecolor" || getenv("COLORTERM") == "24bit"
	term := getenv("TERM")
	sixteen := !deep && (term == "linux" || strings.HasSuffix(term, "16color"))
	switch {
	case color == "never", color != "always" && getenv("NO_COLOR") != "":
		return colorprofile.ASCII, true
	case sixteen:
		return colorprofile.ANSI, true
	case color == "always" && deep:
		return colorprofile.TrueColor, true
	case color == "always":
		return colorprofile.ANSI256, true
	}
	return colorprofile.NoTTY, false
}
