package findings

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/informeter/informeter/engine/inspect"
)

func TestAKeyThatIsUpdatedForNothing(t *testing.T) {
	p := healthy(t)
	hot := inspect.HotKey{Key: "ns/a", Rate: 8, Updates: 480, NoOps: 100, Compared: 100, Writers: []string{"operator"}}
	for name, cool := range map[string]func(*inspect.HotKey){
		"slow, as a lease":      func(h *inspect.HotKey) { h.Rate = noOpRate * 0.99 },
		"some change something": func(h *inspect.HotKey) { h.NoOps = 94 },
		"hardly compared":       func(h *inspect.HotKey) { h.NoOps, h.Compared = comparedLeast-1, comparedLeast-1 },
	} {
		h := hot
		cool(&h)
		p.s.Hot = []inspect.HotKey{h}
		p.pass(time.Second, nil)
		if len(p.going()) > 0 {
			t.Errorf("%s: found %s", name, dump(p.going()))
		}
	}
	p.s.Hot = []inspect.HotKey{hot}
	p.pass(time.Second, nil)
	f := p.has(Warning, HotKey, "ns/a", "all the time, and nothing in it changes", "100% of 100 updates changed nothing", "8.0/s", "written by operator", "480 updates")
	if f.Place != PlaceStore {
		t.Errorf("seen at %s", f.Place)
	}
	p.s.Hot[0].NoOps = 98
	p.pass(time.Second, nil)
	p.has(Warning, HotKey, "ns/a", "all the time, and next to nothing in it changes", "98% of 100 updates")
	p.s.Hot[0].Rate = noOpRate * hotEnds
	p.pass(time.Second, nil)
	p.has(Warning, HotKey, "ns/a")
	p.s.Hot[0].Rate = noOpRate*hotEnds - 0.01
	p.pass(coolsFor-time.Second, nil)
	p.has(Warning, HotKey, "ns/a")
	p.pass(time.Second, nil)
	p.none()
}

func TestTwoWritersWhoTakeTurns(t *testing.T) {
	p := healthy(t)
	hot := inspect.HotKey{
		Key: "ns/web", Rate: 1.9, Updates: 200, Compared: 200, NoOps: 2,
		Writers: []string{"keda", "argocd"}, Turns: 9, Paths: []string{".spec.replicas"},
	}
	for name, cool := range map[string]func(*inspect.HotKey){
		"seldom":               func(h *inspect.HotKey) { h.Rate = fightRate * 0.99 },
		"few updates so far":   func(h *inspect.HotKey) { h.Updates = fightUpdates - 1 },
		"few turns":            func(h *inspect.HotKey) { h.Turns = fightTurns - 1 },
		"one writer":           func(h *inspect.HotKey) { h.Writers = h.Writers[:1] },
		"nothing they changed": func(h *inspect.HotKey) { h.Paths = nil },
	} {
		h := hot
		cool(&h)
		p.s.Hot = []inspect.HotKey{h}
		p.pass(time.Second, nil)
		if len(p.going()) > 0 {
			t.Errorf("%s: found %s", name, dump(p.going()))
		}
	}
	p.s.Hot = []inspect.HotKey{hot}
	p.pass(time.Second, nil)
	p.has(Warning, HotKey, "ns/web", "argocd↔keda on .spec.replicas, 1.9/s", "Two writers take turns", "each of the last 10 versions came from another writer than the one before")
	p.s.Hot[0].Writers = []string{"kubelet", "keda", "argocd"} // one of its owners, in between
	p.pass(time.Second, nil)
	p.has(Warning, HotKey, "ns/web", "argocd↔keda on .spec.replicas", "before that it was written by kubelet, too")
	p.s.Hot[0].InTurn = 3
	p.pass(time.Second, nil)
	p.has(Warning, HotKey, "ns/web", "than the one before, some of them from kubelet")
	p.s.Hot[0].Turns = 1 // one of them wrote twice in a row
	p.pass(coolsFor-time.Second, nil)
	p.has(Warning, HotKey, "ns/web", "each of the last 10 versions")
	p.s.Hot[0].Turns = fightTurns
	p.pass(time.Second, nil)
	p.has(Warning, HotKey, "ns/web", "each of the last 7 versions")
	p.s.Hot = nil
	p.pass(coolsFor, nil)
	p.none()
}

func TestAnotherObjectUnderTheSameName(t *testing.T) {
	p := healthy(t)
	p.s.Identities = []inspect.IdentityChange{{Key: "ns/db-0", From: "u1", To: "u2", At: p.s.At}}
	at := p.s.At
	p.pass(time.Second, nil)
	if f := p.has(Warning, IdentityChanged, "ns/db-0", "UID u1 → u2", "told of an update"); !f.Since.Equal(at) {
		t.Errorf("since %v, want %v", f.Since, at)
	}
	p.pass(identityFor-2*time.Second, nil)
	p.has(Warning, IdentityChanged, "ns/db-0")
	p.pass(time.Second, nil)
	p.none() // no news any more
	p.s.Identities[0].At, p.s.Identities[0].Split = p.s.At, true
	p.pass(time.Second, nil)
	p.has(Info, IdentityChanged, "ns/db-0", "a deletion and an addition")
}

func TestObjectsThatWereSetAside(t *testing.T) {
	for stage, advice := range map[string]string{"key": "Fix the key function", "transform": "Fix the transform", "apply": "tried again with its next event"} {
		t.Run(stage, func(t *testing.T) {
			p := healthy(t)
			p.s.Handle.Quarantined = 40
			p.s.Quarantine = []inspect.Quarantined{{Key: "ns/bad", ResourceVersion: "77", Stage: stage, Error: "panic: nil\nstack", At: p.s.At, Times: 4}}
			p.pass(time.Second, nil)
			p.has(Error, Quarantined, "ns/bad", "it failed at "+stage+", 4 times", "because: panic: nil", "at rv 77", "40 set aside in all", advice)
			p.pass(2*asideFor, nil)
			p.has(Error, Quarantined, "ns/bad")
			p.s.Quarantine = nil // it is well again
			p.pass(time.Second, nil)
			p.none()
		})
	}
}

func TestAnObjectWithoutAKeyIsOnNoPageOfObjects(t *testing.T) {
	p := healthy(t)
	p.s.Quarantine = []inspect.Quarantined{{Stage: "key", Error: "no meta", At: p.s.At, Times: 1}}
	p.pass(time.Second, nil)
	if f := p.has(Error, Quarantined, "", "an object without a key"); f.Place != PlacePipeline {
		t.Errorf("seen at %s", f.Place)
	}
	p.pass(asideFor-2*time.Second, nil)
	p.has(Error, Quarantined, "")
	p.pass(time.Second, nil)
	p.none()
}

func TestEventsThatCannotBeDecoded(t *testing.T) {
	p := healthy(t)
	p.s.Traffic = &inspect.TrafficVitals{Events: 900}
	p.pass(time.Second, nil)
	p.none()
	p.s.Traffic = &inspect.TrafficVitals{Events: 900, Undecodable: 2, Quarantine: []inspect.Undecodable{
		{At: p.s.At, Event: "MODIFIED", Reason: "spec.name: want a string", Size: 812},
	}}
	p.pass(time.Second, nil)
	p.has(Error, Undecodable, "", "2 objects so far, in 900 events", "MODIFIED of 812 bytes, 1.0s ago: spec.name")
	p.pass(asideFor-time.Second, nil)
	p.has(Error, Undecodable, "")
	p.pass(time.Second, nil)
	p.none()
}

func TestAnIndexThatMissesObjects(t *testing.T) {
	p := healthy(t)
	p.s.Indices = []inspect.IndexVitals{{Name: "app", LastError: "long ago"}, {Name: "node", Errors: 3, LastError: "panic: nil\nstack", LastErrorKey: "ns/b"}}
	p.pass(time.Second, nil)
	p.has(Error, IndexErrors, "node", "3 objects are in the cache and not in this index, of 1,000", "the last error: panic: nil, of ns/b")
	p.s.Indices[1].Errors = 0
	p.pass(time.Second, nil)
	p.none()
}

func TestWhatTheExplorerMissed(t *testing.T) {
	p := healthy(t)
	p.s.Lost.Journal = 1200
	p.pass(time.Second, nil)
	p.has(Info, JournalLoss, "", "1,200 notifications left out")
	p.pass(shownFor-time.Second, nil)
	p.has(Info, JournalLoss, "")
	p.pass(time.Second, nil)
	p.none()
}

func TestManyHotKeysAndIdentitiesAreCut(t *testing.T) {
	p := healthy(t)
	for n := range 30 {
		p.s.Hot = append(p.s.Hot, inspect.HotKey{Key: fmt.Sprint("h", n), Rate: 8, NoOps: 100, Compared: 100})
		p.s.Identities = append(p.s.Identities, inspect.IdentityChange{Key: fmt.Sprint("i", n), At: p.s.At})
	}
	p.pass(time.Second, nil)
	if n := len(p.going()); n != maxHot+maxIdentities {
		t.Errorf("%d findings, want %d", n, maxHot+maxIdentities)
	}
}

// TestPathsAreNamedWholeOrNotAtAll: a path without its beginning is no path.
func TestPathsAreNamedWholeOrNotAtAll(t *testing.T) {
	long := func(n int) string { return "." + strings.Repeat("x", n-1) }
	for _, c := range []struct {
		all  []string
		want string
	}{
		{nil, ""},
		{[]string{".a", ".b"}, ".a, .b"},
		{[]string{".a", long(94), ".b"}, ".a, " + long(94) + " and more"},
		{[]string{".a", long(99), ".b"}, ".a and more"},
		{[]string{long(pathsLength), ".b"}, ""},
	} {
		if got := paths(c.all); got != c.want {
			t.Errorf("%q: %q, want %q", c.all, got, c.want)
		}
	}
}
