package load

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/runtime"
)

// count notes how one change ended.
func (l *Load) count(err error) {
	if err == nil {
		l.done.Add(1)
		return
	}
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return
	}
	l.failed.Add(1)
	l.mu.Lock()
	defer l.mu.Unlock()
	l.lastError = err
}

// progress writes a line a second, and one more when it is stopped, which also
// ends its goroutine. A total of zero is one that is not known.
func (l *Load) progress(verb string, before, total int64) (stop func()) {
	l.done.Store(before)
	begun := time.Now()
	quit, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		second := time.NewTicker(time.Second)
		defer second.Stop()
		last, lastAt := before, begun
		for {
			select {
			case now := <-second.C:
				done := l.done.Load()
				l.line(verb, done, total, float64(done-last)/now.Sub(lastAt).Seconds())
				last, lastAt = done, now
			case <-quit:
				done := l.done.Load()
				l.line(verb, done, total, float64(done-before)/time.Since(begun).Seconds())
				return
			}
		}
	}()
	return func() {
		close(quit)
		<-ended
	}
}

func (l *Load) line(verb string, done, total int64, perSecond float64) {
	var text strings.Builder
	fmt.Fprintf(&text, "%s %d", verb, done)
	if total > 0 {
		fmt.Fprintf(&text, " of %d pods", total)
	}
	fmt.Fprintf(&text, ", %.1f/s", perSecond)
	l.mu.Lock()
	if failed := l.failed.Load(); failed > 0 {
		fmt.Fprintf(&text, ", %d failed, the last: %v", failed, l.lastError)
	}
	l.mu.Unlock()
	fmt.Fprintln(l.log, text.String())
}

// describe says how large one pod is in both encodings.
func (l *Load) describe(ctx context.Context) error {
	if len(l.pods) == 0 {
		return nil
	}
	pod := l.pods[0]
	size := func(contentType string) (int, error) {
		raw, err := l.clients[0].CoreV1().RESTClient().Get().Namespace(pod.Namespace).Resource("pods").Name(pod.Name).
			SetHeader("Accept", contentType).Do(ctx).Raw()
		if err != nil {
			return 0, fmt.Errorf("get the pod %s/%s as %s: %w", pod.Namespace, pod.Name, contentType, err)
		}
		return len(raw), nil
	}
	text, err := size(runtime.ContentTypeJSON)
	if err != nil {
		return err
	}
	binary, err := size(runtime.ContentTypeProtobuf)
	if err != nil {
		return err
	}
	fmt.Fprintf(l.log, "one pod is %d bytes of JSON, %d of protobuf\n", text, binary)
	return nil
}

// newDialer returns a dial function that no other client shares.
func newDialer() func(ctx context.Context, network, address string) (net.Conn, error) {
	return (&net.Dialer{Timeout: 10 * time.Second, KeepAlive: 30 * time.Second}).DialContext
}
