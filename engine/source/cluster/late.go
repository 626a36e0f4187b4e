package cluster

import (
	"context"
	"sync"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
)

// late lists and watches a resource of which it is not known yet what it is: the
// server was not there to ask. Each request asks again, and fails as the asking
// fails, until there is an answer; that one is kept.
type late struct {
	cluster *Cluster
	ask     ask

	mu sync.Mutex
	lw *metered // nil: not known yet; guarded by mu
}

func (l *late) ListWithContext(ctx context.Context, o metav1.ListOptions) (runtime.Object, error) {
	lw, err := l.find(ctx)
	if err != nil {
		return nil, err
	}
	return lw.ListWithContext(ctx, o)
}

func (l *late) WatchWithContext(ctx context.Context, o metav1.ListOptions) (watch.Interface, error) {
	lw, err := l.find(ctx)
	if err != nil {
		return nil, err
	}
	return lw.WatchWithContext(ctx, o)
}

// List and Watch are for callers that have no context.
func (l *late) List(o metav1.ListOptions) (runtime.Object, error) {
	return l.ListWithContext(context.Background(), o)
}

func (l *late) Watch(o metav1.ListOptions) (watch.Interface, error) {
	return l.WatchWithContext(context.Background(), o)
}

// Traffic implements Metered.
func (l *late) Traffic() Traffic {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.lw == nil {
		return Traffic{}
	}
	return l.lw.Traffic()
}

// find returns what lists and watches the resource. It does not hold the lock
// while it asks.
func (l *late) find(ctx context.Context) (*metered, error) {
	l.mu.Lock()
	lw := l.lw
	l.mu.Unlock()
	if lw != nil {
		return lw, nil
	}
	served, err := l.cluster.discover(ctx)
	if err != nil {
		return nil, err
	}
	t, err := l.cluster.look(ctx, served, l.ask)
	if err != nil {
		return nil, err
	}
	if t == nil {
		return nil, served.unknown(l.ask.resource)
	}
	// What was announced as unstructured stays so.
	unstructured := *l.cluster
	if unstructured.projection == Typed {
		unstructured.projection = Unstructured
	}
	if lw, _, err = unstructured.open(t); err != nil {
		return nil, err
	}
	l.mu.Lock()
	l.lw = lw
	l.mu.Unlock()
	return lw, nil
}
