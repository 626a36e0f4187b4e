package processor

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
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

// runModel plays a script before and after Run to a processor and its model.
func runModel(o Options, before, after []step) error {
	informer := make(upstream)
	o.Upstream = informer
	p := New(o)
	p.RecordDeliveries(true)
	m := &model{}
	var names int
	name := func() string { names++; return fmt.Sprintf("o%d", names) }

	do := func(s step) {
		now := time.Now()
		pick := func() *modelListener {
			if s.listener < len(m.listeners) {
				return m.listeners[s.listener]
			}
			return nil
		}
		switch s.what {
		case "publish":
			batch := slices.Clone(s.batch)
			for i := range batch {
				batch[i].New = obj(name())
			}
			m.publish(batch, now)
			numbered := slices.Clone(batch)
			due := p.Publish(batch)
			for i := range batch {
				if got, want := batch[i].Seq, numbered[i].Seq; got != want {
					panic(fmt.Sprintf("a notification has number %d, want %d", got, want))
				}
				if want := batch[i].Seq; want != 0 && batch[i].DueOnly {
					m.sent[want-1].To = due
				}
			}
			clear(batch)
		case "join":
			l := &modelListener{due: !s.explorer, let: s.calls, next: now.Add(s.period), handler: newGated(s.calls), lastRound: -1}
			l.v = inspect.ListenerVitals{Name: fmt.Sprint(len(m.listeners)), Explorer: s.explorer, ResyncAsked: s.period, ResyncGranted: s.period}
			var initial []any
			if m.started {
				for range s.initial {
					o := obj(name())
					initial = append(initial, o)
					l.queue = append(l.queue, item{
						Notification: Notification{Kind: Add, Cause: inspect.CauseLateJoin, Initial: true, New: o}, round: m.round, at: now,
					})
				}
				l.v.InitialTotal = uint64(s.initial)
			}
			reg, err := p.Add(l.handler, ListenerOptions{Name: l.v.Name, Explorer: s.explorer, ResyncAsked: s.period, ResyncGranted: s.period, Now: now}, nil, initial)
			if err != nil {
				panic(err)
			}
			l.reg = reg
			m.listeners = append(m.listeners, l)
		case "remove":
			if l := pick(); l != nil {
				m.remove(l)
				if err := p.Remove(l.reg); err != nil {
					panic(err)
				}
			}
		case "let":
			if l := pick(); l != nil {
				l.let += s.calls
				l.handler.allow(s.calls)
			}
		case "check":
			if want, got := m.shouldResync(now), p.ShouldResync(now); want != got {
				panic(fmt.Sprintf("ShouldResync = %v, want %v", got, want))
			}
		case "sleep":
			time.Sleep(s.sleep)
		}
	}
	check := func(what string) error {
		m.advance(time.Now())
		synctest.Wait()
		if diff := cmp.Diff(m.vitals(time.Now()), p.Listeners(time.Now()), ignoreRates); diff != "" {
			return fmt.Errorf("vitals after %s (-want +got):\n%s", what, diff)
		}
		if err := checkDeliveries(p, m, 100); err != nil {
			return fmt.Errorf("after %s: %w", what, err)
		}
		for _, l := range m.listeners {
			l.handler.mu.Lock()
			got := slices.Clone(l.handler.calls)
			l.handler.mu.Unlock()
			if !slices.Equal(l.calls, got) {
				return fmt.Errorf("calls of %s after %s (-want +got):\n%s", l.v.Name, what, cmp.Diff(l.calls, got))
			}
			select {
			case <-l.reg.ShutdownChan():
				if !l.gone {
					return fmt.Errorf("%s shut down after %s", l.v.Name, what)
				}
			default:
				if l.gone {
					return fmt.Errorf("%s not shut down after %s", l.v.Name, what)
				}
			}
		}
		return checkInvariants(p)
	}

	var err error
	for i, s := range before {
		if err == nil {
			do(s)
			err = check(fmt.Sprintf("%s (%d before Run)", s.what, i))
		}
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		p.Run(ctx)
	}()
	m.started = true
	if err == nil {
		err = check("Run")
	}
	for i, s := range after {
		if i == len(after)/2 {
			close(informer)
			m.synced = true
			if err == nil {
				err = check("the informer synced")
			}
		}
		if err == nil {
			do(s)
			err = check(fmt.Sprintf("%s (%d)", s.what, i))
		}
	}
	if err == nil {
		err = checkDeliveries(p, m, 2*deliveriesKept)
	}
	cancel()
	for _, l := range m.listeners {
		l.handler.allow(1 << 30)
	}
	<-done
	return err
}

var ignoreRates = cmp.FilterPath(func(p cmp.Path) bool {
	switch strings.TrimPrefix(p.Last().String(), ".") {
	case "Rate", "BusyRate", "ArrivalRate", "ChangeRate", "Drain", "Time", "Spread":
		return true
	}
	return false
}, cmp.Ignore())

func checkDeliveries(p *Processor, m *model, newest int) error {
	now := time.Now()
	sent, want := m.deliveries(newest, now)
	if err := checkStanding(p, m); err != nil {
		return err
	}
	got := p.Deliveries(now, sent)
	for i := range sent {
		if !slices.Equal(want[i], got[i]) {
			return fmt.Errorf("deliveries of %d (-want +got):\n%s", sent[i].Seq, cmp.Diff(want[i], got[i]))
		}
	}
	return nil
}

// checkStanding checks that every listener stands between what it has returned
// from and what it has not.
func checkStanding(p *Processor, m *model) error {
	for _, l := range m.listeners {
		s, ok := p.Standing(l.v.Name)
		startup := len(l.queue) > 0 && l.queue[0].Seq == 0
		if l.gone || startup {
			if ok {
				return fmt.Errorf("%s, gone or at its startup batch, is said to stand at %d", l.v.Name, s.Next)
			}
			continue
		}
		if !ok {
			return fmt.Errorf("nobody knows where %s stands", l.v.Name)
		}
		for _, it := range l.queue {
			if it.Seq < s.Next || !s.Includes(it.Seq, m.sent[it.Seq-1].To) {
				return fmt.Errorf("%s stands at %d, or not for what waits for it: %d", l.v.Name, s.Next, it.Seq)
			}
		}
		for _, it := range l.delivered {
			if it.Seq >= s.Next || !s.Includes(it.Seq, it.To) {
				return fmt.Errorf("%s stands at %d, or was not for what it was given: %d", l.v.Name, s.Next, it.Seq)
			}
		}
	}
	return nil
}

// checkInvariants checks a processor at rest.
func checkInvariants(p *Processor) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	var awake int32
	for _, l := range p.listeners {
		from := l.records.place()
		if c := l.conflating; c != nil && c.out {
			if l.asleep.Load() != 0 || c.rest.chunk != nil {
				return fmt.Errorf("listener %s is out of the log and in it", l.name)
			}
			if c.moving {
				awake++ // the mover
			}
		} else if l.asleep.Load() == 0 {
			awake++
		} else if from.chunk != nil {
			return fmt.Errorf("listener %s is asleep and holds on to the log", l.name)
		}
		if done, all := l.delivered.Load(), l.addressed(); done > all {
			return fmt.Errorf("listener %s was given %d of %d", l.name, done, all)
		}
		if len(l.wake) > 0 {
			return fmt.Errorf("listener %s is at rest, but was woken", l.name)
		}
	}
	if got := p.awake.Load(); got != awake {
		return fmt.Errorf("%d listeners are awake, but %d are counted", awake, got)
	}
	n := p.tail.n.Load()
	if awake == 0 && n != p.cleared {
		return fmt.Errorf("nobody is awake, but of %d entries only %d are cleared", n, p.cleared)
	}
	for i := range p.cleared {
		if p.tail.entries[i] != (entry{}) {
			return fmt.Errorf("entry %d is said to be cleared, but is not", i)
		}
	}
	return nil
}

func TestListenersAndVitalsAreThoseOfTheModel(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		before := rapid.SliceOfN(drawStep, 3, 8).Draw(rt, "before")
		after := rapid.SliceOfN(drawStep, 20, 60).Draw(rt, "after")
		// A bound that is never reached changes nothing.
		o := Options{ConflateBacklog: rapid.SampledFrom([]int{0, math.MaxInt32}).Draw(rt, "conflate")}
		var err error
		synctest.Test(t, func(*testing.T) { err = runModel(o, before, after) })
		if err != nil {
			rt.Fatal(err)
		}
	})
}
