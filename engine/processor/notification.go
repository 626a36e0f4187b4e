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
	Kind  Kind
	Cause inspect.Cause
	// Initial marks an Add that is part of the initial list: the handler is
	// synced once it has been given all of them.
	Initial bool
	// DueOnly addresses the notification to the listeners that the last
	// ShouldResync found due, and to the explorer's. What client-go calls a sync
	// notification: an update that did not change the resource version.
	DueOnly bool
	// Old is the object as it was: for Update and Delete. A deleted object may
	// be a cache.DeletedFinalStateUnknown. New is the object as it is: for Add
	// and Update.
	Old, New any
	// At is when it was published, in Unix nanoseconds on a clock that never
	// goes back. Publish sets it, once a batch.
	At int64
}

// Object returns the object that the notification is about, as it was last seen.
func (n *Notification) Object() any {
	if n.Kind == Delete {
		return n.Old
	}
	return n.New
}

// Observer is a handler that wants to know why it is called. OnNotification is
// called in place of OnAdd, OnUpdate and OnDelete. The notification belongs to
// all listeners: it must not be changed, nor kept beyond the call.
type Observer interface {
	OnNotification(n *Notification)
}
