package journal

import (
	"cmp"
	"slices"
	"time"

	"github.com/informeter/informeter/engine/inspect"
)

const (
	// maxHot is how many of the hottest keys are kept, shownHot how many are
	// told, maxCandidates among how many those are looked for.
	maxHot, shownHot, maxCandidates = 32, 8, 1024
	// hotRecords is how many of a hot key's newest events are looked at, hotPaths
	// how many of the paths they changed are told.
	hotRecords, hotPaths = 32, 5
	// maxIdentities is how many changes of identity are remembered.
	maxIdentities = 16
)

// hot are the keys with the highest heats. As heats only grow, and only by
// updates, the hottest keys are among the candidates until one of the others is
// updated:
//
//	heats of the maxHot hottest >= floor >= heats of all that are no candidates
//
// A key whose heat gets above the floor becomes a candidate, which costs next to
// nothing; when there are too many, all but the hottest cease to be.
//
// Where entries have been deleted there may be fewer than maxHot, never a wrong
// one.
type hot struct {
	candidates []*entry // those with the flag isHot
	floor      heat
}

// update is told that an entry's heat has grown.
func (h *hot) update(e *entry) {
	if e.heat <= h.floor || e.flags&isHot != 0 {
		return
	}
	e.flags |= isHot
	h.candidates = append(h.candidates, e)
	if len(h.candidates) == maxCandidates {
		h.hottest()
	}
}

// hottest returns the few hottest entries, the hottest first, and lets the other
// candidates go.
func (h *hot) hottest() []*entry {
	if len(h.candidates) > maxHot {
		// The heats alone are sorted much faster than the entries.
		var copied [maxCandidates]heat
		heats := copied[:len(h.candidates)]
		for i, e := range h.candidates {
			heats[i] = e.heat
		}
		slices.Sort(heats)
		h.retain(heats[len(heats)-maxHot], heats[len(heats)-maxHot-1])
	}
	slices.SortFunc(h.candidates, func(a, b *entry) int { return cmp.Compare(b.heat, a.heat) })
	return h.candidates
}

// retain lets go of all but maxHot candidates: those cooler than last, and others
// that are just as hot. below is the heat of the next.
func (h *hot) retain(last, below heat) {
	h.floor = max(h.floor, below)
	kept := h.candidates[:0]
	equals := maxHot
	for _, e := range h.candidates {
		if e.heat > last {
			equals--
		}
	}
	for _, e := range h.candidates {
		switch {
		case e.heat > last:
			kept = append(kept, e)
		case e.heat == last && equals > 0:
			equals--
			kept = append(kept, e)
		default:
			e.flags &^= isHot
		}
	}
	clear(h.candidates[len(kept):])
	h.candidates = kept
}

// remove takes out an entry that is deleted.
func (h *hot) remove(e *entry) {
	if e.flags&isHot != 0 {
		i := slices.Index(h.candidates, e)
		h.candidates = slices.Delete(h.candidates, i, i+1)
	}
}

// Hot returns the few keys with the most updates, the hottest first.
func (j *Journal) Hot(now time.Time) []inspect.HotKey {
	j.mu.Lock()
	defer j.mu.Unlock()
	hottest := j.hot.hottest()
	hottest = hottest[:min(len(hottest), shownHot)]
	keys := make([]inspect.HotKey, 0, len(hottest))
	for _, e := range hottest {
		key := inspect.HotKey{
			Key:      e.key,
			Rate:     j.rates.rate(e.heat, now),
			Updates:  uint64(e.updates),
			NoOps:    uint64(e.noOps),
			Compared: uint64(e.compared),
		}
		if e.history != nil {
			records := e.history.records
			key.Writers, key.Turns, key.InTurn = writersOf(records)
			key.Paths = pathsOf(records[max(len(records)-hotRecords, 0):])
		} else if writer := e.author(); writer != "" {
			key.Writers = []string{writer}
		}
		keys = append(keys, key)
	}
	return keys
}

// writersOf returns who wrote the versions in records, the last one first, how
// many times in a row the writer changed, counted from the end, and among how many
// of the writers.
func writersOf(records []record) (writers []string, turns, among int) {
	last, inTurn := "", true
	for i := len(records) - 1; i >= 0; i-- {
		r := &records[i]
		if r.writer == "" || r.kind != Added && r.kind != Updated || quiet(r.cause) {
			continue
		}
		switch {
		case last == "":
		case r.writer == last:
			inTurn = false
		case inTurn:
			turns++
		}
		last = r.writer
		if !slices.Contains(writers, r.writer) {
			writers = append(writers, r.writer)
		}
		if turns > 0 && inTurn {
			among = len(writers)
		}
	}
	return writers, turns, among
}

// quiet says that notifications of that cause tell of nothing that happened.
func quiet(c inspect.Cause) bool {
	return c == inspect.CauseResync || c == inspect.CauseRelistUnchanged
}

// pathsOf returns what records changed, the most frequent first.
func pathsOf(records []record) []string {
	counts := map[string]int{}
	var paths []string
	for i := range records {
		for _, path := range records[i].changed {
			if counts[path]++; counts[path] == 1 {
				paths = append(paths, path)
			}
		}
	}
	slices.SortFunc(paths, func(a, b string) int { return cmp.Or(cmp.Compare(counts[b], counts[a]), cmp.Compare(a, b)) })
	return paths[:min(len(paths), hotPaths)]
}

// identityLocked takes note of an object that took the name of another.
func (j *Journal) identityLocked(ev *Event, n *news) {
	from := ""
	switch {
	case ev.Split && ev.New == nil:
		j.split = n.uid
		return
	case ev.Split:
		from, j.split = j.split, ""
	default:
		from = n.before
	}
	if from == "" || n.uid == "" || from == n.uid {
		return
	}
	j.identities = append(j.identities, inspect.IdentityChange{Key: ev.Key, From: from, To: n.uid, At: ev.At, Split: ev.Split})
	if len(j.identities) > maxIdentities {
		j.identities = slices.Delete(j.identities, 0, 1)
	}
}

// Identities returns the newest objects that took the name of another, the newest
// first.
func (j *Journal) Identities() []inspect.IdentityChange {
	j.mu.Lock()
	defer j.mu.Unlock()
	changes := slices.Clone(j.identities)
	slices.Reverse(changes)
	return changes
}
