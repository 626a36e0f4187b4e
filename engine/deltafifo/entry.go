package deltafifo

import (
	"time"

	"k8s.io/client-go/tools/cache"

	"github.com/informeter/informeter/engine/inspect"
	"github.com/informeter/informeter/engine/tap"
)

// Entry is one delta taken from the queue.
type Entry struct {
	// Delta is client-go's. Its Object is the object, a
	// cache.DeletedFinalStateUnknown, or for the types Bookmark, ReplacedAll and
	// SyncAll the Info of that name.
	cache.Delta
	// Key is empty for a bookmark, a ReplacedAll and a SyncAll.
	Key string
	// Arrived is when the delta was enqueued; deltas enqueued by one call have
	// the same time.
	Arrived time.Time
	// Cause is CauseInitial for what the first Replace brought, CauseRelist for
	// later ones, CauseResync or CauseWatch.
	Cause inspect.Cause
	// InInitialList says that the delta's key was popped before the first
	// Replace was used up: what client-go passes on as isInInitialList.
	InInitialList bool
	// failed is what process said of it, startup that it belongs to what the
	// first Replace brought, index its place in the batch.
	failed, startup bool
	index           int
	// Attempts counts how often the delta was put back.
	Attempts int
	// Merged counts deltas of the key that are not handled because this one
	// stands for them: with Options.Compress the older states of an Updated or
	// Replaced, and of a Deleted further deletions.
	Merged int
	// Overtook says that what arrived before it may still wait: a DeltaFIFO hands
	// the deltas of a key out together, in the place of the first.
	Overtook bool
}

// Options configures a queue. The zero value works.
type Options struct {
	// KeyFunc defaults to cache.MetaNamespaceKeyFunc. It is not asked about
	// tombstones, which carry their key.
	KeyFunc cache.KeyFunc
	// KnownObjects is the store that the deltas go to: DeltaFIFO asks it what a
	// Replace removes, what a Resync repeats, and whether there is something to
	// delete. Nil knows nothing. If it has a method
	// Snapshot() (keys []string, objects []any), a Resync asks that instead of
	// each key.
	//
	// InOrder leaves those decisions to its consumer; it only asks the store's
	// Len() int, if there is one, how many objects a SyncAll stands for.
	KnownObjects cache.KeyListerGetter
	// Transformer is called with every object before it is enqueued, except
	// tombstones and those of a Resync, which have been through it.
	//
	// Unlike client-go, it is called without the queue's lock, so a slow one
	// delays nobody but its caller, and two callers may be in it at once [free
	// functions].
	Transformer cache.TransformFunc
	// BackPressureAt is from how many waiting deltas on the reflector is held
	// back; see the package documentation. Default 2000, as in client-go.
	BackPressureAt int
	// MaxAttempts is how often a delta that could not be applied is put back.
	// Default 3; negative is never.
	MaxAttempts int
	// Compress lets a DeltaFIFO keep only the newest of adjacent updates of one
	// key, and of adjacent states from relists: handlers see fewer intermediate
	// states, and what waits for a key that changes all the time stays small.
	// Unlike client-go, which keeps them all [compression].
	Compress bool
	// Ignored, if not nil, is told of deletions that a DeltaFIFO does not enqueue
	// because there is nothing left to delete: a relist has seen to it, or one is
	// in flight. It is called without the lock.
	Ignored func(key string, obj any)
	// Generation is bumped after every change; nil is allowed.
	Generation *tap.Generation
}

const (
	defaultBackPressureAt = 2000
	defaultMaxAttempts    = 3
)

func (o Options) withDefaults() Options {
	if o.KeyFunc == nil {
		o.KeyFunc = cache.MetaNamespaceKeyFunc
	}
	if o.BackPressureAt <= 0 {
		o.BackPressureAt = defaultBackPressureAt
	}
	switch {
	case o.MaxAttempts == 0:
		o.MaxAttempts = defaultMaxAttempts
	case o.MaxAttempts < 0:
		o.MaxAttempts = 0
	}
	return o
}

// delta is an Entry as it waits.
type delta struct {
	cache.Delta
	arrived  time.Duration // since the queue was made
	cause    inspect.Cause
	overtook bool // see Entry.Overtook
	attempts uint16
	merged   uint32 // see Entry.Merged
}

// keyOf returns the key of an object, a tombstone, or what Pop returned.
func (o *Options) keyOf(obj any) (string, error) {
	if d, ok := obj.(cache.Deltas); ok {
		if len(d) == 0 {
			return "", cache.KeyError{Obj: obj, Err: cache.ErrZeroLengthDeltasObject}
		}
		obj = d.Newest().Object
	}
	if d, ok := obj.(cache.DeletedFinalStateUnknown); ok {
		return d.Key, nil
	}
	return o.KeyFunc(obj)
}

// transform returns what is enqueued for obj.
func (o *Options) transform(obj any) (any, error) {
	if o.Transformer == nil {
		return obj, nil
	}
	if _, tombstone := obj.(cache.DeletedFinalStateUnknown); tombstone {
		return obj, nil
	}
	return o.Transformer(obj)
}

// prepare returns the key of obj, which is made before it is transformed, and
// what is enqueued for it.
func (o *Options) prepare(obj any) (string, any, error) {
	key, err := o.keyOf(obj)
	if err != nil {
		return "", nil, cache.KeyError{Obj: obj, Err: err}
	}
	obj, err = o.transform(obj)
	return key, obj, err
}
