// Package store is the informer's cache: a thread-safe set of objects by key,
// with indices. It implements client-go's cache.Indexer and
// cache.TransactionStore, and shows how its indices are filled.
//
//	positions      keys      objects      index "namespace"
//	key ─▶ pos     0 a/x     0 ●          homes (pos ─▶ bucket, place)   buckets
//	               1 b/y     1 ●          0 ─▶ 0, 0                      0 "a": 0 2
//	               2 a/z     2 ●          1 ─▶ 1, 0                      1 "b": 1
//	                                      2 ─▶ 0, 1
//	                                      byValue (value ─▶ bucket)
//
// An object has a position in an array. A bucket is a list of positions, and for
// every object an index remembers the bucket and the place in it (its home): to
// read a bucket is to read the objects' array, no key is looked up; to take an
// object out of a bucket, the bucket's last member moves to its place. In the
// same way the last object moves into a position that is freed, so there are no
// gaps. What an object was filed under is known from its home, so an update
// compares the old value with the new one before anything else, and mostly ends
// there. Arrays are in pages (see array), so that growing moves nothing.
//
// A write has two steps. The writers' lock orders it among the writers, and the
// index functions are called; then the readers' lock is taken and the change is
// made.
//
// Guarantees:
//
//   - If a read returns, its answer was true at one moment, is the caller's own
//     slice, and stays as it is. The objects in it are shared: they must not be
//     written to.
//   - If several writes are made by one Apply, Transaction or Replace, no reader
//     sees some of them and not the others.
//   - If somebody does write to a cached object, the indices stay right: what it
//     was filed under is remembered, never computed again. Unlike client-go,
//     which asks the index function about the old object and so may leave the
//     key in a bucket for ever [remembered].
//   - If an Op of Apply is said to be Unchanged, its object has the version that
//     the old one was stored with, whatever has become of that since. Unlike
//     client-go, which asks the cached object [remembered].
//   - If an index function fails or panics, the object is stored, that index
//     leaves it out, and IndexVitals says so. Unlike client-go, which panics with
//     its lock held and the object half indexed [index failure].
//     Options.IndexFailure chooses.
//   - If an index function returns a value twice, it counts once.
//   - If an index function reads the store, it finds the state before the write
//     it is called for. Unlike client-go, where that deadlocks [free index].
//   - If an index is added by AddIndex, readers and writers go on while it is
//     built, and it has what they wrote.
//   - If Verify finds an object filed under other values than its index function
//     says, somebody wrote to the cached object, or the function is not pure.
//   - If most objects or values go, so does the memory they took.
//
// Callers must not write to the store from an index function, which would wait
// for itself.
//
// Cost: a write is O(values), and O(log buckets) where a bucket outgrows another.
// List and ByIndex copy what they return and look nothing up. IndexVitals is
// O(indices). Buckets and BucketKeys sort once and then keep the order up to date
// for as long as somebody looks (see view), so that a window of 100,000 costs
// microseconds plus what has changed. Index functions are timed in one call of 64,
// which costs two looks at the clock. An object takes 36 bytes and a slot of a
// table (10 to 20), in every index 8 and 4 for each bucket it is in, besides the
// buckets themselves.
package store
