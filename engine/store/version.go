package store

import (
	"fmt"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/util/resourceversion"
)

// mark is what the store remembers of an object's resource version: a hash. If
// those of two objects differ, so do their versions, which is found out without
// touching the old object; in a large store that is in no cache.
type mark uint32

const (
	// unversioned is the mark of an object that can have no resource version.
	unversioned mark = iota
	// unmarked is that of one whose version nothing is remembered of: it is only
	// worth it where the version is looked at anyway.
	unmarked
	// marked is the least hash.
	marked
)

// markOf returns the mark of a resource version; unmarked if remember is false.
func (x *Indexer) markOf(rv string, versioned, remember bool) mark {
	switch {
	case !versioned:
		return unversioned
	case !remember:
		return unmarked
	}
	return max(mark(x.positions.hash(rv)), marked)
}

// mayEqual says whether the versions can be the same.
func (m mark) mayEqual(other mark) bool { return m == other || m == unmarked || other == unmarked }

// hasVersion says whether an object has that resource version. Those that have
// none, because they are no API objects, never do, nor do those that cannot say.
func (x *Indexer) hasVersion(obj any, rv string) bool {
	its, versioned, err := x.versionOf(obj)
	return versioned && err == nil && its == rv
}

// versionOf returns the object's resource version, false if it can have none. The
// object is asked: if it panics, that is an error, unless failures have their way.
func (x *Indexer) versionOf(obj any) (rv string, versioned bool, err error) {
	if obj == nil {
		return "", false, nil
	}
	if x.opts.ObjectFailure == Contain {
		defer func() {
			if p := recover(); p != nil {
				rv, versioned, err = "", false, fmt.Errorf("the object panicked when asked for its resource version: %v", p)
			}
		}()
	}
	m, notOne := meta.Accessor(obj)
	if notOne != nil {
		return "", false, nil
	}
	return m.GetResourceVersion(), true, nil
}

// advanceLocked lets the store's resource version grow to that of an object.
// One that cannot be compared is taken as it is.
func (x *Indexer) advanceLocked(rv string) {
	if rv == "" {
		return
	}
	if order, err := resourceversion.CompareResourceVersion(rv, x.rv); err == nil && order < 0 {
		return
	}
	x.rv = rv
}
