package main

import (
	"context"
	"fmt"
	"io"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/clientcmd"
)

// syncedLine is what the stock program prints when its cache is full.
const syncedLine = "synced"

// runStock is the program to compare with: what the smallest controller does. It
// caches all pods, indexed by namespace, with one handler that does nothing.
func runStock(ctx context.Context, kubeconfig string, out io.Writer) error {
	client, err := newClient(kubeconfig)
	if err != nil {
		return err
	}
	factory := informers.NewSharedInformerFactory(client, 0)
	informer := factory.Core().V1().Pods().Informer()
	if _, err := informer.AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc: func(any) {}, UpdateFunc: func(any, any) {}, DeleteFunc: func(any) {},
	}); err != nil {
		return fmt.Errorf("add a handler: %w", err)
	}
	factory.StartWithContext(ctx)
	defer factory.Shutdown()
	if !cache.WaitForCacheSync(ctx.Done(), informer.HasSynced) {
		return fmt.Errorf("the stock informer has not synced: %w", context.Cause(ctx))
	}
	fmt.Fprintln(out, syncedLine)
	<-ctx.Done()
	return nil
}

func newClient(kubeconfig string) (kubernetes.Interface, error) {
	config, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	if err != nil {
		return nil, fmt.Errorf("read the kubeconfig: %w", err)
	}
	config.ContentType = runtime.ContentTypeProtobuf
	config.AcceptContentTypes = runtime.ContentTypeProtobuf + "," + runtime.ContentTypeJSON
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return nil, fmt.Errorf("make a client: %w", err)
	}
	return client, nil
}

// countPods asks for one pod and how many more there are.
func countPods(ctx context.Context, kubeconfig string) (int, error) {
	client, err := newClient(kubeconfig)
	if err != nil {
		return 0, err
	}
	list, err := client.CoreV1().Pods(corev1.NamespaceAll).List(ctx, metav1.ListOptions{Limit: 1})
	if err != nil {
		return 0, fmt.Errorf("count the pods: %w", err)
	}
	count := len(list.Items)
	if list.RemainingItemCount != nil {
		count += int(*list.RemainingItemCount)
	}
	return count, nil
}
