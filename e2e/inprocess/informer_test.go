package inprocess_test

import (
	"context"
	"fmt"
	"maps"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sync/errgroup"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"

	"github.com/informeter/informeter/engine"

	"github.com/informeter/informeter/e2e/testcluster"
)

// patience bounds every wait for the informer; it says nothing about speed.
const patience = 120 * time.Second

// versions are resource versions by key.
type versions map[string]string

// recorder is a handler that keeps what a controller would know: the newest
// version it was told of each object.
type recorder struct {
	mu    sync.Mutex
	known versions // guarded by mu
	// broken holds what no handler may be told: guarded by mu.
	broken []string
}

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

// fixture is a cluster, a client and a running informer on its pods.
type fixture struct {
	cluster  *testcluster.Cluster
	client   kubernetes.Interface
	informer cache.SharedIndexInformer
	recorder *recorder
}

// newFixture starts all three.
func newFixture(t *testing.T) *fixture {
	t.Helper()
	f := &fixture{cluster: testcluster.ForTest(t), recorder: &recorder{known: versions{}}}
	config, err := f.cluster.Config(testcluster.Admin)
	if err != nil {
		t.Fatal(err)
	}
	config.ContentType = runtime.ContentTypeProtobuf
	config.AcceptContentTypes = runtime.ContentTypeProtobuf + "," + runtime.ContentTypeJSON
	if f.client, err = kubernetes.NewForConfig(config); err != nil {
		t.Fatal(err)
	}
	lw := cache.NewListWatchFromClient(f.client.CoreV1().RESTClient(), "pods", metav1.NamespaceAll, fields.Everything())
	f.informer = engine.NewSharedIndexInformer(lw, &corev1.Pod{}, 0, cache.Indexers{cache.NamespaceIndex: cache.MetaNamespaceIndexFunc})
	if _, err := f.informer.AddEventHandler(f.recorder); err != nil {
		t.Fatal(err)
	}
	f.run(t)
	return f
}

// run runs the informer until the test ends and waits for its first list.
func (f *fixture) run(t *testing.T) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		f.informer.RunWithContext(ctx)
	}()
	t.Cleanup(func() {
		cancel()
		<-ended
	})
	timeout, stop := context.WithTimeout(ctx, patience)
	defer stop()
	if !cache.WaitForCacheSync(timeout.Done(), f.informer.HasSynced) {
		t.Fatalf("the informer has not synced within %s", patience)
	}
}

// stored is what the cache holds.
func (f *fixture) stored() versions {
	held := versions{}
	for _, obj := range f.informer.GetStore().List() {
		pod := obj.(*corev1.Pod)
		held[pod.Namespace+"/"+pod.Name] = pod.ResourceVersion
	}
	return held
}

// listed is what the server holds.
func (f *fixture) listed(t *testing.T) versions {
	t.Helper()
	list, err := f.client.CoreV1().Pods("").List(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	there := versions{}
	for _, pod := range list.Items {
		there[pod.Namespace+"/"+pod.Name] = pod.ResourceVersion
	}
	return there
}

// mustEqualServer waits until the cache and the handler know what a fresh LIST
// says; nothing may change the server meanwhile.
func (f *fixture) mustEqualServer(t *testing.T) {
	t.Helper()
	want := f.listed(t)
	deadline := time.Now().Add(patience)
	for time.Now().Before(deadline) {
		if maps.Equal(f.stored(), want) && maps.Equal(f.recorder.versions(), want) {
			break
		}
		time.Sleep(20 * time.Millisecond)
	}
	if diff := cmp.Diff(want, f.stored()); diff != "" {
		t.Errorf("the cache differs from the server's list (-server +cache):\n%s", diff)
	}
	if diff := cmp.Diff(want, f.recorder.versions()); diff != "" {
		t.Errorf("what the handler was told differs from the server's list (-server +handler):\n%s", diff)
	}
	indexed, err := f.informer.GetIndexer().ByIndex(cache.NamespaceIndex, "default")
	if err != nil {
		t.Fatal(err)
	}
	if len(indexed) != len(want) {
		t.Errorf("the namespace index holds %d pods, the server %d", len(indexed), len(want))
	}
	f.recorder.mu.Lock()
	defer f.recorder.mu.Unlock()
	for _, complaint := range f.recorder.broken {
		t.Error(complaint)
	}
}

// change makes five changes to each pod of the round: create, three updates, and
// then a deletion of every other pod, and a late pod for each that stays.
func (f *fixture) change(t *testing.T, round string, pods int) {
	t.Helper()
	var changes errgroup.Group
	changes.SetLimit(8)
	for i := range pods {
		changes.Go(func() error { return f.fiveChanges(t.Context(), fmt.Sprintf("%s-%03d", round, i), i%2 == 0) })
	}
	if err := changes.Wait(); err != nil {
		t.Fatal(err)
	}
}

func (f *fixture) fiveChanges(ctx context.Context, name string, remove bool) error {
	pods := f.client.CoreV1().Pods("default")
	pod, err := pods.Create(ctx, newPod(name), metav1.CreateOptions{})
	if err != nil {
		return fmt.Errorf("create %s: %w", name, err)
	}
	for round := range 3 {
		pod.Labels = map[string]string{"round": fmt.Sprint(round)}
		if pod, err = pods.Update(ctx, pod, metav1.UpdateOptions{}); err != nil {
			return fmt.Errorf("update %s: %w", name, err)
		}
	}
	if remove {
		return f.remove(ctx, name)
	}
	if _, err := pods.Create(ctx, newPod(name+"-late"), metav1.CreateOptions{}); err != nil {
		return fmt.Errorf("create %s-late: %w", name, err)
	}
	return nil
}

func (f *fixture) remove(ctx context.Context, name string) error {
	now := int64(0) // no kubelet would confirm an end with grace
	err := f.client.CoreV1().Pods("default").Delete(ctx, name, metav1.DeleteOptions{GracePeriodSeconds: &now})
	if err != nil {
		return fmt.Errorf("delete %s: %w", name, err)
	}
	return nil
}

func newPod(name string) *corev1.Pod {
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "main", Image: "example.com/main:1"}}},
	}
}
