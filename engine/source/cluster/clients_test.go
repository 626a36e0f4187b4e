package cluster

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer/protobuf"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/tools/cache"

	"github.com/informeter/informeter/engine/source"
)

func pod(name string) *corev1.Pod {
	return &corev1.Pod{
		TypeMeta:   metav1.TypeMeta{APIVersion: "v1", Kind: "Pod"},
		ObjectMeta: metav1.ObjectMeta{Namespace: "web", Name: name, ResourceVersion: "7"},
		Spec:       corev1.PodSpec{NodeName: "node-1"},
	}
}

// one returns the only source of what is asked for.
func one(t *testing.T, c *Cluster, resource string) source.Source {
	t.Helper()
	sources, err := c.Sources(t.Context(), []string{resource})
	if err != nil {
		t.Fatal(err)
	}
	if len(sources) != 1 {
		t.Fatalf("got %d sources, want 1", len(sources))
	}
	return sources[0]
}

// context-aware, as every source of a cluster is.
func aware(t *testing.T, s source.Source) cache.ListerWatcherWithContext {
	t.Helper()
	lw, ok := s.ListerWatcher.(cache.ListerWatcherWithContext)
	if !ok {
		t.Fatalf("%T ignores contexts", s.ListerWatcher)
	}
	return lw
}

func TestTypedObjectsComeAsProtobuf(t *testing.T) {
	s := startServer(t, &server{objects: func(w http.ResponseWriter, r *http.Request) {
		if accept := r.Header.Get("Accept"); !strings.HasPrefix(accept, "application/vnd.kubernetes.protobuf,") {
			t.Errorf("Accept: %s", accept)
		}
		w.Header().Set("Content-Type", "application/vnd.kubernetes.protobuf")
		list := &corev1.PodList{
			TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "PodList"},
			ListMeta: metav1.ListMeta{ResourceVersion: "8"},
			Items:    []corev1.Pod{*pod("web-0"), *pod("web-1")},
		}
		var buf bytes.Buffer
		if err := protobuf.NewSerializer(scheme.Scheme, scheme.Scheme).Encode(list, &buf); err != nil {
			t.Error(err)
		}
		_, _ = w.Write(buf.Bytes())
	}})
	got, err := aware(t, one(t, openServer(t, s, Options{}), "pods")).ListWithContext(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	list, ok := got.(*corev1.PodList)
	if !ok {
		t.Fatalf("got a %T", got)
	}
	if len(list.Items) != 2 || list.Items[1].Name != "web-1" || list.ResourceVersion != "8" {
		t.Errorf("got %+v", list)
	}
}

// A server that knows no protobuf answers in JSON.
func TestTypedObjectsMayComeAsJSON(t *testing.T) {
	s := startServer(t, &server{objects: func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Query().Get("watch") == "" {
			answer(w, corev1.PodList{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "PodList"}, Items: []corev1.Pod{*pod("web-0")}})
			return
		}
		streamOne(t, w, pod("web-0"))
	}})
	lw := aware(t, one(t, openServer(t, s, Options{}), "pods"))
	got, err := lw.ListWithContext(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if list, ok := got.(*corev1.PodList); !ok || len(list.Items) != 1 {
		t.Errorf("got %T %+v", got, got)
	}
	if p, ok := first(t, lw).(*corev1.Pod); !ok || p.Name != "web-0" {
		t.Errorf("got %T %+v", p, p)
	}
}

// streamOne answers a WATCH with one object and holds the connection until the
// client leaves.
func streamOne(t *testing.T, w http.ResponseWriter, obj any) {
	t.Helper()
	raw, err := json.Marshal(obj)
	if err != nil {
		t.Error(err)
		return
	}
	answer(w, metav1.WatchEvent{Type: string(watch.Added), Object: runtime.RawExtension{Raw: raw}})
	w.(http.Flusher).Flush()
}

// first returns the first object of a WATCH.
func first(t *testing.T, lw cache.ListerWatcherWithContext) runtime.Object {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	w, err := lw.WatchWithContext(ctx, metav1.ListOptions{ResourceVersion: "7"})
	if err != nil {
		t.Fatal(err)
	}
	defer w.Stop()
	e, ok := <-w.ResultChan()
	if !ok || e.Type != watch.Added {
		t.Fatalf("got %+v, want an object", e)
	}
	return e.Object
}

func TestProjections(t *testing.T) {
	const widgetText = `{"apiVersion":"example.com/v1","kind":"Widget","metadata":{"name":"blue","namespace":"web"},"spec":{"size":3}}`
	const metadataText = `{"apiVersion":"meta.k8s.io/v1","kind":"PartialObjectMetadata","metadata":{"name":"blue","namespace":"web"}}`
	s := startServer(t, &server{types: ordinary(), objects: func(w http.ResponseWriter, r *http.Request) {
		object, list := widgetText, "WidgetList"
		if strings.Contains(r.Header.Get("Accept"), "as=PartialObjectMetadata") {
			object, list = metadataText, "PartialObjectMetadataList"
		}
		if r.URL.Query().Get("watch") != "" {
			streamOne(t, w, json.RawMessage(object))
			return
		}
		apiVersion := "example.com/v1"
		if list == "PartialObjectMetadataList" {
			apiVersion = "meta.k8s.io/v1"
		}
		answer(w, map[string]any{
			"apiVersion": apiVersion, "kind": list, "metadata": map[string]any{"resourceVersion": "9"},
			"items": []any{json.RawMessage(object)},
		})
	}})
	for _, tt := range []struct {
		projection Projection
		resource   string
		want       runtime.Object
		example    string
	}{
		{Typed, "widgets", &unstructured.Unstructured{}, "unstructured example.com/v1, Kind=Widget"},
		{Unstructured, "widgets", &unstructured.Unstructured{}, "unstructured example.com/v1, Kind=Widget"},
		{Metadata, "widgets", &metav1.PartialObjectMetadata{}, "metadata example.com/v1, Kind=Widget"},
		{Unstructured, "pods", &unstructured.Unstructured{}, "unstructured /v1, Kind=Pod"},
		{Metadata, "pods", &metav1.PartialObjectMetadata{}, "metadata /v1, Kind=Pod"},
	} {
		t.Run(string(tt.projection)+" "+tt.resource, func(t *testing.T) {
			src := one(t, openServer(t, s, Options{Projection: tt.projection}), tt.resource)
			if got := sum([]source.Source{src})[0].Example; got != tt.example {
				t.Errorf("example: got %s, want %s", got, tt.example)
			}
			lw := aware(t, src)
			list, err := lw.ListWithContext(t.Context(), metav1.ListOptions{})
			if err != nil {
				t.Fatal(err)
			}
			items, err := meta.ExtractList(list)
			if err != nil || len(items) != 1 {
				t.Fatalf("got %v, %v", items, err)
			}
			for from, obj := range map[string]runtime.Object{"LIST": items[0], "WATCH": first(t, lw)} {
				if got := obj.GetObjectKind().GroupVersionKind().String(); tt.projection == Metadata && !strings.HasSuffix(tt.example, got) {
					t.Errorf("%s: the object says it is %s", from, got)
				}
				m, err := meta.Accessor(obj)
				if err != nil || m.GetName() != "blue" || cmp.Diff(typeOf(tt.want), typeOf(obj)) != "" {
					t.Errorf("%s: got a %T, want a %T", from, obj, tt.want)
				}
			}
		})
	}
}

func typeOf(o runtime.Object) string {
	switch o.(type) {
	case *unstructured.Unstructured:
		return "unstructured"
	case *metav1.PartialObjectMetadata:
		return "metadata"
	}
	return "typed"
}

// What is asked of the server: where, with which selectors, and with what the
// reflector adds.
func TestRequests(t *testing.T) {
	options := metav1.ListOptions{
		ResourceVersion: "7", AllowWatchBookmarks: true, SendInitialEvents: new(true),
		ResourceVersionMatch: metav1.ResourceVersionMatchNotOlderThan, TimeoutSeconds: new(int64(300)),
	}
	const reflector = "allowWatchBookmarks=true&resourceVersion=7&resourceVersionMatch=NotOlderThan&sendInitialEvents=true&timeoutSeconds=300&watch=true"
	for _, tt := range []struct {
		resource string
		options  Options
		list     string
	}{
		{"pods", Options{}, "/api/v1/namespaces/web/pods?limit=500"},
		{"pods", Options{AllNamespaces: true}, "/api/v1/pods?limit=500"},
		{"pods", Options{Namespace: "kube-system"}, "/api/v1/namespaces/kube-system/pods?limit=500"},
		{"pods/web-0", Options{}, "/api/v1/namespaces/web/pods?fieldSelector=metadata.name=web-0&limit=500"},
		{"pods", Options{LabelSelector: "app = web", FieldSelector: "status.phase!=Failed"}, "/api/v1/namespaces/web/pods?fieldSelector=status.phase!=Failed&labelSelector=app=web&limit=500"},
		{"pods/web-0", Options{FieldSelector: "status.phase=Running"}, "/api/v1/namespaces/web/pods?fieldSelector=metadata.name=web-0,status.phase=Running&limit=500"},
		{"nodes", Options{}, "/api/v1/nodes?limit=500"},
		{"deploy", Options{}, "/apis/apps/v1/namespaces/web/deployments?limit=500"},
		{"widgets", Options{LabelSelector: "a=b"}, "/apis/example.com/v1/namespaces/web/widgets?labelSelector=a=b&limit=500"},
		{"realms", Options{Namespace: "other"}, "/apis/example.com/v1/realms?limit=500"},
		{"pods/web-0", Options{Projection: Metadata}, "/api/v1/namespaces/web/pods?fieldSelector=metadata.name=web-0&limit=500"},
	} {
		t.Run(tt.list, func(t *testing.T) {
			s := startServer(t, &server{types: ordinary(), objects: func(w http.ResponseWriter, r *http.Request) {
				refuse(w, http.StatusForbidden, metav1.StatusReasonForbidden, "no")
			}})
			lw := aware(t, one(t, openServer(t, s, tt.options), tt.resource))
			s.set(func() { s.requests = nil })
			if _, err := lw.ListWithContext(t.Context(), metav1.ListOptions{Limit: 500}); !apierrors.IsForbidden(err) {
				t.Errorf("LIST: got %v, want what the server said", err)
			}
			if _, err := lw.WatchWithContext(t.Context(), options); !apierrors.IsForbidden(err) {
				t.Errorf("WATCH: got %v, want what the server said", err)
			}
			path, query, _ := strings.Cut(tt.list, "?")
			watched := sorted(t, strings.Replace(query, "limit=500", reflector, 1))
			// The client library also turns the watch's timeout into one of its own.
			want := []string{path + "?" + sorted(t, query), path + "?" + watched}
			var got []string
			for _, r := range s.asked() {
				path, query, _ := strings.Cut(r, "?")
				got = append(got, path+"?"+without(sorted(t, query), "timeout"))
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("requests (-want +got):\n%s", diff)
			}
		})
	}
}

func sorted(t *testing.T, query string) string {
	t.Helper()
	v, err := url.ParseQuery(strings.ReplaceAll(strings.ReplaceAll(query, "!=", "%21%3D"), "+", "%20"))
	if err != nil {
		t.Fatal(err)
	}
	return v.Encode()
}

func without(query, parameter string) string {
	v, _ := url.ParseQuery(query)
	v.Del(parameter)
	return v.Encode()
}

// --request-timeout is for requests that are meant to end.
func TestRequestTimeoutCutsListsOnly(t *testing.T) {
	const timeout = 50 * time.Millisecond
	s := startServer(t, &server{objects: func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Query().Get("watch") == "" {
			<-r.Context().Done()
			return
		}
		w.Header().Set("Content-Type", "application/json")
		w.(http.Flusher).Flush()
		select {
		case <-time.After(4 * timeout):
			streamOne(t, w, pod("web-0"))
		case <-r.Context().Done():
		}
	}})
	isolate(t)
	flags := flagsFor(kubeconfig(t, s.URL))
	*flags.Timeout = timeout.String()
	c, err := Open(flags, Options{})
	if err != nil {
		t.Fatal(err)
	}
	lw := aware(t, one(t, c, "pods"))
	if _, err := lw.ListWithContext(t.Context(), metav1.ListOptions{}); err == nil {
		t.Error("a LIST outlived the timeout")
	}
	if p, ok := first(t, lw).(*corev1.Pod); !ok || p.Name != "web-0" {
		t.Errorf("got %v", p)
	}
}

func TestRequestsEndWithTheContext(t *testing.T) {
	s := startServer(t, &server{objects: func(w http.ResponseWriter, r *http.Request) { <-r.Context().Done() }})
	lw := aware(t, one(t, openServer(t, s, Options{}), "pods"))
	for name, request := range map[string]func(context.Context) error{
		"LIST": func(ctx context.Context) error {
			_, err := lw.ListWithContext(ctx, metav1.ListOptions{})
			return err
		},
		"WATCH": func(ctx context.Context) error {
			_, err := lw.WatchWithContext(ctx, metav1.ListOptions{})
			return err
		},
	} {
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if err := request(ctx); err == nil {
			t.Errorf("%s went on", name)
		}
	}
}

func TestNamespaces(t *testing.T) {
	s := startServer(t, &server{objects: func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/api/v1/namespaces" || r.URL.Query().Get("limit") != "500" {
			t.Errorf("asked for %s", r.URL)
		}
		item := metav1.PartialObjectMetadata{TypeMeta: metav1.TypeMeta{APIVersion: "meta.k8s.io/v1", Kind: "PartialObjectMetadata"}}
		item.Name = "kube-system"
		answer(w, metav1.PartialObjectMetadataList{
			TypeMeta: metav1.TypeMeta{APIVersion: "meta.k8s.io/v1", Kind: "PartialObjectMetadataList"},
			Items:    []metav1.PartialObjectMetadata{item},
		})
	}})
	got, err := openServer(t, s, Options{}).Namespaces(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"kube-system"}, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// What the server refuses a WATCH with comes through as it is.
func TestRefusedWatches(t *testing.T) {
	for reason, code := range map[metav1.StatusReason]int32{
		metav1.StatusReasonExpired: http.StatusGone, metav1.StatusReasonTooManyRequests: http.StatusTooManyRequests,
		metav1.StatusReasonForbidden: http.StatusForbidden,
	} {
		s := startServer(t, &server{types: ordinary(), objects: func(w http.ResponseWriter, _ *http.Request) {
			refuse(w, code, reason, "no")
		}})
		for _, resource := range []string{"pods", "widgets"} {
			src := one(t, openServer(t, s, Options{}), resource)
			_, err := aware(t, src).WatchWithContext(t.Context(), metav1.ListOptions{})
			if apierrors.ReasonForError(err) != reason {
				t.Errorf("%s: got %v, want %s", resource, err, reason)
			}
			if n := src.ListerWatcher.(Metered).Traffic().Streams; n != 0 {
				t.Errorf("%s: counted %d streams that were refused", resource, n)
			}
		}
	}
}
