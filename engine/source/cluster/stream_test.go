package cluster

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"net/http"
	"reflect"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	apiruntime "k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer/protobuf"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
)

// protobufFrame returns a function that encodes watch events as a server does.
func protobufFrame(tb testing.TB) func(watch.EventType, apiruntime.Object) []byte {
	objects := protobuf.NewSerializer(scheme.Scheme, scheme.Scheme)
	return func(t watch.EventType, obj apiruntime.Object) []byte {
		tb.Helper()
		var raw bytes.Buffer
		if err := objects.Encode(obj, &raw); err != nil {
			tb.Fatal(err)
		}
		return protobufEvent(tb, string(t), raw.Bytes())
	}
}

// protobufEvent returns a frame with an event of any type about anything.
func protobufEvent(tb testing.TB, t string, object []byte) []byte {
	tb.Helper()
	event := metav1.WatchEvent{Type: t, Object: apiruntime.RawExtension{Raw: object}}
	frame, err := event.Marshal()
	if err != nil {
		tb.Fatal(err)
	}
	return append(binary.BigEndian.AppendUint32(nil, uint32(len(frame))), frame...)
}

const (
	protobufStream = "application/vnd.kubernetes.protobuf;stream=watch"
	jsonStream     = "application/json;stream=watch"
)

// serve returns a server that answers every watch with data and then ends it,
// or holds it.
func serve(t *testing.T, contentType string, data []byte, hold bool) *server {
	return startServer(t, &server{types: ordinary(), objects: func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", contentType)
		_, _ = w.Write(data)
		w.(http.Flusher).Flush()
		if hold {
			<-r.Context().Done()
		}
	}})
}

// openOurs opens a watch that must be one of ours.
func openOurs(t *testing.T, lw cache.ListerWatcherWithContext) *stream {
	t.Helper()
	w, err := lw.WatchWithContext(t.Context(), metav1.ListOptions{ResourceVersion: "1"})
	if err != nil {
		t.Fatal(err)
	}
	s, ok := w.(*stream)
	if !ok {
		t.Fatalf("the stream was left to client-go: %T", w)
	}
	t.Cleanup(s.Stop)
	return s
}

// drain returns all events of a watch that ends.
func drain(t *testing.T, w watch.Interface) []watch.Event {
	t.Helper()
	var events []watch.Event
	timeout := time.After(time.Minute)
	for {
		select {
		case e, ok := <-w.ResultChan():
			if !ok {
				return events
			}
			events = append(events, e)
		case <-timeout:
			t.Fatalf("the watch does not end; it had %d events", len(events))
		}
	}
}

// mixed returns a stream with everything that is in ordinary streams.
func mixed(frame func(watch.EventType, apiruntime.Object) []byte, object func(int) apiruntime.Object) [][]byte {
	var frames [][]byte
	types := []watch.EventType{watch.Added, watch.Added, watch.Modified, watch.Deleted, watch.Bookmark}
	for i := range 500 {
		frames = append(frames, frame(types[i%len(types)], object(i)))
	}
	return append(frames, frame(watch.Error, &metav1.Status{
		TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Status"}, Status: metav1.StatusFailure,
		Code: http.StatusGone, Reason: metav1.StatusReasonExpired, Message: "too old resource version: 1 (2)",
	}))
}

// Client-go on the same bytes is what our streams are compared with.
func TestStreamsEqualClientGos(t *testing.T) {
	pods := func(i int) apiruntime.Object { return realisticPod(i) }
	widgets := func(i int) apiruntime.Object { return realisticWidget(t, i) }
	partial := func(i int) apiruntime.Object {
		m := &metav1.PartialObjectMetadata{ObjectMeta: realisticPod(i).ObjectMeta}
		m.SetGroupVersionKind(metav1.SchemeGroupVersion.WithKind("PartialObjectMetadata"))
		return m
	}
	// Whether a marker is one is in an annotation, which has to come through.
	marked := func(object func(int) apiruntime.Object) func(int) apiruntime.Object {
		return func(i int) apiruntime.Object {
			obj := object(i)
			obj.(metav1.Object).SetAnnotations(map[string]string{metav1.InitialEventsAnnotationKey: "true"})
			return obj
		}
	}
	typed := func(t *testing.T, config *rest.Config) (watch.Interface, error) {
		config.ContentType = protobufType
		return kubernetes.NewForConfigOrDie(config).CoreV1().Pods("web").Watch(t.Context(), metav1.ListOptions{})
	}
	for _, tt := range []struct {
		name, resource, contentType string
		projection                  Projection
		frames                      [][]byte
		theirs                      func(*testing.T, *rest.Config) (watch.Interface, error)
	}{
		{"typed protobuf", "pods", protobufStream, Typed, mixed(protobufFrame(t), pods), typed},
		{"typed end markers", "pods", protobufStream, Typed, mixed(protobufFrame(t), marked(pods)), typed},
		{"typed json", "pods", jsonStream, Typed, mixed(jsonFrame(t), pods), typed},
		{"unstructured", "widgets", jsonStream, Typed, mixed(jsonFrame(t), widgets), func(t *testing.T, config *rest.Config) (watch.Interface, error) {
			gvr := realisticWidget(t, 0).GroupVersionKind().GroupVersion().WithResource("widgets")
			return dynamic.NewForConfigOrDie(config).Resource(gvr).Namespace("web").Watch(t.Context(), metav1.ListOptions{})
		}},
		{"metadata protobuf", "pods", protobufStream, Metadata, mixed(protobufMetadataFrame(t), partial), watchMetadata},
		{"metadata json", "pods", jsonStream, Metadata, mixed(jsonFrame(t), partial), watchMetadata},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := serve(t, tt.contentType, bytes.Join(tt.frames, nil), false)
			w, err := tt.theirs(t, &rest.Config{Host: s.URL})
			if err != nil {
				t.Fatal(err)
			}
			want := drain(t, w)
			if len(want) != len(tt.frames) {
				t.Fatalf("client-go got %d events, want %d", len(want), len(tt.frames))
			}
			src := one(t, openServer(t, s, Options{Projection: tt.projection}), tt.resource)
			got := drain(t, openOurs(t, aware(t, src)))
			if len(got) != len(want) {
				t.Fatalf("got %d events, want %d", len(got), len(want))
			}
			for i := range want {
				// Ours say whose they are [named metadata].
				if m, ok := want[i].Object.(*metav1.PartialObjectMetadata); ok {
					m.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind("Pod"))
				}
				if !reflect.DeepEqual(want[i], got[i]) {
					t.Fatalf("event %d (-client-go +ours):\n%s", i, cmp.Diff(want[i], got[i]))
				}
			}
			traffic := src.ListerWatcher.(Metered).Traffic()
			if size := uint64(len(bytes.Join(tt.frames, nil))); traffic.Bytes != size || traffic.Last.Bytes != size {
				t.Errorf("counted %d bytes, and %d in the last stream, want %d", traffic.Bytes, traffic.Last.Bytes, size)
			}
			if n := uint64(len(tt.frames)); traffic.Events != n || traffic.Streams != 1 || traffic.Undecodable != 0 {
				t.Errorf("counted %+v, want %d events", traffic, n)
			}
		})
	}
}

func watchMetadata(t *testing.T, config *rest.Config) (watch.Interface, error) {
	pods := corev1.SchemeGroupVersion.WithResource("pods")
	return metadata.NewForConfigOrDie(config).Resource(pods).Namespace("web").Watch(t.Context(), metav1.ListOptions{})
}

// protobufMetadataFrame is protobufFrame for metadata, which client-go's scheme
// does not know.
func protobufMetadataFrame(tb testing.TB) func(watch.EventType, apiruntime.Object) []byte {
	s := apiruntime.NewScheme()
	if err := metav1.AddMetaToScheme(s); err != nil {
		tb.Fatal(err)
	}
	metav1.AddToGroupVersion(s, corev1.SchemeGroupVersion)
	objects := protobuf.NewSerializer(s, s)
	return func(t watch.EventType, obj apiruntime.Object) []byte {
		var raw bytes.Buffer
		if err := objects.Encode(obj, &raw); err != nil {
			tb.Fatal(err)
		}
		return protobufEvent(tb, string(t), raw.Bytes())
	}
}

// Ordinary events go the short way: otherwise the comparison above would compare
// client-go with itself.
func TestOrdinaryEventsGoTheShortWay(t *testing.T) {
	s := serve(t, protobufStream, protobufFrame(t)(watch.Added, realisticPod(1)), false)
	typed := openOurs(t, aware(t, one(t, openServer(t, s, Options{}), "pods")))
	if e, ok := typed.decoder.short(protobufFrame(t)(watch.Added, realisticPod(1))[4:]); !ok || e.Type != watch.Added {
		t.Error("a pod took the long way")
	}
	s = serve(t, jsonStream, nil, false)
	custom := openOurs(t, aware(t, one(t, openServer(t, s, Options{}), "widgets")))
	if e, ok := custom.decoder.short(bytes.TrimSpace(jsonFrame(t)(watch.Deleted, realisticWidget(t, 1)))); !ok || e.Type != watch.Deleted {
		t.Error("an unstructured object took the long way")
	}
}

func TestUndecodableObjectIsSetAside(t *testing.T) {
	broken := append([]byte("k8s\x00"), "no protobuf"...)
	for _, tt := range []struct {
		name, resource, contentType string
		frame                       func(watch.EventType, apiruntime.Object) []byte
		object                      func(int) apiruntime.Object
		bad                         []byte
	}{
		{"protobuf", "pods", protobufStream, protobufFrame(t), func(i int) apiruntime.Object { return realisticPod(i) }, protobufEvent(t, "MODIFIED", broken)},
		{"typed json", "pods", jsonStream, jsonFrame(t), func(i int) apiruntime.Object { return realisticPod(i) }, []byte(`{"type":"MODIFIED","object":{"apiVersion":"v1","kind":"Pod","spec":7}}`)},
		{"unstructured", "widgets", jsonStream, jsonFrame(t), func(i int) apiruntime.Object { return realisticWidget(t, i) }, []byte(`{"type":"MODIFIED","object":{"apiVersion":"example.com/v1"}}`)},
	} {
		t.Run(tt.name, func(t *testing.T) {
			data := bytes.Join([][]byte{tt.frame(watch.Added, tt.object(0)), tt.bad, tt.frame(watch.Added, tt.object(1))}, nil)
			s := serve(t, tt.contentType, data, false)
			var warned []string
			c := openServer(t, s, Options{Warn: func(text string) { warned = append(warned, text) }})
			src := one(t, c, tt.resource)
			events := drain(t, openOurs(t, aware(t, src)))
			var names []string
			for _, e := range events {
				names = append(names, string(e.Type)+" "+e.Object.(metav1.Object).GetName())
			}
			want := []string{"ADDED " + realisticPod(0).Name, "ADDED " + realisticPod(1).Name}
			if diff := cmp.Diff(want, names); diff != "" {
				t.Errorf("events (-want +got):\n%s", diff)
			}
			got := src.ListerWatcher.(Metered).Traffic()
			if got.Undecodable != 1 || len(got.Quarantine) != 1 || got.Events != 3 {
				t.Fatalf("got %+v, want one undecodable object", got)
			}
			q := got.Quarantine[0]
			if q.Event != watch.Modified || q.Reason == "" || !bytes.HasSuffix(tt.bad, q.Frame) || q.Size != len(q.Frame) || q.Size == 0 {
				t.Errorf("set aside %+v, want the frame %q", q, tt.bad)
			}
			if len(warned) != 1 || !strings.Contains(warned[0], q.Reason) {
				t.Errorf("warned %q", warned)
			}
		})
	}
}

func TestUndecodableSecretIsHidden(t *testing.T) {
	data := protobufEvent(t, "ADDED", []byte("k8s\x00hunter2"))
	src := one(t, openServer(t, serve(t, protobufStream, data, false), Options{}), "secrets")
	drain(t, openOurs(t, aware(t, src)))
	q := src.ListerWatcher.(Metered).Traffic().Quarantine
	if len(q) != 1 || q[0].Frame != nil || q[0].Reason != fmt.Sprintf("<hidden: %d bytes>", q[0].Size) {
		t.Errorf("kept %+v", q)
	}
}

// What ends a stream, and with what: as for client-go's, where it is compared.
func TestEndsOfStreams(t *testing.T) {
	good := protobufFrame(t)(watch.Added, realisticPod(0))
	goodJSON := jsonFrame(t)(watch.Added, realisticPod(0))
	for _, tt := range []struct {
		name, contentType string
		end               []byte
		fails             bool
	}{
		{"nothing", protobufStream, nil, false},
		{"within a length", protobufStream, []byte{0, 0}, false},
		{"within a frame", protobufStream, good[:100], false},
		{"after a length", protobufStream, good[:4], false},
		{"within an envelope", protobufStream, append([]byte{0, 0, 0, 5}, 10, 9, 'A', 'D', 'D'), false},
		{"no length", protobufStream, []byte{0, 0, 0, 0}, true},
		{"no event", protobufStream, append([]byte{0, 0, 0, 3}, 0xff, 0xff, 1), true},
		{"unknown type", protobufStream, protobufEvent(t, "MOVED", nil), true},
		{"broken bookmark", protobufStream, protobufEvent(t, "BOOKMARK", []byte("no")), true},
		{"broken error", protobufStream, protobufEvent(t, "ERROR", []byte("no")), true},
		{"nothing", jsonStream, []byte(" \n"), false},
		{"within a frame", jsonStream, goodJSON[:100], false},
		{"no object", jsonStream, []byte("7\n"), true},
		{"no JSON", jsonStream, []byte("<html>"), true},
		{"broken JSON", jsonStream, []byte(`{"type":"ADDED","object":{]}}`), true},
		{"unknown type", jsonStream, []byte(`{"type":"MOVED","object":{}}`), true},
	} {
		t.Run(tt.contentType[12:16]+" "+tt.name, func(t *testing.T) {
			begin := good
			if tt.contentType == jsonStream {
				begin = goodJSON
			}
			s := serve(t, tt.contentType, append(bytes.Clone(begin), tt.end...), false)
			w, err := kubernetes.NewForConfigOrDie(&rest.Config{Host: s.URL}).CoreV1().Pods("web").Watch(t.Context(), metav1.ListOptions{})
			if err != nil {
				t.Fatal(err)
			}
			want := drain(t, w)
			got := drain(t, openOurs(t, aware(t, one(t, openServer(t, s, Options{}), "pods"))))
			if len(got) != len(want) || len(got) != 1 && !tt.fails || len(got) != 2 && tt.fails {
				t.Fatalf("got %d events, want %d", len(got), len(want))
			}
			if !tt.fails {
				return
			}
			err, theirs := apierrors.FromObject(got[1].Object), apierrors.FromObject(want[1].Object)
			ours, stock := err.(apierrors.APIStatus).Status(), theirs.(apierrors.APIStatus).Status()
			if got[1].Type != watch.Error || ours.Reason != stock.Reason || ours.Code != stock.Code || ours.Details.Causes[1].Type != stock.Details.Causes[1].Type {
				t.Errorf("got  %+v\nwant %+v", ours, stock)
			}
		})
	}
}

// A length that no frame has is known before 16 MiB have come.
func TestFrameThatIsTooLong(t *testing.T) {
	body := io.NopCloser(bytes.NewReader([]byte{0xff, 0xff, 0xff, 0xff}))
	events := drain(t, startStream(t.Context(), body, podDecoder(t, func(apiruntime.Object) {}), podTraffic()))
	if len(events) != 1 || events[0].Type != watch.Error || !strings.Contains(events[0].Object.(*metav1.Status).Message, "longer than maximum") {
		t.Errorf("got %v, want one error", events)
	}
}

// A server may answer what only client-go can read; then it does.
func TestUnusualAnswersAreLeftToClientGo(t *testing.T) {
	s := serve(t, "text/plain", nil, false)
	lw := aware(t, one(t, openServer(t, s, Options{}), "pods"))
	if _, err := lw.WatchWithContext(t.Context(), metav1.ListOptions{}); err == nil || !strings.Contains(err.Error(), "text/plain") {
		t.Errorf("got %v, want client-go's error", err)
	}
	// Without a content type client-go takes the first that it knows.
	s = serve(t, "", jsonFrame(t)(watch.Added, realisticPod(0)), false)
	s.Config.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header()["Content-Type"] = nil
		_, _ = w.Write(jsonFrame(t)(watch.Added, realisticPod(0)))
	})
	lw = aware(t, one(t, openServer(t, s, Options{}), "pods"))
	w, err := lw.WatchWithContext(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if _, ours := w.(*stream); ours {
		t.Error("read a stream of which it is not known what it is")
	}
	if events := drain(t, w); len(events) != 1 || events[0].Object.(*corev1.Pod).Name != realisticPod(0).Name {
		t.Errorf("got %v", events)
	}
}

func TestJSONFrames(t *testing.T) {
	large := `{"a":"` + strings.Repeat("x", 3*readSize) + `"}`
	objects := []string{`{}`, `{"a":{"b":"}{\\\"}"}}`, `{"a\\":["}"]}`, large, "{\n \"a\": 1\n}", `{"\\\\":"{"}`}
	for name, gap := range map[string]string{"none": "", "lines": "\n", "space": " \r\n\t"} {
		for _, slow := range []bool{false, true} {
			var r io.Reader = strings.NewReader(strings.Join(objects, gap) + gap)
			if slow {
				r = iotest.OneByteReader(r)
			}
			f := newJSONFramer(r)
			for i, want := range objects {
				if got, err := f.next(); err != nil || string(got) != want {
					t.Fatalf("gap %s, object %d: got %.50q, %v, want %.50q", name, i, got, err, want)
				}
			}
			if _, err := f.next(); err != io.EOF {
				t.Errorf("gap %s: ended with %v", name, err)
			}
		}
	}
}
