package deltafifo

import (
	"math"
	"sync"
	"time"

	"k8s.io/client-go/tools/cache"

	"github.com/informeter/informeter/engine/inspect"
	"github.com/informeter/informeter/engine/tap"
)

// wholeKey asks takeLocked for the deltas of one key, however many they are.
const wholeKey = math.MinInt

// contents is what the two queues do differently when they are popped. All of
// it is called with the lock held.
type contents interface {
	emptyLocked() bool
	// arriveLocked enqueues a delta that came at that time.
	arriveLocked(a arrival, now time.Duration) error
	// takeLocked moves up to limit deltas, and the bookmarks between them, into
	// batch and returns how many deltas it took.
	takeLocked(limit int) int
	// settleLocked clears what is in flight, puts back what failed and may be
	// tried again, and returns the rest.
	settleLocked(failed []Entry) (dropped []Entry)
	// oldestLocked returns when the oldest waiting delta arrived.
	oldestLocked() (time.Duration, bool)

	keysLocked() int // how many keys wait
	// What a page shows: rows in flight and rows that wait, by rank.
	rowsLocked() (flying, waiting int)
	flyingKeyLocked(i int) string
	flyingRowLocked(i int) row
	waitingKeyLocked(i int) string
	waitingRowLocked(i int) row
	// What pages are sorted by.
	flyingWeightLocked(i int) weight
	waitingWeightLocked(i int) weight
}

// core is what both queues share: the lock and who waits at it, turns of
// consumers, back-pressure, the startup batch and the counters.
type core struct {
	Options
	contents contents
	began    time.Time // delta.arrived counts from here

	// mu guards everything below and what the queues themselves hold. Foreign
	// code called under it: KnownObjects, and nothing else.
	mu sync.Mutex
	// arrived wakes consumers: something waits, a turn has ended, or closed.
	// room wakes producers: a batch has been applied, or closed.
	arrived, room sync.Cond
	closed        bool

	// turn says that a consumer is between beginTurn and endTurn, applying that
	// its process is running. applying implies turn.
	turn, applying bool
	// turns counts them, so that a batch can be told from the one after it.
	turns uint64
	// head is the position of the first row that waits. The others follow; a
	// row keeps its position as long as it waits. What is popped moves head up,
	// what is put back moves it down.
	head int64
	// batch is what is in flight, kept to be used again. It is written under mu
	// while applying is false, and read by anybody under mu.
	batch []Entry

	waiting  int // deltas in the queue, bookmarks not counted
	inFlight int // deltas in batch, bookmarks not counted
	peak     int // the largest waiting ever
	holding  int // producers being held back
	held     uint64

	enqueued, popped     uint64
	arrivalRate, popRate tap.Rate
	wait                 tap.Latency

	// populated says that a Replace or an Add, Update or Delete has come,
	// replaced that a Replace has. unapplied counts what the first Replace
	// brought, if it came before the others, and is not applied yet.
	populated, replaced bool
	unapplied           int
	// synced is closed, and complete set, once both are as they have to be.
	complete bool
	synced   chan struct{}
}

func (c *core) init(o Options, own contents) {
	c.Options = o.withDefaults()
	c.contents = own
	c.began = time.Now()
	c.arrived.L, c.room.L = &c.mu, &c.mu
	c.synced = make(chan struct{})
}

// enter takes the lock for a producer, as soon as there is room, and returns
// the time at which what it brings has arrived. Because the time is read under
// the lock, arrival times never decrease from one delta to the next.
func (c *core) enter() time.Duration {
	c.mu.Lock()
	if c.fullLocked() {
		c.held++
		c.holding++
		c.Generation.Bump()
		for c.fullLocked() {
			c.room.Wait()
		}
		c.holding--
	}
	return time.Since(c.began)
}

func (c *core) fullLocked() bool {
	return c.applying && c.waiting >= c.BackPressureAt && !c.closed
}

// leave releases a producer's lock and tells consumers and readers.
func (c *core) leave() {
	c.peak = max(c.peak, c.waiting)
	c.arrived.Broadcast()
	c.mu.Unlock()
	c.Generation.Bump()
}

// countLocked says that n deltas have been enqueued.
func (c *core) countLocked(n int) {
	c.waiting += n
	c.enqueued += uint64(n)
}

// populateLocked notes an Add, Update or Delete.
func (c *core) populateLocked() {
	c.populated = true
	c.checkSyncedLocked()
}

// replaceCauseLocked returns the cause of what a Replace brings.
func (c *core) replaceCauseLocked() inspect.Cause {
	if c.replaced {
		return inspect.CauseRelist
	}
	return inspect.CauseInitial
}

// checkSyncedLocked closes synced once there is nothing left to wait for. It
// is called after every change of populated and unapplied.
func (c *core) checkSyncedLocked() {
	if c.populated && c.unapplied == 0 && !c.complete {
		c.complete = true
		close(c.synced)
	}
}

func (c *core) isSynced() bool {
	select {
	case <-c.synced:
		return true
	default:
		return false
	}
}

func (c *core) close() {
	c.mu.Lock()
	c.closed = true
	c.arrived.Broadcast()
	c.room.Broadcast()
	c.mu.Unlock()
	c.Generation.Bump()
}

// pop is one turn of a consumer: it waits for something to pop, takes what
// admit allows, processes it, and settles what became of it.
func (c *core) pop(admit func() int, process func([]Entry) []Entry) (taken int, dropped []Entry, err error) {
	if !c.beginTurn() {
		return 0, nil, cache.ErrFIFOClosed
	}
	// If admit or process panics, the batch is taken as applied, so that whoever
	// recovers finds a queue that works.
	var failed []Entry
	defer func() { dropped = c.endTurn(failed) }()
	limit := admit()
	if limit <= 0 && limit != wholeKey {
		return 0, nil, nil
	}
	taken = c.take(limit)
	failed = process(c.batch)
	return taken, nil, nil
}

// beginTurn waits until something can be popped and nobody else is popping. It
// returns false if the queue is closed and empty.
func (c *core) beginTurn() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	for c.turn || c.contents.emptyLocked() {
		if c.closed && !c.turn {
			return false
		}
		c.arrived.Wait()
	}
	c.turn = true
	c.turns++
	return true
}

// take puts what limit allows in flight and returns how many deltas that is.
func (c *core) take(limit int) int {
	c.mu.Lock()
	// Only the monotonic clock is read: began carries the other.
	now := c.began.Add(time.Since(c.began))
	taken := c.contents.takeLocked(limit)
	c.waiting -= taken
	c.inFlight = taken
	c.popped += uint64(taken)
	c.applying = true
	c.recordWaitsLocked(now)
	c.mu.Unlock()
	c.Generation.Bump()
	return taken
}

// recordWaitsLocked records how long the batch has waited. Deltas of one call
// arrived at the same time, so runs are recorded at once.
func (c *core) recordWaitsLocked(now time.Time) {
	for i := 0; i < len(c.batch); {
		arrived, n := c.batch[i].Arrived, 0
		for ; i < len(c.batch) && c.batch[i].Arrived == arrived; i++ {
			if c.batch[i].Type != cache.Bookmark {
				n++
			}
		}
		if n > 0 {
			c.wait.Record(now, now.Sub(arrived), n)
		}
	}
}

// endTurn settles the batch and lets the next consumer, and producers that were
// held back, go on.
func (c *core) endTurn(failed []Entry) (dropped []Entry) {
	c.mu.Lock()
	c.applying = false
	dropped = c.contents.settleLocked(failed)
	c.inFlight = 0
	c.batch = emptied(c.batch)
	c.peak = max(c.peak, c.waiting)
	c.checkSyncedLocked()
	c.turn = false
	c.arrived.Broadcast()
	c.room.Broadcast()
	c.mu.Unlock()
	c.Generation.Bump()
	return dropped
}

// keepEntries is the largest batch whose memory is kept for the next one.
const keepEntries = 4096

// forget ends a batch for the keys of a queue. It takes those out of keys that
// are left in flight, done of them, the others being nil: nothing is left of
// them, so free may use them again. Then it empties flight. key returns the key of
// the i-th in flight, widest is the most keys since the map was made.
//
// When those are all there are, the map is emptied at once, which is cheaper than
// key by key unless it once held many more.
func forget[T any](keys *map[string]*T, widest *int, flight *[]*T, done int, key func(i int) string, free func(*T)) {
	all := done == len(*keys)
	switch {
	case all && *widest > keepEntries:
		*keys, *widest = map[string]*T{}, 0
	case all && done >= *widest/4:
		clear(*keys)
	default:
		for i, t := range *flight {
			if t != nil {
				delete(*keys, key(i))
			}
		}
	}
	for _, t := range *flight {
		if t != nil {
			free(t)
		}
	}
	*flight = emptied(*flight)
}

// emptied returns s without what it held, to be used again unless it is large.
func emptied[T any](s []T) []T {
	clear(s)
	if cap(s) > keepEntries {
		return nil
	}
	return s[:0]
}

// markFailedLocked marks in batch what process could not apply and returns what
// does not come from the batch.
func (c *core) markFailedLocked(failed []Entry) (foreign []Entry) {
	for i := range failed {
		f := &failed[i]
		if f.index >= len(c.batch) || c.batch[f.index].Key != f.Key || c.batch[f.index].Type != f.Type {
			foreign = append(foreign, *f)
			continue
		}
		c.batch[f.index].failed = true
	}
	return foreign
}

// makeRoomLocked makes room in the batch, which is empty, for up to limit deltas,
// if that many wait.
func (c *core) makeRoomLocked(limit int) {
	if n := min(limit, c.waiting); n > cap(c.batch) {
		c.batch = make([]Entry, 0, n)
	}
}

// appendLocked appends a delta to the batch. startup says that it came with the
// startup batch; what is popped before that there was one counts as initial too.
func (c *core) appendLocked(key string, d *delta, startup bool) {
	c.batch = append(c.batch, Entry{
		Delta:         d.Delta,
		Key:           key,
		Arrived:       c.began.Add(d.arrived),
		Cause:         d.cause,
		InInitialList: startup || !c.populated,
		Attempts:      int(d.attempts),
		Merged:        int(d.merged),
		Overtook:      d.overtook,
		startup:       startup,
		index:         len(c.batch),
	})
}

// waitingAgain returns an entry of the batch as it waits for its next attempt.
func (c *core) waitingAgain(e *Entry) delta {
	return delta{
		Delta:    e.Delta,
		arrived:  e.Arrived.Sub(c.began),
		cause:    e.Cause,
		attempts: uint16(e.Attempts + 1),
		merged:   uint32(e.Merged),
		overtook: e.Overtook,
	}
}

// Pending returns how many deltas wait and how many are in flight, bookmarks not
// counted.
func (c *core) Pending() (waiting, inFlight int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.waiting, c.inFlight
}

// vitalsLocked fills in what both queues count.
func (c *core) vitalsLocked(now time.Time) inspect.QueueVitals {
	v := inspect.QueueVitals{
		Deltas:         c.waiting,
		Keys:           c.contents.keysLocked(),
		InFlight:       c.inFlight,
		Peak:           c.peak,
		BackPressureAt: c.BackPressureAt,
		BackPressure:   c.holding > 0,
		Held:           c.held,
		ArrivalRate:    c.arrivalRate.Sample(now, c.enqueued),
		PopRate:        c.popRate.Sample(now, c.popped),
		Wait:           c.wait.Summary(),
	}
	if oldest, ok := c.contents.oldestLocked(); ok {
		v.Age = max(now.Sub(c.began)-oldest, 0)
	}
	return v
}
