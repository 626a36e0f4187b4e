// Package engine is a shared informer that can be looked into: our own
// implementation of client-go's pipeline, usable in its place.
//
//	API server                                                     │ goroutines
//	    │ LIST, WATCH                                              │
//	    ▼                                                          │
//	Reflector ────── Add Update Delete Replace Resync Bookmark ──┐ │ reflector
//	    ▲                                                        │ │
//	    │ resync: is anybody due? (processor.ShouldResync)       │ │
//	                                                             ▼ │
//	┌──────────────────────── DeltaFIFO ────────────────────────┐  │
//	│ keys in order of arrival, each with its Deltas            │  │ the queue's lock
//	│ in flight: popped and not yet applied                     │  │
//	└───────────────────────────────────────────────────────────┘  │
//	    │                                                          │
//	  gate    run, pause, step, limit: before Pop                  │ Run
//	    ▼                                                          │
//	HandleDeltas ── 1. apply ──▶ Indexer (objects, indices)        │ handleMu, the
//	    │                           ▲                              │ store's lock
//	    │ 2. publish                │ known objects, readers       │
//	    ▼                                                          │
//	Processor: one log of notifications                            │ the log's lock
//	    │           │                │                             │
//	    ▼           ▼                ▼                             │
//	listener    listener         listener "informeter"             │ one a listener
//	handler     handler          journal ──▶ Inspector.Store       │
//
// The stages are rooms of their own that know nothing of each other; this
// package puts them together, and answers for all of them as inspect.Inspector
// and inspect.Controls.
//
// The queue is client-go's DeltaFIFO, which per key compresses what has not
// been handled yet. Stock client-go runs it up to 1.35; from 1.36 on its
// NewSharedIndexInformer runs a RealFIFO, which keeps every event in order. For
// a handler the two differ in how many intermediate states it may see, never in
// the last one.
//
// # Guarantees
//
//   - If the server holds an object in some state long enough, the cache holds
//     it in that state or a later one, unless the informer is stopped or the
//     connection fails for good.
//   - If a handler is told of a change, the store and every index already have
//     it.
//   - If two notifications to one handler concern one key, they arrive in the
//     order of the states. Nothing is promised across keys or handlers.
//   - If a handler joins a running informer, it is given an add for every object
//     in the store and then everything that comes after, nothing twice.
//   - If an object vanished while nobody watched, its deletion arrives as a
//     cache.DeletedFinalStateUnknown with the last state known.
//   - If a handler's registration has synced, the store has been given one full
//     list and this handler all of it.
//   - If an index is added by expression, it has what the store has, before and
//     after; objects the expression fails on are counted and left out of it.
//   - If Run has returned, every goroutine has ended.
//   - If an object has no key, its transform fails or makes something that has
//     none, or it cannot be applied, it is set aside and listed with the reason;
//     its neighbours go on, and the newest state known of it, in the store or on
//     the way there, stays. The quarantine lists the newest 16 that are not well
//     again.
//   - If something is contained, it is reported as client-go reports errors
//     (runtime.HandleError): a matter once, when its reason changes and every ten
//     minutes, a line a second at most once ten are written.
//
// # Deviations from client-go v0.37.2
//
//	what                                     why
//	an index function that fails or panics   client-go ends the process; here the
//	                                         object stays out of that index, and
//	                                         the failure is counted and shown
//	the resync timer survives reconnects     on a flaky connection client-go's
//	                                         never fires
//	watches that close young are spaced      client-go opens the next at once, in
//	                                         a loop without a brake
//	an initial stream without end marker     client-go waits for ever
//	is given up for a LIST
//	watches that outlive their timeout       client-go trusts the server to end
//	are cut                                  them
//	a stopped watch is read to its end       client-go leaves it, and whoever
//	                                         has an event for it waits for ever
//	the queue's lock is never held while     client-go holds it when 2,000 deltas
//	a batch is handled                       wait; here the reflector is held back
//	                                         instead, and the screen says so
//	an object without a key, or whose        client-go loses it with a log line, or
//	transform fails, is set aside            refuses the whole list with it
//	an object of another type is left out    client-go does so with a watch's only,
//	of a list                                and handlers panic
//	a delta that cannot be applied, because  client-go ends the process, or loses
//	its object panics, is tried again,       the rest of its batch
//	then set aside
//	a nil handler is refused                 client-go panics at the first event
//	watch error handlers get a Reflector     client-go's has no exported state
//	that never ran                           besides its resource version
//
// Inside the stages, which are used by themselves too:
//
//	what                                     why
//	queue: process, transforms and Replace   a slow one delays nobody else; so a
//	run without the lock                     transform sees deletions, too, that
//	                                         turn out to be of nothing
//	queue: several deltas at once            one lock and one wake-up for a burst
//	queue: bookmarks pass through a          client-go's ignores them, and the
//	DeltaFIFO                                store's version stands still
//	queue: HasSynced answers before the      there the answer waits for the lock
//	last one is applied
//	queue: a list may say of a key that it   a bad object in a relist would bury
//	stays as it is                           the one that the store has
//	queue: Resync takes the store's keys     no key is made twice
//	reflector: a request that the stop       it is no error, and Run waits for it
//	cancelled; a stop ends every wait        instead of leaving it behind
//	reflector: a watch of a stream that      client-go leaves it open, and nobody
//	can't be stored is stopped               reads it
//	store: index functions are called        one that reads the store deadlocks
//	without a lock, their panics are errors  there; readers go on meanwhile
//	store: old index values and versions     who writes to a cached object can't
//	are remembered                           corrupt an index or hide an update
//	store: GetIndexers hands out a copy      client-go's map races with AddIndexers
//	store: nil objects and unknown           client-go stores nil, and reports
//	transactions are refused                 success for what it ignores
//	store: a tombstone's key is its own      client-go leaves it to the function
//	processor: Publish before Run does not   the log keeps what is for listeners
//	wait                                     that have not started
//	processor: a handler that ends its       client-go queues for it for ever
//	goroutine is removed
//
// What concerns index functions, the resync timer, watches, streams, what is set
// aside or left out and what is tried again has an option in Hardening;
// Options.Strict takes it all back. The others hold always: a stopped watch is read
// to its end, the queue's lock is not held, a nil handler is refused, and watch
// error handlers get a Reflector that never ran.
//
// What changes what handlers are told is off unless Hardening asks for it:
//
//	SkipBusyResync     a handler that is busy with the last resync is left out of
//	                   the next
//	ConflateBacklog    a handler that falls further behind than so many
//	                   notifications is told only the newest of each key, so that
//	                   what waits for it is bounded by the number of keys
//	CompressUpdates    a DeltaFIFO keeps only the newest of adjacent updates of a
//	                   key
//	SplitIdentity      an update from one object to another of the same name is a
//	                   deletion and an addition
//
// # Cost
//
// What is counted is counted under locks that the pipeline takes anyway. The
// journal and the moments, which cost up to 600 KiB and 200 KiB more a handler,
// are there only while somebody looks.
package engine
