package tui

import (
	"context"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/informeter/informeter/engine/findings"
)

// lookout applies the rules to every informer of the process, beside the reading
// of frames. Its rules belong to the command under way, of which there is one.
type lookout struct {
	source *source // whose informers it looks at
	rules  *findings.Process

	// What was found last; looked says that there is an answer.
	found  []findings.Finding
	err    error
	looked bool
}

// findingsMsg brings what was found to Update.
type findingsMsg struct {
	source *source
	found  []findings.Finding
	err    error
}

// lookOut looks once, after a pause. The informer on screen is always looked at,
// the others as far as there is time for within a heartbeat.
func (m *Model) lookOut(pause time.Duration) tea.Cmd {
	l := &m.lookout
	if l.source != m.source {
		*l = lookout{source: m.source, rules: findings.NewProcess(m.source.process)}
	}
	ctx, source, rules, first := m.ctx, l.source, l.rules, m.informer
	return func() tea.Msg {
		timer := time.NewTimer(pause)
		defer timer.Stop()
		select {
		case <-timer.C:
		case <-ctx.Done():
			return nil
		}
		looking, cancel := context.WithTimeout(ctx, heartbeat)
		defer cancel()
		err := rules.Look(looking, first)
		if ctx.Err() != nil {
			return nil
		}
		return findingsMsg{source, rules.Findings(), err}
	}
}

// takeFindings shows what was found, unless the view is frozen, and looks again.
// It is drawn anew only where that can be seen: the texts have ages in them and
// differ each time.
func (m *Model) takeFindings(msg findingsMsg) tea.Cmd {
	if l := &m.lookout; msg.source == l.source && l.source == m.source && !m.frozen {
		going, troubles, looked := l.going(), l.troubles(), l.looked
		l.found, l.err, l.looked = msg.found, msg.err, true
		m.screens[screenFindings].refresh(m.frame)
		m.dirty = m.dirty || m.current == screenFindings || !looked || going != l.going() || troubles != l.troubles()
	}
	return m.lookOut(heartbeat)
}

// going counts the findings that have not ended.
func (l *lookout) going() (n int) {
	for i := range l.found {
		if l.found[i].Ended.IsZero() {
			n++
		}
	}
	return n
}

// troubles counts those among them that are more than an explanation.
func (l *lookout) troubles() (n int) {
	for i := range l.found {
		if l.found[i].Ended.IsZero() && l.found[i].Severity > findings.Info {
			n++
		}
	}
	return n
}

// openFinding shows where a finding can be seen: the page, and the row on it.
func (m *Model) openFinding(f *findings.Finding) {
	switch f.Place {
	case findings.PlaceStore:
		// A key's own pages lie over this screen, so that esc comes back to it.
		switch {
		case f.Subject == "":
			m.lead(screenStore, nil)
		case f.Rule == findings.HotKey, f.Rule == findings.IdentityChanged:
			m.openPage(f.Subject, pageBiography)
		default:
			m.openObject(f.Subject)
		}
	case findings.PlaceIndices:
		m.lead(screenIndices, nil)
		m.screens[screenIndices].(*indicesScreen).choose(f.Subject)
	case findings.PlaceHandlers:
		m.openHandler(f.Subject)
	case findings.PlaceResync:
		m.lead(screenResync, nil)
		m.screens[screenResync].(*resyncScreen).handlers.choose(f.Subject)
	case findings.PlaceQueue:
		m.lead(screenQueue, nil)
	case findings.PlaceRequests:
		m.lead(screenRequests, nil)
	default:
		m.lead(screenPipeline, nil)
	}
}
