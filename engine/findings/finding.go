package findings

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"
)

// Severity says how much a finding matters.
type Severity uint8

// The severities, from the least.
const (
	// Info explains something that looks frightening and is not, or that may
	// become something.
	Info Severity = iota
	// Warning is what costs something now or will soon.
	Warning
	// Error is what makes the cache or an index wrong, or lets a handler miss
	// something.
	Error
)

var severityNames = [...]string{"info", "warning", "error"}

// Severities returns the severities' names, from the least.
func Severities() []string { return slices.Clone(severityNames[:]) }

// ParseSeverity returns the severity of that name.
func ParseSeverity(name string) (Severity, error) {
	i := slices.Index(severityNames[:], name)
	if i < 0 {
		return 0, fmt.Errorf("unknown severity %q: use %s", name, strings.Join(severityNames[:], ", "))
	}
	return Severity(i), nil
}

// String returns the severity as the screens and the wire write it.
func (s Severity) String() string {
	if int(s) < len(severityNames) {
		return severityNames[s]
	}
	return fmt.Sprintf("unknown %d", uint8(s))
}

// MarshalText writes the severity as String does.
func (s Severity) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// UnmarshalText reads what MarshalText wrote.
func (s *Severity) UnmarshalText(text []byte) error {
	parsed, err := ParseSeverity(string(text))
	*s = parsed
	return err
}

// Place is where a finding can be seen: a page of what an informer shows of
// itself. Subject is a row there, if it is not empty.
type Place string

// The places. A subject on the PlaceHandlers and PlaceResync pages is a handler,
// on PlaceIndices an index, on PlaceStore a key.
const (
	PlacePipeline Place = "pipeline"
	PlaceQueue    Place = "queue"
	PlaceStore    Place = "store"
	PlaceIndices  Place = "indices"
	PlaceHandlers Place = "handlers"
	PlaceResync   Place = "resync"
	PlaceRequests Place = "requests"
)

// Finding is one problem, with what shows it and what to do about it. Its texts
// have no control characters, whatever a server or a handler said.
type Finding struct {
	// Rule names the kind of problem, see Rules; Informer the one that has it.
	Rule     string   `json:"rule"`
	Informer string   `json:"informer"`
	Severity Severity `json:"severity"`
	// Subject is the handler, the index or the key that has the problem; empty
	// if it is the informer itself.
	Subject string `json:"subject,omitempty"`
	Place   Place  `json:"place"`
	// Title is the problem in one sentence, in the past tense once it is over.
	Title string `json:"title"`
	// Evidence are the numbers that show it, with units, as of At.
	Evidence []string `json:"evidence"`
	// Next says what to do.
	Next string `json:"next"`
	// Since is when the problem began, as far as that is known, At when it was
	// last seen. Ended is when it was first seen to be over, the zero time until
	// then.
	Since time.Time `json:"since"`
	At    time.Time `json:"at"`
	Ended time.Time `json:"ended,omitzero"`

	// past is the title once it is over; without one, the title holds then, too.
	// passing is evidence for as long as it goes on: what will happen if it does.
	past    string
	passing []string
}

// Compare orders findings: what goes on before what has ended, the severe before
// the others, then the older first, then by name.
func Compare(a, b Finding) int {
	return cmp.Or(
		compareBool(!a.Ended.IsZero(), !b.Ended.IsZero()),
		cmp.Compare(b.Severity, a.Severity),
		a.Since.Compare(b.Since),
		cmp.Compare(a.Informer, b.Informer),
		cmp.Compare(a.Rule, b.Rule),
		cmp.Compare(a.Subject, b.Subject),
	)
}

// compareBool puts false before true.
func compareBool(a, b bool) int {
	switch {
	case a == b:
		return 0
	case b:
		return -1
	}
	return 1
}
