package cluster

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"runtime"
	"sync"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/util/net"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/klog/v2"
)

const (
	// resultBuffer is how many decoded events wait for whoever reads them.
	resultBuffer = 256
	// openBatches is how many batches are between the reader and the sender.
	openBatches = 16
	// batchBytes and batchFrames bound a batch; a frame that is longer has one of
	// its own.
	batchBytes  = 32 << 10
	batchFrames = 64
	// mostWorkers is beyond what one connection can feed.
	mostWorkers = 4
)

// batch is a run of frames on its way through a stream.
type batch struct {
	mu     sync.Mutex
	sealed bool   // a worker has it, no frame is added; until the reader takes it from spare; guarded by mu
	data   []byte // the frames, one after the other; guarded by mu until sealed
	ends   []int  // where each of them ends in data; guarded by mu until sealed

	// The rest is the worker's until it fills done, and the sender's then.
	events []watch.Event
	err    error // ends the stream, after the events
	done   chan struct{}
}

// add adds a frame and says whether there was room for it.
func (b *batch) add(frame []byte) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.sealed || len(b.ends) == batchFrames || len(b.ends) > 0 && len(b.data)+len(frame) > batchBytes {
		return false
	}
	b.data = append(b.data, frame...)
	b.ends = append(b.ends, len(b.data))
	return true
}

func (b *batch) seal() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.sealed = true
}

// stream is an open WATCH. See the package's documentation for how it works.
type stream struct {
	logger  klog.Logger
	decoder *decoder
	traffic *traffic
	meter   *meter
	body    io.ReadCloser
	stop    sync.Once
	stopped chan struct{} // closed by Stop

	result chan watch.Event
	// ordered holds the batches in the order of the stream, for the sender, and
	// undecoded the same ones for the workers. The reader sends to both and
	// closes undecoded. A batch in undecoded is in ordered too, or with the
	// sender, so that undecoded has always room.
	ordered   chan *batch
	undecoded chan *batch
	spare     chan *batch // to be used again
}

// startStream returns a watch of the events in body. Its goroutines end when the
// stream does, when ctx does, and when Stop is called.
func startStream(ctx context.Context, body io.ReadCloser, d *decoder, t *traffic) watch.Interface {
	s := &stream{
		logger:    klog.FromContext(ctx),
		decoder:   d,
		traffic:   t,
		meter:     t.begin(),
		body:      body,
		stopped:   make(chan struct{}),
		result:    make(chan watch.Event, resultBuffer),
		ordered:   make(chan *batch, openBatches),
		undecoded: make(chan *batch, openBatches+1),
		spare:     make(chan *batch, openBatches+1),
	}
	leave := context.AfterFunc(ctx, s.Stop)
	go s.read()
	for range min(runtime.GOMAXPROCS(0), mostWorkers) {
		go s.work()
	}
	go func() {
		defer leave()
		s.send()
	}()
	return s
}

// ResultChan implements watch.Interface.
func (s *stream) ResultChan() <-chan watch.Event { return s.result }

// Stop implements watch.Interface.
func (s *stream) Stop() {
	s.stop.Do(func() {
		close(s.stopped)
		// It is only read from, and nobody reads any more.
		_ = s.body.Close()
	})
}

// metering counts what is read from a stream.
type metering struct {
	io.Reader
	*meter
}

func (m metering) Read(p []byte) (int, error) {
	n, err := m.Reader.Read(p)
	m.bytes.Add(uint64(n))
	return n, err
}

// read cuts the stream into frames until it ends.
func (s *stream) read() {
	defer close(s.undecoded)
	counted := metering{s.body, s.meter}
	var frames framer = newLengthFramer(counted)
	if s.decoder.json {
		frames = newJSONFramer(counted)
	}
	var b *batch
	for {
		frame, err := frames.next()
		if err != nil {
			s.enqueue(&batch{err: err, done: make(chan struct{}, 1)})
			return
		}
		s.meter.events.Add(1)
		// As long as no worker has come for a batch, it grows: the busier they
		// are, the larger the batches.
		if b != nil && b.add(frame) {
			continue
		}
		b = s.unused()
		b.add(frame)
		if !s.enqueue(b) {
			return
		}
	}
}

// enqueue hands a batch to the sender and the workers, and waits until there is
// room for it; false if the stream was stopped.
func (s *stream) enqueue(b *batch) bool {
	select {
	case s.ordered <- b:
		s.undecoded <- b
		return true
	case <-s.stopped:
		return false
	}
}

// unused returns an empty batch.
func (s *stream) unused() *batch {
	select {
	case b := <-s.spare:
		b.mu.Lock()
		defer b.mu.Unlock()
		b.sealed = false
		return b
	default:
		return &batch{done: make(chan struct{}, 1)}
	}
}

// work decodes batches until there are no more.
func (s *stream) work() {
	for b := range s.undecoded {
		select {
		case <-s.stopped:
			continue
		default:
		}
		b.seal()
		s.decode(b)
		b.done <- struct{}{}
	}
}

// decode fills in the events of a batch.
func (s *stream) decode(b *batch) {
	from := 0
	for _, end := range b.ends {
		frame := b.data[from:end]
		from = end
		e, err := s.decoder.decode(frame)
		// Unlike client-go, which ends the stream, an object that can't be decoded
		// is set aside: to ask for it again would bring it again, and every other
		// object would wait [undecodable].
		if bad, ok := errors.AsType[*unreadableError](err); ok {
			s.traffic.setAside(s.meter, bad.event, bad.err, frame)
			continue
		}
		if err != nil {
			b.err = err
			return
		}
		b.events = append(b.events, e)
	}
}

// send sends what is decoded, in order, until the stream ends.
func (s *stream) send() {
	defer close(s.result)
	defer s.Stop()
	for {
		b, ok := receive(s, s.ordered)
		if !ok {
			return
		}
		if _, ok := receive(s, b.done); !ok {
			return
		}
		for _, e := range b.events {
			if !s.sendEvent(e) {
				return
			}
		}
		if b.err != nil {
			s.sendEnd(b.err)
			return
		}
		s.reuse(b)
	}
}

// receive receives from c; false if the stream was stopped.
func receive[T any](s *stream, c <-chan T) (value T, ok bool) {
	select {
	case value = <-c:
		return value, true
	case <-s.stopped:
		return value, false
	}
}

// sendEvent sends an event; false if the stream was stopped.
func (s *stream) sendEvent(e watch.Event) bool {
	select {
	case s.result <- e:
		return true
	default:
	}
	select {
	case s.result <- e:
		return true
	case <-s.stopped:
		return false
	}
}

// sendEnd says why the stream ends, where client-go's StreamWatcher does, in its
// words: a connection that is gone needs none, as the reader will ask again.
func (s *stream) sendEnd(err error) {
	switch {
	case errors.Is(err, io.EOF):
	case errors.Is(err, io.ErrUnexpectedEOF):
		s.logger.V(1).Info("A watch ended within an event")
	case net.IsProbableEOF(err), net.IsTimeout(err):
		s.logger.V(5).Info("A watch could not be read any further", "err", err)
	default:
		reporter := apierrors.NewClientErrorReporter(http.StatusInternalServerError, http.MethodGet, "ClientWatchDecoding")
		s.sendEvent(watch.Event{
			Type:   watch.Error,
			Object: reporter.AsObject(fmt.Errorf("unable to decode an event from the watch stream: %w", err)),
		})
	}
}

// reuse empties a batch for the next frames, and lets go of what is large. The
// batch stays sealed: the reader may still try to add to it.
func (s *stream) reuse(b *batch) {
	clear(b.events)
	b.events, b.ends, b.data = b.events[:0], b.ends[:0], b.data[:0]
	if cap(b.data) > 2*batchBytes {
		b.data = nil
	}
	select {
	case s.spare <- b:
	default:
	}
}
