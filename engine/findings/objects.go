package findings

import (
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/informeter/informeter/engine/inspect"
)

const (
	// Something that changes more than once a second is not done by people or
	// rollouts. Leases and leader locks are renewed every two seconds and change
	// nothing but times: they stay below.
	noOpRate = 1.0
	// noOpShare is almost all: a real change now and then does not make up for
	// the others. comparedLeast is how many have to have been compared for that
	// to mean anything.
	noOpShare     = 0.95
	comparedLeast = 20
	// Writers that take turns once every two seconds over the last minute fight;
	// those of a pod that starts take turns a few times and stop. The rate begins
	// high, so some updates have to have been seen.
	fightRate    = 0.5
	fightTurns   = 6
	fightUpdates = 20
	// hotEnds is the share of a rate below which a hot key has cooled down.
	hotEnds = 0.5
	// coolsFor is how long a key has to be neither before it has cooled down. Two
	// that fight do not always take turns: one of them writes twice in a row, or a
	// third one in between.
	coolsFor = 20 * time.Second
	// maxHot bounds how many keys are reported.
	maxHot = 8
)

// hotKey reports keys that are written all the time: for nothing, or by writers
// that undo each other's work.
func (w *Watcher) hotKey(s *inspect.Snapshot) (found []Finding) {
	for i := range s.Hot[:min(len(s.Hot), maxHot)] {
		h := &s.Hot[i]
		ease := 1.0
		if w.goesOn(HotKey, h.Key) {
			ease = hotEnds
		}
		var f Finding
		switch {
		case fights(h, ease):
			f = fight(h, w.rivals.of(h))
		case h.Compared >= comparedLeast && float64(h.NoOps) >= noOpShare*float64(h.Compared) && h.Rate >= noOpRate*ease:
			f = noOps(h)
		default:
			continue
		}
		f.Severity, f.Place, f.Subject, f.At = Warning, PlaceStore, h.Key, s.At
		found = append(found, f)
	}
	w.hot = stillHot(w.hot, found, s.At)
	return slices.Clone(w.hot)
}

// stillHot returns what is hot now, and what was a moment ago, as it was then.
func stillHot(was, found []Finding, now time.Time) []Finding {
	all := slices.Clone(found)
	for _, f := range was {
		known := slices.ContainsFunc(found, func(o Finding) bool { return o.Subject == f.Subject })
		if !known && now.Sub(f.At) < coolsFor && len(all) < 2*maxHot {
			all = append(all, f)
		}
	}
	return all
}

// rivals counts, by key, how often a writer was one of the last two when looked
// at. A key that two fight over is written by its owners now and then, too.
type rivals map[string]map[string]int

// maxRivals bounds how many writers of a key are counted.
const maxRivals = 16

func (r *rivals) observe(s *inspect.Snapshot) {
	was := *r
	*r = make(rivals, maxHot)
	for i := range s.Hot[:min(len(s.Hot), maxHot)] {
		h := &s.Hot[i]
		counts := was[h.Key]
		if counts == nil {
			counts = map[string]int{}
		}
		for _, name := range h.Writers[:min(len(h.Writers), 2)] {
			if name = clean(name); len(counts) < maxRivals || counts[name] > 0 {
				counts[name]++
			}
		}
		(*r)[h.Key] = counts
	}
}

// of returns the writers of a key, those who fight most first.
func (r rivals) of(h *inspect.HotKey) []string {
	names := make([]string, 0, len(h.Writers))
	for _, n := range h.Writers {
		names = append(names, clean(n))
	}
	counts := r[h.Key]
	slices.SortStableFunc(names, func(a, b string) int { return counts[b] - counts[a] })
	return names
}

// fights says whether writers take turns at what they write.
func fights(h *inspect.HotKey, ease float64) bool {
	return len(h.Writers) > 1 && h.Turns >= fightTurns && h.Updates >= fightUpdates && len(h.Paths) > 0 && h.Rate >= fightRate*ease
}

func fight(h *inspect.HotKey, writers []string) Finding {
	a, b := min(writers[0], writers[1]), max(writers[0], writers[1]) // whoever was last, it is the same fight
	turns := "each of the last " + counted(h.Turns+1, "version", "versions") + " came from another writer than the one before"
	among, before := others(h, a, b)
	if len(among) > 0 {
		turns += ", some of them from " + enumerate(among, 3)
	}
	f := Finding{
		Title: "Two writers take turns at " + clean(h.Key) + ": " + a + " and " + b + ".",
		past:  "Two writers took turns at " + clean(h.Key) + ": " + a + " and " + b + ".",
		Evidence: []string{
			a + "↔" + b + " on " + clean(h.Paths[0]) + ", " + perSecond(h.Rate),
			turns,
			updates(h),
		},
		Next: "Let one of them own the field: with server-side apply a conflict would name the other. The object's biography shows every turn.",
	}
	if len(before) > 0 {
		f.Evidence = append(f.Evidence, "before that it was written by "+enumerate(before, 3)+", too")
	}
	if more := paths(h.Paths[1:]); more != "" {
		f.Evidence = append(f.Evidence, "changed, too: "+more)
	}
	return f
}

// others returns who else wrote the key: those among whom the turns were taken,
// and those before.
func others(h *inspect.HotKey, a, b string) (among, before []string) {
	for i, name := range h.Writers {
		switch name = clean(name); {
		case name == a || name == b:
		case i < h.InTurn:
			among = append(among, name)
		default:
			before = append(before, name)
		}
	}
	return among, before
}

func noOps(h *inspect.HotKey) Finding {
	nothing := "nothing"
	if h.NoOps < h.Compared {
		nothing = "next to nothing"
	}
	f := Finding{
		Title: "Key " + clean(h.Key) + " is updated all the time, and " + nothing + " in it changes.",
		past:  "Key " + clean(h.Key) + " was updated all the time, and " + nothing + " in it changed.",
		Evidence: []string{
			percent(h.NoOps, h.Compared) + " of " + counted(h.Compared, "update", "updates") + " changed nothing but resource version, managed fields and times, " + perSecond(h.Rate),
			updates(h),
		},
		Next: "Find the writer: it most likely wakes itself by its own write. It should compare before it writes, and its handler should leave updates alone in which nothing has changed.",
	}
	if len(h.Writers) > 0 {
		names := make([]string, len(h.Writers))
		for i, n := range h.Writers {
			names[i] = clean(n)
		}
		f.Evidence = append(f.Evidence, "written by "+enumerate(names, 3)+", the last one first")
	}
	return f
}

func updates(h *inspect.HotKey) string {
	return counted(h.Updates, "update", "updates") + " seen"
}

// pathsLength bounds the paths that are named beside the first, in characters:
// half a path says nothing, so there are to be few enough for a narrow column.
const pathsLength = 100

// paths writes the first of the paths, each of them whole; empty if there is no
// room for any.
func paths(all []string) string {
	var named []string
	length := 0
	for _, p := range all {
		p = clean(p)
		if length += utf8.RuneCountInString(p) + len(", "); length > pathsLength {
			break
		}
		named = append(named, p)
	}
	switch {
	case len(named) == 0:
		return ""
	case len(named) < len(all):
		return strings.Join(named, ", ") + " and more"
	}
	return strings.Join(named, ", ")
}

const (
	// identityFor is how long a change of identity is news: it happens once.
	identityFor = 2 * time.Minute
	// maxIdentities bounds how many keys are reported.
	maxIdentities = 8
)

// identityChanged reports objects that took the name of another unnoticed: in
// what handlers are told, an update.
func (w *Watcher) identityChanged(s *inspect.Snapshot) (found []Finding) {
	seen := map[string]bool{}
	for i := range s.Identities {
		c := &s.Identities[i]
		if seen[c.Key] || len(found) == maxIdentities || s.At.Sub(c.At) >= identityFor {
			continue
		}
		seen[c.Key] = true
		f := Finding{
			Severity: Warning,
			Place:    PlaceStore,
			Subject:  c.Key,
			Since:    c.At,
			Title:    "Another object has taken the name " + clean(c.Key) + ", and handlers were told of an update.",
			Evidence: []string{"UID " + clean(c.From) + " → " + clean(c.To) + ", " + short(s.At.Sub(c.At)) + " ago"},
			Next:     "Compare UIDs in the update handler, and let go of what is kept of the old object. It was deleted and created anew while nobody watched.",
		}
		if c.Split {
			f.Severity = Info
			f.Title = "Another object has taken the name " + clean(c.Key) + "; handlers were told of a deletion and an addition."
			f.Next = "Nothing: the update was split because the two have different UIDs."
		}
		found = append(found, f)
	}
	return found
}

// asideFor is how long what could not be read or had no key is reported: nothing
// says when that is over.
const asideFor = 10 * time.Minute

func (w *Watcher) quarantined(s *inspect.Snapshot) (found []Finding) {
	for i := range s.Quarantine {
		q := &s.Quarantine[i]
		if q.Key == "" && s.At.Sub(q.At) >= asideFor {
			continue
		}
		name := q.Key
		if name == "" {
			name = "an object without a key"
		}
		f := Finding{
			Severity: Error,
			Place:    PlaceStore,
			Subject:  q.Key,
			Title:    "The cache does not have the newest " + clean(name) + ": it was set aside.",
			past:     "The cache did not have the newest " + clean(name) + ": it was set aside.",
			Evidence: []string{
				"it failed at " + clean(q.Stage) + ", " + counted(q.Times, "time", "times") + ", the last " + short(s.At.Sub(q.At)) + " ago",
				"because: " + firstLine(q.Error),
			},
			Next: stageAdvice(q.Stage),
		}
		if q.Key == "" {
			f.Place = PlacePipeline
		}
		if q.ResourceVersion != "" {
			f.Evidence = append(f.Evidence, "at rv "+clean(q.ResourceVersion))
		}
		if more := s.Handle.Quarantined; more > uint64(len(s.Quarantine)) {
			f.Evidence = append(f.Evidence, count(more)+" set aside in all")
		}
		found = append(found, f)
	}
	return found
}

// stageAdvice says what to do about a failure at a stage.
func stageAdvice(stage string) string {
	switch {
	case strings.HasPrefix(stage, "transform"):
		return "Fix the transform: it has to take every object of the type, and return one of the same type. What the cache has of the object stays as it was."
	case strings.HasPrefix(stage, "key"):
		return "Fix the key function, or see what sends an object without a name."
	}
	return "Read the error; the object is tried again with its next event."
}

// undecodable reports events whose object could not be decoded.
func (w *Watcher) undecodable(s *inspect.Snapshot) []Finding {
	if s.Traffic == nil {
		return nil
	}
	since, recent := w.recently(Undecodable, "", s.Traffic.Undecodable, asideFor)
	if !recent {
		return nil
	}
	f := Finding{
		Severity: Error,
		Place:    PlacePipeline,
		Since:    since,
		Title:    "Objects came that could not be decoded, and the cache does without them.",
		Evidence: []string{counted(s.Traffic.Undecodable, "object", "objects") + " so far, in " + counted(s.Traffic.Events, "event", "events")},
		Next:     "Compare the object with its type: a field has a value of another kind than the program was built for. Other objects go on; a program on client-go would list again and again here.",
	}
	for i := range s.Traffic.Quarantine[:min(len(s.Traffic.Quarantine), 3)] {
		u := &s.Traffic.Quarantine[i]
		f.Evidence = append(f.Evidence, clean(u.Event)+" of "+counted(u.Size, "byte", "bytes")+", "+short(s.At.Sub(u.At))+" ago: "+firstLine(u.Reason))
	}
	return []Finding{f}
}

// indexErrors reports indices that do not have all objects.
func (w *Watcher) indexErrors(s *inspect.Snapshot) (found []Finding) {
	for i := range s.Indices {
		x := &s.Indices[i]
		if x.Errors == 0 {
			continue
		}
		last := "the last error: " + firstLine(x.LastError)
		if x.LastErrorKey != "" {
			last += ", of " + clean(x.LastErrorKey)
		}
		found = append(found, Finding{
			Severity: Error,
			Place:    PlaceIndices,
			Subject:  x.Name,
			Title:    "Look-ups in the index " + clean(x.Name) + " miss objects: its function fails on them.",
			past:     "Look-ups in the index " + clean(x.Name) + " missed objects: its function failed on them.",
			Evidence: []string{
				counted(x.Errors, "object is", "objects are") + " in the cache and not in this index, of " + count(s.Store.Objects),
				last,
			},
			Next: "Fix the index function: it has to take every object of the type, half filled ones too. An informer of client-go ends the process here.",
		})
	}
	return found
}
