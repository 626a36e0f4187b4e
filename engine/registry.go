package engine

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/tools/cache"

	"github.com/informeter/informeter/engine/inspect"
)

// stoppedKept is how many stopped informers a registry keeps to be looked at, the
// newest ones: a program that starts and stops informers as it goes would
// otherwise keep all their stores.
const stoppedKept = 16

// Registry is the informers of one process, so that they can be found by name.
// NewRegistry makes one; there is no global one. A stopped informer stays until
// another takes its name, or 16 have stopped after it. Safe for concurrent use.
type Registry struct {
	mu         sync.Mutex // guards the fields below
	registered []registered
	byName     map[string]*Informer
}

// registered is an informer and the name that it wanted, which may not be the one
// it got.
type registered struct {
	*Informer
	wanted string
}

var _ inspect.Process = (*Registry)(nil)

// NewRegistry returns an empty registry.
func NewRegistry() *Registry { return &Registry{byName: map[string]*Informer{}} }

// NewInformer is NewSharedIndexInformer with the informer registered here. It
// fits controller-runtime's cache.Options.NewInformer.
func (r *Registry) NewInformer(lw cache.ListerWatcher, example runtime.Object, resync time.Duration, indexers cache.Indexers) cache.SharedIndexInformer {
	return New(lw, example, Options{Resync: resync, Indexers: indexers, Registry: r})
}

// add registers an informer that is complete but for its name, which it makes
// unique.
func (r *Registry) add(i *Informer) {
	r.mu.Lock()
	defer r.mu.Unlock()
	wanted := i.name
	r.makeRoomLocked(wanted)
	i.name = unique(i.name, func(n string) bool { return r.byName[n] != nil })
	r.registered = append(r.registered, registered{i, wanted})
	r.byName[i.name] = i
}

// makeRoomLocked lets go of the stopped informers that wanted a name which another
// is to have, and of the oldest of the others where there are too many.
func (r *Registry) makeRoomLocked(name string) {
	stopped := 0
	kept := make([]registered, 0, len(r.registered)+1) // readers may have the old one
	for _, other := range slices.Backward(r.registered) {
		if other.IsStopped() {
			if stopped++; other.wanted == name || stopped > stoppedKept {
				delete(r.byName, other.name)
				continue
			}
		}
		kept = append(kept, other)
	}
	slices.Reverse(kept)
	r.registered = kept
}

// Informers returns a summary of each informer, in the order of registration.
func (r *Registry) Informers(context.Context) ([]inspect.Summary, error) {
	r.mu.Lock()
	informers := r.registered[:len(r.registered):len(r.registered)]
	r.mu.Unlock()
	now := time.Now()
	summaries := make([]inspect.Summary, len(informers))
	for n, i := range informers {
		summaries[n] = i.summary(now)
	}
	return summaries, nil
}

// Informer returns the informer of that name.
func (r *Registry) Informer(name string) (inspect.Inspector, inspect.Controls, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	i := r.byName[name]
	if i == nil {
		return nil, nil, fmt.Errorf("informer %q: %w", name, inspect.ErrNotFound)
	}
	return i, i, nil
}
