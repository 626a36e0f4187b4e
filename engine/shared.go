package engine

import (
	"context"
	"errors"
	"fmt"
	"time"

	"k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"

	"github.com/informeter/informeter/engine/inspect"
	"github.com/informeter/informeter/engine/processor"
)

// errStarted is returned by what must be set before the informer runs.
var errStarted = errors.New("informer has already started")

// AddEventHandler adds a handler with the informer's default resync period.
func (i *Informer) AddEventHandler(h cache.ResourceEventHandler) (cache.ResourceEventHandlerRegistration, error) {
	return i.AddNamedEventHandler("", h, cache.HandlerOptions{})
}

// AddEventHandlerWithResyncPeriod adds a handler that asks for a resync period.
func (i *Informer) AddEventHandlerWithResyncPeriod(h cache.ResourceEventHandler, resync time.Duration) (cache.ResourceEventHandlerRegistration, error) {
	return i.AddNamedEventHandler("", h, cache.HandlerOptions{ResyncPeriod: &resync})
}

// AddEventHandlerWithOptions adds a handler.
func (i *Informer) AddEventHandlerWithOptions(h cache.ResourceEventHandler, o cache.HandlerOptions) (cache.ResourceEventHandlerRegistration, error) {
	return i.AddNamedEventHandler("", h, o)
}

// AddNamedEventHandler adds a handler under a name of its own; an empty name
// stands for what the handler calls itself, and a name that is taken gets a
// number. A handler added while the informer runs is first given everything in
// the store. It is an error once the informer has stopped.
//
// Unlike client-go, a nil handler is refused at once, not with a panic at the
// first event [nil handler].
func (i *Informer) AddNamedEventHandler(name string, h cache.ResourceEventHandler, o cache.HandlerOptions) (cache.ResourceEventHandlerRegistration, error) {
	if isNil(h) {
		return nil, errors.New("a nil handler was not added: there is nothing to call")
	}
	if name == "" {
		name = handlerName(h)
	}
	i.lifeMu.Lock()
	defer i.lifeMu.Unlock()
	if i.state == inspect.StateStopped {
		return nil, fmt.Errorf("handler %s was not added: %w", name, inspect.ErrStopped)
	}
	name = unique(name, func(n string) bool { return i.handlerLocked(n) != nil })
	asked := i.options.Resync
	if o.ResyncPeriod != nil {
		asked = *o.ResyncPeriod
	}
	logger := klog.Background()
	if o.Logger != nil {
		logger = *o.Logger
	}
	options := processor.ListenerOptions{
		Name:          name,
		ResyncAsked:   asked,
		ResyncGranted: i.grantLocked(logger, asked),
		Now:           time.Now(),
		Logger:        &logger,
	}
	if slow, ok := h.(*labHandler); ok {
		options.Lab, options.Delay = true, slow.delay
	}
	listener, err := i.addListenerLocked(h, options)
	if err != nil {
		return nil, fmt.Errorf("add handler %s: %w", name, err)
	}
	i.handlers[name] = listener
	i.generation.Bump()
	return listener, nil
}

// addListenerLocked joins a handler to the processor: while no delta is
// handled, it is given the store as it is, and then what comes after.
func (i *Informer) addListenerLocked(h cache.ResourceEventHandler, o processor.ListenerOptions) (*processor.Listener, error) {
	if i.state == inspect.StateCreated {
		return i.processor.Add(h, o, nil, nil)
	}
	i.handleMu.Lock()
	defer i.handleMu.Unlock()
	keys, objects := i.store.Snapshot()
	return i.processor.Add(h, o, keys, objects)
}

// grantLocked turns the resync period that a handler asks for into the one it
// gets: none below the minimum, and once the informer runs none below its check
// period. Before that, a short one makes the informer check more often.
func (i *Informer) grantLocked(logger klog.Logger, asked time.Duration) time.Duration {
	if asked <= 0 {
		return 0
	}
	period := max(asked, minimumResyncPeriod)
	switch {
	case period < i.checkPeriod && i.state == inspect.StateCreated:
		i.checkPeriod = period
		i.processor.RegrantResync(period)
	case i.checkPeriod == 0:
		logger.Info("Warning: a resync period was asked of an informer that does no resyncs", "asked", asked)
		return 0
	}
	granted := max(period, i.checkPeriod)
	if granted != asked {
		logger.Info("Warning: a resync period was raised", "asked", asked, "granted", granted, "informer", i.name)
	}
	return granted
}

// RemoveEventHandler removes a handler. The call under way is its last; what else
// was pending for it is not delivered any more. Removing it again does nothing.
func (i *Informer) RemoveEventHandler(handle cache.ResourceEventHandlerRegistration) error {
	i.lifeMu.Lock()
	defer i.lifeMu.Unlock()
	i.handleMu.Lock()
	defer i.handleMu.Unlock()
	if err := i.processor.Remove(handle); err != nil {
		return fmt.Errorf("remove handler from informer %s: %w", i.name, err)
	}
	if l, ok := handle.(*processor.Listener); ok && i.handlers[l.Name()] == l {
		delete(i.handlers, l.Name())
	}
	i.generation.Bump()
	return nil
}

// handlerLocked returns the handler of that name; nil if there is none, or none
// any more because it has ended its own goroutine.
func (i *Informer) handlerLocked(name string) *processor.Listener {
	l := i.handlers[name]
	if l == nil || l.Removed() {
		return nil
	}
	return l
}

// GetStore returns the cache.
func (i *Informer) GetStore() cache.Store { return i.store }

// GetIndexer returns the cache with its indices.
func (i *Informer) GetIndexer() cache.Indexer { return i.store }

// AddIndexers adds indices, filled with what is in the store. It is an error
// once the informer has stopped.
func (i *Informer) AddIndexers(indexers cache.Indexers) error {
	i.lifeMu.Lock()
	defer i.lifeMu.Unlock()
	if i.state == inspect.StateStopped {
		return fmt.Errorf("indices were not added: %w", inspect.ErrStopped)
	}
	defer i.generation.Bump()
	return i.store.AddIndexers(indexers)
}

// HasSynced says whether the store has been given one full list.
func (i *Informer) HasSynced() bool { return cache.IsDone(i.HasSyncedChecker()) }

// HasSyncedChecker is done when HasSynced is true.
func (i *Informer) HasSyncedChecker() cache.DoneChecker { return syncedChecker{i} }

type syncedChecker struct{ informer *Informer }

func (c syncedChecker) Name() string          { return "informer " + c.informer.name }
func (c syncedChecker) Done() <-chan struct{} { return c.informer.synced }

// LastSyncResourceVersion returns the resource version that the reflector
// enqueued last; the store's own is in its vitals.
func (i *Informer) LastSyncResourceVersion() string {
	i.lifeMu.Lock()
	defer i.lifeMu.Unlock()
	if i.reflector == nil {
		return ""
	}
	return i.reflector.LastSyncResourceVersion()
}

// SetTransform sets the function through which every object goes before it is
// stored. It is an error once the informer runs.
func (i *Informer) SetTransform(f cache.TransformFunc) error {
	return i.beforeStart(func() { i.transform = f })
}

// SetWatchErrorHandler sets what is called when listing or watching fails. It is
// an error once the informer runs.
func (i *Informer) SetWatchErrorHandler(h cache.WatchErrorHandler) error {
	return i.SetWatchErrorHandlerWithContext(func(_ context.Context, r *cache.Reflector, err error) { h(r, err) })
}

// SetWatchErrorHandlerWithContext is SetWatchErrorHandler with a context.
//
// Unlike client-go, the *cache.Reflector passed has our name and type and never
// ran: its resource version is empty [watch errors].
func (i *Informer) SetWatchErrorHandlerWithContext(h cache.WatchErrorHandlerWithContext) error {
	return i.beforeStart(func() { i.watchError = h })
}

func (i *Informer) beforeStart(set func()) error {
	i.lifeMu.Lock()
	defer i.lifeMu.Unlock()
	if i.state != inspect.StateCreated {
		return errStarted
	}
	set()
	return nil
}

// onWatchError hands a failure to the handler that was set, or to client-go's.
func (i *Informer) onWatchError(ctx context.Context, err error) {
	i.lifeMu.Lock()
	handler := i.watchError
	i.lifeMu.Unlock()
	if handler == nil {
		handler = cache.DefaultWatchErrorHandler
	}
	handler(ctx, cache.NewReflectorWithOptions(i.lw, i.example, i.queue, cache.ReflectorOptions{
		Name:            i.name,
		TypeDescription: i.description(),
	}), err)
}

// IsStopped says whether the informer has run and ended.
func (i *Informer) IsStopped() bool {
	i.lifeMu.Lock()
	defer i.lifeMu.Unlock()
	return i.state == inspect.StateStopped
}

// GetController returns a view of the informer with client-go's interface for
// its inner controller; running it does nothing.
func (i *Informer) GetController() cache.Controller { return controllerView{i} }

// controllerView is an informer as a cache.Controller that is run by others.
type controllerView struct{ *Informer }

func (controllerView) Run(<-chan struct{})            {}
func (controllerView) RunWithContext(context.Context) {}
