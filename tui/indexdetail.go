package tui

import (
	"context"
	"strconv"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/informeter/informeter/engine/inspect"
)

// indexCheck is what came of computing an index anew.
type indexCheck struct {
	running bool
	at      time.Time
	result  inspect.IndexCheck
	err     error
}

// verify computes an index anew and compares.
func (p *indicesScreen) verify(name string) tea.Cmd {
	if name == "" || p.checks[name] != nil && p.checks[name].running {
		return nil
	}
	p.checks[name] = &indexCheck{running: true}
	p.m.note = "computing " + name + " anew"
	return p.m.inquire(func(ctx context.Context, i inspect.Inspector) func(*Model) {
		result, err := i.VerifyIndex(ctx, name)
		return func(m *Model) {
			p.checks[name] = &indexCheck{at: m.frame.at, result: result, err: err}
			switch {
			case unsupported(err):
				m.note = "not possible here: " + err.Error()
			case err != nil:
				m.note = err.Error()
			default:
				m.note = verified(&result)
			}
		}
	})
}

// indexDetail says all about the index whose buckets are shown.
func (p *indicesScreen) indexDetail(t *theme, v *inspect.IndexVitals, w int) []string {
	if v == nil {
		return nil
	}
	const label = 9
	var lines []string
	say := func(name string, parts ...part) {
		l := newLine(w).skip(gutter).left(t.muted, name, label)
		for _, c := range parts {
			l.put(c.st, c.s)
		}
		lines = append(lines, l.String())
	}
	lines = append(lines, newLine(w).skip(gutter).put(t.title, inspect.IndexName(v.Name)).String())
	switch {
	case v.Expr != "":
		say("made of", part{"", v.Expr})
	case v.Name != inspect.IndexName(v.Name):
		say("made of", part{"", "the field " + inspect.IndexName(v.Name)}, part{t.muted, ", by controller-runtime"})
	default:
		say("made of", part{t.muted, "a function of the program"})
	}
	if v.Time.Count > 0 {
		say("cost", part{t.muted, "p50 "}, part{"", duration(v.Time.P50)}, part{t.muted, "  p99 "}, part{"", duration(v.Time.P99)}, part{t.muted, "  max "}, part{"", duration(v.Time.Max)}, part{t.muted, " an object"})
	}
	if v.LargestObjects > 0 {
		name := bucketName(t, v.Name, v.Largest)
		share := " (" + percent(v.LargestObjects, v.Entries)
		times := ""
		if mean := float64(v.Entries) / float64(max(v.Buckets, 1)); mean > 0 && v.Buckets > 1 {
			times = ", " + strconv.FormatFloat(float64(v.LargestObjects)/mean, 'f', 1, 64) + " × the mean"
		}
		rest := " " + number(v.LargestObjects)
		room := w - gutter - label - width(rest) - width(share) - 1
		if room-width(times) < min(width(clean(name.s)), 12) {
			times = "" // rather than the name of it
		}
		name.s = cutKey(clean(name.s), max(room-width(times), 8))
		say("largest", name, part{"", rest}, part{t.muted, share + times + ")"})
	}
	if v.Empty > 0 {
		say("empty", part{t.warn, count(v.Empty, "object", "objects") + " under the empty value"})
	}
	if v.Unindexed > 0 {
		say("no value", part{"", count(v.Unindexed, "object is", "objects are") + " in no bucket"})
	}
	lines = append(lines, p.failureLines(t, v, w, label)...)
	lines = append(lines, p.checkLines(t, w, label)...)
	return append(lines, sizeLines(t, p.sizes, w, label)...)
}

// failureLines says why the function fails, and on what.
func (p *indicesScreen) failureLines(t *theme, v *inspect.IndexVitals, w, label int) []string {
	if v.Errors == 0 {
		return nil
	}
	lines := labelled(t, w, label, "errors", t.warn, "⚠ "+failing(v.Errors, p.m.snapshot().Store.Objects, v.LastError))
	if v.LastErrorKey != "" {
		l := newLine(w).skip(gutter).left("", "", label).put(t.muted, "last ")
		lines = append(lines, l.key("", v.LastErrorKey, l.room()).String())
	}
	return lines
}

// failing says on how many of the objects a function fails, and why: of several
// reasons the last.
func failing[T int | uint64](n T, all int, reason string) string {
	s := number(n) + " of " + number(max(all, int(n))) + " failed"
	if reason != "" {
		s += ": " + firstLine(reason)
	}
	return s
}

// labelled wraps text behind a label.
func labelled(t *theme, w, label int, name string, st style, text string) []string {
	const most = 4
	var lines []string
	for _, s := range wrap(clean(text), max(w-gutter-label-1, 1), most) {
		lines = append(lines, newLine(w).skip(gutter).left(t.muted, name, label).put(st, s).String())
		name = ""
	}
	return lines
}

// checkLines says what came of computing the index anew.
func (p *indicesScreen) checkLines(t *theme, w, label int) []string {
	c := p.checks[p.index]
	if c == nil {
		return nil
	}
	line := func(name string, st style, s string) string {
		return newLine(w).skip(gutter).left(t.muted, name, label).put(st, s).String()
	}
	switch {
	case c.running:
		return []string{line("anew", t.muted, "computing…")}
	case c.err != nil:
		return labelled(t, w, label, "anew", t.bad, firstLine(c.err.Error()))
	case c.result.Wrong == 0 && c.result.Failed == 0:
		return []string{line("anew", t.ok, "✓ "+count(c.result.Objects, "object", "objects")+" agree, in "+duration(c.result.Took)+", "+since(p.m.frame.at, c.at)+" ago")}
	case c.result.Wrong == 0:
		return labelled(t, w, label, "anew", t.warn, "⚠ "+failing(c.result.Failed, c.result.Objects, c.result.FailedError)+" – as before; "+since(p.m.frame.at, c.at)+" ago")
	}
	lines := []string{line("anew", t.warn, "⚠ "+number(c.result.Wrong)+" of "+number(c.result.Objects)+" are in other buckets than the function says")}
	for i := range c.result.Examples[:min(len(c.result.Examples), 4)] {
		e := &c.result.Examples[i]
		now := "now " + bucketList(e.Now)
		if e.Error != "" {
			now = firstLine(e.Error)
		}
		l := newLine(w).skip(gutter).left("", "", label)
		l.key("", e.Key, min(width(clean(e.Key)), max(l.room()/2, 10))).put(t.muted, " in "+bucketList(e.Indexed)+", "+now)
		lines = append(lines, l.String())
	}
	return lines
}

func bucketList(values []string) string {
	if len(values) == 0 {
		return "none"
	}
	names := make([]string, len(values))
	for i, v := range values {
		names[i] = strconv.Quote(v)
	}
	return strings.Join(names, ", ")
}

// sizeLines draws how many buckets there are of each size.
func sizeLines(t *theme, sizes []int, w, label int) []string {
	if len(sizes) == 0 {
		return nil
	}
	most := 0
	for _, n := range sizes {
		most = max(most, n)
	}
	const counted = 7
	class := 0
	for i := range sizes {
		class = max(class, width(sizeClass(i)))
	}
	cells := min(w-gutter-label-class-counted-3, 24)
	if cells < 4 {
		return nil
	}
	name := "sizes"
	lines := make([]string, 0, len(sizes))
	for i, n := range sizes {
		if n == 0 && len(lines) == 0 {
			continue // there are none so small
		}
		l := newLine(w).skip(gutter).left(t.muted, name, label).right(t.muted, sizeClass(i), class).right("", number(n), counted).skip(2)
		lines = append(lines, l.put(t.accent, bar(float64(n), float64(most), cells)).String())
		name = ""
	}
	return lines
}

// sizeClass names the buckets that inspect.BucketPage.Sizes counts at i.
func sizeClass(i int) string {
	low, high := 1<<i, 2<<i-1
	if high == low {
		return number(low)
	}
	return number(low) + "–" + compact(uint64(high))
}
