package engine

import (
	"context"
	"fmt"
	"reflect"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	dynamicfake "k8s.io/client-go/dynamic/fake"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/kubernetes/fake"
	"k8s.io/client-go/kubernetes/scheme"
	metadatafake "k8s.io/client-go/metadata/fake"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/util/workqueue"
)

var podResource = corev1.SchemeGroupVersion.WithResource("pods")

// listWatch turns the two functions of a client into a ListerWatcher as the
// generated informers do, which asks the client whether it can stream lists.
func listWatch[L runtime.Object](
	client any,
	list func(context.Context, metav1.ListOptions) (L, error),
	watcher func(context.Context, metav1.ListOptions) (watch.Interface, error),
) cache.ListerWatcher {
	return cache.ToListWatcherWithWatchListSemantics(&cache.ListWatch{
		ListWithContextFunc: func(ctx context.Context, o metav1.ListOptions) (runtime.Object, error) {
			return list(ctx, o)
		},
		WatchFuncWithContext: watcher,
	}, client)
}

func podsOf(client kubernetes.Interface) cache.ListerWatcher {
	pods := client.CoreV1().Pods(metav1.NamespaceAll)
	return listWatch(client, pods.List, pods.Watch)
}

// podInformer is what InformerFor asks for: ours, on the client of a factory.
func podInformer(client kubernetes.Interface, resync time.Duration) cache.SharedIndexInformer {
	return NewSharedIndexInformer(podsOf(client), &corev1.Pod{}, resync, cache.Indexers{cache.NamespaceIndex: cache.MetaNamespaceIndexFunc})
}

// TestFakeClientsCanBeInformedFrom is about the fakes that operators are tested
// with: none of them can stream a list, and an informer that asks for it never
// syncs.
func TestFakeClientsCanBeInformedFrom(t *testing.T) {
	a, b := pod("a"), pod("b")
	untyped := func(p *corev1.Pod) *unstructured.Unstructured {
		object, err := runtime.DefaultUnstructuredConverter.ToUnstructured(p)
		if err != nil {
			t.Fatal(err)
		}
		u := &unstructured.Unstructured{Object: object}
		u.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind("Pod"))
		return u
	}
	partial := func(p *corev1.Pod) *metav1.PartialObjectMetadata {
		m := &metav1.PartialObjectMetadata{ObjectMeta: p.ObjectMeta}
		m.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind("Pod"))
		return m
	}
	for _, c := range []struct {
		name string
		// open returns where to list and watch, what is there, how to add b, and
		// how to delete a.
		open func() (lw cache.ListerWatcher, example runtime.Object, add, remove func(context.Context) error)
	}{
		{"kubernetes", func() (cache.ListerWatcher, runtime.Object, func(context.Context) error, func(context.Context) error) {
			client := fake.NewClientset(a)
			pods := client.CoreV1().Pods("ns")
			return podsOf(client), &corev1.Pod{}, func(ctx context.Context) error {
					_, err := pods.Create(ctx, b, metav1.CreateOptions{})
					return err
				}, func(ctx context.Context) error {
					return pods.Delete(ctx, "a", metav1.DeleteOptions{})
				}
		}},
		{"dynamic", func() (cache.ListerWatcher, runtime.Object, func(context.Context) error, func(context.Context) error) {
			client := dynamicfake.NewSimpleDynamicClient(scheme.Scheme, untyped(a))
			all, pods := client.Resource(podResource), client.Resource(podResource).Namespace("ns")
			return listWatch(client, all.List, all.Watch), &unstructured.Unstructured{}, func(ctx context.Context) error {
					_, err := pods.Create(ctx, untyped(b), metav1.CreateOptions{})
					return err
				}, func(ctx context.Context) error {
					return pods.Delete(ctx, "a", metav1.DeleteOptions{})
				}
		}},
		{"metadata", func() (cache.ListerWatcher, runtime.Object, func(context.Context) error, func(context.Context) error) {
			s := metadatafake.NewTestScheme()
			if err := metav1.AddMetaToScheme(s); err != nil {
				t.Fatal(err)
			}
			client := metadatafake.NewSimpleMetadataClient(s, partial(a))
			all, pods := client.Resource(podResource), client.Resource(podResource).Namespace("ns")
			return listWatch(client, all.List, all.Watch), &metav1.PartialObjectMetadata{}, func(context.Context) error {
					return client.Tracker().Create(podResource, partial(b), "ns")
				}, func(ctx context.Context) error {
					return pods.Delete(ctx, "a", metav1.DeleteOptions{})
				}
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				lw, example, add, remove := c.open()
				i := New(lw, example, Options{})
				told := &names{}
				must[cache.ResourceEventHandlerRegistration](t)(i.AddEventHandler(told))
				defer run(i)()
				synctest.Wait()
				if !i.HasSynced() {
					t.Fatal("the informer has not synced")
				}
				for _, change := range []func(context.Context) error{add, remove} {
					if err := change(t.Context()); err != nil {
						t.Fatal(err)
					}
					synctest.Wait()
				}
				if diff := cmp.Diff([]string{"add a", "add b", "delete a"}, told.all()); diff != "" {
					t.Errorf("told (-want +got):\n%s", diff)
				}
				if keys := i.GetStore().ListKeys(); !slices.Equal(keys, []string{"ns/b"}) {
					t.Errorf("the store holds %v", keys)
				}
			})
		})
	}
}

// names is a handler that writes down the names it is told of: not every fake
// knows resource versions.
type names struct {
	mu   sync.Mutex
	told []string
}

func (n *names) note(verb string, obj any) {
	m, err := meta.Accessor(obj)
	if err != nil {
		panic(err)
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	n.told = append(n.told, verb+" "+m.GetName())
}

func (n *names) OnAdd(obj any, _ bool) { n.note("add", obj) }
func (n *names) OnUpdate(_, obj any)   { n.note("update", obj) }
func (n *names) OnDelete(obj any)      { n.note("delete", obj) }
func (n *names) all() (told []string)  { n.mu.Lock(); defer n.mu.Unlock(); return slices.Clone(n.told) }

// TestAFactoryGivesOurInformerToEverybody puts an informer of ours where a
// factory keeps its own, and uses it as generated code does.
func TestAFactoryGivesOurInformerToEverybody(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client := fake.NewClientset(pod("a", "app", "web"), pod("b", "app", "db"))
		ctx, cancel := context.WithCancel(t.Context())
		stripped := func(obj any) (any, error) {
			obj.(*corev1.Pod).Annotations = map[string]string{"transformed": "yes"}
			return obj, nil
		}
		factory := informers.NewSharedInformerFactoryWithOptions(client, time.Hour, informers.WithTransform(stripped))
		ours, isOurs := factory.InformerFor(&corev1.Pod{}, podInformer).(*Informer)
		if !isOurs {
			t.Fatal("the factory has no informer of ours")
		}
		pods := factory.Core().V1().Pods()
		registration := must[cache.ResourceEventHandlerRegistration](t)(pods.Informer().AddEventHandler(&names{}))
		if got := snapshot(t, ours); len(got.Listeners) != 1 || got.Resync.CheckPeriod != time.Hour {
			t.Errorf("%d listeners, resync every %v, want the one just added and the factory's hour", len(got.Listeners), got.Resync.CheckPeriod)
		}
		lister := pods.Lister()
		factory.StartWithContext(ctx)
		if err := factory.WaitForCacheSyncWithContext(ctx).AsError(); err != nil {
			t.Fatal(err)
		}
		if synced := factory.WaitForCacheSync(ctx.Done()); !synced[reflect.TypeFor[*corev1.Pod]()] {
			t.Errorf("synced: %v", synced)
		}
		if !cache.WaitFor(ctx, "the handler", registration.HasSyncedChecker(), ours.HasSyncedChecker()) {
			t.Error("the handler has not synced")
		}
		if !cache.WaitForCacheSync(ctx.Done(), pods.Informer().HasSynced, registration.HasSynced) {
			t.Error("the handler has not synced, as client-go asks for it")
		}
		found := must[[]*corev1.Pod](t)(lister.Pods("ns").List(labels.SelectorFromSet(labels.Set{"app": "db"})))
		if len(found) != 1 || found[0].Name != "b" || found[0].Annotations["transformed"] != "yes" {
			t.Errorf("the lister found %v, want b, transformed", found)
		}
		if _, err := lister.Pods("elsewhere").Get("a"); err == nil {
			t.Error("the lister found a where it is not")
		}
		cancel()
		factory.Shutdown()
		if !ours.IsStopped() {
			t.Error("the factory has shut down and the informer has not stopped")
		}
	})
}

// TestATypedInformerCanBeMadeOfOurs is about client-go's type-safe view.
func TestATypedInformerCanBeMadeOfOurs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client := fake.NewClientset(pod("a", "app", "web"))
		ours := podInformer(client, 0).(*Informer)
		typed := cache.NewTypedSharedIndexInformer[*corev1.Pod](ours)
		if err := typed.AddTypedIndexers(cache.TypedIndexers[*corev1.Pod]{
			"app": func(p *corev1.Pod) ([]string, error) { return []string{p.Labels["app"]}, nil },
		}); err != nil {
			t.Fatal(err)
		}
		var told []string
		must[cache.ResourceEventHandlerRegistration](t)(typed.AddTypedEventHandler(cache.TypedResourceEventHandlerFuncs[*corev1.Pod]{
			AddFunc:    func(p *corev1.Pod) { told = append(told, "add "+p.Name) },
			UpdateFunc: func(_, p *corev1.Pod) { told = append(told, "update "+p.Name) },
			DeleteFunc: func(p cache.DeletedObject[*corev1.Pod]) { told = append(told, "delete "+p.GetKey()) },
		}))
		if got := snapshot(t, ours).Listeners[0].Name; got != "engine.TestATypedInformerCanBeMadeOfOurs" {
			t.Errorf("the handler is called %q, want it to be named after its function", got)
		}
		stop := run(ours)
		synctest.Wait()
		indexer := typed.GetTypedIndexer()
		web := must[[]*corev1.Pod](t)(indexer.ByTypedIndex("app", "web"))
		if len(web) != 1 || web[0].Name != "a" {
			t.Errorf("the index has %v under web, want a", web)
		}
		pods := client.CoreV1().Pods("ns")
		must[*corev1.Pod](t)(pods.Update(t.Context(), pod("a", "app", "db"), metav1.UpdateOptions{}))
		synctest.Wait()
		if err := pods.Delete(t.Context(), "a", metav1.DeleteOptions{}); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		stop()
		if diff := cmp.Diff([]string{"add a", "update a", "delete ns/a"}, told); diff != "" {
			t.Errorf("told (-want +got):\n%s", diff)
		}
	})
}

// TestAHandlerCanBeShutDown: client-go's helper waits for the call under way,
// which it can only if the registration says when that is over.
func TestAHandlerCanBeShutDown(t *testing.T) {
	inBubble(t, Options{}, func(t *testing.T, s server, i *Informer) {
		r := &recorder{hold: make(chan struct{})}
		registration := must[cache.ResourceEventHandlerRegistration](t)(i.AddEventHandler(r))
		s.Add(pod("a"))
		defer run(i)()
		synctest.Wait()
		ended := make(chan error, 1)
		go func() { ended <- cache.ShutDownEventHandler(i, registration) }()
		synctest.Wait()
		select {
		case err := <-ended:
			t.Fatalf("shut down amid a call: %v", err)
		default:
		}
		close(r.hold)
		if err := <-ended; err != nil {
			t.Fatal(err)
		}
		s.Add(pod("b"))
		synctest.Wait()
		if diff := cmp.Diff([]string{"add a@1 initially"}, r.all()); diff != "" {
			t.Errorf("told (-want +got):\n%s", diff)
		}
	})
}

// loop is a controller as people write it on a work queue: handlers enqueue
// keys, and a worker compares what it wants with what the cache has.
type loop struct {
	queue  workqueue.TypedRateLimitingInterface[string]
	store  cache.Store
	client kubernetes.Interface
	fail   int // how many times the first key fails yet
}

func (l *loop) enqueue(obj any) {
	if key, err := cache.DeletionHandlingMetaNamespaceKeyFunc(obj); err == nil {
		l.queue.Add(key)
	}
}

func (l *loop) work(ctx context.Context) {
	for {
		key, shutdown := l.queue.Get()
		if shutdown {
			return
		}
		if err := l.label(ctx, key); err != nil {
			l.queue.AddRateLimited(key)
		} else {
			l.queue.Forget(key)
		}
		l.queue.Done(key)
	}
}

// label gives a pod the label that all are to have.
func (l *loop) label(ctx context.Context, key string) error {
	obj, exists, err := l.store.GetByKey(key)
	if err != nil || !exists {
		return err
	}
	if l.fail > 0 {
		l.fail--
		return fmt.Errorf("%s: not yet", key)
	}
	p := obj.(*corev1.Pod)
	if p.Labels["seen"] == "yes" {
		return nil
	}
	p = p.DeepCopy()
	p.Labels = map[string]string{"seen": "yes"}
	_, err = l.client.CoreV1().Pods(p.Namespace).Update(ctx, p, metav1.UpdateOptions{})
	return err
}

func TestAControllerLoopConverges(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client := fake.NewClientset()
		for n := range 20 {
			if err := client.Tracker().Add(pod(fmt.Sprintf("p%02d", n))); err != nil {
				t.Fatal(err)
			}
		}
		i := podInformer(client, 0)
		l := &loop{
			queue:  workqueue.NewTypedRateLimitingQueue(workqueue.DefaultTypedControllerRateLimiter[string]()),
			store:  i.GetStore(),
			client: client,
			fail:   5,
		}
		must[cache.ResourceEventHandlerRegistration](t)(i.AddEventHandler(cache.ResourceEventHandlerFuncs{
			AddFunc:    l.enqueue,
			UpdateFunc: func(_, obj any) { l.enqueue(obj) },
			DeleteFunc: l.enqueue,
		}))
		stop := run(i)
		if !cache.WaitForCacheSync(t.Context().Done(), i.HasSynced) {
			t.Fatal("the informer has not synced")
		}
		worker := make(chan struct{})
		go func() {
			defer close(worker)
			l.work(t.Context())
		}()
		time.Sleep(time.Minute) // of the bubble: for what failed to come again
		list := must[*corev1.PodList](t)(client.CoreV1().Pods("ns").List(t.Context(), metav1.ListOptions{LabelSelector: "seen=yes"}))
		if len(list.Items) != 20 {
			t.Errorf("%d pods have the label, want all 20", len(list.Items))
		}
		for _, obj := range i.GetStore().List() {
			if p := obj.(*corev1.Pod); p.Labels["seen"] != "yes" {
				t.Errorf("the cache has %s without the label", p.Name)
			}
		}
		l.queue.ShutDown()
		<-worker
		stop()
	})
}
