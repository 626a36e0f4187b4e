package inprocess_test

import (
	"fmt"
	"maps"
	"slices"
	"sync"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/tools/cache"
)

// versions are resource versions by key.
type versions map[string]string

// recorder is a handler that keeps what a controller would know: the newest
// version it was told of each object.
type recorder struct {
	mu     sync.Mutex
	known  versions // guarded by mu
	broken []string // guarded by mu: what no handler may be told
}

func newRecorder() *recorder { return &recorder{known: versions{}} }

func (r *recorder) OnAdd(obj any, _ bool) {
	pod := obj.(*corev1.Pod)
	r.mu.Lock()
	defer r.mu.Unlock()
	key := pod.Namespace + "/" + pod.Name
	if _, there := r.known[key]; there {
		r.broken = append(r.broken, "add of a known object: "+key)
	}
	r.known[key] = pod.ResourceVersion
}

func (r *recorder) OnUpdate(_, obj any) {
	pod := obj.(*corev1.Pod)
	r.mu.Lock()
	defer r.mu.Unlock()
	key := pod.Namespace + "/" + pod.Name
	if _, there := r.known[key]; !there {
		r.broken = append(r.broken, "update of an unknown object: "+key)
	}
	r.known[key] = pod.ResourceVersion
}

func (r *recorder) OnDelete(obj any) {
	key, err := cache.DeletionHandlingMetaNamespaceKeyFunc(obj)
	r.mu.Lock()
	defer r.mu.Unlock()
	if err != nil {
		r.broken = append(r.broken, fmt.Sprintf("delete without a key: %v", err))
	}
	if _, there := r.known[key]; !there {
		r.broken = append(r.broken, "delete of an unknown object: "+key)
	}
	delete(r.known, key)
}

func (r *recorder) versions() versions {
	r.mu.Lock()
	defer r.mu.Unlock()
	return maps.Clone(r.known)
}

func (r *recorder) complaints() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.broken)
}
