package journal

import (
	"time"

	"github.com/informeter/informeter/engine/inspect"
)

const (
	// catchUpChunk is how many keys are taken over before the lock is let go of.
	catchUpChunk = 256
	// tickEvery is after how many of those readers are told.
	tickEvery = 32
)

// CatchUp makes the journal know what is in the store: keys, and objects in the
// same order, as of a moment after asOf. It is how a journal begins, and how it
// goes on when it has lost notifications because it was too far behind; lost is
// how many. Called by the goroutine that observes. What was published before
// asOf need not be observed any more; tick is called as the work proceeds.
//
// Nothing that is found new counts as an update: nobody saw it happen.
func (j *Journal) CatchUp(keys []string, objects []any, lost uint64, asOf time.Time, tick func()) {
	j.asOf = asOf
	j.mu.Lock()
	j.round++
	j.lost += lost
	j.expected = len(keys)
	j.mu.Unlock()
	j.makeRoom(max(len(keys)-j.entries.len(), 0))
	for n := 0; n < len(keys); n += catchUpChunk {
		end := min(n+catchUpChunk, len(keys))
		j.takeOver(keys[n:end], objects[n:end], lost > 0, asOf)
		if n/catchUpChunk%tickEvery == 0 {
			tick()
		}
	}
	for next, done := "", false; !done; {
		next, done = j.sweep(next, asOf)
	}
	j.mu.Lock()
	j.expected = 0
	j.mu.Unlock()
	tick()
}

// takeOver takes over a few objects. gap says that there was more than what is
// found now.
func (j *Journal) takeOver(keys []string, objects []any, gap bool, at time.Time) {
	j.makeRoom(len(keys))
	j.mu.Lock()
	defer j.mu.Unlock()
	for i, key := range keys {
		ev := Event{Key: key, Cause: inspect.CauseLateJoin, New: objects[i], At: at}
		hash := j.entries.hash(key)
		e := j.entries.find(hash, key)
		if e != nil {
			if sameVersion(objects[i], e.object) {
				e.object, e.round = objects[i], j.round
				continue
			}
			ev.Old = e.object
		}
		n := identify(&ev)
		j.look(&ev, &n)
		j.updateLocked(e, hash, &ev, &n)
		if e != nil && gap {
			e.history.forgotten++ // at least
		}
	}
	j.upkeepLocked()
}

// sweep takes out the next few keys that are not in the store any more.
func (j *Journal) sweep(from string, at time.Time) (next string, done bool) {
	j.mu.Lock()
	defer j.mu.Unlock()
	var gone []*entry
	left := catchUpChunk
	done = true
	j.all.rows.Ascend(item{0, &entry{key: from}}, func(it item) bool {
		if left == 0 {
			next, done = it.entry.key, false
			return false
		}
		left--
		if it.entry.round != j.round {
			gone = append(gone, it.entry)
		}
		return true
	})
	for _, e := range gone {
		ev := Event{Key: e.key, Cause: inspect.CauseLateJoin, Old: e.object, Tombstone: true, At: at}
		n := identify(&ev)
		j.look(&ev, &n)
		j.deleteLocked(e, &ev, &n)
	}
	j.upkeepLocked()
	return next, done
}
