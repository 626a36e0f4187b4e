package manager_test

import (
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	toolscache "k8s.io/client-go/tools/cache"
	ctrllog "sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/go-logr/logr"
	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/informeter/informeter/engine"
	"github.com/informeter/informeter/engine/inspect"
)

// sites is how many there are in each of the two namespaces.
const sites = 6

func TestMain(m *testing.M) {
	ctrllog.SetLogger(logr.Discard())
	m.Run()
}

type newInformer func(toolscache.ListerWatcher, runtime.Object, time.Duration, toolscache.Indexers) toolscache.SharedIndexInformer

// TestAnOperatorReconcilesOnAnyInformer is one story of an operator, on our
// informers as a drop-in and on client-go's.
func TestAnOperatorReconcilesOnAnyInformer(t *testing.T) {
	w := newWorld(t)
	ours, inOrder := engine.NewRegistry(), engine.NewRegistry()
	for _, c := range []struct {
		name        string
		newInformer newInformer
		registry    *engine.Registry
	}{
		{"ours", ours.NewInformer, ours},
		{"in-order", func(lw toolscache.ListerWatcher, example runtime.Object, resync time.Duration, indexers toolscache.Indexers) toolscache.SharedIndexInformer {
			return engine.New(lw, example, engine.Options{Queue: engine.InOrder, Resync: resync, Indexers: indexers, Registry: inOrder})
		}, inOrder},
		{"client-go", nil, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			before := goleak.IgnoreCurrent()
			w.namespaces(t, c.name+"-a", c.name+"-b")
			w.populate(t, c.name)
			r := start(t, w, cache.Options{NewInformer: c.newInformer})
			story(t, r, c.name)
			if c.registry != nil {
				t.Run("the registry knows everything that runs", func(t *testing.T) { registry(t, r, c.registry, c.name+"-a") })
			}
			if err := r.stop(); err != nil {
				t.Fatal(err)
			}
			if c.registry == nil {
				// Controller-runtime reads metadata through a watch.Filter. One that
				// has an event in its hand when client-go stops the watch stays.
				mustNotLeak(t, before, goleak.IgnoreTopFunction("k8s.io/apimachinery/pkg/watch.(*filteredWatch).loop"))
				return
			}
			mustNotLeak(t, before)
		})
	}
}

// populate makes what is there before the operator starts.
func (w *world) populate(t *testing.T, prefix string) {
	t.Helper()
	for _, namespace := range []string{prefix + "-a", prefix + "-b"} {
		w.create(t, newConfigMap(namespace, "even", "first"))
		w.create(t, newConfigMap(namespace, "odd", "first"))
		for n := range sites {
			w.create(t, newSite(namespace, n))
		}
	}
}

// story changes the world and says what must be reconciled, and what not.
func story(t *testing.T, r *running, prefix string) {
	w, a, b := r.world, prefix+"-a", prefix+"-b"
	both := func(keys ...string) (all []string) {
		for _, key := range keys {
			all = append(all, "websites "+key, "auditor "+key)
		}
		return all
	}
	t.Run("what was there before it", func(t *testing.T) {
		r.settle(t, "every site is deployed", func() error {
			return errors.Join(w.deployed(t, a, sites, "first", "0"), w.deployed(t, b, sites, "first", "0"))
		})
		var all []string
		for n := range sites {
			all = append(all, fmt.Sprintf("-a/site-%d", n), fmt.Sprintf("-b/site-%d", n))
		}
		r.mustReconcile(t, prefix, both(all...)...)
	})
	t.Run("a config that an index says who uses", func(t *testing.T) {
		config := newConfigMap(a, "even", "")
		w.change(t, config, func() { config.Data["content"] = "second" })
		r.settle(t, "the even sites have it", func() error {
			return errors.Join(w.says(t, a, 0, "second", "0"), w.says(t, a, 2, "second", "0"), w.says(t, a, 4, "second", "0"))
		})
		r.mustReconcile(t, prefix, both("-a/site-0", "-a/site-2", "-a/site-4")...)
	})
	t.Run("an owned object that somebody deleted", func(t *testing.T) {
		w.remove(t, &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: b, Name: "site-3"}})
		r.settle(t, "it is there again", func() error { return w.says(t, b, 3, "first", "0") })
		r.mustReconcile(t, prefix, both("-b/site-3")...)
	})
	t.Run("a secret of which only the metadata is cached", func(t *testing.T) {
		w.create(t, &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: b, Name: "s", Labels: map[string]string{"site": "site-1"}}})
		r.settle(t, "its site counts it", func() error { return w.says(t, b, 1, "first", "1") })
		r.mustReconcile(t, prefix, both("-b/site-1")...)
	})
	t.Run("a site that grew", func(t *testing.T) {
		site := newSite(a, 5)
		w.change(t, site, func() { _ = unstructured.SetNestedField(site.Object, int64(3), "spec", "replicas") })
		r.settle(t, "its deployment did", func() error { return w.replicas(t, a, 5, 3) })
		r.mustReconcile(t, prefix, both("-a/site-5")...)
	})
	t.Run("a site that went", func(t *testing.T) {
		w.remove(t, newSite(a, 0))
		r.settle(t, "its deployment went", func() error {
			err := w.replicas(t, a, 0, 0)
			if apierrors.IsNotFound(err) {
				return nil
			}
			return fmt.Errorf("the deployment is there: %w", err)
		})
		r.mustReconcile(t, prefix, both("-a/site-0")...)
	})
	t.Run("reads through the client", func(t *testing.T) { reads(t, r, a) })
}

// slow is a handler that somebody adds to a cache's informer and that takes its
// time: each call waits until it is let go.
type slow struct {
	toolscache.ResourceEventHandlerFuncs
	hold chan struct{}
}

func (s *slow) OnAdd(any, bool)   { <-s.hold }
func (s *slow) OnUpdate(_, _ any) { <-s.hold }

func (s *slow) InformerHandlerName() string { return "slow" }

// registry looks at the manager through our eyes: one informer for each type and
// projection, the handlers of both controllers and of the client under names
// that say whose they are, and what is pending for one that lags.
func registry(t *testing.T, r *running, registry *engine.Registry, namespace string) {
	const (
		configs, deployments = "v1.ConfigMap", "v1.Deployment"
		websites, secrets    = "e2e.informeter.example/v1, Kind=Website", "v1, Kind=Secret (metadata)"
		// The client that waits until its own writes are in the cache.
		client = "consistencyhandler.ConsistencyHandler"
		// What Owns adds is wrapped in functions, which name no type.
		owns = "handler.TypedEventHandler.Create"
	)
	informer, err := r.manager.GetCache().GetInformer(t.Context(), &corev1.ConfigMap{})
	if err != nil {
		t.Fatal(err)
	}
	handler := &slow{hold: make(chan struct{})}
	defer close(handler.hold)
	registration, err := informer.AddEventHandler(handler)
	if err != nil {
		t.Fatal(err)
	}
	const changes = 5
	objects := snapshots(t, registry)[configs].Store.Objects + changes
	for n := range changes {
		r.world.create(t, newConfigMap(namespace, fmt.Sprintf("unused-%d", n), "x"))
	}
	// Each object is an add that the slow handler waits for, or is in.
	pending := map[string]uint64{"slow": uint64(objects)}
	eventually(t, "every handler of configs but one has been told", func() error {
		for _, l := range snapshots(t, registry)[configs].Listeners {
			if l.Pending != pending[l.Name] {
				return fmt.Errorf("%d are pending for %s, want %d", l.Pending, l.Name, pending[l.Name])
			}
		}
		return nil
	})
	found := snapshots(t, registry)
	t.Logf("the registry:\n%s", table(found))
	handlers := map[string][]string{}
	for name, s := range found {
		if s.Informer.State != inspect.StateRunning || !s.Informer.Synced {
			t.Errorf("%s is %s, synced: %v", name, s.Informer.State, s.Informer.Synced)
		}
		for _, l := range s.Listeners {
			handlers[name] = append(handlers[name], l.Name)
			if l.Pending != pending[l.Name] {
				t.Errorf("%s: %d are pending for %s, want %d", name, l.Pending, l.Name, pending[l.Name])
			}
		}
		slices.Sort(handlers[name])
	}
	want := map[string][]string{
		configs:     {client, "manager_test.operator.sitesWithConfig", "slow"},
		deployments: {client, "handler.TypedEnqueueRequestForObject", owns},
		websites:    {client, "handler.TypedEnqueueRequestForObject"},
		secrets:     {client, "manager_test.sitesOfSecret"},
	}
	if diff := cmp.Diff(want, handlers); diff != "" {
		t.Errorf("handlers (-want +got):\n%s", diff)
	}
	if err := informer.RemoveEventHandler(registration); err != nil {
		t.Error(err)
	}
}

// reads asks the manager's client, which answers from the caches, in every way
// there is.
func reads(t *testing.T, r *running, namespace string) {
	var deployments appsv1.DeploymentList
	for _, c := range []struct {
		name    string
		list    client.ObjectList
		options []client.ListOption
		want    int
	}{
		{"a namespace", &deployments, []client.ListOption{client.InNamespace(namespace)}, sites - 1},
		{"an index in a namespace", &deployments, []client.ListOption{client.InNamespace(namespace), client.MatchingFields{ownerIndex: "site-5"}}, 1},
		{"an index in a namespace without it", &deployments, []client.ListOption{client.InNamespace("default"), client.MatchingFields{ownerIndex: "site-5"}}, 0},
		{"a value that nobody has", &deployments, []client.ListOption{client.MatchingFields{ownerIndex: "nobody"}}, 0},
		{"an unstructured index", websiteList(), []client.ListOption{client.InNamespace(namespace), client.MatchingFields{configIndex: "odd"}}, sites / 2},
		{"a metadata index", secretMetadataList(), []client.ListOption{client.InNamespace(namespace), client.MatchingFields{siteIndex: "site-1"}}, 0},
		{"an index and labels", websiteList(), []client.ListOption{client.InNamespace(namespace), client.MatchingFields{configIndex: "odd"}, client.MatchingLabels{"no": "such"}}, 0},
		{"limit", &deployments, []client.ListOption{client.InNamespace(namespace), client.Limit(2)}, 2},
	} {
		if err := r.client.List(t.Context(), c.list, c.options...); err != nil {
			t.Errorf("%s: %v", c.name, err)
		}
		if got := len(versions(t, c.list)); got != c.want {
			t.Errorf("%s: %d objects, want %d", c.name, got, c.want)
		}
	}
	err := r.client.List(t.Context(), &deployments, client.MatchingFields{"no.such": "index"})
	if err == nil {
		t.Error("a field without an index was searched")
	}
	deployment := &appsv1.Deployment{}
	if err := r.client.Get(t.Context(), client.ObjectKey{Namespace: namespace, Name: "site-5"}, deployment); err != nil {
		t.Error(err)
	}
	if got := deployment.GroupVersionKind(); got != appsv1.SchemeGroupVersion.WithKind("Deployment") {
		t.Errorf("the deployment read says that it is a %s", got)
	}
}

// deployed says what is wrong with the deployments of a namespace's n sites.
func (w *world) deployed(t *testing.T, namespace string, n int, content, secrets string) error {
	var wrong []error
	for site := range n {
		wrong = append(wrong, w.says(t, namespace, site, content, secrets))
	}
	return errors.Join(wrong...)
}

// says looks at what a site's deployment was made from.
func (w *world) says(t *testing.T, namespace string, site int, content, secrets string) error {
	d := &appsv1.Deployment{}
	if err := w.client.Get(t.Context(), client.ObjectKey{Namespace: namespace, Name: fmt.Sprintf("site-%d", site)}, d); err != nil {
		return err
	}
	if got := d.Annotations; got[contentNote] != content || got[secretsNote] != secrets {
		return fmt.Errorf("site %d was made from %v, want content %q and %s secrets", site, got, content, secrets)
	}
	return nil
}

func (w *world) replicas(t *testing.T, namespace string, site int, want int32) error {
	d := &appsv1.Deployment{}
	if err := w.client.Get(t.Context(), client.ObjectKey{Namespace: namespace, Name: fmt.Sprintf("site-%d", site)}, d); err != nil {
		return err
	}
	if got := *d.Spec.Replicas; got != want {
		return fmt.Errorf("site %d has %d replicas, want %d", site, got, want)
	}
	return nil
}

// mustNotLeak checks that every goroutine has ended that was not there before.
func mustNotLeak(t *testing.T, options ...goleak.Option) {
	t.Helper()
	eventually(t, "no goroutine is left", func() error { return goleak.Find(options...) })
}
