package demo

import (
	"math/rand/v2"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

const (
	// defaultTimeout ends watches that name no timeout of their own, after once
	// to twice as long.
	defaultTimeout = 30 * time.Minute
	// lastBookmark is how long before a watch's end it gets a last bookmark, so
	// that the next one need not go far back.
	lastBookmark = 2 * time.Second
)

// watchQuery is a WATCH, understood.
type watchQuery struct {
	revision uint64
	// state says that the present objects come first, as additions; endMark
	// that a bookmark says when they were all.
	state, endMark bool
	// fresh says that the state must not be older than revision.
	fresh     bool
	bookmarks bool
	timeout   time.Duration
}

// newWatchQuery reads a WATCH's options and refuses what contradicts itself.
func newWatchQuery(o metav1.ListOptions) (watchQuery, error) {
	if errs := validateWatch(o); len(errs) > 0 {
		return watchQuery{}, errOptions(errs)
	}
	revision, err := parseRevision(o.ResourceVersion)
	if err != nil {
		return watchQuery{}, apierrors.NewBadRequest(err.Error())
	}
	q := watchQuery{revision: revision, bookmarks: o.AllowWatchBookmarks}
	if o.SendInitialEvents == nil {
		q.state = revision == 0
	} else if *o.SendInitialEvents {
		q.state, q.fresh, q.endMark = true, true, o.AllowWatchBookmarks
	}
	if o.TimeoutSeconds != nil {
		q.timeout = time.Duration(*o.TimeoutSeconds) * time.Second
	}
	if q.timeout <= 0 {
		q.timeout = defaultTimeout + rand.N(defaultTimeout)
	}
	return q, nil
}

func validateWatch(o metav1.ListOptions) field.ErrorList {
	var errs field.ErrorList
	path := field.NewPath("resourceVersionMatch")
	match := o.ResourceVersionMatch
	if o.SendInitialEvents != nil && match != metav1.ResourceVersionMatchNotOlderThan {
		errs = append(errs, field.Forbidden(path, "sendInitialEvents requires setting resourceVersionMatch to NotOlderThan"))
	}
	if match != "" {
		if o.SendInitialEvents == nil {
			errs = append(errs, field.Forbidden(path, "resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided"))
		}
		if match != metav1.ResourceVersionMatchNotOlderThan {
			errs = append(errs, field.NotSupported(path, match, []string{string(metav1.ResourceVersionMatchNotOlderThan)}))
		}
		if o.Continue != "" {
			errs = append(errs, field.Forbidden(path, "resourceVersionMatch is forbidden when continue is provided"))
		}
	}
	return errs
}
