package deltafifo

import (
	"time"

	"k8s.io/client-go/tools/cache"

	"github.com/informeter/informeter/engine/inspect"
)

// PopEntries takes a batch from the head and has it processed. It is as
// DeltaFIFO's, with these differences: an entry that stands for many objects, a
// ReplacedAll or a SyncAll, is alone in its batch; and such an entry that fails
// is put back whatever waits, because it returns to its place before that.
func (q *InOrder) PopEntries(admit func() int, process func(batch []Entry) (failed []Entry)) (taken int, dropped []Entry, err error) {
	return q.pop(admit, process)
}

// Pop takes the event at the head, blocking until there is one, and calls
// process with it, as a cache.Deltas of one, without the lock. It returns it
// with the error of process; whatever that is, it is not put back. Bookmarks
// are events like others.
func (q *InOrder) Pop(process cache.PopProcessFunc) (any, error) {
	var deltas cache.Deltas
	var failure error
	_, _, err := q.pop(func() int { return wholeKey }, func(batch []Entry) []Entry {
		deltas = cache.Deltas{batch[0].Delta}
		failure = process(deltas, batch[0].InInitialList)
		return nil
	})
	if err != nil {
		return nil, err
	}
	return deltas, failure
}

// Transformer returns Options.Transformer, for the reflector's own stores.
func (q *InOrder) Transformer() cache.TransformFunc { return q.Options.Transformer }

// HasSynced says whether what the first Replace brought has been applied, or an
// Add, Update or Delete came first. Once true it stays true.
func (q *InOrder) HasSynced() bool { return q.isSynced() }

// HasSyncedChecker returns a checker that is done when HasSynced is true.
func (q *InOrder) HasSyncedChecker() cache.DoneChecker { return q }

// Name returns what waits: it makes the queue a cache.DoneChecker.
func (q *InOrder) Name() string { return kindInOrder }

// Done returns a channel that is closed when HasSynced is true.
func (q *InOrder) Done() <-chan struct{} { return q.synced }

// Close lets waiting callers go. What waits can still be popped, and, as in
// client-go, what comes is still enqueued.
func (q *InOrder) Close() { q.close() }

// Vitals returns the state of the queue at now, everything but the Gate. It
// samples the rates. Objects counts what each ReplacedAll lists, and for a
// SyncAll what the store holds now. Keys counts those of single events.
func (q *InOrder) Vitals(now time.Time) inspect.QueueVitals {
	known := q.knownLen()
	q.mu.Lock()
	defer q.mu.Unlock()
	v := q.vitalsLocked(now)
	v.Kind = kindInOrder
	v.Objects = q.waiting - q.lists - q.resyncs + q.listed + q.resyncs*known
	return v
}

// knownLen returns how many objects a SyncAll stands for; 1 if the store can't
// say.
func (q *InOrder) knownLen() int {
	if store, ok := q.KnownObjects.(interface{ Len() int }); ok {
		return store.Len()
	}
	return 1
}

// Waiting returns for each key how many of its events wait or are in flight. What
// a ReplacedAll or SyncAll holds for it is not counted.
func (q *InOrder) Waiting(keys []string) []int {
	counts := make([]int, len(keys))
	q.mu.Lock()
	defer q.mu.Unlock()
	for i, key := range keys {
		if t := q.tallies[key]; t != nil {
			counts[i] = t.waiting + t.flight
		}
	}
	return counts
}

// Page returns a window of the events in flight, then of those that wait,
// bookmarks included. Each is a row of its own. What it costs is as with
// DeltaFIFO's.
func (q *InOrder) Page(now time.Time, query inspect.QueueQuery) inspect.QueuePage {
	return q.page(now, query, q.knownLen())
}

func (q *InOrder) keysLocked() int { return q.keys }

func (q *InOrder) rowsLocked() (flying, waiting int) { return len(q.batch), q.entries.len() }

func (q *InOrder) flyingKeyLocked(i int) string { return q.batch[i].Key }

func (q *InOrder) flyingRowLocked(i int) row {
	r := row{key: q.batch[i].Key, position: -1}
	r.addEntry(&q.batch[i], q.began)
	return r
}

func (q *InOrder) waitingKeyLocked(i int) string { return q.entries.at(i).key }

func (q *InOrder) waitingRowLocked(i int) row {
	s := q.entries.at(i)
	r := row{key: s.key, position: i, n: 1}
	r.deltas[0] = s.delta
	return r
}

func (q *InOrder) flyingWeightLocked(i int) weight {
	e := &q.batch[i]
	return weight{e.Arrived.Sub(q.began), 1, e.Cause}
}

func (q *InOrder) waitingWeightLocked(i int) weight {
	s := q.entries.at(i)
	return weight{s.arrived, 1, s.cause}
}
