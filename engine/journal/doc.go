// Package journal is the explorer's own listener: while somebody looks, it
// keeps the cached keys in order, with what it has seen of each.
//
//	processor ── one goroutine ──▶ Journal ◀── Inspector.Store
//	             Observe            entries: what is known of each key
//	                                views: those that match a filter, in an order
//
// It is added to an informer when the first viewer opens and removed with the
// last. It is one listener among the others: it holds nobody up, and being told
// of every cause it asks for none.
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
// All keys in order are a view that is always complete, so the first rows wait
// for nothing.
//
// Guarantees:
//
//   - If a notification has been observed, the next Page shows it.
//   - If a filter and an order were asked for before, they are kept up to date:
//     asking again costs the window, not a scan. The four asked for last are
//     kept.
//   - If two keys are equal in an order, they stand in the order of their keys.
//   - If an order is by rate, it changes only with updates, not with time.
//   - If an update was not compared with the version before, because there was
//     no time for it, it does not count as compared.
//
// Cost: about 200 bytes a key besides the key's own text, and 25 more for every
// view it is in; a look-up and, for each view in which it moves, two descents of
// a B-tree an event. Comparing versions may take a twentieth of a core.
package journal
