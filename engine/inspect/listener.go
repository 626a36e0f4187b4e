package inspect

import "time"

// ListenerVitals says how one handler keeps up.
type ListenerVitals struct {
	Name string `json:"name"`
	// Explorer marks the explorer's own listener, which is there only while
	// somebody looks.
	Explorer bool `json:"explorer,omitempty"`
	// Lab marks a handler that Controls added and can remove; Delay is how long
	// each of its calls is made to take.
	Lab   bool          `json:"lab,omitempty"`
	Delay time.Duration `json:"delayNs,omitempty"`
	// Conflated counts notifications that were taken out of its backlog because
	// a newer one of the same key waits; 0 unless the informer is told to.
	Conflated uint64 `json:"conflated,omitempty"`
	// Pending counts only notifications addressed to this listener.
	Pending   uint64        `json:"pending"`
	Behind    time.Duration `json:"behindNs"`
	Delivered uint64        `json:"delivered"`
	// Rate is deliveries a second by the clock, BusyRate by the time the
	// handler was working: the fastest it could go.
	Rate        float64 `json:"rate"`
	BusyRate    float64 `json:"busyRate"`
	ArrivalRate float64 `json:"arrivalRate"`
	// ChangeRate is what arrives beside the initial list and resync rounds, which
	// come all at once, averaged over OutlookOver.
	ChangeRate float64 `json:"changeRate"`
	// Drain is Pending / BusyRate; -1 where BusyRate is not known yet.
	Drain time.Duration `json:"drainNs"`
	Time  Latency       `json:"time"` // of one call of the handler
	// Spread says how long the calls took that Time sums up: the bands that have
	// any, the shortest first.
	Spread []Band `json:"spread,omitempty"`
	// Causes counts deliveries by cause.
	Causes CauseCounts `json:"causes"`
	// InHandler is how long the call under way has taken, 0 if none is;
	// CurrentKey is the key it was called with.
	InHandler  time.Duration `json:"inHandlerNs"`
	CurrentKey string        `json:"currentKey,omitempty"`
	// Synced: the store is synced and this handler was given all of the
	// initial list. InitialTotal counts the initial notifications addressed
	// to it so far, InitialDelivered those it was given.
	Synced           bool   `json:"synced"`
	InitialDelivered uint64 `json:"initialDelivered"`
	InitialTotal     uint64 `json:"initialTotal"`
	// ResyncAsked is what the handler asked for, ResyncGranted what it got
	// after the informer's check period and minimum, ResyncSeen the distance
	// of its last two rounds. Zero means none.
	ResyncAsked   time.Duration `json:"resyncAskedNs"`
	ResyncGranted time.Duration `json:"resyncGrantedNs"`
	ResyncSeen    time.Duration `json:"resyncSeenNs"`
	// ResyncSkipped counts the rounds it was passed over because it was still
	// busy with the one before; 0 unless the informer is told to.
	ResyncSkipped uint64    `json:"resyncSkipped,omitempty"`
	NextResync    time.Time `json:"nextResync,omitzero"`
	// LastRound is what the newest round cost it that it was called with; nil if
	// there was none.
	LastRound *Round `json:"lastRound,omitempty"`
	// Removing: removed, and its last call has not returned yet.
	Removing  bool   `json:"removing,omitempty"`
	Panics    uint64 `json:"panics"`
	LastPanic string `json:"lastPanic,omitempty"`
}

// Round is one resync round as one handler saw it.
type Round struct {
	// Began is when the handler was called with the first object, Ended when the
	// last call so far returned: the zero time before the first has.
	Began time.Time `json:"began"`
	Ended time.Time `json:"ended,omitzero"`
	// Objects counts the calls of the round that returned, and Work is how long
	// they took; between them it was told of other things, too.
	Objects uint64        `json:"objects"`
	Work    time.Duration `json:"workNs"`
}

// Band counts what took From or longer and less than To. Every power of two of
// nanoseconds begins a band, and so does the middle of the way to the next one,
// whether the neighbours have any or not.
type Band struct {
	From  time.Duration `json:"fromNs"`
	To    time.Duration `json:"toNs"`
	Count uint64        `json:"count"`
}

// CauseCounts counts notifications by why they were sent.
type CauseCounts struct {
	Initial         uint64 `json:"initial"`
	LateJoin        uint64 `json:"lateJoin"`
	Watch           uint64 `json:"watch"`
	RelistChanged   uint64 `json:"relistChanged"`
	RelistUnchanged uint64 `json:"relistUnchanged"`
	Resync          uint64 `json:"resync"`
}

// ResyncVitals says when the cache is next played back to the handlers. A
// resync never asks the server.
type ResyncVitals struct {
	// CheckPeriod is how often the informer asks whose turn it is; 0: never.
	CheckPeriod time.Duration `json:"checkPeriodNs"`
	Next        time.Time     `json:"next,omitzero"`
	Last        time.Time     `json:"last,omitzero"`
	Rounds      uint64        `json:"rounds"`
	// LastObjects and LastListeners say how many of each the last round had.
	LastObjects   int `json:"lastObjects"`
	LastListeners int `json:"lastListeners"`
}
