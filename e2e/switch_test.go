package e2e_test

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"github.com/informeter/informeter/e2e/testcluster"
)

func testSwitch(t *testing.T, p *program, cluster *testcluster.Cluster) {
	client := kubeClient(t, cluster)
	createNamespace(t, client, "here")
	createNamespace(t, client, "there")
	createPod(t, client, "here", "pod-here")
	defer deletePod(t, client, "here", "pod-here")
	createPod(t, client, "there", "pod-there")
	defer deletePod(t, client, "there", "pod-there")
	createConfigMap(t, client, "here", "settings-one")

	e := p.explore(t, cluster.KubeconfigFor(t, testcluster.Admin), "pods", "-n", "here")
	e.press("3")
	e.shows("pods · namespace here", "pod-here")
	e.press(":ns there\r")
	e.shows("pods · namespace there", "pod-there", "watching")
	e.hides("pod-here")
	e.press(":configmaps -n here\r")
	e.shows("configmaps · namespace here", "settings-one", "watching")
	e.hides("pod-there")

	// A wish that cannot be fulfilled changes nothing: the line is there to be
	// corrected, and what was watched still is.
	e.press(":configmups -n there\r")
	e.shows(`no resource "configmups"`, "did you mean", "configmaps", ":configmups -n there", "configmaps · namespace here")
	createConfigMap(t, client, "here", "settings-two")
	e.shows("settings-one", "settings-two")
	e.press("\x15pods -n there\r") // ctrl+u empties the line
	e.shows("pods · namespace there", "pod-there")
	e.hides("settings-one")
	e.quits()
}

func createConfigMap(t *testing.T, client kubernetes.Interface, namespace, name string) {
	t.Helper()
	m := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: name}}
	if _, err := client.CoreV1().ConfigMaps(namespace).Create(t.Context(), m, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
}
