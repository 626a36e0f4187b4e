package reflector

import (
	"context"
	"reflect"
	"sync"
	"sync/atomic"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/features"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/util/watchlist"
	"k8s.io/klog/v2"

	"github.com/informeter/informeter/engine/inspect"
	"github.com/informeter/informeter/engine/tap"
)

// Options are what a reflector may be told. The zero value is client-go's
// reflector with its defaults.
type Options struct {
	// Name is what logs call the reflector, TypeDescription what they call its
	// objects; empty is the example's type.
	Name            string
	TypeDescription string

	// ResyncPeriod is how often the store is asked to resync, if ShouldResync
	// (nil is always) says so at that moment. Zero is never.
	ResyncPeriod time.Duration
	ShouldResync func() bool

	// OnError is told of an error of a LIST, of storing its result, and of
	// opening a WATCH, and of nothing else: where client-go calls its watch
	// error handler, and with the same error value for a WATCH. Nil logs it. It
	// is called on Run's goroutine, which waits for it.
	OnError func(ctx context.Context, err error)
	// OnNoted, if not nil, is called after LastSyncResourceVersion has moved on to
	// what the store was given, on Run's goroutine, which waits for it.
	OnNoted func()

	// Generation is bumped whenever Vitals, Requests or Resync would answer
	// something new. May be nil.
	Generation *tap.Generation

	// PageSize is the limit of a LIST. Zero pages by 500 where the server reads
	// from its database anyway, and not at all where its cache can answer.
	PageSize int64
	// MinWatchTimeout is the shortest time a WATCH is asked to live; the longest
	// is twice that. Less than five minutes is five minutes.
	MinWatchTimeout time.Duration
	// Backoff is the sequence of waits between attempts; nil is 0.8 s to 30 s.
	Backoff *wait.Backoff
	// MaxInternalErrorRetry is for how long a WATCH that ends with an internal
	// error of the server is opened again instead of listing. Zero lists.
	MaxInternalErrorRetry time.Duration

	// The options below are hardening: what client-go does not do. Zero is off.

	// WatchSpacing is the least time from one WATCH to the next where client-go
	// opens the next at once. Only watches that close younger than that are
	// followed by a wait.
	WatchSpacing time.Duration
	// EndMarkerDeadline is how long after the last of its initial events a stream
	// may stay without its end marker until a LIST takes its place.
	EndMarkerDeadline time.Duration
	// WatchGrace is how long a WATCH may outlive the timeout it asked for until
	// it is cut on this side.
	WatchGrace time.Duration
	// SteadyResync keeps one resync timer from the first WATCH until the stop.
	// Without it every relist starts the period anew.
	SteadyResync bool
	// CheckLists leaves objects of another Go type out of a LIST, as they are left
	// out of a WATCH. Unlike client-go, where they get into the cache and handlers
	// that know only their type panic [foreign types].
	CheckLists bool
}

// Reflector fills a store from a ListerWatcher. New makes one, Run runs it,
// once. All other methods are safe at any time.
type Reflector struct {
	options         Options
	name            string
	typeDescription string
	generation      *tap.Generation
	source          cache.ListerWatcherWithContext
	store           cache.ReflectorStore
	bookmarks       cache.ReflectorBookmarkStore // store, nil if it wants none
	versions        cache.ResourceVersionUpdater // store, nil if it wants none
	batches         batcher                      // store, nil if it takes one at a time
	expected        expectation
	streamsLists    bool // a round begins with a WATCHLIST
	shortestWatch   time.Duration
	// relistAsked and woken have room for one.
	relistAsked chan struct{}
	woken       chan struct{} // see interrupted

	// The fields below are the machine's. Only Run's goroutine touches them,
	// apart from phase, which it writes under mu.

	phase inspect.Phase
	// after says where PhaseBackingOff goes, and until when it waits.
	after   destination
	resumes time.Time
	// stream is a watch handed from one phase to the next: set by StreamingList
	// when it has seen the end marker, taken by Watching.
	stream *stream
	// mostRecent: the next LIST or WATCHLIST asks for the most recent state
	// instead of one no older than what was seen, because the server refused
	// that as expired or too new, or because Relist was called.
	mostRecent bool
	// paged: the first LIST came in pages although its resource version allowed
	// the server's cache to answer, so later ones page too.
	paged bool
	// unfinished counts the initial streams of this round that closed without
	// their end marker; noStreamUntil is when WATCHLIST is tried again after
	// such streams were given up.
	unfinished    int
	noStreamUntil time.Time
	delays        delays
	internal      retryWindow
	gathered      gathered   // empty but during a burst
	resyncing     *resyncing // nil while no resync timer runs
	// draining are the streams that were stopped and have not closed yet.
	draining sync.WaitGroup
	// delivering says that the store may have been given something that
	// LastSyncResourceVersion does not tell of yet. Read by anybody.
	delivering atomic.Bool

	// mu guards everything below, and phase.
	mu      sync.Mutex
	started bool
	// vitals is what Vitals returns, apart from what is computed there. Its
	// ResourceVersion is the last one enqueued.
	vitals   inspect.ReflectorVitals
	rate     tap.Rate
	failure  *Error // not recovered from; nil if none
	failures int    // since the last attempt that worked
	// establishedAt is when the server accepted the watch under way; zero if
	// there is none, if it is an initial stream, or if it has failed.
	establishedAt time.Time
	listed        int // objects in the last complete list, -1 before it
	requests      requestLog
	nextResync    time.Time
	lastResync    time.Time
	resyncRounds  uint64
}

// New returns a reflector that does nothing yet. Example says which objects
// belong into the store: its Go type and, if it is an *unstructured.Unstructured
// that has one, its kind. Nil lets every object in.
func New(lw cache.ListerWatcher, example any, store cache.ReflectorStore, o Options) *Reflector {
	r := &Reflector{
		options:         o,
		name:            o.Name,
		typeDescription: o.TypeDescription,
		generation:      o.Generation,
		source:          cache.ToListerWatcherWithContext(lw),
		store:           store,
		expected:        expectationOf(example),
		shortestWatch:   max(o.MinWatchTimeout, minWatchTimeout),
		relistAsked:     make(chan struct{}, 1),
		woken:           make(chan struct{}, 1),
		listed:          -1,
		internal:        retryWindow{limit: o.MaxInternalErrorRetry},
	}
	r.vitals.Expected = -1
	r.bookmarks, _ = store.(cache.ReflectorBookmarkStore)
	r.versions, _ = store.(cache.ResourceVersionUpdater)
	r.batches, _ = store.(batcher)
	if r.typeDescription == "" {
		r.typeDescription = r.expected.describe()
	}
	if r.name == "" {
		r.name = r.typeDescription
	}
	backoff := defaultBackoff()
	if o.Backoff != nil {
		backoff = *o.Backoff
	}
	r.delays = newDelays(time.Now(), backoff)
	r.streamsLists = features.FeatureGates().Enabled(features.WatchListClient) &&
		!watchlist.DoesClientNotSupportWatchListSemantics(lw)
	return r
}

// Run fills the store until ctx ends. It returns when everything that it
// started has ended, but for a LIST that takes no notice: that is left after a
// second. A WATCH that is being opened and ignores its context holds it up.
//
// Unlike client-go, a reflector runs once: a second call returns at once; and not
// at all if ctx has ended already [one run].
func (r *Reflector) Run(ctx context.Context) {
	defer utilruntime.HandleCrashWithContext(ctx)
	if !r.begin() {
		klog.FromContext(ctx).Info("Warning: a reflector runs once; this one was started before", "reflector", r.name)
		return
	}
	klog.FromContext(ctx).V(3).Info("Starting reflector", "reflector", r.name, "type", r.typeDescription, "resyncPeriod", r.options.ResyncPeriod)
	defer r.becomeStopped()
	for ctx.Err() == nil {
		r.step(ctx)
	}
	klog.FromContext(ctx).V(3).Info("Stopping reflector", "reflector", r.name, "type", r.typeDescription)
}

func (r *Reflector) begin() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.started {
		return false
	}
	r.started = true
	r.vitals.Since = time.Now()
	return true
}

// step does what the phase is there for and leaves by exactly one transition,
// unless ctx ended.
func (r *Reflector) step(ctx context.Context) {
	// A panic of the ListerWatcher or the store ends the process, unless
	// panics are tolerated (utilruntime.ReallyCrash); then it ends the round.
	defer utilruntime.HandleCrashWithContext(ctx)
	finished := false
	defer func() {
		if !finished {
			r.abandonRound()
		}
	}()
	switch r.phase {
	case inspect.PhaseStarting:
		r.beginRound()
	case inspect.PhaseStreamingList:
		r.streamList(ctx)
	case inspect.PhaseListing:
		r.list(ctx)
	case inspect.PhaseWatching:
		r.watch(ctx)
	case inspect.PhaseBackingOff:
		r.backOff(ctx)
	}
	finished = true
}

// Relist asks for a new list now, whatever the phase. A watch under way is cut,
// and a wait ends. The list asks for the most recent state, so that it also
// mends a cache whose server's history went backwards.
func (r *Reflector) Relist() {
	select {
	case r.relistAsked <- struct{}{}:
	default: // already asked
	}
	r.wake()
}

// LastSyncResourceVersion returns the resource version last enqueued: what the
// next WATCH will ask for. The store may not have come that far.
func (r *Reflector) LastSyncResourceVersion() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.vitals.ResourceVersion
}

// Noted is LastSyncResourceVersion, and whether that tells of everything that the
// store has been given. If it does not, Options.OnNoted is called once it does.
func (r *Reflector) Noted() (version string, all bool) {
	// In this order: what is delivered in between is newer.
	all = !r.delivering.Load()
	return r.LastSyncResourceVersion(), all
}

// noted says that LastSyncResourceVersion tells of what the store has been given.
func (r *Reflector) noted() {
	r.delivering.Store(false)
	if r.options.OnNoted != nil {
		r.options.OnNoted()
	}
}

// report tells whoever wants to know of an error that ended a round.
func (r *Reflector) report(ctx context.Context, err error) {
	if r.options.OnError != nil {
		r.options.OnError(ctx, err)
		return
	}
	if isExpired(err) {
		klog.FromContext(ctx).V(4).Info("Relist after an expired resource version", "reflector", r.name, "err", err)
		return
	}
	utilruntime.HandleErrorWithContext(ctx, err, "List or watch failed", "reflector", r.name, "type", r.typeDescription)
}

// expectation says which objects belong into the store.
type expectation struct {
	goType reflect.Type            // nil: any
	kind   schema.GroupVersionKind // empty: any
}

func expectationOf(example any) expectation {
	e := expectation{goType: reflect.TypeOf(example)}
	if u, ok := example.(*unstructured.Unstructured); ok {
		e.kind = u.GroupVersionKind()
	}
	return e
}

func (e expectation) describe() string {
	switch {
	case e.goType == nil:
		return "<unspecified>"
	case !e.kind.Empty():
		return e.kind.String()
	}
	return e.goType.String()
}
