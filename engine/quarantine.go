package engine

import (
	"slices"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"

	"github.com/informeter/informeter/engine/inspect"
	"github.com/informeter/informeter/engine/journal"
)

// maxQuarantined bounds what a quarantine lists; older entries are forgotten,
// not their number.
const maxQuarantined = 16

// The stages at which an object can fail.
const (
	stageKey       = "key"
	stageTransform = "transform"
	stageApply     = "apply"
)

// quarantine lists what was set aside. The zero value is ready. Safe for
// concurrent use.
type quarantine struct {
	// told, if not nil, is told of everything that is set aside, without the lock.
	told func(journal.Skip)

	mu    sync.Mutex // guards the fields below
	total uint64
	last  []inspect.Quarantined // the newest at the end, one a key and stage
}

// add sets one object aside that came for that cause.
func (q *quarantine) add(stage, key string, obj any, cause inspect.Cause, err error) {
	if q.told != nil && key != "" {
		q.told(journal.Skip{Key: key, Object: obj, Cause: cause, Reason: stage + ": " + err.Error(), At: time.Now()})
	}
	entry := inspect.Quarantined{Key: key, Stage: stage, Error: err.Error(), At: time.Now(), Times: 1}
	entry.ResourceVersion = resourceVersion(obj)
	q.mu.Lock()
	defer q.mu.Unlock()
	q.total++
	same := func(e inspect.Quarantined) bool { return e.Key == key && e.Stage == stage }
	if i := slices.IndexFunc(q.last, same); i >= 0 {
		entry.Times += q.last[i].Times
		q.last = slices.Delete(q.last, i, i+1)
	}
	if len(q.last) == maxQuarantined {
		q.last = slices.Delete(q.last, 0, 1)
	}
	q.last = append(q.last, entry)
}

// vitals returns how many were set aside and the newest of them first.
func (q *quarantine) vitals() (total uint64, newest []inspect.Quarantined) {
	q.mu.Lock()
	defer q.mu.Unlock()
	newest = slices.Clone(q.last)
	slices.Reverse(newest)
	return q.total, newest
}

// resourceVersion returns that of an object, empty if it cannot tell: it may be
// the nil pointer that it is set aside for.
func resourceVersion(obj any) (version string) {
	defer func() { _ = recover() }()
	if m, err := meta.Accessor(obj); err == nil {
		version = m.GetResourceVersion()
	}
	return version
}
