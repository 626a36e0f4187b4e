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
}

// Journal keeps the keys of a store in order. New makes one. Safe for concurrent
// use: one goroutine observes, any number read.
type Journal struct {
	rates rates
	// A scan covers scanChunk entries before it looks at the clock; see stepTime
	// and pageTime.
	scanChunk          int
	stepTime, pageTime time.Duration

	// Only the goroutine that observes touches these.
	budget    budget
	comparer  comparer
	attention attention
	// asOf is when the journal last caught up: what was published before is in.
	asOf time.Time

	// mu guards everything below. Observe holds it for one notification, readers
	// for one step of a scan or one window.
	mu sync.Mutex
	// entries has an entry for every key, all has the same in order. Only the
	// goroutine that observes writes to it, and therefore reads it without mu.
	entries map[string]*entry
	all     *view
	text    int64 // bytes of all keys
	// round counts how often the journal has caught up, expected is how many keys
	// there will be at least when it has, lost what it was not told of.
	round    uint8
	expected int
	lost     uint64
	// views holds the orders and filters in use, the one asked for last at the
	// end; their bits differ.
	views []*view
	// next is what Observe works on.
	next      entry
	histories histories
	hot       hot
	// identities are the newest objects that took the name of another, the
	// newest last; split is the UID of the one that is making room.
	identities []inspect.IdentityChange
	split      string

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
		stepTime:  stepTime,
		pageTime:  pageTime,
		budget:    budget{share: compareShare, burst: compareBurst, left: compareBurst, at: now},
		attention: attention{rate: closeRate, burst: closeBurst, left: closeBurst},
		entries:   map[string]*entry{},
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
	created  uint32
	writer   string
	fresh    bool // it brought a new version, not one known already
	glance   bool // there is no time to look at it closely, see attention
	compared bool
	changed  []string
}

// Observe is told of one notification: the object under its key is now New, or
// is gone.
func (j *Journal) Observe(ev *Event) {
	if ev.At.Before(j.asOf) {
		return
	}
	e := j.entries[ev.Key]
	n := identify(ev)
	n.glance = n.fresh && e != nil && ev.Old != nil && n.before == n.uid && !j.attention.spare(e, ev.At)
	j.look(ev, &n)
	j.mu.Lock()
	defer j.mu.Unlock()
	j.writeSkipsLocked()
	switch {
	case ev.New == nil:
		j.deleteLocked(e, ev, &n)
	case e != nil && !n.fresh && e.version == n.version:
		j.repeatLocked(e, ev)
	default:
		j.updateLocked(e, ev, &n)
	}
}

// identify finds out which object and which version a notification is about.
func identify(ev *Event) (n news) {
	obj := ev.New
	if obj == nil {
		obj = ev.Old
	}
	if m, err := meta.Accessor(obj); err == nil {
		n.version, n.uid = m.GetResourceVersion(), string(m.GetUID())
		n.created = unix(m.GetCreationTimestamp().Time)
	}
	if ev.Old != nil && ev.New != nil {
		n.before = uidOf(ev.Old)
	}
	switch ev.Cause {
	case inspect.CauseWatch, inspect.CauseRelist, inspect.CauseRelistChanged:
		n.fresh = ev.New != nil
	}
	return n
}

// look finds out who wrote the object, and compares it with what it was if there
// is time for it.
func (j *Journal) look(ev *Event, n *news) {
	switch {
	case ev.New == nil:
		n.writer = writerOf(ev.Old, nil)
		return
	case n.glance:
		n.writer = writerOf(ev.New, nil)
		return
	}
	n.writer = writerOf(ev.New, ev.Old)
	if n.fresh && ev.Old != nil {
		n.compared = j.budget.spend(func() { n.changed = j.comparer.changedPaths(ev.Old, ev.New) })
	}
}

// updateLocked takes note of a new key or version; e is nil for a new key.
func (j *Journal) updateLocked(e *entry, ev *Event, n *news) {
	next := &j.next
	switch {
	case e == nil:
		*next = entry{key: ev.Key, history: j.histories.gone[ev.Key]}
	default:
		if n.glance = n.glance && j.passLocked(e); !n.glance {
			j.historyLocked(e) // before it is overwritten
		}
		if len(j.views) == 0 {
			next = e // no order but that of the keys: it can stay where it is
		} else {
			*next = *e
		}
	}
	next.object, next.version, next.created, next.writer, next.size = ev.New, n.version, n.created, n.writer, 0
	next.resyncs, next.relists, next.round = 0, 0, j.round
	next.since = j.millis(ev.At)
	next.kind, next.cause = Added, ev.Cause
	if e != nil {
		next.kind = Updated
	}
	if n.fresh {
		next.updates++
		next.changed = ev.At.UnixNano()
		next.score = j.rates.score(next.score, ev.At)
	}
	if n.compared {
		next.compared++
		if len(n.changed) == 0 {
			next.noOps++
		}
	}
	if h := next.history; h != nil && !n.glance {
		delete(j.histories.gone, h.key)
		r := next.record(n.uid, ev.At.UnixNano())
		r.seq, r.waited, r.changed, r.compared = ev.Seq, ev.Waited, n.changed, n.compared
		j.histories.append(h, r)
	}
	j.identityLocked(ev, n)
	if e != next {
		e = j.setLocked(e, next)
		*next = entry{}
	}
	if n.fresh {
		j.hot.update(e)
	}
}

// repeatLocked takes note of an object that is not new.
func (j *Journal) repeatLocked(e *entry, ev *Event) {
	e.object = ev.New
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
		j.hot.remove(e)
		j.removeLocked(e)
	}
	if h == nil {
		h = newHistory(ev.Key)
	}
	j.histories.gone[ev.Key] = h
	j.histories.append(h, record{
		at: ev.At.UnixNano(), seq: ev.Seq, waited: ev.Waited, object: ev.Old, rv: n.version, uid: n.uid, writer: n.writer,
		kind: Deleted, cause: ev.Cause, tombstone: ev.Tombstone,
	})
	j.identityLocked(ev, n)
}

func uidOf(obj any) string {
	if m, err := meta.Accessor(obj); err == nil {
		return string(m.GetUID())
	}
	return ""
}

// Len returns how many keys there are.
func (j *Journal) Len() int {
	j.mu.Lock()
	defer j.mu.Unlock()
	return len(j.entries)
}
