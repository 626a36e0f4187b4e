package store

import (
	"sync"
	"time"

	"github.com/informeter/informeter/engine/inspect"
	"github.com/informeter/informeter/engine/tap"
)

// An index function is timed in its first calls, so that something is known of a
// small store, and then once in so many: looking at the clock twice may cost more
// than the function itself.
const timedOnceIn = 64

// cost is how long an index function takes an object.
type cost struct {
	// calls counts how often the function was asked on behalf of a write.
	// Guarded by Indexer.writing.
	calls uint64

	mu      sync.Mutex  // guards latency; taken last
	latency tap.Latency // of the calls that were timed
}

// due says whether the next call is one to time.
func (c *cost) due() bool {
	c.calls++
	return c.calls <= timedOnceIn || c.calls%timedOnceIn == 0
}

// record notes a call that began at that time and has ended.
func (c *cost) record(began time.Time) {
	now := time.Now()
	c.mu.Lock()
	defer c.mu.Unlock()
	c.latency.Record(now, now.Sub(began), 1)
}

func (c *cost) summary() inspect.Latency {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.latency.Summary()
}
