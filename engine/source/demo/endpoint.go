package demo

import (
	"context"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"
)

// endpoint is one type in one namespace, seen through selectors: what an
// informer lists and watches. Safe for concurrent use.
type endpoint struct {
	server    *server
	table     *table
	namespace string
	labels    string
	fields    []string
}

var (
	_ cache.ListerWatcher            = (*endpoint)(nil)
	_ cache.ListerWatcherWithContext = (*endpoint)(nil)
)

// List implements cache.Lister.
func (e *endpoint) List(options metav1.ListOptions) (runtime.Object, error) {
	return e.ListWithContext(context.Background(), options)
}

// Watch implements cache.Watcher.
func (e *endpoint) Watch(options metav1.ListOptions) (watch.Interface, error) {
	return e.WatchWithContext(context.Background(), options)
}

// ListWithContext implements cache.ListerWithContext.
func (e *endpoint) ListWithContext(ctx context.Context, options metav1.ListOptions) (runtime.Object, error) {
	if err := e.server.delay(ctx); err != nil {
		return nil, err
	}
	sel, err := e.selector(options)
	if err != nil {
		return nil, err
	}
	query, err := newListQuery(options)
	if err != nil {
		return nil, err
	}
	return e.server.list(ctx, e.table, e.namespace, sel, query)
}

// WatchWithContext implements cache.WatcherWithContext.
func (e *endpoint) WatchWithContext(ctx context.Context, options metav1.ListOptions) (watch.Interface, error) {
	if err := e.server.delay(ctx); err != nil {
		return nil, err
	}
	sel, err := e.selector(options)
	if err != nil {
		return nil, err
	}
	query, err := newWatchQuery(options)
	if err != nil {
		return nil, err
	}
	return e.server.watch(ctx, e.table, e.namespace, sel, query)
}

// selector joins the endpoint's own selectors with those of a request.
func (e *endpoint) selector(options metav1.ListOptions) (selector, error) {
	fields := append([]string{options.FieldSelector}, e.fields...)
	return newSelector(e.table.resource, []string{options.LabelSelector, e.labels}, fields)
}
