package tui

import (
	"strings"
	"testing"
	"time"

	"github.com/informeter/informeter/engine/inspect"
)

// ranFrom makes a request that ran from so many seconds ago to so many; 0 for one
// that is open.
func ranFrom(verb inspect.Verb, from, to float64, outcome inspect.Outcome, items int) inspect.Request {
	ago := func(s float64) time.Time { return epoch.Add(-time.Duration(s * float64(time.Second))) }
	r := inspect.Request{Verb: verb, Started: ago(from), Outcome: outcome, Items: items}
	if to > 0 {
		r.Ended = ago(to)
		r.Lifetime = r.Ended.Sub(r.Started)
	}
	return r
}

// gapsOf writes the gaps between requests, the newest first, in seconds ago.
func gapsOf(requests ...inspect.Request) string {
	rows := make([]requestRow, len(requests))
	for i, v := range judge(requests, epoch) {
		rows[i] = requestRow{requests[i], v}
	}
	c := covered(rows, epoch)
	var words []string
	for _, g := range c.gaps {
		text := duration(epoch.Sub(g.from)) + "-" + duration(epoch.Sub(g.to))
		if g.open {
			text += " open"
		}
		words = append(words, text)
	}
	return strings.Join(words, ", ")
}

func TestGapsAreTimesWithoutAStream(t *testing.T) {
	list := func(from, to float64) inspect.Request {
		return ranFrom(inspect.VerbList, from, to, inspect.OutcomeOK, 5)
	}
	watch := func(from, to float64, items int) inspect.Request {
		return ranFrom(inspect.VerbWatch, from, to, inspect.OutcomeClosed, items)
	}
	failed := func(from, to float64, items int) inspect.Request {
		return ranFrom(inspect.VerbWatch, from, to, inspect.OutcomeFailed, items)
	}
	marked := ranFrom(inspect.VerbWatchList, 20, 0, inspect.OutcomeOK, 5)
	marked.Marked = epoch.Add(-15 * time.Second)
	for _, c := range []struct {
		name     string
		requests []inspect.Request
		want     string
	}{
		{"nothing was asked", nil, ""},
		{"only lists", []inspect.Request{list(9, 8)}, ""},
		{"one is open", []inspect.Request{watch(8, 0, 3), list(9, 8)}, ""},
		{"one followed the other", []inspect.Request{watch(5, 0, 3), watch(8, 5, 0)}, ""},
		{"a list came in between", []inspect.Request{watch(3, 0, 3), list(4, 3), watch(8, 5, 3)}, "5.0s-3.0s"},
		{"failures do not count, unless something came", []inspect.Request{watch(2, 0, 1), failed(4, 3, 0), failed(6, 5, 2), watch(9, 7, 0)}, "5.0s-2.0s, 7.0s-6.0s"},
		{"none is open", []inspect.Request{failed(4, 3, 0), watch(9, 7, 1)}, "7.0s-0s open"},
		{"a streamed list follows from its end marker on", []inspect.Request{marked, watch(60, 30, 1)}, "30s-15s"},
		{"two at a time", []inspect.Request{watch(3, 0, 1), watch(6, 5, 1), watch(9, 4, 1)}, "4.0s-3.0s"},
	} {
		if got := gapsOf(c.requests...); got != c.want {
			t.Errorf("%s: gaps %q, want %q", c.name, got, c.want)
		}
	}
}

func TestTheRequestsTogetherAreSummedUp(t *testing.T) {
	f := newFake(20).requested(60)
	f.requests = []inspect.Request{
		ranFrom(inspect.VerbWatch, 3, 0, inspect.OutcomeOpen, 7),
		ranFrom(inspect.VerbWatch, 200, 5, inspect.OutcomeClosed, 40),
		ranFrom(inspect.VerbWatch, 500, 200, inspect.OutcomeClosed, 2),
		ranFrom(inspect.VerbList, 501, 500, inspect.OutcomeOK, 20),
	}
	u := newUser(t, f, 170, 40).press("7")
	u.expect("followed 99% of 8m20s", "2.0s in 1 gap", "WATCH     ○ closed               2      5m      42", "LIST      ✓ complete")
	// Where everything was followed, nothing is said to be missing.
	f.requests = f.requests[:1]
	u.look()
	u.expect("followed 100% of 3s", "none: one stream followed the other")
	f.requests = f.requests[:0]
	u.look()
	u.expect("no requests yet", "not yet: no stream has been open")
}
