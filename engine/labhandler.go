package engine

import (
	"time"

	"k8s.io/client-go/tools/cache"

	"github.com/informeter/informeter/engine/processor"
)

// maxOverslept bounds what a labHandler makes up for, so that a process that was
// held up does not run through a thousand calls without a pause.
const maxOverslept = 10 * time.Millisecond

// labHandler is a handler that does nothing, slowly: something to watch a backlog
// grow behind. Each call takes delay, or less if it is removed or the informer
// stops meanwhile.
//
// Timers are not exact: asked for 100 µs, the system may sleep for a whole
// millisecond. What one call sleeps too long the following ones sleep less, so
// that n calls take n × delay; single calls with a delay below about a
// millisecond come in bursts.
//
// Only its listener's goroutine calls it.
type labHandler struct {
	delay time.Duration
	// quitting closes when there is no use in waiting any more.
	quitting <-chan struct{}
	timer    *time.Timer // nil before the first wait
	// overslept is how much longer than asked calls took so far, within bounds.
	overslept time.Duration
}

var (
	_ cache.ResourceEventHandler = (*labHandler)(nil)
	_ processor.Interruptible    = (*labHandler)(nil)
)

// OnQuit implements processor.Interruptible.
func (h *labHandler) OnQuit(quitting <-chan struct{}) { h.quitting = quitting }

// OnAdd, OnUpdate and OnDelete make it a cache.ResourceEventHandler.
func (h *labHandler) OnAdd(any, bool)   { h.wait() }
func (h *labHandler) OnUpdate(any, any) { h.wait() }
func (h *labHandler) OnDelete(any)      { h.wait() }

func (h *labHandler) wait() {
	if h.delay == 0 {
		return
	}
	left := h.delay - h.overslept
	if left <= 0 {
		h.overslept -= h.delay
		return
	}
	if h.timer == nil {
		h.timer = time.NewTimer(left)
	} else {
		h.timer.Reset(left)
	}
	began := time.Now()
	select {
	case <-h.timer.C:
		h.overslept = min(max(time.Since(began)-left, 0), maxOverslept)
	case <-h.quitting:
		h.timer.Stop()
	}
}
