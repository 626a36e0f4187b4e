package inprocess_test

import (
	"context"
	"fmt"
	"maps"
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

// patience bounds every wait for the informer; it says nothing about speed. Each
// time the server goes away, informers wait longer before they try again, up to
// a minute.
const patience = 120 * time.Second

// subject is a running informer with one handler.
type subject struct {
	name     string
	informer cache.SharedIndexInformer
	recorder *recorder
}

// fixture is a cluster, a client with every right, and informers on its pods.
type fixture struct {
	cluster  *testcluster.Cluster
	client   kubernetes.Interface
	subjects []*subject
}

// newFixture starts the server and the informers: ours as a drop-in, on both
// queues, and client-go's, which shows that what is asked here can be had.
func newFixture(t *testing.T) *fixture {
	t.Helper()
	f := &fixture{cluster: testcluster.ForTest(t)}
	config, err := f.cluster.Config(testcluster.Admin)
	if err != nil {
		t.Fatal(err)
	}
	config.ContentType = runtime.ContentTypeProtobuf
	config.AcceptContentTypes = runtime.ContentTypeProtobuf + "," + runtime.ContentTypeJSON
	if f.client, err = kubernetes.NewForConfig(config); err != nil {
		t.Fatal(err)
	}
	indexers := cache.Indexers{cache.NamespaceIndex: cache.MetaNamespaceIndexFunc}
	f.run(t, "engine.NewSharedIndexInformer", engine.NewSharedIndexInformer(f.listWatch(), &corev1.Pod{}, 0, indexers))
	f.run(t, "engine.New on InOrder", engine.New(f.listWatch(), &corev1.Pod{}, engine.Options{Queue: engine.InOrder, Indexers: indexers}))
	f.run(t, "client-go", cache.NewSharedIndexInformer(f.listWatch(), &corev1.Pod{}, 0, indexers))
	return f
}

func (f *fixture) listWatch() *cache.ListWatch {
	return cache.NewListWatchFromClient(f.client.CoreV1().RESTClient(), "pods", metav1.NamespaceAll, fields.Everything())
}

// run runs the informer until the test ends and waits for its first list.
func (f *fixture) run(t *testing.T, name string, informer cache.SharedIndexInformer) {
	t.Helper()
	s := &subject{name: name, informer: informer, recorder: newRecorder()}
	f.subjects = append(f.subjects, s)
	if _, err := informer.AddEventHandler(s.recorder); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		informer.RunWithContext(ctx)
	}()
	t.Cleanup(func() {
		cancel()
		<-ended
	})
	timeout, stop := context.WithTimeout(ctx, patience)
	defer stop()
	if !cache.WaitForCacheSync(timeout.Done(), informer.HasSynced) {
		t.Fatalf("%s has not synced within %s", name, patience)
	}
}

// stored is what the cache holds.
func (s *subject) stored() versions {
	held := versions{}
	for _, obj := range s.informer.GetStore().List() {
		pod := obj.(*corev1.Pod)
		held[pod.Namespace+"/"+pod.Name] = pod.ResourceVersion
	}
	return held
}

// mustEqual waits until the cache and the recorder know what the server was
// found to hold; nothing may change the server meanwhile.
func (s *subject) mustEqual(t *testing.T, want versions, told *recorder) {
	t.Helper()
	begun := time.Now()
	deadline := begun.Add(patience)
	for time.Now().Before(deadline) {
		if maps.Equal(s.stored(), want) && maps.Equal(told.versions(), want) {
			break
		}
		time.Sleep(20 * time.Millisecond)
	}
	t.Logf("%s: equal after %s", s.name, time.Since(begun).Round(time.Millisecond))
	if diff := cmp.Diff(want, s.stored()); diff != "" {
		t.Errorf("%s: the cache differs from the server's list (-server +cache):\n%s", s.name, diff)
	}
	if diff := cmp.Diff(want, told.versions()); diff != "" {
		t.Errorf("%s: what the handler was told differs from the server's list (-server +handler):\n%s", s.name, diff)
	}
	indexed, err := s.informer.GetIndexer().ByIndex(cache.NamespaceIndex, "default")
	if err != nil {
		t.Fatal(err)
	}
	if len(indexed) != len(want) {
		t.Errorf("%s: the namespace index holds %d pods, the server %d", s.name, len(indexed), len(want))
	}
	for _, complaint := range told.complaints() {
		t.Errorf("%s: the handler was told of an %s", s.name, complaint)
	}
}

// mustEqualServer compares every informer with a fresh LIST.
func (f *fixture) mustEqualServer(t *testing.T) {
	t.Helper()
	want := f.listed(t)
	for _, s := range f.subjects {
		s.mustEqual(t, want, s.recorder)
	}
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
