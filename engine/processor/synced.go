package processor

import (
	"fmt"

	"k8s.io/client-go/tools/cache"
)

// HasSynced says whether the informer has synced and the handler has been given
// all of the initial list.
func (l *Listener) HasSynced() bool {
	select {
	case <-l.synced:
		return true
	default:
		return false
	}
}

// HasSyncedChecker is done when HasSynced is true.
func (l *Listener) HasSyncedChecker() cache.DoneChecker { return checker{l} }

// checker is a listener's DoneChecker.
type checker struct{ l *Listener }

// Name says what is waited for.
func (c checker) Name() string {
	if c.l.p.upstream == nil {
		return fmt.Sprintf("event handler %s", c.l.name)
	}
	return fmt.Sprintf("%s + event handler %s", c.l.p.upstream.Name(), c.l.name)
}

// Done closes when the handler is synced.
func (c checker) Done() <-chan struct{} { return c.l.synced }

// syncIfDone makes the handler synced if nothing is missing. It is called after
// everything that may have been the last thing to miss: the call that delivered
// an initial notification, Run's seeing the informer synced, and a registration
// with nothing to be given. Each of them is visible before it is called, so one
// of the calls sees all.
func (l *Listener) syncIfDone() {
	if !l.p.upstreamDone.Load() {
		return
	}
	// Delivered is read first: both only grow, and a count of all that is too
	// new can't make this true too early.
	if delivered := l.initialDelivered.Load(); delivered >= l.initialTotal() {
		l.syncOnce.Do(func() { close(l.synced) })
	}
}
