package processor

// overtake moves a listener that has fallen too far behind to the head of the
// log, and lets it catch up by other means. What it passes over is addressed to
// it no more: it is neither pending nor delivered.
func (l *Listener) overtake() {
	lost, ok := l.passOver()
	if !ok {
		return // it is to quit
	}
	l.syncIfDone()
	l.catchUp(lost)
}

// passOver returns how many notifications were passed over, those of the initial
// list apart. While it holds the processor's mu nothing is published, so what
// was counted and what stands in the log are the same.
func (l *Listener) passOver() (lost uint64, ok bool) {
	l.p.mu.Lock()
	defer l.p.mu.Unlock()
	if l.retired.Load() {
		return 0, false
	}
	done := l.delivered.Load()
	passed := l.addressed() - done
	initial := l.initialTotal() - l.initialDelivered.Load()
	// Differences of counters may wrap: the sums come out right.
	l.own.Add(-passed)
	l.ownInitial.Add(-initial)
	l.cursor = l.p.tail.head()
	l.records.at(l.cursor, done)
	return passed - initial, true
}
