package cluster

import (
	"errors"
	"net/http"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/watch"
)

// A resource that nobody could speak of at the start is found once the server
// speaks.
func TestLateResource(t *testing.T) {
	s := startServer(t, &server{
		types: ordinary(), forbidden: true,
		objects: func(w http.ResponseWriter, _ *http.Request) {
			answer(w, map[string]any{"apiVersion": "example.com/v1", "kind": "WidgetList", "items": []any{}})
		},
	})
	lw := aware(t, one(t, openServer(t, s, Options{}), "wd/blue"))
	_, err := lw.ListWithContext(t.Context(), metav1.ListOptions{})
	if err == nil || !strings.Contains(err.Error(), "forbidden (403)") {
		t.Errorf("LIST: got %v, want the server's reason", err)
	}
	_, err = lw.WatchWithContext(t.Context(), metav1.ListOptions{})
	if err == nil || !strings.Contains(err.Error(), "forbidden (403)") {
		t.Errorf("WATCH: got %v, want the server's reason", err)
	}

	s.set(func() { s.forbidden, s.requests = false, nil })
	for range 2 {
		list, err := lw.ListWithContext(t.Context(), metav1.ListOptions{})
		if err != nil {
			t.Fatal(err)
		}
		if _, ok := list.(*unstructured.UnstructuredList); !ok {
			t.Errorf("got a %T", list)
		}
	}
	want := "/api /apis /apis/example.com/v1/namespaces/web/widgets /apis/example.com/v1/namespaces/web/widgets"
	if got := strings.Join(trimQuery(s.asked()), " "); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

func TestLateResourceThatIsUnknown(t *testing.T) {
	s := startServer(t, &server{types: ordinary(), forbidden: true})
	lw := aware(t, one(t, openServer(t, s, Options{}), "widgest"))
	s.set(func() { s.forbidden = false })
	_, err := lw.ListWithContext(t.Context(), metav1.ListOptions{})
	var unknown *UnknownError
	if !errors.As(err, &unknown) || len(unknown.Near) == 0 {
		t.Errorf("got %v, want an UnknownError with what is near", err)
	}
}

// Built-in types asked for late stay what the informer was told they are.
func TestLateResourceStaysUnstructured(t *testing.T) {
	types := append(ordinary(), servedType{group: "batch", version: "v1beta1", plural: "cronjobs", kind: "CronJob", namespaced: true, short: []string{"cron"}})
	s := startServer(t, &server{
		types: types, forbidden: true,
		objects: func(w http.ResponseWriter, _ *http.Request) {
			answer(w, map[string]any{"apiVersion": "batch/v1beta1", "kind": "CronJobList", "items": []any{}})
		},
	})
	lw := aware(t, one(t, openServer(t, s, Options{}), "cron"))
	s.set(func() { s.forbidden = false })
	list, err := lw.ListWithContext(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if _, ok := list.(*unstructured.UnstructuredList); !ok {
		t.Errorf("got a %T", list)
	}
}

// What is known late is metered too.
func TestLateResourceIsMetered(t *testing.T) {
	s := startServer(t, &server{types: ordinary(), forbidden: true, objects: func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", jsonStream)
		_, _ = w.Write(jsonFrame(t)(watch.Added, realisticWidget(t, 0)))
	}})
	src := one(t, openServer(t, s, Options{}), "wd")
	m, ok := src.ListerWatcher.(Metered)
	if !ok || m.Traffic().Streams != 0 {
		t.Fatalf("a %T before anything was asked", src.ListerWatcher)
	}
	s.set(func() { s.forbidden = false })
	if events := drain(t, openOurs(t, aware(t, src))); len(events) != 1 || m.Traffic().Events != 1 {
		t.Errorf("got %d events and counted %+v", len(events), m.Traffic())
	}
}
