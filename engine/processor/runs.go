package processor

import (
	"time"

	"github.com/informeter/informeter/engine/inspect"
)

// RunObserver is a handler that is called with many notifications at once: as
// many as lie ready, of one chunk of the log at most. OnRun is called in place of
// OnAdd, OnUpdate and OnDelete. One call is accounted for as one call of each
// notification, all of the same length; if it panics, all of them are passed.
type RunObserver interface {
	OnRun(r Run)
}

// Run is notifications that follow each other in the log. It must not be kept
// beyond the call.
type Run struct {
	entries []entry
	seq     uint64 // of the first; 0 if none has one
}

// Len returns how many there are.
func (r Run) Len() int { return len(r.entries) }

// Key returns the key of notification i.
func (r Run) Key(i int) string { return r.entries[i].key }

// Notification returns notification i.
func (r Run) Notification(i int) Notification {
	var n Notification
	seq := r.seq
	if seq > 0 {
		seq += uint64(i)
	}
	r.entries[i].tell(&n, seq)
	return n
}

// callRun calls the observer with what is left of the run, but not with what is
// of another resync round.
func (l *Listener) callRun() {
	entries := l.together()
	l.noteRound(&entries[0])
	l.runs.OnRun(Run{entries, l.cursor.seq()})
	l.finishRun()
}

// together returns the entries that are delivered by one call.
func (l *Listener) together() []entry {
	entries := l.cursor.chunk.entries[l.cursor.index:l.end]
	round := l.round
	if entries[0].cause == inspect.CauseResync {
		round = uint32(entries[0].round)
	}
	for i := range entries {
		if entries[i].cause == inspect.CauseResync && uint32(entries[i].round) != round {
			return entries[:i]
		}
	}
	return entries
}

// finishRun accounts for a call that has returned or panicked: as for calls of
// one entry each, of the same length.
func (l *Listener) finishRun() {
	entries, seq := l.together(), l.cursor.seq()
	now, done := l.p.now(), l.delivered.Load()
	took := (now - l.last) / int64(len(entries))
	initial := uint64(0)
	for i := range entries {
		e := &entries[i]
		l.last += took
		l.records.add(done, record{ended: l.last, took: time.Duration(took), cause: e.cause, seq: seq})
		done++
		l.delivered.Store(done)
		if seq > 0 {
			seq++
		}
		if e.marks.has(markInitial) {
			initial++
		}
	}
	l.last = now
	l.cursor.index += len(entries)
	if initial > 0 {
		l.initialDelivered.Add(initial)
		l.syncIfDone()
	}
	if now-l.bumped > bumpEvery {
		l.bump(now)
	}
}
