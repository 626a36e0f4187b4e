package reflector

import (
	"time"

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
	expired                            uint64 // of those that failed
}

// open begins a request.
func (l *requestLog) open(q inspect.Request) {
	l.made++
	q.ID, q.Outcome, q.Unanswered = l.made, inspect.OutcomeOpen, true
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
	q.Outcome, q.Next, q.Unanswered = outcome, next, false
	if err != nil {
		q.Error, q.Code = err.Error(), statusCode(err)
		l.failed++
		if outcome == inspect.OutcomeExpired {
			l.expired++
		}
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
		Expired:    r.requests.expired,
		Last:       r.requests.last(now, vitalRequests),
	}
}

// RequestsLost counts the requests that are no longer remembered.
func (r *Reflector) RequestsLost() uint64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.requests.lost()
}

// answered notes that the server has begun to answer the newest request.
func (r *Reflector) answered() {
	r.mu.Lock()
	r.requests.newest().Unanswered = false
	r.mu.Unlock()
	r.generation.Bump()
}

func (r *Reflector) openRequest(q inspect.Request) {
	r.mu.Lock()
	r.requests.open(q)
	r.vitals.Received = 0
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
