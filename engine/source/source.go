// Package source says where an informer's objects come from. Its rooms make
// Sources: cluster from a kubeconfig, demo from a simulated API server.
//
//	cluster ──┐
//	          ├─▶ Source{ListerWatcher, Example, Indexers, Handlers} ─▶ engine
//	demo ─────┘
//
// A Source is a description and starts nothing: whoever holds it runs it.
package source

import (
	"time"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/tools/cache"
)

// Source is everything needed to run an informer on one resource, and what to
// call it on screen.
type Source struct {
	// Name is short and unique among the sources asked for together: pods,
	// deployments.apps, pods/web-0.
	Name string
	// Resource is the resource's plural name, with its group if it has one.
	Resource string
	// Scope says where: "all namespaces", "namespace kube-system", "cluster"
	// for resources without namespaces; selectors follow after a comma.
	Scope string
	// Origin says whose word it is: "prod-eu/admin" (context and user), "demo:
	// steady".
	Origin string
	// Example has the type of the objects; unstructured and metadata objects
	// carry their apiVersion and kind.
	Example       runtime.Object
	ListerWatcher cache.ListerWatcher
	// Indexers are the indices that make sense for the resource.
	Indexers cache.Indexers
	// Handlers are the source's own, so that there is something to compare.
	Handlers []Handler
}

// Handler is one event handler that comes with a source.
type Handler struct {
	Name    string
	Handler cache.ResourceEventHandler
	// Resync is the period to ask for; zero asks for none.
	Resync time.Duration
}
