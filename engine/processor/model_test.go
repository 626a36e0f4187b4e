package processor

import (
	"fmt"
	"slices"
	"sync"
	"time"

	"pgregory.net/rapid"

	"github.com/informeter/informeter/engine/inspect"
)

// The model is what a processor promises, in the simplest form: every listener
// has a queue of its own, of which the first item is with the handler until the
// handler is let go on. After each step of a random script the processor is at
// rest, and vitals and calls of all listeners must be those of the model.

type step struct {
	what     string // publish, join, remove, let, check, sleep
	batch    []Notification
	explorer bool
	period   time.Duration
	initial  int
	listener int
	calls    int
	sleep    time.Duration
}

var drawNotification = rapid.Custom(func(rt *rapid.T) Notification {
	n := Notification{Kind: Update, Cause: inspect.Cause(rapid.IntRange(0, 6).Draw(rt, "cause"))}
	n.DueOnly = n.Cause == inspect.CauseResync || n.Cause == inspect.CauseRelistUnchanged
	if n.Cause == inspect.CauseInitial {
		n.Kind, n.Initial = Add, true
		// HandleDeltas doesn't do that; the counts must be right all the same.
		n.DueOnly = rapid.IntRange(0, 3).Draw(rt, "initial for the due") == 0
	}
	return n
})

var drawStep = rapid.Custom(func(rt *rapid.T) step {
	s := step{what: rapid.SampledFrom([]string{"publish", "publish", "publish", "join", "remove", "let", "let", "let", "check", "check", "sleep", "sleep"}).Draw(rt, "what")}
	switch s.what {
	case "publish":
		// Runs of one kind are repeated, so that batches reach across chunks.
		for _, n := range rapid.SliceOfN(drawNotification, 1, 4).Draw(rt, "batch") {
			s.batch = append(s.batch, slices.Repeat([]Notification{n}, rapid.SampledFrom([]int{1, 1, 2, 3, 30, 64, 150}).Draw(rt, "times"))...)
		}
	case "join":
		s.explorer = rapid.IntRange(0, 3).Draw(rt, "explorer") == 0
		s.period = rapid.SampledFrom([]time.Duration{0, 2 * time.Second, 5 * time.Second}).Draw(rt, "period")
		s.initial = rapid.SampledFrom([]int{0, 0, 1, 5, 64, 100}).Draw(rt, "initial")
		s.calls = rapid.SampledFrom([]int{0, 3, 1 << 30}).Draw(rt, "calls")
	case "let":
		s.listener = rapid.IntRange(0, 5).Draw(rt, "listener")
		s.calls = rapid.SampledFrom([]int{1, 2, 10, 64, 200}).Draw(rt, "calls")
	case "remove":
		s.listener = rapid.IntRange(0, 5).Draw(rt, "listener")
	case "sleep":
		s.sleep = time.Duration(rapid.IntRange(1, 4).Draw(rt, "sleep")) * time.Second
	}
	return s
})

// gated is a handler that does not return until it is let.
type gated struct {
	mu    sync.Mutex
	more  sync.Cond
	let   int
	calls []string
}

func newGated(let int) *gated {
	g := &gated{let: let}
	g.more.L = &g.mu
	return g
}

func (g *gated) allow(n int) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.let += n
	g.more.Broadcast()
}

// OnNotification makes it an Observer, so that it sees the cause, too.
func (g *gated) OnNotification(n *Notification) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.calls = append(g.calls, fmt.Sprintf("%v %v %s", n.Kind, n.Cause, nameOf(n.Object())))
	for g.let == 0 {
		g.more.Wait()
	}
	g.let--
}

func (g *gated) OnAdd(any, bool)   { panic("an observer is told as one") }
func (g *gated) OnUpdate(any, any) { panic("an observer is told as one") }
func (g *gated) OnDelete(any)      { panic("an observer is told as one") }

// item is a notification in a model's queue.
type item struct {
	Notification
	round    int
	at       time.Time
	delivery *inspect.Delivery // nil for the explorer's, and in a startup batch
}

// sentItem is a notification that was published and, by listener, what became of
// it.
type sentItem struct {
	Sent
	deliveries map[*modelListener]*inspect.Delivery
}

// modelListener is one listener of the model.
type modelListener struct {
	v          inspect.ListenerVitals
	due        bool
	next       time.Time
	let        int
	queue      []item
	dropped    uint64
	calls      []string
	began      time.Time // of the call under way
	gone       bool
	lastRound  int
	roundBegan time.Time
	handler    *gated
	reg        *Listener
	delivered  []*sentItem // what is recorded of them
}

type model struct {
	sent      []*sentItem
	listeners []*modelListener
	started   bool
	stopped   bool
	synced    bool
	round     int
}

// advance lets every handler go as far as it may.
func (m *model) advance(now time.Time) {
	if !m.started {
		return
	}
	for _, l := range m.listeners {
		if l.gone {
			continue
		}
		for len(l.queue) > 0 {
			first := l.queue[0]
			if l.began.IsZero() {
				l.began = now
				if first.delivery != nil {
					first.delivery.Began, first.delivery.Pending = time.Unix(0, now.UnixNano()), false
				}
				l.calls = append(l.calls, fmt.Sprintf("%v %v %s", first.Kind, first.Cause, nameOf(first.Object())))
				if first.Cause == inspect.CauseResync && first.round != l.lastRound {
					if l.lastRound >= 0 {
						l.v.ResyncSeen = now.Sub(l.roundBegan)
					}
					l.lastRound, l.roundBegan = first.round, now
					l.v.LastRound = &inspect.Round{Began: now}
				}
			}
			if l.let == 0 {
				break
			}
			l.let--
			l.queue = l.queue[1:]
			l.noteDelivery(m, &first, now)
			if first.Cause == inspect.CauseResync {
				r := l.v.LastRound
				l.v.LastRound = &inspect.Round{Began: r.Began, Ended: now, Objects: r.Objects + 1, Work: r.Work + now.Sub(l.began)}
			}
			l.began = time.Time{}
			l.v.Delivered++
			l.v.Causes.Add(first.Cause, 1)
			if first.Initial {
				l.v.InitialDelivered++
			}
		}
		if len(l.queue) == 0 && l.v.Removing {
			l.gone = true
		}
		if m.synced && !m.stopped && l.v.InitialDelivered == l.v.InitialTotal && (!l.v.Removing || len(l.queue) == 0 && l.dropped == 0) {
			l.v.Synced = true
		}
	}
}

// noteDelivery says that a call has returned.
func (l *modelListener) noteDelivery(m *model, it *item, now time.Time) {
	if it.delivery == nil {
		return
	}
	it.delivery.Took = now.Sub(l.began)
	l.delivered = append(l.delivered, m.sent[it.Seq-1])
	if len(l.delivered) > deliveriesKept {
		delete(l.delivered[0].deliveries, l)
		l.delivered = l.delivered[1:]
	}
}

// publish queues a batch and numbers it. The first that is sent has number 1.
func (m *model) publish(batch []Notification, now time.Time) {
	for i := range batch {
		n, s := &batch[i], &sentItem{deliveries: map[*modelListener]*inspect.Delivery{}}
		anybody := false
		for _, l := range m.listeners {
			anybody = anybody || !l.gone && !l.v.Removing && (!n.DueOnly || l.due || l.v.Explorer)
		}
		if !anybody {
			continue
		}
		m.sent = append(m.sent, s)
		n.Seq = uint64(len(m.sent))
		s.Seq = n.Seq
		for _, l := range m.listeners {
			if l.gone || l.v.Removing || n.DueOnly && !l.due && !l.v.Explorer {
				continue
			}
			it := item{Notification: *n, round: m.round, at: now}
			if !l.v.Explorer {
				it.delivery = &inspect.Delivery{Handler: l.v.Name, Pending: true}
				s.deliveries[l] = it.delivery
			}
			l.queue = append(l.queue, it)
			if n.Initial {
				l.v.InitialTotal++
			}
		}
	}
}

func (m *model) remove(l *modelListener) {
	if l.gone || l.v.Removing {
		return
	}
	l.v.Removing = true
	if !m.started {
		l.gone = true
		return
	}
	if len(l.queue) > 1 {
		l.dropped = uint64(len(l.queue) - 1)
		for _, it := range l.queue[1:] {
			if it.delivery != nil {
				delete(m.sent[it.Seq-1].deliveries, l)
			}
		}
		l.queue = l.queue[:1]
	}
}

// shouldResync is client-go's rule.
func (m *model) shouldResync(now time.Time) (any bool) {
	for _, l := range m.listeners {
		if l.gone || l.v.Removing || l.v.Explorer {
			continue
		}
		l.due = l.v.ResyncGranted != 0 && !now.Before(l.next)
		if l.due {
			l.next = now.Add(l.v.ResyncGranted)
			any = true
		}
	}
	if any {
		m.round++
	}
	return any
}

// deliveries returns the newest n that were sent, and what is expected of them.
func (m *model) deliveries(n int, now time.Time) (sent []Sent, all [][]inspect.Delivery) {
	for _, s := range m.sent[max(0, len(m.sent)-n):] {
		var expected []inspect.Delivery
		for _, l := range m.listeners {
			if d := s.deliveries[l]; d != nil && !l.gone {
				d := *d
				if len(l.queue) > 0 && l.queue[0].delivery == s.deliveries[l] && !l.began.IsZero() {
					d.Took, d.Calling = now.Sub(l.began), true
				}
				expected = append(expected, d)
			}
		}
		sent = append(sent, s.Sent)
		all = append(all, expected)
	}
	return sent, all
}

// vitals returns what is expected of the listeners that are left.
func (m *model) vitals(now time.Time) []inspect.ListenerVitals {
	all := []inspect.ListenerVitals{}
	for _, l := range m.listeners {
		if l.gone {
			continue
		}
		v := l.v
		v.Pending = uint64(len(l.queue)) + l.dropped
		if !v.Explorer && v.ResyncGranted != 0 {
			v.NextResync = l.next
		}
		if len(l.queue) > 0 {
			v.Behind = now.Sub(l.queue[0].at)
			if m.started {
				v.InHandler = max(now.Sub(l.began), 1)
				v.CurrentKey = "ns/" + nameOf(l.queue[0].Object())
			}
		}
		all = append(all, v)
	}
	return all
}
