package manager_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/informeter/informeter/e2e/testcluster"
)

// patience bounds every wait; it says nothing about speed.
const patience = 60 * time.Second

var (
	websiteKind = schema.GroupVersionKind{Group: "e2e.informeter.example", Version: "v1", Kind: "Website"}
	secretKind  = corev1.SchemeGroupVersion.WithKind("Secret")
)

// world is an API server that knows Websites, and a client that reads from it
// and from no cache.
type world struct {
	cluster *testcluster.Cluster
	scheme  *runtime.Scheme
	client  client.Client
}

func newWorld(t *testing.T) *world {
	t.Helper()
	w := &world{cluster: testcluster.ForTest(t), scheme: runtime.NewScheme()}
	for _, add := range []func(*runtime.Scheme) error{corev1.AddToScheme, appsv1.AddToScheme} {
		if err := add(w.scheme); err != nil {
			t.Fatal(err)
		}
	}
	var err error
	if w.client, err = client.New(w.config(t), client.Options{Scheme: w.scheme}); err != nil {
		t.Fatal(err)
	}
	if err := w.client.Create(t.Context(), websiteDefinition()); err != nil {
		t.Fatalf("define Website: %v", err)
	}
	eventually(t, "the server knows Websites", func() error {
		return w.client.List(t.Context(), websiteList())
	})
	return w
}

func (w *world) config(t *testing.T) *rest.Config {
	t.Helper()
	config, err := w.cluster.Config(testcluster.Admin)
	if err != nil {
		t.Fatal(err)
	}
	config.QPS = -1 // the test's speed is the server's
	return config
}

func websiteDefinition() *unstructured.Unstructured {
	definition := &unstructured.Unstructured{Object: map[string]any{
		"metadata": map[string]any{"name": "websites." + websiteKind.Group},
		"spec": map[string]any{
			"group": websiteKind.Group,
			"scope": "Namespaced",
			"names": map[string]any{
				"kind": websiteKind.Kind, "listKind": websiteKind.Kind + "List", "plural": "websites", "singular": "website",
			},
			"versions": []any{map[string]any{
				"name": websiteKind.Version, "served": true, "storage": true,
				"schema": map[string]any{"openAPIV3Schema": map[string]any{
					"type": "object", "x-kubernetes-preserve-unknown-fields": true,
				}},
			}},
		},
	}}
	definition.SetAPIVersion("apiextensions.k8s.io/v1")
	definition.SetKind("CustomResourceDefinition")
	return definition
}

func website() *unstructured.Unstructured {
	site := &unstructured.Unstructured{}
	site.SetGroupVersionKind(websiteKind)
	return site
}

func websiteList() *unstructured.UnstructuredList {
	list := &unstructured.UnstructuredList{}
	list.SetGroupVersionKind(websiteKind.GroupVersion().WithKind(websiteKind.Kind + "List"))
	return list
}

func secretMetadata() *metav1.PartialObjectMetadata {
	secret := &metav1.PartialObjectMetadata{}
	secret.SetGroupVersionKind(secretKind)
	return secret
}

func secretMetadataList() *metav1.PartialObjectMetadataList {
	list := &metav1.PartialObjectMetadataList{}
	list.SetGroupVersionKind(secretKind.GroupVersion().WithKind("SecretList"))
	return list
}

// newSite is the site n of a namespace: one replica, and the config "even" or
// "odd".
func newSite(namespace string, n int) *unstructured.Unstructured {
	site := website()
	site.SetNamespace(namespace)
	site.SetName(fmt.Sprintf("site-%d", n))
	site.Object["spec"] = map[string]any{"config": []string{"even", "odd"}[n%2], "replicas": int64(1)}
	return site
}

func newConfigMap(namespace, name, content string) *corev1.ConfigMap {
	return &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}, Data: map[string]string{"content": content}}
}

// namespaces makes one namespace of each name.
func (w *world) namespaces(t *testing.T, names ...string) {
	t.Helper()
	for _, name := range names {
		w.create(t, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}})
	}
}

func (w *world) create(t *testing.T, obj client.Object) {
	t.Helper()
	if err := w.client.Create(t.Context(), obj); err != nil {
		t.Fatalf("create %s: %v", client.ObjectKeyFromObject(obj), err)
	}
}

func (w *world) remove(t *testing.T, obj client.Object) {
	t.Helper()
	if err := w.client.Delete(t.Context(), obj); err != nil {
		t.Fatalf("delete %s: %v", client.ObjectKeyFromObject(obj), err)
	}
}

// change reads an object, changes it and writes it back, again when somebody
// else was faster.
func (w *world) change(t *testing.T, obj client.Object, change func()) {
	t.Helper()
	key := client.ObjectKeyFromObject(obj)
	for {
		if err := w.client.Get(t.Context(), key, obj); err != nil {
			t.Fatalf("get %s: %v", key, err)
		}
		change()
		err := w.client.Update(t.Context(), obj)
		if err == nil {
			return
		}
		if !apierrors.IsConflict(err) {
			t.Fatalf("update %s: %v", key, err)
		}
	}
}

// eventually waits until check has nothing to complain about.
func eventually(t *testing.T, what string, check func() error) {
	t.Helper()
	ctx, stop := context.WithTimeout(t.Context(), patience)
	defer stop()
	for {
		err := check()
		if err == nil {
			return
		}
		select {
		case <-ctx.Done():
			t.Fatalf("%s: not within %s: %v", what, patience, err)
		case <-time.After(10 * time.Millisecond):
		}
	}
}
