package processor

import "github.com/informeter/informeter/engine/inspect"

// Publish tells the listeners of a batch, in this order, and numbers it. The
// caller may reuse the slice. It does not wait for handlers, nor for Run: what
// is published before Run is delivered then. Without listeners, and after the
// end of Run, the batch is dropped. It returns whom its DueOnly notifications
// are for.
//
// Unlike client-go, Publish does not hold the caller up until the listeners have
// been started: the log keeps what is for them [publish].
func (p *Processor) Publish(batch []Notification) *Audience {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.active == 0 || p.stopped || len(batch) == 0 {
		for i := range batch {
			batch[i].Seq = 0
		}
		return nil
	}
	p.awake.Add(1)
	first := p.tail.head()
	toAll, toDue := p.appendLocked(batch)
	if p.skipBusy {
		p.markRoundLocked(batch)
	}
	end := p.tail.head().number()
	for _, l := range p.listeners {
		switch {
		case !toAll && !(toDue && p.due.includes(l)):
		case l.conflating != nil:
			l.published(first, end)
		default:
			l.wakeUp(first, end)
		}
	}
	p.restLocked()
	p.generation.Bump()
	return p.due
}

// appendLocked counts a batch, then publishes it. It returns whether some of it
// was for every listener and whether some was for the due ones only.
func (p *Processor) appendLocked(batch []Notification) (toAll, toDue bool) {
	due, nobody := p.dueLocked()
	var all, some tally
	for i := range batch {
		if batch[i].DueOnly && (due != nil || nobody) {
			some.add(&batch[i])
		} else {
			all.add(&batch[i])
		}
	}
	// What they are is counted before how many they are: whoever reads the other
	// way round never takes a round for changes.
	if all.resyncs > 0 {
		for _, l := range p.listeners {
			l.resyncs.Add(all.resyncs)
		}
	}
	p.initial.Add(all.initial)
	p.broadcast.Add(all.count)
	if some.count > 0 && !nobody {
		for l := range due.members {
			l.resyncs.Add(some.resyncs)
			l.ownInitial.Add(some.initial)
			l.own.Add(some.count)
		}
	}

	w := writeAt(p.tail, p.round, p.unixNow())
	for i := range batch {
		switch {
		case !batch[i].DueOnly:
			w.append(&batch[i], nil)
		case !nobody:
			w.append(&batch[i], due)
		default:
			batch[i].Seq = 0
		}
	}
	w.flush()
	if w.tail != p.tail {
		p.tail, p.cleared = w.tail, 0
	}
	return all.count > 0, some.count > 0 && !nobody
}

// tally counts notifications for the same addressees.
type tally struct{ count, initial, resyncs uint64 }

func (t *tally) add(n *Notification) {
	t.count++
	if n.Initial {
		t.initial++
	}
	if n.Cause == inspect.CauseResync {
		t.resyncs++
	}
}

// restLocked gives up one hold on the log, and lets go of what the tail pins
// if nobody is left who would read it.
func (p *Processor) restLocked() {
	if p.awake.Add(-1) == 0 {
		p.clearLocked()
	}
}

// rest is restLocked for a listener that falls asleep.
func (p *Processor) rest() {
	if p.awake.Add(-1) > 0 {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.awake.Load() == 0 {
		p.clearLocked()
	}
}

func (p *Processor) clearLocked() {
	n := p.tail.n.Load()
	clear(p.tail.entries[p.cleared:n])
	p.cleared = n
}
