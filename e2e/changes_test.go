package e2e_test

import (
	"context"
	"fmt"
	"net"
	"testing"

	"golang.org/x/sync/errgroup"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/resourceversion"
	typedcorev1 "k8s.io/client-go/kubernetes/typed/core/v1"

	"github.com/informeter/informeter/e2e/testcluster"
)

func testThousandChanges(t *testing.T, p *program, cluster *testcluster.Cluster) {
	client, kubeconfig := kubeClient(t, cluster), cluster.KubeconfigFor(t, testcluster.Admin)
	createNamespace(t, client, "busy")
	equal := func() {
		t.Helper()
		r := p.snapshot(t, kubeconfig, "pods", "-n", "busy").mustSync(t)
		list, err := client.CoreV1().Pods("busy").List(t.Context(), metav1.ListOptions{})
		if err != nil {
			t.Fatal(err)
		}
		wantObjects(t, r, len(list.Items), newest(t, list.Items))
	}
	equal()
	// Five changes a pod: create, three updates, and a deletion of every other
	// one, with a late pod for each that stays.
	var changes errgroup.Group
	changes.SetLimit(8)
	for i := range 200 {
		changes.Go(func() error { return fiveChanges(t.Context(), client.CoreV1().Pods("busy"), i) })
	}
	// One look in the middle, when the count is anybody's guess but the snapshot
	// must still be one.
	p.snapshot(t, kubeconfig, "pods", "-n", "busy").mustSync(t)
	if err := changes.Wait(); err != nil {
		t.Fatal(err)
	}
	equal()
}

func fiveChanges(ctx context.Context, pods typedcorev1.PodInterface, i int) error {
	newPod := func(name string) *corev1.Pod {
		return &corev1.Pod{
			ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{"app": "busy"}},
			Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "main", Image: "example.com/main:1"}}},
		}
	}
	name := fmt.Sprintf("pod-%03d", i)
	pod, err := pods.Create(ctx, newPod(name), metav1.CreateOptions{})
	if err != nil {
		return fmt.Errorf("create %s: %w", name, err)
	}
	for round := range 3 {
		pod.Labels["round"] = fmt.Sprint(round)
		if pod, err = pods.Update(ctx, pod, metav1.UpdateOptions{}); err != nil {
			return fmt.Errorf("update %s: %w", name, err)
		}
	}
	if i%2 == 0 {
		now := int64(0)
		if err := pods.Delete(ctx, name, metav1.DeleteOptions{GracePeriodSeconds: &now}); err != nil {
			return fmt.Errorf("delete %s: %w", name, err)
		}
		return nil
	}
	if _, err := pods.Create(ctx, newPod(name+"-late"), metav1.CreateOptions{}); err != nil {
		return fmt.Errorf("create %s-late: %w", name, err)
	}
	return nil
}

// newest is the greatest resource version among the pods, or "0".
func newest(t *testing.T, pods []corev1.Pod) string {
	t.Helper()
	version := "0"
	for _, pod := range pods {
		if notOlder(t, pod.ResourceVersion, version) {
			version = pod.ResourceVersion
		}
	}
	return version
}

// notOlder says whether resource version a is b or newer.
func notOlder(t *testing.T, a, b string) bool {
	t.Helper()
	if b == "0" {
		return true
	}
	order, err := resourceversion.CompareResourceVersion(a, b)
	if err != nil {
		t.Errorf("compare resource version %q with %q: %v", a, b, err)
		return false
	}
	return order >= 0
}

// closedPort is a port of loopback at which nobody listens.
func closedPort(t *testing.T) int {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	return listener.Addr().(*net.TCPAddr).Port
}
