package engine

import (
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"k8s.io/client-go/tools/cache"

	"github.com/informeter/informeter/engine/inspect"
	"github.com/informeter/informeter/engine/journal"
	"github.com/informeter/informeter/engine/processor"
)

// explorerName is what the explorer's own listener is called.
const explorerName = "informeter"

// journalBacklog is how many notifications the journal may be behind before it
// reads the store instead. A notification takes 80 bytes in the log, and keeps
// the object before it alive.
const journalBacklog = 1 << 15

// viewers counts who looks, and holds the journal while somebody does.
type viewers struct {
	// journal is nil while nobody looks. Written with mu; who reads it may hold
	// any lock.
	journal atomic.Pointer[journal.Journal]

	mu       sync.Mutex // guards the fields below; taken before lifeMu
	count    int
	listener *processor.Listener
}

// current returns the journal, or nil if nobody looks.
func (v *viewers) current() *journal.Journal { return v.journal.Load() }

// Open begins to look: the first viewer adds the explorer's listener to the
// informer, which keeps the keys in order. Whoever opens calls release once, as
// often as they like; the last one takes the listener away again. Without a
// viewer every question is answered too, but a window of the store costs a sort
// of all its keys.
func (i *Informer) Open() (release func(), err error) {
	v := &i.viewers
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.count == 0 {
		if err := i.addJournal(v); err != nil {
			return nil, fmt.Errorf("open informer %s: %w", i.name, err)
		}
	}
	v.count++
	var once sync.Once
	return func() { once.Do(i.close) }, nil
}

func (i *Informer) addJournal(v *viewers) error {
	i.lifeMu.Lock()
	defer i.lifeMu.Unlock()
	if i.state == inspect.StateStopped {
		return inspect.ErrStopped
	}
	i.handleMu.Lock() // see processor.Add
	defer i.handleMu.Unlock()
	j := journal.New(journal.Options{Bound: i.options.JournalBound, Expect: i.store.Len()})
	listener, err := i.processor.Add(journalHandler{j}, processor.ListenerOptions{
		Name: explorerName, Explorer: true, Now: time.Now(),
		CatchUp: func(lost uint64) { i.catchUp(j, lost) }, Backlog: journalBacklog,
	}, nil, nil)
	if err != nil {
		return err
	}
	v.listener = listener
	v.journal.Store(j)
	i.beginMoments()
	return nil
}

// catchUp lets the journal read the store. The time is taken first: what was
// published until then is in the store.
func (i *Informer) catchUp(j *journal.Journal, lost uint64) {
	asOf := time.Unix(0, i.processor.Clock(time.Now()))
	keys, objects := i.store.Snapshot()
	j.CatchUp(keys, objects, lost, asOf, i.generation.Bump)
}

func (i *Informer) close() {
	v := &i.viewers
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.count--; v.count > 0 {
		return
	}
	// The listener is ours, so the only error would be that it is not.
	if err := i.RemoveEventHandler(v.listener); err != nil {
		panic("bug: " + err.Error())
	}
	v.journal.Store(nil)
	v.listener = nil
	i.endMoments()
}

// journalHandler lets a journal be a listener. The processor calls OnRun in place
// of the other methods.
type journalHandler struct {
	journal *journal.Journal
}

var _ processor.RunObserver = journalHandler{}

// OnRun tells the journal what every listener is told, and why.
func (h journalHandler) OnRun(r processor.Run) { h.journal.ObserveAll(journalRun{r}) }

// journalRun is a run as a journal reads it.
type journalRun struct{ processor.Run }

// Event returns notification i.
func (r journalRun) Event(i int) journal.Event {
	n := r.Notification(i)
	ev := journal.Event{
		Key: n.Key, Seq: n.Seq, Cause: n.Cause, Old: n.Old, New: n.New, Split: n.Split, At: time.Unix(0, n.At),
		Merged: n.Merged,
	}
	if n.Arrived != 0 {
		ev.Waited = time.Duration(n.At - n.Arrived)
	}
	if tombstone, ok := n.Old.(cache.DeletedFinalStateUnknown); ok {
		ev.Old, ev.Tombstone = tombstone.Obj, true
	}
	return ev
}

// OnAdd, OnUpdate and OnDelete make it a cache.ResourceEventHandler.
func (h journalHandler) OnAdd(any, bool)   {}
func (h journalHandler) OnUpdate(any, any) {}
func (h journalHandler) OnDelete(any)      {}
