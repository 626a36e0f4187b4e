package deltafifo

import "k8s.io/client-go/tools/cache"

// Transformer returns Options.Transformer, for the reflector's own stores.
func (q *DeltaFIFO) Transformer() cache.TransformFunc { return q.Options.Transformer }

// HasSynced says whether what the first Replace brought has been applied, or an
// Add, Update or Delete came first. Once true it stays true.
//
// Unlike client-go, which answers as soon as the last of it is popped: there
// the answer has to wait until that is applied, because the lock is held [has
// synced].
func (q *DeltaFIFO) HasSynced() bool { return q.isSynced() }

// HasSyncedChecker returns a checker that is done when HasSynced is true.
func (q *DeltaFIFO) HasSyncedChecker() cache.DoneChecker { return q }

// Name returns what waits: it makes the queue a cache.DoneChecker.
func (q *DeltaFIFO) Name() string { return kindDeltaFIFO }

// Done returns a channel that is closed when HasSynced is true.
func (q *DeltaFIFO) Done() <-chan struct{} { return q.synced }

// Close lets waiting callers go. What waits can still be popped, and, as in
// client-go, what comes is still enqueued.
func (q *DeltaFIFO) Close() { q.close() }
