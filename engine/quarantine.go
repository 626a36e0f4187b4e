package engine

import (
	"slices"
	"sync"
	"sync/atomic"
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

// quarantine lists what was set aside and is not well again.
//
//	fails ──▶ add ──▶ listed ──▶ gone: a newer state passes the stage, the object
//	                             is deleted, or a list comes without it
//
// The zero value is ready. Safe for concurrent use.
type quarantine struct {
	// told, if not nil, is told of everything that is set aside, without the lock;
	// it is logged through complaints, if that is not nil, under the name.
	told       func(journal.Skip)
	complaints *complaints
	name       func() string

	listed atomic.Int32 // len(last), for those who would have to take the lock

	mu    sync.Mutex // guards the fields below
	total uint64
	last  []aside // the newest at the end, one a key and stage
}

// aside is an entry of the list. number is that of its newest failure among all.
type aside struct {
	inspect.Quarantined
	number uint64
}

// add sets one object aside that came for that cause.
func (q *quarantine) add(stage, key string, obj any, cause inspect.Cause, err error) {
	now := time.Now()
	entry := aside{Quarantined: inspect.Quarantined{Key: key, Stage: stage, Error: err.Error(), At: now, Times: 1}}
	readable := true
	if entry.ResourceVersion, readable = resourceVersion(obj); !readable {
		obj = nil
	}
	if q.told != nil && key != "" {
		q.told(journal.Skip{Key: key, Object: obj, Cause: cause, Reason: stage + ": " + err.Error(), At: now})
	}
	if q.complaints != nil {
		q.complaints.note(subject(stage, key), err, "Object set aside", "informer", q.name(), "stage", stage, "key", key, "resourceVersion", entry.ResourceVersion)
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	q.total++
	entry.number = q.total
	same := func(e aside) bool { return e.Key == key && e.Stage == stage }
	if i := slices.IndexFunc(q.last, same); i >= 0 {
		entry.Times += q.last[i].Times
		q.last = slices.Delete(q.last, i, i+1)
	}
	if len(q.last) == maxQuarantined {
		q.last = slices.Delete(q.last, 0, 1)
	}
	q.last = append(q.last, entry)
	q.listed.Store(int32(len(q.last)))
}

func subject(stage, key string) string { return stage + " " + key }

// empty says that nothing is listed.
func (q *quarantine) empty() bool { return q.listed.Load() == 0 }

// well takes what was set aside of a key at these stages off the list: a newer
// state has passed there, or the object is gone.
func (q *quarantine) well(key string, stages ...string) {
	q.settle(func(e *aside) bool { return e.Key == key && slices.Contains(stages, e.Stage) })
}

// count returns how often something has been set aside.
func (q *quarantine) count() uint64 {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.total
}

// relisted takes off the list what was set aside before a list came in, and was
// not set aside by it: before is the count when it came. What failed when it was
// applied stays if the list has its key: it is to be applied again.
func (q *quarantine) relisted(before uint64, has func(key string) bool) {
	q.settle(func(e *aside) bool { return e.number <= before && (e.Stage != stageApply || !has(e.Key)) })
}

// settle takes off the list what is over.
func (q *quarantine) settle(over func(*aside) bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.last = slices.DeleteFunc(q.last, func(e aside) bool {
		done := over(&e)
		if done && q.complaints != nil {
			q.complaints.settled(subject(e.Stage, e.Key))
		}
		return done
	})
	q.listed.Store(int32(len(q.last)))
}

// vitals returns how often something was set aside, and the newest of what is
// not well again, the newest first.
func (q *quarantine) vitals() (total uint64, newest []inspect.Quarantined) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for _, e := range slices.Backward(q.last) {
		newest = append(newest, e.Quarantined)
	}
	return q.total, newest
}

// flush logs what was set aside. No lock may be held.
func (q *quarantine) flush() {
	if q.complaints != nil {
		q.complaints.flush()
	}
}

// resourceVersion returns that of an object, false if it has none that can be
// read: it may be the nil pointer that it is set aside for.
func resourceVersion(obj any) (version string, readable bool) {
	defer func() { _ = recover() }()
	m, err := meta.Accessor(obj)
	if err != nil {
		return "", false
	}
	version = m.GetResourceVersion()
	return version, true
}
