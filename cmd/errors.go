package cmd

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"syscall"
	"unicode"
	"unicode/utf8"

	"github.com/informeter/informeter/engine/source/cluster"
)

// The exit codes. A user who quits, for whatever reason, has not failed.
const (
	exitOK = 0
	// exitError: the command line is wrong, or something broke.
	exitError = 1
	// exitNotSynced: snapshot printed an informer that is not synced, or there
	// is no cluster to speak of.
	exitNotSynced = 2
	// exitFound and exitTrouble are doctor's: something was found, and something
	// kept it from looking.
	exitFound   = 1
	exitTrouble = 2
	// exitSignal plus its number: a signal ended the explorer.
	exitSignal = 128
)

// exitWith is an error with an exit code of its own.
type exitWith struct {
	code int
	err  error // nil: everything has been said
}

func (e *exitWith) Error() string {
	if e.err == nil {
		return fmt.Sprintf("exit code %d", e.code)
	}
	return e.err.Error()
}

func (e *exitWith) Unwrap() error { return e.err }

// finish says what went wrong, unless it has been said, and returns the exit
// code.
func finish(err error, stderr io.Writer) int {
	var own *exitWith
	switch {
	case err == nil, errors.Is(err, syscall.EPIPE):
		// Whoever read the output has read enough.
		return exitOK
	case errors.As(err, &own):
		if own.err != nil {
			sayError(stderr, err)
		}
		return own.code
	case errors.Is(err, cluster.ErrNotConfigured):
		sayError(stderr, fmt.Errorf("%w; name one with --kubeconfig, or try the simulated cluster with --demo", err))
		return exitNotSynced
	default:
		sayError(stderr, err)
		return exitError
	}
}

// sayError writes one line to standard error; if that fails there is nobody left
// to tell.
func sayError(stderr io.Writer, err error) {
	_, _ = fmt.Fprintf(stderr, "error: %s\n", printable(strings.TrimSpace(err.Error())))
}

// printable is a text in one line, without what makes a terminal do anything but
// print: servers choose what is in their errors, and users what is in names.
func printable(text string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case unicode.IsSpace(r):
			return ' '
		case !unicode.IsPrint(r):
			return utf8.RuneError
		}
		return r
	}, text)
}

// commands says whether a terminal may take a character for a command: control
// characters, and those that turn the direction of writing.
func commands(r rune) bool { return unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r) }
