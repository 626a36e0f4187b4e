package demo

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"

	"github.com/informeter/informeter/engine/source"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// quick are options without delays.
func quick() Options { return Options{Seed: 7, Latency: -1} }

// run runs a cluster in a bubble until the test function ends.
func run(t *testing.T, o Options, test func(t *testing.T, c *Cluster)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		c, err := New(o)
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan struct{})
		go func() {
			defer close(done)
			c.Run(ctx)
		}()
		test(t, c)
		cancel()
		<-done
	})
}

func sourceOf(t *testing.T, c *Cluster, name, namespace string) source.Source {
	t.Helper()
	s, err := c.Sources([]string{name}, namespace)
	if err != nil {
		t.Fatal(err)
	}
	return s[0]
}

// versions lists a source and returns resourceVersion and UID by key.
func versions(t *testing.T, lw cache.ListerWatcher) map[string]string {
	t.Helper()
	list, err := listFrom(lw, metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	objects, err := meta.ExtractList(list)
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]string{}
	for _, o := range objects {
		all[keyOf(o.(object))] = fmt.Sprintf("%s %s", o.(object).GetResourceVersion(), o.(object).GetUID())
	}
	return all
}

func TestAClusterLooksLikeOneAtTheStart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, err := New(quick())
		if err != nil {
			t.Fatal(err)
		}
		list, err := listFrom(sourceOf(t, c, "pods", "").ListerWatcher, metav1.ListOptions{})
		if err != nil {
			t.Fatal(err)
		}
		items := list.(*corev1.PodList).Items
		if len(items) != 180 {
			t.Errorf("%d pods, want 180", len(items))
		}
		namespaces, owners, placed := map[string]int{}, map[string]int{}, map[string]int{}
		for _, p := range items {
			namespaces[p.Namespace]++
			owners[p.Namespace+"/"+p.Labels["app"]]++
			placed[p.Spec.NodeName]++
			owner := metav1.GetControllerOf(&p)
			if owner == nil || owner.Kind != "ReplicaSet" || !strings.HasPrefix(p.Name, owner.Name+"-") {
				t.Fatalf("%s is owned by %v", p.Name, owner)
			}
			if p.Labels["pod-template-hash"] == "" || p.Labels["tier"] == "" {
				t.Fatalf("%s has labels %v", p.Name, p.Labels)
			}
			if len(p.Spec.Containers) != 2 || len(p.Status.ContainerStatuses) != 2 || len(p.ManagedFields) != 2 {
				t.Fatalf("%s has %d containers, %d statuses and %d managers, want 2 of each",
					p.Name, len(p.Spec.Containers), len(p.Status.ContainerStatuses), len(p.ManagedFields))
			}
			if p.Status.Phase != corev1.PodRunning || p.Status.PodIP == "" || !isReady(&p) {
				t.Fatalf("%s is %s at %q with conditions %v", p.Name, p.Status.Phase, p.Status.PodIP, p.Status.Conditions)
			}
			if age := time.Since(p.CreationTimestamp.Time); age < time.Minute {
				t.Fatalf("%s is %v old", p.Name, age)
			}
		}
		if len(namespaces) != 4 || len(owners) != 12 || len(placed) != 8 {
			t.Errorf("pods of %d namespaces, %d apps, on %d nodes; want 4, 12, 8", len(namespaces), len(owners), len(placed))
		}
		if got := len(versions(t, sourceOf(t, c, "deploy", "").ListerWatcher)); got != 12 {
			t.Errorf("%d deployments, want 12", got)
		}
		if got := len(versions(t, sourceOf(t, c, "nodes", "").ListerWatcher)); got != 8 {
			t.Errorf("%d nodes, want 8", got)
		}
	})
}

func isReady(p *corev1.Pod) bool {
	return slices.ContainsFunc(p.Status.Conditions, func(c corev1.PodCondition) bool {
		return c.Type == corev1.PodReady && c.Status == corev1.ConditionTrue
	})
}

// diary watches a source from the start for a while and returns what it was
// told, one line an event, with the whole object.
func diary(t *testing.T, o Options, name string, d time.Duration) []string {
	t.Helper()
	var lines []string
	run(t, o, func(t *testing.T, c *Cluster) {
		seconds := int64(d / time.Second)
		w, err := watchFrom(sourceOf(t, c, name, "").ListerWatcher, metav1.ListOptions{TimeoutSeconds: &seconds})
		if err != nil {
			t.Fatal(err)
		}
		for e := range w.ResultChan() {
			// In a bubble the clock is the same for all, so everything must be.
			text, err := json.Marshal(e.Object)
			if err != nil {
				t.Fatal(err)
			}
			lines = append(lines, string(e.Type)+" "+string(text))
		}
	})
	return lines
}

func TestOneSeedMakesOneHistory(t *testing.T) {
	for _, name := range []string{"pods", "deployments", "replicasets", "nodes"} {
		t.Run(name, func(t *testing.T) {
			const d = time.Minute
			one, two := diary(t, quick(), name, d), diary(t, quick(), name, d)
			if diff := cmp.Diff(one, two); diff != "" {
				t.Errorf("two clusters with one seed differ:\n%s", diff)
			}
			other := quick()
			other.Seed++
			if slices.Equal(one, diary(t, other, name, d)) {
				t.Error("another seed makes the same history")
			}
		})
	}
}

func TestTheNumberOfPodsAndEventsFollowsTheOptions(t *testing.T) {
	for _, c := range []struct{ pods, events int }{{180, 20}, {40, 20}, {2500, 20}, {600, 400}} {
		t.Run(fmt.Sprintf("pods=%d/events=%d", c.pods, c.events), func(t *testing.T) {
			o := quick()
			o.Pods, o.EventsPerSecond = c.pods, c.events
			const seconds = 37 // one wave
			lines := diary(t, o, "pods", seconds*time.Second)
			state := slices.IndexFunc(lines, func(l string) bool { return !strings.HasPrefix(l, "ADDED") })
			if share := float64(state) / float64(c.pods); share < 0.98 || share > 1.02 {
				t.Errorf("%d pods at the start, want about %d", state, c.pods)
			}
			rate := float64(len(lines)-state) / seconds
			if least := 0.75 * float64(c.events); rate < least {
				t.Errorf("%.1f events/s, want at least %.1f", rate, least)
			}
			// Releases come on top, and are as large as the cluster.
			if most := 1.4*float64(c.events) + float64(c.pods)/20; rate > most {
				t.Errorf("%.1f events/s, want at most %.1f", rate, most)
			}
		})
	}
}

func TestAnInformerOfClientGoFollowsThroughExpiry(t *testing.T) {
	for _, name := range []string{"pods", "deployments", "replicasets", "nodes"} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c, err := New(quick())
				if err != nil {
					t.Fatal(err)
				}
				var wg sync.WaitGroup
				moving, halt := context.WithCancel(t.Context())
				wg.Go(func() { c.world.run(moving) })
				s := sourceOf(t, c, name, "")
				counted := &counting{ListerWatcher: s.ListerWatcher}
				informer := cache.NewSharedIndexInformer(counted, s.Example, 0, s.Indexers)
				stop := make(chan struct{})
				wg.Go(func() { informer.Run(stop) })
				if !cache.WaitForCacheSync(stop, informer.HasSynced) {
					t.Fatal("not synced")
				}
				for range 4 {
					time.Sleep(5 * time.Second)
					c.server.expire(s.Resource)
					time.Sleep(5 * time.Second)
					// What is written before the client is back is forgotten, too.
					c.server.cut(s.Resource)
					c.server.compact(s.Resource)
					time.Sleep(5 * time.Second)
				}
				halt()
				time.Sleep(5 * time.Minute) // more than any backoff
				got := map[string]string{}
				for _, o := range informer.GetStore().List() {
					got[keyOf(o.(object))] = o.(object).GetResourceVersion() + " " + string(o.(object).GetUID())
				}
				if diff := cmp.Diff(versions(t, s.ListerWatcher), got); diff != "" {
					t.Errorf("the cache is not what the server has:\n%s", diff)
				}
				if n := counted.fromScratch.Load(); n < 5 {
					t.Errorf("the informer began from scratch %d times, want after each 410", n)
				}
				close(stop)
				c.server.shutDown()
				wg.Wait()
			})
		})
	}
}

// counting counts the requests that ask for all objects.
type counting struct {
	cache.ListerWatcher
	fromScratch atomic.Int64
}

func (c *counting) List(o metav1.ListOptions) (runtime.Object, error) {
	c.fromScratch.Add(1)
	return listFrom(c.ListerWatcher, o)
}

func (c *counting) Watch(o metav1.ListOptions) (watch.Interface, error) {
	if o.SendInitialEvents != nil {
		c.fromScratch.Add(1)
	}
	return watchFrom(c.ListerWatcher, o)
}

func TestSourcesTakesTheNamesThatKubectlTakes(t *testing.T) {
	c, err := New(Options{})
	if err != nil {
		t.Fatal(err)
	}
	for arg, want := range map[string]string{
		"pods": "pods", "pod": "pods", "po": "pods", "Pod": "pods", "pods/web-0": "pods/web-0",
		"deployments": "deployments.apps", "deployment": "deployments.apps", "deploy": "deployments.apps",
		"deployments.apps": "deployments.apps", "deployment.apps": "deployments.apps",
		"deployments.v1.apps": "deployments.apps", "deploy/web": "deployments.apps/web",
		"nodes": "nodes", "node": "nodes", "no": "nodes", "rs": "replicasets.apps",
	} {
		if got := sourceOf(t, c, arg, "").Name; got != want {
			t.Errorf("%s is %s, want %s", arg, got, want)
		}
	}
	several, err := c.Sources([]string{"pods,deploy", "node", "po"}, "")
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, s := range several {
		names = append(names, s.Name)
	}
	if diff := cmp.Diff([]string{"pods", "deployments.apps", "nodes"}, names); diff != "" {
		t.Errorf("sources in the order asked, each once:\n%s", diff)
	}
	none, err := c.Sources(nil, "")
	if err != nil || len(none) != 1 || none[0].Name != "pods" {
		t.Errorf("no resource is %v, %v; want pods", none, err)
	}
}

func TestSourcesNamesWhatIsNear(t *testing.T) {
	c, err := New(Options{})
	if err != nil {
		t.Fatal(err)
	}
	for arg, want := range map[string]string{
		"podz":        "did you mean pods?",
		"deploymnets": "did you mean deployments.apps?",
		"replica":     "did you mean replicasets.apps?",
		"noodes":      "did you mean nodes?",
		"nods":        "did you mean pods or nodes?",
		"secrets":     "it has pods, deployments.apps, replicasets.apps, nodes",
		"":            "a name is missing",
		"pods/a,b":    "a second object is written pods/b",
		"pods/":       "one object is written TYPE/NAME",
	} {
		_, err := c.Sources([]string{arg}, "")
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v; want it to say %q", arg, err, want)
		}
	}
}

func TestSourcesSayWhatTheyAre(t *testing.T) {
	c, err := New(Options{LabelSelector: "tier=backend"})
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []struct{ arg, namespace, scope, indices string }{
		{"pods", "", "all namespaces, tier=backend", "namespace node owner phase"},
		{"pods", "checkout", "namespace checkout, tier=backend", "namespace node owner phase"},
		{"deploy", "", "all namespaces, tier=backend", "namespace owner"},
		{"nodes", "checkout", "cluster, tier=backend", "owner"},
	} {
		s := sourceOf(t, c, want.arg, want.namespace)
		indices := strings.Join(slices.Sorted(maps.Keys(s.Indexers)), " ")
		if s.Scope != want.scope || indices != want.indices || s.Origin != "demo: steady" {
			t.Errorf("%s in %q: scope %q, indices %q, origin %q; want %q, %q, demo: steady",
				want.arg, want.namespace, s.Scope, indices, s.Origin, want.scope, want.indices)
		}
	}
}

func TestAnUnknownScenarioIsAnErrorThatNamesTheKnown(t *testing.T) {
	_, err := New(Options{Scenario: "stormy"})
	if err == nil || !strings.Contains(err.Error(), "stormy") || !strings.Contains(err.Error(), "steady") {
		t.Errorf("error %v; want it to name stormy and steady", err)
	}
}

func TestRunEndsEveryWatchAndRefusesWhatComesAfter(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, err := New(quick())
		if err != nil {
			t.Fatal(err)
		}
		lw := sourceOf(t, c, "pods", "").ListerWatcher
		w, err := watchFrom(lw, metav1.ListOptions{})
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		c.Run(ctx)
		// Nobody has read a single event, and still Run returned.
		for range w.ResultChan() {
			t.Error("an event after the end")
		}
		_, listErr := listFrom(lw, metav1.ListOptions{})
		_, watchErr := watchFrom(lw, metav1.ListOptions{})
		for _, err := range []error{listErr, watchErr} {
			if code := statusCode(err); code != 503 {
				t.Errorf("a request after the end: %v, want status 503", err)
			}
		}
	})
}

// listFrom and watchFrom ask as a client does that has nothing to cancel.
func listFrom(lw cache.ListerWatcher, o metav1.ListOptions) (runtime.Object, error) {
	return cache.ToListerWatcherWithContext(lw).ListWithContext(context.Background(), o)
}

func watchFrom(lw cache.ListerWatcher, o metav1.ListOptions) (watch.Interface, error) {
	return cache.ToListerWatcherWithContext(lw).WatchWithContext(context.Background(), o)
}
