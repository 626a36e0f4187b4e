package store

import (
	"fmt"
	"maps"
	"slices"

	"k8s.io/client-go/tools/cache"
)

// indexLocked returns the index of that name, nil if there is none. There are few:
// comparing their names costs less than hashing one.
func (x *Indexer) indexLocked(name string) *index {
	for _, ix := range x.indices {
		if ix.name == name {
			return ix
		}
	}
	return nil
}

// unknown is the error for an index that does not exist. It has the words that
// people who know client-go will search for.
func unknown(name string) error {
	return fmt.Errorf("index with name %s does not exist", name)
}

// bucketLocked returns the positions of the objects that the index holds under
// the value.
func (x *Indexer) bucketLocked(name, value string) ([]uint32, error) {
	ix := x.indexLocked(name)
	if ix == nil {
		return nil, unknown(name)
	}
	return ix.members(value), nil
}

// members returns the positions of the objects under the value.
func (ix *index) members(value string) []uint32 {
	if n, ok := ix.byValue.get(&ix.values, value); ok {
		return ix.buckets.at(n).members
	}
	return nil
}

// objectsLocked returns the objects at the positions.
func (x *Indexer) objectsLocked(positions []uint32) []any {
	list := make([]any, len(positions))
	for i, pos := range positions {
		list[i] = *x.objects.at(pos)
	}
	return list
}

// ByIndex returns the objects that the index holds under the value, in no order.
func (x *Indexer) ByIndex(indexName, indexedValue string) ([]any, error) {
	x.mu.RLock()
	defer x.mu.RUnlock()
	members, err := x.bucketLocked(indexName, indexedValue)
	if err != nil {
		return nil, err
	}
	return x.objectsLocked(members), nil
}

// IndexKeys returns the keys of the objects that the index holds under the
// value, sorted.
func (x *Indexer) IndexKeys(indexName, indexedValue string) ([]string, error) {
	keys, err := x.indexKeys(indexName, indexedValue)
	slices.Sort(keys)
	return keys, err
}

func (x *Indexer) indexKeys(indexName, indexedValue string) ([]string, error) {
	x.mu.RLock()
	defer x.mu.RUnlock()
	members, err := x.bucketLocked(indexName, indexedValue)
	if err != nil {
		return nil, err
	}
	keys := make([]string, len(members))
	for i, pos := range members {
		keys[i] = *x.keys.at(pos)
	}
	return keys, nil
}

// Index returns the objects that share a value of the index with obj, each once
// and in no order.
//
// Unlike client-go, which calls the index function under its lock, so that one
// which reads the store can deadlock, and lets its panic through, the function
// is called without a lock and its panic returned as an error [free index].
func (x *Indexer) Index(indexName string, obj any) ([]any, error) {
	x.mu.RLock()
	ix := x.indexLocked(indexName)
	x.mu.RUnlock()
	if ix == nil {
		return nil, unknown(indexName)
	}
	o := ix.call(obj)
	if o.err != nil {
		return nil, o.err
	}

	x.mu.RLock()
	defer x.mu.RUnlock()
	if len(o.values) == 1 {
		return x.objectsLocked(ix.members(o.values[0])), nil
	}
	var positions []uint32
	for _, value := range o.values {
		positions = append(positions, ix.members(value)...)
	}
	slices.Sort(positions)
	return x.objectsLocked(slices.Compact(positions)), nil
}

// ListIndexFuncValues returns the values under which the index holds objects, in
// no order; none for an index that does not exist.
func (x *Indexer) ListIndexFuncValues(indexName string) []string {
	x.mu.RLock()
	defer x.mu.RUnlock()
	ix := x.indexLocked(indexName)
	if ix == nil {
		return []string{}
	}
	values := make([]string, len(ix.heap))
	for i, n := range ix.heap {
		values[i] = *ix.values.at(n)
	}
	return values
}

// GetIndexers returns the index functions by name.
//
// Unlike client-go, which hands out the map it works with, the map is a copy:
// reading it cannot race with AddIndexers, writing to it changes nothing [own map].
func (x *Indexer) GetIndexers() cache.Indexers {
	x.mu.RLock()
	defer x.mu.RUnlock()
	indexers := make(cache.Indexers, len(x.indices))
	for _, ix := range x.indices {
		indexers[ix.name] = ix.fn
	}
	return indexers
}

// AddIndexers adds indices to a store that may already have objects, which are
// indexed at once. If a name is taken, nothing is added.
//
// Unlike client-go, which holds its lock meanwhile, readers go on while the new
// index functions are called; writers wait [free index].
func (x *Indexer) AddIndexers(newIndexers cache.Indexers) error {
	x.writing.Lock()
	defer x.writing.Unlock()
	names := slices.Sorted(maps.Keys(newIndexers))
	var taken []string
	for _, name := range names {
		if x.indexLocked(name) != nil {
			taken = append(taken, name)
		}
	}
	if len(taken) > 0 {
		return fmt.Errorf("indexer conflict: %v", taken)
	}

	added := make([]*index, 0, len(names))
	for _, name := range names {
		ix := x.newIndex(name, newIndexers[name])
		for pos := range uint32(x.objects.n) {
			var o outcome
			key := *x.keys.at(pos)
			x.askOne(ix, key, *x.objects.at(pos), &o)
			ix.add(pos, key, &o)
		}
		added = append(added, ix)
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	x.indices = append(x.indices, added...)
	x.sortIndices()
	return nil
}
