//go:build unix

package engine_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	apiruntime "k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer/protobuf"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/cli-runtime/pkg/genericclioptions"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"

	"github.com/informeter/informeter/engine/source/cluster"
	"github.com/informeter/informeter/engine/source/demo"
)

// wireObjects is how many objects a recorded stream begins with.
const wireObjects = 10_000

// wire is one way from an API server's socket to a synced store.
type wire struct {
	resource, contentType string
	example               apiruntime.Object
	frames                [][]byte // of a WatchList, with its end marker
	theirs                func(*rest.Config) cache.ListerWatcher
}

// racePods measures typed objects in protobuf.
func racePods(b *testing.B, r *row) {
	marker := &corev1.Pod{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Pod"}}
	var objects []apiruntime.Object
	for _, pod := range demoPods(b) {
		objects = append(objects, pod)
	}
	raceWire(b, r, wire{
		resource:    "pods",
		contentType: apiruntime.ContentTypeProtobuf,
		example:     &corev1.Pod{},
		frames:      recorded(b, protobufFrame, objects, marker),
		theirs: func(config *rest.Config) cache.ListerWatcher {
			config.ContentType = apiruntime.ContentTypeProtobuf
			client := kubernetes.NewForConfigOrDie(config).CoreV1().Pods("")
			return &cache.ListWatch{
				ListWithContextFunc:  func(ctx context.Context, o metav1.ListOptions) (apiruntime.Object, error) { return client.List(ctx, o) },
				WatchFuncWithContext: client.Watch,
			}
		},
	})
}

// raceWidgets measures the same objects as ones of a type that has no Go type.
func raceWidgets(b *testing.B, r *row) {
	newWidget := func(content map[string]any) *unstructured.Unstructured {
		u := &unstructured.Unstructured{Object: content}
		u.SetAPIVersion("example.com/v1")
		u.SetKind("Widget")
		return u
	}
	var objects []apiruntime.Object
	for _, pod := range demoPods(b) {
		content, err := apiruntime.DefaultUnstructuredConverter.ToUnstructured(pod)
		if err != nil {
			b.Fatal(err)
		}
		objects = append(objects, newWidget(content))
	}
	raceWire(b, r, wire{
		resource:    "widgets",
		contentType: apiruntime.ContentTypeJSON,
		example:     newWidget(map[string]any{}),
		frames:      recorded(b, jsonFrame, objects, newWidget(map[string]any{})),
		theirs: func(config *rest.Config) cache.ListerWatcher {
			client := dynamic.NewForConfigOrDie(config).Resource(schema.GroupVersionResource{Group: "example.com", Version: "v1", Resource: "widgets"})
			return &cache.ListWatch{
				ListWithContextFunc:  func(ctx context.Context, o metav1.ListOptions) (apiruntime.Object, error) { return client.List(ctx, o) },
				WatchFuncWithContext: client.Watch,
			}
		},
	})
}

// raceWire measures the way through source/cluster and engine, and through
// client-go's clients and informers.
func raceWire(b *testing.B, r *row, w wire) {
	r.operations = 1
	server := httptest.NewServer(w)
	defer server.Close()
	defer server.CloseClientConnections()
	side := func(make newInformer, lw cache.ListerWatcher) func(*stopwatch) {
		return func(s *stopwatch) {
			informer := make(lw, w.example, 0, cache.Indexers{cache.NamespaceIndex: cache.MetaNamespaceIndexFunc})
			ctx, cancel := context.WithCancel(b.Context())
			ended := newSignal()
			runtime.GC()
			s.time(func() {
				go func() {
					informer.RunWithContext(ctx)
					ended <- struct{}{}
				}()
				<-informer.HasSyncedChecker().Done()
			})
			if n := len(informer.GetStore().ListKeys()); n != wireObjects {
				b.Fatalf("the store has %d objects, want %d", n, wireObjects)
			}
			cancel()
			<-ended
		}
	}
	r.race(b, side(newTheirs, w.theirs(&rest.Config{Host: server.URL, QPS: -1})), side(newOurs, clusterSource(b, server.URL, w.resource)))
}

// ServeHTTP serves the recorded stream as an API server does, a write an event,
// and holds the connection; and what it takes to find the resource.
func (w wire) ServeHTTP(out http.ResponseWriter, in *http.Request) {
	switch in.URL.Path {
	case "/api":
		answer(out, metav1.APIVersions{Versions: []string{"v1"}})
	case "/apis":
		v1 := metav1.GroupVersionForDiscovery{GroupVersion: "example.com/v1", Version: "v1"}
		answer(out, metav1.APIGroupList{Groups: []metav1.APIGroup{{
			Name: "example.com", Versions: []metav1.GroupVersionForDiscovery{v1}, PreferredVersion: v1,
		}}})
	case "/api/v1":
		answer(out, resourceList("v1", "pods", "Pod"))
	case "/apis/example.com/v1":
		answer(out, resourceList("example.com/v1", "widgets", "Widget"))
	default:
		if in.URL.Query().Get("sendInitialEvents") != "true" {
			http.Error(out, "only a WatchList is recorded", http.StatusBadRequest)
			return
		}
		out.Header().Set("Content-Type", w.contentType+";stream=watch")
		for _, f := range w.frames {
			if _, err := out.Write(f); err != nil {
				return
			}
		}
		out.(http.Flusher).Flush()
		<-in.Context().Done()
	}
}

func answer(out http.ResponseWriter, v any) {
	out.Header().Set("Content-Type", "application/json")
	if err := json.NewEncoder(out).Encode(v); err != nil {
		panic(err)
	}
}

func resourceList(groupVersion, plural, kind string) metav1.APIResourceList {
	return metav1.APIResourceList{GroupVersion: groupVersion, APIResources: []metav1.APIResource{
		{Name: plural, Kind: kind, Namespaced: true, Verbs: []string{"get", "list", "watch"}},
	}}
}

// clusterSource returns this project's ListerWatcher for all of a resource.
func clusterSource(b *testing.B, url, resource string) cache.ListerWatcher {
	b.Helper()
	file := filepath.Join(b.TempDir(), "config")
	text := fmt.Sprintf(`apiVersion: v1
kind: Config
current-context: bench
clusters: [{name: here, cluster: {server: %q}}]
contexts: [{name: bench, context: {cluster: here}}]
`, url)
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		b.Fatal(err)
	}
	flags := genericclioptions.NewConfigFlags(true)
	flags.KubeConfig = &file
	c, err := cluster.Open(flags, cluster.Options{AllNamespaces: true})
	if err != nil {
		b.Fatal(err)
	}
	sources, err := c.Sources(b.Context(), []string{resource})
	if err != nil {
		b.Fatal(err)
	}
	return sources[0].ListerWatcher
}

// demoPods returns pods as they are in a cluster, without their managed fields:
// 1.4 kB each as protobuf.
func demoPods(b *testing.B) []*corev1.Pod {
	b.Helper()
	c, err := demo.New(demo.Options{Pods: wireObjects + wireObjects/10, Latency: -1})
	if err != nil {
		b.Fatal(err)
	}
	sources, err := c.Sources([]string{"pods"}, "")
	if err != nil {
		b.Fatal(err)
	}
	list, err := cache.ToListerWatcherWithContext(sources[0].ListerWatcher).ListWithContext(b.Context(), metav1.ListOptions{})
	if err != nil {
		b.Fatal(err)
	}
	var pods []*corev1.Pod
	for i := range list.(*corev1.PodList).Items[:wireObjects] {
		pod := &list.(*corev1.PodList).Items[i]
		pod.APIVersion, pod.Kind = "v1", "Pod"
		pod.ManagedFields = nil
		pods = append(pods, pod)
	}
	return pods
}

// recorded returns a recorded WatchList: objects, then the end marker.
func recorded(b *testing.B, frame func(*testing.B, watch.EventType, apiruntime.Object) []byte, objects []apiruntime.Object, marker apiruntime.Object) [][]byte {
	b.Helper()
	frames := make([][]byte, 0, len(objects)+1)
	size := 0
	for _, obj := range objects {
		f := frame(b, watch.Added, obj)
		frames = append(frames, f)
		size += len(f)
	}
	b.ReportMetric(float64(size)/(1<<20), "MiB")
	m := marker.(metav1.Object)
	m.SetResourceVersion("1000000")
	m.SetAnnotations(map[string]string{metav1.InitialEventsAnnotationKey: "true"})
	return append(frames, frame(b, watch.Bookmark, marker))
}

// protobufFrame encodes a watch event as a server does.
func protobufFrame(b *testing.B, t watch.EventType, obj apiruntime.Object) []byte {
	b.Helper()
	var raw bytes.Buffer
	if err := protobuf.NewSerializer(scheme.Scheme, scheme.Scheme).Encode(obj, &raw); err != nil {
		b.Fatal(err)
	}
	event := metav1.WatchEvent{Type: string(t), Object: apiruntime.RawExtension{Raw: raw.Bytes()}}
	frame, err := event.Marshal()
	if err != nil {
		b.Fatal(err)
	}
	return append(binary.BigEndian.AppendUint32(nil, uint32(len(frame))), frame...)
}

// jsonFrame encodes a watch event as a server does.
func jsonFrame(b *testing.B, t watch.EventType, obj apiruntime.Object) []byte {
	b.Helper()
	raw, err := json.Marshal(obj)
	if err != nil {
		b.Fatal(err)
	}
	frame, err := json.Marshal(metav1.WatchEvent{Type: string(t), Object: apiruntime.RawExtension{Raw: raw}})
	if err != nil {
		b.Fatal(err)
	}
	return append(frame, '\n')
}
