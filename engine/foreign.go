package engine

import (
	"fmt"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/client-go/tools/cache"

	"github.com/informeter/informeter/engine/processor"
)

// Objects' methods are foreign code, and may panic: when they are asked for their
// name, their UID or a copy. Unlike client-go, where that ends the process, it
// costs no more than what was asked for, and is reported with key and reason
// [stubborn]. Where the store asks them for their version it does that
// itself, see store.Options.

// keyOf returns an object's key, or what its methods panicked with.
func keyOf(obj any) (key string, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = panicked(p)
		}
	}()
	return cache.DeletionHandlingMetaNamespaceKeyFunc(obj)
}

func panicked(p any) error { return fmt.Errorf("panicked: %v", p) }

// watchForMutations gives the mutation detector, which copies them, the objects
// that handlers are told of.
func (i *Informer) watchForMutations(notes []processor.Notification) {
	for at := 0; at < len(notes); {
		at = i.watchFrom(at, notes)
	}
}

// watchFrom begins with number at, ends after the first that panics, and returns
// the number of the one to go on with. With a quarantine none is let through.
func (i *Informer) watchFrom(at int, notes []processor.Notification) (next int) {
	next = at
	if !i.options.stock() {
		defer func() {
			if p := recover(); p != nil {
				i.complaints.note("mutations", panicked(p), "Object not watched for mutations", "informer", i.name, "key", notes[next].Key)
				next++
			}
		}()
	}
	for ; next < len(notes); next++ {
		if notes[next].Kind != processor.Delete {
			i.mutations.AddObject(notes[next].New)
		}
	}
	return next
}

// otherObject says whether an update is from one object to another that has
// taken its name. If one of them cannot be asked, it is not.
func (i *Informer) otherObject(n *processor.Notification) (other bool) {
	if n.Kind != processor.Update {
		return false
	}
	defer func() {
		if p := recover(); p != nil {
			i.complaints.note("identity "+n.Key, panicked(p), "Update not looked at for another identity", "informer", i.name, "key", n.Key)
		}
	}()
	before, err := meta.Accessor(n.Old)
	if err != nil {
		return false
	}
	after, err := meta.Accessor(n.New)
	return err == nil && before.GetUID() != after.GetUID()
}

// identity returns an object's resource version and UID, as far as it says.
func identity(obj any) (rv, uid string) {
	defer func() { _ = recover() }() // whoever looks must not end the program
	if m, err := meta.Accessor(obj); err == nil {
		rv = m.GetResourceVersion()
		uid = string(m.GetUID())
	}
	return rv, uid
}
