// Package journal is the explorer's own listener: while somebody looks, it
// keeps the cached keys in order, with what it has seen of each, and remembers
// what happened to them.
//
//	processor ── one goroutine ──▶ Journal ◀── Inspector: Store, Biography,
//	             Observe            │                     Object, Diff, Snapshot
//	                                ├ entries    what is known of each key
//	                                ├ views      those that match a filter, in
//	                                │            an order
//	                                ├ histories  what happened to the keys that
//	                                │            changed, deleted ones included
//	                                └ hot        the few that change most
//
// It is added to an informer when the first viewer opens and removed with the
// last. It is one listener among the others: it holds nobody up, and being told
// of every cause it asks for none.
//
// # Views
//
// A view is an order-statistic B-tree. It is made by a scan of all entries in
// the order of their keys:
//
//  1. Page covers a few hundred entries at a time, letting go of the lock in
//     between, until the scan is complete or its time is up. It answers with the
//     rows found so far, and says how many entries it has covered.
//  2. Asked again, the scan goes on where it stopped.
//  3. Observe keeps up to date what has been covered, from the first moment.
//
// Entries that change wait to be moved until somebody asks, or until there are
// some hundreds: in order, they find their places faster than one by one.
//
// All keys in order are a view that is always complete, so the first rows wait
// for nothing.
//
// Some of the keys, as a bucket of an index has them, are put in an order when
// somebody asks, and not kept up to date: nobody says here which of them come and
// go. Members says how long an order holds.
//
// # Histories
//
// A history is a list of events, each with the object it brought. Objects are
// kept by reference: the newest costs nothing while the store holds it too, an
// older one is charged with what it takes. A key to which nothing has happened
// has no history; what its entry knows is as good as one event.
//
// All histories together stay below a bound in bytes. Over it, the history that
// takes most pays first, to a factor of two: with its oldest version, then with
// its oldest event. Among those of one size it is the one to which nothing has
// happened for the longest time. A busy key therefore cannot push out the
// others, and no key has more than 200 events or an eighth of the bound.
//
// # Floods
//
// Up to 8,192 updates a second, and 16,384 at once, are looked at closely: each is
// an event, compared with the version before if there is time. The last half of
// those at once is kept for keys that were quiet for a second; of more than twice
// as many, it is 1,024 a second. Every other update
// is counted only: the row says how many there were, the history has the newest
// of a run with its version and how many times in a row it happened. Who wrote
// such a version, and how large it is, is found out when somebody asks. New keys,
// deletions and changes of identity are always looked at closely. Of a key that
// has no history yet, such updates count as forgotten.
//
// # Catching up
//
// A journal begins by reading the store, and does so again when it is so far
// behind that notifications were passed over: CatchUp takes over what is there, a
// few keys at a time, and then takes out what is not there any more. Meanwhile
// pages show the keys taken over so far, and say how many there will be.
//
// # Guarantees
//
//   - If a notification has been observed, the next Page shows it.
//   - If a filter and an order were asked for before, they are kept up to date:
//     asking again costs the window, not a scan. The four asked for last are
//     kept, but none for which nobody has asked for ten seconds and which has
//     cost more since than a scan would.
//   - If two keys are equal in an order, they stand in the order of their keys.
//   - If some of the keys are put in order again and again, that takes a tenth of
//     a core at most.
//   - If an order is by rate, it changes only with updates, not with time.
//   - If an update was not compared with the version before, because there was
//     no time for it, it does not count as compared.
//   - If an object is deleted, its row goes and its biography stays.
//   - If at most 8,192 updates a second come, every one of them is an event.
//   - If more come, a row's updates are exact still, and its biography ends with
//     the version that is in the store.
//   - If an event or a version is let go of, or was never written down, it is
//     counted: in the biography as forgotten or as one of many, and in the vitals
//     as lost.
//   - If the journal has caught up, it has the keys and versions that the store
//     had or later ones, whatever it was not told of; that is counted.
//   - If a delta is set aside, Skip takes note of it without waiting for anyone.
//
// Whoever is given a version must not write to it: it is what handlers were
// given.
//
// # Cost
//
// About 170 bytes a key besides the key's own text, and 25 more for every view
// it is in. An event costs a look-up and, for each view in which its key moves,
// two descents of a B-tree. Comparing versions may take a twentieth of a core.
// Among a million keys that change 50,000 times a second, an event takes about
// half of the processor time that it would take if all were written down. Events
// that come together are looked up together, see ObserveAll: among so many keys
// most of the time would be spent waiting for memory.
package journal
