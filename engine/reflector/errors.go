package reflector

import (
	"errors"
	"net/http"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	utilnet "k8s.io/apimachinery/pkg/util/net"

	"github.com/informeter/informeter/engine/inspect"
)

// What a reflector was doing when it failed, as ReflectorVitals.ErrorOp.
const (
	OpList      = "list"
	OpWatch     = "watch"
	OpWatchList = "watch-list"
	OpResync    = "resync"
)

var (
	// ErrNoEndMarker is why an initial stream is given up for a LIST: the server
	// keeps it open, or closes it again and again, and never says that it is
	// complete.
	ErrNoEndMarker = errors.New("initial stream without its end marker")
	// ErrOutlived is why a WATCH was cut on this side: the server was to end it
	// long ago, so the connection is probably dead.
	ErrOutlived = errors.New("watch outlived the timeout it asked for")
	// errPanic stands for a panic of the ListerWatcher or the store that the
	// process tolerates; the log has it.
	errPanic = errors.New("panic, see the log")
	// errNoAnswer is that of a LIST that has ended its goroutine.
	errNoAnswer = errors.New("the client ended its goroutine instead of answering")
	// errUnknownEvent is why an event of a type that is none of watch's was left
	// behind.
	errUnknownEvent = errors.New("unknown kind of event")
)

// Error is one failure: in which phase, doing what to which type, and why.
type Error struct {
	Op    string // OpList, OpWatch, OpWatchList or OpResync
	Phase inspect.Phase
	Type  string
	Err   error
}

// Error implements error.
func (e *Error) Error() string { return e.Op + " " + e.Type + ": " + e.Err.Error() }

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// isExpired says that the server no longer has the resource version: 410, whose
// reason is Expired or, from servers before 1.18, Gone.
func isExpired(err error) bool {
	return apierrors.IsResourceExpired(err) || apierrors.IsGone(err)
}

// isTooNew says that the server does not have the resource version yet.
func isTooNew(err error) bool {
	if apierrors.HasStatusCause(err, metav1.CauseTypeResourceVersionTooLarge) {
		return true
	}
	// Servers before 1.18.6 say so only in words: in a cause, or older still in
	// the message.
	const words = "Too large resource version"
	var answer apierrors.APIStatus
	if !apierrors.IsTimeout(err) || !errors.As(err, &answer) || answer.Status().Details == nil {
		return false
	}
	for _, cause := range answer.Status().Details.Causes {
		if cause.Message == words {
			return true
		}
	}
	return strings.Contains(answer.Status().Message, words)
}

// isBusy says that the server can't answer now and that nothing is wrong with
// the resource version: the same request is worth repeating after a wait.
func isBusy(err error) bool {
	return utilnet.IsConnectionRefused(err) || apierrors.IsTooManyRequests(err)
}

// outcomeOf classifies the error that ended a request.
func outcomeOf(verb inspect.Verb, err error) inspect.Outcome {
	switch code := statusCode(err); {
	case isExpired(err):
		return inspect.OutcomeExpired
	case isTooNew(err):
		return inspect.OutcomeTooNew
	case verb == inspect.VerbWatchList && meansRefusal(code):
		return inspect.OutcomeRefused
	}
	return inspect.OutcomeFailed
}

// meansRefusal says that a server which answers a WATCHLIST with this status
// does not do streaming lists, or not for us.
func meansRefusal(code int) bool {
	switch code {
	case http.StatusBadRequest, http.StatusForbidden, http.StatusMethodNotAllowed,
		http.StatusNotAcceptable, http.StatusUnsupportedMediaType, http.StatusUnprocessableEntity:
		return true
	}
	return false
}

// statusCode is the HTTP status in err, 0 if the server gave none.
func statusCode(err error) int {
	var answer apierrors.APIStatus
	if errors.As(err, &answer) {
		return int(answer.Status().Code)
	}
	return 0
}
