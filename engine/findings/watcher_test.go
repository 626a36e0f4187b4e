package findings

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"
	"unicode"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/informeter/informeter/engine/inspect"
)

var epoch = time.Date(2026, 7, 1, 12, 0, 0, 0, time.UTC)

// patient is an informer that a test makes sick, looked at once a second.
type patient struct {
	t        *testing.T
	w        Watcher
	s        inspect.Snapshot
	requests []inspect.Request // the oldest first
}

// healthy returns an informer with one handler and nothing wrong.
func healthy(t *testing.T) *patient {
	p := &patient{t: t}
	p.s = inspect.Snapshot{
		At: epoch,
		Informer: inspect.InformerVitals{
			Name: "pods", Type: "*v1.Pod", Resource: "pods", State: inspect.StateRunning,
			Created: epoch.Add(-time.Hour), Started: epoch.Add(-time.Hour), Synced: true, SyncedAt: epoch.Add(-time.Hour),
		},
		Reflector: inspect.ReflectorVitals{Phase: inspect.PhaseWatching, Since: epoch.Add(-time.Hour), ResourceVersion: "100", Expected: -1},
		Queue:     inspect.QueueVitals{Kind: "DeltaFIFO", BackPressureAt: 2000, Gate: inspect.Gate{Mode: inspect.GateRunning}},
		Store:     inspect.StoreVitals{Objects: 1000, ResourceVersion: "100"},
		Listeners: []inspect.ListenerVitals{{
			Name: "audit", Synced: true, Delivered: 5000, Rate: 10, ArrivalRate: 10, ChangeRate: 10, BusyRate: 500,
			Time:   inspect.Latency{Count: 100, P50: 2 * time.Millisecond, P99: 4 * time.Millisecond, Max: 5 * time.Millisecond},
			Causes: inspect.CauseCounts{Initial: 1000, Watch: 4000}, InitialDelivered: 1000, InitialTotal: 1000,
		}},
	}
	p.request(inspect.Request{Verb: inspect.VerbList, Started: epoch.Add(-time.Hour), Ended: epoch.Add(-time.Hour), Outcome: inspect.OutcomeOK, Items: 1000, Next: "watch"})
	p.request(inspect.Request{Verb: inspect.VerbWatch, Started: epoch.Add(-time.Hour), ResourceVersion: "1", Outcome: inspect.OutcomeOpen, Items: 50})
	p.pass(3*time.Second, nil)
	p.none()
	return p
}

// request adds a request, which is the newest.
func (p *patient) request(r inspect.Request) {
	r.ID = uint64(len(p.requests) + 1)
	if !r.Ended.IsZero() {
		r.Lifetime = r.Ended.Sub(r.Started)
	}
	p.requests = append(p.requests, r)
}

// end ends the newest request now.
func (p *patient) end(outcome inspect.Outcome, code int, err, next string) {
	r := &p.requests[len(p.requests)-1]
	r.Ended, r.Lifetime = p.s.At, p.s.At.Sub(r.Started)
	r.Outcome, r.Code, r.Error, r.Next = outcome, code, err, next
}

// list is a complete list that took d; watch opens a watch.
func (p *patient) list(d time.Duration) {
	p.request(inspect.Request{Verb: inspect.VerbList, Started: p.s.At, Ended: p.s.At.Add(d), Outcome: inspect.OutcomeOK, Items: 1000, Next: "watch"})
	p.pass(d, nil)
}

func (p *patient) watch(version string) {
	p.request(inspect.Request{Verb: inspect.VerbWatch, Started: p.s.At, ResourceVersion: version, Outcome: inspect.OutcomeOpen, Timeout: 6 * time.Minute})
}

// pass lets d pass, observing once a second after change, if there is one.
func (p *patient) pass(d time.Duration, change func(s *inspect.Snapshot)) *patient {
	for end := p.s.At.Add(d); p.s.At.Before(end); {
		p.s.At = p.s.At.Add(min(time.Second, end.Sub(p.s.At)))
		if change != nil {
			change(&p.s)
		}
		p.observe()
	}
	return p
}

func (p *patient) observe() {
	newest := make([]inspect.Request, 0, len(p.requests))
	for i := len(p.requests) - 1; i >= 0; i-- {
		newest = append(newest, p.requests[i])
	}
	p.s.Requests.Last = newest[:min(len(newest), 5)]
	p.w.Observe(p.s, nil)
}

func (p *patient) handler() *inspect.ListenerVitals { return &p.s.Listeners[0] }

// going returns the findings that have not ended.
func (p *patient) going() (going []Finding) {
	for _, f := range p.w.Findings() {
		if f.Ended.IsZero() {
			going = append(going, f)
		}
	}
	return going
}

// none expects that nothing is wrong now.
func (p *patient) none() {
	p.t.Helper()
	if got := p.going(); len(got) > 0 {
		p.t.Fatalf("found %s", dump(got))
	}
}

// has expects exactly one thing to be wrong now, and texts in what is said of it.
func (p *patient) has(severity Severity, rule, subject string, texts ...string) Finding {
	p.t.Helper()
	got := p.going()
	if len(got) != 1 || got[0].Rule != rule || got[0].Severity != severity || got[0].Subject != subject {
		p.t.Fatalf("found %s\nwant a single %s %s of %q", dump(got), severity, rule, subject)
	}
	said := strings.Join(append([]string{got[0].Title, got[0].Next}, got[0].Evidence...), "\n")
	for _, text := range texts {
		if !strings.Contains(said, text) {
			p.t.Errorf("does not say %q:\n%s", text, said)
		}
	}
	if got[0].Informer != "pods" || got[0].Place == "" || got[0].Title == "" || got[0].Next == "" || len(got[0].Evidence) == 0 || !got[0].At.Equal(p.s.At) {
		p.t.Errorf("incomplete: %+v", got[0])
	}
	return got[0]
}

func dump(all []Finding) string {
	text, err := json.MarshalIndent(all, "", "  ")
	if err != nil {
		return err.Error()
	}
	return string(text)
}

func TestAFindingThatEndsLingersAndThenGoes(t *testing.T) {
	p := healthy(t)
	p.s.Indices = []inspect.IndexVitals{{Name: "node", Errors: 3, LastError: "panic: nil"}}
	p.pass(time.Second, nil)
	began := p.s.At
	p.pass(5*time.Second, nil)
	if f := p.has(Error, IndexErrors, "node"); !f.Since.Equal(began) {
		t.Errorf("since %v, want %v", f.Since, began)
	}
	p.s.Indices[0].Errors = 0
	p.pass(time.Second, nil)
	p.none()
	ended := p.s.At
	p.pass(lingers, nil)
	if got := p.w.Findings(); len(got) != 1 || !got[0].Ended.Equal(ended) || !got[0].At.Equal(ended.Add(-time.Second)) {
		t.Fatalf("found %s, want one that ended at %v", dump(got), ended)
	}
	p.pass(time.Second, nil)
	if got := p.w.Findings(); len(got) != 0 {
		t.Errorf("found %s, long after its end", dump(got))
	}
}

func TestAProblemThatComesBackIsTheSameOne(t *testing.T) {
	p := healthy(t)
	sick := []inspect.IndexVitals{{Name: "node", Errors: 3}}
	p.s.Indices = sick
	p.pass(time.Second, nil)
	began := p.s.At
	p.s.Indices = nil
	p.pass(time.Minute, nil)
	p.s.Indices = sick
	p.pass(time.Second, nil)
	if f := p.has(Error, IndexErrors, "node"); !f.Since.Equal(began) {
		t.Errorf("since %v, want %v", f.Since, began)
	}
}

func TestAnOlderSnapshotIsIgnored(t *testing.T) {
	p := healthy(t)
	old := p.s
	old.At = old.At.Add(-time.Second)
	old.Indices = []inspect.IndexVitals{{Name: "node", Errors: 3}}
	p.w.Observe(old, nil)
	p.none()
}

func TestAnotherInformerOfTheNameBeginsAnew(t *testing.T) {
	p := healthy(t)
	p.s.Indices = []inspect.IndexVitals{{Name: "node", Errors: 3}}
	p.pass(time.Second, nil)
	p.s.Indices, p.s.Informer.Created, p.requests = nil, p.s.At, nil
	p.pass(time.Second, nil)
	if got := p.w.Findings(); len(got) != 0 {
		t.Errorf("found %s of the one before", dump(got))
	}
}

func TestFindingsAreOrdered(t *testing.T) {
	at := func(s int) time.Time { return epoch.Add(time.Duration(s) * time.Second) }
	want := []Finding{
		{Rule: "a", Severity: Error, Since: at(5)},
		{Rule: "b", Severity: Warning, Since: at(1)},
		{Rule: "a", Severity: Warning, Since: at(2), Informer: "nodes"},
		{Rule: "a", Severity: Warning, Since: at(2), Informer: "pods", Subject: "x"},
		{Rule: "a", Severity: Warning, Since: at(2), Informer: "pods", Subject: "y"},
		{Rule: "b", Severity: Warning, Since: at(2), Informer: "pods"},
		{Rule: "a", Severity: Info, Since: at(0)},
		{Rule: "a", Severity: Error, Since: at(0), Ended: at(9)},
	}
	for i := range want {
		for k := range want {
			if got := Compare(want[i], want[k]); got != cmpInt(i, k) {
				t.Errorf("Compare(%d, %d) = %d", i, k, got)
			}
		}
	}
}

func cmpInt(a, b int) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	}
	return 0
}

func TestSeveritiesAreWrittenAsTheyAreRead(t *testing.T) {
	for i, name := range Severities() {
		s, err := ParseSeverity(name)
		if err != nil || int(s) != i || s.String() != name {
			t.Errorf("%s is %v, %v", name, s, err)
		}
	}
	if _, err := ParseSeverity("fatal"); err == nil || !strings.Contains(err.Error(), "info, warning, error") {
		t.Errorf("fatal: %v, want an error that names the others", err)
	}
	in := Finding{Rule: "r", Informer: "i", Severity: Warning, Evidence: []string{"e"}, Since: epoch, At: epoch}
	text, err := json.Marshal(in)
	if err != nil {
		t.Fatal(err)
	}
	var out Finding
	if err := json.Unmarshal(text, &out); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(in, out, cmpopts.IgnoreUnexported(Finding{})); diff != "" || strings.Contains(string(text), "ended") {
		t.Errorf("%s\n%s", text, diff)
	}
}

// nasty is text that must not reach a terminal as it is.
const nasty = "a\x1b[31mb\x00c\nd\u009be\u202ef\xffg\tz"

func TestNoTextHasControlCharacters(t *testing.T) {
	p := healthy(t)
	sick := func(s *inspect.Snapshot) {
		s.Informer.Name, s.Informer.Resource = nasty, nasty
		s.Reflector.Error, s.Reflector.ErrorOp, s.Reflector.ErrorReason, s.Reflector.Failures = nasty, opWatch, reasonForbidden, 4
		s.Store.ResourceVersion = nasty
		s.Indices = []inspect.IndexVitals{{Name: nasty, Errors: 3, LastError: nasty, LastErrorKey: nasty}}
		s.Quarantine = []inspect.Quarantined{{Key: nasty, Stage: nasty, Error: nasty, ResourceVersion: nasty, At: s.At}}
		s.Hot = []inspect.HotKey{
			{Key: nasty, Rate: 9, Updates: 900, Compared: 100, Writers: []string{nasty, "b" + nasty}, Turns: 9, Paths: []string{nasty}},
			{Key: "k" + nasty, Rate: 9, Updates: 900, Compared: 100, NoOps: 100, Writers: []string{nasty}},
		}
		s.Identities = []inspect.IdentityChange{{Key: nasty, From: nasty, To: nasty, At: s.At}}
		s.Traffic = &inspect.TrafficVitals{Undecodable: 1, Quarantine: []inspect.Undecodable{{Event: nasty, Reason: nasty}}}
		l := &s.Listeners[0]
		l.Name, l.Panics, l.LastPanic, l.InHandler, l.CurrentKey, l.Synced = nasty, 1, nasty, time.Hour, nasty, false
		l.ResyncAsked, l.ResyncGranted = time.Second, time.Second
	}
	p.watch(nasty)
	p.end(inspect.OutcomeExpired, 410, nasty, nasty)
	p.pass(2*time.Second, sick)
	got := p.w.Findings()
	if len(got) < 9 {
		t.Errorf("only %d findings, want more to look at: %s", len(got), dump(got))
	}
	for _, f := range got {
		for _, text := range append([]string{f.Informer, f.Subject, f.Title, f.Next}, f.Evidence...) {
			if strings.ContainsFunc(text, func(r rune) bool { return !unicode.IsPrint(r) }) {
				t.Errorf("%s says %q", f.Rule, text)
			}
		}
	}
}

func TestWhatIsKeptIsBounded(t *testing.T) {
	p := healthy(t)
	long := strings.Repeat("x", 100_000)
	for n := range 600 {
		p.watch(fmt.Sprint(n))
		p.end(inspect.OutcomeClosed, 0, long, "watch")
		p.requests = p.requests[max(0, len(p.requests)-3):]
		for i := range p.requests {
			p.requests[i].ID = uint64(10*n + i)
		}
		p.s.Quarantine = []inspect.Quarantined{{Key: fmt.Sprint("k", n), Stage: "apply", Error: long, At: p.s.At, Times: 1}}
		p.s.Listeners = nil
		for h := range 3 {
			p.s.Listeners = append(p.s.Listeners, inspect.ListenerVitals{Name: fmt.Sprint("h", n, "-", h), Panics: 1, LastPanic: long})
		}
		p.pass(100*time.Millisecond, nil)
	}
	if n := len(p.w.requests.kept); n > maxRequests {
		t.Errorf("%d requests kept", n)
	}
	for _, r := range p.w.requests.kept {
		if len(r.Error) > 4*longestText {
			t.Fatalf("an error of %d bytes kept", len(r.Error))
		}
	}
	if n := len(p.w.handlers); n > 3 {
		t.Errorf("%d handlers kept", n)
	}
	if n := len(p.w.counters); n > 3 {
		t.Errorf("%d counters kept", n)
	}
	if n := len(p.w.Findings()); n > maxFindings {
		t.Errorf("%d findings kept", n)
	}
}

func TestEveryRuleIsNamedOnce(t *testing.T) {
	seen := map[string]bool{}
	for _, r := range Rules() {
		if seen[r.Name] || r.Looks == "" {
			t.Errorf("%q: twice, or it does not say what it looks for", r.Name)
		}
		seen[r.Name] = true
	}
}

func TestCleanTextStaysAsItIs(t *testing.T) {
	for _, s := range []string{"", " ", "a", "a b", " a", "a ", "a  b", "é", "a\tb", "~", "\x7f", strings.Repeat("x", longestText-1), strings.Repeat("x", longestText+1)} {
		slow := clean("é" + s)[len("é"):]
		if tidy(s) && slow != s {
			t.Errorf("%q is tidy and would be %q", s, slow)
		}
		if once := clean(s); clean(once) != once {
			t.Errorf("%q becomes %q and then %q", s, once, clean(once))
		}
	}
}
