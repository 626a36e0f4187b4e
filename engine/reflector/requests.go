package reflector

import (
	"errors"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/informeter/informeter/engine/inspect"
)

const (
	// keptRequests is how many requests are remembered.
	keptRequests = 256
	// vitalRequests is how many of them are part of the vitals.
	vitalRequests = 5
)

// What follows a request, as Request.Next.
const (
	nextWatch  = "watch"
	nextRelist = "relist"
	nextList   = "list instead"
	nextRetry  = "retry"
)

// requestLog remembers the last keptRequests requests. Requests follow one
// another: at most the newest is open.
type requestLog struct {
	// kept holds request n at position (n-1) % keptRequests; it grows to that
	// size as requests come, since most informers make few.
	kept                               []inspect.Request
	made                               uint64 // requests ever; the newest has this ID
	lists, watchLists, watches, failed uint64
}

// open begins a request.
func (l *requestLog) open(q inspect.Request) {
	l.made++
	q.ID, q.Outcome = l.made, inspect.OutcomeOpen
	switch q.Verb {
	case inspect.VerbList:
		l.lists++
	case inspect.VerbWatch:
		l.watches++
	case inspect.VerbWatchList:
		l.watchLists++
	}
	if len(l.kept) < keptRequests {
		l.kept = append(l.kept, q)
		return
	}
	l.kept[(l.made-1)%keptRequests] = q
}

// newest is the request that is open or ended last; there must have been one.
func (l *requestLog) newest() *inspect.Request {
	return &l.kept[(l.made-1)%keptRequests]
}

// end closes the newest request.
func (l *requestLog) end(now time.Time, outcome inspect.Outcome, err error, next string) {
	q := l.newest()
	q.Ended, q.Lifetime = now, now.Sub(q.Started)
	q.Outcome, q.Next = outcome, next
	if err != nil {
		q.Error, q.Code = err.Error(), statusCode(err)
		l.failed++
	}
}

// last returns up to n requests, the newest first.
func (l *requestLog) last(now time.Time, n int) []inspect.Request {
	n = min(n, len(l.kept))
	out := make([]inspect.Request, 0, n)
	for i := range uint64(n) {
		q := l.kept[(l.made-1-i)%keptRequests]
		if q.Ended.IsZero() {
			q.Lifetime = now.Sub(q.Started)
		}
		out = append(out, q)
	}
	return out
}

func (l *requestLog) lost() uint64 { return l.made - uint64(len(l.kept)) }

// Requests returns the requests still remembered, the newest first. The
// lifetime of an open one is what it has lived so far.
func (r *Reflector) Requests() []inspect.Request {
	now := time.Now()
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.requests.last(now, keptRequests)
}

// RequestVitals counts the requests made and returns the newest few.
func (r *Reflector) RequestVitals() inspect.RequestVitals {
	now := time.Now()
	r.mu.Lock()
	defer r.mu.Unlock()
	return inspect.RequestVitals{
		Lists:      r.requests.lists,
		WatchLists: r.requests.watchLists,
		Watches:    r.requests.watches,
		Failed:     r.requests.failed,
		Last:       r.requests.last(now, vitalRequests),
	}
}

// RequestsLost counts the requests that are no longer remembered.
func (r *Reflector) RequestsLost() uint64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.requests.lost()
}

func (r *Reflector) openRequest(q inspect.Request) {
	r.mu.Lock()
	r.requests.open(q)
	r.mu.Unlock()
	r.generation.Bump()
}

func (r *Reflector) endRequest(outcome inspect.Outcome, err error, next string) {
	now := time.Now()
	r.mu.Lock()
	r.requests.end(now, outcome, err, next)
	r.mu.Unlock()
	r.generation.Bump()
}

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
