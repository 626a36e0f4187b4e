package processor

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// sequence is a handler that wants numbers in rising order.
type sequence struct {
	t      *testing.T
	spread int // it yields the processor after every that many calls
	n      int
	last   int
}

func (s *sequence) OnAdd(o any, _ bool) {
	if n := o.(int); n <= s.last {
		s.t.Errorf("given %d after %d", n, s.last)
	} else {
		s.last = n
	}
	if s.n++; s.spread > 0 && s.n%s.spread == 0 {
		runtime.Gosched()
	}
}

func (s *sequence) OnUpdate(_, n any) { s.OnAdd(n, false) }
func (s *sequence) OnDelete(o any)    { s.OnAdd(o, false) }

// Listeners fall asleep and are woken at every moment of a batch; what is
// published must reach each of them, and at rest nothing may be left over.
func TestListenersSleepAndWakeAtAnyMoment(t *testing.T) {
	for range 20 {
		synctest.Test(t, func(t *testing.T) {
			p := New(Options{})
			handlers := make([]*sequence, 5)
			due := handlers[3:]
			for i := range handlers {
				handlers[i] = &sequence{t: t, spread: i}
				o := ListenerOptions{}
				if i >= 3 {
					o.ResyncGranted = time.Second
				}
				add(t, p, handlers[i], o)
			}
			stop := run(t, p)
			p.ShouldResync(time.Now().Add(time.Minute))
			var published, forDue int
			batch := make([]Notification, 0, 3*chunkSize)
			for range 200 {
				for range rand.IntN(4) {
					batch = batch[:0]
					for range rand.IntN(cap(batch) >> rand.IntN(8)) {
						published++
						n := Notification{Kind: Update, New: published, DueOnly: rand.IntN(20) == 0}
						if n.DueOnly {
							forDue++
						}
						batch = append(batch, n)
					}
					p.Publish(batch)
					for range rand.IntN(3) {
						runtime.Gosched()
					}
				}
				if rand.IntN(4) > 0 {
					continue
				}
				synctest.Wait()
				if err := checkInvariants(p); err != nil {
					t.Fatal(err)
				}
				for i, h := range handlers {
					want := published - forDue
					if i >= len(handlers)-len(due) {
						want = published
					}
					if h.n != want {
						t.Fatalf("handler %d was given %d, want %d", i, h.n, want)
					}
				}
			}
			stop()
		})
	}
}

// Handlers come and go while others read the vitals; everything ends.
func TestHandlersComeAndGoWhileVitalsAreRead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := New(Options{})
		stop := run(t, p)
		var handle sync.Mutex // keeps Add and Publish apart
		var published int
		publish := func(n int) {
			handle.Lock()
			defer handle.Unlock()
			var batch []Notification
			for range n {
				published++
				batch = append(batch, Notification{Kind: Add, New: published})
			}
			p.Publish(batch)
		}
		join := func(initial int) *Listener {
			handle.Lock()
			defer handle.Unlock()
			var objects []any
			for i := range initial {
				objects = append(objects, published-initial+i+1)
			}
			return add(t, p, &sequence{t: t, spread: 7, last: -initial}, ListenerOptions{ResyncGranted: 1}, objects...)
		}
		var workers sync.WaitGroup
		for range 3 {
			workers.Go(func() {
				for range 100 {
					l := join(rand.IntN(100))
					publish(rand.IntN(10))
					if rand.IntN(2) == 0 {
						time.Sleep(time.Nanosecond)
					}
					if err := p.Remove(l); err != nil {
						t.Error(err)
					}
					if rand.IntN(2) == 0 {
						<-l.ShutdownChan()
					}
				}
			})
		}
		workers.Go(func() {
			for range 300 {
				for _, v := range p.Listeners(time.Now()) {
					if v.Pending > 1<<40 || v.Behind < 0 || v.InitialDelivered > v.InitialTotal {
						t.Errorf("impossible vitals: %+v", v)
					}
				}
				p.Sample(time.Now())
				p.ShouldResync(time.Now())
				runtime.Gosched()
			}
		})
		workers.Wait()
		synctest.Wait()
		if n := len(p.Listeners(time.Now())); n != 0 || p.Len() != 0 {
			t.Errorf("%d listeners are left", n)
		}
		if err := checkInvariants(p); err != nil {
			t.Error(err)
		}
		stop()
	})
}

// What happens while a listener falls asleep is neither missed nor delivered
// twice, at whichever moment of it.
func TestNothingIsMissedWhileAListenerFallsAsleep(t *testing.T) {
	for _, asleep := range []bool{false, true} {
		for _, batches := range []int{1, 2} {
			t.Run(fmt.Sprintf("asleep=%v/batches=%d", asleep, batches), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					p := New(Options{})
					var h recorder
					l := add(t, p, &h, ListenerOptions{})
					want := []string{"add first"}
					left := chunkSize
					l.dozing = func(now bool) {
						if now != asleep || left == 0 || len(h.got()) == 0 {
							return
						}
						for range batches {
							left--
							name := fmt.Sprint(left)
							want = append(want, "add "+name)
							p.Publish(added(name))
						}
					}
					stop := run(t, p)
					p.Publish(added("first"))
					synctest.Wait()
					if err := checkInvariants(p); err != nil {
						t.Error(err)
					}
					p.Publish(added("last"))
					synctest.Wait()
					h.expect(t, append(want, "add last")...)
					stop()
				})
			})
		}
	}
}

func TestARemovalIsNotMissedWhileAListenerFallsAsleep(t *testing.T) {
	for _, asleep := range []bool{false, true} {
		t.Run(fmt.Sprintf("asleep=%v", asleep), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := New(Options{})
				var h recorder
				l := add(t, p, &h, ListenerOptions{})
				l.dozing = func(now bool) {
					if now == asleep {
						if err := p.Remove(l); err != nil {
							t.Error(err)
						}
					}
				}
				stop := run(t, p)
				<-l.ShutdownChan()
				synctest.Wait()
				if err := checkInvariants(p); err != nil {
					t.Error(err)
				}
				if n := p.awake.Load(); n != 0 {
					t.Errorf("%d listeners are counted as awake, want none", n)
				}
				stop()
			})
		})
	}
}
