package tui

import (
	"context"
	"fmt"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/informeter/informeter/engine/inspect"
)

// resyncNow plays the cache back, and says to how many.
func (m *Model) resyncNow() tea.Cmd {
	return m.change(nil, func(ctx context.Context, i inspect.Inspector, c inspect.Controls) (string, error) {
		if err := c.ResyncNow(ctx); err != nil {
			return "", err
		}
		done := "the cache is being played back"
		if now, err := i.Snapshot(ctx); err == nil && now.Resync.LastListeners > 0 {
			done += " to " + count(now.Resync.LastListeners, "handler", "handlers")
		}
		return done, nil
	})
}

// noPeriod says why a handler can't be given a period; empty if it can.
func (m *Model) noPeriod(l *inspect.ListenerVitals) string {
	switch {
	case l.Explorer:
		return l.Name + " is the explorer's own handler: it is told of the rounds of all others, and asks for none"
	case m.snapshot().Resync.CheckPeriod == 0:
		return "this informer never checks: start the explorer with --resync 30s, or it with a period"
	}
	return ""
}

// askPeriod lets the user type how often a handler asks for a resync.
func (m *Model) askPeriod(handler string) {
	p := newPrompt("resync "+handler+" every: ", "30s, 5m; 0 for never", "")
	p.accept = func(text string) (tea.Cmd, error) {
		text = strings.TrimSpace(text)
		if text == "" {
			return nil, nil
		}
		every, err := time.ParseDuration(text)
		if text == "0" {
			every, err = 0, nil
		}
		if err != nil || every < 0 {
			return nil, &fault{0, len(text), fmt.Sprintf("%q is not a period: 30s, 5m, or 0 for never", text)}
		}
		done := handler + " asks for a resync every " + period(every)
		if every == 0 {
			done = handler + " asks for no resync"
		}
		return m.control(done, func(ctx context.Context, c inspect.Controls) error { return c.SetResync(ctx, handler, every) }), nil
	}
	m.prompt = p
}
