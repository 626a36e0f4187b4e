package processor

import (
	"math"
	"sync"
	"sync/atomic"
	"time"

	"k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"
)

// bumpEvery is how often a listener that works off a backlog says that its
// vitals have changed. One that runs dry says so at once.
const bumpEvery = int64(10 * time.Millisecond)

// Listener is one handler's registration: a cursor into the log and, while the
// processor runs, one goroutine that moves it.
//
//	             published, for it           not for it
//	asleep ──────────────────────▶ at work ──────────────▶ skips the run
//	  ▲   wakeUp hands over where     │ calls the handler, entry by entry
//	  └───────────────────────────────┘
//	       nothing more: sleep lets go of the log
//
// Asleep it holds nothing of the log, only the number of the position where it
// stood: whoever publishes for it hands over where the batch begins.
type Listener struct {
	p        *Processor
	handler  cache.ResourceEventHandler
	observer Observer    // handler, if it is one
	runs     RunObserver // handler, if it is one
	name     string
	explorer bool
	lab      bool
	delay    time.Duration
	logger   klog.Logger
	catchUp  func(lost uint64) // may be nil
	backlog  uint64
	added    time.Time

	// Guarded by the processor's mu. asked, granted and nextResync are the
	// resync periods and when the next is due; due says whether DueOnly
	// notifications are for it. roundEnd is what addressed was after its last
	// resync round, skipped how many rounds it was passed over; both stay 0
	// unless busy listeners are.
	asked, granted time.Duration
	nextResync     time.Time
	due            bool
	roundEnd       uint64
	skipped        uint64

	// joined and joinedInitial are the processor's counts when it was added; own
	// and ownInitial count what was addressed to it and not to every listener.
	// Of what was addressed to it, resyncs were part of a resync round.
	// finalAddressed and finalInitial are what it came to; they are written
	// before retired is set, after which nothing is addressed to it.
	// firstSeq is the sequence number of the first notification after its
	// startup batch.
	joined, joinedInitial        uint64
	firstSeq                     uint64
	own, ownInitial, resyncs     atomic.Uint64
	finalAddressed, finalInitial uint64
	retired                      atomic.Bool

	// asleep is not 0 while the goroutine holds no position and receives from
	// wake before it does anything else: then it is one more than the number of
	// the position where it stood. Whoever turns it to 0 sends one token, unless
	// it is the goroutine itself, so wake never holds two.
	asleep atomic.Uint64
	wake   chan struct{}
	// quitting says that the call under way is the last; quitted closes then.
	quitting atomic.Bool
	quitted  chan struct{}
	shutdown chan struct{} // closes when the handler is not called any more
	synced   chan struct{} // closes when the handler is synced
	syncOnce sync.Once

	// Written by the goroutine only, read by anyone: how many calls have
	// returned, and how many of them were part of the initial list.
	// Movers add to initialDelivered, too, what is not to be told any more.
	delivered, initialDelivered atomic.Uint64
	// conflating is nil unless the listener may leave the log. conflated counts
	// what was addressed to it and is not told any more, under the ledger's mu.
	conflating *conflation
	conflated  atomic.Uint64

	// Only the goroutine touches these. Entries below end in cursor's chunk, from
	// the cursor on, are for this listener.
	cursor  position
	end     int
	last    int64        // when the last call ended, or the run began
	bumped  int64        // when the generation was bumped last
	round   uint32       // the resync round delivered last, or noRound
	told    Notification // what the observer is told
	pausing bool         // a crash was survived: wait before the next call
	// dozing, if a test has set it, is called on the way to sleep: before others
	// can see the listener asleep, and after.
	dozing func(asleep bool)

	records ledger
}

func newListener(p *Processor, h cache.ResourceEventHandler, o ListenerOptions) *Listener {
	l := &Listener{
		p:          p,
		handler:    h,
		name:       o.Name,
		explorer:   o.Explorer,
		lab:        o.Lab,
		delay:      o.Delay,
		catchUp:    o.CatchUp,
		backlog:    o.Backlog,
		added:      o.Now,
		asked:      o.ResyncAsked,
		granted:    o.ResyncGranted,
		nextResync: o.Now.Add(o.ResyncGranted),
		due:        !o.Explorer,
		wake:       make(chan struct{}, 1),
		quitted:    make(chan struct{}),
		shutdown:   make(chan struct{}),
		synced:     make(chan struct{}),
		round:      noRound,
	}
	l.observer, _ = h.(Observer)
	l.runs, _ = h.(RunObserver)
	if p.conflateAt > 0 && o.CatchUp == nil && !o.Explorer {
		l.conflating = &conflation{filled: make(chan struct{}, 1)}
	}
	if o.Logger != nil {
		l.logger = *o.Logger
	} else {
		l.logger = klog.Background()
	}
	l.records.begin(p.began, p.began.Add(time.Duration(p.now())))
	return l
}

// ShutdownChan closes when the handler has been called for the last time and
// that call has returned. cache.ShutDownEventHandler waits for it.
func (l *Listener) ShutdownChan() <-chan struct{} { return l.shutdown }

// Name returns what the listener was called when it was added.
func (l *Listener) Name() string { return l.name }

// Lab says whether the listener was added as one of the lab.
func (l *Listener) Lab() bool { return l.lab }

// Removed says whether nothing is addressed to the listener any more: it was
// removed, its processor has stopped, or its handler has ended the goroutine.
func (l *Listener) Removed() bool { return l.retired.Load() }

// place says where a listener begins that has not been started.
func (l *Listener) place(pos position) {
	l.cursor = pos
	l.records.at(pos, 0)
}

// addressed counts the notifications that were for this listener so far.
func (l *Listener) addressed() uint64 {
	if l.retired.Load() {
		return l.finalAddressed
	}
	return l.p.broadcast.Load() - l.joined + l.own.Load()
}

// initialTotal counts those among them that are part of the initial list.
func (l *Listener) initialTotal() uint64 {
	if l.retired.Load() {
		return l.finalInitial
	}
	return l.p.initial.Load() - l.joinedInitial + l.ownInitial.Load()
}

// run calls the handler until it is told to quit.
func (l *Listener) run() {
	defer l.exit()
	if slow, ok := l.handler.(Interruptible); ok {
		slow.OnQuit(l.quitted)
	}
	if l.catchUp != nil {
		l.catchUp(0)
	}
	for l.next() {
		l.deliver()
	}
}

// exit ends the registration, if a handler that called runtime.Goexit has not
// waited for that.
//
// Unlike client-go, whose listener would be queued for and never be called
// again, such a listener is removed [goexit].
func (l *Listener) exit() {
	l.p.mu.Lock()
	l.p.retireLocked(l)
	l.exitLocked()
	l.p.mu.Unlock()
	l.p.generation.Bump()
}

// exitLocked lets go of everything. The processor's mu is held.
func (l *Listener) exitLocked() {
	l.cursor = position{}
	l.records.at(position{}, l.delivered.Load())
	l.p.forgetLocked(l)
	if l.conflating == nil || !l.conflating.end(&l.records) {
		l.p.restLocked()
	}
	close(l.shutdown)
}

// next moves the cursor to the next entries that are for this listener, and
// sleeps while there are none. It returns false when it is to quit.
func (l *Listener) next() bool {
	for !l.quitting.Load() {
		if l.catchUp != nil && l.addressed()-l.delivered.Load() > l.backlog {
			l.overtake()
			continue
		}
		if c := l.conflating; c != nil && (l.cursor.chunk == nil || l.cursor.chunk == &c.window) {
			if l.resume() {
				return true
			}
			continue
		}
		if n := int(l.cursor.chunk.n.Load()); l.cursor.index < n {
			e := &l.cursor.chunk.entries[l.cursor.index]
			if !e.to.includes(l) {
				l.cursor.index += int(e.skip)
				continue
			}
			if l.beginRun(n) {
				return true
			}
			continue
		}
		if pos, ok := l.cursor.next(); ok {
			l.cursor = pos
			continue
		}
		l.sleep()
	}
	return false
}

// beginRun finds out how far the entries go that are for this listener; the
// first n of the chunk are published. It returns false if they are to be taken
// from a backlog instead.
func (l *Listener) beginRun(n int) bool {
	entries := &l.cursor.chunk.entries
	l.end = l.cursor.index
	for l.end < n && entries[l.end].to.includes(l) {
		l.end += int(entries[l.end].skip)
	}
	l.last = l.p.now()
	if l.conflating != nil {
		return l.beginConflating()
	}
	l.records.beginRun(l.cursor, l.end, l.delivered.Load(), l.last)
	return true
}

// sleep waits until something is published for this listener, or it is to quit.
func (l *Listener) sleep() {
	stood := l.cursor.number()
	l.records.rest(stood, l.delivered.Load())
	l.bump(l.last)
	// asleep is set before the log is read once more, and Publish reads it after
	// the log was written: either this sees the entry or Publish sees it asleep.
	if l.dozing != nil {
		l.dozing(false)
	}
	l.asleep.Store(stood + 1)
	if l.dozing != nil {
		l.dozing(true)
	}
	if l.quitting.Load() || l.more() {
		if !l.asleep.CompareAndSwap(stood+1, 0) {
			// Woken in the same moment. The cursor is right as it is; what was
			// handed over may begin after what was just seen.
			<-l.wake
			l.p.awake.Add(-1)
		}
		return
	}
	l.cursor = position{}
	l.p.rest()
	<-l.wake
	if from := l.records.place(); from.chunk != nil {
		// Part of the batch may have been published, and delivered, before.
		l.cursor = from.forward(stood)
	}
}

// more says whether anything lies ahead of the cursor.
func (l *Listener) more() bool {
	if l.cursor.index < int(l.cursor.chunk.n.Load()) {
		return true
	}
	_, ok := l.cursor.next()
	return ok
}

// wakeUp lets a listener go on at from that fell asleep before the position
// numbered end. Called with the processor's mu.
func (l *Listener) wakeUp(from position, end uint64) {
	stood := l.asleep.Load()
	if stood == 0 || stood > end || !l.asleep.CompareAndSwap(stood, 0) {
		return
	}
	l.p.awake.Add(1)
	l.records.at(from, l.delivered.Load())
	l.wake <- struct{}{} // has room: see asleep
}

// quit makes the call under way the last. Called with the processor's mu.
func (l *Listener) quit() {
	if l.quitting.Swap(true) {
		return
	}
	close(l.quitted)
	l.wakeUp(position{}, math.MaxUint64)
}
