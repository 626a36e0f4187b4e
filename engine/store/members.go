package store

import (
	"fmt"

	"github.com/informeter/informeter/engine/inspect"
)

// BucketObjects returns the keys and the objects in one bucket at one moment, in
// no order; inspect.ErrNotFound if there is no such index. A bucket that does
// not exist is empty.
func (x *Indexer) BucketObjects(indexName, value string) (keys []string, objects []any, err error) {
	x.mu.RLock()
	defer x.mu.RUnlock()
	ix := x.indexLocked(indexName)
	if ix == nil {
		return nil, nil, fmt.Errorf("index %s: %w", indexName, inspect.ErrNotFound)
	}
	members := ix.members(value)
	keys = make([]string, len(members))
	for i, pos := range members {
		keys[i] = *x.keys.at(pos)
	}
	return keys, x.objectsLocked(members), nil
}
