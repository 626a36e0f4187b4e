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
// NewSharedIndexInformer runs a RealFIFO, which keeps every event in order: here
// InOrder. For a handler the two differ in how many intermediate states it may
// see; in that the deletions of a relist come after what was listed and not before
// it; and in that a DeltaFIFO says nothing of the deletion of what the program has
// taken out of the store itself. They never differ in the last state.
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
//   - If Run has returned, every goroutine has ended, but for a LIST that goes on
//     a second after the stop because its ListerWatcher hands no context on.
//   - If an object has no key, its transform fails or makes something that has
//     none, or it cannot be applied, it is set aside and listed with the reason;
//     its neighbours go on, and the newest state known of it, in the store or on
//     the way there, stays. The quarantine lists the newest 16 that are not well
//     again.
//   - If something is set aside, the store's resource version goes on all the same:
//     it says until when everything has been dealt with, whichever the queue, and
//     who waits for it waits for no object that never gets in.
//   - If something is contained, it is reported as client-go reports errors
//     (runtime.HandleError): a matter once, when its reason changes and every ten
//     minutes, a line a second at most once ten are written.
//
// # Deviations from client-go v0.37.2
//
// Each has a name, with which the comments end that begin "Unlike client-go,".
// What errors and logs say is in our own words; an error's type is client-go's.
//
// What has an option in Hardening, and is taken back by Options.Strict:
//
//	[spacing]         watches that close young are      client-go opens the next at once,
//	                  spaced                            in a loop without a brake
//	[end marker]      an initial stream without one is  client-go waits for ever
//	                  given up for a LIST
//	[grace]           watches that outlive their        client-go trusts the server to end
//	                  timeout are cut                   them
//	[steady resync]   the resync timer survives         on a flaky connection client-go's
//	                  reconnects                        never fires
//	[quarantine]      an object without a key, or       client-go loses it with a log
//	                  whose transform fails, is set     line, or refuses the whole list
//	                  aside                             with it
//	[keep]            a list may say of a key that it   a bad object in a relist would
//	                  stays as it is                    bury the one that the store has
//	[foreign types]   an object of another type is      client-go does so with a watch's
//	                  left out of a list                only, and handlers panic
//	[retry]           a delta that cannot be applied,   client-go ends the process, or
//	                  because its object panics, is     loses the rest of its batch
//	                  tried again, then set aside
//	[stubborn]        an object whose methods panic     client-go ends the process
//	                  when its name, UID or a copy is
//	                  asked for costs only that
//	[index failure]   an object whose index function    client-go ends the process; here
//	                  fails or panics stays out of      it is counted and shown
//	                  that index
//
// What changes what handlers are told is off unless Hardening asks for it:
//
//	[busy resync]     a handler that is busy with the   a resync can outrun a handler for
//	                  last resync is left out of the    ever
//	                  next
//	[conflation]      a handler that falls further      what waits for it is bounded by
//	                  behind than so many               the number of keys
//	                  notifications is told only the
//	                  newest of each key
//	[compression]     a DeltaFIFO keeps only the        what waits for a key that changes
//	                  newest of adjacent updates of a   all the time stays short
//	                  key
//	[split identity]  an update from one object to      what a handler keeps of the first
//	                  another of the same name is a     is not taken for the other's
//	                  deletion and an addition
//
// What holds always, of the informer and of its stages, which are used by
// themselves too:
//
//	[nil handler]     a nil handler is refused          client-go panics at the first
//	                                                    event
//	[watch errors]    watch error handlers get a        client-go's has no exported state
//	                  Reflector that never ran          besides its resource version
//	[metrics]         metrics options have no effect    what they would count is in the
//	                                                    Snapshot; client-go's provider for
//	                                                    the process can't be read
//
//	[queue lock]      queue: its lock is never held     client-go holds it when 2,000
//	                  while a batch is handled          deltas wait; here the reflector is
//	                                                    held back instead, and the screen
//	                                                    says so
//	[free functions]  queue: transforms and a Replace   a slow one delays nobody else; so
//	                  run without the lock, too         a transform sees deletions that
//	                                                    turn out to be of nothing
//	[bursts]          queue: several deltas at once     one lock and one wake-up for many
//	[bookmarks]       queue: bookmarks pass through a   client-go's ignores them, and the
//	                  DeltaFIFO                         store's version stands still
//	[has synced]      queue: HasSynced answers no       with a DeltaFIFO the answer waits
//	                  before the last one is applied    there for the lock
//	[resync keys]     queue: Resync takes the store's   no key is made twice
//	                  keys
//
//	[stop]            reflector: a stop ends every      client-go leaves a LIST behind,
//	                  wait and request, which is no     and sits out a 429
//	                  error then
//	[drained]         reflector: a stopped watch is     client-go leaves it, and whoever
//	                  read to its end                   has an event for it waits for ever
//	[refused stream]  reflector: a watch of a stream    client-go leaves it open, and
//	                  that can't be stored is stopped   nobody reads it
//	[stream order]    reflector: the objects of an      client-go's is that of a map
//	                  initial stream keep their order
//	[one run]         reflector: it runs once, and not  client-go then still makes one
//	                  at all if its context has ended   request, which is cancelled
//	[no detector]     reflector: there is no            client-go's, on demand, lists all
//	                  inconsistency detector after an   once more; the audit compares with
//	                  initial stream                    the server
//
//	[free index]      store: index functions are        one that reads the store deadlocks
//	                  called without its lock, panics   there; readers go on meanwhile
//	                  of Index's are errors
//	[remembered]      store: old index values and       who writes to a cached object
//	                  versions are remembered           can't corrupt an index or hide an
//	                                                    update
//	[growing]         store: what is applied does not   a relist or a resync brings old
//	                  set its resource version back     objects last
//	[own map]         store: GetIndexers hands out a    client-go's map races with
//	                  copy                              AddIndexers
//	[refusals]        store: nil objects and unknown    client-go stores nil, and reports
//	                  transactions are refused          success for what it ignores
//	[tombstones]      store: a tombstone's key is its   client-go leaves it to the key
//	                  own                               function
//
//	[publish]         processor: Publish before Run     the log keeps what is for
//	                  does not wait                     listeners that have not started
//	[removal]         processor: a removed handler is   client-go may hand over a
//	                  given nothing more                notification or two
//	[goexit]          processor: a handler that ends    client-go queues for it for ever
//	                  its goroutine is removed
//	[panic synced]    processor: a handler that panics  client-go's never does, where the
//	                  on its initial list still         program goes on
//	                  becomes synced
//	[no trace]        processor: slow calls are not     they are counted and shown
//	                  logged
//
//	[undecodable]     source/cluster: an object that    client-go ends the stream, and
//	                  can't be decoded is set aside     asks for the same object again
//	[large frame]     source/cluster: too large a       client-go reads 16 MiB of it first
//	                  frame is refused by its length
//	[named metadata]  source/cluster: metadata say      client-go's can't be told apart,
//	                  what they are the metadata of     and those of a Secret are hidden
//	[no server]       source/cluster: a kubeconfig      client-go goes on with
//	                  that names no server is an error  localhost:8080
//
// # Cost
//
// What is counted is counted under locks that the pipeline takes anyway. The
// journal and the moments, which cost up to 600 KiB and 200 KiB more a handler,
// are there only while somebody looks.
package engine
