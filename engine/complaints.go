package engine

import (
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/klog/v2"
)

const (
	// complainAgain is how long nothing is said of a matter that goes on.
	complainAgain = 10 * time.Minute
	// complaintsAtOnce lines are logged one after the other, then one a second: a
	// transform that fails on every object of a large list must not fill the log.
	complaintsAtOnce = 10
	// maxMatters is of how many it is known what was said; then all is forgotten.
	maxMatters = 1000
)

// complaints logs what the informer contains and goes on after, so that whoever
// reads only logs knows too. A matter is logged the first time, when its reason
// changes, and every complainAgain; what is not logged is counted in the next line
// that is. The zero value is ready. Safe for concurrent use.
//
// Loggers are foreign code, so a complaint is noted where the matter comes up, and
// logged by flush where no lock is held.
type complaints struct {
	noted atomic.Bool // there may be something to flush

	mu      sync.Mutex   // guards the fields below
	logger  *klog.Logger // nil stands for klog.Background()
	matters map[string]matter
	spare   int       // lines that may be logged at once
	spent   time.Time // when the last of them was taken
	silent  uint64    // not logged since the last line
	waiting []complaint
}

// matter is what was said about one subject, and when.
type matter struct {
	reason string
	at     time.Time
}

type complaint struct {
	err    error
	text   string
	values []any
}

// logTo says where to log.
func (c *complaints) logTo(logger klog.Logger) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.logger = &logger
}

// note complains of err about a subject. values go with it, as a logger takes
// them.
func (c *complaints) note(subject string, err error, text string, values ...any) {
	c.mu.Lock()
	defer c.mu.Unlock()
	now := time.Now()
	said, known := c.matters[subject]
	if known && said.reason == err.Error() && now.Sub(said.at) < complainAgain || !c.spendLocked(now) {
		c.silent++
		return
	}
	if c.matters == nil || len(c.matters) >= maxMatters {
		c.matters = map[string]matter{}
	}
	c.matters[subject] = matter{err.Error(), now}
	if c.silent > 0 {
		values = append(values, "notLogged", c.silent)
		c.silent = 0
	}
	c.waiting = append(c.waiting, complaint{err, text, values})
	c.noted.Store(true)
}

// spendLocked takes a line out of the allowance; false if there is none left.
func (c *complaints) spendLocked(now time.Time) bool {
	if since := now.Sub(c.spent); c.spent.IsZero() || since >= time.Second {
		c.spare = min(complaintsAtOnce, c.spare+int(since/time.Second))
		if c.spent.IsZero() {
			c.spare = complaintsAtOnce
		}
		c.spent = now
	}
	if c.spare == 0 {
		return false
	}
	c.spare--
	return true
}

// settled says that nothing is wrong with a subject any more: if something is
// again, it is news.
func (c *complaints) settled(subject string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.matters, subject)
}

// flush logs what was noted, as client-go logs what it goes on after.
func (c *complaints) flush() {
	if !c.noted.Load() {
		return
	}
	c.mu.Lock()
	c.noted.Store(false)
	waiting := c.waiting
	c.waiting = nil
	logger := klog.Background()
	if c.logger != nil {
		logger = *c.logger
	}
	c.mu.Unlock()
	for _, line := range waiting {
		utilruntime.HandleErrorWithLogger(logger, line.err, line.text, line.values...)
	}
}

// complainOfIndex notes that an index leaves an object out. All the objects of an
// index are one matter: there may be many.
func (i *Informer) complainOfIndex(index, key string, err error) {
	i.complaints.note("index "+index, fmt.Errorf("index function of %s: %w", index, err), "Object left out of an index", "informer", i.name, "index", index, "key", key)
}
