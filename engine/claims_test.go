package engine

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	"pgregory.net/rapid"
)

// TestTheStoreClaimsNoMoreThanItHas: whatever is told in whatever order, what the
// store's resource version says to be there is there or was set aside; and in the end
// the store has come as far as its server.
func TestTheStoreClaimsNoMoreThanItHas(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		c := claims{
			options: Options{
				Queue:     rapid.SampledFrom([]Queue{DeltaFIFO, InOrder}).Draw(rt, "queue"),
				Hardening: Hardening{CompressUpdates: rapid.Bool().Draw(rt, "compress")},
			},
			moves: rapid.SliceOfN(rapid.Custom(claimMove), 0, 30).Draw(rt, "moves"),
		}
		var err error
		synctest.Test(t, func(t *testing.T) { err = c.run(t) })
		if err != nil {
			rt.Fatal(err)
		}
	})
}

// claims are things that happen to an informer: set, miss and delete change an
// object, set and delete tell of it, step handles some of what waits.
type claims struct {
	options Options
	moves   []claim
	rv      int
	objects map[string]int   // the server's, by name
	changes []change         // all there were, the oldest first
	bad     map[string]error // by version: what cannot be transformed
	touchy  map[string]int32 // by version: how often it panics
}

type claim struct {
	op, name string
	n        int
}

func claimMove(t *rapid.T) claim {
	return claim{
		op:   rapid.SampledFrom([]string{"set", "set", "set", "bad", "touchy", "delete", "miss", "relist", "bookmark", "step", "step", "step"}).Draw(t, "op"),
		name: rapid.SampledFrom([]string{"a", "b", "c"}).Draw(t, "name"),
		n:    rapid.IntRange(1, 6).Draw(t, "n"),
	}
}

type change struct {
	name    string
	version int
	gone    bool
	fails   bool // it may not get in
}

func (c *claims) run(t *testing.T) (err error) {
	c.rv, c.objects, c.bad, c.touchy = 10, map[string]int{"a": 5}, map[string]error{}, map[string]int32{}
	c.changes = []change{{name: "a", version: 5}}
	s := &script{lists: []string{"10: a@5"}}
	i := New(s, &corev1.Pod{}, c.options)
	_ = i.SetTransform(func(obj any) (any, error) {
		if p, ok := obj.(*corev1.Pod); ok {
			if err := c.bad[p.ResourceVersion]; err != nil {
				return nil, err
			}
		}
		return touchyAt(c.touchy)(obj)
	})
	stop := run(i)
	defer stop()
	synctest.Wait()
	_ = i.Pause(t.Context())
	for n, m := range c.moves {
		c.do(t, i, s, m)
		synctest.Wait()
		if err := c.check(i); err != nil {
			return fmt.Errorf("after %d of %v: %w", n, c.moves, err)
		}
	}
	c.do(t, i, s, claim{op: "relist"}) // of what was missed
	_ = i.Resume(t.Context())
	time.Sleep(5 * time.Second)
	if err := c.check(i); err != nil {
		return fmt.Errorf("in the end of %v: %w", c.moves, err)
	}
	if got, want := i.store.ResourceVersion(), strconv.Itoa(c.rv); got != want || i.LastSyncResourceVersion() != want {
		return fmt.Errorf("in the end of %v: store at %s, reflector at %s, want %s", c.moves, got, i.LastSyncResourceVersion(), want)
	}
	return nil
}

func (c *claims) do(t *testing.T, i *Informer, s *script, m claim) {
	old, existed := c.objects[m.name]
	switch m.op {
	case "set", "bad", "touchy", "miss", "delete":
		if m.op == "delete" && !existed {
			return
		}
		c.rv++
		rv := strconv.Itoa(c.rv)
		switch m.op {
		case "bad":
			c.bad[rv] = errors.New("bad")
		case "touchy":
			c.touchy[rv] = int32(m.n)
		}
		c.changes = append(c.changes, change{m.name, c.rv, m.op == "delete", m.op == "bad" || m.op == "touchy"})
		text := m.name + "@" + rv
		switch {
		case m.op == "delete":
			delete(c.objects, m.name)
			s.send("-" + text)
		case existed && old > 0:
			c.objects[m.name] = c.rv
			text = "~" + text
		default:
			c.objects[m.name] = c.rv
			text = "+" + text
		}
		switch m.op {
		case "delete":
		case "miss": // to be told before anything newer is
			c.do(t, i, s, claim{op: "relist"})
		default:
			s.send(text)
		}
	case "relist":
		c.rv++
		var list strings.Builder
		names := slices.Sorted(maps.Keys(c.objects))
		if m.n%2 == 0 {
			slices.Reverse(names)
		}
		for _, name := range names {
			fmt.Fprintf(&list, " %s@%d", name, c.objects[name])
		}
		s.lists = []string{fmt.Sprintf("%d:%s", c.rv, &list)}
		s.send("E410")
		time.Sleep(2 * time.Minute)
	case "bookmark":
		c.rv++
		s.send(fmt.Sprintf("B@%d", c.rv))
	case "step":
		_ = i.Step(t.Context(), m.n)
	}
}

// check compares what the store has with what its version claims.
func (c *claims) check(i *Informer) error {
	claimed, err := strconv.Atoi(i.store.ResourceVersion())
	if err != nil {
		return err
	}
	for _, name := range []string{"a", "b", "c"} {
		held := 0
		if obj, exists, _ := i.store.GetByKey("ns/" + name); exists {
			_, version, _ := strings.Cut(label(obj), "@")
			if held, err = strconv.Atoi(version); err != nil {
				return err
			}
		}
		for _, ch := range c.changes {
			if ch.name != name || ch.version > claimed || ch.fails || c.takenAlong(ch) {
				continue
			}
			if ch.gone && held != 0 && held < ch.version || !ch.gone && held < ch.version && !c.goneSince(ch) {
				return fmt.Errorf("the store is at %d and has %s@%d, not the change %+v", claimed, name, held, ch)
			}
		}
	}
	return nil
}

// takenAlong says whether a change may have become part of a later one that fails.
func (c *claims) takenAlong(ch change) bool {
	return c.options.Hardening.CompressUpdates && slices.ContainsFunc(c.changes, func(later change) bool {
		return later.name == ch.name && later.fails && later.version > ch.version
	})
}

// goneSince says whether something has been deleted after a change.
func (c *claims) goneSince(ch change) bool {
	return slices.ContainsFunc(c.changes, func(later change) bool {
		return later.name == ch.name && later.gone && later.version > ch.version
	})
}
