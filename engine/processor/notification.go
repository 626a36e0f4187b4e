package processor

import (
	"fmt"

	"github.com/informeter/informeter/engine/inspect"
)

// Kind says which method of a handler a notification goes to.
type Kind uint8

// The kinds of notifications.
const (
	Add Kind = iota
	Update
	Delete
)

var kindNames = [...]string{"add", "update", "delete"}

// String returns the kind in lower case.
func (k Kind) String() string {
	if int(k) < len(kindNames) {
		return kindNames[k]
	}
	return fmt.Sprintf("unknown %d", uint8(k))
}

// Notification is what listeners are told of one object, once.
type Notification struct {
	// Key is the object's. Where it is empty, whoever needs it asks KeyFunc.
	Key   string
	Kind  Kind
	Cause inspect.Cause
	// Initial marks an Add that is part of the initial list: the handler is
	// synced once it has been given all of them.
	Initial bool
	// DueOnly addresses the notification to the listeners that the last
	// ShouldResync found due, and to the explorer's. What client-go calls a sync
	// notification: an update that did not change the resource version.
	DueOnly bool
	// Split marks the two halves, a Delete and an Add, of an update from one
	// object to another that has taken its name.
	Split bool
	// Merged counts deltas of the key that nobody is told of by themselves,
	// because this one stands for them in the queue; at most 65,535.
	Merged uint16
	// Old is the object as it was: for Update and Delete. A deleted object may
	// be a cache.DeletedFinalStateUnknown. New is the object as it is: for Add
	// and Update.
	Old, New any
	// Arrived is when the delta that it follows from was enqueued, At when it was
	// published, both as Processor.Clock has them; Arrived is 0 where there was
	// none. Publish sets At, once a batch.
	Arrived, At int64
	// Seq is the number that Publish gives it, one more than the one before in
	// the log has; 0 for what nobody else is told, and for what nobody is.
	Seq uint64
}

// Object returns the object that the notification is about, as it was last seen.
func (n *Notification) Object() any {
	if n.Kind == Delete {
		return n.Old
	}
	return n.New
}

// Observer is a handler that wants to know why it is called. OnNotification is
// called in place of OnAdd, OnUpdate and OnDelete. The notification is used
// again: it must not be kept beyond the call.
type Observer interface {
	OnNotification(n *Notification)
}
