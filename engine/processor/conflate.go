package processor

// conflation is the part of a ledger that lets a listener leave the log when too
// much waits for it. There is one only where Options.ConflateBacklog says so.
//
//	            ┌── too much waits: whoever sees it ──┐
//	            │                                     ▼
//	in the log: cursor ──▶ handler     out of it: mover ──▶ backlog ──▶ handler
//	            ▲                                     │
//	            └── nothing waits, the mover is done ─┘
//
// In the log the listener copies the run that it delivers, so that a handler that
// never returns does not hold on to what is published after it. Out of the log it
// has no position there. The mover has: a goroutine that empties the log into the
// backlog and ends when it has reached the head; whoever publishes more begins
// another one.
//
// All of it is guarded by the ledger's mu, except that entries of window may be
// read by the listener's goroutine, which alone writes them.
type conflation struct {
	// window holds what is being delivered. It has no next.
	window chunk
	// rest is where the log goes on after window, for a listener in the log that
	// is delivering; else the zero position. It counts as a hold on the log.
	rest position
	// out says that the listener is out of the log, moving that it has a mover,
	// movedTo how far movers have come. gone says that the listener has ended.
	out, moving, gone bool
	movedTo           uint64
	backlog           backlog
	// filled has room for one token, sent when the backlog may have something or
	// a mover has ended.
	filled chan struct{}
}

// overdue says whether more waits for the listener than it may have in the log.
func (l *Listener) overdue() bool {
	return l.waits() > uint64(l.p.conflateAt)
}

// waits counts what was addressed to the listener and has not been delivered, nor
// conflated.
func (l *Listener) waits() uint64 {
	done := l.delivered.Load() + l.conflated.Load()
	return l.addressed() - done
}

// beginConflating is beginRun for a listener that may leave the log. It returns
// false if it has just left.
func (l *Listener) beginConflating() bool {
	g, c := &l.records, l.conflating
	g.mu.Lock()
	defer g.mu.Unlock()
	if l.overdue() {
		c.rest = l.cursor
		l.cursor = position{}
		l.leaveLocked()
		return false
	}
	chunk := l.cursor.chunk
	copy(c.window.entries[l.cursor.index:l.end], chunk.entries[l.cursor.index:l.end])
	c.window.base, c.window.own = chunk.base, chunk.own
	c.rest = position{chunk, l.end}
	l.cursor.chunk = &c.window
	g.beginRunLocked(l.cursor, l.end, l.delivered.Load(), l.last)
	return true
}

// leaveLocked lets the listener leave the log at rest, and a mover begin there.
func (l *Listener) leaveLocked() {
	c := l.conflating
	c.out, c.moving, c.movedTo = true, true, c.rest.number()
	if c.rest.chunk.own {
		c.movedTo = 0
	}
	from := c.rest
	c.rest = position{}
	l.p.wg.Go(func() { l.move(from) })
}

// resume goes back to the log after a run, or finds what to deliver out of it. It
// returns true if there is something out of the log.
func (l *Listener) resume() bool {
	g, c := &l.records, l.conflating
	for {
		g.mu.Lock()
		clear(c.window.entries[:l.end])
		if !c.out {
			if c.rest.chunk != nil {
				l.cursor, c.rest = c.rest, position{}
			}
			g.mu.Unlock()
			return false
		}
		if q, ok := c.backlog.pop(); ok {
			l.last = l.p.now()
			c.window.entries[0] = q.entry
			c.window.base, c.window.own = q.seq-1, q.seq == 0
			l.cursor, l.end = position{&c.window, 0}, 1
			g.beginRunLocked(l.cursor, 1, l.delivered.Load(), l.last)
			g.mu.Unlock()
			return true
		}
		l.cursor = position{}
		if !c.moving {
			l.returnLocked() // unlocks
			return false
		}
		g.from, g.fromDone, g.runEnd = position{}, l.delivered.Load(), 0
		g.mu.Unlock()
		select {
		case <-c.filled:
		case <-l.quitted:
			return false
		}
	}
}

// returnLocked makes the listener one of the log again that is asleep, and waits
// until it is woken. The ledger's mu is given back.
func (l *Listener) returnLocked() {
	g, c := &l.records, l.conflating
	stood := c.movedTo
	c.out, c.backlog = false, backlog{}
	g.from, g.fromDone, g.runEnd, g.stood = position{}, l.delivered.Load(), 0, stood
	l.asleep.Store(stood + 1)
	g.mu.Unlock()
	l.bump(l.last)
	// quitting is set before asleep is read: either this sees it, or quit sees
	// the listener asleep.
	if l.quitting.Load() && l.asleep.CompareAndSwap(stood+1, 0) {
		l.p.awake.Add(1)
		return
	}
	<-l.wake
	if from := g.place(); from.chunk != nil {
		l.cursor = from.forward(stood)
	}
}

// move empties the log, from pos on, into the backlog. It has a hold on the log.
func (l *Listener) move(pos position) {
	defer l.p.rest()
	for !l.quitting.Load() {
		if n := int(pos.chunk.n.Load()); pos.index < n {
			pos = l.moveRun(pos)
			continue
		}
		if next, ok := pos.next(); ok {
			pos = next
			continue
		}
		if l.moved(pos) {
			return
		}
	}
	l.records.mu.Lock()
	l.conflating.moving = false
	l.records.mu.Unlock()
}

// moveRun moves the run at pos, if it is for the listener, and returns its end.
func (l *Listener) moveRun(pos position) position {
	g, c := &l.records, l.conflating
	entries := &pos.chunk.entries
	end := pos.index + int(entries[pos.index].skip)
	mine := entries[pos.index].to.includes(l)
	var keys [chunkSize]string
	for i := pos.index; mine && i < end; i++ {
		if keys[i] = entries[i].key; keys[i] == "" {
			keys[i] = l.p.keyOf(entries[i].object()) // foreign: not under mu
		}
	}
	var initial uint64
	g.mu.Lock()
	for ; pos.index < end; pos.index++ {
		if !mine || c.gone {
			continue
		}
		gone, fewer := c.backlog.put(keys[pos.index], queued{entries[pos.index], pos.seq()})
		l.conflated.Add(uint64(len(gone)))
		g.mergeLocked(gone)
		initial += fewer
	}
	if !pos.chunk.own {
		c.movedTo = pos.number()
	}
	g.mu.Unlock()
	c.signal()
	if initial > 0 {
		l.initialDelivered.Add(initial)
		l.syncIfDone()
	}
	return pos
}

// moved ends a mover that has reached the head, unless that has moved on.
func (l *Listener) moved(pos position) bool {
	g, c := &l.records, l.conflating
	g.mu.Lock()
	defer g.mu.Unlock()
	// Whoever publishes does so before it looks for a mover under mu.
	if _, more := pos.next(); more || pos.index < int(pos.chunk.n.Load()) {
		return false
	}
	c.moving, c.movedTo = false, pos.number()
	c.signal()
	return true
}

func (c *conflation) signal() {
	select {
	case c.filled <- struct{}{}:
	default:
	}
}

// published tells a listener that may leave the log of a batch from first to the
// position numbered end. Called with the processor's mu.
func (l *Listener) published(first position, end uint64) {
	g, c := &l.records, l.conflating
	g.mu.Lock()
	out := c.out
	switch {
	case l.retired.Load():
	case out && !c.moving && c.movedTo < end:
		c.moving = true
		l.p.awake.Add(1)
		from := first.forward(c.movedTo)
		l.p.wg.Go(func() { l.move(from) })
	case !out && c.rest.chunk != nil && l.overdue():
		// The handler is at work, so nobody else will see it soon.
		l.leaveLocked()
		out = true
	}
	g.mu.Unlock()
	if !out {
		l.wakeUp(first, end)
	}
}

// end lets go of what a listener has out of the log, and returns whether it
// was out of it.
func (c *conflation) end(g *ledger) (out bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	c.gone = true
	c.backlog, c.rest = backlog{}, position{}
	clear(c.window.entries[:])
	return c.out
}
