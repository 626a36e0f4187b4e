package engine

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/tools/cache"

	"github.com/informeter/informeter/engine/inspect"
)

func byApp(obj any) ([]string, error) {
	if app := obj.(*corev1.Pod).Labels["app"]; app != "" {
		return []string{app}, nil
	}
	return nil, nil
}

// filled returns a running informer on ten pods of two apps, and its end.
func filled(s server, i *Informer) (stop func()) {
	for n := range 10 {
		s.Add(pod(fmt.Sprintf("p%d", n), "app", []string{"web", "api"}[n%2]))
	}
	stop = run(i)
	synctest.Wait()
	return stop
}

func TestASnapshotHasTheFieldsThatScriptsRelyOn(t *testing.T) {
	inBubble(t, Options{Name: "pods", Indexers: cache.Indexers{"app": byApp}}, func(t *testing.T, s server, i *Informer) {
		must[cache.ResourceEventHandlerRegistration](t)(i.AddNamedEventHandler("audit", &recorder{}, cache.HandlerOptions{}))
		stop := filled(s, i)
		text, err := json.Marshal(snapshot(t, i))
		if err != nil {
			t.Fatal(err)
		}
		var fields map[string]any
		if err := json.Unmarshal(text, &fields); err != nil {
			t.Fatal(err)
		}
		for path, want := range map[string]any{
			"informer.name": "pods", "informer.synced": true,
			"reflector.phase": "watching", "reflector.resourceVersion": "10", "reflector.error": "",
			"queue.kind": "DeltaFIFO", "queue.deltas": 0.0, "queue.keys": 0.0, "queue.objects": 0.0,
			"handle.deltas": 10.0, "store.objects": 10.0, "store.resourceVersion": "10",
			"indices.0.name": "app", "indices.0.buckets": 2.0,
			"listeners.0.name": "audit", "listeners.0.pending": 0.0, "listeners.0.synced": true,
			"resync.checkPeriodNs": 0.0, "requests.lists": 1.0, "lost.requests": 0.0,
		} {
			if got := at(fields, path); got != want {
				t.Errorf("%s = %v, want %v", path, got, want)
			}
		}
		stop()
	})
}

// at walks into decoded JSON along a dotted path.
func at(v any, path string) any {
	for _, step := range strings.Split(path, ".") {
		switch w := v.(type) {
		case map[string]any:
			v = w[step]
		case []any:
			v = w[step[0]-'0']
		default:
			return fmt.Sprintf("nothing at %s", step)
		}
	}
	return v
}

func TestAnInformerThatNeverRanHasASnapshotToo(t *testing.T) {
	inBubble(t, Options{Name: "pods"}, func(t *testing.T, s server, i *Informer) {
		got := snapshot(t, i)
		if got.Informer.State != inspect.StateCreated || got.Reflector.Phase != inspect.PhaseStarting || got.Queue.Kind != "DeltaFIFO" {
			t.Errorf("snapshot = %+v", got)
		}
		if page, err := i.Queue(t.Context(), inspect.QueueQuery{Limit: 5}); err != nil || len(page.Items) != 0 {
			t.Errorf("queue = %+v, %v", page, err)
		}
	})
}

func TestTheStoreAnswersTheSameWithAndWithoutAJournal(t *testing.T) {
	inBubble(t, Options{Indexers: cache.Indexers{"app": byApp}}, func(t *testing.T, s server, i *Informer) {
		stop := filled(s, i)
		queries := []inspect.Query{
			{Limit: 4},
			{Limit: 4, Desc: true},
			{Limit: 3, Cursor: "ns/p4", Offset: 1},
			{Limit: 3, Cursor: "ns/p4", Desc: true},
			{Limit: 3, Cursor: "ns/p44"},
			{Limit: 3, Cursor: "ns/p44", Desc: true},
			{Limit: 20, Filter: "!p3"},
			{Limit: 20, Filter: "P3"},
			{Limit: 0},
		}
		var before []inspect.Page
		for _, q := range queries {
			before = append(before, must[inspect.Page](t)(i.Store(t.Context(), q)))
		}
		release := must[func()](t)(i.Open())
		synctest.Wait()
		for n, q := range queries {
			page := must[inspect.Page](t)(i.Store(t.Context(), q))
			page.Generation = before[n].Generation
			if diff := cmp.Diff(before[n], page); diff != "" {
				t.Errorf("query %+v (-sorted +journal):\n%s", q, diff)
			}
		}
		release()
		stop()
	})
}

func TestTheExplorersListenerIsThereWhileSomebodyLooks(t *testing.T) {
	inBubble(t, Options{}, func(t *testing.T, s server, i *Informer) {
		stop := filled(s, i)
		explorers := func() int {
			n := 0
			for _, l := range snapshot(t, i).Listeners {
				if l.Explorer && l.Name == "informeter" && !l.Removing {
					n++
				}
			}
			return n
		}
		first := must[func()](t)(i.Open())
		second := must[func()](t)(i.Open())
		if n := explorers(); n != 1 {
			t.Errorf("two viewers have %d listeners, want one between them", n)
		}
		first()
		first() // releasing twice is releasing once
		if n := explorers(); n != 1 {
			t.Errorf("the second viewer has %d listeners, want one", n)
		}
		second()
		synctest.Wait()
		if n := explorers(); n != 0 {
			t.Errorf("nobody looks and there are %d listeners", n)
		}
		stop()
	})
}

func TestFromIndexToBucketToObject(t *testing.T) {
	inBubble(t, Options{Indexers: cache.Indexers{"app": byApp}}, func(t *testing.T, s server, i *Informer) {
		stop := filled(s, i)
		indices := must[[]inspect.IndexVitals](t)(i.Indices(t.Context()))
		if len(indices) != 1 || indices[0].Name != "app" || indices[0].Entries != 10 {
			t.Errorf("indices = %+v", indices)
		}
		buckets := must[inspect.BucketPage](t)(i.Buckets(t.Context(), "app", inspect.BucketQuery{Limit: 10}))
		if diff := cmp.Diff([]inspect.BucketRow{{Value: "api", Objects: 5}, {Value: "web", Objects: 5}}, buckets.Rows); diff != "" {
			t.Errorf("buckets (-want +got):\n%s", diff)
		}
		bucket := must[inspect.Page](t)(i.Bucket(t.Context(), "app", "web", inspect.Query{Limit: 2}))
		if len(bucket.Rows) != 2 || bucket.Rows[1].Key != "ns/p2" || bucket.Rows[1].ResourceVersion != "3" || bucket.Matched != 5 {
			t.Errorf("bucket = %+v", bucket)
		}
		object := must[inspect.Object](t)(i.Object(t.Context(), inspect.ObjectRequest{Key: "ns/p2"}))
		if diff := cmp.Diff([]inspect.ObjectIndex{{Index: "app", Values: []string{"web"}}}, object.Indices); diff != "" {
			t.Errorf("the object's indices (-want +got):\n%s", diff)
		}
		for name, err := range map[string]error{
			"Buckets": second(i.Buckets(t.Context(), "nope", inspect.BucketQuery{Limit: 1})),
			"Bucket":  second(i.Bucket(t.Context(), "nope", "x", inspect.Query{Limit: 1})),
			"Object":  second(i.Object(t.Context(), inspect.ObjectRequest{Key: "ns/nope"})),
		} {
			if !errors.Is(err, inspect.ErrNotFound) {
				t.Errorf("%s of what is not there = %v, want ErrNotFound", name, err)
			}
		}
		stop()
	})
}

// TestABucketIsSortedByAnyColumn while somebody looks: as the store is.
func TestABucketIsSortedByAnyColumn(t *testing.T) {
	inBubble(t, Options{Indexers: cache.Indexers{"app": byApp}}, func(t *testing.T, s server, i *Informer) {
		stop := filled(s, i)
		q := inspect.Query{Sort: inspect.SortUpdates, Desc: true, Limit: 20}
		if _, err := i.Bucket(t.Context(), "app", "web", q); !errors.Is(err, inspect.ErrUnsupported) {
			t.Errorf("while nobody looks: %v, want ErrUnsupported", err)
		}
		release := must[func()](t)(i.Open())
		synctest.Wait()
		for n := range 10 {
			for range n * 7 % 5 {
				s.Modify(pod(fmt.Sprintf("p%d", n), "app", []string{"web", "api"}[n%2]))
			}
		}
		synctest.Wait()
		var want []string
		for _, r := range must[inspect.Page](t)(i.Store(t.Context(), q)).Rows {
			if (r.Key[len(r.Key)-1]-'0')%2 == 0 {
				want = append(want, fmt.Sprint(r.Key, " ", r.Updates))
			}
		}
		page := must[inspect.Page](t)(i.Bucket(t.Context(), "app", "web", q))
		var got []string
		for _, r := range page.Rows {
			got = append(got, fmt.Sprint(r.Key, " ", r.Updates))
		}
		if diff := cmp.Diff(want, got); diff != "" || page.Matched != 5 || page.Total != 5 {
			t.Errorf("bucket, %d of %d (-store +bucket):\n%s", page.Matched, page.Total, diff)
		}
		if err := second(i.Bucket(t.Context(), "nope", "x", q)); !errors.Is(err, inspect.ErrNotFound) {
			t.Errorf("a bucket of no index: %v, want ErrNotFound", err)
		}
		release()
		stop()
	})
}

func second[T any](_ T, err error) error { return err }

func TestAQueueIsSortedByWhatItsRowsHave(t *testing.T) {
	inBubble(t, Options{}, func(t *testing.T, s server, i *Informer) {
		stop := filled(s, i)
		for _, by := range []inspect.Sort{"", inspect.SortPosition, inspect.SortKey, inspect.SortAge, inspect.SortDeltas, inspect.SortCause} {
			if _, err := i.Queue(t.Context(), inspect.QueueQuery{Sort: by, Limit: 1}); err != nil {
				t.Errorf("by %q: %v", by, err)
			}
		}
		if _, err := i.Queue(t.Context(), inspect.QueueQuery{Sort: inspect.SortSize}); !errors.Is(err, inspect.ErrUnsupported) {
			t.Errorf("by size: %v, want ErrUnsupported", err)
		}
		stop()
	})
}

func TestObjectsCarryTheirKind(t *testing.T) {
	scheme := runtime.NewScheme()
	if err := corev1.AddToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	inBubble(t, Options{Scheme: scheme}, func(t *testing.T, s server, i *Informer) {
		stop := filled(s, i)
		object := must[inspect.Object](t)(i.Object(t.Context(), inspect.ObjectRequest{Key: "ns/p0"}))
		var got struct{ APIVersion, Kind string }
		if err := json.Unmarshal(object.JSON, &got); err != nil {
			t.Fatal(err)
		}
		if got.APIVersion != "v1" || got.Kind != "Pod" {
			t.Errorf("apiVersion, kind = %q, %q", got.APIVersion, got.Kind)
		}
		stop()
	})
}

func secret() *corev1.Secret {
	return &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: "ns", Name: "db", UID: "u1",
			Annotations: map[string]string{lastApplied: `{"data":{"password":"aHVudGVyMg=="}}`, "other": "stays"},
		},
		Data:       map[string][]byte{"password": []byte("hunter2")},
		StringData: map[string]string{"user": "root"},
	}
}

func TestASecretsContentsAreReplacedByTheirSizes(t *testing.T) {
	for _, scheme := range []*runtime.Scheme{nil, runtime.NewScheme()} {
		i := New(nil, &corev1.Secret{}, Options{Scheme: scheme})
		if err := i.GetStore().Add(secret()); err != nil {
			t.Fatal(err)
		}
		object := must[inspect.Object](t)(i.Object(t.Context(), inspect.ObjectRequest{Key: "ns/db"}))
		for _, clear := range []string{"hunter2", "aHVudGVyMg", "root"} {
			if strings.Contains(string(object.JSON), clear) {
				t.Errorf("%q can be read in %s", clear, object.JSON)
			}
		}
		for _, want := range []string{`"password":"\u003chidden: 7 bytes\u003e"`, `"other":"stays"`} {
			if !strings.Contains(string(object.JSON), want) {
				t.Errorf("%s is not in %s", want, object.JSON)
			}
		}
		if !object.Redacted {
			t.Error("nothing says that something is hidden")
		}
	}
}

func TestASecretIsRevealedOnlyWhereThatIsAllowed(t *testing.T) {
	for _, allowed := range []bool{false, true} {
		i := New(nil, &corev1.Secret{}, Options{AllowReveal: allowed})
		if err := i.GetStore().Add(secret()); err != nil {
			t.Fatal(err)
		}
		object, err := i.Object(t.Context(), inspect.ObjectRequest{Key: "ns/db", Reveal: true})
		switch {
		case !allowed && !errors.Is(err, inspect.ErrReadOnly):
			t.Errorf("reveal = %v, want ErrReadOnly", err)
		case allowed && !strings.Contains(string(object.JSON), "aHVudGVyMg"):
			t.Errorf("allowed, and not revealed: %s, %v", object.JSON, err)
		}
	}
}

func TestWaitWakesForEveryChangeAReaderCouldSee(t *testing.T) {
	inBubble(t, Options{}, func(t *testing.T, s server, i *Informer) {
		stop := filled(s, i)
		for name, change := range map[string]func(){
			"an event":     func() { s.Add(pod("new")) },
			"a pause":      func() { must[struct{}](t)(struct{}{}, i.Pause(t.Context())) },
			"a handler":    func() { must[cache.ResourceEventHandlerRegistration](t)(i.AddEventHandler(&recorder{})) },
			"a new index":  func() { must[struct{}](t)(struct{}{}, i.AddIndexers(cache.Indexers{"app": byApp})) },
			"a cut stream": func() { s.ResetWatch() },
		} {
			synctest.Wait()
			since := snapshot(t, i).Generation
			change()
			if got := must[uint64](t)(i.Wait(t.Context(), since)); got <= since {
				t.Errorf("%s moved the generation from %d to %d", name, since, got)
			}
		}
		stop()
	})
}

func TestARegistryKeepsInformersApartByName(t *testing.T) {
	r := NewRegistry()
	for range 2 {
		New(newServer(), &corev1.Pod{}, Options{Name: "pods", Registry: r})
	}
	r.NewInformer(newServer(), &corev1.Node{}, 0, nil)
	var names []string
	for _, s := range must[[]inspect.Summary](t)(r.Informers(t.Context())) {
		names = append(names, s.Name)
		if _, controls, err := r.Informer(s.Name); err != nil || controls == nil {
			t.Errorf("informer %s: %v, %v", s.Name, controls, err)
		}
	}
	if diff := cmp.Diff([]string{"pods", "pods#2", "v1.Node"}, names); diff != "" {
		t.Errorf("names (-want +got):\n%s", diff)
	}
	if _, _, err := r.Informer("nope"); !errors.Is(err, inspect.ErrNotFound) {
		t.Errorf("Informer(nope) = %v", err)
	}
}

func TestARegistryKeepsOneOfThoseThatCameAndWent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, r := newServer(), NewRegistry()
		defer s.Shutdown() // after whoever watches has ended: it answers nothing more
		names := func() (names []string) {
			for _, summary := range must[[]inspect.Summary](t)(r.Informers(t.Context())) {
				names = append(names, summary.Name+" "+string(summary.State))
			}
			return names
		}
		defer run(New(s, &corev1.Pod{}, Options{Name: "pods", Registry: r}))()
		for range 3 {
			run(New(s, &corev1.Pod{}, Options{Name: "pods", Registry: r}))()
		}
		run(New(s, &corev1.Pod{}, Options{Name: "others", Registry: r}))()
		want := []string{"pods running", "pods#2 stopped", "others stopped"}
		if diff := cmp.Diff(want, names()); diff != "" {
			t.Errorf("registered (-want +got):\n%s", diff)
		}
		if _, _, err := r.Informer("pods#2"); err != nil {
			t.Errorf("the last that stopped cannot be looked at: %v", err)
		}
	})
}

func TestTheProjectionsOfAKindHaveNamesOfTheirOwn(t *testing.T) {
	r := NewRegistry()
	whole, partial := &unstructured.Unstructured{}, &metav1.PartialObjectMetadata{}
	for _, example := range []runtime.Object{&corev1.Secret{}, whole, partial} {
		if _, typed := example.(*corev1.Secret); !typed {
			example.GetObjectKind().SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind("Secret"))
		}
		r.NewInformer(newServer(), example, 0, nil)
	}
	var names []string
	for _, summary := range must[[]inspect.Summary](t)(r.Informers(t.Context())) {
		names = append(names, summary.Name)
	}
	if diff := cmp.Diff([]string{"v1.Secret", "v1, Kind=Secret", "v1, Kind=Secret (metadata)"}, names); diff != "" {
		t.Errorf("registered (-want +got):\n%s", diff)
	}
}
