// Package reflector keeps a store up to date with a server: it lists, watches,
// lists again when the watch is lost, waits between attempts, and asks the store
// to resync.
//
//	cache.ListerWatcher ──▶ Reflector ──▶ cache.ReflectorStore (a queue)
//	                            │
//	                            └──▶ Vitals, Requests, Resync (for whoever looks)
//
// A reflector is a machine of six phases. Each has one step, which leaves it by
// one of the transitions named becomeX; what is in brackets is assigned on the
// way. "version" is the resource version last enqueued; "gone" says that the
// server refused it, so that the next list asks for the most recent state.
//
//	                           ┌──────────┐
//	                           │ Starting │
//	                           └────┬─────┘
//	       client streams lists     │     it does not
//	     ┌──────────────────────────┴─────────────────────────┐
//	     ▼                                                    ▼
//	┌───────────────┐  refused, any other error,        ┌───────────┐  410, too new: once more
//	│ StreamingList │  not stored, no end marker (E)    │  Listing  │──┐ [gone = true]
//	│ WATCHLIST at  │──────────────────────────────────▶│  LIST at  │◀─┘
//	│ version       │                                   │  version  │
//	└─┬───┬───────┬─┘                                   └──┬─────┬──┘
//	  │   │ ▲     │ end marker, stored                     │     │ error, not stored
//	  │   └─┘     │ [version = marker's, gone = false]     │     │ [OnError]
//	  │ closed    │                  complete, stored      │     │
//	  │ early;    │       [version = list's, gone = false] │     │
//	  │ 410, too  ▼                                        ▼     │
//	  │ new     ┌──────────────────────────────────────────────┐ │
//	  │ [gone]  │ Watching                                     │─┼─┐ closed: again at version
//	  │         │ the rest of the stream, or WATCH at version  │◀┼─┘ (at once, or spaced (S))
//	  │         └────┬─────────────────────┬───────────────────┘ │
//	  │ 429,         │ 429, refused        │ 410, closed at once │
//	  │ refused      │ [to Watching]       │ and empty, error,   │
//	  │ [to          │                     │ resync failed       │
//	  │ Streaming    │                     │ [to a new round]    │ [to a new round]
//	  │ List]        ▼                     ▼                     ▼
//	  │         ┌──────────────────────────────────────────────────┐
//	  └────────▶│ BackingOff: 0.8 s to 30 s, doubled, with jitter  │
//	            └──────────────────────────────────────────────────┘
//	              waited: to where it was told; a new round begins like Starting
//
//	any phase ── ctx ends ──▶ Stopped        (E) with EndMarkerDeadline
//	any phase ── Relist ──▶ a new round      (S) with WatchSpacing
//
// Guarantees:
//
//   - If a WATCH brings an event, it is handed to the store before the event
//     that follows is read, and LastSyncResourceVersion moves after that.
//   - If an initial stream or a paged list is cut, the store has seen nothing of
//     it: it is given a whole list or none.
//   - If Options' hardening is off, the requests made, their order and their
//     parameters, the calls of the store and of OnError, and the waits are
//     those of client-go v0.37.2 but for the deviations below.
//   - If ctx ends, in whatever phase, Run returns when the request under way has
//     returned, the watch is stopped and the resync timer's goroutine has ended.
//   - If a request was made, it is in Requests, until 256 newer ones are.
//   - If an event can't be enqueued, it is logged and counted (Skipped).
//
// The store must be safe for Resync beside the other calls. It owns what it is
// given. A ListerWatcher that wraps another must forward
// IsWatchListSemanticsUnSupported, and should heed its context: Run waits for
// it. OnError must not block for long.
//
// Cost: one goroutine, and a second one while a resync period is set. An event
// costs one uncontended lock, two readings of an atomic and one of the clock, no
// allocation. An initial stream is held twice while it is handed over: as
// pointers. A request log entry is about 350 bytes.
//
// # Deviations from client-go
//
// These hold whatever the options:
//
//   - A LIST is cancelled at a stop and Run waits for it; client-go leaves it
//     running, and Run returns. No goroutine outlives the reflector.
//   - A stop ends the wait after a 429 to a WATCHLIST; client-go sits it out.
//   - A request that a stop cancelled is not reported to OnError.
//   - The watch of an initial stream that can't be stored is stopped; client-go
//     leaves it open.
//   - Objects of an initial stream are handed to the store in the order they
//     came in; client-go's order is a map's.
//   - A reflector runs once.
//   - KUBE_WATCHLIST_INCONSISTENCY_DETECTOR is not looked at.
//
// Behind options, each off by default: WatchSpacing, EndMarkerDeadline,
// WatchGrace, SteadyResync.
package reflector
