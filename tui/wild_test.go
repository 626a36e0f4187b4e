package tui

import (
	"encoding/json"
	"strings"
	"time"

	"pgregory.net/rapid"

	"github.com/informeter/informeter/engine/inspect"
)

// hostile are texts that a cluster may really hold, and some that it may not.
var hostile = []string{
	"", "plain", "kube-system/" + strings.Repeat("n", 253), "名前空間/ポッド-七", "e\u0301\u0301\u0301", "\x1b[2J\x1b[31mred",
	"a\nb\tc\rd", "user\u202etxt.exe", "👩\u200d👩\u200d👧/🇩🇪", "\xff\xfe", "\u0903start", "tab\there", strings.Repeat("ｗ", 60), "\x9b31m",
	"shop/" + strings.Repeat("ｗ", 253), "\x1b]52;c;eW91\x07", "\x1bP+q544e\x1b\\", "\u009d0;title\u009c", "\u200b\u2066\ufeff",
}

// wild fills an informer with anything.
func wild(t *rapid.T) *fake {
	text := rapid.OneOf(rapid.SampledFrom(hostile), rapid.String())
	count := rapid.OneOf(rapid.Uint64Range(0, 9), rapid.Uint64())
	span := rapid.OneOf(rapid.Just(int64(0)), rapid.Int64Range(-1e9, 1e19/2))
	f := newFake(rapid.IntRange(0, 40).Draw(t, "objects")).waiting(rapid.IntRange(0, 40).Draw(t, "waiting"))
	s := &f.snapshot
	for i := range f.rows {
		if rapid.Bool().Draw(t, "odd key") {
			f.rows[i].Key = text.Draw(t, "key")
			f.rows[i].ResourceVersion = text.Draw(t, "rv")
			f.rows[i].Updates = count.Draw(t, "updates")
			f.rows[i].Waiting = int(count.Draw(t, "waiting") >> 1)
			f.rows[i].Changed = epoch.Add(time.Duration(span.Draw(t, "changed")))
		}
	}
	for i := range f.queue {
		f.queue[i].Key = text.Draw(t, "queued")
		f.queue[i].Age = time.Duration(span.Draw(t, "age"))
	}
	for i := range s.Listeners {
		l := &s.Listeners[i]
		l.Name, l.CurrentKey, l.LastPanic = text.Draw(t, "handler"), text.Draw(t, "current"), text.Draw(t, "panic")
		l.Pending, l.Delivered, l.Panics = count.Draw(t, "pending"), count.Draw(t, "delivered"), count.Draw(t, "panics")
		l.Behind, l.Drain, l.InHandler = time.Duration(span.Draw(t, "behind")), time.Duration(span.Draw(t, "drain")), time.Duration(span.Draw(t, "in handler"))
		l.BusyRate = rapid.Float64Range(0, 1e9).Draw(t, "busy")
		l.ResyncAsked, l.ResyncGranted, l.ResyncSkipped = time.Duration(span.Draw(t, "asked")), time.Duration(span.Draw(t, "granted")), count.Draw(t, "skipped")
		l.NextResync = epoch.Add(time.Duration(span.Draw(t, "due")))
		l.Synced = rapid.Bool().Draw(t, "synced")
		l.InitialDelivered, l.InitialTotal = count.Draw(t, "delivered"), count.Draw(t, "total")
	}
	f.wildHandlers(t, text, span)
	if rapid.Bool().Draw(t, "hot") {
		s.Hot = []inspect.HotKey{{
			Key: text.Draw(t, "hot key"), Rate: rapid.Float64Range(0, 1e9).Draw(t, "hot rate"), Updates: count.Draw(t, "hot updates"), Turns: 9,
			Writers: []string{text.Draw(t, "writer"), text.Draw(t, "writer")}, Paths: []string{text.Draw(t, "path")},
		}}
		s.Identities = []inspect.IdentityChange{{Key: text.Draw(t, "renewed"), From: text.Draw(t, "uid"), To: text.Draw(t, "uid"), At: epoch}}
	}
	if rapid.Bool().Draw(t, "set aside") {
		s.Quarantine = []inspect.Quarantined{{Key: text.Draw(t, "bad key"), Stage: text.Draw(t, "stage"), Error: text.Draw(t, "bad"), Times: count.Draw(t, "times")}}
	}
	if rapid.Bool().Draw(t, "lived") && len(f.rows) > 0 {
		f.lived()
		for i := range f.lives[0].Events {
			e := &f.lives[0].Events[i]
			e.Type, e.Writer, e.UID, e.Skipped = text.Draw(t, "type"), text.Draw(t, "writer"), text.Draw(t, "uid"), text.Draw(t, "why")
			e.Changed, e.Version = []string{text.Draw(t, "path"), text.Draw(t, "path")}, count.Draw(t, "version")
			e.Waited, e.At = time.Duration(span.Draw(t, "waited")), epoch.Add(time.Duration(span.Draw(t, "at")))
			for d := range e.Deliveries {
				e.Deliveries[d].Handler = text.Draw(t, "to")
			}
		}
		diff := inspect.Diff{Changes: []inspect.Change{
			{Path: text.Draw(t, "changed"), From: quote(text.Draw(t, "before")), To: quote(text.Draw(t, "after"))},
			{Path: text.Draw(t, "added"), To: json.RawMessage(text.Draw(t, "no JSON"))},
		}}
		f.diff = func(inspect.DiffRequest) (inspect.Diff, error) { return diff, nil }
		f.objects[f.rows[0].Key] = inspect.Object{Key: f.rows[0].Key, JSON: quote(text.Draw(t, "object")), Indices: []inspect.ObjectIndex{{Index: text.Draw(t, "index"), Values: []string{text.Draw(t, "in")}}}}
	}
	if rapid.Bool().Draw(t, "ordered") {
		f.ordered()
	}
	for i := range f.rows {
		f.rows[i].Writer, f.rows[i].Rate = text.Draw(t, "writer"), rapid.Float64Range(0, 1e9).Draw(t, "row rate")
		f.rows[i].Size, f.rows[i].NoOps, f.rows[i].Compared = int(count.Draw(t, "size")>>1), count.Draw(t, "no-ops"), count.Draw(t, "compared")
	}
	outcomes := []inspect.Outcome{inspect.OutcomeOpen, inspect.OutcomeOK, inspect.OutcomeExpired, inspect.OutcomeFailed, "unheard of"}
	for i := range rapid.IntRange(0, 30).Draw(t, "requests") {
		r := inspect.Request{
			ID: uint64(i), Verb: inspect.Verb(text.Draw(t, "verb")), Outcome: rapid.SampledFrom(outcomes).Draw(t, "outcome"),
			ResourceVersion: text.Draw(t, "asked"), Returned: text.Draw(t, "returned"), Match: text.Draw(t, "match"),
			Error: text.Draw(t, "request error"), Next: text.Draw(t, "next"), Code: rapid.IntRange(-1, 9999).Draw(t, "code"),
			Items: int(count.Draw(t, "items") >> 1), Lifetime: time.Duration(span.Draw(t, "lifetime")),
			Started: epoch.Add(-time.Duration(span.Draw(t, "started"))), NextAt: epoch.Add(time.Duration(span.Draw(t, "next at"))),
		}
		if rapid.Bool().Draw(t, "ended") {
			r.Ended = r.Started.Add(r.Lifetime)
		}
		f.requests = append(f.requests, r)
	}
	for i := range s.Indices {
		s.Indices[i].Largest, s.Indices[i].LastError = text.Draw(t, "largest"), text.Draw(t, "index error")
		s.Indices[i].Errors, s.Indices[i].Expr = count.Draw(t, "errors"), text.Draw(t, "expression")
	}
	for name := range f.buckets {
		for i := range f.buckets[name] {
			f.buckets[name][i].Value = text.Draw(t, "value")
		}
	}
	s.Informer.Scope, s.Informer.Origin = text.Draw(t, "scope"), text.Draw(t, "origin")
	s.Informer.State = rapid.SampledFrom([]inspect.State{inspect.StateCreated, inspect.StateRunning, inspect.StateStopped}).Draw(t, "state")
	s.Informer.Synced = rapid.Bool().Draw(t, "store synced")
	s.Reflector.Phase = inspect.Phase(rapid.IntRange(0, 7).Draw(t, "phase"))
	s.Reflector.Error, s.Reflector.ErrorReason = text.Draw(t, "error"), text.Draw(t, "reason")
	s.Reflector.Received, s.Reflector.Expected = int(count.Draw(t, "received")>>1), rapid.IntRange(-1, 1000).Draw(t, "expected")
	s.Reflector.EventRate, s.Reflector.Updated = rapid.Float64Range(0, 1e12).Draw(t, "rate"), count.Draw(t, "updated")
	s.Queue.Gate = inspect.Gate{
		Mode:  rapid.SampledFrom([]inspect.GateMode{inspect.GateRunning, inspect.GatePaused, inspect.GateLimited}).Draw(t, "gate"),
		Steps: rapid.IntRange(0, 1000).Draw(t, "steps"),
	}
	s.Queue.BackPressure = rapid.Bool().Draw(t, "back-pressure")
	s.Lost.Journal = count.Draw(t, "lost")
	if rapid.Bool().Draw(t, "traffic") {
		s.Traffic = &inspect.TrafficVitals{Bytes: count.Draw(t, "bytes"), Events: count.Draw(t, "events"), ByteRate: rapid.Float64Range(0, 1e15).Draw(t, "byte rate"), Undecodable: 1, Quarantine: []inspect.Undecodable{
			{At: epoch.Add(time.Duration(span.Draw(t, "read"))), Event: text.Draw(t, "event"), Reason: text.Draw(t, "undecodable"), Frame: text.Draw(t, "frame"), Size: int(count.Draw(t, "frame size") >> 1)},
		}}
	}
	if rapid.Bool().Draw(t, "checked") {
		f.checked(min(2, len(f.rows)))
		for name, c := range f.verified {
			for i := range c.Examples {
				c.Examples[i] = inspect.IndexMismatch{Key: text.Draw(t, "wrong"), Indexed: []string{text.Draw(t, "indexed")}, Now: []string{text.Draw(t, "now")}, Error: text.Draw(t, "check error")}
			}
			f.verified[name] = c
		}
	}
	if rapid.Bool().Draw(t, "several") {
		f.others = append(f.others, inspect.Summary{Name: text.Draw(t, "other"), Scope: text.Draw(t, "scope"), Error: text.Draw(t, "error"), Slowest: text.Draw(t, "slowest"), SlowestPending: 3})
	}
	return f
}

// wildHandlers gives the handlers, which have their names, a past and a backlog.
func (f *fake) wildHandlers(t *rapid.T, text *rapid.Generator[string], span *rapid.Generator[int64]) {
	s := &f.snapshot
	times := rapid.OneOf(rapid.Uint64Range(0, 9), rapid.Uint64())
	s.Resync.Last, s.Resync.Next = epoch.Add(time.Duration(span.Draw(t, "last round"))), epoch.Add(time.Duration(span.Draw(t, "next round")))
	s.Resync.LastObjects, s.Resync.CheckPeriod = rapid.IntRange(-1, 50).Draw(t, "round of"), time.Duration(span.Draw(t, "check"))
	for i := range s.Listeners {
		l := &s.Listeners[i]
		l.Spread = nil
		for from := time.Duration(1); len(l.Spread) < 40 && rapid.IntRange(0, 9).Draw(t, "more") > 0; from *= 2 {
			l.Spread = append(l.Spread, inspect.Band{From: from, To: from + max(from/2, 1), Count: times.Draw(t, "in band")})
		}
		if l.LastRound = nil; rapid.Bool().Draw(t, "rounds") {
			l.LastRound = &inspect.Round{
				Began: epoch.Add(-time.Duration(span.Draw(t, "round began"))), Objects: times.Draw(t, "told"), Work: time.Duration(span.Draw(t, "work")),
			}
			if rapid.Bool().Draw(t, "returned") {
				l.LastRound.Ended = epoch.Add(time.Duration(span.Draw(t, "round ended")))
			}
		}
	}
	for i := range f.moments {
		m := &f.moments[i]
		m.Key, m.Type, m.Published = text.Draw(t, "moment"), text.Draw(t, "told of"), epoch.Add(-time.Duration(span.Draw(t, "published")))
		for d := range m.Deliveries {
			m.Deliveries[d].Handler = s.Listeners[d%len(s.Listeners)].Name
			m.Deliveries[d].Began, m.Deliveries[d].Took = epoch.Add(-time.Duration(span.Draw(t, "called"))), time.Duration(span.Draw(t, "took"))
		}
	}
}

func quote(s string) json.RawMessage {
	text, err := json.Marshal(s)
	if err != nil {
		panic(err)
	}
	return text
}
