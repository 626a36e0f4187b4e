package cmd

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/charmbracelet/x/term"
	"github.com/spf13/cobra"

	"github.com/informeter/informeter/engine"
	"github.com/informeter/informeter/tui"
)

// explore runs the explorer until the user quits or a signal ends it.
func (p Program) explore(c *cobra.Command, source *sourceFlags, screen *screenFlags, args []string) (err error) {
	if err := checkWord("color", screen.color, "auto", "always", "never"); err != nil {
		return err
	}
	keymap, err := p.keymap(screen.keymap)
	if err != nil {
		return err
	}
	shown := &logRing{}
	log, stopLog, err := startShownLog(source.logFile, shown)
	if err != nil {
		return err
	}
	defer stopLog()
	ctx, stopSignals := untilSignal(c.Context())
	what, err := source.open(ctx, args, true, log)
	if err == nil {
		err = p.checkTerminal(c)
	}
	if err == nil {
		o := newSwitcher(ctx, source, args, log)
		err = p.show(ctx, o, what, screen, keymap, shown)
	}
	if signaled := stopSignals(); signaled != nil && (err == nil || errors.Is(err, context.Canceled)) {
		return signaled
	}
	return err
}

// show runs the informers with the explorer on top.
func (p Program) show(ctx context.Context, o *switcher, what opened, screen *screenFlags, keymap *tui.Keymap, log tui.Log) error {
	defer restoreOnCrash(p.Stdin, p.Stdout)()
	defer o.stop()
	if what.notice == fallback { // from here on it is the demo that was asked for
		if err := o.flags.set.Set("demo", o.flags.scenario); err != nil {
			return err
		}
	}
	first, err := o.start(what, o.flags)
	if err != nil {
		return err
	}
	history := newLineHistory()
	return tui.Run(ctx, tui.Options{
		Process:  first.Process,
		Keymap:   keymap,
		Notice:   first.Notice,
		Sentence: first.Sentence,
		Opener:   o,
		Close:    first.Close,

		CheckFilter: engine.CheckFilter,

		Log:      log,
		History:  history.read(),
		Remember: history.add,
		Color:    screen.color,
		ASCII:    screen.ascii,
		NoMouse:  screen.noMouse,
		Input:    p.Stdin,
		Output:   p.Stdout,
	})
}

// checkTerminal returns an error if there is nothing to draw on.
func (p Program) checkTerminal(c *cobra.Command) error {
	why := ""
	switch {
	case !isTerminal(p.Stdin):
		why = "standard input is not one"
	case !isTerminal(p.Stdout):
		why = "standard output is not one"
	case os.Getenv("TERM") == "dumb":
		why = "TERM is dumb"
	default:
		return nil
	}
	return fmt.Errorf("the explorer needs a terminal, and %s; for the same as data there is %q, and %q says what is wrong", why, c.CommandPath()+" snapshot", c.CommandPath()+" doctor")
}

// isTerminal says whether somebody sits at the other end.
func isTerminal(v any) bool {
	f, ok := v.(interface{ Fd() uintptr })
	return ok && term.IsTerminal(f.Fd())
}
