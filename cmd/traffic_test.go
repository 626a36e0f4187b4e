package cmd

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/informeter/informeter/engine/inspect"
)

// streaming answers watches with the events and leaves them open, and refuses
// initial events and lists them in place.
func streaming(list string, events ...string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		switch q := r.URL.Query(); {
		case q.Get("watch") == "":
			_, _ = fmt.Fprint(w, list)
		case q.Get("sendInitialEvents") != "":
			http.Error(w, `{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"Invalid","code":422}`, http.StatusUnprocessableEntity)
		default:
			for _, e := range events {
				_, _ = fmt.Fprintln(w, e)
			}
			w.(http.Flusher).Flush()
			<-r.Context().Done()
		}
	}
}

func TestSnapshotSaysWhatCameOverTheWire(t *testing.T) {
	isolate(t)
	long := strings.Repeat("x", 2000)
	url := serve(t, streaming(`{"kind":"PodList","apiVersion":"v1","metadata":{"resourceVersion":"5"},"items":[]}`,
		`{"type":"ADDED","object":{"kind":"Pod","apiVersion":"v1","metadata":{"name":"a","namespace":"web","resourceVersion":"6"}}}`,
		`{"type":"ADDED","object":{"kind":"Pod","apiVersion":"v1","metadata":{"name":"b"},"spec":"`+long+`"}}`))
	got := run(t, "snapshot", "pods", "--server", url, "--for", "1s")
	if got.code != 0 {
		t.Fatalf("code %d: %s", got.code, got.stderr)
	}
	var s inspect.Snapshot
	if err := json.Unmarshal([]byte(got.stdout), &s); err != nil {
		t.Fatal(err)
	}
	if s.Traffic == nil || s.Traffic.Streams != 1 || s.Traffic.Events != 2 || s.Traffic.Bytes < 2000 || s.Traffic.Undecodable != 1 {
		t.Fatalf("got %+v, want two events", s.Traffic)
	}
	u := s.Traffic.Quarantine[0]
	if u.Event != "ADDED" || u.Reason == "" || u.Size < 2000 || len(u.Frame) > shownFrame+3 || !strings.HasPrefix(u.Frame, `{"kind":"Pod"`) && !strings.HasPrefix(u.Frame, `{"type":"ADDED"`) {
		t.Errorf("set aside %+v", u)
	}
}

func TestSnapshotShowsNoFrameOfASecret(t *testing.T) {
	isolate(t)
	url := serve(t, streaming(`{"kind":"SecretList","apiVersion":"v1","metadata":{"resourceVersion":"5"},"items":[]}`,
		`{"type":"ADDED","object":{"kind":"Secret","apiVersion":"v1","metadata":{"name":"a"},"data":{"password":"hunter2!"},"type":7}}`))
	for _, projection := range []string{"typed", "unstructured", "metadata"} {
		got := run(t, "snapshot", "secrets", "--server", url, "--for", "1s", "--projection", projection)
		if got.code != 0 || strings.Contains(got.stdout+got.stderr, "hunter2") {
			t.Errorf("%s: code %d: %s%s", projection, got.code, got.stdout, got.stderr)
		}
		if projection == "typed" && !strings.Contains(got.stdout, `"undecodable": 1`) {
			t.Errorf("nothing was set aside: %s", got.stdout)
		}
	}
}

func TestSnapshotOfTheDemoHasNoTraffic(t *testing.T) {
	isolate(t)
	if got := run(t, "snapshot", "--demo"); got.code != 0 || strings.Contains(got.stdout, `"traffic"`) {
		t.Errorf("code %d: %s", got.code, got.stdout)
	}
}

func TestFramesAreReadable(t *testing.T) {
	for frame, want := range map[string]string{
		"":                             "",
		`{"a":"é"}`:                    `{"a":"é"}`,
		"k8s\x00\xff\n":                `"k8s\x00\xff\n"`,
		"{" + strings.Repeat("é", 300): "{" + strings.Repeat("é", 255) + "…",
	} {
		if got := frameText([]byte(frame)); got != want {
			t.Errorf("%q: got %q, want %q", frame, got, want)
		}
	}
}
