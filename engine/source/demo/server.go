package demo

import (
	"context"
	"fmt"
	"strconv"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/watch"
)

// freshFor is how long a request for a revision that the server has not reached
// is held before it is refused.
const freshFor = 3 * time.Second

// server stores objects and their history.
//
//	create, update, remove ─▶ table.objects   the newest version of each object
//	                       ─▶ table.history   the last writes, oldest first
//	                                             ▲        ▲
//	                                LIST as of N ┘        └ one cursor a watch
//
// One revision counts the writes to all types; an object's resourceVersion is
// the revision of its last write.
type server struct {
	limits limits
	// always is a channel that is closed: something can be had without waiting.
	always chan struct{}

	// mu guards everything below and in the tables. It is held for short,
	// bounded work only: copies are made and sent outside.
	mu       sync.Mutex
	revision uint64
	tables   map[string]*table
	// closed refuses new requests.
	closed bool
	// advanced is closed when the revision next grows; nil if nobody waits.
	advanced chan struct{}

	// streams counts the goroutines of open watches.
	streams sync.WaitGroup
}

// limits are the server's bounds and delays.
type limits struct {
	// history is how many writes to a type are remembered.
	history int
	// buffer is how many writes a watch may be behind.
	buffer int
	// latency is how long every answer takes.
	latency time.Duration
	// bookmarks is how often a watch that asked for them gets one.
	bookmarks time.Duration
}

func newServer(l limits, revision uint64) *server {
	s := &server{limits: l, always: make(chan struct{}), revision: revision, tables: map[string]*table{}}
	close(s.always)
	for _, r := range resources() {
		s.tables[r.name()] = newTable(r, l.history, revision)
	}
	return s
}

// create stores a new object and owns it from then on: nobody writes to it any
// more.
func (s *server) create(name string, o object) {
	s.put(name, watch.Added, o)
}

// update stores a new version of an object and owns it from then on.
func (s *server) update(name string, o object) {
	s.put(name, watch.Modified, o)
}

func (s *server) put(name string, kind watch.EventType, o object) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.advanceLocked(1)
	o.SetResourceVersion(formatRevision(s.revision))
	s.tables[name].appendLocked(event{revision: s.revision, kind: kind, key: keyOf(o), object: o}, s.limits.buffer)
}

// remove deletes an object.
func (s *server) remove(name, key string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.advanceLocked(1)
	s.tables[name].appendLocked(event{revision: s.revision, kind: watch.Deleted, key: key}, s.limits.buffer)
}

// elsewhere counts writes to types that the server does not serve: leases and
// events, for instance.
func (s *server) elsewhere(writes int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.advanceLocked(uint64(writes))
}

func (s *server) advanceLocked(writes uint64) {
	s.revision += writes
	if s.advanced != nil {
		close(s.advanced)
		s.advanced = nil
	}
}

// compact forgets the history of a type: requests for revisions before the
// present one are answered with 410. Watches that still had to be told of it are
// dropped.
func (s *server) compact(name string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	t := s.tables[name]
	for w := range t.watches {
		if w.next < t.history.end {
			t.dropLocked(w)
		}
	}
	t.history.clear(s.revision)
}

// stall lets the watches of a type send nothing more, as when the connection
// still stands and carries nothing, until they expire.
func (s *server) stall(name string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.tables[name].stalled = true
}

// expire forgets the history of a type and ends its watches with the 410 that a
// compaction under an open watch causes.
func (s *server) expire(name string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	t := s.tables[name]
	t.stalled = false
	t.history.clear(s.revision)
	for w := range t.watches {
		w.failLocked(errCompacted())
	}
}

// cut closes the watches of a type without a word, as a connection that breaks.
func (s *server) cut(name string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	t := s.tables[name]
	for w := range t.watches {
		t.dropLocked(w)
	}
}

// shutDown ends all watches, waits for them, and refuses what comes after.
func (s *server) shutDown() {
	s.mu.Lock()
	s.closed = true
	for _, t := range s.tables {
		for w := range t.watches {
			t.dropLocked(w)
		}
	}
	s.advanceLocked(0)
	s.mu.Unlock()
	s.streams.Wait()
}

// awaitLocked returns once the revision is at least asked, giving up the lock
// while it waits. It is called and returns with the lock held.
func (s *server) awaitLocked(ctx context.Context, asked uint64) error {
	patience, cancel := context.WithTimeout(ctx, freshFor)
	defer cancel()
	for asked > s.revision {
		switch {
		case s.closed:
			return errShutDown()
		case ctx.Err() != nil:
			return ctx.Err()
		case patience.Err() != nil:
			return errTooLarge(asked, s.revision)
		}
		if s.advanced == nil {
			s.advanced = make(chan struct{})
		}
		advanced := s.advanced
		s.mu.Unlock()
		select {
		case <-advanced:
		case <-patience.Done():
		}
		s.mu.Lock()
	}
	return nil
}

// delay sleeps for the server's latency.
func (s *server) delay(ctx context.Context) error {
	if s.limits.latency <= 0 {
		return ctx.Err()
	}
	timer := time.NewTimer(s.limits.latency)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func keyOf(o object) string {
	if ns := o.GetNamespace(); ns != "" {
		return ns + "/" + o.GetName()
	}
	return o.GetName()
}

func formatRevision(r uint64) string { return strconv.FormatUint(r, 10) }

// parseRevision reads a resourceVersion; "" and "0" are 0.
func parseRevision(text string) (uint64, error) {
	if text == "" {
		return 0, nil
	}
	r, err := strconv.ParseUint(text, 10, 64)
	if err != nil {
		return 0, fmt.Errorf("invalid resource version %q: %w", text, err)
	}
	return r, nil
}
