package cmd

import (
	"context"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/informeter/informeter/engine/inspect"
)

// countDown says on standard error, where that is a terminal, how long it still
// takes, until it is ended. What it wrote is gone then.
func (p Program) countDown(ctx context.Context, doing string, d time.Duration) (ended func()) {
	if !isTerminal(p.Stderr) || os.Getenv("TERM") == "dumb" {
		return func() {}
	}
	counting, cancel := context.WithCancel(ctx)
	gone := make(chan struct{})
	go func() {
		defer close(gone)
		countTo(counting, p.Stderr, doing, d)
	}()
	return func() {
		cancel()
		<-gone
	}
}

// countTo counts down from d on one line of w, until ctx ends. It says nothing of
// the first second: what is done by then needs no word.
func countTo(ctx context.Context, w io.Writer, doing string, d time.Duration) {
	const begin, clear = "\r", "\r\x1b[K"
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	for left := d; ; {
		select {
		case <-ctx.Done():
			if left < d {
				_, _ = io.WriteString(w, clear)
			}
			return
		case <-tick.C:
			left -= time.Second
			_, _ = fmt.Fprintf(w, "%s%s, %s left; an interrupt prints what there is  ", begin, doing, inspect.Duration(left.Round(time.Second)))
		}
	}
}
