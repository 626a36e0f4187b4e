package processor

import (
	"time"

	"github.com/informeter/informeter/engine/inspect"
)

// deliver calls the handler with the entries up to end.
func (l *Listener) deliver() {
	for l.cursor.index < l.end && !l.quitting.Load() {
		switch {
		case l.pausing:
			l.pause()
		case l.p.panicPolicy == Contain:
			l.callContained()
		default:
			l.callCrashing()
		}
	}
}

// callAll calls the handler with one entry after the other, until the run ends,
// the listener is to quit, or the handler panics.
func (l *Listener) callAll() {
	if l.runs != nil {
		l.callRun()
		return
	}
	entries := &l.cursor.chunk.entries
	for l.cursor.index < l.end && !l.quitting.Load() {
		e := &entries[l.cursor.index]
		l.noteRound(e)
		l.call(e)
		l.finish(e)
	}
}

// noteRound notices when a notification is the first of a resync round.
func (l *Listener) noteRound(e *entry) {
	if e.cause == inspect.CauseResync && uint32(e.round) != l.round {
		l.round = uint32(e.round)
		l.records.beginRound(l.last, l.delivered.Load())
	}
}

// passed accounts for what a call has panicked over.
func (l *Listener) passed() {
	if l.runs != nil {
		l.finishRun()
		return
	}
	l.finish(&l.cursor.chunk.entries[l.cursor.index])
}

func (l *Listener) call(e *entry) {
	if l.observer != nil {
		e.tell(&l.told, l.cursor.seq())
		l.observer.OnNotification(&l.told)
		l.told = Notification{}
		return
	}
	switch e.kind {
	case Add:
		l.handler.OnAdd(e.new, e.marks.has(markInitial))
	case Update:
		l.handler.OnUpdate(e.old, e.new)
	case Delete:
		l.handler.OnDelete(e.old)
	}
}

// finish accounts for a call that has returned or panicked. The end of one call
// is the start of the next: one look at the clock for both.
func (l *Listener) finish(e *entry) {
	now := l.p.now()
	done := l.delivered.Load()
	l.records.add(done, record{ended: now, took: time.Duration(now - l.last), cause: e.cause, seq: l.cursor.seq()})
	l.last = now
	l.cursor.index++
	l.delivered.Store(done + 1)
	if e.marks.has(markInitial) {
		l.initialDelivered.Add(1)
		l.syncIfDone()
	}
	if now-l.bumped > bumpEvery {
		l.bump(now)
	}
}

func (l *Listener) bump(now int64) {
	l.bumped = now
	l.p.generation.Bump()
}
