package engine

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/tools/cache"

	"github.com/informeter/informeter/engine/inspect"
)

// Registry is the informers of one process, so that they can be found by name.
// NewRegistry makes one; there is no global one. Safe for concurrent use.
type Registry struct {
	mu        sync.Mutex // guards the fields below
	informers []*Informer
	byName    map[string]*Informer
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
// unique. Those of that name that have stopped make room: a program that starts
// and stops informers as it goes would otherwise keep all their stores.
func (r *Registry) add(i *Informer) {
	r.mu.Lock()
	defer r.mu.Unlock()
	wanted := i.name
	kept := make([]*Informer, 0, len(r.informers)+1) // readers may have the old one
	for _, other := range r.informers {
		name, _, _ := strings.Cut(other.name, "#")
		if name == wanted && other.IsStopped() {
			delete(r.byName, other.name)
			continue
		}
		kept = append(kept, other)
	}
	r.informers = kept
	i.name = unique(i.name, func(n string) bool { return r.byName[n] != nil })
	r.informers = append(r.informers, i)
	r.byName[i.name] = i
}

// Informers returns a summary of each informer, in the order of registration.
func (r *Registry) Informers(context.Context) ([]inspect.Summary, error) {
	r.mu.Lock()
	informers := r.informers[:len(r.informers):len(r.informers)]
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
