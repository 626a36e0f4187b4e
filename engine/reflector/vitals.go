package reflector

import (
	"errors"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/informeter/informeter/engine/inspect"
)

// failed notes a failure that the reflector has to recover from, and counts it.
func (r *Reflector) failed(op string, err error) *Error {
	e := &Error{Op: op, Phase: r.phase, Type: r.typeDescription, Err: err}
	r.mu.Lock()
	r.settleLocked(time.Now())
	r.establishedAt = time.Time{}
	r.failure = e
	r.failures++
	r.mu.Unlock()
	r.generation.Bump()
	return e
}

// settleLocked forgets the failure if the watch under way has shown that it
// works by living long enough. (Its first event shows that too, see observe.)
func (r *Reflector) settleLocked(now time.Time) {
	if r.failure != nil && !r.establishedAt.IsZero() && now.Sub(r.establishedAt) >= veryShort {
		r.recoveredLocked()
	}
}

func (r *Reflector) recoveredLocked() {
	r.failure, r.failures = nil, 0
}

// recoveredFromListingLocked forgets a failure to list. A failure to watch stays
// until a watch works: a list that succeeds does not make it better.
func (r *Reflector) recoveredFromListingLocked() {
	if r.failure != nil && (r.failure.Op == OpList || r.failure.Op == OpWatchList) {
		r.recoveredLocked()
	}
}

// Vitals says how the informer is connected to its server. It is what moves
// EventRate, so whoever shows that calls it regularly.
func (r *Reflector) Vitals(now time.Time) inspect.ReflectorVitals {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.settleLocked(now)
	v := r.vitals
	v.EventRate = r.rate.Sample(now, v.Added+v.Updated+v.Deleted)
	v.Failures = r.failures
	if r.failure != nil {
		v.Error = r.failure.Error()
		v.ErrorOp = r.failure.Op
		v.ErrorReason = reasonOf(r.failure)
	}
	return v
}

// reasonOf is the API's one-word reason, empty if the server gave none.
func reasonOf(err error) string {
	var answer apierrors.APIStatus
	if errors.As(err, &answer) {
		return string(answer.Status().Reason)
	}
	return ""
}
