package processor

import (
	"math"
	"sync"
	"time"

	"github.com/informeter/informeter/engine/inspect"
	"github.com/informeter/informeter/engine/tap"
)

const (
	// ringSize is how many calls a listener notes down before it has to take its
	// lock to settle them.
	ringSize = 64
	// busyWindow is half of the busy time that BusyRate looks back on.
	busyWindow = 5 * time.Second
	// settleStep is how exactly a call's end has to be known when it is settled.
	settleStep = int64(100 * time.Millisecond)
	noRound    = ^uint32(0)
)

// record is one call of a handler.
type record struct {
	ended int64 // on the processor's clock
	took  time.Duration
	seq   uint64 // of the notification
	cause inspect.Cause
}

// ledger is what is known of a listener's calls. The listener's goroutine notes
// each call in ring without a lock, and makes it known by counting it; whoever
// holds mu settles what was noted.
//
//	goroutine:  ring[k % ringSize] = record k;  delivered = k + 1
//	mu holder:  records [settled, delivered) → time, causes, busy;  settled = delivered
//
// The goroutine writes record k only if it knows record k - ringSize settled,
// which it finds out under mu.
type ledger struct {
	ring [ringSize]record
	// known is a value that settled has had; only the goroutine touches it.
	known uint64

	// began is the zero of the processor's clock. It never changes.
	began time.Time

	// mu guards the fields below.
	mu      sync.Mutex
	settled uint64
	time    tap.Latency
	causes  inspect.CauseCounts
	busy    busy
	// rate, arrivals and changes are sampled when somebody reads, and by Sample.
	// changed is the most that were ever addressed to it beside the initial list
	// and resyncs: the counts are read one after another.
	rate, arrivals, changes tap.Rate
	changed                 uint64

	// from is where the listener stood when fromDone calls had returned; the zero
	// position if it stands nowhere. Entries [from.index, runEnd) of its chunk
	// are for the listener and being delivered since runBegan; there is no such
	// run if runEnd is from.index.
	// stood is the number of the position where it stood last if it stands
	// nowhere.
	from     position
	fromDone uint64
	stood    uint64
	runEnd   int
	runBegan int64
	// before is the chunk before from's, if both are of the startup batch.
	before *chunk

	// rounds counts the resync rounds whose delivery has begun, roundBegan is
	// when that of the last began, roundGap how long after the one before it.
	// Of its calls, roundCalls were settled, which took roundWork; the last of
	// them ended at roundEnded.
	rounds     uint64
	roundBegan int64
	roundGap   time.Duration
	roundCalls uint64
	roundWork  time.Duration
	roundEnded int64

	// deliveries has the last calls that were settled, while they are recorded,
	// and merged the sequence numbers of the last notifications that were
	// conflated.
	deliveries *tap.Ring[delivery]
	merged     *tap.Ring[uint64]

	panics    uint64
	lastPanic string
}

// begin starts the averages of a listener that is added now, for a processor
// whose clock began at began.
func (g *ledger) begin(began, now time.Time) {
	g.began = began
	g.rate.Sample(now, 0)
	g.arrivals.Sample(now, 0)
	g.changes.Forgets = inspect.OutlookOver
	g.changes.Sample(now, 0)
}

// arrivedLocked brings the averages of what arrives up to date. addressed was
// read before.
func (g *ledger) arrivedLocked(l *Listener, now time.Time, addressed uint64) (all, changes float64) {
	if known := l.initialTotal() + l.resyncs.Load(); known <= addressed {
		g.changed = max(g.changed, addressed-known)
	}
	return g.arrivals.Sample(now, addressed), g.changes.Sample(now, g.changed)
}

// add notes the call number k.
func (g *ledger) add(k uint64, r record) {
	if k-g.known == ringSize {
		g.mu.Lock()
		g.settleLocked(k)
		g.known = k
		g.mu.Unlock()
	}
	g.ring[k%ringSize] = r
}

// settleLocked works in the calls below done that were noted.
func (g *ledger) settleLocked(done uint64) {
	var now time.Time
	nowUntil := int64(math.MinInt64)
	for ; g.settled < done; g.settled++ {
		r := &g.ring[g.settled%ringSize]
		// Latency forgets in steps of seconds: what ended within one step can
		// share the reckoning of when that was.
		if r.ended > nowUntil {
			now = g.began.Add(time.Duration(r.ended))
			nowUntil = r.ended + settleStep
		}
		g.time.Record(now, r.took, 1)
		g.causes.Add(r.cause, 1)
		g.busy.add(r.took)
		if r.cause == inspect.CauseResync {
			g.roundCalls++
			g.roundWork += r.took
			g.roundEnded = r.ended
		}
		if g.deliveries != nil {
			*g.deliveries.Next() = delivery{seq: r.seq, ended: r.ended, took: r.took}
		}
	}
}

// mergeLocked notes which notifications were conflated, while that is recorded.
func (g *ledger) mergeLocked(seqs []uint64) {
	for _, seq := range seqs {
		if g.merged != nil && seq != 0 {
			*g.merged.Next() = seq
		}
	}
}

// at says where the listener stands without being at work.
func (g *ledger) at(pos position, done uint64) {
	g.mu.Lock()
	g.from, g.fromDone, g.runEnd, g.before = pos, done, pos.index, nil
	g.mu.Unlock()
}

// rest says that the listener lets go of the log where it stands.
func (g *ledger) rest(stood, done uint64) {
	g.mu.Lock()
	g.from, g.fromDone, g.runEnd, g.stood, g.before = position{}, done, 0, stood, nil
	g.mu.Unlock()
}

// place returns where the listener was told to go on.
func (g *ledger) place() position {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.from
}

// beginRun says that the entries from pos up to end are being delivered.
func (g *ledger) beginRun(pos position, end int, done uint64, now int64) {
	g.mu.Lock()
	if pos.chunk != g.from.chunk {
		g.before = nil
		if pos.chunk.own {
			g.before = g.from.chunk
		}
	}
	g.beginRunLocked(pos, end, done, now)
	g.mu.Unlock()
}

func (g *ledger) beginRunLocked(pos position, end int, done uint64, now int64) {
	g.from, g.fromDone, g.runEnd, g.runBegan = pos, done, end, now
}

// beginRound says that the first notification of a resync round is delivered,
// after done calls.
func (g *ledger) beginRound(now int64, done uint64) {
	g.mu.Lock()
	g.settleLocked(done) // the rest of the round before
	g.roundCalls, g.roundWork, g.roundEnded = 0, 0, 0
	if g.rounds > 0 {
		g.roundGap = time.Duration(now - g.roundBegan)
	}
	g.rounds++
	g.roundBegan = now
	g.mu.Unlock()
}

// lastRoundLocked returns what the newest round has cost so far, nil if there was
// none. The processor's clock began at began, in nanoseconds since 1970.
func (g *ledger) lastRoundLocked(began int64) *inspect.Round {
	if g.rounds == 0 {
		return nil
	}
	r := &inspect.Round{Began: time.Unix(0, began+g.roundBegan), Objects: g.roundCalls, Work: g.roundWork}
	if g.roundCalls > 0 {
		r.Ended = time.Unix(0, began+g.roundEnded)
	}
	return r
}

func (g *ledger) panicked(text string) {
	g.mu.Lock()
	g.panics++
	g.lastPanic = text
	g.mu.Unlock()
}

// standingLocked returns the entry that the listener has not been given yet, after
// done calls, or is being given: then inCall is true and began says since when.
func (g *ledger) standingLocked(l *Listener, done uint64) (e *entry, inCall bool, began int64) {
	if g.from.chunk == nil {
		return nil, false, 0
	}
	i := g.from.index + int(done-g.fromDone)
	if i < g.runEnd {
		began = g.runBegan
		if done > g.fromDone {
			began = g.ring[(done-1)%ringSize].ended
		}
		return &g.from.chunk.entries[i], true, began
	}
	return ahead(position{g.from.chunk, i}, l), false, 0
}

// ahead returns the first entry from pos on that is for l, looking no further
// than a few runs: the listener itself is on its way there.
func ahead(pos position, l *Listener) *entry {
	for range 16 {
		if pos.index < int(pos.chunk.n.Load()) {
			e := &pos.chunk.entries[pos.index]
			if e.to.includes(l) {
				return e
			}
			pos.index += int(e.skip)
			continue
		}
		next, ok := pos.next()
		if !ok {
			return nil
		}
		pos = next
	}
	return nil
}

// busy remembers the calls of the last five to ten seconds that a handler was
// at work.
type busy struct{ current, previous stint }

type stint struct {
	calls uint64
	time  time.Duration
}

func (b *busy) add(took time.Duration) {
	b.current.calls++
	b.current.time += took
	if b.current.time >= busyWindow {
		b.previous, b.current = b.current, stint{}
	}
}

// rate returns calls a second of busy time, 0 if it is not known. A call that
// is under way for longer than calls usually take counts as busy time too: a
// handler that is stuck gets slower.
func (b *busy) rate(underWay time.Duration) float64 {
	calls, busy := b.current.calls+b.previous.calls, b.current.time+b.previous.time
	if calls == 0 || busy <= 0 {
		return 0
	}
	if usual := busy / time.Duration(calls); underWay > usual {
		busy += underWay - usual
	}
	return float64(calls) / busy.Seconds()
}
