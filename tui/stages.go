package tui

import (
	"time"

	"github.com/informeter/informeter/engine/inspect"
)

// stage is what is shown of one stage.
type stage struct {
	name  string
	facts []segment // for the columns, one a line
	row   []segment // for the list, one line
	spark []string
	color style
	// most is the largest value that spark shows; empty where that says nothing.
	most string
}

// mostFits says whether the largest value has room in w cells behind a text.
func (st *stage) mostFits(text string, w int) bool {
	return st.most != "" && width(clean(text))+1+width(st.most) <= w
}

func (p *pipelineScreen) stages(t *theme, s *inspect.Snapshot, w, rows int) []stage {
	h := p.m.history()
	stages := []stage{
		reflectorStage(t, s, h.events.spark(w, rows, 1)),
		queueStage(t, s, h.depth.spark(w, rows, 8)),
		handleStage(t, s, h.handled.spark(w, rows, 1)),
		indexerStage(t, s, h.objects.spark(w, rows, 2*float64(max(s.Store.Objects, 1)))),
		processorStage(t, s, w, h.pending.spark(w, rows, 8)),
	}
	perSecond := func(v float64) string { return rate(v) + "/s" }
	whole := func(v float64) string { return number(int64(v)) }
	for _, c := range []struct {
		stage   int // a store's size is what it is: not the Indexer's
		series  *series
		present float64 // is never above it
		write   func(float64) string
	}{
		{0, &h.events, s.Reflector.EventRate, perSecond},
		{1, &h.depth, float64(s.Queue.Deltas), whole},
		{2, &h.handled, s.Handle.Rate, perSecond},
		{4, &h.pending, float64(pendingInAll(s)), whole},
	} {
		most := max(c.series.most(w), c.present)
		if written := c.write(most); written != c.write(0) {
			stages[c.stage].most = "max " + written
		}
	}
	return stages
}

func reflectorStage(t *theme, s *inspect.Snapshot, spark []string) stage {
	r := &s.Reflector
	phase := seg(0, "", phaseName(s)+" "+since(s.At, r.Since))
	if r.Since.IsZero() {
		phase = seg(0, "", phaseName(s))
	}
	if r.Error != "" {
		phase.parts[0].st = t.bad
	}
	counts := segment{drop: 2}
	for _, c := range []struct {
		kind string
		n    uint64
	}{{"Added", r.Added}, {"Updated", r.Updated}, {"Deleted", r.Deleted}} {
		letter, st := t.delta(c.kind)
		if len(counts.parts) > 0 {
			letter = " " + letter
		}
		counts.parts = append(counts.parts, part{st, letter}, part{"", " " + compact(c.n)})
	}
	last := seg(3, t.muted, "no bookmark yet")
	if !r.LastBookmark.IsZero() {
		last = seg(3, t.muted, "bookmark "+since(s.At, r.LastBookmark)+" ago")
	}
	return stage{
		name: "Reflector", facts: []segment{phase, counts, last}, spark: spark, color: t.ok,
		row: []segment{phase, seg(1, "", rate(r.EventRate)+" ev/s"), counts},
	}
}

func queueStage(t *theme, s *inspect.Snapshot, spark []string) stage {
	q := &s.Queue
	deltas := seg(0, "", count(q.Deltas, "delta", "deltas"))
	keys := seg(0, t.muted, count(q.Keys, "key", "keys"))
	if q.Objects > q.Deltas {
		keys = seg(0, t.muted, count(q.Objects, "object", "objects"))
	}
	age := seg(1, t.muted, "nothing waits")
	if cutOff(s) {
		age = seg(1, t.muted, "nothing arrives")
	}
	if q.Deltas > 0 {
		age = seg(1, "", "oldest "+duration(q.Age))
	}
	if q.BackPressure {
		age = seg(0, t.warn, "⚠ back-pressure")
	}
	name := q.Kind
	if name == "" {
		name = "queue"
	}
	both := segment{parts: []part{deltas.parts[0], {t.muted, " on " + keys.parts[0].s}}}
	return stage{name: name, facts: []segment{deltas, keys, age}, row: []segment{both, age}, spark: spark, color: t.accent}
}

func handleStage(t *theme, s *inspect.Snapshot, spark []string) stage {
	v := &s.Handle
	pace := seg(0, "", rate(v.Rate)+"/s")
	p99 := seg(1, t.muted, "p99 "+duration(v.Time.P99))
	if v.Time.Count == 0 {
		p99 = seg(1, t.muted, "p99 "+dash)
	}
	gate := segment{parts: []part{gateState(t, &s.Queue.Gate)}}
	if n := s.Queue.Gate.Steps; n > 0 {
		gate.parts = append(gate.parts, part{"", " " + number(n) + " to go"})
	}
	facts := []segment{pace, p99, gate}
	if len(s.Quarantine) > 0 {
		facts[1] = seg(0, t.warn, "⚠ "+number(v.Quarantined)+" set aside")
	}
	return stage{name: "HandleDeltas", facts: facts, row: facts, spark: spark, color: t.ok}
}

// cutOff says whether nothing can come from the server: then that nothing waits
// is no good news.
func cutOff(s *inspect.Snapshot) bool {
	return s.Reflector.Error != "" || s.Informer.State != inspect.StateRunning
}

// gateState is the state of the gate in a word.
func gateState(t *theme, g *inspect.Gate) part {
	switch g.Mode {
	case inspect.GatePaused:
		return part{t.paused, " PAUSED "}
	case inspect.GateLimited:
		return part{t.warn, "limited " + rate(g.Rate) + "/s"}
	}
	return part{t.ok, "▶ running"}
}

func indexerStage(t *theme, s *inspect.Snapshot, spark []string) stage {
	v := &s.Store
	objects := seg(0, "", count(v.Objects, "object", "objects"))
	indices := seg(1, t.muted, count(len(s.Indices), "index", "indices"))
	version := seg(2, t.muted, "rv "+v.ResourceVersion)
	if v.ResourceVersion == "" {
		version = seg(2, t.muted, "rv "+dash)
	}
	if v.Behind {
		version.parts[0].st = t.warn
	}
	facts := []segment{objects, indices, version}
	return stage{name: "Indexer", facts: facts, row: facts, spark: spark, color: t.accent}
}

func processorStage(t *theme, s *inspect.Snapshot, w int, spark []string) stage {
	listeners := seg(0, "", count(len(s.Listeners), "listener", "listeners"))
	worst := slowest(s.Listeners)
	if worst < 0 || s.Listeners[worst].Behind < noticeable {
		pace := "all keep up"
		if cutOff(s) {
			pace = "nothing to tell them"
		}
		facts := []segment{listeners, seg(1, t.muted, pace), seg(2, t.muted, number(pendingInAll(s))+" pending")}
		return stage{name: "Processor", facts: facts, row: facts, spark: spark, color: t.ok}
	}
	l := &s.Listeners[worst]
	st := t.warn
	// Its name is what has to be read.
	name, pending := "slowest: "+l.Name, number(l.Pending)+" pending"
	if width(clean(name)) > w {
		name = cutKey(clean(l.Name), w)
	}
	const short = 16
	return stage{
		name: "Processor", spark: spark, color: st,
		facts: []segment{listeners, seg(0, t.muted, name), seg(0, st, pending)},
		row: []segment{
			{parts: listeners.parts, drop: 3},
			seg(2, st, "slowest"),
			seg(0, st, cutKey(clean(l.Name), short)+" "+pending),
			seg(1, st, duration(l.Behind)),
		},
	}
}

// pendingInAll sums up what waits for the handlers.
func pendingInAll(s *inspect.Snapshot) (n uint64) {
	for i := range s.Listeners {
		n += s.Listeners[i].Pending
	}
	return n
}

// compact writes a count in at most five characters.
func compact(n uint64) string {
	switch {
	case n < 100_000:
		return number(n)
	case n < 1_000_000:
		return number(n/1000) + "k"
	case n < 1_000_000_000:
		return tenths(time.Duration(n), 1_000_000) + "M"
	}
	return tenths(time.Duration(n), 1_000_000_000) + "G"
}
