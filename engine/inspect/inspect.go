package inspect

import (
	"context"
	"errors"
	"time"
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
	// Diff returns what differs between two versions of an object; ErrNotFound if
	// either is not kept (any more).
	Diff(ctx context.Context, r DiffRequest) (Diff, error)
	// Biography returns what happened to one key since somebody looks, deleted
	// ones included; ErrNotFound if nothing is known of it.
	Biography(ctx context.Context, r BiographyRequest) (Biography, error)
	// Moments returns the newest deltas and their way through the stages, the
	// newest first. Recorded only while somebody looks.
	Moments(ctx context.Context, q MomentQuery) (MomentPage, error)
	// VerifyIndex computes an index anew, object by object, and compares.
	VerifyIndex(ctx context.Context, index string) (IndexCheck, error)
	// Requests returns the LIST and WATCH requests still remembered, the newest
	// first.
	Requests(ctx context.Context) ([]Request, error)
	// Wait blocks until the generation is greater than since and returns it. It
	// returns the context's error when that ends first.
	Wait(ctx context.Context, since uint64) (uint64, error)
}

// Controls changes what an informer does. The first four reach the gate, which
// stands before the queue's Pop: while it is paused nothing is popped, so what
// arrives stays in the queue, in sight.
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

	// ResyncNow plays the cache back to every handler that was granted a resync
	// period, and to all if none was, without asking the server.
	ResyncNow(ctx context.Context) error
	// SetResync changes the period a handler asks for; 0 asks for none.
	// ErrNotFound if there is no such handler.
	SetResync(ctx context.Context, handler string, period time.Duration) error
	// RelistNow ends the watch under way and asks the server for everything.
	RelistNow(ctx context.Context) error
	// AddIndex adds an index, filled with what is in the store. ErrUnsupported
	// where nothing can compile expressions.
	AddIndex(ctx context.Context, s IndexSpec) error
	// AddHandler adds a handler of the lab: one that does nothing, slowly.
	AddHandler(ctx context.Context, s HandlerSpec) error
	// RemoveHandler removes a handler of the lab; ErrReadOnly for any other.
	RemoveHandler(ctx context.Context, name string) error
}

// IndexSpec is an index to add.
type IndexSpec struct {
	Name string `json:"name"`
	// Expr says what an object is indexed by: label:KEY, a JSONPath in braces
	// such as {.spec.nodeName}, or cel:EXPR.
	Expr string `json:"expr"`
}

// HandlerSpec is a handler of the lab to add.
type HandlerSpec struct {
	// Name is made unique with a number.
	Name string `json:"name"`
	// Delay is how long each of its calls takes.
	Delay time.Duration `json:"delayNs"`
	// Resync is the period it asks for; 0 asks for none.
	Resync time.Duration `json:"resyncNs,omitempty"`
}

// Process is the informers of one process, in the order they were registered.
type Process interface {
	// Informers returns one summary an informer.
	Informers(ctx context.Context) ([]Summary, error)
	// Informer returns the inspector and the controls of the informer of that
	// name; ErrNotFound if there is none. Controls may be nil.
	Informer(name string) (Inspector, Controls, error)
}
