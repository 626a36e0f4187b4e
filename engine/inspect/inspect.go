package inspect

import (
	"context"
	"errors"
)

var (
	// ErrNotFound is returned for a key, index, bucket or informer that does not
	// exist (any more).
	ErrNotFound = errors.New("not found")
	// ErrUnsupported is returned for something this informer cannot do.
	ErrUnsupported = errors.New("unsupported")
	// ErrReadOnly is returned by Controls where changing the informer is not
	// allowed.
	ErrReadOnly = errors.New("read-only")
	// ErrStopped is returned for what only a running informer can do.
	ErrStopped = errors.New("informer has stopped")
)

// Inspector reads one informer. Every method returns at once from memory when
// the informer lives in this process; Wait is the only one that blocks.
// Implementations are safe for any number of readers.
type Inspector interface {
	// Snapshot returns the vitals of every stage. Its size does not depend on
	// how many objects there are.
	Snapshot(ctx context.Context) (Snapshot, error)
	// Queue returns a window of the keys that wait in the queue, head first.
	Queue(ctx context.Context, q QueueQuery) (QueuePage, error)
	// Store returns a window of the cached objects.
	Store(ctx context.Context, q Query) (Page, error)
	// Indices returns the vitals of every index, by name.
	Indices(ctx context.Context) ([]IndexVitals, error)
	// Buckets returns a window of an index's buckets; ErrNotFound if there is no
	// such index.
	Buckets(ctx context.Context, index string, q BucketQuery) (BucketPage, error)
	// Bucket returns a window of the objects in one bucket; ErrNotFound if there
	// is no such index. A bucket that does not exist is empty.
	Bucket(ctx context.Context, index, value string, q Query) (Page, error)
	// Object returns one cached object; ErrNotFound if it is not in the store.
	Object(ctx context.Context, r ObjectRequest) (Object, error)
	// Requests returns the LIST and WATCH requests still remembered, the newest
	// first.
	Requests(ctx context.Context) ([]Request, error)
	// Wait blocks until the generation is greater than since and returns it. It
	// returns the context's error when that ends first.
	Wait(ctx context.Context, since uint64) (uint64, error)
}

// Controls changes what an informer does. It reaches the gate, which stands
// before the queue's Pop: while it is paused nothing is popped, so what arrives
// stays in the queue, in sight.
type Controls interface {
	// Pause closes the gate.
	Pause(ctx context.Context) error
	// Resume opens the gate and lifts any rate limit.
	Resume(ctx context.Context) error
	// Step lets n deltas through a closed gate, closing it first if it was open.
	Step(ctx context.Context, n int) error
	// SetRate lets perSecond deltas a second through the gate. Zero or less
	// lifts the limit.
	SetRate(ctx context.Context, perSecond float64) error
}

// Process is the informers of one process, in the order they were registered.
type Process interface {
	// Informers returns one summary an informer.
	Informers(ctx context.Context) ([]Summary, error)
	// Informer returns the inspector and the controls of the informer of that
	// name; ErrNotFound if there is none. Controls may be nil.
	Informer(name string) (Inspector, Controls, error)
}
