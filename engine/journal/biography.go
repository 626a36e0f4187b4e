package journal

import (
	"context"
	"fmt"
	"math"
	"time"

	"github.com/informeter/informeter/engine/inspect"
)

// maxSkips is how many objects that were set aside wait to be written down.
const maxSkips = 256

// Skip is a delta that handlers were not told of.
type Skip struct {
	Key string
	// Object is what was set aside; it is not kept.
	Object any
	Cause  inspect.Cause
	Reason string
	At     time.Time
}

// Skip is told of a delta that was set aside, by whichever goroutine. It never
// waits: what does not fit counts as lost.
func (j *Journal) Skip(s Skip) {
	j.skipMu.Lock()
	defer j.skipMu.Unlock()
	j.skips = append(j.skips, s)
	if len(j.skips) > maxSkips {
		j.skips[0] = Skip{}
		j.skips = j.skips[1:]
		j.skipsLost++
	}
	j.skipped.Store(true)
}

// writeSkipsLocked adds what was set aside to the histories of its keys.
func (j *Journal) writeSkipsLocked() {
	if !j.skipped.Load() {
		return
	}
	j.skipMu.Lock()
	skips, lost := j.skips, j.skipsLost
	j.skips, j.skipsLost = nil, 0
	j.skipped.Store(false)
	j.skipMu.Unlock()
	j.histories.lost += lost
	for i := range skips {
		j.writeSkipLocked(&skips[i])
	}
}

func (j *Journal) writeSkipLocked(s *Skip) {
	h := j.histories.gone[s.Key]
	if e := j.entries.get(s.Key); e != nil {
		h = j.historyLocked(e)
	} else if h == nil {
		h = newHistory(s.Key)
		j.histories.gone[s.Key] = h
	}
	r := record{at: s.At.UnixNano(), cause: s.Cause, skipped: s.Reason}
	r.rv, r.uid = versionOf(s.Object), uidOf(s.Object)
	if n := len(h.records); n > 0 {
		last := &h.records[n-1]
		if last.skipped == r.skipped && last.rv == r.rv {
			last.at = r.at
			last.times++
			return
		}
	}
	j.histories.append(h, r)
}

// record returns what is known of how the object came.
func (e *entry) record(uid string, at int64) record {
	return record{at: at, object: e.object, rv: e.version(), uid: uid, writer: e.author(), kind: e.kind, cause: e.cause}
}

// historyLocked returns the history of a key in the store, made of what the
// entry knows if there is none yet, and brought up to date.
func (j *Journal) historyLocked(e *entry) *history {
	if e.history == nil || e.history.class < 0 {
		e.setHistory(newHistory(e.key))
		if e.kind == Updated {
			e.history.forgotten = max(uint64(e.updates), 1) // that it was added, and the updates since but the last: at least
		}
		j.histories.append(e.history, e.record(uidOf(e.object), j.nanos(e.since)))
	}
	j.passedLocked(e)
	j.repeatsLocked(e)
	return e.history
}

// repeatsLocked writes down how often the object was played back and listed
// again since it came.
func (j *Journal) repeatsLocked(e *entry) {
	j.repeatLockedAs(e, inspect.CauseRelistUnchanged, e.relists, e.relisted)
	j.repeatLockedAs(e, inspect.CauseResync, e.resyncs, e.resynced)
	e.relists, e.resyncs = 0, 0
	e.flags &^= repeated
}

func (j *Journal) repeatLockedAs(e *entry, cause inspect.Cause, times uint16, at uint32) {
	if times == 0 {
		return
	}
	h, version := e.history, e.version()
	for i := len(h.records) - 1; i >= 0 && h.records[i].kind == Updated && h.records[i].version == 0; i-- {
		if r := &h.records[i]; r.cause == cause && r.rv == version {
			r.at = j.nanos(at)
			r.times += uint32(times)
			// Who got the one before says nothing of this one.
			j.histories.charge(h, -int64(len(r.deliveries)*deliveryBytes))
			r.seq, r.deliveries = 0, nil
			return
		}
	}
	j.histories.append(h, record{
		at: j.nanos(at), rv: version, uid: h.uid(), writer: e.author(), kind: Updated, cause: cause, times: uint32(times) - 1,
	})
}

// uid returns the UID of the last record that has one.
func (h *history) uid() string {
	for i := len(h.records) - 1; i >= 0; i-- {
		if h.records[i].uid != "" {
			return h.records[i].uid
		}
	}
	return ""
}

// millis is t in milliseconds since the journal began, which is enough for seven
// weeks; nanos turns it back into Unix nanoseconds.
func (j *Journal) millis(t time.Time) uint32 {
	return uint32(min(max(t.Sub(j.rates.began).Milliseconds(), 0), math.MaxUint32))
}

func (j *Journal) nanos(millis uint32) int64 {
	return j.rates.began.Add(time.Duration(millis) * time.Millisecond).UnixNano()
}

// Biography returns what happened to a key; inspect.ErrNotFound if nothing is
// known of it.
func (j *Journal) Biography(ctx context.Context, r inspect.BiographyRequest) (inspect.Biography, error) {
	key := r.Key
	if r.UID != "" {
		var err error
		if key, err = j.keyOfUID(ctx, r.UID); err != nil {
			return inspect.Biography{}, err
		}
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	j.writeSkipsLocked()
	h := j.histories.gone[key]
	e := j.entries.get(key)
	if e != nil {
		h = j.historyLocked(e)
	}
	if h == nil {
		return inspect.Biography{}, fmt.Errorf("biography of %q: %w", key, inspect.ErrNotFound)
	}
	b := inspect.Biography{Key: key, Exists: e != nil, Since: j.rates.began, Forgotten: h.forgotten}
	b.Events = make([]inspect.KeyEvent, len(h.records))
	for i := range h.records {
		b.Events[i] = h.records[i].event()
	}
	return b, nil
}

// Remember keeps the deliveries in a biography that are over and that it does not
// have yet.
func (j *Journal) Remember(b *inspect.Biography) {
	j.mu.Lock()
	defer j.mu.Unlock()
	h := j.histories.gone[b.Key]
	if e := j.entries.get(b.Key); e != nil {
		h = e.history
	}
	if h == nil || h.class < 0 {
		return
	}
	over := map[uint64][]inspect.Delivery{}
	numbers := map[int64]uint64{} // of events of which the journal has none
	for i := range b.Events {
		e := &b.Events[i]
		if e.Seq > 0 {
			numbers[e.At.UnixNano()] = e.Seq
		}
		for _, d := range e.Deliveries {
			if e.Seq > 0 && !d.Pending && !d.Calling {
				over[e.Seq] = append(over[e.Seq], d)
			}
		}
	}
	for i := range h.records {
		r := &h.records[i]
		if r.seq == 0 && r.skipped == "" && r.times == 0 { // else it may be another's next time
			r.seq = numbers[r.at]
		}
		if more := len(over[r.seq]) - len(r.deliveries); r.seq > 0 && more > 0 {
			r.deliveries = over[r.seq]
			j.histories.charge(h, int64(more*deliveryBytes))
		}
	}
	j.histories.touch(h)
	j.histories.shrink()
}

// keyOfUID finds the key of an object that was seen, by its UID.
func (j *Journal) keyOfUID(ctx context.Context, uid string) (string, error) {
	next, done := "", false
	for !done {
		if err := ctx.Err(); err != nil {
			return "", err
		}
		key, found := "", false
		j.mu.Lock()
		if key, found = j.histories.uids[uid]; !found {
			key, next, done = j.searchLocked(uid, next)
			found = key != ""
		}
		j.mu.Unlock()
		if found {
			return key, nil
		}
	}
	return "", fmt.Errorf("object with UID %q: %w", uid, inspect.ErrNotFound)
}

// searchLocked looks for a UID among the next few objects in the store.
func (j *Journal) searchLocked(uid, from string) (key, next string, done bool) {
	left := 4096
	done = true
	j.all.rows.Ascend(item{0, &entry{key: from}}, func(it item) bool {
		if left == 0 {
			next, done = it.entry.key, false
			return false
		}
		left--
		if uidOf(it.entry.object) == uid {
			key = it.entry.key
			return false
		}
		return true
	})
	return key, next, done
}

// Version returns a version that is kept of a key's object, and whether it is.
func (j *Journal) Version(key string, version uint64) (any, bool) {
	j.mu.Lock()
	defer j.mu.Unlock()
	h := j.histories.gone[key]
	if e := j.entries.get(key); e != nil {
		h = e.history
	}
	if h == nil || version == 0 {
		return nil, false
	}
	obj := h.object(version)
	return obj, obj != nil
}
