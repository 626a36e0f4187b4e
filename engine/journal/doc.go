// Package journal is the explorer's own listener: while somebody looks, it
// keeps the cached keys in order, with what it has seen of each.
//
//	processor ── one goroutine ──▶ Journal ◀── Inspector.Store
//	             Observe            keys in order (order-statistic B-tree)
//	                                views: the keys that match a filter
//
// It is added to an informer when the first viewer opens and removed with the
// last. It is one listener among the others: it holds nobody up, and being told
// of every cause it asks for none.
//
// Guarantees:
//
//   - If a notification has been observed, the next Page shows it.
//   - If a filter was asked for before, its matches are kept up to date as
//     objects come and go: asking again costs the window, not a scan. The four
//     filters asked for last are kept.
//   - If an object is deleted, nothing of it stays.
//
// Cost: about 150 bytes a key besides the key's own text, a descent of a B-tree
// an event, and one scan of all keys for a filter never asked for before.
package journal
