package cmd

import (
	"context"
	"io"
	"slices"

	"github.com/charmbracelet/x/ansi"
	"github.com/charmbracelet/x/term"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
)

// sane takes back what the explorer asks of a terminal.
const sane = ansi.ResetModifyOtherKeys + "\x1b[<1u" + // the keyboard enhancements of one screen
	ansi.ResetModeMouseNormal + ansi.ResetModeMouseButtonEvent + ansi.ResetModeMouseAnyEvent + ansi.ResetModeMouseExtSgr +
	ansi.ResetModeFocusEvent + ansi.ResetModeBracketedPaste +
	ansi.ResetModeAltScreenSaveCursor + ansi.ShowCursor

// restoreOnCrash puts the terminal back before a panic in an informer ends the
// process, until stop is called: the explorer puts it back after its own panics
// only, and the stack would be printed on its screen, in raw mode.
func restoreOnCrash(in io.Reader, out io.Writer) (stop func()) {
	terminal, ok := in.(interface{ Fd() uintptr })
	if !ok {
		return func() {}
	}
	state, err := term.GetState(terminal.Fd())
	if err != nil {
		return func() {}
	}
	// client-go's list, which is the only way to hear of its goroutines' panics.
	was := utilruntime.PanicHandlers
	utilruntime.PanicHandlers = append(slices.Clone(was), func(context.Context, any) {
		_, _ = io.WriteString(out, sane)
		_ = term.Restore(terminal.Fd(), state)
	})
	return func() { utilruntime.PanicHandlers = was }
}
