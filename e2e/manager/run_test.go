package manager_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"text/tabwriter"
	"time"

	"github.com/go-logr/logr"
	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/client-go/rest"
	"k8s.io/utils/ptr"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/config"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"

	"github.com/informeter/informeter/engine"
	"github.com/informeter/informeter/engine/inspect"
)

// quiet is how long nothing may be reconciled for a test to believe that
// everything has been.
const quiet = time.Second

// running is an operator in a running manager.
type running struct {
	*operator
	world   *world
	manager ctrl.Manager
	stop    func() error // ends the manager and returns what Start returned
}

// start runs the operator in a manager whose caches are made of newInformer,
// client-go's if nil.
func start(t *testing.T, w *world, options cache.Options) *running {
	t.Helper()
	config := w.config(t)
	// A client of its own: when it closes its connections, goroutines are left
	// only if somebody forgot them.
	httpClient, err := rest.HTTPClientFor(config)
	if err != nil {
		t.Fatal(err)
	}
	options.HTTPClient = httpClient
	mgr, err := ctrl.NewManager(config, ctrl.Options{
		Scheme:     w.scheme,
		Logger:     logr.Discard(),
		Cache:      options,
		Client:     client.Options{HTTPClient: httpClient, Cache: &client.CacheOptions{Unstructured: true, EnableReadYourWritesConsistency: ptr.To(true)}},
		Metrics:    metricsserver.Options{BindAddress: "0"},
		Controller: controllerOptions(),
	})
	if err != nil {
		t.Fatal(err)
	}
	r := &running{operator: &operator{}, world: w, manager: mgr}
	if err := r.setUp(t.Context(), mgr); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- mgr.Start(ctx) }()
	var stopped bool
	r.stop = func() error {
		if stopped {
			return nil
		}
		stopped = true
		cancel()
		defer httpClient.CloseIdleConnections()
		select {
		case err := <-ended:
			return err
		case <-time.After(patience):
			return fmt.Errorf("the manager has not stopped within %s", patience)
		}
	}
	t.Cleanup(func() {
		if err := r.stop(); err != nil {
			t.Error(err)
		}
	})
	return r
}

// controllerOptions lets one process make the same controllers again.
func controllerOptions() config.Controller {
	return config.Controller{SkipNameValidation: ptr.To(true)}
}

// settle waits until check has nothing to complain about and nothing is
// reconciled any more.
func (r *running) settle(t *testing.T, what string, check func() error) {
	t.Helper()
	eventually(t, what, check)
	for calls := -1; calls != r.calls(); {
		calls = r.calls()
		time.Sleep(quiet)
	}
}

// mustReconcile checks what was reconciled since the last time, in all of the
// test's namespaces, and that the caches equal the server's lists.
func (r *running) mustReconcile(t *testing.T, prefix string, want ...string) {
	t.Helper()
	var got []string
	times := 0
	for key, n := range r.take() {
		if name := strings.Fields(key)[1]; strings.HasPrefix(name, prefix) {
			got = append(got, strings.Replace(key, prefix, "", 1))
			times += n
		}
	}
	slices.Sort(got)
	slices.Sort(want)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("reconciled (-want +got):\n%s", diff)
	}
	t.Logf("%d keys, %d reconciliations", len(got), times)
	r.mustEqualServer(t)
	for _, complaint := range r.complaints() {
		t.Error(complaint)
	}
}

// mustEqualServer compares the caches of all projections with fresh lists.
func (r *running) mustEqualServer(t *testing.T) {
	t.Helper()
	for _, list := range []client.ObjectList{&appsv1.DeploymentList{}, websiteList(), secretMetadataList()} {
		there, cached := list, list.DeepCopyObject().(client.ObjectList)
		eventually(t, fmt.Sprintf("the cache of %T equals the server's list", list), func() error {
			if err := r.world.client.List(t.Context(), there); err != nil {
				return err
			}
			if err := r.manager.GetCache().List(t.Context(), cached); err != nil {
				return err
			}
			if diff := cmp.Diff(versions(t, there), versions(t, cached)); diff != "" {
				return errors.New("(-server +cache):\n" + diff)
			}
			return nil
		})
	}
}

func versions(t *testing.T, list client.ObjectList) map[string]string {
	t.Helper()
	found := map[string]string{}
	objects, err := meta.ExtractList(list)
	if err != nil {
		t.Fatal(err)
	}
	for _, o := range objects {
		obj := o.(client.Object)
		found[client.ObjectKeyFromObject(obj).String()] = obj.GetResourceVersion()
	}
	return found
}

// snapshots returns what every informer of a registry says of itself, by name.
func snapshots(t *testing.T, r *engine.Registry) map[string]inspect.Snapshot {
	t.Helper()
	summaries, err := r.Informers(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	found := map[string]inspect.Snapshot{}
	for _, s := range summaries {
		inspector, _, err := r.Informer(s.Name)
		if err != nil {
			t.Fatal(err)
		}
		if found[s.Name], err = inspector.Snapshot(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	return found
}

// table writes the informers and their handlers as lines for people.
func table(found map[string]inspect.Snapshot) string {
	var text strings.Builder
	w := tabwriter.NewWriter(&text, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "INFORMER\tSTATE\tSYNCED\tOBJECTS\tINDICES\tHANDLER\tPENDING\tDELIVERED\tLATE-JOIN\tWATCH")
	for _, name := range slices.Sorted(maps.Keys(found)) {
		s := found[name]
		fmt.Fprintf(w, "%s\t%s\t%v\t%d\t%d\t\t\t\t\t\n", name, s.Informer.State, s.Informer.Synced, s.Store.Objects, len(s.Indices))
		for _, l := range s.Listeners {
			fmt.Fprintf(w, "\t\t\t\t\t%s\t%d\t%d\t%d\t%d\n", l.Name, l.Pending, l.Delivered, l.Causes.LateJoin, l.Causes.Watch)
		}
	}
	w.Flush()
	return text.String()
}
