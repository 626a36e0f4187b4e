package engine

import (
	"errors"
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/client-go/tools/cache"

	"github.com/informeter/informeter/engine/inspect"
)

// intake stands between the reflector and the queue and keeps out what cannot be
// enqueued, so that one bad object costs nobody else.
//
//	Reflector ──▶ intake ──▶ queue
//	                │ no key, transform fails or panics
//	                ▼
//	             quarantine
//
// Unlike client-go, where an object whose transform fails is lost with a log
// line if it comes by a watch, and takes the whole list with it if it comes by a
// list, it is set aside with the reason. If the store has an earlier version it
// keeps that one: a list that leaves out the bad object would bury it.
//
// It passes no errors on: what the queue refuses is set aside, too.
type intake struct {
	queue
	store      cache.KeyGetter
	keyFunc    cache.KeyFunc
	transform  cache.TransformFunc // nil passes objects as they are
	quarantine *quarantine
}

var (
	_ cache.ReflectorStore         = (*intake)(nil)
	_ cache.ReflectorBookmarkStore = (*intake)(nil)
	_ cache.TransformingStore      = (*intake)(nil)
)

// errNoObject says that a transform gave nothing back.
var errNoObject = errors.New("the transform returned no object")

// Transformer lets the reflector transform an initial stream as it comes, so that
// what the transform strips is not held until the stream is complete. An object
// on which it fails is passed on as it came: Replace sets it aside.
func (in *intake) Transformer() cache.TransformFunc {
	if in.transform == nil {
		return nil
	}
	return func(obj any) (any, error) {
		if fit, err := in.apply(obj); err == nil {
			return fit, nil
		}
		return obj, nil
	}
}

// Add enqueues obj as added, if it can be.
func (in *intake) Add(obj any) error { return in.one(obj, in.queue.Add) }

// Update enqueues obj as updated, if it can be.
func (in *intake) Update(obj any) error { return in.one(obj, in.queue.Update) }

// Delete enqueues the deletion of obj. One whose transform fails is still
// deleted, as it came.
func (in *intake) Delete(obj any) error {
	if !in.keyed(obj) {
		return nil
	}
	if fit, err := in.apply(obj); err == nil {
		obj = fit
	}
	return in.queue.Delete(obj)
}

func (in *intake) one(obj any, enqueue func(any) error) error {
	if !in.keyed(obj) {
		return nil
	}
	fit, err := in.apply(obj)
	if err != nil {
		in.setAside(obj, inspect.CauseWatch, err)
		return nil
	}
	return enqueue(fit)
}

// Enqueue enqueues what can be of many deltas, see deltafifo. It works in the
// slice that it is given.
func (in *intake) Enqueue(deltas []cache.Delta, _ func(int, error)) {
	if in.transform != nil {
		deltas = slices.DeleteFunc(deltas, func(d cache.Delta) bool { return d.Type != cache.Bookmark && !in.keyed(d.Object) })
		deltas = in.applyAll(deltas)
	}
	in.queue.Enqueue(deltas, func(n int, err error) { in.quarantine.add(stageKey, "", deltas[n].Object, inspect.CauseWatch, err) })
}

// applyAll runs the transform on many deltas and returns those that fit.
func (in *intake) applyAll(deltas []cache.Delta) []cache.Delta {
	fits := deltas[:0]
	for _, d := range deltas {
		if d.Type != cache.Bookmark {
			fit, err := in.apply(d.Object)
			switch {
			case err == nil:
				d.Object = fit
			case d.Type != cache.Deleted: // as Delete does
				in.setAside(d.Object, inspect.CauseWatch, err)
				continue
			}
		}
		fits = append(fits, d)
	}
	return fits
}

// Replace enqueues a list without what cannot be enqueued. The list is the
// queue's from then on; it is copied only if something has to be left out or
// changed.
func (in *intake) Replace(list []any, rv string) error {
	fits := list
	if in.transform != nil || !in.allKeyed(list) {
		fits = in.fitting(list)
	}
	return in.queue.Replace(fits, rv)
}

func (in *intake) allKeyed(list []any) bool {
	return !slices.ContainsFunc(list, func(obj any) bool {
		_, err := meta.Accessor(obj)
		return err != nil
	})
}

// fitting returns what can be enqueued of a list.
func (in *intake) fitting(list []any) []any {
	fits := make([]any, 0, len(list))
	for _, obj := range list {
		if !in.keyed(obj) {
			continue
		}
		fit, err := in.apply(obj)
		if err != nil {
			stored, exists, _ := in.store.GetByKey(in.setAside(obj, inspect.CauseRelist, err)) // its error is always nil
			if !exists {
				continue
			}
			fit = stored
		}
		fits = append(fits, fit)
	}
	return fits
}

// keyed says whether an object has a key; without one it is set aside.
func (in *intake) keyed(obj any) bool {
	// What has metadata has a key, and is spared the making of one.
	if _, err := meta.Accessor(obj); err == nil {
		return true
	}
	_, err := in.keyFunc(obj)
	if err != nil {
		in.quarantine.add(stageKey, "", obj, inspect.CauseWatch, err)
	}
	return err == nil
}

// setAside quarantines an object whose transform failed and returns its key.
func (in *intake) setAside(obj any, cause inspect.Cause, err error) (key string) {
	key, _ = in.keyFunc(obj) // it has one, see keyed
	in.quarantine.add(stageTransform, key, obj, cause, err)
	return key
}

// apply runs the transform. Tombstones pass it by, as in client-go.
func (in *intake) apply(obj any) (fit any, err error) {
	if in.transform == nil {
		return obj, nil
	}
	if _, tombstone := obj.(cache.DeletedFinalStateUnknown); tombstone {
		return obj, nil
	}
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("the transform panicked: %v", p)
		}
	}()
	if fit, err = in.transform(obj); err == nil && fit == nil {
		err = errNoObject
	}
	return fit, err
}
