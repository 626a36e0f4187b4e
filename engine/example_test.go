package engine_test

import (
	"context"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/kubernetes/fake"
	"k8s.io/client-go/tools/cache"

	"github.com/informeter/informeter/engine"
)

// pods lists and watches the pods of all namespaces.
func pods(client kubernetes.Interface) cache.ListerWatcher {
	return cache.ToListWatcherWithWatchListSemantics(&cache.ListWatch{
		ListWithContextFunc: func(ctx context.Context, o metav1.ListOptions) (runtime.Object, error) {
			return client.CoreV1().Pods("").List(ctx, o)
		},
		WatchFuncWithContext: func(ctx context.Context, o metav1.ListOptions) (watch.Interface, error) {
			return client.CoreV1().Pods("").Watch(ctx, o)
		},
	}, client)
}

func web(name string) *corev1.Pod {
	return &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name}}
}

// An informer that can be looked into while it runs.
func ExampleNew() {
	ctx, cancel := context.WithCancel(context.Background())
	informer := engine.New(pods(fake.NewClientset(web("web-0"))), &corev1.Pod{}, engine.Options{Name: "pods"})
	handle, err := informer.AddNamedEventHandler("greeter", cache.ResourceEventHandlerFuncs{
		AddFunc: func(obj any) { fmt.Println("hello,", obj.(*corev1.Pod).Name) },
	}, cache.HandlerOptions{})
	if err != nil {
		fmt.Println(err)
	}
	stopped := make(chan struct{})
	go func() { defer close(stopped); informer.RunWithContext(ctx) }()

	cache.WaitFor(ctx, "", handle.HasSyncedChecker())
	s, err := informer.Snapshot(ctx)
	fmt.Println(s.Informer.Synced, s.Store.Objects, s.Listeners[0].Name, s.Listeners[0].Pending, err)
	cancel()
	<-stopped
	// Output:
	// hello, web-0
	// true 1 greeter 0 <nil>
}

// In place of client-go's informer, in a generated factory: whoever asks the
// factory for pods is given this one.
func ExampleNewSharedIndexInformer() {
	ctx, cancel := context.WithCancel(context.Background())
	factory := informers.NewSharedInformerFactory(fake.NewClientset(web("web-0"), web("web-1")), 0)
	factory.InformerFor(&corev1.Pod{}, func(client kubernetes.Interface, resync time.Duration) cache.SharedIndexInformer {
		return engine.NewSharedIndexInformer(pods(client), &corev1.Pod{}, resync, cache.Indexers{
			cache.NamespaceIndex: cache.MetaNamespaceIndexFunc,
		})
	})
	lister := factory.Core().V1().Pods().Lister()
	factory.Start(ctx.Done())
	factory.WaitForCacheSync(ctx.Done())
	list, err := lister.Pods("default").List(labels.Everything())
	fmt.Println(len(list), err)
	cancel()
	factory.Shutdown()
	// Output: 2 <nil>
}
