package demo

import (
	"time"

	"k8s.io/client-go/tools/cache"
)

// worker is an event handler that takes its time: it sleeps as long as the work
// that it stands for would take.
type worker struct {
	// change is how long an update takes, full an object that appears or
	// disappears.
	change, full time.Duration
}

var _ cache.ResourceEventHandler = (*worker)(nil)

// OnAdd implements cache.ResourceEventHandler.
func (w *worker) OnAdd(any, bool) { time.Sleep(w.full) }

// OnUpdate implements cache.ResourceEventHandler.
func (w *worker) OnUpdate(_, _ any) { time.Sleep(w.change) }

// OnDelete implements cache.ResourceEventHandler.
func (w *worker) OnDelete(any) { time.Sleep(w.full) }
