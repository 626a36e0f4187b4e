package journal

import (
	"cmp"
	"math"
	"sync"
	"sync/atomic"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"

	"github.com/informeter/informeter/engine/inspect"
)

const (
	// compareShare is how much of a core may go into comparing versions, and
	// compareBurst how much at once.
	compareShare = 0.05
	compareBurst = 20 * time.Millisecond
)

// Options say how much a journal may remember. The zero value works.
type Options struct {
	// Bound is how much memory biographies may take, in bytes, the versions kept
	// for them included; 0 stands for DefaultBound.
	Bound int64
	// Expect is how many keys the journal will have once it has caught up for the
	// first time.
	Expect int
}

// DefaultBound is how much memory biographies take if nobody says otherwise.
const DefaultBound = 32 << 20

// Event is one notification as the journal is told of it.
type Event struct {
	Key   string
	Seq   uint64 // its number in the processor's log; 0 if it has none
	Cause inspect.Cause
	// Old is the object before, nil if there was none; New the object now, nil
	// if it is gone. Tombstone: how it was when it was deleted is not known.
	Old, New  any
	Tombstone bool
	// Split marks the two halves of an update from one object to another of the
	// same name, which handlers are told of as a deletion and an addition.
	Split bool
	At    time.Time
	// Waited is how long the delta was on its way from the reflector to At.
	Waited time.Duration
	// Merged counts other deltas that it stands for.
	Merged uint16
}

// Journal keeps the keys of a store in order. New makes one. Safe for concurrent
// use: one goroutine observes, any number read.
type Journal struct {
	rates rates
	// A scan covers scanChunk entries before it looks at the clock; see maxMoves,
	// stepTime and pageTime.
	scanChunk, maxMoves int
	stepTime, pageTime  time.Duration

	// Only the goroutine that observes touches these.
	budget    budget
	comparer  comparer
	attention attention
	// asOf is when the journal last caught up: what was published before is in.
	asOf time.Time

	// mu guards everything below. Whoever observes holds it for one notification,
	// or for some that are only counted; readers hold it for one step of a scan or
	// one window.
	mu sync.Mutex
	// entries has an entry for every key, all has the same in order. Only the
	// goroutine that observes writes to it, and therefore reads it without mu.
	entries keys
	all     *view
	text    int64 // bytes of all keys
	// round counts how often the journal has caught up, expected is how many keys
	// there will be at least when it has, lost what it was not told of.
	round    uint8
	expected int
	lost     uint64
	// views holds the orders and filters in use, the one asked for last at the
	// end; their bits differ.
	views     []*view
	histories histories
	hot       hot
	// identities are the newest objects that took the name of another, the
	// newest last; split is the UID of the one that is making room.
	identities []inspect.IdentityChange
	split      string

	orders orders // of some of the keys

	// skips are what was set aside and has not been written down yet. skipMu is
	// apart from mu, so that whoever sets an object aside never waits.
	skipMu    sync.Mutex
	skips     []Skip
	skipsLost uint64
	skipped   atomic.Bool // there are some
}

// New returns an empty journal.
func New(o Options) *Journal {
	now := time.Now()
	j := &Journal{
		rates:     rates{began: now},
		scanChunk: scanChunk,
		maxMoves:  maxMoves,
		stepTime:  stepTime,
		pageTime:  pageTime,
		budget:    budget{share: compareShare, burst: compareBurst, left: compareBurst, at: now},
		attention: attention{rate: closeRate, burst: closeBurst, flooded: floodRate, left: closeBurst},
		entries:   newKeys(),
		expected:  o.Expect,
	}
	j.histories.init(cmp.Or(o.Bound, DefaultBound))
	byKey, _ := orderOf(inspect.SortKey)
	j.all = newView("", Filter{}, inspect.SortKey, byKey, 0)
	j.all.complete = true
	return j
}

// news is what is learned of an update before the lock is taken.
type news struct {
	version  string
	uid      string
	before   string // the UID of the object that it takes the place of
	writer   string
	fresh    bool // it brought a new version, not one known already
	compared bool
	changed  []string
}

// Observe is told of one notification: the object under its key is now New, or
// is gone.
func (j *Journal) Observe(ev *Event) {
	hash := j.entries.hash(ev.Key)
	w := writing{j: j}
	w.observe(ev, hash, j.entries.find(hash, ev.Key))
	w.end()
}

// Batch is notifications that are there together, in their order.
type Batch interface {
	Len() int
	Key(i int) string
	Event(i int) Event
}

// lookAhead is how many keys of a batch are looked up at a time.
const lookAhead = 32

// ObserveAll is told of many notifications, as Observe of one. It is faster: the
// keys are looked up side by side, and updates that are only counted share the
// lock.
func (j *Journal) ObserveAll(b Batch) {
	var hashes [lookAhead]uint32
	var found [lookAhead]*entry
	w := writing{j: j}
	for from := 0; from < b.Len(); from += lookAhead {
		n := min(b.Len()-from, lookAhead)
		for i := range n {
			hashes[i] = j.entries.hash(b.Key(from + i))
		}
		for i := range n {
			found[i] = j.entries.likely(hashes[i])
		}
		// The loads of all entries are on their way at once: that they are the right
		// ones can be foreseen.
		for i := range n {
			if e, key := found[i], b.Key(from+i); e != nil && e.key != key {
				found[i] = j.entries.find(hashes[i], key)
			}
		}
		changes := j.entries.changes
		for i := range n {
			ev := b.Event(from + i)
			if j.entries.changes != changes {
				found[i] = j.entries.find(hashes[i], ev.Key)
			}
			w.observe(&ev, hashes[i], found[i])
		}
		w.end()
	}
}

// writing is the journal while it observes some notifications.
type writing struct {
	j      *Journal
	locked bool
}

func (w *writing) lock() {
	if !w.locked {
		w.j.mu.Lock()
		w.j.writeSkipsLocked()
		w.locked = true
	}
}

func (w *writing) unlock() {
	if w.locked {
		w.locked = false
		w.j.mu.Unlock()
	}
}

// end moves in the views what is to be moved, and lets go of the lock.
func (w *writing) end() {
	if w.locked {
		w.j.upkeepLocked()
		w.unlock()
	}
}

// observe is told of a notification under a key with that hash; e is what was
// known of the key, nil if nothing was. What takes its time is done without the
// lock.
func (w *writing) observe(ev *Event, hash uint32, e *entry) {
	j := w.j
	if ev.At.Before(j.asOf) {
		return
	}
	if e != nil && ev.Old != nil && fresh(ev) && uidOf(ev.Old) == uidOf(ev.New) && !j.attention.spare(e, ev.At) {
		w.lock()
		if j.passLocked(e) {
			j.countLocked(e, ev)
			return
		}
	}
	w.unlock()
	n := identify(ev)
	j.look(ev, &n)
	if e == nil {
		j.makeRoom(1)
	}
	w.lock()
	switch {
	case ev.New == nil:
		j.deleteLocked(e, ev, &n)
	case e != nil && !n.fresh && e.version() == n.version:
		j.repeatLocked(e, ev)
	default:
		j.updateLocked(e, hash, ev, &n)
	}
}

// makeRoom sees to it that n keys can be added without delay.
func (j *Journal) makeRoom(n int) {
	hashes, entries, larger := j.entries.grown(n)
	if !larger {
		return
	}
	j.mu.Lock()
	j.entries.hashes, j.entries.entries = hashes, entries
	j.mu.Unlock()
}

// fresh says whether a notification brought a new version, not one known already.
func fresh(ev *Event) bool {
	switch ev.Cause {
	case inspect.CauseWatch, inspect.CauseRelist, inspect.CauseRelistChanged:
		return ev.New != nil
	}
	return false
}

// forgive ends a panic of an object's own methods, deferred where they are called:
// what an object does not say is not known. It may be in the cache of a program
// that does well without asking it, and must not end because somebody looks.
func forgive() { _ = recover() }

// identify finds out which object and which version a notification is about.
func identify(ev *Event) (n news) {
	defer forgive()
	n.fresh = fresh(ev)
	obj := ev.New
	if obj == nil {
		obj = ev.Old
	}
	if m, err := meta.Accessor(obj); err == nil {
		n.version = m.GetResourceVersion()
		n.uid = string(m.GetUID())
	}
	if ev.Old != nil && ev.New != nil {
		n.before = uidOf(ev.Old)
	}
	return n
}

// look finds out who wrote the object, and compares it with what it was if there
// is time for it.
func (j *Journal) look(ev *Event, n *news) {
	if ev.New == nil {
		n.writer = writerOf(ev.Old, nil)
		return
	}
	n.writer = writerOf(ev.New, ev.Old)
	if n.fresh && ev.Old != nil {
		n.compared = j.budget.spend(func() { n.changed = j.comparer.changedPaths(ev.Old, ev.New) })
	}
}

// countLocked takes over an update that is only counted.
func (j *Journal) countLocked(e *entry, ev *Event) {
	j.touchLocked(e)
	j.takeLocked(e, ev)
	j.renewLocked(e, ev)
	e.flags |= stale
	for _, v := range j.views {
		if v.order.byWriter { // cannot wait until somebody asks
			j.setWriterLocked(e, writerOf(ev.New, nil))
			break
		}
	}
}

// takeLocked takes over the object of a notification.
func (j *Journal) takeLocked(e *entry, ev *Event) {
	e.kind, e.cause = Added, ev.Cause
	if e.object != nil {
		e.kind = Updated
	}
	e.object = ev.New
	e.since = j.millis(ev.At)
	e.round = j.round
	if e.flags&repeated != 0 {
		e.resyncs, e.relists = 0, 0
		e.flags &^= repeated
	}
}

// renewLocked takes note of when a new version came, and counts updates.
func (j *Journal) renewLocked(e *entry, ev *Event) {
	at := ev.At.UnixNano()
	e.changed = at
	if e.kind != Updated {
		return
	}
	e.updates++
	e.heat = j.rates.heated(e.heat, at)
	j.hot.update(e)
}

// updateLocked takes note of a new key or version; e is nil for a new key.
func (j *Journal) updateLocked(e *entry, hash uint32, ev *Event, n *news) {
	if e == nil {
		e = j.addLocked(ev.Key, hash)
		e.setHistory(j.histories.gone[ev.Key])
	} else {
		j.historyLocked(e) // before it is overwritten
		j.touchLocked(e)
	}
	j.takeLocked(e, ev)
	j.setWriterLocked(e, n.writer)
	if n.compared {
		e.compared++
		if len(n.changed) == 0 {
			e.noOps++
		}
	}
	if h := e.history; h != nil {
		delete(j.histories.gone, h.key)
		r := e.record(n.uid, ev.At.UnixNano())
		r.seq, r.waited, r.changed, r.compared, r.merged = ev.Seq, ev.Waited, n.changed, n.compared, ev.Merged
		j.histories.append(h, r)
	}
	j.identityLocked(ev, n)
	if n.fresh {
		j.renewLocked(e, ev)
	}
}

// repeatLocked takes note of an object that is not new.
func (j *Journal) repeatLocked(e *entry, ev *Event) {
	e.object = ev.New
	e.flags |= repeated
	switch ev.Cause {
	case inspect.CauseResync:
		e.resynced = j.millis(ev.At)
		e.resyncs = min(e.resyncs, math.MaxUint16-1) + 1
	case inspect.CauseRelistUnchanged:
		e.relisted = j.millis(ev.At)
		e.relists = min(e.relists, math.MaxUint16-1) + 1
	}
}

// deleteLocked takes note of a deletion. What happened to the key stays known.
func (j *Journal) deleteLocked(e *entry, ev *Event, n *news) {
	h := j.histories.gone[ev.Key]
	if e != nil {
		h = j.historyLocked(e)
		j.removeLocked(e)
	}
	if h == nil {
		h = newHistory(ev.Key)
	}
	j.histories.gone[ev.Key] = h
	j.histories.append(h, record{
		at: ev.At.UnixNano(), seq: ev.Seq, waited: ev.Waited, object: ev.Old, rv: n.version, uid: n.uid, writer: n.writer,
		kind: Deleted, cause: ev.Cause, tombstone: ev.Tombstone, merged: ev.Merged,
	})
	j.identityLocked(ev, n)
}

func uidOf(obj any) (uid string) {
	defer forgive()
	if m, err := meta.Accessor(obj); err == nil {
		return string(m.GetUID())
	}
	return ""
}

// Len returns how many keys there are.
func (j *Journal) Len() int {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.entries.len()
}
