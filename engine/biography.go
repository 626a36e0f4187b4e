package engine

import (
	"context"
	"fmt"
	"slices"
	"time"

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
	if err != nil {
		return b, err
	}
	b.Generation = generation
	i.fillDeliveries(j, &b)
	return b, nil
}

// fillDeliveries says of each event when handlers were told of it, and lets the
// journal remember what the listeners will overwrite.
func (i *Informer) fillDeliveries(j *journal.Journal, b *inspect.Biography) {
	i.numberEvents(b)
	seqs := make([]uint64, 0, len(b.Events))
	for n := range b.Events {
		if b.Events[n].Seq > 0 {
			seqs = append(seqs, b.Events[n].Seq)
		}
	}
	found := make(map[uint64][]inspect.Delivery, len(seqs))
	for n, deliveries := range i.deliveriesOf(seqs) {
		found[seqs[n]] = deliveries
	}
	for n := range b.Events {
		e := &b.Events[n]
		e.Deliveries = mergeDeliveries(e.Deliveries, found[e.Seq])
		if len(e.Deliveries) == 0 && e.Cause == inspect.CauseInitial {
			// Nobody has recorded it, but where the handlers stand says something.
			e.Deliveries = i.processor.DeliveriesAt(e.At)
		}
	}
	j.Remember(b)
}

// numberEvents finds the numbers of events that the journal keeps without: most
// keys have only their first, and what is played back is only counted.
func (i *Informer) numberEvents(b *inspect.Biography) {
	i.moments.mu.Lock()
	defer i.moments.mu.Unlock()
	for n := range b.Events {
		if e := &b.Events[n]; e.Seq == 0 && e.Type != "" {
			e.Seq = i.moments.numberOfLocked(b.Key, e.Cause, e.At)
		}
	}
}

// mergeDeliveries adds to what is found now what was known before of others.
func mergeDeliveries(known, found []inspect.Delivery) []inspect.Delivery {
	merged := slices.Clone(found)
	for _, d := range known {
		if !slices.ContainsFunc(found, func(o inspect.Delivery) bool { return o.Handler == d.Handler }) {
			merged = append(merged, d)
		}
	}
	return merged
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

// ignored tells the journal of a deletion that came when there was nothing left to
// delete.
func (i *Informer) ignored(key string, obj any) {
	i.lagging.Store(true) // by the version of that
	i.skip(journal.Skip{Key: key, Object: obj, Cause: inspect.CauseWatch, Reason: "it was deleted already", At: time.Now()})
}

// skip tells the journal, if there is one, of a delta that was set aside.
func (i *Informer) skip(s journal.Skip) {
	if j := i.viewers.current(); j != nil {
		j.Skip(s)
	}
}
