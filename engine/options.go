package engine

import (
	"time"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/tools/cache"

	"github.com/informeter/informeter/engine/inspect"
	"github.com/informeter/informeter/engine/processor"
	"github.com/informeter/informeter/engine/store"
)

// HandlerPanic says what becomes of a handler's panic.
type HandlerPanic = processor.PanicPolicy

const (
	// Crash ends the process loudly, as client-go does. It is the default.
	Crash = processor.Crash
	// Contain counts the panic, remembers key and stack, and goes on with the
	// next notification.
	Contain = processor.Contain
)

// Queue is the kind of queue between the reflector and HandleDeltas.
type Queue uint8

const (
	// DeltaFIFO keeps per key what has not been handled yet: the queue of
	// client-go up to 1.35. It is the default.
	DeltaFIFO Queue = iota
	// InOrder keeps every event in its place, a relist as one entry: what
	// client-go runs since 1.36, there called RealFIFO.
	InOrder
)

// String returns the kind as the screens and the wire write it.
func (q Queue) String() string {
	if q == InOrder {
		return "InOrder"
	}
	return "DeltaFIFO"
}

// Options say how an informer works. The zero value is a drop-in for client-go's
// informer with nothing registered and no resync.
type Options struct {
	// Name is what the informer is called; made unique within a registry. The
	// default is the type's name.
	Name string
	// Resource, Scope and Origin are shown as they are: what is watched, where,
	// and on whose word.
	Resource, Scope, Origin string
	// Description is the type's name in logs and errors; the default is the
	// example's type.
	Description string
	// Resync is the default resync period of handlers, and how often the
	// informer checks whose turn it is. 0: no resyncs.
	Resync   time.Duration
	Indexers cache.Indexers
	Queue    Queue
	// Strict is stock client-go v0.37.2 in every observable: the InOrder queue,
	// no hardening, an index function that fails ends the process unless it was
	// made from an expression, a delta that cannot be applied is not tried again.
	Strict bool
	// Registry, if not nil, is where the informer can be found.
	Registry *Registry
	// HandlerPanic is Crash or Contain.
	HandlerPanic HandlerPanic
	// Scheme, if not nil, knows the apiVersion and kind of typed objects, which
	// do not carry them themselves.
	Scheme *runtime.Scheme
	// Traffic, if not nil, says what came over the wire; the informer adds the
	// rate. Called at least once a second, from any goroutine.
	Traffic func() inspect.TrafficVitals
	// Compiler, if not nil, makes what expressions say: see package expr. Without
	// one what needs it answers inspect.ErrUnsupported, and a program that does
	// not ask for expressions need not link what compiles them.
	Compiler Compiler
	// AllowReveal lets readers see the contents of Secrets.
	AllowReveal bool

	// JournalBound is how much memory the biographies of keys may take while
	// somebody looks, in bytes, the old versions kept for them included. Default
	// 32 MiB.
	JournalBound int64

	// MinWatchTimeout, PageSize: as in client-go.
	MinWatchTimeout time.Duration
	PageSize        int64
	// Hardening is what the informer does beyond client-go to survive bad
	// networks and servers. The zero value has the defaults.
	Hardening Hardening
}

// Compiler turns the text of an expression into a function of an object. What it
// returns must be safe for concurrent use, and must not write to objects. Its
// errors say what is wrong with the text, where, and what to do.
type Compiler interface {
	// IndexFunc returns what objects are filed under.
	IndexFunc(text string) (cache.IndexFunc, error)
	// Predicate returns a condition on an object and the one before it, which is
	// nil if there is none.
	Predicate(text string) (func(obj, old any) (bool, error), error)
}

// Hardening is what the informer does beyond client-go. The zero value is the
// default: everything that leaves alone what handlers are told. A part of it is
// switched off by a negative number, or by its Disable field; what changes what
// handlers are told is switched on. Options.Strict switches all of it off.
type Hardening struct {
	// Against bad connections and servers.

	// WatchSpacing is the shortest time between two watches when the first
	// closed young. Unlike client-go, which opens the next one at once, tens of
	// thousands of times a second if need be [spacing]. Default 1s.
	WatchSpacing time.Duration
	// EndMarkerDeadline: an initial stream that has sent nothing for this long
	// and not its end marker is given up for a LIST. Unlike client-go, which
	// waits for ever [end marker]. Default 30s.
	EndMarkerDeadline time.Duration
	// WatchGrace is how much longer than asked a watch may live before it is
	// taken for dead. Unlike client-go, which trusts the server to end it [grace].
	// Default 1m.
	WatchGrace time.Duration
	// DisableSteadyResync lets the resync timer begin anew with every connection,
	// as client-go does, so that a flaky one never gets there. By default the
	// timer survives reconnects [steady resync].
	DisableSteadyResync bool

	// Against bad objects and functions.

	// DisableQuarantine lets an object whose key function or transform fails have
	// its way, as in client-go: a list with one is refused as a whole, and one
	// that comes by a watch is lost with a log line; and the panic of an object
	// that is asked for its name, its version or a copy ends the process. By default
	// it is set aside [quarantine], see Snapshot's Quarantine, and what is known of
	// it stays [keep]; no panic of an object costs more than what was asked of it
	// [stubborn]; and an object of another type is left out of a list [foreign
	// types].
	DisableQuarantine bool
	// Retries is how often a delta is tried again that could not be applied, because
	// its object panicked when it was asked for its resource version: at once, and
	// not if something newer waits for the key. Then it is set aside. Unlike
	// client-go, where that ends the process or, if the program survives it, loses
	// what else was popped with it [retry]. Default 3.
	Retries int
	// DisableIndexContainment lets an index function that fails or panics end the
	// process, as in client-go. By default the object is stored and that index
	// leaves it out [index failure]. Indices made from expressions never end the
	// process.
	DisableIndexContainment bool

	// On demand, because it changes what handlers are told.

	// SkipBusyResync leaves a handler out of a resync round while it has not been
	// given all of its last one. Unlike client-go, where a resync can outrun it
	// [busy resync].
	SkipBusyResync bool
	// CompressUpdates keeps in a DeltaFIFO only the newest of adjacent updates of
	// one key: handlers see fewer intermediate states. Unlike client-go, which
	// keeps all but deletions that follow each other [compression].
	CompressUpdates bool
	// ConflateBacklog is how many notifications may wait for a handler one by
	// one. One that falls further behind is told less: for each key only what
	// leads from the state that it knows to the newest, so that memory is bounded
	// by the number of keys. It never sees an update of an object that it was not
	// told of. Zero is no bound. Unlike client-go, which has none [conflation].
	ConflateBacklog int
	// SplitIdentity tells handlers of an update from one object to another of the
	// same name (another UID) as a deletion, with a tombstone, and an addition.
	// Unlike client-go, for which a key is an object [split identity].
	SplitIdentity bool
}

// strictly returns the options with everything that Strict rules out taken back.
func (o Options) strictly() Options {
	if o.Strict {
		o.Queue = InOrder
		o.HandlerPanic = Crash
		o.Hardening = Hardening{
			WatchSpacing: -1, EndMarkerDeadline: -1, WatchGrace: -1,
			DisableSteadyResync: true, DisableQuarantine: true, Retries: -1, DisableIndexContainment: true,
		}
	}
	return o
}

// stock says that key functions and transforms have their way with what comes, as
// in client-go.
func (o Options) stock() bool { return o.Strict || o.Hardening.DisableQuarantine }

// retries is how often a delta is tried again.
func (o Options) retries() int {
	switch {
	case o.Hardening.Retries == 0:
		return 3
	case o.Hardening.Retries < 0:
		return 0
	}
	return o.Hardening.Retries
}

// keyFunc is what the pipeline makes keys with; readers of the store get stock's.
func (o Options) keyFunc() cache.KeyFunc {
	if o.stock() {
		return cache.DeletionHandlingMetaNamespaceKeyFunc
	}
	return keyOf
}

// storeOptions says what becomes of index functions and objects that fail.
func (o Options) storeOptions() (s store.Options) {
	if o.Hardening.DisableIndexContainment {
		s.IndexFailure = store.Crash
	}
	if o.stock() {
		s.ObjectFailure = store.Crash
	}
	return s
}

// orDefault returns d, the default for 0, and 0 for what is switched off.
func orDefault(d, byDefault time.Duration) time.Duration {
	switch {
	case d == 0:
		return byDefault
	case d < 0:
		return 0
	}
	return d
}
