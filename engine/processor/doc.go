// Package processor tells an informer's handlers what happened to its objects:
// the sharedProcessor. All listeners read one log; each is a cursor into it and
// one goroutine.
//
//	Publish ──▶ ┌─────────────┐    ┌─────────────┐    ┌───────────┐
//	            │ a a a R R R │ ─▶ │ R R a a a a │ ─▶ │ a a       │ ◀─ tail
//	            └───▲─────────┘    └───────▲─────┘    └─────▲─────┘
//	                │ slow                 │ other          │ idle ones hold
//	            goroutine              goroutine            nothing of the log
//	                ▼                      ▼
//	             handler                handler
//
//	a  for every listener
//	R  a resync round: for those that are due; other cursors skip the run
//
// The log is a list of chunks. Publish appends to the last one and makes the new
// entries visible by a count that readers load; a listener that has something to
// do takes no lock but once a chunk. What a late listener is given first is a
// log of its own that leads into the shared one, so nobody else sees it.
//
// Publishing a batch, in this order:
//
//  1. What it adds is counted, by addressees: pending is never negative.
//  2. Its entries are written and made visible, chunk by chunk.
//  3. Listeners that were asleep and are addressed are handed the position where
//     the batch begins, and woken: once a batch.
//
// A listener, in turn:
//
//  1. It moves its cursor to the next run that is for it.
//  2. It calls the handler, entry by entry, noting how long each call took.
//  3. Where nothing more is published it lets go of the log and sleeps.
//
// With Options.ConflateBacklog a listener that falls too far behind leaves the
// log: see conflation.
//
// Guarantees:
//
//   - If a notification is published, every listener registered at the time and
//     addressed is given it once, in the order of publication, unless it is
//     removed, leaves the log, or the processor stops first.
//   - If a listener leaves the log, it is given for each key what leads from the
//     state that it was told of to the newest: an add only of what it does not
//     know, an update only from what it was told last, a delete only of what it
//     knows. What waits for it then is bounded by the number of keys. Once it has
//     caught up it is in the log again.
//   - If a handler is added late, it is given the objects handed to Add, then
//     everything published after Add, and nothing twice.
//   - If a handler is slow or stuck, no other handler, Publish or reader of
//     vitals waits for it. Its backlog has no bound, as in client-go, unless it
//     is conflated.
//   - If a listener has other means to catch up, its backlog has a bound: over it,
//     what waits is passed over and counted, and it goes on at the head of the
//     log after it has caught up. Nothing is passed over that is not older than
//     what it reads then.
//   - If a registration is removed or the processor stops, the call under way is
//     finished and what was pending is dropped, as in client-go.
//   - If HasSynced of a registration is true, the informer has synced and the
//     handler has returned from every notification of the initial list.
//   - If every listener has returned from everything it was given, the log
//     keeps no object alive. Otherwise it keeps what lies ahead of the slowest
//     cursor, and behind it at most the rest of that chunk: 63 notifications.
//   - If deliveries are recorded, the last 8,192 of each listener can be asked
//     for, as many that were conflated, and what is still pending always.
//   - If Run has returned, every goroutine has ended.
//
// A notification counts as pending until its call has returned; the one under
// way is the first of them. Behind is its age.
//
// Callers must not change what a notification points to, nor run Add at the same
// time as Publish, nor wait in a handler for its own ShutdownChan.
//
// # Deviations from client-go
//
//   - Removal drops the backlog always; client-go's pop may hand over a
//     notification or two more if the handler is quick to return [removal].
//   - Publish before Run does not block; client-go's distribute waits for Run
//     [publish].
//   - A handler that panics on an initial notification, in a program that
//     survives panics, still becomes synced; client-go's never does [panic
//     synced].
//   - A handler that calls runtime.Goexit is removed; client-go's is queued for
//     and never called again [goexit].
//   - No trace is logged of slow calls, as client-go does: vitals show them [no
//     trace].
//   - Behind an option, off by default: ConflateBacklog, where client-go's
//     backlog has no bound [conflation].
//
// # Cost
//
// A notification takes 80 bytes in the log, whatever the number of listeners.
// Publishing costs a copy an object, and a load or a wake-up a listener and
// batch. Delivering costs the call, one look at the clock and one atomic store;
// a run for others costs one step a chunk. A listener takes less than 6 KiB, a
// reader of vitals about 1 µs a listener.
//
// A handler that takes runs, see RunObserver, costs one call and one look at the
// clock for up to 64 notifications.
//
// With Options.ConflateBacklog each run is copied before it is delivered: a
// listener in the log takes 5 KiB and some 10 ns a notification more. Out of it
// a notification costs the mover one look into a map, and Publish at most the
// start of a goroutine a batch.
//
// While deliveries are recorded, each costs a few nanoseconds more and each
// listener up to 200 KiB more, 64 KiB with Options.ConflateBacklog; who asks for some of them costs each listener one
// scan of what is recorded, some 10 µs.
package processor
