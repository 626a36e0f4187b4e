package store

import (
	"context"
	"errors"
	"reflect"

	"k8s.io/client-go/tools/cache"
)

// ErrTaken is returned for an index whose name another one has.
var ErrTaken = errors.New("there is an index of that name; choose another")

const (
	// An index is built in at most so many passes over the objects, each about
	// those that have changed since the last one. What is left then, or when so
	// few have changed, is asked about while writers wait.
	maxPasses   = 4
	fewToFollow = 256
	// checkEvery is how many objects are asked about between two looks at the
	// context.
	checkEvery = 64
)

// answer is what an index function said about an object.
type answer struct {
	obj any
	outcome
}

// AddIndex adds one index to a store that may already have objects, and remembers
// the expression it was made from. A function that fails or panics on some of them
// leaves them out and counts them, whatever Options.IndexFailure says. It returns
// ErrTaken, or the context's error if that ends before the index is built: then
// nothing is added.
//
// Unlike with AddIndexers, writers go on too while fn is called: expressions can
// be slow. So fn must be safe for concurrent use.
//
//	Snapshot ─▶ ask about each ─▶ Snapshot ─▶ ask about those that changed ─▶ ...
//	                                  writers wait: ask about the last few, file all
func (x *Indexer) AddIndex(ctx context.Context, name, expr string, fn cache.IndexFunc) error {
	ix := newIndex(name, fn)
	ix.contained, ix.expr = true, expr
	known := map[string]answer{}
	for range maxPasses {
		if x.has(name) {
			return ErrTaken
		}
		changed, err := x.askAll(ctx, ix, known)
		if err != nil {
			return err
		}
		if changed <= fewToFollow {
			break
		}
	}

	x.writing.Lock()
	defer x.writing.Unlock()
	if x.indexLocked(name) != nil {
		return ErrTaken
	}
	for pos := range uint32(x.objects.n) {
		key, obj := *x.keys.at(pos), *x.objects.at(pos)
		a, ok := known[key]
		if !ok || !identical(a.obj, obj) {
			a.outcome = outcome{}
			x.askOne(ix, key, obj, &a.outcome)
		}
		ix.add(pos, key, &a.outcome)
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	x.indices = append(x.indices, ix)
	x.sortIndices()
	return nil
}

// has says whether there is an index of that name.
func (x *Indexer) has(name string) bool {
	x.mu.RLock()
	defer x.mu.RUnlock()
	return x.indexLocked(name) != nil
}

// askAll asks an index that is not part of the store yet about the objects that
// known has no answer for, and returns how many those were.
func (x *Indexer) askAll(ctx context.Context, ix *index, known map[string]answer) (changed int, err error) {
	keys, objects := x.Snapshot()
	for i, key := range keys {
		if a, ok := known[key]; ok && identical(a.obj, objects[i]) {
			continue
		}
		if changed%checkEvery == 0 && ctx.Err() != nil {
			return changed, context.Cause(ctx)
		}
		a := answer{obj: objects[i]}
		x.askOne(ix, key, a.obj, &a.outcome)
		known[key] = a
		changed++
	}
	return changed, nil
}

// identical says whether a and b are the same object, not only equal ones.
func identical(a, b any) bool {
	va, vb := reflect.ValueOf(a), reflect.ValueOf(b)
	return va.Kind() == reflect.Pointer && vb.Kind() == reflect.Pointer && va.Pointer() == vb.Pointer()
}
