package e2e_test

import (
	"encoding/json"
	"fmt"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/dynamic"

	"github.com/informeter/informeter/e2e/testcluster"
)

func testTraffic(t *testing.T, p *program, cluster *testcluster.Cluster) {
	client, kubeconfig := kubeClient(t, cluster), cluster.KubeconfigFor(t, testcluster.Admin)
	createNamespace(t, client, "wire")
	for i := range 5 {
		name := fmt.Sprintf("pod-%d", i)
		createPod(t, client, "wire", name)
		defer deletePod(t, client, "wire", name)
	}
	pods, err := client.CoreV1().Pods("wire").List(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	size := 0
	for _, pod := range pods.Items {
		size += pod.Size() // as protobuf
	}
	r := p.snapshot(t, kubeconfig, "pods", "-n", "wire").mustSync(t)
	if r.Informer.Type != "*v1.Pod" {
		t.Errorf("pods: got type %s, want *v1.Pod", r.Informer.Type)
	}
	r.wantTraffic(t, len(pods.Items), size)

	config, err := cluster.Config(testcluster.Admin)
	if err != nil {
		t.Fatal(err)
	}
	objects, err := dynamic.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	list, err := objects.Resource(widgets()).List(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	size = 0
	for _, widget := range list.Items {
		text, err := json.Marshal(widget.Object)
		if err != nil {
			t.Fatal(err)
		}
		size += len(text)
	}
	p.snapshot(t, kubeconfig, "widgets.example.com", "-A").mustSync(t).wantTraffic(t, len(list.Items), size)
}

// wantTraffic checks what came over the wire, if nothing but so many objects came,
// which are of that size by themselves.
func (r result) wantTraffic(t *testing.T, objects, size int) {
	t.Helper()
	v := r.Traffic
	switch {
	case objects == 0:
		t.Fatal("no objects to count")
	case v == nil:
		t.Fatal("traffic: got none")
	}
	// A bookmark ends the initial objects. Around each one there is an envelope.
	if v.Streams == 0 || v.Events < uint64(objects) || v.Events > uint64(objects)+2 || v.Undecodable != 0 {
		t.Errorf("traffic: got %d events in %d streams, %d undecodable; want %d to %d, at least 1, none",
			v.Events, v.Streams, v.Undecodable, objects, objects+2)
	}
	if low, high := uint64(size), uint64(size+500*(objects+2)); v.Bytes < low || v.Bytes > high {
		t.Errorf("traffic: got %d bytes for %d objects, want %d to %d", v.Bytes, objects, low, high)
	}
}
