package cmd

import (
	"context"
	"fmt"
	"io"
	"log"
	"log/slog"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"k8s.io/klog/v2"
)

// startLog sends what client-go and the standard library's HTTP client log to the
// file of that name, or nowhere if it is empty, until stop is called: their
// default is to write over the screen.
func startLog(name string) (to io.Writer, stop func(), err error) { return startShownLog(name, nil) }

// startShownLog is startLog, with shown as one more place to log to, unless it is
// nil.
func startShownLog(name string, shown *logRing) (to io.Writer, stop func(), err error) {
	to, closeFile := io.Discard, func() error { return nil }
	if name != "" {
		file, err := os.OpenFile(name, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
		if err != nil {
			return nil, nil, fmt.Errorf("--log-file: %w", err)
		}
		to, closeFile = file, file.Close
	}
	standard := log.Writer()
	handler := slog.Handler(slog.NewTextHandler(to, nil))
	if shown != nil {
		handler = slog.NewMultiHandler(handler, ringHandler{ring: shown})
		log.SetOutput(io.MultiWriter(to, shown))
	} else {
		log.SetOutput(to)
	}
	klog.SetSlogLogger(slog.New(handler))
	return to, func() {
		klog.ClearLogger()
		log.SetOutput(standard)
		_ = closeFile()
	}, nil
}

// linesLogged and lineBytes bound what the log view keeps.
const (
	linesLogged = 2000
	lineBytes   = 4096
)

// logRing keeps the newest lines that were logged, for the explorer to show. The
// zero value is empty. Safe for concurrent use.
type logRing struct {
	mu        sync.Mutex // guards the fields below
	lines     []string   // a ring, once it is full
	next      int        // the oldest line then
	forgotten uint64
}

func (r *logRing) add(line string) {
	if len(line) > lineBytes {
		line = strings.ToValidUTF8(line[:lineBytes], "") + "…"
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.lines) < linesLogged {
		r.lines = append(r.lines, line)
		return
	}
	r.lines[r.next] = line
	r.next = (r.next + 1) % linesLogged
	r.forgotten++
}

// Write implements io.Writer, for loggers that write whole lines.
func (r *logRing) Write(p []byte) (int, error) {
	for line := range strings.Lines(string(p)) {
		r.add(strings.TrimRight(line, "\n"))
	}
	return len(p), nil
}

// Lines implements tui.Log.
func (r *logRing) Lines() (lines []string, forgotten uint64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Concat(r.lines[r.next:], r.lines[:r.next]), r.forgotten
}

// ringHandler writes records into a ring: time, the level's first letter, the
// message and what goes with it.
type ringHandler struct {
	ring   *logRing
	before string // attributes of the logger
	group  string
}

func (h ringHandler) Enabled(_ context.Context, l slog.Level) bool { return l >= slog.LevelInfo }

func (h ringHandler) Handle(_ context.Context, r slog.Record) error {
	var b strings.Builder
	fmt.Fprintf(&b, "%s %c %s%s", r.Time.Format(time.TimeOnly), r.Level.String()[0], r.Message, h.before)
	r.Attrs(func(a slog.Attr) bool {
		writeAttr(&b, h.group, a)
		return true
	})
	h.ring.add(b.String())
	return nil
}

func (h ringHandler) WithAttrs(attrs []slog.Attr) slog.Handler {
	var b strings.Builder
	for _, a := range attrs {
		writeAttr(&b, h.group, a)
	}
	h.before += b.String()
	return h
}

func (h ringHandler) WithGroup(name string) slog.Handler {
	h.group += name + "."
	return h
}

func writeAttr(b *strings.Builder, group string, a slog.Attr) {
	fmt.Fprintf(b, "  %s%s=%v", group, a.Key, a.Value.Resolve())
}
