// Package reflector keeps a store up to date with a server: it lists, watches,
// lists again when the watch is lost, waits between attempts, and asks the store
// to resync.
//
//	cache.ListerWatcher ──▶ Reflector ──▶ cache.ReflectorStore (a queue)
//	                            │
//	                            └──▶ Vitals, Requests, Resync (for whoever looks)
//
// A reflector is a machine of six phases. Each has one step, which leaves it by
// one of the transitions named becomeX. "version" is the resource version last
// enqueued; "recent" says that the next list asks for the most recent state
// instead of one no older than version.
//
//	                      ┌──────────┐
//	             ┌──────a─┤ Starting ├─b─────────┐
//	             ▼        └──────────┘           ▼
//	     ┌───────────────┐                 ┌───────────┐
//	  ┌─▶│ StreamingList ├─d──────────────▶│  Listing  │
//	  └c─┤               │                 │           │
//	     └─┬──────────┬──┘                 └─┬───────┬─┘
//	       │          e                      f       g
//	       │          ▼                      ▼       │
//	       │     ┌──────────────────────────────┐    │
//	       h     │           Watching           ├─i┐ │
//	       │     │                              │◀─┘ │
//	       │     └──┬─────────────────┬─────────┘    │
//	       │        j                 k              │
//	       ▼        ▼                 ▼              ▼
//	     ┌─────────────────────────────────────────────┐
//	     │                 BackingOff                  │
//	     └─┬────────┬─────────────────┬────────────────┘
//	       ▼        ▼                 ▼
//	StreamingList  Watching   a or b: a new round        Stopped
//
//	a  The client streams lists.                         WATCHLIST at version
//	b  It does not, or lately a stream was given up (E). LIST at version
//	c  410 or too new.                                   [recent = true]
//	   Closed before its end marker.                     at once, or spaced (S)
//	   Outlived its timeout (G).
//	d  Refused; any error that is not c or h; closed within a second, empty;
//	   the store refused the list; no end marker for too long (E).
//	e  End marker, and the list is stored.               [version = the marker's]
//	   The stream stays open for Watching.               [recent = false]
//	f  All pages came, and the list is stored.           [version = the list's]
//	   410 or too new on the way: once more, [recent = true]. [recent = false]
//	g  Error, or the store refused the list.             OnError
//	h  429, connection refused.                          the same request later
//	i  Closed. WATCH at version                          at once, or spaced (S)
//	   Internal error, while MaxInternalErrorRetry lasts.
//	   Outlived its timeout (G).
//	j  429, connection refused.                          the same request later
//	k  410, any other error; closed within a second, empty; a resync failed.
//	   A WATCH that could not be opened.                 OnError
//
//	every event                                          [version = the event's]
//	Relist, from every phase but Listing                 [recent = true], a or b
//	the context ends, in any phase                       Stopped
//
//	Only with: (S) WatchSpacing, (E) EndMarkerDeadline, (G) WatchGrace.
//
// Watching begins when the WATCH is asked for, before the server has accepted
// it. That is why an earlier failure to watch stays in Vitals until the watch has
// brought something or lived for a second.
//
// Guarantees:
//
//   - If a WATCH brings an event, it is handed to the store before the event
//     that follows is read, and LastSyncResourceVersion moves after that. A store
//     that takes many at once (Enqueue, see deltafifo) is handed it together with
//     those that can be read without waiting, up to 64, in their order.
//   - If an initial stream or a paged list is cut, the store has seen nothing of
//     it: it is given a whole list or none.
//   - If Options' hardening is off, the requests made, their order and their
//     parameters, the calls of the store and of OnError, and the waits are
//     those of client-go v0.37.2 but for the deviations below.
//   - If ctx ends, in whatever phase, Run returns when the request under way has
//     returned, the watch is stopped and the resync timer's goroutine has ended.
//     A LIST that takes no notice of the stop is left after a second.
//   - If a request was made, it is in Requests, until 256 newer ones are.
//   - If an event can't be enqueued, it is logged, counted and named in
//     Vitals; the next one is not held up.
//
// The store must be safe for Resync beside the other calls. It owns what it is
// given. A ListerWatcher that wraps another must forward
// IsWatchListSemanticsUnSupported, and should heed its context: Run waits for
// a WATCH to be opened. OnError must not block for long: nothing is read meanwhile.
//
// Cost: one goroutine, and a second one while a resync period is set. An event,
// or what is handed over with it, costs one uncontended lock and one reading of
// the clock, and no allocation. The objects of a LIST are copied out of its array,
// those of a large one by up to four goroutines; an initial stream is held until
// its end marker has come, and is not copied then but for its pointers. A
// remembered request takes 250 bytes and its texts.
//
// # Deviations from client-go
//
// These hold whatever the options:
//
//   - A LIST is cancelled at a stop and Run waits for it; client-go leaves it
//     running, and Run returns. No goroutine outlives the reflector [stop].
//   - A stop ends the wait after a 429 to a WATCHLIST; client-go sits it out
//     [stop].
//   - A request that a stop cancelled is not reported to OnError [stop].
//   - What still comes from a watch that was stopped is read; client-go leaves it
//     to whoever has it in hand [drained].
//   - The watch of an initial stream that can't be stored is stopped; client-go
//     leaves it open [refused stream].
//   - Events of a watch are handed to a store that takes many at once in bursts;
//     client-go hands them over one by one [bursts].
//   - Objects of an initial stream are handed to the store in the order they
//     came in; client-go's order is a map's [stream order].
//   - A reflector runs once, and makes no request if its context has ended [one
//     run].
//   - KUBE_WATCHLIST_INCONSISTENCY_DETECTOR is not looked at [no detector].
//
// Behind options, each off by default: WatchSpacing [spacing], EndMarkerDeadline
// [end marker], WatchGrace [grace], SteadyResync [steady resync], CheckLists
// [foreign types]. The table in engine/doc.go has the names and the reasons.
package reflector
