package findings

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/informeter/informeter/engine/inspect"
)

// expire ends the watch under way with 410 and waits before what follows.
func (p *patient) expire() {
	p.end(inspect.OutcomeExpired, 410, "too old resource version: 1 (9)", "relist")
	p.s.Reflector.Error, p.s.Reflector.ErrorOp, p.s.Reflector.ErrorReason = "watch pods: too old", opWatch, "Expired"
	p.s.Reflector.Failures++
	p.pass(time.Second, nil)
}

// recover lets the watch under way show that it works.
func (p *patient) recover() {
	p.requests[len(p.requests)-1].Items = 3
	p.s.Reflector.Error, p.s.Reflector.ErrorOp, p.s.Reflector.ErrorReason, p.s.Reflector.Failures = "", "", "", 0
	p.pass(time.Second, nil)
}

func TestOneExpiredWatchIsNoProblem(t *testing.T) {
	p := healthy(t)
	p.expire()
	at := p.requests[1].Ended
	f := p.has(Info, Expired, "", "still to come", "WATCH from rv 1 ended with 410", "too old resource version")
	if !f.Since.Equal(at) || f.Place != PlaceRequests {
		t.Errorf("since %v at %s, want %v", f.Since, f.Place, at)
	}
	p.list(2 * time.Second)
	p.watch("20")
	p.recover()
	p.has(Info, Expired, "", "a list made up for it", "took 2.0s for 1,000 objects")
	p.pass(shownFor-5*time.Second, nil)
	p.has(Info, Expired, "")
	p.pass(2*time.Second, nil)
	p.none()
}

func TestWatchesThatExpireAgainAndAgainFromOneVersion(t *testing.T) {
	p := healthy(t)
	p.expire()
	for n := 1; n <= 3; n++ {
		p.list(time.Second)
		p.watch("20")
		p.pass(2*time.Second, nil)
		p.requests[len(p.requests)-1].Bookmarks = n // it had begun well
		p.expire()
		switch n {
		case 1:
			p.has(Info, Expired, "") // a new version
		case 2:
			p.has(Warning, Expired, "", "too old when it arrives", "2 times in", "2 of them from this version", "the list before it took 1.0s for 1,000 objects")
		case 3:
			p.has(Error, Expired, "", "3 times")
		}
	}
	p.list(time.Second)
	p.watch("30")
	p.recover()
	p.none()
}

func TestAListThatIsSlowerThanTheServerRemembers(t *testing.T) {
	p := healthy(t)
	p.requests[1].Items = 5000
	p.expire()
	p.has(Info, Expired, "")
	for n := 1; n <= 3; n++ {
		p.list(35 * time.Second)
		p.watch(fmt.Sprint(20 + n)) // another one each time
		p.expire()
		p.has(map[int]Severity{1: Warning, 2: Error, 3: Error}[n], Expired, "", "took 35s")
	}
}

func TestAnInitialStreamThatBecameAWatchMayExpire(t *testing.T) {
	p := healthy(t)
	p.end(inspect.OutcomeClosed, 0, "", "watch")
	p.request(inspect.Request{Verb: inspect.VerbWatchList, Started: p.s.At, Outcome: inspect.OutcomeOK, Returned: "20", Items: 1000, Next: "watch"})
	p.pass(time.Minute, nil)
	r := &p.requests[len(p.requests)-1]
	r.Items, r.Initial = 1122, 1000
	p.pass(900*time.Millisecond, nil)
	p.expire()
	p.has(Info, Expired, "", "WATCHLIST ended with 410 after 1m, having brought 122 events")
}

func TestExpiredWatchesAreCounted(t *testing.T) {
	p := healthy(t)
	p.expire()
	for n, want := range []string{
		"A watch expired (410), and a watch-list made up for it.",
		"2 watches expired (410), and a watch-list made up for the last one.",
	} {
		p.request(inspect.Request{Verb: inspect.VerbWatchList, Started: p.s.At, Outcome: inspect.OutcomeOpen, Returned: "20", Items: 1003, Initial: 1000})
		p.recover()
		p.has(Info, Expired, "", want)
		p.requests[len(p.requests)-1].Items = 1005
		p.pass(20*time.Second, nil)
		p.expire()
		p.has(Info, Expired, "", "to come", "WATCHLIST ended", "having brought 5 events", "if they stay rare", fmt.Sprintf("the first of the %d was", n+2))
	}
}

func TestThreeListsInFiveMinutesAreALoop(t *testing.T) {
	p := healthy(t)
	lose := func(d time.Duration) {
		p.pass(d, nil)
		p.end(inspect.OutcomeFailed, 500, "etcd", "relist")
		p.list(time.Second)
		p.watch(fmt.Sprint(len(p.requests)))
		p.requests[len(p.requests)-1].Items = 9
		p.pass(time.Second, nil)
	}
	lose(time.Minute)
	lose(time.Minute)
	p.none()
	lose(time.Minute)
	p.has(Warning, RelistLoop, "", "3 relists after lost watches", "of about 1,000 objects each", "3 failed with 500")
	newestFirst := slices.Clone(p.requests)
	slices.Reverse(newestFirst)
	if got := RelistLoops(newestFirst); !slices.Equal(got, []int{0, 0, 3, 0, 3, 0, 3, 0}) {
		t.Errorf("the requests of the loop are judged %v", got)
	}
	if got := RelistLoops(newestFirst[:6]); slices.Max(got) != 0 {
		t.Errorf("two relists are judged %v", got)
	}
	p.pass(relistWindow-3*time.Minute, nil)
	p.has(Warning, RelistLoop, "")
	p.pass(time.Minute, nil)
	p.none()
}

func TestLostWatchesFarApartAreNoLoop(t *testing.T) {
	at := func(d time.Duration) time.Time { return time.Unix(0, 0).Add(d) }
	var newestFirst []inspect.Request
	for n := range 6 {
		ended := at(time.Duration(n+1) * (relistWindow/2 + time.Second))
		newestFirst = append([]inspect.Request{
			{Verb: inspect.VerbList, Started: ended, Ended: ended, Outcome: inspect.OutcomeOK},
			{Verb: inspect.VerbWatch, Ended: ended, Outcome: inspect.OutcomeExpired, Next: nextRelist},
		}, newestFirst...)
	}
	if got := RelistLoops(newestFirst); slices.Max(got) != 0 {
		t.Errorf("judged %v", got)
	}
}

func TestListsThatWereAskedForAreNoLoop(t *testing.T) {
	p := healthy(t)
	for range 5 {
		p.end(inspect.OutcomeStopped, 0, "", "relist")
		p.list(time.Second)
		p.watch("20")
		p.pass(time.Second, nil)
	}
	p.none()
}

func TestWatchesThatAreClosedYoung(t *testing.T) {
	for _, c := range []struct {
		lived    time.Duration
		row      int
		severity Severity
	}{
		{tooShort - time.Second, tooShortRow, Warning},
		{tooShort, ratherShortRow, Info},
		{ratherShort - time.Second, ratherShortRow, Info},
	} {
		t.Run(c.lived.String(), func(t *testing.T) {
			p := healthy(t)
			for n := 1; n <= c.row; n++ {
				p.none()
				p.end(inspect.OutcomeClosed, 0, "", "watch")
				p.watch(fmt.Sprint(n))
				p.requests[len(p.requests)-1].Items = 2
				p.pass(c.lived, nil)
			}
			p.none()
			p.end(inspect.OutcomeClosed, 0, "", "watch")
			p.watch("99")
			p.pass(time.Second, nil)
			p.has(c.severity, ShortWatches, "", "lived for "+short(c.lived), "had asked for 6m")
			p.pass(ratherShort, nil) // the newest one lives
			p.none()
		})
	}
}

func TestWatchesThatLiveLongEnough(t *testing.T) {
	for name, lived := range map[string]time.Duration{"as asked": 6 * time.Minute, "just not short": ratherShort} {
		t.Run(name, func(t *testing.T) {
			p := healthy(t)
			for n := range 8 {
				p.end(inspect.OutcomeClosed, 0, "", "watch")
				p.watch(fmt.Sprint(n))
				p.pass(lived, nil)
				p.none()
			}
		})
	}
	t.Run("short ones were asked for", func(t *testing.T) {
		p := healthy(t)
		for n := range 8 {
			p.end(inspect.OutcomeClosed, 0, "", "watch")
			p.watch(fmt.Sprint(n))
			p.requests[len(p.requests)-1].Timeout = 5 * time.Second
			p.pass(5*time.Second, nil)
			p.none()
		}
	})
}

// refuse lets the request under way be refused.
func (p *patient) refuse(op string, code int, reason string) {
	p.end(inspect.OutcomeFailed, code, op+" pods: no", "retry")
	r := &p.s.Reflector
	r.Error, r.ErrorOp, r.ErrorReason = op+" pods: no", op, reason
	r.Failures++
	r.Phase, r.NextAttempt = inspect.PhaseBackingOff, p.s.At.Add(4*time.Second)
	p.pass(time.Second, nil)
}

func (p *patient) unsynced() {
	p.s.Informer.Synced, p.s.Informer.SyncedAt, p.s.Listeners[0].Synced, p.s.Store.Objects = false, time.Time{}, false, 0
	p.requests = p.requests[:0]
	p.w = Watcher{}
}

func (p *patient) tryList() {
	p.request(inspect.Request{Verb: inspect.VerbList, Started: p.s.At, Outcome: inspect.OutcomeOpen})
}

func TestAListThatIsForbidden(t *testing.T) {
	p := healthy(t)
	p.unsynced()
	p.tryList()
	p.refuse(opList, 403, reasonForbidden)
	began := p.requests[0].Ended
	p.has(Warning, ListForbidden, "", "forbids to list pods", "1 attempt failed in a row", "the next attempt is in 3.0s", "waiting for it: audit", "list pods: no")
	p.tryList()
	p.refuse(opList, 403, reasonForbidden)
	if f := p.has(Error, ListForbidden, "", "2 attempts"); !f.Since.Equal(began) {
		t.Errorf("since %v, want the first refusal, %v", f.Since, began)
	}
	p.pass(time.Minute, nil)
	p.has(Error, ListForbidden, "") // and not also not-synced, or requests-failing
	p.list(time.Second)
	p.watch("9")
	p.s.Informer.Synced, p.s.Listeners[0].Synced, p.s.Reflector.Phase = true, true, inspect.PhaseWatching
	p.recover()
	p.none()
}

func TestAWatchThatIsForbidden(t *testing.T) {
	p := healthy(t)
	p.refuse(opWatch, 403, reasonForbidden)
	p.has(Warning, WatchForbidden, "")
	for range 4 {
		p.list(time.Second)
		p.watch("20")
		p.refuse(opWatch, 403, reasonForbidden)
		p.requests[len(p.requests)-1].Next = "relist"
	}
	p.has(Error, WatchForbidden, "", "synced, and nobody is told", "4 lists of everything since, 4,000 objects", "Grant the verb watch on pods") // and no relist-loop
	p.watch("30")
	p.recover()
	p.none()
}

func TestRequestsThatFail(t *testing.T) {
	for code, want := range map[int]string{
		0: "cannot be reached", 401: "does not know who asks", 404: "has no pods", 429: "as too many", 500: "fails to answer", 418: "are refused",
	} {
		t.Run(fmt.Sprint(code), func(t *testing.T) {
			p := healthy(t)
			p.refuse(opWatch, code, "")
			p.pass(time.Minute, nil)
			p.none() // one is no habit
			for range 2 {
				p.watch("20")
				p.refuse(opWatch, code, "")
			}
			p.has(Error, RequestsFailing, "", want, "watch pods: no", "3 attempts failed", "the cache answers with 1,000 objects as of rv 100")
			p.watch("30")
			p.recover()
			p.none()
		})
	}
}

// TestCredentialsThatWereNeverGood: they are named at once, and those that were
// good before only when the 401 goes on, see TestRequestsThatFail.
func TestCredentialsThatWereNeverGood(t *testing.T) {
	p := healthy(t)
	p.s.Informer.Synced, p.s.Listeners[0].Synced = false, false
	p.refuse(opList, 401, "Unauthorized")
	first := p.has(Warning, RequestsFailing, "", "does not know who asks for pods", "1 attempt failed in a row", "waiting for it: audit", "Renew the credentials")
	p.pass(5*time.Second, nil)
	p.refuse(opList, 401, "Unauthorized")
	if f := p.has(Error, RequestsFailing, "", "2 attempts"); !f.Since.Equal(first.Since) {
		t.Errorf("since %v, want %v", f.Since, first.Since)
	}
	p.s.Informer.Synced, p.s.Listeners[0].Synced = true, true
	p.recover()
	p.none()
}

func TestRequestsThatFailForAMoment(t *testing.T) {
	p := healthy(t)
	for range 6 {
		p.refuse(opWatch, 0, "")
		p.watch("20")
	}
	p.pass(2*time.Second, nil)
	p.none() // many, within seconds
	p.pass(3*time.Second, nil)
	p.has(Warning, RequestsFailing, "")
	p.recover()
	p.none()
}

// TestARequestThatIsNotAnswered: whatever hangs, it is not the end marker that is
// missing.
func TestARequestThatIsNotAnswered(t *testing.T) {
	p := healthy(t)
	p.unsynced()
	p.s.Reflector.Phase = inspect.PhaseStreamingList
	p.request(inspect.Request{Verb: inspect.VerbWatchList, Started: p.s.At, Outcome: inspect.OutcomeOpen, Unanswered: true})
	p.pass(inspect.StreamOverdue-time.Second, nil)
	p.none()
	p.pass(time.Second, nil)
	p.has(Warning, NoAnswer, "", "sent 10s ago", "waiting for it: audit", "kubectl get --raw /readyz")
	p.pass(30*time.Second, nil)
	p.has(Warning, NoAnswer, "", "sent 40s ago")
	if got := p.going(); len(got) != 1 {
		t.Errorf("found %v, want this one alone", got)
	}
	newest := &p.requests[len(p.requests)-1]
	newest.Unanswered = false // it begins to
	p.pass(time.Second, func(s *inspect.Snapshot) { s.Reflector.Received += 10 })
	if got := p.going(); len(got) != 0 {
		t.Errorf("found %v after the answer", got)
	}
	newest.Unanswered, newest.Verb, newest.Started = true, inspect.VerbList, p.s.At
	p.pass(inspect.ListOverdue-time.Second, func(s *inspect.Snapshot) { s.Reflector.Received += 10 })
	if got := p.going(); len(got) != 0 {
		t.Errorf("found %v while a list is made", got)
	}
}

func TestAnInitialStreamThatDoesNotEnd(t *testing.T) {
	p := healthy(t)
	p.unsynced()
	p.s.Reflector.Phase = inspect.PhaseStreamingList
	p.request(inspect.Request{Verb: inspect.VerbWatchList, Started: p.s.At, Outcome: inspect.OutcomeOpen})
	p.pass(time.Minute, func(s *inspect.Snapshot) { s.Reflector.Received += 10 })
	p.none() // it gets on
	p.pass(streamSilent-time.Second, nil)
	p.none()
	p.pass(time.Second, nil)
	p.has(Warning, EndMarkerMissing, "", "600 objects received, and nothing for 10s", "waiting for it: audit")

	p.end(inspect.OutcomeStopped, 0, "initial stream "+noEndMarker, "list instead")
	p.s.Reflector.Phase = inspect.PhaseListing
	p.pass(2*time.Second, nil)
	p.has(Warning, EndMarkerMissing, "", "was given up", "then: list instead")
	p.list(time.Second)
	p.watch("9")
	p.s.Informer.Synced, p.s.Listeners[0].Synced, p.s.Reflector.Phase = true, true, inspect.PhaseWatching
	p.recover()
	p.pass(shownFor, nil)
	p.none()
}

func TestAnInitialListThatDoesNotGetOn(t *testing.T) {
	p := healthy(t)
	p.unsynced()
	p.tryList()
	p.s.Reflector.Phase, p.s.Reflector.Expected, p.s.Reflector.Received = inspect.PhaseListing, 4000, 500
	p.pass(listSilent, nil)
	p.none()
	p.pass(time.Second, nil)
	p.has(Info, NotSynced, "", "listing, 500 received of 4,000, nothing new for 10s", "waiting for it: audit")
	p.pass(listSilentLong-listSilent, nil)
	p.has(Warning, NotSynced, "")
	p.s.Reflector.Received = 1000
	p.pass(time.Second, nil)
	p.none()

	p.s.Queue.Gate = inspect.Gate{Mode: inspect.GatePaused, Since: p.s.At}
	p.s.Reflector.Phase, p.s.Queue.Objects = inspect.PhaseWatching, 1000
	p.pass(time.Minute, nil)
	p.has(Info, NotSynced, "", "closed gate", "1,000 objects wait in the queue")
}

func TestAnInformerThatIsNeverStarted(t *testing.T) {
	p := healthy(t)
	p.unsynced()
	p.s.Informer.State, p.s.Informer.Created, p.s.Reflector.Phase = inspect.StateCreated, p.s.At, inspect.PhaseStarting
	p.pass(neverStarted-time.Second, nil)
	p.none()
	p.pass(time.Second, nil)
	p.has(Warning, NotSynced, "", "never started", "waiting for it: audit")
	p.s.Listeners = nil
	p.pass(time.Second, nil)
	p.has(Info, NotSynced, "") // nobody counts on it
	p.s.Informer.State, p.s.Informer.Synced = inspect.StateRunning, true
	p.pass(time.Second, nil)
	p.none()
	p.s.Informer.State, p.s.Informer.Synced = inspect.StateStopped, false
	p.pass(time.Minute, nil)
	p.none()
}

func TestAGateThatStaysClosed(t *testing.T) {
	p := healthy(t)
	p.s.Queue.Gate, p.s.Queue.Deltas = inspect.Gate{Mode: inspect.GatePaused, Since: p.s.At}, 5
	p.pass(time.Minute, nil)
	p.none() // nothing comes
	p.s.Queue.Gate.Since = p.s.At
	p.pass(pausedLong-time.Second, func(s *inspect.Snapshot) { s.Queue.Deltas++ })
	p.none()
	p.pass(time.Second, func(s *inspect.Snapshot) { s.Queue.Deltas++ })
	p.has(Info, GatePaused, "", "the queue went from 6 to 15 deltas")
	p.s.Queue.BackPressure = true
	p.pass(time.Second, nil)
	p.has(Warning, GatePaused, "", "held back at 2,000 deltas")
	p.s.Queue.Gate, p.s.Queue.BackPressure = inspect.Gate{Mode: inspect.GateRunning}, false
	p.pass(time.Second, nil)
	p.none()
}
