package engine

import (
	"errors"
	"fmt"
	"reflect"
	"slices"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/client-go/tools/cache"

	"github.com/informeter/informeter/engine/deltafifo"
	"github.com/informeter/informeter/engine/inspect"
)

// intake stands between the reflector and the queue and keeps out what cannot be
// enqueued, so that one bad object costs nobody else.
//
//	Reflector ──▶ intake ──▶ queue
//	                │ no key, transform fails, panics or gives nothing with a key
//	                ▼
//	             quarantine
//
// Unlike client-go, where an object whose transform fails is lost with a log
// line if it comes by a watch, and takes the whole list with it if it comes by a
// list, it is set aside with the reason [quarantine]. A list keeps its key all the same (see
// deltafifo.Keep), so that the newest state there is of it, in the store or on
// the way there, stays: a list that left it out would bury it.
type intake struct {
	queue
	keyFunc    cache.KeyFunc
	transform  cache.TransformFunc // nil passes objects as they are
	quarantine *quarantine
}

var (
	_ cache.ReflectorStore         = (*intake)(nil)
	_ cache.ReflectorBookmarkStore = (*intake)(nil)
	_ cache.TransformingStore      = (*intake)(nil)
)

// errNoObject says that there is nothing where an object should be: nil, or a nil
// pointer to one.
var errNoObject = errors.New("there is no object, only nil")

// Transformer returns what the reflector does to the objects of an initial stream
// as they come, so that what is stripped from them is not held until the stream is
// complete. What fails there passes as it is: it is transformed again, and set
// aside, with the whole list. As in client-go, transforms are idempotent.
func (in *intake) Transformer() cache.TransformFunc {
	if in.transform == nil {
		return nil
	}
	return func(obj any) (any, error) {
		if fit, _, err := in.fit(obj); err == nil {
			return fit, nil
		}
		return obj, nil
	}
}

// Add enqueues obj as added, if it can be.
func (in *intake) Add(obj any) error { return in.one(cache.Added, obj) }

// Update enqueues obj as updated, if it can be.
func (in *intake) Update(obj any) error { return in.one(cache.Updated, obj) }

// Delete enqueues the deletion of obj, if it has a key.
func (in *intake) Delete(obj any) error { return in.one(cache.Deleted, obj) }

func (in *intake) one(t cache.DeltaType, obj any) error {
	in.Enqueue([]cache.Delta{{Type: t, Object: obj}}, nil)
	return nil
}

// Enqueue enqueues what can be of many deltas, see deltafifo; failed is never
// called. It works in the slice that it is given. A deletion whose object cannot
// be transformed is enqueued with the object as it came.
func (in *intake) Enqueue(deltas []cache.Delta, _ func(int, error)) {
	if in.transform != nil || !in.quarantine.empty() {
		deltas = in.fitting(deltas)
	}
	in.queue.Enqueue(deltas, func(n int, err error) { in.setAside(stageKey, deltas[n].Object, inspect.CauseWatch, err) })
	in.quarantine.flush()
}

// fitting returns what can be enqueued of many deltas, in their slice.
func (in *intake) fitting(deltas []cache.Delta) []cache.Delta {
	fits := deltas[:0]
	for _, d := range deltas {
		if d.Type != cache.Bookmark {
			fit, stage, err := in.fit(d.Object)
			if err != nil && (d.Type != cache.Deleted || stage == stageKey) {
				in.setAside(stage, d.Object, inspect.CauseWatch, err)
				// Nothing older is on its way: who waits for its version must not wait
				// for ever.
				if rv, _ := resourceVersion(d.Object); rv != "" {
					fits = append(fits, cache.Delta{Type: cache.Bookmark, Object: cache.BookmarkInfo{ResourceVersion: rv}})
				}
				continue
			}
			if !in.quarantine.empty() {
				in.passed(&d)
			}
			if err == nil {
				d.Object = fit
			}
		}
		fits = append(fits, d)
	}
	return fits
}

// passed takes out of the quarantine what a newer state has come for. What could
// not be applied stays there until something is, or the object is deleted.
func (in *intake) passed(d *cache.Delta) {
	key, _ := in.keyFunc(d.Object) // fit has seen that it has one
	in.quarantine.well(key, stageTransform)
	if d.Type == cache.Deleted {
		in.quarantine.well(key, stageApply)
	}
}

// Replace enqueues a list, with what it keeps in the places of those that cannot
// be enqueued. It is copied only if something in it changes.
func (in *intake) Replace(list []any, rv string) error {
	defer in.quarantine.flush()
	before := in.quarantine.count()
	var fits []any // nil as long as the list is what is enqueued
	if in.transform != nil {
		fits = make([]any, 0, len(list))
	}
	for n, obj := range list {
		fit, stage, err := in.fit(obj)
		switch {
		case err == nil && fits == nil:
			continue
		case fits == nil:
			fits = append(make([]any, 0, len(list)), list[:n]...)
		}
		if err != nil {
			key := in.setAside(stage, obj, inspect.CauseRelist, err)
			if key == "" {
				continue
			}
			fit = deltafifo.Keep{Key: key}
		}
		fits = append(fits, fit)
	}
	if fits == nil {
		fits = list
	}
	if !in.quarantine.empty() {
		in.quarantine.relisted(before, in.has(list))
	}
	return in.queue.Replace(fits, rv)
}

// has returns what says whether a list has a key.
func (in *intake) has(list []any) func(key string) bool {
	return func(key string) bool {
		return slices.ContainsFunc(list, func(obj any) bool {
			defer func() { _ = recover() }()
			listed, err := in.keyFunc(obj)
			return err == nil && listed == key
		})
	}
}

// fit returns what is enqueued for an object, or at which stage it fails and why.
// Tombstones are not transformed, as in client-go.
func (in *intake) fit(obj any) (fit any, stage string, err error) {
	stage = stageKey
	defer func() {
		if p := recover(); p != nil {
			err = panicked(p)
		}
	}()
	if err := in.keyed(obj); err != nil {
		return nil, stage, err
	}
	if _, tombstone := obj.(cache.DeletedFinalStateUnknown); tombstone || in.transform == nil {
		return obj, stage, nil
	}
	stage = stageTransform
	fit, err = in.transform(obj)
	if err != nil {
		return nil, stage, err
	}
	if err := in.keyed(fit); err != nil {
		return nil, stage, fmt.Errorf("what it returned for the object cannot be stored: %w", err)
	}
	return fit, stage, nil
}

// keyed says why an object cannot have a key, nil if it has one.
func (in *intake) keyed(obj any) error {
	if obj == nil {
		return errNoObject
	}
	if v := reflect.ValueOf(obj); v.Kind() == reflect.Pointer && v.IsNil() {
		return fmt.Errorf("%w of type %T", errNoObject, obj)
	}
	// What has metadata has a key, and is spared the making of one.
	if m, err := meta.Accessor(obj); err == nil {
		_, _ = m.GetNamespace(), m.GetName()
		return nil
	}
	_, err := in.keyFunc(obj)
	return err
}

// setAside quarantines an object and returns its key, empty if it has none.
func (in *intake) setAside(stage string, obj any, cause inspect.Cause, err error) (key string) {
	if stage != stageKey {
		key, _ = in.keyFunc(obj) // fit has seen that it has one
	}
	in.quarantine.add(stage, key, obj, cause, err)
	return key
}
