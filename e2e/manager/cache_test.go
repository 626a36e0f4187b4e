package manager_test

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"
	toolscache "k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/informeter/informeter/engine"

	"github.com/informeter/informeter/e2e/testcluster"
)

// TestACacheHasItsOptionsOnAnyInformer is about what a cache does to informers
// besides running them: namespaces, selectors, transforms, indices that come
// late, informers that go, and what may not be read.
func TestACacheHasItsOptionsOnAnyInformer(t *testing.T) {
	w := newWorld(t)
	w.namespaces(t, "one", "two", "three")
	for _, namespace := range []string{"one", "two", "three"} {
		for _, name := range []string{"kept", "hidden"} {
			config := newConfigMap(namespace, name, "x")
			config.Labels = map[string]string{"show": map[string]string{"kept": "yes"}[name]}
			w.create(t, config)
		}
	}
	registry := engine.NewRegistry()
	for name, newInformer := range map[string]newInformer{"ours": registry.NewInformer, "client-go": nil} {
		t.Run(name, func(t *testing.T) {
			c := w.cache(t, testcluster.Admin, cache.Options{
				NewInformer:       newInformer,
				DefaultNamespaces: map[string]cache.Config{"one": {}, "two": {}},
				ByObject:          map[client.Object]cache.ByObject{&corev1.ConfigMap{}: {Label: labels.SelectorFromSet(labels.Set{"show": "yes"})}},
				DefaultTransform:  cache.TransformStripManagedFields(),
			})
			mustCache(t, c, []string{"one/kept", "two/kept"})
			mustIndexLate(t, c)
			mustGoAndComeBack(t, w, c)
		})
	}
	t.Run("ours, seen from the registry", func(t *testing.T) {
		// Of each namespace the one that runs after RemoveInformer; those that
		// were removed have made room.
		want := []string{"v1.ConfigMap", "v1.ConfigMap#2"}
		if diff := cmp.Diff(want, slices.Sorted(maps.Keys(snapshots(t, registry)))); diff != "" {
			t.Errorf("informers (-want +got):\n%s", diff)
		}
	})
}

// cache runs a cache of the world until the test ends.
func (w *world) cache(t *testing.T, user testcluster.User, options cache.Options) cache.Cache {
	t.Helper()
	config, err := w.cluster.Config(user)
	if err != nil {
		t.Fatal(err)
	}
	options.Scheme, options.Mapper = w.scheme, w.client.RESTMapper()
	c, err := cache.New(config, options)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- c.Start(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	if !c.WaitForCacheSync(t.Context()) { // there is nothing yet: for its start
		t.Fatal("the cache has not started")
	}
	return c
}

// mustCache checks which configs the cache has, and that they were transformed.
func mustCache(t *testing.T, c cache.Cache, want []string) {
	t.Helper()
	var configs corev1.ConfigMapList
	if err := c.List(t.Context(), &configs); err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, config := range configs.Items {
		got = append(got, config.Namespace+"/"+config.Name)
		if len(config.ManagedFields) > 0 {
			t.Errorf("%s was not transformed: it has managed fields", config.Name)
		}
	}
	slices.Sort(got)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("cached (-want +got):\n%s", diff)
	}
}

// mustIndexLate adds a field index to informers that run already.
func mustIndexLate(t *testing.T, c cache.Cache) {
	t.Helper()
	err := c.IndexField(t.Context(), &corev1.ConfigMap{}, "content", func(obj client.Object) []string {
		return []string{obj.(*corev1.ConfigMap).Data["content"]}
	})
	if err != nil {
		t.Fatal(err)
	}
	for options, want := range map[client.ListOption]int{client.InNamespace("one"): 1, client.InNamespace(""): 2} {
		var configs corev1.ConfigMapList
		if err := c.List(t.Context(), &configs, options, client.MatchingFields{"content": "x"}); err != nil {
			t.Fatal(err)
		}
		if len(configs.Items) != want {
			t.Errorf("%v: the index found %d configs, want %d", options, len(configs.Items), want)
		}
	}
}

// mustGoAndComeBack removes the informers, which stops them, and asks for the
// same objects again.
func mustGoAndComeBack(t *testing.T, w *world, c cache.Cache) {
	t.Helper()
	for range 3 {
		before, err := c.GetInformer(t.Context(), &corev1.ConfigMap{})
		if err != nil {
			t.Fatal(err)
		}
		if err := c.RemoveInformer(t.Context(), &corev1.ConfigMap{}); err != nil {
			t.Fatal(err)
		}
		eventually(t, "the informer that was removed has stopped", func() error {
			if !before.IsStopped() {
				return errors.New("it runs")
			}
			return nil
		})
		mustCache(t, c, []string{"one/kept", "two/kept"})
	}
}

// TestAForbiddenTypeFailsAsItDoesOnClientGo: what the server refuses to list
// comes to the error handler that the cache was given, and never syncs.
func TestAForbiddenTypeFailsAsItDoesOnClientGo(t *testing.T) {
	w := newWorld(t)
	registry := engine.NewRegistry()
	for name, newInformer := range map[string]newInformer{"ours": registry.NewInformer, "client-go": nil} {
		t.Run(name, func(t *testing.T) {
			var failures atomic.Int64
			c := w.cache(t, testcluster.Nobody, cache.Options{
				NewInformer: newInformer,
				DefaultWatchErrorHandler: func(_ context.Context, r *toolscache.Reflector, err error) {
					if r != nil && err != nil {
						failures.Add(1)
					}
				},
			})
			informer, err := c.GetInformer(t.Context(), &corev1.Secret{}, cache.BlockUntilSynced(false))
			if err != nil {
				t.Fatal(err)
			}
			eventually(t, "the error handler has been called twice", func() error {
				if failures.Load() < 2 {
					return errors.New("it was not")
				}
				return nil
			})
			if informer.HasSynced() {
				t.Error("it synced without a list")
			}
			if newInformer == nil {
				return
			}
			if got := snapshots(t, registry)["v1.Secret"].Reflector; !strings.Contains(got.Error, "forbidden") {
				t.Errorf("the registry does not say what failed: phase %v, error %q", got.Phase, got.Error)
			}
		})
	}
}
