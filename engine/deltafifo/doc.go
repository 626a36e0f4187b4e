// Package deltafifo holds the queues that stand between a reflector and
// HandleDeltas: what has happened to objects and is not yet in the store.
//
// Two queues with one surface, which their user declares as an interface:
//
//	interface {
//		cache.Queue
//		cache.ReflectorBookmarkStore
//		cache.TransformingStore
//		Enqueue(deltas []cache.Delta, failed func(i int, err error))
//		PopEntries(admit func() int, process func(batch []Entry) (failed []Entry)) (taken int, dropped []Entry, err error)
//		Vitals(now time.Time) inspect.QueueVitals
//		Page(now time.Time, query inspect.QueueQuery) inspect.QueuePage
//		Waiting(keys []string) []int
//	}
//
// DeltaFIFO keeps one list of deltas a key; a key stands where its first delta
// arrived, and is popped with all that has gathered behind it. InOrder keeps
// every event in its place; a relist is one entry, and so is a resync.
//
//	                              order (ring)
//	             ┌─────┬─────┬─────┬────┬─────┐
//	PopEntries ◀─┤  b  │  d  │  a  │ ▪  │  e  │◀─ Add Update Delete Replace
//	    │        └──┬──┴──┬──┴──┬──┴────┴──┬──┘   Resync Bookmark
//	    │           A     R     D   ▪ = a  S
//	    │           U           A   bookmark
//	    ▼
//	in flight: [c: A U] [f: D]     popped, not applied yet
//	    │ process (no lock held) ─▶ store, indices, notifications
//	    ▼
//	applied, or put back at the head
//
// What a Resync brings, and a Replace that finds a DeltaFIFO idle, is one delta
// each for many keys that have nothing else. It is kept as it came, as a run that
// stands in the order with a place for each key; a key leaves it for an item of
// its own when something more comes for it, in its place. From outside the two
// can't be told apart.
//
// The lock is not held while a batch is processed, so the reflector goes on
// enqueueing. What has been popped and is not yet applied is in flight, and
// stands for its key as if it still waited: an object that was popped as added
// is known, although the store does not hold it yet. Without that a relist in
// the meantime would see it neither in the queue nor in the store, leave it out
// of the deletions, and the store would keep a ghost.
//
// Guarantees:
//
//   - If two deltas of one key are popped, they are popped in the order in
//     which they arrived.
//   - If a Replace leaves out a key that waits, is in flight or is in the store
//     and whose last state is not deleted, a tombstone is enqueued for it.
//   - If a Replace has a Keep for a key, nothing is enqueued for it.
//   - If a key waits or is in flight, a Resync does not enqueue it.
//   - If HasSynced answers true, every delta of the first Replace has been
//     applied or dropped, not merely popped.
//   - If a bookmark is popped, everything that arrived before it was popped
//     earlier or is before it in the same batch. A list is followed by one.
//   - If process fails a delta of the first Replace, HasSynced waits for its next
//     attempt, or for the newer state that took its place.
//   - If Close is called, waiting callers return; what waits can still be
//     popped, then Pop and PopEntries return cache.ErrFIFOClosed.
//   - If several goroutines pop, they take turns: a batch is popped after the
//     one before it has been applied.
//
// Back-pressure: from Options.BackPressureAt waiting deltas on, whoever enqueues
// is held back while a batch is being processed, and let go when it has been
// applied or the queue is closed. So a queue under load holds hardly more than
// that many deltas, plus what one Replace or Resync brings, which is never
// split. While nobody pops, as behind a paused gate, nothing is in flight and
// nobody is held: what arrives stays in sight, and the queue grows.
//
// Callers must not enqueue from within process: at the back-pressure mark that
// would wait for itself. They must not keep a batch, or write to it, after
// process has returned. Options.KnownObjects is asked under the queue's lock
// and must not call the queue.
//
// Cost: enqueueing is O(1); one map lookup, no allocation but the key. Enqueue
// takes the lock and looks at the clock once for 32 deltas. Replace
// and Resync are linear in the list, the queue and the store. The first that
// comes while there is a run makes an index of its keys, some 50 ns each; without
// it a Resync costs some 10 ns a key, and taking it out again 30. Vitals, Waiting a
// key, and a Page without a filter in the queue's own order do not depend on the
// length of the queue. A Page with a filter or in another order looks at every
// waiting key, about 50 ns each, by key up to 200, and holds the lock for a few
// thousand of them at a time. Another order takes 56 bytes for each key up to the
// end of the window and for as many again while there are more: for a window in the
// middle of a million keys 57 MB, which are free again with the answer. A waiting key
// with one delta takes about 170 bytes besides the object and the key, in a run 32.
package deltafifo
