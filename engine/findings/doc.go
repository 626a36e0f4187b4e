// Package findings reads what an informer says of itself and names what is wrong
// with it: the problem in a sentence, the numbers that show it, and what to do.
//
//	inspect.Process ──every second──▶ Process ──▶ a Watcher an informer
//	                                                │ Observe(snapshot, requests)
//	                                                ▼
//	                         rules ──▶ what there is now ──▶ Findings, ordered
//	                                   against what there was: since, ended
//
// The rules, and when each finds something:
//
//	list-forbidden      LIST answered with 403; an error from the second time on
//	watch-forbidden     the same for WATCH, where LIST works: HasSynced is true
//	no-answer           a stream not answered for 10s, a list for 20s
//	end-marker-missing  an initial stream answered, silent for 10s, or given up
//	expired             410 while watching: an info; twice from one version, or
//	                    right after a list, a warning; the third time an error
//	short-watches       3 watches in a row closed within 10s; 4 within 2m: an info
//	requests-failing    3 failures in a row over 10s, an error after a minute; at
//	                    once 401 before the first list, an error the second time
//	relist-loop         3 lists after lost watches in 5m, none of the above
//	not-synced          no progress with the initial list for 10s, after 20s a
//	                    warning; never started; a handler still being given it
//	handler-stuck       one call of 10s that usually take half of that or less;
//	                    an error after a minute
//	resync-storm        objects × mean handler time > granted period; an info
//	                    until part of a round has been seen
//	growing-backlog     pending grows for 15s, not in one step, and more arrives
//	                    than is worked off; an error when a minute behind
//	far-behind          a handler a minute behind that is none of the above, and
//	                    not being given the initial list; over below half of that
//	handler-panics      a panic within the last 5m
//	hot-key             1 update a second of which 95 % change nothing; or
//	                    writers who take turns, every two seconds; over once it
//	                    has been neither for 20s
//	identity-changed    another UID under a key, told as an update
//	quarantined         an object set aside, until it is well again; one
//	                    without a key for 10m
//	undecodable         an event that could not be decoded within the last 10m
//	index-errors        objects an index does not have because its function fails
//	gate-paused         closed for 10s, and the queue grows
//	journal-loss        notifications that the explorer left out
//
// Guarantees:
//
//   - If nothing is wrong, nothing is found: what a healthy informer does now and
//     then (a late handler, one 410, a burst that is worked off) is no warning.
//     Where a threshold could be lower, the reason why it is not stands with it.
//   - If one rule's finding explains what another one sees, the other is silent.
//   - If a problem is over, its finding says when, and is forgotten two minutes
//     later. If it comes back before, it is the same finding with the same Since.
//   - If a text comes from a server, an object or a handler, it is cleaned of
//     control characters and cut at 300 characters.
//
// hot-key, identity-changed and journal-loss know only what is seen while
// somebody looks at the informer; undecodable only where the source counts what
// comes over the wire.
//
// Callers observe about once a second: rules that look for a trend take longer
// if they are shown less. They must not share a Watcher between goroutines.
//
// Cost: an observation takes some tens of microseconds, and about ten more for
// each finding. A Watcher keeps 256 requests, 24 samples a handler and at most 128
// findings, whatever the informer holds.
package findings
