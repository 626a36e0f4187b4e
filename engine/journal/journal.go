package journal

import (
	"sync"
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

// Event is one notification as the journal is told of it.
type Event struct {
	Key   string
	Cause inspect.Cause
	// Old is the object before, nil if there was none; New the object now, nil
	// if it is gone.
	Old, New any
	At       time.Time
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
	budget   budget
	comparer comparer

	// mu guards everything below. Observe holds it for one notification, readers
	// for one step of a scan or one window.
	mu sync.Mutex
	// entries has an entry for every key, all has the same in order.
	entries map[string]*entry
	all     *view
	// views holds the orders and filters in use, the one asked for last at the
	// end; their bits differ.
	views []*view
	// next is what Observe works on.
	next entry
}

// New returns an empty journal.
func New() *Journal {
	now := time.Now()
	j := &Journal{
		rates:     rates{began: now},
		scanChunk: scanChunk,
		stepTime:  stepTime,
		pageTime:  pageTime,
		budget:    budget{share: compareShare, burst: compareBurst, left: compareBurst, at: now},
		entries:   map[string]*entry{},
	}
	byKey, _ := orderOf(inspect.SortKey)
	j.all = newView("", Filter{}, inspect.SortKey, byKey, 0)
	j.all.complete = true
	return j
}

// news is what is learned of an update before the lock is taken.
type news struct {
	version  string
	created  uint32
	writer   string
	fresh    bool // it brought a new version, not one known already
	compared bool
	changed  []string
}

// Observe is told of one notification: the object under its key is now New, or
// is gone.
func (j *Journal) Observe(ev *Event) {
	if ev.New == nil {
		j.mu.Lock()
		defer j.mu.Unlock()
		if e := j.entries[ev.Key]; e != nil {
			j.removeLocked(e)
		}
		return
	}
	n := j.look(ev)
	j.mu.Lock()
	defer j.mu.Unlock()
	e := j.entries[ev.Key]
	if e != nil && !n.fresh && e.version == n.version {
		e.object = ev.New
		return // nothing new about the object
	}
	next := &j.next
	*next = entry{key: ev.Key}
	if e != nil {
		*next = *e
	}
	next.object, next.version, next.created, next.writer, next.size = ev.New, n.version, n.created, n.writer, 0
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
	j.setLocked(e, next)
	*next = entry{}
}

// look finds out what is new about an object, and compares it with what it was
// if there is time for it.
func (j *Journal) look(ev *Event) news {
	var n news
	if m, err := meta.Accessor(ev.New); err == nil {
		n.version, n.created = m.GetResourceVersion(), unix(m.GetCreationTimestamp().Time)
	}
	n.writer = writerOf(ev.New, ev.Old)
	switch ev.Cause {
	case inspect.CauseWatch, inspect.CauseRelist, inspect.CauseRelistChanged:
		n.fresh = true
	}
	if n.fresh && ev.Old != nil {
		n.compared = j.budget.spend(func() { n.changed = j.comparer.changedPaths(ev.Old, ev.New) })
	}
	return n
}

// Len returns how many keys there are.
func (j *Journal) Len() int {
	j.mu.Lock()
	defer j.mu.Unlock()
	return len(j.entries)
}
