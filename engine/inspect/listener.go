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
	// Drain is Pending / BusyRate; -1 where BusyRate is not known yet.
	Drain time.Duration `json:"drainNs"`
	Time  Latency       `json:"time"` // of one call of the handler
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
	// Removing: removed, and its last call has not returned yet.
	Removing  bool   `json:"removing,omitempty"`
	Panics    uint64 `json:"panics"`
	LastPanic string `json:"lastPanic,omitempty"`
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
