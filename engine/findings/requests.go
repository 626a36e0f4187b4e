package findings

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/informeter/informeter/engine/inspect"
)

// maxRequests bounds how many requests are remembered: as many as a reflector
// does.
const maxRequests = 256

// What follows a request, as inspect.Request's Next has it.
const nextRelist = "relist"

// requestMemory is the newest requests of an informer, the oldest first, each ID
// once. A snapshot has only a few, and whoever attaches may ask for all seldom.
type requestMemory struct{ kept []inspect.Request }

// observe takes in what was read, each list the newest first. Requests follow one
// another, so all but the newest have ended and do not change any more.
func (m *requestMemory) observe(s *inspect.Snapshot, more []inspect.Request) {
	for _, read := range [][]inspect.Request{s.Requests.Last, more} {
		for _, r := range read {
			at, known := slices.BinarySearchFunc(m.kept, r.ID, func(k inspect.Request, id uint64) int {
				return cmp.Compare(k.ID, id)
			})
			if known && !m.kept[at].Ended.IsZero() {
				continue
			}
			r.Error = clean(r.Error) // what is kept is bounded
			if known {
				m.kept[at] = r
			} else {
				m.kept = slices.Insert(m.kept, at, r)
			}
		}
	}
	if n := len(m.kept) - maxRequests; n > 0 {
		m.kept = slices.Delete(m.kept, 0, n)
	}
	for i := range m.kept {
		if r := &m.kept[i]; r.Ended.IsZero() {
			r.Lifetime = max(s.At.Sub(r.Started), 0)
		}
	}
}

// missing says whether there are requests that neither the snapshot nor the
// memory has.
func (m *requestMemory) missing(s *inspect.Snapshot) bool {
	last := s.Requests.Last
	if len(last) == 0 || last[len(last)-1].ID <= 1 {
		return false
	}
	return len(m.kept) == 0 || m.kept[len(m.kept)-1].ID < last[len(last)-1].ID-1
}

// within returns those that were open at some time in the d before now.
func (m *requestMemory) within(now time.Time, d time.Duration) []inspect.Request {
	for i := range m.kept {
		if ended := m.kept[i].Ended; ended.IsZero() || now.Sub(ended) <= d {
			return m.kept[i:]
		}
	}
	return nil
}

// listBefore returns the LIST that request i, a WATCH, began from.
func listBefore(all []inspect.Request, i int) (r inspect.Request, ok bool) {
	if i > 0 && all[i].Verb == inspect.VerbWatch && all[i-1].Verb == inspect.VerbList {
		return all[i-1], all[i-1].Outcome == inspect.OutcomeOK
	}
	return r, false
}

// works says whether a request is a watch that has shown that it works: by what
// it brought, or by how long it has lived.
func works(r *inspect.Request) bool {
	return watches(r) && (r.Items+r.Bookmarks > 0 || r.Lifetime >= watchSettles)
}

// watches says whether a request is a WATCH, or an initial stream that became
// one: its end marker brought a version.
func watches(r *inspect.Request) bool {
	return r.Verb == inspect.VerbWatch || r.Verb == inspect.VerbWatchList && r.Returned != ""
}

// listed says whether a request has brought everything there was.
func listed(r *inspect.Request) bool {
	return r.Verb == inspect.VerbList && r.Outcome == inspect.OutcomeOK || r.Verb == inspect.VerbWatchList && watches(r)
}

// lists says whether a request asks for everything.
func lists(r *inspect.Request) bool { return r.Verb != inspect.VerbWatch }

// watchSettles is how long a watch has to live to count as one that works. A
// reflector is content after a second; this much more outlives what is closed by
// a proxy that has just noticed.
const watchSettles = 5 * time.Second

const (
	// expiredWindow is how far back 410s are counted: the waits between attempts
	// grow to a minute, so three in a row take five minutes at most.
	expiredWindow = 10 * time.Minute
	// shownFor is how long something that is over as soon as it happened counts
	// as going on.
	shownFor = time.Minute
)

// expiries are the 410s that belong to the newest one.
type expiries struct {
	last, first inspect.Request
	all         int       // in the window
	oldest      time.Time // when the first of all ended
	sameVersion int       // that asked for the version of the newest one
	inRow       int       // one after the other, none of which has brought anything
	recovered   bool
	list        inspect.Request // that the newest one began from
	hasList     bool
	relist      inspect.Request // that made up for it; hasRelist
	hasRelist   bool
}

func (m *requestMemory) expiries(now time.Time) (e expiries, any bool) {
	all := m.within(now, expiredWindow)
	row := true
	for i := len(all) - 1; i >= 0; i-- {
		r := &all[i]
		if !watches(r) {
			continue
		}
		if r.Outcome != inspect.OutcomeExpired {
			e.recovered = e.recovered || !any && works(r)
			row = row && !works(r)
			continue
		}
		e.all++
		e.oldest = r.Ended
		if !any {
			any, e.last = true, *r
			e.list, e.hasList = listBefore(all, i)
			for k := range all[i+1:] {
				if later := &all[i+1+k]; listed(later) {
					e.relist, e.hasRelist = *later, true
				}
			}
		}
		if row {
			e.inRow++
			e.first = *r
			// One that brought something had begun well: it ends the row.
			row = r.Items+r.Bookmarks == 0 && r.Verb == inspect.VerbWatch
		}
		if r.ID == e.last.ID || r.Verb == inspect.VerbWatch && r.ResourceVersion == e.last.ResourceVersion {
			e.sameVersion++
			e.first = *r
		}
	}
	return e, any
}

// expired reports watches that the server answered with 410. One that a list
// makes up for is what a reflector is made for. A second one from the same
// version, or right after a list, says that lists are too old when they arrive;
// with a third it is no accident.
func (w *Watcher) expired(s *inspect.Snapshot) []Finding {
	e, any := w.requests.expiries(s.At)
	n := max(e.sameVersion, e.inRow)
	if !any || e.recovered && (n > 1 || s.At.Sub(e.last.Ended) >= shownFor) {
		return nil
	}
	f := Finding{
		Place: PlaceRequests,
		Since: e.first.Ended,
		Title: e.title(),
		Next:  "Nothing, if it stays at one: the server had forgotten the version, as it does after a longer pause. Deletions that nobody saw arrive as tombstones (cache.DeletedFinalStateUnknown).",
		Evidence: []string{
			begun(&e.last) + " ended with 410 after " + short(e.last.Lifetime) + ", having brought " + counted(events(&e.last), "event", "events"),
		},
	}
	if e.all > 1 {
		f.Next = strings.Replace(f.Next, "if it stays at one", "if they stay rare", 1)
		f.Evidence = append(f.Evidence, "the first of the "+count(e.all)+" was "+short(s.At.Sub(e.oldest))+" ago")
	}
	if n > 1 {
		f.Severity = Warning
		f.Title = "Watches expire (410) as soon as they begin: a list is too old when it arrives."
		f.past = "Watches expired (410) as soon as they began: lists were too old when they arrived."
		f.Next = "Compare how long a list takes with how long the server remembers: make it smaller (a selector, metadata only, paging), or give the server a longer history. With several API servers, see whether one of them lags."
		f.Evidence = append(f.Evidence, counted(n, "time", "times")+" in "+short(s.At.Sub(e.first.Ended))+", "+
			count(e.sameVersion)+" of them from this version")
		if e.hasList {
			f.Evidence = append(f.Evidence, "the list before it took "+short(e.list.Lifetime)+" for "+counted(e.list.Items, "object", "objects")+": the server has to remember for longer than that")
		}
	} else if e.hasRelist && e.relist.Verb == inspect.VerbList {
		f.Evidence = append(f.Evidence, "the list after it took "+short(e.relist.Lifetime)+" for "+counted(e.relist.Items, "object", "objects"))
	}
	if n > 2 {
		f.Severity = Error
	}
	if e.last.Error != "" {
		f.Evidence = append(f.Evidence, "the server: "+clean(inspect.PlainError(e.last.Error)))
	}
	return []Finding{f}
}

// title says how many watches expired, and what made up for the newest one.
func (e *expiries) title() string {
	what, made := "A watch expired (410)", "it"
	if e.all > 1 {
		what, made = count(e.all)+" watches expired (410)", "the last one"
	}
	switch {
	case !e.hasRelist:
		return what + "; the list that makes up for " + made + " is still to come."
	case e.relist.Verb == inspect.VerbWatchList:
		return what + ", and a watch-list made up for " + made + "."
	}
	return what + ", and a list made up for " + made + "."
}

// events counts what a watch brought: of one that began as an initial stream,
// without the objects of that.
func events(r *inspect.Request) int { return max(r.Items-r.Initial, 0) }

// begun says which watch it was.
func begun(r *inspect.Request) string {
	switch {
	case r.Verb == inspect.VerbWatchList:
		return "WATCHLIST"
	case r.ResourceVersion == "":
		return "WATCH from no rv"
	}
	return "WATCH from rv " + clean(r.ResourceVersion)
}

// relistLoop reports lists that follow one another, unless what makes them do so
// is reported already. Lists that were asked for do not count.
func (w *Watcher) relistLoop(s *inspect.Snapshot) []Finding {
	if w.explained(ListForbidden, WatchForbidden, Expired, ShortWatches) {
		w.relistsFrom = s.At
	}
	all := w.requests.within(s.At, relistWindow)
	n, first := 0, time.Time{}
	why := map[string]int{}
	for i := range all {
		r := &all[i]
		if !costAList(all, i) || s.At.Sub(r.Ended) > relistWindow || !r.Ended.After(w.relistsFrom) {
			continue
		}
		if n == 0 {
			first = r.Ended
		}
		n++
		why[whyEnded(r)]++
	}
	if n < relistsMany {
		return nil
	}
	return []Finding{{
		Severity: Warning,
		Place:    PlaceRequests,
		Since:    first,
		Title:    "Everything is listed again and again: relists follow one another.",
		past:     "Everything was listed again and again: relists followed one another.",
		Evidence: []string{
			counted(n, "relist", "relists") + " after lost watches in " + short(s.At.Sub(first)) + ", of about " + counted(s.Store.Objects, "object", "objects") + " each",
			"the watches before them: " + tally(why),
		},
		Next: "See on the Requests page how the watches end. Each list costs the server and the network all objects, and every handler is told of those that changed, or of all.",
	}}
}

// whyEnded says in a word or two how a watch was lost.
func whyEnded(r *inspect.Request) string {
	switch {
	case r.Code != 0:
		return string(r.Outcome) + " with " + count(r.Code)
	case r.Outcome == inspect.OutcomeClosed:
		return "closed young and empty"
	}
	return string(r.Outcome)
}

// tally writes counts of words, the most frequent first.
func tally(counts map[string]int) string {
	words := make([]string, 0, len(counts))
	for w := range counts {
		words = append(words, w)
	}
	slices.SortFunc(words, func(a, b string) int { return cmp.Or(counts[b]-counts[a], strings.Compare(a, b)) })
	for i, w := range words {
		words[i] = count(counts[w]) + " " + w
	}
	return strings.Join(words[:min(len(words), 4)], ", ")
}

const (
	// A reflector asks for watches of five to ten minutes. Below tooShort each
	// costs more than it brings; below ratherShort something on the way cuts
	// connections that are idle, which is common and works.
	tooShort    = 10 * time.Second
	ratherShort = 2 * time.Minute
	// It takes some in a row: a server that restarts closes one, or two.
	tooShortRow    = 3
	ratherShortRow = 4
)

// shortRow returns the newest watches in a row, the newest first, that were
// closed before limit without an error of the server, though they were asked to
// live for longer. It is empty if the watch under way has lived for longer.
func (m *requestMemory) shortRow(now time.Time, limit time.Duration) (row []inspect.Request) {
	all := m.within(now, expiredWindow)
	for i := len(all) - 1; i >= 0; i-- {
		r := all[i]
		switch {
		case !watches(&r), r.Ended.IsZero() && r.Lifetime < limit:
			continue
		case r.Ended.IsZero(), r.Outcome != inspect.OutcomeClosed,
			r.Lifetime >= limit, r.Timeout > 0 && r.Lifetime >= r.Timeout/2:
			return row
		}
		row = append(row, r)
	}
	return row
}

// shortWatches reports watches that the server, or something before it, closes
// long before their time.
func (w *Watcher) shortWatches(s *inspect.Snapshot) []Finding {
	row, severity := w.requests.shortRow(s.At, tooShort), Warning
	title := "Watches are closed seconds after they began."
	if len(row) < tooShortRow {
		row, severity = w.requests.shortRow(s.At, ratherShort), Info
		title = "Watches are closed long before their time."
		if len(row) < ratherShortRow {
			return nil
		}
	}
	low, high, items := row[0].Lifetime, row[0].Lifetime, 0
	for i := range row {
		low, high = min(low, row[i].Lifetime), max(high, row[i].Lifetime)
		items += events(&row[i])
	}
	evidence := []string{
		"the last " + counted(len(row), "watch", "watches") + " lived for " + between(low, high) + " and brought " + counted(items, "event", "events"),
	}
	if t := row[0].Timeout; t > 0 {
		evidence = append(evidence, "the last one had asked for "+short(t))
	}
	return []Finding{{
		Severity: severity,
		Place:    PlaceRequests,
		Since:    row[len(row)-1].Ended,
		Title:    title,
		past:     strings.Replace(title, " are ", " were ", 1),
		Evidence: evidence,
		Next:     "Look for an idle timeout between here and the server: a load balancer, a proxy, a service mesh. Nothing is lost as long as the next watch begins where the last one ended.",
	}}
}
