package testcluster_test

import (
	"context"
	"os"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/informeter/informeter/e2e/testcluster"
)

func TestCluster(t *testing.T) {
	begun := time.Now()
	cluster := testcluster.ForTest(t)
	t.Logf("ready in %s", time.Since(begun).Round(10*time.Millisecond))
	t.Run("the admin can create a pod", func(t *testing.T) {
		createPod(t, client(t, cluster, testcluster.Admin), "first")
	})
	t.Run("a user without rights is told which verb is forbidden", func(t *testing.T) {
		testForbidden(t, cluster)
	})
	t.Run("a kubeconfig reaches the server", func(t *testing.T) {
		testKubeconfig(t, cluster)
	})
	t.Run("an unknown user has no kubeconfig", func(t *testing.T) {
		if path, err := cluster.Kubeconfig("mallory"); err == nil {
			t.Errorf("got %s, want an error", path)
		}
	})
	t.Run("address and data survive a restart of the API server", func(t *testing.T) {
		testRestart(t, cluster)
	})
	t.Run("nothing is left after Close, and a second one does nothing", func(t *testing.T) {
		testClose(t, cluster)
	})
}

func testForbidden(t *testing.T, cluster *testcluster.Cluster) {
	_, err := client(t, cluster, testcluster.Nobody).CoreV1().Pods("").List(t.Context(), metav1.ListOptions{})
	if !apierrors.IsForbidden(err) || !strings.Contains(err.Error(), `cannot list resource "pods"`) {
		t.Errorf("list of pods by nobody: got error %v, want a forbidden one that names the verb", err)
	}
}

func testKubeconfig(t *testing.T, cluster *testcluster.Cluster) {
	path, err := cluster.Kubeconfig(testcluster.Admin)
	if err != nil {
		t.Fatal(err)
	}
	config, err := clientcmd.BuildConfigFromFlags("", path)
	if err != nil {
		t.Fatal(err)
	}
	kube, err := kubernetes.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := kube.CoreV1().Pods("default").Get(t.Context(), "first", metav1.GetOptions{}); err != nil {
		t.Error(err)
	}
}

func testRestart(t *testing.T, cluster *testcluster.Cluster) {
	kube := client(t, cluster, testcluster.Admin)
	address := cluster.URL()
	stopped := time.Now()
	if err := cluster.StopAPIServer(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Logf("stopped in %s", time.Since(stopped).Round(10*time.Millisecond))
	if _, err := kube.CoreV1().Pods("default").Get(t.Context(), "first", metav1.GetOptions{}); err == nil {
		t.Error("a stopped server answered")
	}
	started := time.Now()
	if err := cluster.StartAPIServer(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Logf("started again in %s", time.Since(started).Round(10*time.Millisecond))
	if cluster.URL() != address {
		t.Errorf("the address changed from %s to %s", address, cluster.URL())
	}
	if _, err := kube.CoreV1().Pods("default").Get(t.Context(), "first", metav1.GetOptions{}); err != nil {
		t.Errorf("the pod is not there after a restart: %v", err)
	}
	createPod(t, kube, "second")
}

func testClose(t *testing.T, cluster *testcluster.Cluster) {
	kube := client(t, cluster, testcluster.Admin)
	path, err := cluster.Kubeconfig(testcluster.Admin)
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := cluster.Close(); err != nil {
			t.Fatal(err)
		}
	}
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
	defer cancel()
	if _, err := kube.CoreV1().Pods("default").List(ctx, metav1.ListOptions{}); err == nil {
		t.Error("a closed server answered")
	}
	if _, err := os.Stat(path); !os.IsNotExist(err) {
		t.Errorf("the kubeconfig is still there: %v", err)
	}
}

func client(t *testing.T, cluster *testcluster.Cluster, user testcluster.User) kubernetes.Interface {
	t.Helper()
	config, err := cluster.Config(user)
	if err != nil {
		t.Fatal(err)
	}
	kube, err := kubernetes.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	return kube
}

func createPod(t *testing.T, kube kubernetes.Interface, name string) {
	t.Helper()
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "main", Image: "example.com/main:1"}}},
	}
	if _, err := kube.CoreV1().Pods("default").Create(t.Context(), pod, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
}
