package engine

import (
	"context"
	"fmt"

	"k8s.io/apimachinery/pkg/api/meta"

	"github.com/informeter/informeter/engine/inspect"
	"github.com/informeter/informeter/engine/journal"
)

// Biography implements inspect.Inspector. It is known only while somebody looks.
func (i *Informer) Biography(ctx context.Context, r inspect.BiographyRequest) (inspect.Biography, error) {
	j := i.viewers.current()
	if j == nil {
		return inspect.Biography{}, fmt.Errorf("biography of %s while nobody looks: %w", r.Key, inspect.ErrUnsupported)
	}
	generation := i.generation.Current()
	b, err := j.Biography(ctx, r)
	b.Generation = generation
	return b, err
}

// version returns a version of an object that is kept; 0 is the one in the store.
func (i *Informer) version(key string, version uint64) (any, error) {
	if version == 0 {
		obj, exists, err := i.store.GetByKey(key)
		if err != nil {
			return nil, fmt.Errorf("read %s: %w", key, err)
		}
		if !exists {
			return nil, fmt.Errorf("object %q: %w", key, inspect.ErrNotFound)
		}
		return obj, nil
	}
	if j := i.viewers.current(); j != nil {
		if obj, kept := j.Version(key, version); kept {
			return obj, nil
		}
	}
	return nil, fmt.Errorf("version %d of %q: %w", version, key, inspect.ErrNotFound)
}

// identity returns an object's resource version and UID.
func identity(obj any) (rv, uid string) {
	if m, err := meta.Accessor(obj); err == nil {
		return m.GetResourceVersion(), string(m.GetUID())
	}
	return "", ""
}

// skip tells the journal, if there is one, of a delta that was set aside.
func (i *Informer) skip(s journal.Skip) {
	if j := i.viewers.current(); j != nil {
		j.Skip(s)
	}
}
