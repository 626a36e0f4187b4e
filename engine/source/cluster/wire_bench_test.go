package cluster

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strconv"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	apiruntime "k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"

	"github.com/informeter/informeter/engine"
)

// benchObjects is how many objects a recorded stream begins with.
const benchObjects = 10_000

// realisticPod is a pod as a ReplicaSet's are: 1.4 kB as protobuf.
func realisticPod(i int) *corev1.Pod {
	at := metav1.NewTime(time.Unix(1_790_000_000+int64(i), 0))
	app := "app-" + strconv.Itoa(i%100)
	conditions := make([]corev1.PodCondition, 0, 5)
	for _, c := range []corev1.PodConditionType{"PodReadyToStartContainers", corev1.PodInitialized, corev1.PodReady, corev1.ContainersReady, corev1.PodScheduled} {
		conditions = append(conditions, corev1.PodCondition{Type: c, Status: corev1.ConditionTrue, LastTransitionTime: at})
	}
	seconds := int64(300)
	toleration := func(key string) corev1.Toleration {
		return corev1.Toleration{Key: key, Operator: corev1.TolerationOpExists, Effect: corev1.TaintEffectNoExecute, TolerationSeconds: &seconds}
	}
	return &corev1.Pod{
		TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Pod"},
		ObjectMeta: metav1.ObjectMeta{
			Name: fmt.Sprintf("%s-7d9c6f5b8d-%05d", app, i), GenerateName: app + "-7d9c6f5b8d-", Namespace: "ns-" + strconv.Itoa(i%20),
			UID: types.UID(fmt.Sprintf("3f8a1c5e-7b2d-4e69-9a0f-%012d", i)), ResourceVersion: strconv.Itoa(i + 1), CreationTimestamp: at,
			Labels:      map[string]string{"app.kubernetes.io/name": app, "app.kubernetes.io/part-of": "shop", "pod-template-hash": "7d9c6f5b8d"},
			Annotations: map[string]string{"kubectl.kubernetes.io/restartedAt": "2026-09-21T10:11:12Z", "prometheus.io/scrape": "true"},
			OwnerReferences: []metav1.OwnerReference{{
				APIVersion: "apps/v1", Kind: "ReplicaSet", Name: app + "-7d9c6f5b8d", UID: "9c1d2e3f-4a5b-6c7d-8e9f-0a1b2c3d4e5f", Controller: new(true), BlockOwnerDeletion: new(true),
			}},
		},
		Spec: corev1.PodSpec{
			NodeName: "node-" + strconv.Itoa(i%50), ServiceAccountName: "default", RestartPolicy: corev1.RestartPolicyAlways, DNSPolicy: corev1.DNSClusterFirst,
			SchedulerName: "default-scheduler", SecurityContext: &corev1.PodSecurityContext{}, EnableServiceLinks: new(true), Priority: new(int32),
			Tolerations: []corev1.Toleration{toleration("node.kubernetes.io/not-ready"), toleration("node.kubernetes.io/unreachable")},
			Volumes: []corev1.Volume{{Name: "kube-api-access-x7k2p", VolumeSource: corev1.VolumeSource{Projected: &corev1.ProjectedVolumeSource{
				DefaultMode: new(int32), Sources: []corev1.VolumeProjection{
					{ServiceAccountToken: &corev1.ServiceAccountTokenProjection{ExpirationSeconds: &seconds, Path: "token"}},
					{ConfigMap: &corev1.ConfigMapProjection{LocalObjectReference: corev1.LocalObjectReference{Name: "kube-root-ca.crt"}, Items: []corev1.KeyToPath{{Key: "ca.crt", Path: "ca.crt"}}}},
				},
			}}}},
			Containers: []corev1.Container{{
				Name: "server", Image: "registry.example.com/shop/" + app + ":v1.42.0", ImagePullPolicy: corev1.PullIfNotPresent,
				Ports: []corev1.ContainerPort{{Name: "http", ContainerPort: 8080, Protocol: corev1.ProtocolTCP}},
				Env:   []corev1.EnvVar{{Name: "LOG_LEVEL", Value: "info"}, {Name: "POD_NAME", ValueFrom: &corev1.EnvVarSource{FieldRef: &corev1.ObjectFieldSelector{APIVersion: "v1", FieldPath: "metadata.name"}}}},
				Resources: corev1.ResourceRequirements{
					Requests: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("100m"), corev1.ResourceMemory: resource.MustParse("128Mi")},
					Limits:   corev1.ResourceList{corev1.ResourceMemory: resource.MustParse("256Mi")},
				},
				VolumeMounts:             []corev1.VolumeMount{{Name: "kube-api-access-x7k2p", ReadOnly: true, MountPath: "/var/run/secrets/kubernetes.io/serviceaccount"}},
				TerminationMessagePath:   "/dev/termination-log",
				TerminationMessagePolicy: corev1.TerminationMessageReadFile,
			}},
		},
		Status: corev1.PodStatus{
			Phase: corev1.PodRunning, Conditions: conditions, HostIP: "10.0.0.7", PodIP: fmt.Sprintf("10.1.%d.%d", i/250, i%250), StartTime: &at, QOSClass: corev1.PodQOSBurstable,
			PodIPs: []corev1.PodIP{{IP: fmt.Sprintf("10.1.%d.%d", i/250, i%250)}},
			ContainerStatuses: []corev1.ContainerStatus{{
				Name: "server", Ready: true, Started: new(true), State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{StartedAt: at}},
				Image:       "registry.example.com/shop/" + app + ":v1.42.0",
				ImageID:     "registry.example.com/shop/app@sha256:5f70bf18a086007016e948b04aed3b82103a36bea41755b6cddfaf10ace3c6ef",
				ContainerID: fmt.Sprintf("containerd://%064d", i),
			}},
		},
	}
}

// realisticWidget is the same pod as an object of a type that has no Go type.
func realisticWidget(tb testing.TB, i int) *unstructured.Unstructured {
	tb.Helper()
	content, err := apiruntime.DefaultUnstructuredConverter.ToUnstructured(realisticPod(i))
	if err != nil {
		tb.Fatal(err)
	}
	u := &unstructured.Unstructured{Object: content}
	u.SetAPIVersion("example.com/v1")
	u.SetKind("Widget")
	return u
}

// recorded returns a recorded WatchList: objects, then the end marker.
func recorded(tb testing.TB, frame func(watch.EventType, apiruntime.Object) []byte, object func(int) apiruntime.Object, marker apiruntime.Object) [][]byte {
	tb.Helper()
	frames := make([][]byte, 0, benchObjects+1)
	for i := range benchObjects {
		frames = append(frames, frame(watch.Added, object(i)))
	}
	m := marker.(metav1.Object)
	m.SetResourceVersion(strconv.Itoa(benchObjects))
	m.SetAnnotations(map[string]string{metav1.InitialEventsAnnotationKey: "true"})
	return append(frames, frame(watch.Bookmark, marker))
}

// replay serves the frames as an API server does: a write an event, and holds
// the connection.
func replay(frames [][]byte, contentType string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Query().Get("sendInitialEvents") != "true" {
			http.Error(w, "only WatchList is recorded", http.StatusBadRequest)
			return
		}
		w.Header().Set("Content-Type", contentType)
		for _, f := range frames {
			if _, err := w.Write(f); err != nil {
				return
			}
		}
		w.(http.Flusher).Flush()
		<-r.Context().Done()
	}
}

// BenchmarkWire measures the way from an API server's socket to a synced store,
// in turn through this package and engine, and through client-go's clients and
// informers.
func BenchmarkWire(b *testing.B) {
	widgets := schema.GroupVersionResource{Group: "example.com", Version: "v1", Resource: "widgets"}
	for _, bench := range []struct {
		name, resource, contentType string
		frames                      func() [][]byte
		example                     apiruntime.Object
		theirs                      func(*rest.Config) *cache.ListWatch
	}{
		{
			name: "pods/protobuf", resource: "pods", contentType: "application/vnd.kubernetes.protobuf;stream=watch",
			frames: func() [][]byte {
				object := func(i int) apiruntime.Object { return realisticPod(i) }
				return recorded(b, protobufFrame(b), object, &corev1.Pod{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Pod"}})
			},
			example: &corev1.Pod{},
			theirs: func(config *rest.Config) *cache.ListWatch {
				config.ContentType = "application/vnd.kubernetes.protobuf"
				client := kubernetes.NewForConfigOrDie(config).CoreV1().Pods("")
				return &cache.ListWatch{
					ListWithContextFunc:  func(ctx context.Context, o metav1.ListOptions) (apiruntime.Object, error) { return client.List(ctx, o) },
					WatchFuncWithContext: client.Watch,
				}
			},
		},
		{
			name: "widgets/json", resource: "widgets", contentType: "application/json;stream=watch",
			frames: func() [][]byte {
				marker := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "example.com/v1", "kind": "Widget"}}
				return recorded(b, jsonFrame(b), func(i int) apiruntime.Object { return realisticWidget(b, i) }, marker)
			},
			example: &unstructured.Unstructured{Object: map[string]any{"apiVersion": "example.com/v1", "kind": "Widget"}},
			theirs: func(config *rest.Config) *cache.ListWatch {
				client := dynamic.NewForConfigOrDie(config).Resource(widgets)
				return &cache.ListWatch{
					ListWithContextFunc:  func(ctx context.Context, o metav1.ListOptions) (apiruntime.Object, error) { return client.List(ctx, o) },
					WatchFuncWithContext: client.Watch,
				}
			},
		},
	} {
		b.Run(bench.name, func(b *testing.B) {
			frames := bench.frames()
			s := &server{types: ordinary(), objects: replay(frames, bench.contentType)}
			s.Server = httptest.NewServer(s)
			defer s.Close()
			defer s.CloseClientConnections()
			source := benchSource(b, s, bench.resource)
			lws := [2]cache.ListerWatcher{source, bench.theirs(&rest.Config{Host: s.URL, QPS: -1})}
			makes := [2]func(cache.ListerWatcher, apiruntime.Object, time.Duration, cache.Indexers) cache.SharedIndexInformer{
				engine.NewSharedIndexInformer, cache.NewSharedIndexInformer,
			}
			var took [2]time.Duration
			rounds := 0
			for b.Loop() {
				for side := range took {
					which := (side + rounds) % 2
					took[which] += syncOnce(b, makes[which](lws[which], bench.example, 0, cache.Indexers{cache.NamespaceIndex: cache.MetaNamespaceIndexFunc}))
				}
				rounds++
			}
			ms := func(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 / float64(rounds) }
			b.ReportMetric(ms(took[0]), "ours-ms")
			b.ReportMetric(ms(took[1]), "client-go-ms")
			b.ReportMetric(ms(took[0])/ms(took[1]), "ratio")
			b.ReportMetric(float64(len(bytes.Join(frames, nil)))/(1<<20), "MiB")
			b.ReportMetric(0, "ns/op")
		})
	}
}

// benchSource returns this package's ListerWatcher for all of a resource.
func benchSource(b *testing.B, s *server, resource string) cache.ListerWatcher {
	b.Helper()
	c, err := Open(flagsFor(kubeconfig(b, s.URL)), Options{AllNamespaces: true})
	if err != nil {
		b.Fatal(err)
	}
	sources, err := c.Sources(b.Context(), []string{resource})
	if err != nil {
		b.Fatal(err)
	}
	return sources[0].ListerWatcher
}

// syncOnce runs an informer until its store is synced and returns how long that
// took.
func syncOnce(b *testing.B, informer cache.SharedIndexInformer) time.Duration {
	b.Helper()
	runtime.GC()
	ctx, cancel := context.WithCancel(b.Context())
	ended := make(chan struct{})
	began := time.Now()
	go func() {
		defer close(ended)
		informer.RunWithContext(ctx)
	}()
	<-informer.HasSyncedChecker().Done()
	took := time.Since(began)
	if n := len(informer.GetStore().ListKeys()); n != benchObjects {
		b.Fatalf("the store has %d objects, want %d", n, benchObjects)
	}
	cancel()
	<-ended
	return took
}

// jsonFrame returns a function that encodes watch events as a server does.
func jsonFrame(tb testing.TB) func(watch.EventType, apiruntime.Object) []byte {
	return func(t watch.EventType, obj apiruntime.Object) []byte {
		tb.Helper()
		raw, err := json.Marshal(obj)
		if err != nil {
			tb.Fatal(err)
		}
		frame, err := json.Marshal(metav1.WatchEvent{Type: string(t), Object: apiruntime.RawExtension{Raw: raw}})
		if err != nil {
			tb.Fatal(err)
		}
		return append(frame, '\n')
	}
}
