package tui

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/informeter/informeter/engine/inspect"
)

func TestARequestsErrorIsShownWhole(t *testing.T) {
	words := make([]string, 40)
	for i := range words {
		words[i] = fmt.Sprintf("cause%02d", i)
	}
	f := refused()
	f.requests[0].Error = strings.Join(words, ": ")
	u := newUser(t, f, 80, 24)
	u.press("7")
	for _, w := range words {
		if !strings.Contains(u.sees(), w) {
			t.Fatalf("%s is not on the screen:\n%s", w, u.sees())
		}
	}
}

func TestASelectedRequestStaysWhileNewOnesCome(t *testing.T) {
	f := newFake(20).requested(40)
	u := newUser(t, f, 120, 30)
	u.press("7", "j", "j", "j")
	was := u.line("LIST no. 37")
	if was == "" {
		t.Fatalf("the fourth request is not shown:\n%s", u.sees())
	}
	newer := inspect.Request{ID: 41, Verb: inspect.VerbWatch, Started: epoch, Outcome: inspect.OutcomeOpen}
	f.bump(func() { f.requests = append([]inspect.Request{newer}, f.requests...) })
	u.look()
	if u.line("LIST no. 37") != was || u.line("5 of 41") == "" {
		t.Errorf("another request is selected:\n%s", u.sees())
	}
	u.press("g")
	if u.line("WATCH no. 41") == "" {
		t.Errorf("the newest request is not shown:\n%s", u.sees())
	}
}

func TestRequestsAreReadOnlyWhereTheyAreShown(t *testing.T) {
	u := newUser(t, newFake(20), 120, 30)
	for key, want := range map[string]bool{"1": false, "7": true, "3": false} {
		u.press(key)
		if got := u.m.request().requests; got != want {
			t.Errorf("screen %s asks for requests: %v", key, got)
		}
	}
}

func TestAnAttemptToComeCountsDown(t *testing.T) {
	f := refused()
	u := newUser(t, f, 200, 30)
	u.press("7")
	for _, want := range []string{"attempt 4 failed, next in 3.2s", "retry in 3.2s", "retry after 2.0s"} {
		if u.line(want) == "" {
			t.Errorf("%q is not said:\n%s", want, u.sees())
		}
	}
	f.bump(func() { f.snapshot.At = epoch.Add(3 * time.Second) })
	u.look()
	for _, want := range []string{"next in 200ms", "retry in 200ms"} {
		if u.line(want) == "" {
			t.Errorf("three seconds later %q is not said:\n%s", want, u.sees())
		}
	}
}

// TestOutcomesReadWithoutColour: each outcome has a mark that sets apart what is
// open, what went well, what ended and what went wrong.
func TestOutcomesReadWithoutColour(t *testing.T) {
	theme := newTheme(true)
	for outcome, want := range map[inspect.Outcome]string{
		inspect.OutcomeOpen: "●", inspect.OutcomeOK: "✓", inspect.OutcomeClosed: "○", inspect.OutcomeStopped: "○",
		inspect.OutcomeRefused: "×", inspect.OutcomeExpired: "⚠", inspect.OutcomeTooNew: "⚠", inspect.OutcomeFailed: "⚠",
	} {
		r := inspect.Request{Outcome: outcome, Started: epoch.Add(-time.Hour), Ended: epoch, Lifetime: time.Hour}
		row := requestRow{r, judge([]inspect.Request{r}, epoch)[0]}
		if glyph, _ := outcomeMark(theme, &row); glyph != want {
			t.Errorf("%s is marked %s, want %s", outcome, glyph, want)
		}
	}
}

// TestAnOpenWatchListIsAWatch: it is not called done, and what came before its
// end marker is told apart from what came since.
func TestAnOpenWatchListIsAWatch(t *testing.T) {
	f := newFake(20)
	f.requests = []inspect.Request{{
		ID: 1, Verb: inspect.VerbWatchList, Outcome: inspect.OutcomeOK, Started: epoch.Add(-60 * time.Second), Marked: epoch.Add(-45 * time.Second),
		Items: 1060, Initial: 1000,
	}}
	for _, w := range []int{80, 120, 200} {
		u := newUser(t, f, w, 30)
		u.press("7").expect("● open, watching", "1,000 initial items", "60 events since", "complete after 15s", "the stream goes on", "on the stream of the watch-list")
		if n := strings.Count(u.sees(), " goes on"); n != 1 {
			t.Errorf("at %d columns it is said %d times:\n%s", w, n, u.sees())
		}
		row := u.marked()
		if strings.Contains(row, " ok") || !strings.Contains(row, "█━") {
			t.Errorf("at %d columns: %s", w, row)
		}
	}
}

// TestAServerThatDoesNotAnswerIsNotSaidToSend: on any screen; and a connection that
// broke off is no error of the server.
func TestAServerThatDoesNotAnswerIsNotSaidToSend(t *testing.T) {
	hangs := inspect.Request{
		ID: 2, Verb: inspect.VerbWatchList, Outcome: inspect.OutcomeOpen, Started: epoch.Add(-12 * time.Second), Lifetime: 12 * time.Second, Unanswered: true,
	}
	lost := inspect.Request{
		ID: 1, Verb: inspect.VerbWatch, Outcome: inspect.OutcomeFailed, Started: epoch.Add(-time.Minute), Ended: epoch.Add(-12 * time.Second),
		Code: 500, Error: "unable to decode an event from the watch stream: http2: client connection lost",
	}
	f := newFake(0).with(receivingList).with(func(s *inspect.Snapshot) {
		s.Reflector.Phase, s.Reflector.Expected, s.Reflector.Received = inspect.PhaseStreamingList, -1, 0
		s.Requests.Last = []inspect.Request{hangs, lost}
	})
	f.requests = []inspect.Request{hangs, lost}
	u := newUser(t, f, 120, 36)
	u.press("7").expect("no answer yet", "the server has not begun to answer", "⚠ broke off", "○ no answer")
	u.press("1").expect("the server has not answered for 12s")
	if strings.Contains(u.sees(), "receiving") {
		t.Errorf("something is received:\n%s", u.sees())
	}
	f.bump(func() { f.snapshot.Requests.Last[0].Verb = inspect.VerbList })
	u.look()
	u.expect("receiving the initial list") // a server takes its time to make a list
	f.bump(func() {
		f.snapshot.Requests.Last[0].Verb, f.snapshot.Requests.Last[0].Unanswered = inspect.VerbWatchList, false
	})
	u.look()
	u.expect("receiving the initial list")
}

// TestVerdicts looks at requests together with their neighbours.
func TestVerdicts(t *testing.T) {
	now := epoch
	watch := func(rv string, life time.Duration, items int, outcome inspect.Outcome) inspect.Request {
		return inspect.Request{Verb: inspect.VerbWatch, ResourceVersion: rv, Started: now.Add(-life), Ended: now, Lifetime: life, Items: items, Outcome: outcome, Timeout: 7 * time.Minute}
	}
	list := func(rv string) inspect.Request {
		return inspect.Request{Verb: inspect.VerbList, Outcome: inspect.OutcomeOK, Started: now, Ended: now, Returned: rv}
	}
	stream := func(outcome inspect.Outcome, life time.Duration, marked bool) inspect.Request {
		r := inspect.Request{Verb: inspect.VerbWatchList, Outcome: outcome, Started: now.Add(-life), Lifetime: life}
		if outcome != inspect.OutcomeOpen && outcome != inspect.OutcomeOK {
			r.Ended = now
		}
		if marked {
			r.Marked = r.Started
		}
		return r
	}
	repeat := func(n int, rs ...inspect.Request) (out []inspect.Request) {
		for range n {
			out = append(out, rs...)
		}
		return out
	}
	var lost []inspect.Request // by a server that forgets each version
	for _, rv := range []string{"30", "20", "10"} {
		w := watch(rv, time.Minute, 3, inspect.OutcomeExpired)
		w.Next = "relist"
		lost = append(lost, list(rv), w)
	}
	for name, c := range map[string]struct {
		requests []inspect.Request // the newest first
		at       int
		want     string
		bad      bool
	}{
		"one relist puts a 410 right":      {[]inspect.Request{watch("20", time.Minute, 1, inspect.OutcomeClosed), list("20"), watch("10", time.Minute, 3, inspect.OutcomeExpired)}, 2, "normal 410", false},
		"a marked stream puts it right":    {[]inspect.Request{stream(inspect.OutcomeOK, time.Minute, true), watch("10", time.Minute, 3, inspect.OutcomeExpired)}, 1, "normal 410", false},
		"nothing has put it right yet":     {[]inspect.Request{watch("10", time.Minute, 3, inspect.OutcomeExpired)}, 0, "expired", true},
		"the one before had brought some":  {[]inspect.Request{watch("20", time.Minute, 0, inspect.OutcomeExpired), list("20"), watch("10", time.Minute, 3, inspect.OutcomeExpired)}, 0, "expired ×2", true},
		"it has brought some itself":       {[]inspect.Request{watch("20", time.Minute, 3, inspect.OutcomeExpired), list("20"), watch("10", time.Minute, 0, inspect.OutcomeExpired)}, 0, "expired", true},
		"one worked in between":            {[]inspect.Request{watch("30", time.Minute, 0, inspect.OutcomeExpired), list("30"), watch("20", time.Minute, 3, inspect.OutcomeClosed), watch("10", time.Minute, 3, inspect.OutcomeExpired)}, 0, "expired", true},
		"410s that follow one another":     {lost, 1, "relist-loop ×3", true},
		"the same version expires":         {repeat(5, watch("10", time.Millisecond, 0, inspect.OutcomeExpired), list("10")), 0, "stuck rv ×5", true},
		"other versions expire":            {[]inspect.Request{watch("20", time.Minute, 0, inspect.OutcomeExpired), list("20"), watch("10", time.Minute, 0, inspect.OutcomeExpired)}, 0, "expired ×2", true},
		"closed at once":                   {repeat(3, watch("10", time.Millisecond, 0, inspect.OutcomeClosed), list("10")), 0, "short watch ×3", true},
		"closed young with an event":       {repeat(2, watch("10", time.Millisecond, 1, inspect.OutcomeClosed)), 0, "closed young", false},
		"always closed young":              {repeat(9, watch("10", time.Millisecond, 1, inspect.OutcomeClosed)), 0, "loop without brake", true},
		"a timeout on the way":             {repeat(4, watch("10", 10*time.Second, 2, inspect.OutcomeClosed)), 0, "cut at 10s ×4", true},
		"its own timeout":                  {repeat(4, watch("10", 7*time.Minute, 2, inspect.OutcomeClosed)), 0, "closed", false},
		"an old stream without marker":     {[]inspect.Request{stream(inspect.OutcomeOpen, time.Minute, false)}, 0, "no end marker", true},
		"a young stream without marker":    {[]inspect.Request{stream(inspect.OutcomeOpen, time.Second, false)}, 0, "receiving", false},
		"a stream closed without marker":   {[]inspect.Request{stream(inspect.OutcomeClosed, time.Minute, false)}, 0, "no end marker", true},
		"a stream closed after its marker": {[]inspect.Request{stream(inspect.OutcomeClosed, time.Minute, true)}, 0, "closed", false},
		"forbidden":                        {[]inspect.Request{{Verb: inspect.VerbList, Outcome: inspect.OutcomeFailed, Code: 403, Ended: now}}, 0, "forbidden", true},
	} {
		got := judge(c.requests, now)[c.at]
		if got.words != c.want || got.bad != c.bad || got.meaning == "" {
			t.Errorf("%s: %+v, want %s, bad %v", name, got, c.want, c.bad)
		}
	}
}

// TestNoRequestLastsLongerThanItIsAgo compares the two columns.
func TestNoRequestLastsLongerThanItIsAgo(t *testing.T) {
	units := func(s string) time.Duration {
		if s == "<1s" {
			return time.Second
		}
		s = strings.ReplaceAll(s, "d", "h") // days and hours compare as they are
		d, err := time.ParseDuration(s)
		if err != nil {
			t.Fatal(err)
		}
		return d
	}
	for ms := range 25_000 {
		d := time.Duration(ms) * time.Millisecond
		if a, l := ago(epoch, epoch.Add(-d)), life(d); units(l) > units(a) {
			t.Fatalf("%v ago is %s, and lasted %s", d, a, l)
		}
	}
}

func TestWhatTheServerDidNotGrantIsSaid(t *testing.T) {
	f := newFake(20)
	f.requests = []inspect.Request{
		{ID: 2, Verb: inspect.VerbWatch, Started: epoch.Add(-10 * time.Second), Ended: epoch, Lifetime: 10 * time.Second, Timeout: 7 * time.Minute, Items: 1, Outcome: inspect.OutcomeClosed},
		{ID: 1, Verb: inspect.VerbList, Started: epoch.Add(-12 * time.Second), Ended: epoch.Add(-10 * time.Second), Limit: 500, Items: 48211, Pages: 1, ResourceVersion: "0", Outcome: inspect.OutcomeOK},
	}
	u := newUser(t, f, 80, 30)
	u.press("7").expect("a timeout of 7m: it ended after 10s")
	u.press("j").expect("pages of 500", "it does not page")
}

func TestTheTrafficIsShownWhereItIsCounted(t *testing.T) {
	f := newFake(20)
	u := newUser(t, f, 120, 30)
	u.press("7").expect("bytes are counted only where informeter itself reads a cluster")
	f.bump(func() {
		f.snapshot.Traffic = &inspect.TrafficVitals{Streams: 2, Bytes: 3 << 20, Events: 31204, ByteRate: 4096, Undecodable: 2, Quarantine: []inspect.Undecodable{
			{At: epoch.Add(-9 * time.Second), Event: "MODIFIED", Reason: "spec.name: not a string", Size: 2048},
		}}
	})
	u.look()
	u.expect("3.0M in 31,204 events", "4.0k/s", "⚠ 2 could not be read", "the last 9s ago, MODIFIED of 2.0k: spec.name: not a string")
}

// TestTheTimeLineIsOfWhatIsInSight: all bars have one axis.
func TestTheTimeLineIsOfWhatIsInSight(t *testing.T) {
	f := newFake(20)
	f.requests = []inspect.Request{
		{ID: 2, Verb: inspect.VerbWatch, Started: epoch.Add(-50 * time.Second), Outcome: inspect.OutcomeOpen},
		{ID: 1, Verb: inspect.VerbList, Started: epoch.Add(-100 * time.Second), Ended: epoch.Add(-50 * time.Second), Lifetime: 50 * time.Second, Outcome: inspect.OutcomeOK},
	}
	u := newUser(t, f, 80, 30)
	u.press("7")
	open, done := u.line("● open"), u.line("✓ complete")
	thin, thick := strings.Count(open, "━"), strings.Count(done, "█")
	if thin < 4 || thin-thick > 1 || thick-thin > 1 || u.line("-1m40s…now") == "" {
		t.Errorf("the bars do not follow each other on an axis of 1m40s:\n%s", u.sees())
	}
	if strings.Index(open, "━") <= strings.Index(done, "█") {
		t.Errorf("the older one is not left of the newer:\n%s\n%s", done, open)
	}
}

// TestRequestColumnsGoInOrder narrows the table of requests.
func TestRequestColumnsGoInOrder(t *testing.T) {
	u := newUser(t, newFake(20).requested(4), 120, 40)
	p := u.m.screens[screenRequests].(*requestsScreen)
	gone := []string{"MATCH", "BOOKMARKS", "PAGES", "RETURNED", "CODE", "ASKED RV", "NEXT", "LASTED"}
	dropped := 0
	for w := 190; w >= leastWidth; w-- {
		header := p.table.grid(w, p.columns()).header(newTheme(true))
		for _, must := range []string{"VERB", "AGO", "ITEMS", "VERDICT"} {
			if !strings.Contains(header, must) {
				t.Errorf("at %d columns %s is gone", w, must)
			}
		}
		for dropped < len(gone) && !strings.Contains(header, gone[dropped]) {
			dropped++
		}
		for i, title := range gone {
			if strings.Contains(header, title) != (i >= dropped) {
				t.Errorf("at %d columns %s is not in its turn: %s", w, title, header)
			}
		}
	}
	if dropped < len(gone)-1 {
		t.Errorf("only %v went", gone[:dropped])
	}
}

// TestAWatchThatExpiresIsNoFailure where a list makes up for it: the line above
// counts it apart, and warns as the rows do.
func TestAWatchThatExpiresIsNoFailure(t *testing.T) {
	expired := inspect.Request{ID: 1, Verb: inspect.VerbWatch, ResourceVersion: "10", Started: epoch.Add(-time.Minute), Ended: epoch.Add(-10 * time.Second), Lifetime: 50 * time.Second, Items: 3, Outcome: inspect.OutcomeExpired, Code: 410, Error: "too old resource version", Next: "relist"}
	list := inspect.Request{ID: 2, Verb: inspect.VerbList, Started: epoch.Add(-9 * time.Second), Ended: epoch.Add(-9 * time.Second), Outcome: inspect.OutcomeOK, Returned: "20"}
	again := expired
	again.ID, again.Started, again.Ended, again.Lifetime, again.Items = 3, epoch.Add(-8*time.Second), epoch.Add(-8*time.Second), time.Millisecond, 0
	for _, w := range []int{80, 120, 200} {
		f := newFake(20)
		f.requests = []inspect.Request{list, expired}
		f.snapshot.Requests = inspect.RequestVitals{Lists: 1, Watches: 1, Failed: 1, Expired: 1, Last: f.requests}
		u := newUser(t, f, w, 36).press("7").expect("none failed   1 expired", "○ normal 410")
		if content := u.m.View().Content; !strings.Contains(content, string(u.m.theme.muted)+"1 expired") || strings.Contains(content, "⚠ normal") {
			t.Errorf("at %d columns what is normal is a warning:\n%s", w, u.sees())
		}
		f.bump(func() {
			f.requests = []inspect.Request{again, list, expired}
			f.snapshot.Requests = inspect.RequestVitals{Lists: 1, Watches: 2, Failed: 4, Expired: 2, Last: f.requests}
		})
		u.look()
		u.expect("2 failed   2 expired", "⚠ stuck rv ×2")
		if !strings.Contains(u.m.View().Content, string(u.m.theme.warn)+"2 expired") {
			t.Errorf("at %d columns the line above does not warn of what the rows do:\n%s", w, u.sees())
		}
	}
}
