package engine

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"

	"github.com/informeter/informeter/engine/deltafifo"
	"github.com/informeter/informeter/engine/inspect"
	"github.com/informeter/informeter/engine/processor"
	"github.com/informeter/informeter/engine/reflector"
	"github.com/informeter/informeter/engine/store"
	"github.com/informeter/informeter/engine/tap"
)

// minimumResyncPeriod is the shortest period that a handler is granted.
const minimumResyncPeriod = time.Second

// crashPause is how long handling rests after a panic that the program chose to
// survive.
const crashPause = time.Second

// queue is what an informer asks of its queue besides being client-go's.
type queue interface {
	cache.Queue
	cache.ReflectorBookmarkStore
	Enqueue(deltas []cache.Delta, failed func(n int, err error))
	PopEntries(admit func() int, process func([]deltafifo.Entry) []deltafifo.Entry) (int, []deltafifo.Entry, error)
	Vitals(now time.Time) inspect.QueueVitals
	Pending() (waiting, inFlight int)
	Page(now time.Time, q inspect.QueueQuery) inspect.QueuePage
	Waiting(keys []string) []int
}

var (
	_ cache.SharedIndexInformer = (*Informer)(nil)
	_ inspect.Inspector         = (*Informer)(nil)
	_ inspect.Controls          = (*Informer)(nil)
)

// Informer is a shared informer that can be looked into. New makes one; it runs
// once, and a stopped one is final. See the package's documentation.
type Informer struct {
	name    string
	options Options
	example runtime.Object
	keyFunc cache.KeyFunc
	created time.Time

	generation tap.Generation
	gate       *gate
	store      *store.Indexer
	processor  *processor.Processor
	mutations  cache.MutationDetector
	lw         cache.ListerWatcher
	synced     chan struct{} // closed once the first list has been applied
	viewers    viewers
	moments    moments
	// quarantined lists what the intake and HandleDeltas set aside.
	quarantined quarantine
	complaints  complaints // of what was contained

	// handleMu is held while deltas are applied and their notifications
	// published, so that a handler that joins late sees the store and then
	// exactly what comes after. Taken after lifeMu where both are.
	handleMu sync.Mutex
	scratch  scratch // guarded by handleMu
	replay   replay
	// lagging says that the store's resource version may be behind what has been
	// dealt with; see reach.
	lagging atomic.Bool

	// lifeMu guards the fields below. Run writes queue and reflector once.
	lifeMu      sync.Mutex
	state       inspect.State
	started     time.Time
	syncedAt    time.Time
	queue       queue
	reflector   *reflector.Reflector
	checkPeriod time.Duration // how often whose turn it is to resync is asked
	transform   cache.TransformFunc
	watchError  cache.WatchErrorHandlerWithContext
	handlers    map[string]*processor.Listener // by name, the explorer's own apart

	statsMu sync.Mutex
	stats   handleStats // guarded by statsMu
	resync  resyncStats // guarded by statsMu
}

// NewSharedIndexInformer returns an informer with client-go's signature and
// behaviour; it is registered nowhere.
func NewSharedIndexInformer(lw cache.ListerWatcher, example runtime.Object, resync time.Duration, indexers cache.Indexers) cache.SharedIndexInformer {
	return New(lw, example, Options{Resync: resync, Indexers: indexers})
}

// NewSharedIndexInformerWithOptions is NewSharedIndexInformer with client-go's
// options.
//
// Unlike client-go, metrics options have no effect: what they would count is in
// the informer's Snapshot [metrics].
func NewSharedIndexInformerWithOptions(lw cache.ListerWatcher, example runtime.Object, o cache.SharedIndexInformerOptions) cache.SharedIndexInformer {
	return New(lw, example, Options{
		Resync:      o.ResyncPeriod,
		Indexers:    o.Indexers,
		Description: o.ObjectDescription,
	})
}

// New returns an informer that is not running yet.
func New(lw cache.ListerWatcher, example runtime.Object, o Options) *Informer {
	o = o.strictly()
	i := &Informer{
		options:     o,
		example:     example,
		keyFunc:     o.keyFunc(),
		created:     time.Now(),
		lw:          lw,
		mutations:   cache.NewCacheMutationDetector(fmt.Sprintf("%T", example)),
		synced:      make(chan struct{}),
		state:       inspect.StateCreated,
		checkPeriod: o.Resync,
		handlers:    map[string]*processor.Listener{},
	}
	i.name = o.Name
	if i.name == "" {
		i.name = strings.TrimLeft(i.description(), "*")
	}
	i.quarantined.told, i.quarantined.complaints, i.quarantined.name = i.skip, &i.complaints, i.Name
	i.gate = newGate(&i.generation)
	storing := o.storeOptions()
	storing.Refused = i.complainOfIndex
	i.store = store.New(cache.DeletionHandlingMetaNamespaceKeyFunc, o.Indexers, storing)
	i.processor = processor.New(processor.Options{
		HandlerPanic:    o.HandlerPanic,
		SkipBusyResync:  o.Hardening.SkipBusyResync,
		ConflateBacklog: o.Hardening.ConflateBacklog,
		Generation:      &i.generation,
		Upstream:        i.HasSyncedChecker(),
	})
	if o.Registry != nil {
		o.Registry.add(i)
	}
	return i
}

// description names the type of the objects.
func (i *Informer) description() string {
	if i.options.Description != "" {
		return i.options.Description
	}
	if i.example == nil {
		return "<unspecified>"
	}
	gvk := i.example.GetObjectKind().GroupVersionKind()
	if gvk.Empty() {
		return fmt.Sprintf("%T", i.example)
	}
	kind := gvk.GroupVersion().String() + ", Kind=" + gvk.Kind
	if _, partial := i.example.(*metav1.PartialObjectMetadata); partial {
		return kind + " (metadata)" // a process may cache whole objects of that kind, too
	}
	return kind
}

// Name returns the informer's name, unique in its registry.
func (i *Informer) Name() string { return i.name }

// Run runs the informer until stopCh is closed. See RunWithContext.
func (i *Informer) Run(stopCh <-chan struct{}) {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	stopped := make(chan struct{})
	go func() {
		defer close(stopped)
		select {
		case <-stopCh:
			cancel()
		case <-ctx.Done():
		}
	}()
	i.RunWithContext(ctx)
	cancel()
	<-stopped
}

// RunWithContext runs the informer until ctx ends, and returns when every
// goroutine it began has ended: first the reflector and the queue, then the
// listeners. A second call returns at once.
//
// Steps:
//
//  1. The reflector fills the queue.
//  2. This goroutine waits at the gate, pops a batch and handles it: store and
//     indices first, then the notifications are published.
//  3. Each listener's goroutine takes from the processor's log at its own pace.
func (i *Informer) RunWithContext(ctx context.Context) {
	defer utilruntime.HandleCrashWithContext(ctx)
	if !i.begin() {
		klog.FromContext(ctx).Info("Warning: an informer runs once; this one was started before", "informer", i.name)
		return
	}
	i.complaints.logTo(klog.FromContext(ctx))
	// Values and logger stay with the listeners, the cancellation doesn't: they
	// stop strictly after what feeds them.
	listening, stopListeners := context.WithCancelCause(context.WithoutCancel(ctx))
	var listeners sync.WaitGroup
	listeners.Go(func() { i.processor.Run(listening) })
	listeners.Go(func() { i.mutations.Run(listening.Done()) })
	defer i.generation.Bump()
	defer listeners.Wait()
	defer stopListeners(errors.New("informer is stopping"))
	defer i.end()

	var feeding sync.WaitGroup
	feeding.Go(func() {
		<-ctx.Done()
		i.queue.Close()
	})
	feeding.Go(func() { i.reflector.Run(ctx) })
	feeding.Go(func() { i.awaitSync(ctx) })
	feeding.Go(func() { i.sampleRates(ctx) })
	i.popLoop(ctx)
	feeding.Wait()
}

// begin builds the queue and the reflector; false if that has happened before.
func (i *Informer) begin() bool {
	i.lifeMu.Lock()
	defer i.lifeMu.Unlock()
	if i.state != inspect.StateCreated {
		return false
	}
	queue, fill := i.newQueue()
	i.queue = queue
	i.reflector = reflector.New(i.lw, i.example, fill, i.reflectorOptions())
	i.state, i.started = inspect.StateRunning, time.Now()
	i.generation.Bump()
	return true
}

// newQueue returns the queue, and what the reflector fills it through.
func (i *Informer) newQueue() (queue, cache.ReflectorStore) {
	o := deltafifo.Options{
		KeyFunc:      i.keyFunc,
		KnownObjects: i.store,
		Compress:     i.options.Hardening.CompressUpdates,
		MaxAttempts:  cmp.Or(i.options.retries(), -1),
		Generation:   &i.generation,
		Ignored:      i.ignored,
	}
	if i.options.stock() {
		o.Transformer = i.transform
	}
	var q queue = deltafifo.New(o)
	if i.options.Queue == InOrder {
		q = deltafifo.NewInOrder(o)
	}
	if i.options.stock() {
		return q, q
	}
	return q, &intake{queue: q, keyFunc: i.keyFunc, transform: i.transform, quarantine: &i.quarantined}
}

func (i *Informer) reflectorOptions() reflector.Options {
	h := i.options.Hardening
	return reflector.Options{
		Name:              i.name,
		TypeDescription:   i.description(),
		ResyncPeriod:      i.checkPeriod,
		ShouldResync:      i.shouldResync,
		OnError:           i.onWatchError,
		OnNoted:           i.reach,
		Generation:        &i.generation,
		PageSize:          i.options.PageSize,
		MinWatchTimeout:   i.options.MinWatchTimeout,
		WatchSpacing:      orDefault(h.WatchSpacing, time.Second),
		EndMarkerDeadline: orDefault(h.EndMarkerDeadline, 30*time.Second),
		WatchGrace:        orDefault(h.WatchGrace, time.Minute),
		SteadyResync:      !h.DisableSteadyResync,
		CheckLists:        !i.options.stock(),
	}
}

func (i *Informer) end() {
	i.lifeMu.Lock()
	defer i.lifeMu.Unlock()
	i.state = inspect.StateStopped
}

// awaitSync closes synced once the first list has been applied.
func (i *Informer) awaitSync(ctx context.Context) {
	select {
	case <-i.queue.HasSyncedChecker().Done():
	case <-ctx.Done():
		return
	}
	i.lifeMu.Lock()
	i.syncedAt = time.Now()
	i.lifeMu.Unlock()
	close(i.synced)
	i.generation.Bump()
}

// popLoop takes from the queue what the gate lets through until ctx ends. If what
// a batch calls panics and the program survives that, it goes on with the next
// one a second later, as client-go does.
func (i *Informer) popLoop(ctx context.Context) {
	for !i.popBatches(ctx) {
		crashed := time.NewTimer(crashPause)
		select {
		case <-crashed.C:
		case <-ctx.Done():
		}
		crashed.Stop()
	}
}

// popBatches returns false after a panic: only if runtime.ReallyCrash is false.
func (i *Informer) popBatches(ctx context.Context) (over bool) {
	defer utilruntime.HandleCrashWithContext(ctx)
	for i.gate.wait(ctx) == nil {
		taken, _, err := i.queue.PopEntries(i.gate.admit, i.handle)
		i.gate.spend(taken)
		i.reach()
		if errors.Is(err, cache.ErrFIFOClosed) {
			break
		}
	}
	return true
}

// sampleRates keeps the moving averages moving while nobody asks for them.
func (i *Informer) sampleRates(ctx context.Context) {
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	for {
		select {
		case now := <-tick.C:
			i.sample(now)
		case <-ctx.Done():
			return
		}
	}
}

// sample reads every stage that has rates, which is what moves them.
func (i *Informer) sample(now time.Time) {
	i.queue.Vitals(now)
	i.reflector.Vitals(now)
	i.processor.Sample(now)
	i.handleVitals(now)
	i.storeVitals(now)
	i.traffic(now)
	i.reach()
	i.complaints.flush() // of what others wrote into the store
}
