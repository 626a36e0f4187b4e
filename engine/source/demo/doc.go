// Package demo is a Kubernetes cluster that lives in this process: an API server
// at the seam where informers meet one (LIST and WATCH), and a workload that
// moves. Nothing is needed to run it, and one seed makes one history. Scenarios
// says what can happen in it; each has one thing to find, and is calm otherwise.
//
//	Scenario ──build──▶ world ─────── create, update, remove ──▶ server
//	   │                  │ agenda: what happens next,            │ one table a type:
//	   └──actors─────────▶│ one goroutine, one random source      │ objects, history
//	                                                              ▼
//	Cluster.Sources ──▶ source.Source{ListerWatcher: endpoint} ── LIST, WATCH
//	   └──handlers────▶ source.Source{Handlers}
//
// The server keeps the contract that clients of a real one rely on. Guarantees:
//
//   - If something is written, to whatever type, one revision grows, and the
//     object's resourceVersion is the revision of its last write.
//   - If a LIST is asked without a resourceVersion or with "0", it is answered as
//     of now; with N, not older than N, and with a limit or Exact, as of N
//     itself. If N has not been reached after three seconds it is refused as too
//     large.
//   - If a LIST is paged, every page shows the same revision. If that has left
//     the history in between, the page is refused with 410 and a token for going
//     on inconsistently.
//   - If a WATCH is asked from N, every later write that concerns it is sent
//     once, in order. If one of them has left the history, the stream is one
//     ERROR with status 410.
//   - If a WATCH is asked from "" or "0", or with sendInitialEvents, the objects
//     that exist come first, as ADDED; then, if initial events and bookmarks were
//     both asked for, the annotated bookmark that ends them.
//   - If an object begins to match the selectors of a watch it is ADDED, if it
//     ceases to it is DELETED, as it last matched, at the revision of the change.
//   - If a client takes events so slowly that it is more than a second's worth
//     (at least 1,000) behind, its watch is closed without a word.
//   - If a timeout was given the stream ends cleanly after it.
//   - If an object is handed out, in a list or an event, it is a deep copy and
//     the client's own.
//   - If two clusters are made with equal Options, they live through the same
//     writes: names, UIDs, resource versions and what happens when. Only the
//     timestamps in the objects are read from the clock. What clients ask makes
//     no difference to that.
//   - If Run returns, all watches have been closed, no goroutine of the cluster
//     is left, and later requests are refused with 503.
//
// Errors are apierrors.StatusErrors with the texts of a real server.
//
// There is no authentication, no writing from outside, and one server: no two
// that disagree.
//
// Cost: a write is O(log n) in the objects of its type plus O(open watches); a
// LIST copies what it returns; a list as of an older revision undoes the writes
// since. A pod takes about 5 kB in the server (versions share what has not
// changed) and about 10 kB in each client.
package demo
