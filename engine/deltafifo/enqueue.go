package deltafifo

import (
	"errors"
	"time"

	"k8s.io/client-go/tools/cache"

	"github.com/informeter/informeter/engine/inspect"
)

// portion is how many deltas Enqueue makes ready before it takes the lock for
// them.
const portion = 32

// arrival is a delta on its way in: what can be made of it without the lock.
type arrival struct {
	cache.Delta
	key string
	// keyErr and err say why it has no key, and why it has not been transformed.
	keyErr, err error
}

// arriving makes a delta ready. The key is made before the object is
// transformed.
func (o *Options) arriving(t cache.DeltaType, obj any) arrival {
	a := arrival{Delta: cache.Delta{Type: t, Object: obj}}
	if t == cache.Bookmark {
		return a
	}
	if a.key, a.keyErr = o.keyOf(obj); a.keyErr != nil {
		a.keyErr = cache.KeyError{Obj: obj, Err: a.keyErr}
		return a
	}
	a.Object, a.err = o.transform(obj)
	return a
}

// errIgnored says that a deletion was not enqueued because there is nothing left
// to delete. Callers don't see it.
var errIgnored = errors.New("nothing to delete")

// enqueue enqueues one delta.
func (c *core) enqueue(a arrival) error {
	one := []arrival{a}
	c.arriveAll(one)
	return c.answer(&one[0])
}

// answer returns what a caller is told of an arrival.
func (c *core) answer(a *arrival) error {
	if a.err != errIgnored {
		return a.err
	}
	if c.Ignored != nil {
		c.Ignored(a.key, a.Object)
	}
	return nil
}

// enqueueAll enqueues one delta after the other, a portion at a time.
func (c *core) enqueueAll(deltas []cache.Delta, failed func(i int, err error)) {
	var ready [portion]arrival
	for from := 0; from < len(deltas); from += portion {
		some := ready[:min(portion, len(deltas)-from)]
		for i := range some {
			some[i] = c.arriving(deltas[from+i].Type, deltas[from+i].Object)
		}
		c.arriveAll(some)
		for i := range some {
			if err := c.answer(&some[i]); err != nil {
				failed(from+i, err)
			}
		}
	}
}

// arriveAll enqueues what is ready, at one time of arrival, and leaves in err
// what went wrong.
func (c *core) arriveAll(ready []arrival) {
	now := c.enter()
	defer c.leave()
	for i := range ready {
		ready[i].err = c.contents.arriveLocked(ready[i], now)
	}
}

// Enqueue is Add, Update, Delete and Bookmark for many at once, whose types are
// Added, Updated, Deleted and Bookmark; it takes the lock and looks at the clock
// once for some dozens of them. The object of a bookmark is a cache.BookmarkInfo.
// failed is told of what is not enqueued, with the error that Add and the others
// return. The slice stays the caller's.
//
// Unlike client-go, whose reflector enqueues one event after the other [bursts].
func (q *DeltaFIFO) Enqueue(deltas []cache.Delta, failed func(i int, err error)) {
	q.enqueueAll(deltas, failed)
}

// Enqueue is Add, Update, Delete and Bookmark for many at once; see
// DeltaFIFO.Enqueue.
func (q *InOrder) Enqueue(deltas []cache.Delta, failed func(i int, err error)) {
	q.enqueueAll(deltas, failed)
}

func (q *DeltaFIFO) arriveLocked(a arrival, now time.Duration) error {
	d := delta{Delta: a.Delta, arrived: now, cause: inspect.CauseWatch}
	switch {
	case a.Type == cache.Bookmark:
		q.bookmarkLocked(d)
		return nil
	case a.Type == cache.Deleted && a.keyErr != nil:
		return a.keyErr
	case a.Type == cache.Deleted && !q.existsLocked(a.key):
		q.populateLocked()
		return errIgnored
	}
	q.populateLocked()
	if err := a.failure(); err != nil {
		return err
	}
	q.enqueueLocked(a.key, d)
	return nil
}

func (q *InOrder) arriveLocked(a arrival, now time.Duration) error {
	s := slot{delta: delta{Delta: a.Delta, arrived: now, cause: inspect.CauseWatch}, key: a.key}
	if a.Type == cache.Bookmark {
		q.entries.pushBack(s)
		return nil
	}
	q.populateLocked()
	if err := a.failure(); err != nil {
		return err
	}
	s.tally = q.tallyLocked(a.key)
	q.countLocked(1)
	q.tellLocked(&s, 1)
	q.entries.pushBack(s)
	return nil
}

// failure returns why the delta can't be enqueued, nil if it can.
func (a *arrival) failure() error {
	if a.keyErr != nil {
		return a.keyErr
	}
	return a.err
}
