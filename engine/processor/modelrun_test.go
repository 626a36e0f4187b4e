package processor

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/informeter/informeter/engine/inspect"
)

// The processor beside its model, through the same steps.

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
