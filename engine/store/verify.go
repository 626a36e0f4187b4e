package store

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/informeter/informeter/engine/inspect"
)

const (
	// maxExamples is how many objects an IndexCheck names.
	maxExamples = 8
	// Writers wait for a step of Verify, which ends after so many objects or so
	// much time, whatever comes first.
	stepObjects = 256
	stepTime    = time.Millisecond
)

// Verify asks an index function about every object again and compares what it
// says with what the object is filed under; inspect.ErrNotFound if there is no
// such index. What differs was written to after it was stored, or the function
// answers differently at different times.
//
// It goes in steps, and only writers wait for one: the function is called by one
// caller at a time, as it is for a write. Objects that come meanwhile are left
// out. If the context ends, its error is returned with what was found so far.
func (x *Indexer) Verify(ctx context.Context, name string) (inspect.IndexCheck, error) {
	check := inspect.IndexCheck{Index: name}
	began := time.Now()
	keys := x.ListKeys()
	for {
		if err := ctx.Err(); err != nil {
			return check, context.Cause(ctx)
		}
		done, found := x.verifyStep(&check, keys)
		check.Took = time.Since(began)
		if !found {
			return check, fmt.Errorf("index %s: %w", name, inspect.ErrNotFound)
		}
		if keys = keys[done:]; len(keys) == 0 {
			return check, nil
		}
	}
}

// verifyStep looks at the first few of the keys and returns how many. It returns
// false if there is no such index.
func (x *Indexer) verifyStep(check *inspect.IndexCheck, keys []string) (done int, found bool) {
	x.writing.Lock()
	defer x.writing.Unlock()
	ix := x.indexLocked(check.Index)
	if ix == nil {
		return 0, false
	}
	for began := time.Now(); done < min(len(keys), stepObjects) && (done == 0 || time.Since(began) < stepTime); done++ {
		pos, ok := x.positions.get(&x.keys, keys[done])
		if !ok {
			continue // gone
		}
		check.Objects++
		wrong, failed := ix.verify(pos, *x.objects.at(pos))
		switch {
		case wrong != nil:
			check.Wrong++
			if wrong.Key = keys[done]; len(check.Examples) < maxExamples {
				check.Examples = append(check.Examples, *wrong)
			}
		case failed != nil:
			if check.Failed++; check.Failed == 1 {
				check.FailedKey, check.FailedError = keys[done], failed.Error()
			}
		}
	}
	return done, true
}

// verify compares what the object at pos is filed under with what the function
// says of it now; wrong is nil if that is the same. failed is why it is under
// nothing: the function fails on it, as it did before.
func (ix *index) verify(pos uint32, obj any) (wrong *inspect.IndexMismatch, failed error) {
	indexed, now := ix.valuesOf(pos), ix.call(obj)
	was := ix.homes.at(pos).bucket == refused
	switch {
	case was && now.err != nil:
		return nil, now.err
	case !was && now.err == nil && sameValues(indexed, now.values):
		return nil, nil
	}
	wrong = &inspect.IndexMismatch{Indexed: indexed, Now: fresh(now.values)}
	if now.err != nil {
		wrong.Error = now.err.Error()
	}
	again := ix.call(obj)
	wrong.Unsteady = (again.err == nil) != (now.err == nil) || !sameValues(again.values, now.values)
	return wrong, nil
}

// sameValues says whether a and b have the same values, in whatever order and
// however often: a bucket has an object once.
func sameValues(a, b []string) bool {
	return slices.Equal(a, b) || slices.Equal(set(a), set(b))
}

// set returns the values sorted, each once.
func set(values []string) []string {
	s := slices.Clone(values)
	slices.Sort(s)
	return slices.Compact(s)
}
