package tui

import (
	"strings"
	"time"

	"github.com/informeter/informeter/engine/findings"
	"github.com/informeter/informeter/engine/inspect"
)

// verdict is what a request's end means, seen together with those before and
// after it.
type verdict struct {
	words   string // in a row
	meaning string // a sentence
	bad     bool   // worth a look
}

const (
	// young is how long a watch has to live so as not to be called short.
	young = time.Second
	// unbraked is how many watches in a row that close young with events make a
	// loop without a brake.
	unbraked = 5
	// cutAlike is how many watches in a row that end at the same age, long before
	// the timeout they asked for, are cut by something on the way.
	cutAlike = 3
	// markerLate is how long an initial stream may go without an item and without
	// its end marker before that is pointed out.
	markerLate = 30 * time.Second
)

// judge says what to think of each of the requests, which are the newest first.
func judge(requests []inspect.Request, now time.Time) []verdict {
	out := make([]verdict, len(requests))
	loops := findings.RelistLoops(requests)
	for i := range requests {
		out[i] = judgeOne(requests, i, now)
		if n := loops[i]; n > 0 && !out[i].bad {
			out[i] = verdict{findings.RelistLoop + again(n), "one of " + number(n) + " lost watches that each cost a list of everything", true}
		}
	}
	return out
}

func judgeOne(all []inspect.Request, i int, now time.Time) verdict {
	r := &all[i]
	switch r.Outcome {
	case inspect.OutcomeOpen, inspect.OutcomeOK:
		return judgeGood(r, now)
	case inspect.OutcomeClosed:
		return judgeClosed(all, i)
	case inspect.OutcomeExpired:
		return judgeExpired(all, i)
	case inspect.OutcomeTooNew:
		return verdict{"too new", "the server does not know the resource version yet", true}
	case inspect.OutcomeRefused:
		return verdict{"refused", "this server streams no initial lists", true}
	case inspect.OutcomeStopped:
		return verdict{"ended by us", "ended by the informer", false}
	}
	if inspect.ConnectionLost(r.Error) {
		return verdict{"broke off", "the connection to the server broke off", true}
	}
	return verdict{failureWord(r.Code), failureOf(r.Code), true}
}

func judgeGood(r *inspect.Request, now time.Time) verdict {
	switch {
	case r.Unanswered:
		return verdict{"no answer yet", "the server has not begun to answer", r.Overdue(now)}
	case r.Verb == inspect.VerbList && r.Outcome == inspect.OutcomeOK:
		return verdict{"complete", "all pages came", false}
	case r.Verb == inspect.VerbList:
		return verdict{"receiving", "under way", false}
	case r.Verb == inspect.VerbWatch:
		return verdict{"open", "under way", false}
	case !r.Marked.IsZero() || r.Outcome == inspect.OutcomeOK:
		return verdict{"open, watching", "all initial objects came, the stream goes on as a watch", false}
	case now.Sub(r.Started) > markerLate:
		return verdict{"no end marker", "the server has not said that the initial objects are complete", true}
	}
	return verdict{"receiving", "initial objects are coming", false}
}

// judgeClosed tells a stream that ended as streams do from one that was cut.
func judgeClosed(all []inspect.Request, i int) verdict {
	r := &all[i]
	switch {
	case r.Verb == inspect.VerbWatchList && r.Marked.IsZero():
		return verdict{"no end marker", "the initial stream ended before it was complete", true}
	case r.Lifetime < young && r.Items == 0:
		n := inARow(all, i, func(o *inspect.Request) bool { return o.Lifetime < young && o.Items == 0 })
		return verdict{"short watch" + again(n), "closed at once without an event: each costs a list", true}
	case r.Lifetime < young:
		if n := inARow(all, i, func(o *inspect.Request) bool { return o.Lifetime < young && o.Items > 0 }); n >= unbraked {
			return verdict{"loop without brake", "one young watch after the other, " + number(n) + " in a row: nothing slows them down", true}
		}
		return verdict{"closed young", "the server ended the stream soon", false}
	case r.Timeout > 0 && r.Lifetime < r.Timeout*4/5:
		alike := func(o *inspect.Request) bool {
			return o.Outcome == inspect.OutcomeClosed && (o.Lifetime-r.Lifetime).Abs() < r.Lifetime/10+100*time.Millisecond
		}
		if n := inARow(all, i, alike); n >= cutAlike {
			return verdict{"cut at " + life(r.Lifetime) + again(n), "always after " + duration(r.Lifetime) + ", long before the " + period(r.Timeout) +
				" asked for: a timeout of the client, or a proxy or balancer on the way", true}
		}
	}
	return verdict{"closed", "the server ended the stream, as it does", false}
}

// judgeExpired tells a 410 that one relist repairs from one that comes again and
// again: for the same version, or for what each list has just brought.
func judgeExpired(all []inspect.Request, i int) verdict {
	r := &all[i]
	n := 1
	for _, o := range all[i+1:] {
		if o.Outcome == inspect.OutcomeExpired && o.ResourceVersion == r.ResourceVersion && o.Verb == r.Verb {
			n++
		} else if o.Outcome == inspect.OutcomeExpired || o.Verb == r.Verb {
			break
		}
	}
	if n > 1 {
		return verdict{"stuck rv" + again(n), "the same resource version " + orDash(r.ResourceVersion) + " is refused for the " + ordinal(n) +
			" time: what the lists return is too old already", true}
	}
	if n := expiredInARow(all[i:]); n > 1 {
		return verdict{"expired" + again(n), "the " + ordinal(n) + " watch in a row that expires before it has brought anything: lists are too old when they arrive", true}
	}
	for k := i - 1; k >= 0; k-- {
		o := &all[k]
		if o.Outcome == inspect.OutcomeOK || !o.Marked.IsZero() {
			return verdict{"normal 410", "the resource version was too old; one relist put it right", false}
		}
		if o.Verb == inspect.VerbWatch {
			break
		}
	}
	return verdict{"expired", "the resource version is too old for the server", true}
}

// expiredInARow counts how many watches expired one after the other up to the newest
// of all, which did: all but the first before they brought anything.
func expiredInARow(all []inspect.Request) int {
	n := 0
	for k := range all {
		o := &all[k]
		if o.Verb == inspect.VerbList {
			continue
		} else if o.Outcome != inspect.OutcomeExpired {
			break
		}
		n++
		if o.Items+o.Bookmarks > 0 || o.Verb != inspect.VerbWatch {
			break
		}
	}
	return n
}

// inARow counts how many watches from i on back in time are alike.
func inARow(all []inspect.Request, i int, alike func(*inspect.Request) bool) int {
	n := 0
	for k := i; k < len(all); k++ {
		if o := &all[k]; o.Verb == inspect.VerbList {
			continue // a short watch costs one
		} else if !alike(o) || o.Outcome != inspect.OutcomeClosed {
			break
		}
		n++
	}
	return n
}

func again(n int) string {
	if n < 2 {
		return ""
	}
	return " ×" + number(n)
}

func ordinal(n int) string {
	switch {
	case n%100/10 != 1 && n%10 == 1:
		return number(n) + "st"
	case n%100/10 != 1 && n%10 == 2:
		return number(n) + "nd"
	case n%100/10 != 1 && n%10 == 3:
		return number(n) + "rd"
	}
	return number(n) + "th"
}

// failureWord is what failed, in a word or two.
func failureWord(code int) string {
	switch {
	case code == 0:
		return "no answer"
	case code == 401:
		return "unauthorized"
	case code == 403:
		return "forbidden"
	case code == 404:
		return "no such resource"
	case code == 429:
		return "asked too often"
	case code >= 500:
		return "server error"
	}
	return "failed"
}

// failureOf says what an HTTP status means for a reflector.
func failureOf(code int) string {
	switch {
	case code == 0:
		return "no answer from the server"
	case code == 401:
		return "the server does not know who asks"
	case code == 403:
		return "the server forbids it"
	case code == 404:
		return "the server has no such resource"
	case code == 429:
		return "the server is asked too often"
	case code >= 500:
		return "the server could not"
	}
	return "the server refused"
}

// notGranted says what of a request's wishes the server did not fulfil, and why.
func notGranted(r *inspect.Request) []string {
	var out []string
	if r.Verb == inspect.VerbList && r.Limit > 0 && int64(r.Items) > r.Limit && r.Pages <= 1 {
		why := "the server did not page"
		if r.ResourceVersion == "0" {
			why = "what comes from its cache, at rv 0, it does not page"
		}
		out = append(out, "pages of "+number(r.Limit)+": "+why)
	}
	if r.Verb == inspect.VerbWatchList && r.Outcome == inspect.OutcomeRefused {
		out = append(out, "a streamed list: listed instead")
	}
	if r.Verb != inspect.VerbList && r.Timeout > 0 && !r.Ended.IsZero() && r.Outcome == inspect.OutcomeClosed && r.Lifetime < r.Timeout*4/5 {
		out = append(out, "a timeout of "+period(r.Timeout)+": it ended after "+duration(r.Lifetime))
	}
	if strings.Contains(r.Match, "Exact") && r.Returned != "" && r.Returned != r.ResourceVersion {
		out = append(out, "exactly rv "+r.ResourceVersion+": it returned "+r.Returned)
	}
	return out
}
