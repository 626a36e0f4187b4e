package store

import (
	"errors"
	"fmt"
	"slices"

	"k8s.io/client-go/tools/cache"
)

// Op is one write of a batch, and what became of it.
type Op struct {
	// Key is where to write. Where there is something already, it becomes the
	// store's own text: whoever keeps keys by it keeps no second one, and compares
	// them without reading. Object is what to store; for a Delete it is the
	// object's last state or tombstone, and may be nil.
	Key    string
	Object any
	Delete bool
	// Repeats says that Object was read from the store, and that the key has no
	// write before this one in its batch. If it is still what is stored, as in a
	// resync, there is nothing to do and no index function is asked.
	Repeats bool
	// Ahead says that something older may not have been written yet: the object's
	// resource version does not say how far the store has come.
	Ahead bool
	// Again says that the write is made again if it fails: until then what comes
	// after it does not say how far the store has come either.
	Again bool

	// Existed says that something was stored before, which was Old.
	Existed bool
	// Unchanged says that Object has the resource version that Old was stored
	// with.
	//
	// Unlike client-go, which asks the cached object, it is not misled by those
	// who write to that [remembered].
	Unchanged bool
	kept      bool // it repeats what is stored
	Old       any
	// Err says why nothing was written.
	Err error

	// hash is the key's. found is where ask has found the key, absent if nowhere.
	// See positionLocked.
	hash, found uint32
}

// errNoObject is why an Op without an object that is no Delete is refused.
var errNoObject = errors.New("no object to store")

// Apply makes the writes in their order, as one change: no reader sees some of
// them and not others. The same key may occur several times.
//
// Unlike client-go, whose store takes the resource version of the last object, as
// here a Transaction does, Apply lets it only grow, and not by objects that were
// there already: a resync or the objects of a relist, which come in no order of
// age, do not set it back [growing]. Replace and Bookmark do, if they must.
func (x *Indexer) Apply(ops []Op) {
	if len(ops) == 0 {
		return
	}
	x.writing.Lock()
	defer x.writing.Unlock()
	defer x.forget()
	x.ask(ops)

	x.mu.Lock()
	defer x.mu.Unlock()
	whole := true
	for i := range ops {
		op := &ops[i]
		rv, _ := x.applyLocked(op, x.said(i), true)
		switch {
		case op.Err != nil:
			whole = whole && !op.Again
		case whole && !op.Unchanged && !op.Ahead:
			x.advanceLocked(rv)
		}
	}
}

// keeps says whether the write repeats what is stored. Not if an index refused
// the object, which may get in this time. writing is held.
func (x *Indexer) keeps(op *Op) bool {
	pos := op.found
	if pos == absent || !identical(*x.objects.at(pos), op.Object) {
		return false
	}
	for _, ix := range x.indices {
		if ix.homes.at(pos).bucket == refused {
			return false
		}
	}
	return true
}

// positionLocked returns where the key of the write is. Where ask has found it,
// as long as no object has come or gone since; else that is where to look first.
func (x *Indexer) positionLocked(op *Op) (pos uint32, exists bool) {
	pos = op.found
	switch {
	case x.steady:
		return pos, pos != absent
	case pos != absent && int(pos) < x.keys.n && *x.keys.at(pos) == op.Key:
		return pos, true
	}
	return x.positions.find(&x.keys, op.hash, op.Key)
}

// applyLocked makes one write and returns the resource version of its object,
// false if that has none. remember says whether to mark it.
func (x *Indexer) applyLocked(op *Op, outcomes []outcome, remember bool) (rv string, versioned bool) {
	pos, exists := x.positionLocked(op)
	op.Old, op.Existed, op.Unchanged, op.Err = nil, exists, false, nil
	if op.kept {
		op.Old = op.Object
		if op.Unchanged = *x.marks.at(pos) != unversioned; op.Unchanged {
			x.unchanged++
		} else {
			x.updated++
		}
		return "", false
	}
	if exists {
		op.Key, op.Old = *x.keys.at(pos), *x.objects.at(pos)
	}
	rv, versioned, err := x.versionOf(op.Object) // before anything is written
	switch {
	case op.Delete:
		if exists {
			x.removeLocked(pos, op.hash)
			x.deleted++
		}
	case op.Object == nil:
		op.Err = errNoObject
	case err != nil:
		op.Err = err
	case exists:
		x.updateLocked(pos, op, rv, x.markOf(rv, versioned, remember), outcomes)
	default:
		x.addLocked(op, x.markOf(rv, versioned, remember), outcomes)
	}
	return rv, versioned
}

// updateLocked stores the object in the place of the one at pos.
func (x *Indexer) updateLocked(pos uint32, op *Op, rv string, mark mark, outcomes []outcome) {
	m := x.marks.at(pos)
	if op.Unchanged = mark != unversioned && mark.mayEqual(*m) && x.hasVersion(op.Old, rv); op.Unchanged {
		x.unchanged++
	} else {
		x.updated++
	}
	*m = mark
	*x.objects.at(pos) = op.Object
	for i, ix := range x.indices {
		ix.put(pos, op.Key, &outcomes[i])
	}
}

// addLocked stores the object under its key, which is new.
func (x *Indexer) addLocked(op *Op, mark mark, outcomes []outcome) {
	x.steady = false
	x.added++
	pos := uint32(x.objects.n)
	x.objects.push(op.Object)
	x.keys.push(op.Key)
	x.marks.push(mark)
	x.positions.insert(op.hash, pos)
	for i, ix := range x.indices {
		ix.add(pos, op.Key, &outcomes[i])
	}
}

// removeLocked removes the object at pos, whose key has that hash; the last one
// moves there.
func (x *Indexer) removeLocked(pos, hash uint32) {
	x.steady = false
	key := *x.keys.at(pos)
	for _, ix := range x.indices {
		ix.remove(pos, key)
	}
	x.positions.remove(hash, pos)
	last := uint32(x.objects.n - 1)
	if pos != last {
		moved := *x.keys.at(last)
		*x.objects.at(pos), *x.keys.at(pos), *x.marks.at(pos) = *x.objects.at(last), moved, *x.marks.at(last)
		x.positions.rename(x.positions.hash(moved), last, pos)
	}
	x.objects.pop()
	x.keys.pop()
	x.marks.pop()
}

// ask finds what every write of the batch is about, and fills scratch with what
// every index says about its object. writing is held, mu is not: this is where
// foreign code runs.
func (x *Indexer) ask(ops []Op) {
	x.find(ops)
	n := len(ops) * len(x.indices)
	x.scratch = slices.Grow(x.scratch, n)[:n]
	for i := range ops {
		op := &ops[i]
		op.kept = op.Repeats && x.keeps(op)
		if op.Object == nil || op.Delete || op.kept {
			continue
		}
		said := x.said(i)
		if x.opts.IndexFailure == Crash {
			for at, ix := range x.indices {
				x.askOne(ix, op.Key, op.Object, &said[at])
			}
			continue
		}
		for at := 0; at < len(said); {
			at = x.askFrom(at, op.Object, said)
		}
	}
}

// absent is the position of a key that is not in the store.
const absent = vacant

// find looks for the keys of a batch. In a large store each of them is a few
// accesses to memory that is in no cache; in a loop that does nothing else the
// processor waits for several at a time.
func (x *Indexer) find(ops []Op) {
	for i := range ops {
		op := &ops[i]
		op.hash = x.positions.hash(op.Key)
		pos, ok := x.positions.find(&x.keys, op.hash, op.Key)
		if !ok {
			pos = absent
		}
		op.found = pos
	}
	x.steady = true
}

// said returns what ask learned about the batch's object i, an outcome an index.
func (x *Indexer) said(i int) []outcome {
	width := len(x.indices)
	return x.scratch[i*width : (i+1)*width]
}

// askFrom asks the indices about obj, beginning with number at, until one panics,
// and returns the number of the one to go on with. One deferred call for all
// costs a third of one for each.
func (x *Indexer) askFrom(at int, obj any, said []outcome) (next int) {
	next = at
	defer func() {
		if r := recover(); r != nil {
			said[next].fail(r)
			next++
		}
	}()
	for ; next < len(said); next++ {
		x.indices[next].ask(obj, &said[next])
	}
	return next
}

// askOne asks one index about the object stored under key. Where failures are not
// contained, they panic.
func (x *Indexer) askOne(ix *index, key string, obj any, o *outcome) {
	if ix.contained || x.opts.IndexFailure == Contain {
		ix.askContained(obj, o)
		return
	}
	if ix.ask(obj, o); o.err != nil {
		panic(fmt.Errorf("unable to calculate the values of %q for index %q: %w", key, ix.name, o.err))
	}
}

// The largest scratch to keep for the next batch.
const scratchKept = 4096

// forget empties scratch, so that it keeps nothing alive.
func (x *Indexer) forget() {
	clear(x.scratch)
	x.scratch = x.scratch[:0]
	if cap(x.scratch) > scratchKept {
		x.scratch = nil
	}
}

// write makes one write as client-go's store does: the object's resource version,
// even an empty one, becomes the store's.
func (x *Indexer) write(key string, obj any, remove bool) error {
	ops := [1]Op{{Key: key, Object: obj, Delete: remove}}
	x.writeAll(ops[:])
	return ops[0].Err
}

// writeAll makes the writes as one change and takes the resource version of the
// last object.
func (x *Indexer) writeAll(ops []Op) {
	x.writing.Lock()
	defer x.writing.Unlock()
	defer x.forget()
	x.ask(ops)

	x.mu.Lock()
	defer x.mu.Unlock()
	for i := range ops {
		rv, versioned := x.applyLocked(&ops[i], x.said(i), false)
		if versioned && i == len(ops)-1 {
			x.rv = rv
		}
	}
}

// Add stores the object under its key.
func (x *Indexer) Add(obj any) error { return x.Update(obj) }

// Update stores the object under its key.
func (x *Indexer) Update(obj any) error {
	key, err := x.storingKey(obj)
	if err != nil {
		return err
	}
	return x.write(key, obj, false)
}

// storingKey returns the key of an object to store.
//
// Unlike client-go, which stores nil if only the key function has a key for it,
// there must be an object [refusals].
func (x *Indexer) storingKey(obj any) (string, error) {
	key, err := x.key(obj)
	if err == nil && obj == nil {
		err = cache.KeyError{Err: errNoObject}
	}
	return key, err
}

// Delete removes what is stored under the object's key.
//
// Unlike client-go, which leaves that to the key function, it takes the key of a
// cache.DeletedFinalStateUnknown from the tombstone [tombstones].
func (x *Indexer) Delete(obj any) error {
	key, err := x.deletionKey(obj)
	if err != nil {
		return err
	}
	return x.write(key, obj, true)
}

// deletionKey returns the key of an object or of a tombstone.
func (x *Indexer) deletionKey(obj any) (string, error) {
	if tombstone, ok := obj.(cache.DeletedFinalStateUnknown); ok {
		return tombstone.Key, nil
	}
	return x.key(obj)
}

// Transaction makes the writes as one change. Those whose key cannot be told are
// left out and named in the error; the others are made.
func (x *Indexer) Transaction(txns ...cache.Transaction) *cache.TransactionError {
	ops := make([]Op, 0, len(txns))
	made := make([]int, 0, len(txns))
	var errs []error
	for i, txn := range txns {
		op, err := x.opOf(txn)
		if err != nil {
			errs = append(errs, err)
			continue
		}
		ops = append(ops, op)
		made = append(made, i)
	}
	if len(ops) > 0 {
		x.writeAll(ops)
	}
	if len(errs) == 0 {
		return nil
	}
	return &cache.TransactionError{SuccessfulIndices: made, TotalTransactions: len(txns), Errors: errs}
}

// opOf returns the write that the transaction asks for.
//
// Unlike client-go, which ignores a type it does not know and reports success,
// such a transaction fails [refusals].
func (x *Indexer) opOf(txn cache.Transaction) (Op, error) {
	switch txn.Type {
	case cache.TransactionTypeDelete:
		key, err := x.deletionKey(txn.Object)
		return Op{Key: key, Object: txn.Object, Delete: true}, err
	case cache.TransactionTypeAdd, cache.TransactionTypeUpdate:
		key, err := x.storingKey(txn.Object)
		return Op{Key: key, Object: txn.Object}, err
	default:
		return Op{}, fmt.Errorf("unknown transaction type %q", txn.Type)
	}
}
