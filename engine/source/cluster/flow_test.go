package cluster

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"runtime"
	"strings"
	"testing"
	"testing/iotest"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	apiruntime "k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes/scheme"
)

// How events pass through reader, workers and sender, and how that ends.

// podDecoder returns a decoder of pods that calls finish with each.
func podDecoder(t *testing.T, finish func(apiruntime.Object)) *decoder {
	t.Helper()
	c := newCodec(scheme.Codecs.WithoutConversion(), corev1.SchemeGroupVersion.WithKind("Pod"), &corev1.Pod{})
	c.finish = finish
	d, ok := c.open(http.Header{"Content-Type": {protobufStream}})
	if !ok {
		t.Fatal("no decoder")
	}
	return d
}

func podTraffic() *traffic {
	return newTraffic(&target{ask: ask{resource: "pods"}}, func(string) {})
}

// numbered returns frames of n pods, named by their number.
func numbered(t *testing.T, n int) []byte {
	var data []byte
	for i := range n {
		data = append(data, protobufFrame(t)(watch.Added, pod(fmt.Sprint(i)))...)
	}
	return data
}

// Events come in order however long each takes to decode.
func TestOrderIsKept(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(4))
	const n = 3000
	d := podDecoder(t, func(apiruntime.Object) {
		if rand.IntN(20) == 0 {
			time.Sleep(time.Duration(rand.IntN(300)) * time.Microsecond)
		}
	})
	// One byte at a time is how a stream may come, too.
	for name, body := range map[string]io.Reader{
		"at once": bytes.NewReader(numbered(t, n)),
		"bytes":   iotest.OneByteReader(bytes.NewReader(numbered(t, n))),
		"halves":  iotest.HalfReader(bytes.NewReader(numbered(t, n))),
	} {
		events := drain(t, startStream(t.Context(), io.NopCloser(body), d, podTraffic()))
		if len(events) != n {
			t.Fatalf("%s: got %d events, want %d", name, len(events), n)
		}
		for i, e := range events {
			if got := e.Object.(*corev1.Pod).Name; got != fmt.Sprint(i) {
				t.Fatalf("%s: event %d is %s", name, i, got)
			}
		}
	}
}

// An event is sent when it has come, not when the next one does.
func TestEventsDoNotWaitForOthers(t *testing.T) {
	r, w := io.Pipe()
	s := startStream(t.Context(), r, podDecoder(t, func(apiruntime.Object) {}), podTraffic())
	defer s.Stop()
	for i := range 100 {
		go func() { _, _ = w.Write(protobufFrame(t)(watch.Added, pod(fmt.Sprint(i)))) }()
		if e := <-s.ResultChan(); e.Object.(*corev1.Pod).Name != fmt.Sprint(i) {
			t.Fatalf("got %v, want pod %d", e, i)
		}
	}
}

// At whatever moment Stop is called or the context ends, and whether or not
// anybody reads, every goroutine ends.
func TestStopEndsEverything(t *testing.T) {
	data := numbered(t, 2000)
	d := podDecoder(t, func(apiruntime.Object) {})
	for i := range 100 {
		synctest.Test(t, func(t *testing.T) {
			// The test fails if a goroutine is left.
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			r, w := io.Pipe()
			go func() { _, _ = w.Write(data) }()
			s := startStream(ctx, r, d, podTraffic())
			for range i * 17 {
				<-s.ResultChan()
			}
			if i%3 == 0 {
				synctest.Wait()
			}
			if i%2 == 0 {
				s.Stop()
				s.Stop()
			} else {
				cancel()
			}
			synctest.Wait()
			left := 0
			for range s.ResultChan() {
				left++
			}
			if left > resultBuffer {
				t.Errorf("%d events after the end", left)
			}
		})
	}
}

// A stream that nobody reads takes in a bounded part of what is sent.
func TestUnreadStreamIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		received := podTraffic()
		s := startStream(t.Context(), io.NopCloser(endless{frame: numbered(t, 1)}), podDecoder(t, func(apiruntime.Object) {}), received)
		synctest.Wait()
		const most = resultBuffer + (openBatches+2+mostWorkers)*batchFrames
		if got := received.Traffic().Events; got < resultBuffer || got > most {
			t.Errorf("took in %d events, want %d to %d", got, resultBuffer, most)
		}
		s.Stop()
	})
}

// endless is a body that has always one frame more.
type endless struct{ frame []byte }

func (e endless) Read(p []byte) (int, error) {
	n := 0
	for len(p)-n >= len(e.frame) {
		n += copy(p[n:], e.frame)
	}
	return n, nil
}

func TestDecodingThatPanicsSetsTheObjectAside(t *testing.T) {
	d := podDecoder(t, func(obj apiruntime.Object) {
		if obj.(*corev1.Pod).Name == "1" {
			panic("no such thing")
		}
	})
	received := podTraffic()
	events := drain(t, startStream(t.Context(), io.NopCloser(bytes.NewReader(numbered(t, 3))), d, received))
	got := received.Traffic()
	if len(events) != 2 || len(got.Quarantine) != 1 || !strings.Contains(got.Quarantine[0].Reason, "no such thing") {
		t.Errorf("got %d events and %+v", len(events), got.Quarantine)
	}
}
