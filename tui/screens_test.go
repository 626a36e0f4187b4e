package tui

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"
	"github.com/charmbracelet/x/exp/golden"

	"github.com/informeter/informeter/engine/inspect"
)

const forbiddenText = `pods is forbidden: User "system:serviceaccount:dev:viewer" cannot list resource "pods" in API group "" at the cluster scope`

func (f *fake) with(change func(s *inspect.Snapshot)) *fake {
	change(&f.snapshot)
	return f
}

func paused(s *inspect.Snapshot) {
	s.Queue.Gate = inspect.Gate{Mode: inspect.GatePaused, Since: epoch.Add(-72 * time.Second), Steps: 3}
}

func forbidden(s *inspect.Snapshot) {
	s.Informer.Synced = false
	s.Reflector = inspect.ReflectorVitals{
		Phase: inspect.PhaseBackingOff, Since: epoch.Add(-2 * time.Second), Error: forbiddenText, ErrorOp: "list", ErrorReason: "Forbidden",
		Failures: 4, NextAttempt: epoch.Add(3234 * time.Millisecond), Expected: -1,
	}
}

// refused is an informer that was told four times that it may not list.
func refused() *fake {
	f := newFake(0).with(forbidden)
	f.requests = nil
	for i := range 4 {
		ended := epoch.Add(-time.Duration(1<<(i+1)) * time.Second)
		f.requests = append(f.requests, inspect.Request{
			ID: uint64(4 - i), Verb: inspect.VerbList, Started: ended.Add(-5 * time.Millisecond), Ended: ended, Lifetime: 5 * time.Millisecond,
			ResourceVersion: "0", Limit: 500, Outcome: inspect.OutcomeFailed, Error: forbiddenText, Code: 403,
			Next: "retry", NextAt: ended.Add(time.Duration(1<<i) * time.Second),
		})
	}
	f.requests[0].NextAt = f.snapshot.Reflector.NextAttempt
	f.snapshot.Requests = inspect.RequestVitals{Lists: 4, Failed: 4, Last: f.requests}
	return f
}

func quarantined(s *inspect.Snapshot) {
	s.Handle.Quarantined, s.Handle.LastKey, s.Handle.LastError = 5, "ns-1/web-00007", "panic: nil pointer"
	s.Quarantine = []inspect.Quarantined{
		{Key: "ns-1/web-00007", ResourceVersion: "184001", Stage: "transform", Error: "panic: nil pointer\ngoroutine 7", At: epoch.Add(-12 * time.Second), Times: 4},
		{Stage: "key", Error: "object has no meta", At: epoch.Add(-time.Minute), Times: 1},
	}
	s.Listeners[2].ResyncSkipped = 3
}

// resynced has thirty handlers that are played the cache back.
func resynced(s *inspect.Snapshot) {
	s.Resync.Last, s.Resync.LastObjects, s.Resync.LastListeners = epoch.Add(-18*time.Second), 48211, 31
	s.Listeners[2].ResyncSkipped = 3
	for i := range 30 {
		l := s.Listeners[2]
		l.Name, l.BusyRate, l.ResyncAsked = fmt.Sprintf("controller-%02d", i), 500*float64(i+1), 10*time.Second
		l.ResyncGranted, l.ResyncSkipped = time.Duration(i/10+1)*30*time.Second, 0
		s.Listeners = append(s.Listeners, l)
	}
}

func disconnected(s *inspect.Snapshot) {
	s.Reflector.Phase, s.Reflector.Since = inspect.PhaseBackingOff, epoch.Add(-9*time.Second)
	s.Reflector.Error, s.Reflector.ErrorOp = "dial tcp 10.0.0.1:6443: connect: connection refused", "watch"
	s.Reflector.Failures, s.Reflector.NextAttempt = 1, epoch.Add(800*time.Millisecond)
}

func receivingList(s *inspect.Snapshot) {
	s.Informer.Synced, s.Store.Objects = false, 0
	s.Reflector = inspect.ReflectorVitals{Phase: inspect.PhaseListing, Since: epoch.Add(-2 * time.Second), Received: 15000, Expected: 48211}
	s.Listeners[2].Synced, s.Listeners[2].InitialDelivered, s.Listeners[2].InitialTotal = false, 1200, 15000
	for i := range s.Listeners {
		s.Listeners[i].ChangeRate = 0 // nothing has changed yet
	}
}

func lonely(s *inspect.Snapshot) { s.Listeners = s.Listeners[:1] }

// several is a process of four informers.
func several() *fake {
	f := newFake(900).waiting(5)
	f.others = []inspect.Summary{
		{Name: "services", Scope: "all namespaces", State: inspect.StateRunning, Phase: inspect.PhaseWatching, Synced: true, Objects: 214, Handlers: 1},
		{Name: "deployments.apps", Scope: "namespace shop", State: inspect.StateRunning, Phase: inspect.PhaseBackingOff, Error: "forbidden", Handlers: 2, Slowest: "audit", SlowestPending: 12000},
		{Name: "nodes", Scope: "cluster", State: inspect.StateCreated},
	}
	return f
}

// screenCases is every screen in every state that looks different.
func screenCases() []struct {
	name string
	fake *fake
	keys []string
} {
	type c = struct {
		name string
		fake *fake
		keys []string
	}
	typed := func(keys ...string) []string { return keys }
	return []c{
		{"pipeline/many", newFake(48211).waiting(31), typed("1")},
		{"pipeline/just_now_many", newFake(300), typed("1", "tab", "j", "j")},
		{"pipeline/one", newFake(1).with(lonely), typed("1")},
		{"pipeline/empty", newFake(0).with(lonely), typed("1")},
		{"pipeline/paused", newFake(48211).waiting(2400).with(paused), typed("1")},
		{"pipeline/forbidden", newFake(0).with(forbidden), typed("1")},
		{"pipeline/disconnected", newFake(48211).with(disconnected), typed("1")},
		{"pipeline/receiving", newFake(0).with(receivingList), typed("1")},
		{"pipeline/receiving_unknown", newFake(0).with(receivingList).with(func(s *inspect.Snapshot) { s.Reflector.Expected = -1 }), typed("1")},
		{"pipeline/created", newFake(0).with(func(s *inspect.Snapshot) {
			s.Informer.State, s.Informer.Synced = inspect.StateCreated, false
			s.Reflector = inspect.ReflectorVitals{Expected: -1}
		}), typed("1")},
		{"pipeline/stopped", newFake(20).with(func(s *inspect.Snapshot) { s.Informer.State = inspect.StateStopped }), typed("1")},
		{"pipeline/lost", newFake(20).with(func(s *inspect.Snapshot) { s.Lost.Journal = 12042 }), typed("1")},
		{"pipeline/quarantine", newFake(48211).with(quarantined), typed("1")},
		{"pipeline/frozen", newFake(20), typed("1", "f")},

		{"queue/many", newFake(500).waiting(60), typed("2", "j", "j", "j")},
		{"queue/object_many", newFake(500).waiting(60), typed("2", "j", "j", "j", "j", "tab")},
		{"queue/one", newFake(1).waiting(1), typed("2")},
		{"queue/empty", newFake(500), typed("2")},
		{"queue/filtered", newFake(500).waiting(60), typed("2", "/", "0", "0", "1", "enter")},
		{"queue/filtered_away", newFake(500).waiting(60), typed("2", "/", "z", "enter")},
		{"queue/paused", newFake(500).waiting(60).with(paused), typed("2")},
		{"queue/limited", newFake(500).waiting(6).with(func(s *inspect.Snapshot) {
			s.Queue.Gate = inspect.Gate{Mode: inspect.GateLimited, Rate: 10}
		}), typed("2")},
		{"queue/back_pressure", newFake(500).waiting(2100).with(func(s *inspect.Snapshot) { s.Queue.BackPressure, s.Queue.Held = true, 3 }), typed("2")},
		{"queue/in_order", newFake(500).waiting(20).ordered(), typed("2", "j")},
		{"queue/disconnected", newFake(500).waiting(6).with(disconnected), typed("2")},
		{"queue/lost", newFake(500).waiting(6).with(func(s *inspect.Snapshot) { s.Lost.Journal = 12042 }), typed("2")},
		{"queue/asking_rate", newFake(500).waiting(6), typed("2", "r", "1", "0")},

		{"store/many", newFake(48211), typed("3", "j", "j")},
		{"store/preview_many", newFake(500).large(), typed("3", "tab", "j", "j")},
		{"store/one", newFake(1), typed("3")},
		{"store/empty", newFake(0), typed("3")},
		{"store/filtered", newFake(48211), typed("3", "/", "0", "0", "4", "2")},
		{"store/filtered_many", newFake(48211), typed("3", "/", "0", "0", "4", "2", "enter", "j")},
		{"store/filtered_away", newFake(500), typed("3", "/", "z", "enter")},
		{"store/last_row", newFake(500), typed("3", "G")},
		{"store/by_rate", newFake(500).written(), typed("3", "o", "o", "o", "o", "o", "j")},
		{"store/following", newFake(500).written(), typed("3", "F")},
		{"store/sorting", newFake(500).written().slowly(120), typed("3", "o", "o")},
		{"store/columns", newFake(500).written(), typed("3", "w", "j", "j", "space")},
		{"store/disconnected", newFake(500).written().with(disconnected), typed("3")},
		{"store/lost", newFake(500).with(func(s *inspect.Snapshot) { s.Lost.Journal = 12042 }), typed("3")},
		{"store/forbidden", newFake(0).with(forbidden), typed("3")},
		{"store/receiving", newFake(0).with(receivingList), typed("3")},
		{"store/paused", newFake(500).waiting(60).with(paused), typed("3")},

		{"indices/many", newFake(5000), typed("4", "j")},
		{"indices/buckets_many", newFake(5000), typed("4", "tab", "j", "j")},
		{"indices/objects_many", newFake(5000), typed("4", "tab", "j", "right", "j")},
		{"indices/none", newFake(500).with(func(s *inspect.Snapshot) { s.Indices = nil }), typed("4")},
		{"indices/empty", newFake(0), typed("4")},
		{"indices/buckets", newFake(5000), typed("4", "enter", "j", "j")},
		{"indices/by_value", newFake(5000), typed("4", "enter", "o", "j", "j")},
		{"indices/filtered", newFake(5000), typed("4", "enter", "/", "0", "3", "enter")},
		{"indices/verified", newFake(5000).checked(0), typed("4", "v")},
		{"indices/lost", newFake(5000).with(func(s *inspect.Snapshot) { s.Lost.Journal = 12042 }), typed("4")},
		{"indices/wrong", newFake(5000).checked(3), typed("4", "v")},
		{"indices/paused", newFake(5000).with(paused), typed("4")},
		{"indices/disconnected", newFake(5000).with(disconnected), typed("4")},
		{"indices/objects", newFake(5000), typed("4", "enter", "j", "enter", "j")},

		{"handlers/many", newFake(48211), typed("5")},
		{"handlers/one", newFake(1).with(lonely), typed("5")},
		{"handlers/none", newFake(1).with(func(s *inspect.Snapshot) { s.Listeners = nil }), typed("5")},
		{"handlers/receiving", newFake(0).with(receivingList), typed("5")},
		{"handlers/passed_over", newFake(500).with(quarantined), typed("5")},
		{"handlers/lab", newFake(500).with(func(s *inspect.Snapshot) {
			l := s.Listeners[2]
			l.Name, l.Lab, l.Delay, l.Conflated = "slow", true, 5*time.Millisecond, 1204
			s.Listeners = append(s.Listeners, l)
		}), typed("5", "o", "o", "g")},
		{"handlers/disconnected", newFake(500).with(disconnected), typed("5")},
		{"handlers/lost", newFake(500).with(func(s *inspect.Snapshot) { s.Lost.Journal = 12042 }), typed("5")},
		{"handlers/trouble", newFake(500).with(func(s *inspect.Snapshot) {
			s.Listeners[1].Panics, s.Listeners[1].LastPanic = 3, "runtime error: invalid memory address\ngoroutine 12"
			s.Listeners[2].InHandler = 42 * time.Second
		}), typed("5")},

		{"resync/many", newFake(48211).with(resynced), typed("6")},
		{"resync/one", newFake(1).with(lonely), typed("6")},
		{"resync/empty", newFake(1).with(func(s *inspect.Snapshot) { s.Listeners = nil }), typed("6")},
		{"resync/disconnected", newFake(500).with(disconnected), typed("6")},
		{"resync/lost", newFake(500).with(func(s *inspect.Snapshot) { s.Lost.Journal = 12042 }), typed("6")},
		{"resync/asking", newFake(500), typed("6", "p", "1", "0", "s")},
		{"resync/unchecked", newFake(500).with(func(s *inspect.Snapshot) {
			s.Resync = inspect.ResyncVitals{}
			s.Listeners[2].ResyncGranted = 0
		}), typed("6")},
		{"resync/paused", newFake(500).waiting(60).with(paused), typed("6")},

		{"requests/many", newFake(48211).requested(60).with(func(s *inspect.Snapshot) { s.Lost.Requests = 1204 }), typed("7", "j", "j")},
		{"requests/one", newFake(1).with(lonely).requested(1), typed("7")},
		{"requests/empty", newFake(0).requested(0).with(func(s *inspect.Snapshot) {
			s.Informer.State, s.Informer.Synced = inspect.StateCreated, false
			s.Reflector = inspect.ReflectorVitals{Expected: -1}
		}), typed("7")},
		{"requests/forbidden", refused(), typed("7")},
		{"requests/disconnected", newFake(48211).requested(14).with(disconnected), typed("7", "j", "j", "j")},
		{"requests/lost", newFake(500).requested(6).with(func(s *inspect.Snapshot) { s.Lost.Requests, s.Lost.Journal = 1204, 12042 }), typed("7")},
		{"requests/watchlist", newFake(500).streamed(), typed("7")},
		{"requests/filtered", newFake(500).requested(40), typed("7", "/", "4", "1", "0", "enter")},
		{"requests/traffic", newFake(500).streamed().with(func(s *inspect.Snapshot) {
			s.Traffic = &inspect.TrafficVitals{Streams: 2, Bytes: 3 << 20, Events: 31204, ByteRate: 4096, Undecodable: 2, Quarantine: []inspect.Undecodable{
				{At: epoch.Add(-9 * time.Second), Event: "MODIFIED", Reason: "spec.name: not a string", Size: 2048},
			}}
		}), typed("7")},
		{"requests/paused", newFake(500).waiting(60).with(paused), typed("7", "j")},

		{"object/yaml", newFake(20), typed("3", "enter")},
		{"object/unfolded", newFake(20), typed("3", "enter", "m")},
		{"object/found", newFake(20), typed("3", "enter", "/", "n", "o", "d", "e", "enter")},
		{"object/folded", newFake(20), typed("3", "enter", "j", "j", "space")},
		{"object/buckets", newFake(20), typed("3", "i", "j")},
		{"diff/many", newFake(20).lived(), typed("3", "d")},
		{"diff/noise", newFake(20).lived(), typed("3", "d", "m", "h")},
		{"diff/one", newFake(20).lived().once(), typed("3", "d")},
		{"diff/unsupported", newFake(20), typed("3", "d")},
		{"biography/many", newFake(20).lived(), typed("3", "b", "j")},
		{"biography/oldest_first", newFake(20).lived(), typed("3", "b", "O")},
		{"biography/filtered", newFake(20).lived(), typed("3", "b", "/", "k", "u", "b", "e", "l", "enter")},
		{"biography/deleted", newFake(20).lived().without(), typed("3", "b")},
		{"biography/waiting", newFake(20).lived().waiting(4), typed("2", "b")},
		{"biography/waiting_unknown", newFake(20).waiting(4), typed("2", "j", "b")},
		{"biography/empty", newFake(20).lived(), typed("3", "j", "b")},
		{"object/absent", newFake(0).waiting(4), typed("2", "enter")},

		{"findings/many", newFake(48211).with(sick), typed("8", "j", "j", "j")},
		{"findings/one", newFake(1).with(lonely).with(func(s *inspect.Snapshot) { s.Indices[1].Errors = 1 }), typed("8")},
		{"findings/empty", newFake(0).with(lonely), typed("8")},
		{"findings/forbidden", refused(), typed("8")},
		{"findings/disconnected", newFake(48211).requested(14).with(disconnected), typed("8")},
		{"findings/several", several().with(sick), typed("8", "G")},

		{"informers/many", several(), typed("0", "j")},
		{"informers/refused", several(), typed("0", "j", "j")},
		{"informers/filtered", several(), typed("0", "/", "e", "s", "enter", "o", "o")},
		{"informers/filtered_away", several(), typed("0", "/", "z", "enter")},
		{"line/candidates_many", newFake(500), typed("3", ":", "r", "e")},
		{"line/empty", newFake(500), typed(":")},
		{"line/usage", newFake(500), typed(":", "r", "a", "t", "e", "space")},
		{"line/wrong", newFake(500), typed("3", ":", "r", "a", "t", "e", "space", "x", "enter")},
		{"line/bad_filter", newFake(500), typed("3", "/", "/", "[", "/")},
		{"line/answer", newFake(500), typed(":", "p", "a", "u", "s", "e", "enter")},

		{"help/queue", newFake(20), typed("2", "?")},
		{"help/commands", newFake(20), typed(":", "h", "enter")},
		{"help/pipeline", newFake(20), typed("?")},
	}
}

func TestScreens(t *testing.T) {
	for _, c := range screenCases() {
		sizes := [][2]int{{80, 24}, {120, 40}}
		if strings.HasSuffix(c.name, "many") {
			sizes = append(sizes, [2]int{40, 10}, [2]int{200, 60})
		}
		for _, size := range sizes {
			t.Run(fmt.Sprintf("%s_%dx%d", c.name, size[0], size[1]), func(t *testing.T) {
				u := newUser(t, c.fake, size[0], size[1])
				u.minute(c.fake)
				if strings.HasPrefix(c.name, "findings/") {
					u.watch()
				}
				u.press(c.keys...)
				golden.RequireEqual(t, trimmed(u.sees()))
			})
		}
	}
}

// minute lets a minute pass, so that the charts have something to show.
func (u *user) minute(f *fake) {
	was := f.snapshot
	u.m.histories = map[string]*history{}
	u.m.screens[screenHandlers].(*handlersScreen).second = 0
	for i := 1; i < samples; i++ {
		f.snapshot.At = epoch.Add(time.Duration(i-samples) * time.Second)
		f.snapshot.Reflector.EventRate = was.Reflector.EventRate * float64(i%10+1) / 10
		f.snapshot.Queue.Deltas = was.Queue.Deltas * (i % 7) / 7
		f.snapshot.Handle.Rate = was.Handle.Rate * float64(i%10+1) / 10
		f.snapshot.Listeners = slices.Clone(was.Listeners)
		for k := range was.Listeners {
			l := &f.snapshot.Listeners[k]
			l.Pending, l.Rate = l.Pending*uint64(i)/samples, l.Rate*float64(i%10+1)/10
		}
		f.snapshot.Generation++
		u.look()
	}
	f.snapshot = was
	u.look()
}

// trimmed leaves out the blanks at the ends of lines, which nobody sees.
func trimmed(s string) string {
	lines := strings.Split(s, "\n")
	for i, l := range lines {
		lines[i] = strings.TrimRight(l, " ")
	}
	return strings.Join(lines, "\n") + "\n"
}

func TestThemes(t *testing.T) {
	for name, dark := range map[string]bool{"dark": true, "light": false} {
		t.Run(name, func(t *testing.T) {
			u := newUser(t, newFake(48211).waiting(31).with(paused), 120, 40)
			u.m.theme = newTheme(dark)
			u.press("2", "j")
			golden.RequireEqual(t, u.m.View().Content)
		})
	}
	t.Run("store_light", func(t *testing.T) {
		u := newUser(t, newFake(500).written(), 120, 40)
		u.m.theme = newTheme(false)
		u.press("3", "j", "/", "4", "2", "enter")
		golden.RequireEqual(t, u.m.View().Content)
	})
}

func TestTheTerminalsBackgroundChoosesTheTheme(t *testing.T) {
	u := newUser(t, newFake(5), 100, 30)
	dark := u.m.View().Content
	u.send(tea.BackgroundColorMsg{Color: ansi.XParseColor("rgb:ff/ff/ff")})
	if light := u.m.View().Content; light == dark || ansi.Strip(light) != ansi.Strip(dark) {
		t.Error("a light background must change the colours and nothing else")
	}
}

func TestTheScreenReadsInASCII(t *testing.T) {
	for _, c := range screenCases() {
		u := newUser(t, c.fake, 120, 40)
		u.m.options.ASCII = true
		u.press(c.keys...)
		if text := u.sees(); !plain(strings.ReplaceAll(text, "\n", "")) {
			t.Errorf("%s: not ASCII:\n%s", c.name, text)
		}
		if strings.Contains(u.sees(), "?") && !strings.Contains(u.sees(), "? help") {
			t.Errorf("%s: something has no likeness:\n%s", c.name, u.sees())
		}
	}
}
