package tui

import (
	"context"
	"errors"
	"sync"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/informeter/informeter/engine/inspect"
)

const (
	// frameTime is the least time from one frame to the next.
	frameTime = time.Second / 30
	// heartbeat is the most: ages and countdowns move although nothing happens.
	heartbeat = time.Second
	// readTime is how long one read may take before it counts as failed.
	readTime = 10 * time.Second
)

// request is what the screen shows and therefore has to be read. Two equal ones
// ask for the same.
type request struct {
	informer  string // empty: the first one
	informers bool   // the summaries of all
	requests  bool   // every one remembered
	log       bool   // what the program has logged
	queue     wanted[inspect.QueueQuery]
	store     wanted[inspect.Query]
	buckets   wanted[bucketsQuery]
	bucket    wanted[bucketQuery]
	object    wanted[objectQuery]
	moments   wanted[inspect.MomentQuery]
	biography wanted[inspect.BiographyRequest]
	diff      wanted[inspect.DiffRequest]
}

// filter is what the rows on the screen are filtered by.
func (r *request) filter() string {
	switch {
	case r.store.on:
		return r.store.query.Filter
	case r.queue.on:
		return r.queue.query.Filter
	case r.bucket.on && r.bucket.query.Filter != "":
		return r.bucket.query.Filter
	}
	return r.buckets.query.Filter
}

// wanted is a query, if there is one.
type wanted[Q comparable] struct {
	query Q
	on    bool
}

func want[Q comparable](q Q) wanted[Q] { return wanted[Q]{q, true} }

type bucketsQuery struct {
	index string
	inspect.BucketQuery
}

type bucketQuery struct {
	index, value string
	inspect.Query
}

type objectQuery struct {
	key     string
	version uint64 // 0: the one in the store
	// unfolded asks for the managed fields too.
	unfolded bool
}

// answer is what was read for a query, or why it could not be.
type answer[T any] struct {
	value T
	err   error
	ok    bool // there is a value
}

// frame is everything the screen shows, read at one moment.
type frame struct {
	seq  uint64 // of the pull that read it
	read time.Time
	// at is the moment by the informer's own clock: ages count from it.
	at        time.Time
	request   request
	informers answer[[]inspect.Summary]
	snapshot  answer[inspect.Snapshot]
	requests  answer[[]inspect.Request]
	queue     answer[inspect.QueuePage]
	store     answer[inspect.Page]
	buckets   answer[inspect.BucketPage]
	bucket    answer[inspect.Page]
	object    answer[*document]
	moments   answer[inspect.MomentPage]
	biography answer[inspect.Biography]
	diff      answer[*diffDocument]
	log       []string
	forgotten uint64 // older lines of the log
}

// unfinished says that the rows shown are not all worked out yet.
func (f *frame) unfinished() bool {
	part := func(a *answer[inspect.Page]) bool {
		p := &a.value
		return a.ok && p.Scanned > 0 && p.Scanned < p.Total
	}
	return part(&f.store) || part(&f.bucket)
}

// frameMsg brings a frame to Update.
type frameMsg struct{ frame *frame }

// viewer is an inspector that wants to know how long somebody looks. Without it
// every window of the store may cost the sorting of all its keys.
type viewer interface {
	Open() (release func(), err error)
}

// source finds the informer that is looked at. It is safe for concurrent use:
// pulls that were overtaken may still be running.
type source struct {
	process inspect.Process

	mu        sync.Mutex // guards the fields below
	name      string
	inspector inspect.Inspector
	controls  inspect.Controls
	release   func()
	closed    bool
}

// find returns the inspector and controls of the informer called name.
func (s *source) find(name string) (inspect.Inspector, inspect.Controls, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.inspector != nil && s.name == name {
		return s.inspector, s.controls, nil
	}
	s.releaseLocked()
	s.inspector, s.controls = nil, nil
	inspector, controls, err := s.process.Informer(name)
	if err != nil || s.closed {
		return inspector, controls, err
	}
	if v, ok := inspector.(viewer); ok {
		// One that cannot be opened, because it has stopped, still answers.
		if release, err := v.Open(); err == nil {
			s.release = release
		}
	}
	s.name, s.inspector, s.controls = name, inspector, controls
	return inspector, controls, nil
}

func (s *source) releaseLocked() {
	if s.release != nil {
		s.release()
		s.release = nil
	}
}

// close stops looking.
func (s *source) close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = true
	s.releaseLocked()
}

// pull is one read of what the screen shows. At any time one pull is under way
// that will be drawn: a new one cancels the one before.
type pull struct {
	source    *source
	request   request
	summaries bool // read those of all informers, too
	seq       uint64
	// wait is set for a pull that follows a frame by itself: it waits for a
	// generation after that frame's, and not longer than pause.
	wait       bool
	generation uint64
	pause      time.Duration
	edge       time.Time // not before
	log        Log       // nil if there is none
	// have is the document shown now, which need not be made again.
	have     *document
	haveDiff *diffDocument
}

// command returns the pull as a command that ends early with ctx.
func (p pull) command(ctx context.Context) tea.Cmd {
	return func() tea.Msg {
		if p.wait {
			p.sleep(ctx)
			if ctx.Err() != nil {
				return nil
			}
		}
		ctx, cancel := context.WithTimeout(ctx, readTime)
		defer cancel()
		return frameMsg{p.read(ctx)}
	}
}

// sleep returns when the next frame is due.
func (p pull) sleep(ctx context.Context) {
	wait, cancel := context.WithTimeout(ctx, p.pause)
	defer cancel()
	inspector, _, err := p.source.find(p.request.informer)
	if err == nil {
		_, err = inspector.Wait(wait, p.generation)
	}
	if err != nil {
		<-wait.Done() // a failing source is asked once a heartbeat
	}
	rest := time.NewTimer(time.Until(p.edge))
	defer rest.Stop()
	select {
	case <-rest.C:
	case <-ctx.Done():
	}
}

// read reads everything the request names.
func (p pull) read(ctx context.Context) *frame {
	f := &frame{seq: p.seq, request: p.request}
	if p.summaries {
		f.informers = ask(p.source.process.Informers(ctx))
		if p.request.informer == "" && len(f.informers.value) > 0 {
			f.request.informer = f.informers.value[0].Name
		}
	}
	if f.request.informer != "" {
		p.readInformer(ctx, f)
	}
	if p.log != nil && p.request.log {
		f.log, f.forgotten = p.log.Lines()
	}
	f.read = time.Now()
	f.at = f.snapshot.value.At
	if f.at.IsZero() {
		f.at = f.read
	}
	return f
}

func (p pull) readInformer(ctx context.Context, f *frame) {
	i, _, err := p.source.find(f.request.informer)
	if err != nil {
		f.snapshot.err = err
		return
	}
	if f.snapshot = ask(i.Snapshot(ctx)); f.snapshot.err != nil {
		return
	}
	r := &f.request
	if r.requests {
		f.requests = ask(i.Requests(ctx))
	}
	if r.queue.on {
		f.queue = ask(i.Queue(ctx, r.queue.query))
	}
	if r.store.on {
		f.store = ask(i.Store(ctx, r.store.query))
	}
	if q := r.buckets.query; r.buckets.on {
		f.buckets = ask(i.Buckets(ctx, q.index, q.BucketQuery))
	}
	if q := r.bucket.query; r.bucket.on {
		f.bucket = ask(i.Bucket(ctx, q.index, q.value, q.Query))
	}
	if r.moments.on {
		f.moments = ask(i.Moments(ctx, r.moments.query))
	}
	if d := p.unchanged(f); r.object.on && d != nil {
		f.object = ask(d, nil)
	} else if r.object.on {
		f.object = ask(readDocument(ctx, i, r.object.query, p.have))
	}
	if r.biography.on {
		f.biography = ask(i.Biography(ctx, r.biography.query))
	}
	if r.diff.on {
		f.diff = ask(readDiff(ctx, i, r.diff.query, p.haveDiff))
	}
}

func ask[T any](value T, err error) answer[T] { return answer[T]{value, err, err == nil} }

// gone says whether an error means that there is no such thing any more.
func gone(err error) bool { return errors.Is(err, inspect.ErrNotFound) }
