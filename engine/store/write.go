package store

import (
	"errors"
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/util/resourceversion"
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

	// Old is what was stored before, if Existed.
	Old     any
	Existed bool
	// Unchanged says that Object has the resource version that Old had.
	Unchanged bool
	// Err says why nothing was written.
	Err error

	kept bool // it repeats what is stored
}

// errNoObject is why an Op without an object that is no Delete is refused.
var errNoObject = errors.New("no object to store")

// Apply makes the writes in their order, as one change: no reader sees some of
// them and not others. The same key may occur several times.
//
// Unlike a Transaction, which follows client-go and takes the resource version
// of its last object, Apply lets the store's resource version only grow, and
// not by objects that were there already: a resync or the objects of a relist,
// which come in no order of age, do not set it back. Replace and Bookmark do, if
// they must.
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
	for i := range ops {
		op := &ops[i]
		x.applyLocked(op, x.said(i))
		if op.Err == nil && !op.Unchanged {
			x.advanceLocked(op.Object)
		}
	}
}

// keeps says whether the write repeats what is stored. Not if an index refused
// the object, which may get in this time. writing is held.
func (x *Indexer) keeps(op *Op) bool {
	pos, exists := x.positions.get(&x.keys, op.Key)
	if !exists || !identical(*x.objects.at(pos), op.Object) {
		return false
	}
	for _, ix := range x.indices {
		if ix.homes.at(pos).bucket == refused {
			return false
		}
	}
	return true
}

// applyLocked makes one write.
func (x *Indexer) applyLocked(op *Op, outcomes []outcome) {
	if op.kept {
		op.Old, op.Existed, op.Err = op.Object, true, nil
		if _, op.Unchanged = versionOf(op.Object); op.Unchanged {
			x.unchanged++
		} else {
			x.updated++
		}
		return
	}
	hash := x.positions.hash(op.Key)
	pos, exists := x.positions.find(&x.keys, hash, op.Key)
	op.Old, op.Existed, op.Unchanged, op.Err = nil, exists, false, nil
	if exists {
		op.Key, op.Old = *x.keys.at(pos), *x.objects.at(pos)
	}
	switch {
	case op.Delete:
		if exists {
			x.removeLocked(pos, hash)
			x.deleted++
		}
		return
	case op.Object == nil:
		op.Err = errNoObject
		return
	case !exists:
		x.added++
	case sameVersion(op.Old, op.Object):
		op.Unchanged = true
		x.unchanged++
	default:
		x.updated++
	}
	if !exists {
		x.addLocked(op, hash, outcomes)
		return
	}
	*x.objects.at(pos) = op.Object
	for i, ix := range x.indices {
		ix.put(pos, op.Key, &outcomes[i])
	}
}

// addLocked stores the object under its key, which has that hash and is new.
func (x *Indexer) addLocked(op *Op, hash uint32, outcomes []outcome) {
	pos := uint32(x.objects.n)
	x.objects.push(op.Object)
	x.keys.push(op.Key)
	x.positions.insert(hash, pos)
	for i, ix := range x.indices {
		ix.add(pos, op.Key, &outcomes[i])
	}
}

// removeLocked removes the object at pos, whose key has that hash; the last one
// moves there.
func (x *Indexer) removeLocked(pos, hash uint32) {
	key := *x.keys.at(pos)
	for _, ix := range x.indices {
		ix.remove(pos, key)
	}
	x.positions.remove(hash, pos)
	last := uint32(x.objects.n - 1)
	if pos != last {
		moved := *x.keys.at(last)
		*x.objects.at(pos), *x.keys.at(pos) = *x.objects.at(last), moved
		x.positions.rename(x.positions.hash(moved), last, pos)
	}
	x.objects.pop()
	x.keys.pop()
}

// ask fills scratch with what every index says about every object of the batch.
// writing is held, mu is not: this is where foreign code runs.
func (x *Indexer) ask(ops []Op) {
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

// sameVersion says whether two objects have the same resource version. Those
// that have none, because they are no API objects, never do.
func sameVersion(a, b any) bool {
	va, ok := versionOf(a)
	if !ok {
		return false
	}
	vb, ok := versionOf(b)
	return ok && va == vb
}

// versionOf returns the object's resource version, false if it can have none.
func versionOf(obj any) (string, bool) {
	if obj == nil {
		return "", false
	}
	m, err := meta.Accessor(obj)
	if err != nil {
		return "", false
	}
	return m.GetResourceVersion(), true
}

// advanceLocked lets the store's resource version grow to that of the object.
// One that cannot be compared is taken as it is.
func (x *Indexer) advanceLocked(obj any) {
	rv, ok := versionOf(obj)
	if !ok || rv == "" {
		return
	}
	if order, err := resourceversion.CompareResourceVersion(rv, x.rv); err == nil && order < 0 {
		return
	}
	x.rv = rv
}

// write makes one write as client-go's store does: the object's resource version,
// even an empty one, becomes the store's.
func (x *Indexer) write(key string, obj any, remove bool) {
	ops := [1]Op{{Key: key, Object: obj, Delete: remove}}
	x.writeAll(ops[:], obj)
}

// writeAll makes the writes as one change and takes the resource version of the
// last object.
func (x *Indexer) writeAll(ops []Op, last any) {
	rv, ok := versionOf(last)
	x.writing.Lock()
	defer x.writing.Unlock()
	defer x.forget()
	x.ask(ops)

	x.mu.Lock()
	defer x.mu.Unlock()
	for i := range ops {
		x.applyLocked(&ops[i], x.said(i))
	}
	if ok {
		x.rv = rv
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
	x.write(key, obj, false)
	return nil
}

// storingKey returns the key of an object to store.
//
// Unlike client-go, which stores nil if only the key function has a key for it,
// there must be an object.
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
// cache.DeletedFinalStateUnknown from the tombstone.
func (x *Indexer) Delete(obj any) error {
	key, err := x.deletionKey(obj)
	if err != nil {
		return err
	}
	x.write(key, obj, true)
	return nil
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
		x.writeAll(ops, ops[len(ops)-1].Object)
	}
	if len(errs) == 0 {
		return nil
	}
	return &cache.TransactionError{SuccessfulIndices: made, TotalTransactions: len(txns), Errors: errs}
}

// opOf returns the write that the transaction asks for.
//
// Unlike client-go, which ignores a type it does not know and reports success,
// such a transaction fails.
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
