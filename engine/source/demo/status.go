package demo

import (
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/apimachinery/pkg/watch"
)

// The texts are those of a real API server, because people search for them and
// programs match them.

// errWatchExpired refuses a watch from before the history window.
func errWatchExpired(asked, floor uint64) *apierrors.StatusError {
	return apierrors.NewResourceExpired(fmt.Sprintf("too old resource version: %d (%d)", asked, floor))
}

// errCompacted ends a watch whose history was forgotten while it was open.
func errCompacted() *apierrors.StatusError {
	return apierrors.NewResourceExpired("The resourceVersion for the provided watch is too old.")
}

// errListExpired refuses a list as of a revision before the history window.
func errListExpired() *apierrors.StatusError {
	return apierrors.NewResourceExpired("The resourceVersion for the provided list is too old.")
}

// errContinueExpired refuses a continue token whose revision is out of the
// history window, and offers one that goes on, inconsistently, at the present.
func errContinueExpired(token string) *apierrors.StatusError {
	err := apierrors.NewResourceExpired("The provided continue parameter is too old " +
		"to display a consistent list result. You can start a new list without " +
		"the continue parameter, or use the continue token in this response to " +
		"retrieve the remainder of the results. Continuing with the provided " +
		"token results in an inconsistent list - objects that were created, " +
		"modified, or deleted between the time the first chunk was returned " +
		"and now may show up in the list.")
	err.ErrStatus.ListMeta.Continue = token
	return err
}

// errTooLarge refuses a revision that the server has not reached.
func errTooLarge(asked, current uint64) *apierrors.StatusError {
	err := apierrors.NewTimeoutError(
		fmt.Sprintf("Too large resource version: %d, current: %d", asked, current), 1)
	err.ErrStatus.Details.Causes = []metav1.StatusCause{{
		Type:    metav1.CauseTypeResourceVersionTooLarge,
		Message: "Too large resource version",
	}}
	return err
}

// errOptions refuses list options that contradict each other.
func errOptions(errs field.ErrorList) *apierrors.StatusError {
	return apierrors.NewInvalid(schema.GroupKind{Group: metav1.GroupName, Kind: "ListOptions"}, "", errs)
}

// errShutDown refuses requests to a cluster whose Run has ended.
func errShutDown() *apierrors.StatusError {
	return apierrors.NewServiceUnavailable("apiserver is shutting down")
}

// endedStream is a watch that has nothing to say but one error.
type endedStream chan watch.Event

func newEndedStream(err *apierrors.StatusError) endedStream {
	s := make(endedStream, 1)
	status := err.Status()
	s <- watch.Event{Type: watch.Error, Object: &status}
	close(s)
	return s
}

func (s endedStream) ResultChan() <-chan watch.Event { return s }
func (s endedStream) Stop()                          {}
