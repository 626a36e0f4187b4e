package tui

import (
	"strconv"
	"strings"

	"github.com/informeter/informeter/engine/inspect"
)

// requestDetail says everything about one request in at most h lines of w cells;
// the error takes what the rest leaves.
func requestDetail(t *theme, s *inspect.Snapshot, r *requestRow, w, h int) []string {
	const label = 9
	var lines []string
	row := func(name string, segments ...segment) {
		for i, l := range prose(segments, w-gutter-label, 3, 0) {
			if i > 0 {
				name = ""
			}
			lines = append(lines, newLine(w).skip(gutter).left(t.muted, name, label).slice(l, 0).String())
		}
	}
	glyph, st := outcomeMark(t, r)
	title := newLine(w).skip(gutter).put(t.title, string(r.Verb)+" no. "+strconv.FormatUint(r.ID, 10)).skip(3).
		put(st, glyph+" "+r.verdict.words)
	if meaning := " — " + clean(r.verdict.meaning); width(meaning) <= title.room() {
		lines = append(lines, title.put(t.muted, meaning).String())
	} else {
		lines = append(lines, title.String())
		for _, l := range wrap(clean(r.verdict.meaning), w-2*gutter, 3) {
			lines = append(lines, newLine(w).skip(gutter).put(t.muted, l).String())
		}
	}
	row("asked", askedSegments(t, &r.Request)...)
	row("got", gotSegments(t, &r.Request)...)
	if missed := notGranted(&r.Request); len(missed) > 0 {
		row("not got", seg(0, t.warn, strings.Join(missed, "; ")))
	}
	when := []segment{seg(0, "", "started "+clock(r.Started)+", "+ago(s.At, r.Started)+" ago")}
	if r.Ended.IsZero() {
		when = append(when, seg(0, "", "open for "+life(lasted(s.At, &r.Request))))
	} else {
		when = append(when, seg(0, "", "lasted "+duration(lasted(s.At, &r.Request))), seg(1, t.muted, "ended "+clock(r.Ended)))
	}
	if !r.Marked.IsZero() {
		when = append(when, seg(1, "", "complete after "+duration(r.Marked.Sub(r.Started))))
	}
	row("when", when...)
	if next := nextStep(s.At, &r.Request); next != "" {
		segments := []segment{seg(0, "", next)}
		if !r.NextAt.IsZero() {
			segments = append(segments, seg(1, t.muted, "at "+clock(r.NextAt)))
		}
		row("next", segments...)
	}
	lines = lines[:min(len(lines), max(h, 0))]
	if r.Error != "" {
		for i, l := range wrap(clean(inspect.PlainError(r.Error)), w-gutter-label-gutter, h-len(lines)) {
			name := ""
			if i == 0 {
				name = "error"
			}
			lines = append(lines, newLine(w).skip(gutter).left(t.muted, name, label).put("", l).String())
		}
	}
	return lines
}

func askedSegments(t *theme, r *inspect.Request) []segment {
	version := seg(0, "", "rv "+r.ResourceVersion)
	switch {
	case r.ResourceVersion == "" && r.Verb == inspect.VerbWatch:
		version = seg(0, "", "no rv: from now on")
	case r.ResourceVersion == "":
		version = seg(0, "", "no rv: the newest there is")
	case r.ResourceVersion == "0" && r.Verb == inspect.VerbList:
		version = seg(0, "", "rv 0: whatever the server has cached")
	}
	out := []segment{version}
	if r.Match != "" {
		out = append(out, seg(1, "", "match "+r.Match))
	}
	if r.Limit > 0 {
		out = append(out, seg(2, "", "limit "+number(r.Limit)+" a page"))
	}
	if r.Timeout > 0 {
		out = append(out, seg(2, "", "timeout "+period(r.Timeout)))
	} else if r.Verb != inspect.VerbList {
		out = append(out, seg(3, t.muted, "no timeout"))
	}
	return out
}

func gotSegments(t *theme, r *inspect.Request) []segment {
	out := []segment{seg(0, t.muted, "no rv")}
	if r.Returned != "" {
		out[0] = seg(0, "", "rv "+r.Returned)
	}
	if r.Code != 0 {
		out = append(out, seg(0, "", "HTTP "+strconv.Itoa(r.Code)))
	}
	if !r.Marked.IsZero() {
		out = append(out, seg(0, "", count(max(r.Initial, 0), "initial item", "initial items")), seg(0, "", count(max(r.Items-r.Initial, 0), "event", "events")+" since"))
	} else {
		out = append(out, seg(0, "", count(max(r.Items, 0), "item", "items")))
	}
	if r.Verb == inspect.VerbList {
		return append(out, seg(1, "", "on "+count(max(r.Pages, 0), "page", "pages")))
	}
	return append(out, seg(1, "", count(max(r.Bookmarks, 0), "bookmark", "bookmarks")))
}
