package processor

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"

	"github.com/informeter/informeter/engine/inspect"
	"github.com/informeter/informeter/engine/tap"
)

// PanicPolicy says what happens when a handler panics.
type PanicPolicy uint8

const (
	// Crash lets the process die, as client-go does: apimachinery's
	// runtime.HandleCrash logs the panic, calls its PanicHandlers and panics
	// again. Where the program has set runtime.ReallyCrash to false, the
	// notification is skipped and the next one waits for a second.
	Crash PanicPolicy = iota
	// Contain counts the panic, keeps key, value and stack in the listener's
	// vitals, logs it, and goes on with the next notification.
	Contain
)

// Options are what a processor needs to know of its informer. The zero value
// works.
type Options struct {
	HandlerPanic PanicPolicy
	// SkipBusyResync passes a listener over that is due for a resync and has not
	// been given all of the last one.
	SkipBusyResync bool
	// ConflateBacklog is how many notifications may wait for a listener one by
	// one. For one that more wait for only the difference between what it knows
	// and the newest state of each key is kept; see the package's documentation.
	// Zero never does that.
	ConflateBacklog int
	// Generation is bumped when something a reader could see has changed. May
	// be nil.
	Generation *tap.Generation
	// Upstream is done once the informer has synced; nil stands for an informer
	// that is synced when it runs.
	Upstream cache.DoneChecker
	// KeyFunc names objects in vitals: CurrentKey and LastPanic. nil stands for
	// cache.DeletionHandlingMetaNamespaceKeyFunc.
	KeyFunc cache.KeyFunc
}

// ListenerOptions describe one handler: what its informer knows of it and decides
// about it. What a handler can do besides being called, it says by its methods,
// see RunObserver and Interruptible; what it may do is said here. So a user's
// handler that happens to have a method of some name is never taken for the
// explorer's, whose backlog is cut, or for one of the lab's, which readers may
// remove.
type ListenerOptions struct {
	Name string
	// Explorer marks the explorer's own listener: it receives what is addressed
	// to the due listeners without ever being due itself.
	Explorer bool
	// Lab marks a handler that is there to be experimented with, Delay is how
	// long its calls are made to take. Both are only shown.
	Lab   bool
	Delay time.Duration
	// CatchUp lets a listener do without a startup batch and without a backlog of
	// more than Backlog notifications. It is called by the listener's goroutine:
	// before anything is delivered, and when more wait, which are skipped then.
	// Nothing it reads is older than what was skipped; what is published while it
	// reads is delivered after. lost counts the skipped, those of an initial list
	// apart.
	CatchUp func(lost uint64)
	Backlog uint64
	// ResyncAsked is what the handler asked for, ResyncGranted what the informer
	// grants it. Now is when the granted period begins.
	ResyncAsked, ResyncGranted time.Duration
	Now                        time.Time
	// Logger says where a panic is logged; nil stands for klog.Background().
	Logger *klog.Logger
}

// Interruptible is a handler that takes its time and wants to know when to hurry.
type Interruptible interface {
	// OnQuit is called once, by the goroutine that calls the handler and before it
	// is called with anything. quitting closes when the call under way has become the last.
	OnQuit(quitting <-chan struct{})
}

// ErrStopped is returned by Add once Run's context has ended.
var ErrStopped = errors.New("processor has stopped")

// Processor tells all listeners of an informer what happened to its objects.
// New makes one. Safe for concurrent use, except that Add must not run at the
// same time as Publish: what a late listener is given has to fit what follows.
type Processor struct {
	panicPolicy PanicPolicy
	skipBusy    bool
	conflateAt  int
	generation  *tap.Generation
	upstream    cache.DoneChecker
	keyFunc     cache.KeyFunc
	// began is the zero of the clock that now reads, beganUnix the same moment
	// in Unix nanoseconds.
	began     time.Time
	beganUnix int64

	// broadcast counts the notifications addressed to every listener, initial
	// those among them that are part of the initial list. Both are written under
	// mu, before what they count is published: a listener that was given a
	// notification finds it counted.
	broadcast, initial atomic.Uint64
	// awake counts the listeners that hold a position in the log, and Publish
	// while it is at work. At zero nobody reads what was published.
	awake atomic.Int32
	// upstreamDone says that Run has seen the informer synced.
	upstreamDone atomic.Bool
	wg           sync.WaitGroup

	// mu guards the fields below, and of each listener what its own fields say.
	// It is taken before a listener's mu. No handler is called with it.
	mu               sync.Mutex
	started, stopped bool
	// listeners is in the order of registration. Those that were removed stay
	// until the call under way has returned; active counts the others.
	listeners []*Listener
	active    int
	tail      *chunk // where the next notification goes
	cleared   uint32 // tail.entries[:cleared] pin nothing
	recording bool   // of deliveries
	round     uint16 // grows when a resync round is begun
	// due is whom DueOnly notifications are for, as of the last change: see
	// dueLocked. dueKnown says that nothing has changed since.
	due      *Audience
	dueEmpty bool
	dueKnown bool
	// held says that a round is under way whose listeners stay due.
	held bool
}

// New returns a processor without listeners. It does nothing until Run.
func New(o Options) *Processor {
	p := &Processor{
		panicPolicy: o.HandlerPanic,
		skipBusy:    o.SkipBusyResync,
		conflateAt:  o.ConflateBacklog,
		generation:  o.Generation,
		upstream:    o.Upstream,
		keyFunc:     o.KeyFunc,
		began:       time.Now(),
		tail:        new(chunk),
	}
	p.beganUnix = p.began.UnixNano()
	if p.keyFunc == nil {
		p.keyFunc = cache.DeletionHandlingMetaNamespaceKeyFunc
	}
	return p
}

// now returns the time since the processor was made. It never goes back.
func (p *Processor) now() int64 { return int64(time.Since(p.began)) }

// unixNow returns now as Clock has it.
func (p *Processor) unixNow() int64 { return p.beganUnix + p.now() }

// Clock returns t, which time.Now returned, in Unix nanoseconds on a clock that
// never goes back.
func (p *Processor) Clock(t time.Time) int64 { return p.beganUnix + int64(t.Sub(p.began)) }

// Add registers a handler. It is told of everything published from now on;
// initial, the objects that are in the store already, is what it is told first,
// and nobody else is. keys are theirs, in the same order, or nil. The caller
// sees to it that Publish does not run meanwhile.
func (p *Processor) Add(h cache.ResourceEventHandler, o ListenerOptions, keys []string, initial []any) (*Listener, error) {
	if h == nil {
		return nil, fmt.Errorf("add handler %q: it is nil", o.Name)
	}
	l := newListener(p, h, o)
	batch := p.startupBatch(keys, initial)

	p.mu.Lock()
	defer p.mu.Unlock()
	if p.stopped {
		return nil, fmt.Errorf("add handler %q: %w", o.Name, ErrStopped)
	}
	l.joined, l.joinedInitial = p.broadcast.Load(), p.initial.Load()
	l.own.Store(uint64(len(initial)))
	l.ownInitial.Store(uint64(len(initial)))
	l.firstSeq = p.tail.head().number() + 1
	if p.recording {
		l.recordLocked(true)
	}
	l.place(batch.before(p.tail.head()))
	p.awake.Add(1)
	p.listeners = append(p.listeners, l)
	p.active++
	p.dueKnown = false
	if p.started {
		p.wg.Go(l.run)
		// With nothing to be given first, nothing is left to wait for.
		l.syncIfDone()
	}
	p.generation.Bump()
	return l, nil
}

// startup is a late listener's startup batch: a log of its own that leads into
// the shared one.
type startup struct{ first, last *chunk }

func (p *Processor) startupBatch(keys []string, initial []any) startup {
	if len(initial) == 0 {
		return startup{}
	}
	first := &chunk{own: true}
	w := writeAt(first, 0, p.unixNow())
	n := Notification{Kind: Add, Cause: inspect.CauseLateJoin, Initial: true}
	for i, obj := range initial {
		n.New = obj
		if keys != nil {
			n.Key = keys[i]
		}
		w.append(&n, nil)
	}
	w.flush()
	return startup{first, w.tail}
}

// before links the startup batch in front of pos and returns where to begin.
func (s startup) before(pos position) position {
	if s.first == nil {
		return pos
	}
	s.last.from = pos.index
	s.last.next.Store(pos.chunk)
	return position{s.first, 0}
}

// Remove ends a registration: nothing published from now on is for it. The call
// under way is its last, what else was pending is not delivered any more.
// ShutdownChan closes when that call has returned. Removing twice, or from a
// stopped processor, does nothing.
//
// Unlike client-go, which may hand over a notification or two of the pending ones
// to a handler that is quick to return [removal].
func (p *Processor) Remove(reg cache.ResourceEventHandlerRegistration) error {
	l, ok := reg.(*Listener)
	if !ok {
		return fmt.Errorf("remove handler: a %T is not a registration of this informer", reg)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if l.p != p || p.stopped || !p.retireLocked(l) {
		return nil
	}
	if p.started {
		l.quit()
	} else {
		l.exitLocked()
	}
	p.generation.Bump()
	return nil
}

// retireLocked stops addressing l. It returns false if that had happened before.
func (p *Processor) retireLocked(l *Listener) bool {
	if l.retired.Load() {
		return false
	}
	l.finalAddressed, l.finalInitial = l.addressed(), l.initialTotal()
	l.retired.Store(true)
	p.active--
	p.dueKnown = false
	return true
}

// Run starts the listeners, blocks until ctx ends, stops them, and returns when
// the last handler has returned. Calls under way are finished, what is pending
// is not delivered any more, as in client-go. A processor runs once.
func (p *Processor) Run(ctx context.Context) {
	p.start()
	var upstream <-chan struct{}
	if p.upstream != nil {
		upstream = p.upstream.Done()
		select {
		case <-upstream:
			p.upstreamSynced()
		case <-ctx.Done():
		}
	} else {
		p.upstreamSynced()
	}
	<-ctx.Done()
	p.stop()
	p.wg.Wait()
	p.generation.Bump()
}

func (p *Processor) start() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.started {
		panic("bug: a processor runs once")
	}
	p.started = true
	for _, l := range p.listeners {
		p.wg.Go(l.run)
	}
}

// upstreamSynced makes those listeners synced that have been given all of the
// initial list; the others see to it themselves from now on.
func (p *Processor) upstreamSynced() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.upstreamDone.Store(true)
	for _, l := range p.listeners {
		if !l.retired.Load() {
			l.syncIfDone()
		}
	}
	p.generation.Bump()
}

func (p *Processor) stop() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.stopped = true
	for _, l := range p.listeners {
		p.retireLocked(l)
		l.quit()
	}
	// Listeners hold what they still need.
	p.tail, p.cleared = &chunk{base: p.tail.head().number()}, 0
}

// Len returns how many listeners are registered, the explorer's own included.
func (p *Processor) Len() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.stopped {
		return len(p.listeners)
	}
	return p.active
}

// forgetLocked takes l off the list. What a stopped processor leaves behind can
// still be read.
func (p *Processor) forgetLocked(l *Listener) {
	if p.stopped {
		return
	}
	p.listeners = slices.DeleteFunc(p.listeners, func(o *Listener) bool { return o == l })
}
