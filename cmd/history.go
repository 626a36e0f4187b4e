package cmd

import (
	"os"
	"path/filepath"
	"strings"

	"k8s.io/klog/v2"
)

// linesRemembered is how many command lines are kept from run to run.
const linesRemembered = 500

// lineHistory is the file of the lines that were typed on the explorer's command
// line. What can't be read or written is no reason to stop: it is logged.
type lineHistory struct{ file string }

func newLineHistory() lineHistory {
	p, err := findPaths()
	if err != nil {
		return lineHistory{}
	}
	return lineHistory{p.history()}
}

// read returns the newest lines, the oldest of them first, and shortens a file
// that has grown too long.
func (h lineHistory) read() []string {
	text, err := os.ReadFile(h.file)
	if err != nil {
		return nil // there is none yet, or it can't be read: nothing is lost
	}
	lines := strings.FieldsFunc(string(text), func(r rune) bool { return r == '\n' })
	if len(lines) > 2*linesRemembered {
		lines = lines[len(lines)-linesRemembered:]
		h.complain(os.WriteFile(h.file, []byte(strings.Join(lines, "\n")+"\n"), 0o600))
	}
	return lines
}

// add appends a line.
func (h lineHistory) add(line string) {
	if h.file == "" {
		return
	}
	if err := os.MkdirAll(filepath.Dir(h.file), 0o700); err != nil {
		h.complain(err)
		return
	}
	f, err := os.OpenFile(h.file, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		h.complain(err)
		return
	}
	_, err = f.WriteString(strings.ReplaceAll(line, "\n", " ") + "\n")
	h.complain(err)
	h.complain(f.Close())
}

func (h lineHistory) complain(err error) {
	if err != nil {
		klog.Background().Info("The command line's history is not kept", "file", h.file, "reason", err)
	}
}
