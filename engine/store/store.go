package store

import (
	"slices"
	"strings"
	"sync"

	"k8s.io/client-go/features"
	"k8s.io/client-go/tools/cache"
)

var (
	_ cache.Indexer          = (*Indexer)(nil)
	_ cache.TransactionStore = (*Indexer)(nil)
)

// FailurePolicy says what becomes of failures of foreign code.
type FailurePolicy uint8

const (
	// Contain lets a failure cost no more than what was asked for. It is the
	// default.
	Contain FailurePolicy = iota
	// Crash panics in the goroutine that writes, as client-go does. The writes of
	// the same call are not made.
	Crash
)

// Options say how a store works. The zero value is ready.
type Options struct {
	// IndexFailure says what becomes of an index function's error or panic.
	// Contained, the object is stored, and left out of that index, which counts it.
	IndexFailure FailurePolicy
	// ObjectFailure says what becomes of the panic of an object that is asked for
	// its resource version. Contained, it is not stored, and its Op has the error.
	ObjectFailure FailurePolicy
	// Refused, if not nil, is told of every failure of an index function that is
	// contained, unless the index was made by AddIndex: whoever added that looks
	// at it. It is called with the store's locks held and must not call the store.
	Refused func(index, key string, err error)
}

// Indexer is a thread-safe store with indices. See the package's comment for how
// it is built and what it guarantees.
type Indexer struct {
	keyFunc cache.KeyFunc
	opts    Options

	// writing is held by whoever writes, from before the index functions are
	// called until the change is made. It orders the writers and keeps foreign
	// code out of mu: readers never wait for an index function. It is taken
	// before mu. Its holder may read everything that mu guards without mu,
	// because nobody else can write.
	writing sync.Mutex
	// scratch takes what the index functions say about a batch. Guarded by
	// writing; empty in between.
	scratch []outcome
	// steady says that no object has come or gone since ask looked for the keys
	// of the batch. Guarded by writing.
	steady bool

	// mu guards everything below it; writers hold writing as well.
	mu sync.RWMutex
	// The object at pos is stored under the key at pos, and positions finds pos by
	// key. Its resource version when it was stored has that mark. There are no
	// gaps: the last object moves into a position that is freed.
	objects   array[any]
	keys      array[string]
	marks     array[mark]
	positions table
	// indices are in the order of their names.
	indices []*index
	// rv is the resource version the store has reached.
	rv string
	// What became of the writes so far.
	added, updated, unchanged, deleted uint64

	// viewing guards the sorted views that readers make, see view.go. It is
	// taken before mu; writers never take it.
	viewing sync.Mutex
	// minLog is how many changes the log of a small view may hold.
	minLog int
}

// New returns an empty store. keyFunc makes the key of an object, indexers may
// be nil.
func New(keyFunc cache.KeyFunc, indexers cache.Indexers, opts Options) *Indexer {
	x := &Indexer{keyFunc: keyFunc, opts: opts, positions: newTable(0), minLog: defaultMinLog}
	for name, fn := range indexers {
		x.indices = append(x.indices, x.newIndex(name, fn))
	}
	x.sortIndices()
	return x
}

func (x *Indexer) sortIndices() {
	slices.SortFunc(x.indices, func(a, b *index) int { return strings.Compare(a.name, b.name) })
}

// key returns the object's key, or a cache.KeyError.
func (x *Indexer) key(obj any) (string, error) {
	key, err := x.keyFunc(obj)
	if err != nil {
		return "", cache.KeyError{Obj: obj, Err: err}
	}
	return key, nil
}

// Get returns what is stored under the object's key.
func (x *Indexer) Get(obj any) (item any, exists bool, err error) {
	key, err := x.key(obj)
	if err != nil {
		return nil, false, err
	}
	return x.GetByKey(key)
}

// GetByKey returns what is stored under the key. The error is always nil.
func (x *Indexer) GetByKey(key string) (item any, exists bool, err error) {
	x.mu.RLock()
	defer x.mu.RUnlock()
	pos, exists := x.positions.get(&x.keys, key)
	if !exists {
		return nil, false, nil
	}
	return *x.objects.at(pos), true, nil
}

// List returns the objects, in no order.
func (x *Indexer) List() []any {
	x.mu.RLock()
	defer x.mu.RUnlock()
	return x.objects.list()
}

// ListKeys returns the keys, in no order.
func (x *Indexer) ListKeys() []string {
	x.mu.RLock()
	defer x.mu.RUnlock()
	return x.keys.list()
}

// Snapshot returns the keys and the objects of one moment: objects[i] is stored
// under keys[i].
func (x *Indexer) Snapshot() (keys []string, objects []any) {
	x.mu.RLock()
	defer x.mu.RUnlock()
	return x.keys.list(), x.objects.list()
}

// Objects returns what is stored under each of the keys at one moment, nil where
// nothing is.
func (x *Indexer) Objects(keys []string) []any {
	objects := make([]any, len(keys))
	x.mu.RLock()
	defer x.mu.RUnlock()
	for i, key := range keys {
		if pos, ok := x.positions.get(&x.keys, key); ok {
			objects[i] = *x.objects.at(pos)
		}
	}
	return objects
}

// Len returns how many objects there are.
func (x *Indexer) Len() int {
	x.mu.RLock()
	defer x.mu.RUnlock()
	return x.objects.n
}

// fresh returns a copy that is the caller's own and never nil.
func fresh[T any](s []T) []T { return append(make([]T, 0, len(s)), s...) }

// LastStoreSyncResourceVersion returns the resource version that the store has
// reached: that of the newest write that carried one, or of the newest Replace
// or Bookmark, whichever came last. As in client-go it is empty while the
// AtomicFIFO feature gate is off.
func (x *Indexer) LastStoreSyncResourceVersion() string {
	if !features.FeatureGates().Enabled(features.AtomicFIFO) {
		return ""
	}
	return x.ResourceVersion()
}

// ResourceVersion returns what LastStoreSyncResourceVersion does, whatever the
// feature gates say.
func (x *Indexer) ResourceVersion() string {
	x.mu.RLock()
	defer x.mu.RUnlock()
	return x.rv
}

// Bookmark says that the store has reached that resource version.
func (x *Indexer) Bookmark(rv string) {
	x.writing.Lock()
	defer x.writing.Unlock()
	x.mu.Lock()
	defer x.mu.Unlock()
	x.rv = rv
}

// Advance says that the store has reached that resource version, if it is not
// older than where the store is.
func (x *Indexer) Advance(rv string) {
	x.writing.Lock()
	defer x.writing.Unlock()
	x.mu.Lock()
	defer x.mu.Unlock()
	x.advanceLocked(rv)
}

// Resync does nothing: a store has nobody to play its objects back to.
func (x *Indexer) Resync() error { return nil }
