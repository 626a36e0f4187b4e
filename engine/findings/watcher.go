package findings

import (
	"slices"
	"time"

	"github.com/informeter/informeter/engine/inspect"
)

const (
	// lingers is how long a finding stays after it has ended: long enough to be
	// read by somebody who looked away.
	lingers = 2 * time.Minute
	// maxFindings bounds how many an informer may have, those that have ended
	// included. A rule finds at most one a handler, an index or a listed key, so
	// only a process with hundreds of troubled handlers gets there.
	maxFindings = 128
)

// Watcher finds the problems of one informer. The zero value is ready. Not safe
// for concurrent use.
type Watcher struct {
	created  time.Time // when the informer was
	at       time.Time // of the newest snapshot
	requests requestMemory
	handlers map[string]*handlerMemory
	counters map[identity]*counter
	sync     progress
	paused   pauseMemory
	rivals   rivals
	// hot is what hotKey found, each as of when it was hot last.
	hot []Finding
	// relistsFrom is when another rule last explained why lists follow one
	// another: those up to then do not count again.
	relistsFrom time.Time
	found       map[identity]*Finding
}

// identity is what makes two findings the same one.
type identity struct{ rule, subject string }

// Observe looks at one snapshot, and at what Inspector.Requests returned at about
// the same time, the newest first; without the latter it makes do with the newest
// few that a snapshot has. A snapshot older than the last one is ignored.
func (w *Watcher) Observe(s inspect.Snapshot, requests []inspect.Request) {
	if s.At.Before(w.at) {
		return
	}
	if !s.Informer.Created.Equal(w.created) {
		*w = Watcher{created: s.Informer.Created} // another informer of that name
	}
	w.at = s.At
	if w.found == nil {
		w.found, w.counters = map[identity]*Finding{}, map[identity]*counter{}
	}
	w.requests.observe(&s, requests)
	w.rememberHandlers(&s)
	w.sync.observe(&s)
	w.paused.observe(&s)
	w.rivals.observe(&s)
	present := map[identity]bool{}
	for _, r := range rules() {
		for _, f := range r.look(w, &s) {
			f.Rule, f.Informer, f.At = r.Name, clean(s.Informer.Name), s.At
			f.Subject, f.Title, f.Next = clean(f.Subject), clean(f.Title), clean(f.Next)
			f.past = clean(f.past)
			for i, text := range f.Evidence {
				f.Evidence[i] = clean(text)
			}
			for i, text := range f.passing {
				f.passing[i] = clean(text)
			}
			id := identity{r.Name, f.Subject}
			present[id] = true
			w.keep(id, f)
		}
	}
	w.end(present)
	w.bound()
}

// keep enters what was found. A problem that comes back while it is remembered
// is the same one.
func (w *Watcher) keep(id identity, f Finding) {
	if f.Since.IsZero() {
		f.Since = w.at
	}
	if known := w.found[id]; known != nil && known.Since.Before(f.Since) {
		f.Since = known.Since
	}
	w.found[id] = &f
}

// end ends what is not present any more, and forgets what ended long ago.
func (w *Watcher) end(present map[identity]bool) {
	for id, f := range w.found {
		switch {
		case present[id]:
		case f.Ended.IsZero():
			f.Ended, f.passing = w.at, nil
			if f.past != "" {
				f.Title = f.past
			}
		case w.at.Sub(f.Ended) > lingers:
			delete(w.found, id)
		}
	}
	for id, c := range w.counters {
		if c.seen.Before(w.at) {
			delete(w.counters, id) // what it counted is gone
		}
	}
}

// bound forgets the least important findings if there are too many.
func (w *Watcher) bound() {
	if len(w.found) <= maxFindings {
		return
	}
	for _, f := range w.Findings()[maxFindings:] {
		delete(w.found, identity{f.Rule, f.Subject})
	}
}

// Findings returns what is wrong, and what was until two minutes ago, in the
// order of Compare. The caller owns the result.
func (w *Watcher) Findings() []Finding {
	all := make([]Finding, 0, len(w.found))
	for _, f := range w.found {
		c := *f
		c.Evidence = slices.Concat(f.Evidence, f.passing)
		c.past, c.passing = "", nil
		all = append(all, c)
	}
	slices.SortFunc(all, Compare)
	return all
}

// goesOn says whether a finding was there when last looked: what it takes for one
// to end may be less than what it takes to begin, so that it does not flicker.
func (w *Watcher) goesOn(rule, subject string) bool {
	f := w.found[identity{rule, clean(subject)}]
	return f != nil && f.Ended.IsZero()
}

// counter is a number that only grows, and when it last did.
type counter struct {
	value uint64
	grew  time.Time
	seen  time.Time
}

// recently says whether a count has grown within the last d, or was there when
// it was seen for the first time. since is when it grew.
func (w *Watcher) recently(rule, subject string, value uint64, d time.Duration) (since time.Time, recent bool) {
	if value == 0 {
		return time.Time{}, false
	}
	id := identity{rule, subject}
	c := w.counters[id]
	if c == nil {
		c = &counter{}
		w.counters[id] = c
	}
	c.seen = w.at
	if value != c.value {
		c.value, c.grew = value, w.at
	}
	return c.grew, w.at.Sub(c.grew) < d
}
