package findings

import (
	"net/http"
	"strings"
	"time"

	"github.com/informeter/informeter/engine/inspect"
)

// What a reflector was doing, and the API's reason, as inspect.ReflectorVitals
// has them.
const (
	opList      = "list"
	opWatch     = "watch"
	opWatchList = "watch-list"

	reasonForbidden = "Forbidden"
)

// noEndMarker is in the error of an initial stream that was given up, as package
// reflector words it.
const noEndMarker = "without its end marker"

// explained says whether one of the rules has found something that goes on and
// is worse than an info.
func (w *Watcher) explained(rules ...string) bool {
	for _, r := range rules {
		if w.has(r, "") {
			return true
		}
	}
	return false
}

// has says whether a rule that was asked before has found a subject to be in
// more than an info now.
func (w *Watcher) has(rule, subject string) bool {
	f := w.found[identity{rule, clean(subject)}]
	return f != nil && f.At.Equal(w.at) && f.Severity > Info
}

// failingSince returns when the first of the failures began that the reflector
// has not recovered from, and the last request that failed.
func (w *Watcher) failingSince(s *inspect.Snapshot) (since time.Time, last inspect.Request) {
	left := s.Reflector.Failures
	for i := len(w.requests.kept) - 1; i >= 0 && left > 0; i-- {
		r := &w.requests.kept[i]
		if r.Error == "" || r.Ended.IsZero() {
			continue
		}
		if last.ID == 0 {
			last = *r
		}
		since = r.Ended
		left--
	}
	return since, last
}

// attempts says how many have failed.
func attempts(s *inspect.Snapshot) string {
	r := &s.Reflector
	return counted(r.Failures, "attempt", "attempts") + " failed in a row"
}

// next says when the next attempt is.
func next(s *inspect.Snapshot) []string {
	if in := s.Reflector.NextAttempt.Sub(s.At); s.Reflector.Phase == inspect.PhaseBackingOff && in > 0 {
		return []string{"the next attempt is in " + short(in)}
	}
	return nil
}

// waiting says who waits for the informer's initial list; empty if nobody does.
func waiting(s *inspect.Snapshot) string {
	var names []string
	for i := range s.Listeners {
		if l := &s.Listeners[i]; !l.Explorer && !l.Synced {
			names = append(names, clean(l.Name))
		}
	}
	if len(names) == 0 {
		return ""
	}
	return "waiting for it: " + enumerate(names, 5)
}

func withText(evidence []string, more ...string) []string {
	for _, text := range more {
		if text != "" {
			evidence = append(evidence, text)
		}
	}
	return evidence
}

// what names what is watched.
func what(s *inspect.Snapshot) string {
	for _, name := range []string{s.Informer.Resource, s.Informer.Name, s.Informer.Type} {
		if name != "" {
			return clean(name)
		}
	}
	return "these objects"
}

// refused returns the finding of a request that is forbidden. The first refusal
// is a warning: a server that has just started, or a role that was bound a second
// ago, may not know it yet. The second one is believed.
func (w *Watcher) refused(s *inspect.Snapshot) Finding {
	since, _ := w.failingSince(s)
	severity := Warning
	if s.Reflector.Failures > 1 {
		severity = Error
	}
	return Finding{
		Severity: severity,
		Place:    PlaceRequests,
		Since:    since,
		Evidence: []string{"the server: " + clean(inspect.PlainError(s.Reflector.Error)), attempts(s)},
		passing:  next(s),
	}
}

func (w *Watcher) listForbidden(s *inspect.Snapshot) []Finding {
	r := &s.Reflector
	if r.ErrorReason != reasonForbidden || r.ErrorOp != opList && r.ErrorOp != opWatchList {
		return nil
	}
	f := w.refused(s)
	f.Title = "The server forbids to list " + what(s) + ", so the cache stays empty."
	f.past = "The server forbade to list " + what(s) + ", and the cache stayed empty."
	if s.Informer.Synced {
		f.Title = "The server forbids to list " + what(s) + ", so the cache stays as it was."
		f.past = "The server forbade to list " + what(s) + ", and the cache stayed as it was."
		f.Evidence = append(f.Evidence, "the cache answers with "+counted(s.Store.Objects, "object", "objects")+" as of rv "+clean(s.Store.ResourceVersion))
	}
	f.Evidence = withText(f.Evidence, waiting(s))
	f.Next = "Grant the verbs list and watch on " + what(s) + " to whom the message names; kubectl auth can-i --as=… tells. HasSynced stays false and says no reason: whoever waits for it waits for ever."
	return []Finding{f}
}

// watchForbidden reports an informer that is synced and is told nothing: it may
// list everything, again and again, and may not watch.
func (w *Watcher) watchForbidden(s *inspect.Snapshot) []Finding {
	r := &s.Reflector
	if r.ErrorReason != reasonForbidden || r.ErrorOp != opWatch {
		return nil
	}
	f := w.refused(s)
	f.Title = "The list works and the watch is forbidden: the cache is synced, and nobody is told of changes."
	f.past = "The list worked and the watch was forbidden: the cache was synced, and nobody was told of changes."
	n, objects := 0, 0
	for _, q := range w.requests.kept {
		if listed(&q) && !q.Started.Before(f.Since) {
			n++
			objects += q.Items
		}
	}
	f.Evidence = append(f.Evidence, counted(n, "list", "lists")+" of everything since, "+counted(objects, "object", "objects")+" in all")
	f.Next = "Grant the verb watch on " + what(s) + " beside list. HasSynced is true all the while, so nothing else will tell."
	return []Finding{f}
}

const (
	// streamSilent is how long an initial stream may say nothing: objects come
	// in one go, and the end marker right behind them.
	streamSilent = 10 * time.Second
)

// noAnswer reports a request that hangs: nothing has come back, not even a refusal.
func (w *Watcher) noAnswer(s *inspect.Snapshot) []Finding {
	r := s.Requests.Unanswered()
	if r == nil || !r.Overdue(s.At) {
		return nil
	}
	f := Finding{
		Severity: Warning,
		Place:    PlaceRequests,
		Since:    r.Started,
		Title:    "The server does not answer a " + string(r.Verb) + ".",
		past:     "The server did not answer a " + string(r.Verb) + " for long.",
		Evidence: withText([]string{"sent " + short(s.At.Sub(r.Started)) + " ago, and nothing has come back: neither objects nor a refusal"}, waiting(s)),
		Next:     "See whether the server runs and can be reached from here: kubectl get --raw /readyz. It or what is on the way to it hangs; the client gives up a dead connection after 45s or so, then the request is made again.",
	}
	if s.Informer.Synced {
		f.Evidence = append(f.Evidence, "the cache still answers with what it held")
	}
	return []Finding{f}
}

// endMarkerMissing reports initial streams that are accepted and never end.
func (w *Watcher) endMarkerMissing(s *inspect.Snapshot) []Finding {
	f := Finding{
		Severity: Warning,
		Place:    PlaceRequests,
		Next:     "Look for a proxy on the way, or an aggregated API server, that accepts sendInitialEvents and does not send the bookmark k8s.io/initial-events-end. A LIST does without: an informer of client-go waits here for ever.",
	}
	if silent := w.sync.still(s); s.Reflector.Phase == inspect.PhaseStreamingList && silent >= streamSilent && s.Requests.Unanswered() == nil {
		f.Title = "The initial stream does not end: its end marker is missing."
		f.past = "An initial stream did not end: its end marker was missing for long, or for ever."
		f.Since = s.At.Add(-silent)
		f.Evidence = withText([]string{
			counted(s.Reflector.Received, "object", "objects") + " received, and nothing for " + short(silent),
		}, waiting(s))
		return []Finding{f}
	}
	all := w.requests.within(s.At, expiredWindow)
	for i := len(all) - 1; i >= 0; i-- {
		r := &all[i]
		if r.Verb != inspect.VerbWatchList || r.Ended.IsZero() {
			continue
		}
		if !strings.Contains(r.Error, noEndMarker) || s.At.Sub(r.Ended) >= shownFor && s.Informer.Synced {
			return nil
		}
		f.Title = "An initial stream did not end, and was given up."
		f.Since = r.Ended
		f.Evidence = withText([]string{
			counted(r.Items, "object", "objects") + " had been received in " + short(r.Lifetime) + ", without the end marker",
			"then: " + clean(r.Next),
		}, waiting(s))
		return []Finding{f}
	}
	return nil
}

const (
	// A server that restarts, or an address that moves, fails two or three
	// requests in a few seconds. What fails longer does not go away by itself.
	failuresMany = 3
	failingLong  = 10 * time.Second
	// failingError is when a cache that nobody tells anything is a wrong one.
	failingError = time.Minute
)

// requestsFailing reports requests that fail for any other reason. Credentials
// that were never good are named at once, like what is forbidden: waiting does not
// mend them. Those that were may be about to be renewed.
func (w *Watcher) requestsFailing(s *inspect.Snapshot) []Finding {
	r := &s.Reflector
	if r.Error == "" || r.Failures == 0 ||
		w.explained(ListForbidden, WatchForbidden, Expired, ShortWatches, EndMarkerMissing) {
		return nil
	}
	since, last := w.failingSince(s)
	lasting := s.At.Sub(since)
	unknown := last.Code == http.StatusUnauthorized && !s.Informer.Synced
	if since.IsZero() || !unknown && (r.Failures < failuresMany || lasting < failingLong) {
		return nil
	}
	f := Finding{
		Severity: Warning,
		Place:    PlaceRequests,
		Since:    since,
		Evidence: []string{clean(inspect.PlainError(r.Error)), attempts(s) + ", over " + short(lasting)},
		passing:  next(s),
	}
	if lasting >= failingError || unknown && r.Failures > 1 {
		f.Severity = Error
	}
	if s.Informer.Synced {
		f.Evidence = append(f.Evidence, "the cache answers with "+counted(s.Store.Objects, "object", "objects")+" as of rv "+clean(s.Store.ResourceVersion))
	} else {
		f.Evidence = withText(f.Evidence, waiting(s))
	}
	f.past = "Requests for " + what(s) + " failed again and again."
	f.Title, f.Next = failure(s, last.Code)
	return []Finding{f}
}

// failure says what a status means for a reflector, and what to do.
func failure(s *inspect.Snapshot, code int) (title, next string) {
	subject := what(s)
	switch {
	case code == http.StatusUnauthorized:
		return "The server does not know who asks for " + subject + ".", "Renew the credentials: a token or a certificate has run out, or belongs to another cluster."
	case code == http.StatusNotFound:
		return "The server has no " + subject + " (any more).", "See whether the CustomResourceDefinition is there and serves this version. The cache keeps what it had; the informer goes on by itself once the type is back."
	case code == http.StatusTooManyRequests:
		return "The server turns requests for " + subject + " away as too many.", "Find who asks so much (apiserver_flowcontrol metrics name the flow), or start informers one after the other."
	case code >= http.StatusInternalServerError:
		return "The server fails to answer for " + subject + ".", "Read the message: a conversion webhook or an aggregated API server that is down takes the whole type with it. Other types go on."
	case code == 0:
		return "The server cannot be reached for " + subject + ".", "Check the address, the network and the certificates; the message says which failed."
	}
	return "Requests for " + subject + " are refused.", "Read the message, and the request on the Requests page."
}
