package cmd

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
	"time"
	"unicode/utf8"

	"github.com/informeter/informeter/engine/findings"
	"github.com/informeter/informeter/engine/inspect"
)

// proseWidth is where lines of prose are broken.
const proseWidth = 96

// print writes what doctor saw.
func (e *examination) print(w io.Writer, format string) error {
	if format != "text" {
		return printAs(w, e, format)
	}
	var b strings.Builder
	e.watched(&b)
	for i := range e.Findings {
		b.WriteString("\n")
		e.finding(&b, &e.Findings[i])
	}
	b.WriteString("\n")
	wrapInto(&b, "", "", e.verdict())
	if hint := e.elsewhere(); hint != "" {
		wrapInto(&b, "", "", hint)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// watched says what was looked at, and for how long.
func (e *examination) watched(b *strings.Builder) {
	fmt.Fprintf(b, "watched for %s\n", waited(e.Watched))
	table := tabwriter.NewWriter(b, 0, 0, 2, ' ', 0)
	for i := range e.Informers {
		s := &e.Informers[i]
		// Writing into a strings.Builder never fails.
		_, _ = fmt.Fprintf(table, "  %s\t%s\t%s\t%s\t%s\n", printable(s.Name), printable(s.Scope), counted(s.Objects, "object"), counted(s.Handlers, "handler"), state(s))
	}
	_ = table.Flush()
}

// elsewhere says where there was nothing to look at because of the namespace that
// was chosen, most often by the kubeconfig; empty if there is no such place.
func (e *examination) elsewhere() string {
	var none []string
	for i := range e.Informers {
		s := &e.Informers[i]
		if s.Synced && s.Objects == 0 && strings.HasPrefix(s.Scope, "namespace ") {
			none = append(none, "no "+printable(s.Name)+" in "+printable(s.Scope))
		}
	}
	if len(none) == 0 {
		return ""
	}
	return "there are " + strings.Join(none, " and ") + "; -A looks in all namespaces"
}

// state is how an informer was in the end, in a word or two.
func state(s *inspect.Summary) string {
	switch {
	case s.State != inspect.StateRunning:
		return string(s.State)
	case !s.Synced:
		return "not synced, " + s.Phase.String()
	}
	return s.Phase.String()
}

// finding writes one finding: what it is in a line, then its sentence, the
// evidence, and the next step.
func (e *examination) finding(b *strings.Builder, f *findings.Finding) {
	subject := f.Informer
	if f.Subject != "" {
		subject += " " + f.Subject
	}
	when := "for " + lasted(e.at.Sub(f.Since))
	if !f.Ended.IsZero() {
		when = "over, after " + lasted(f.Ended.Sub(f.Since))
	}
	fmt.Fprintf(b, "%-9s%s  %s  (%s)\n", strings.ToUpper(f.Severity.String()), f.Rule, printable(subject), when)
	wrapInto(b, "         ", "         ", f.Title)
	for _, text := range f.Evidence {
		wrapInto(b, "           - ", "             ", text)
	}
	wrapInto(b, "  next   ", "         ", f.Next)
}

// verdict sums up.
func (e *examination) verdict() string {
	unsettled := findings.Unsettled(e.Informers)
	switch {
	case len(e.Findings) == 0 && unsettled != "":
		return "nothing can be said yet: " + unsettled
	case len(e.Findings) == 0:
		return "nothing found"
	}
	counts := map[findings.Severity]int{}
	for i := range e.Findings {
		counts[e.Findings[i].Severity]++
	}
	var parts []string
	for _, s := range []findings.Severity{findings.Error, findings.Warning} {
		if n := counts[s]; n > 0 {
			parts = append(parts, counted(n, s.String()))
		}
	}
	if n := counts[findings.Info]; n > 0 {
		parts = append(parts, counted(n, "remark"))
	}
	return "found " + strings.Join(parts, ", ")
}

// waited writes a duration that somebody has asked for: 1s and not 1.0s.
func waited(d time.Duration) string {
	return strings.Replace(inspect.Duration(d.Round(100*time.Millisecond)), ".0s", "s", 1)
}

// lasted writes a duration in whole seconds: how long a problem lasted is known
// no better.
func lasted(d time.Duration) string {
	return inspect.Duration(max(d, 0).Round(time.Second))
}

func counted(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

// wrapInto writes text after first, and what does not fit on a line after rest.
func wrapInto(b *strings.Builder, first, rest, text string) {
	line := first
	empty := true
	for _, word := range strings.Fields(text) {
		if !empty && utf8.RuneCountInString(line)+1+utf8.RuneCountInString(word) > proseWidth {
			b.WriteString(line + "\n")
			line, empty = rest, true
		}
		if !empty {
			line += " "
		}
		line, empty = line+word, false
	}
	b.WriteString(line + "\n")
}
