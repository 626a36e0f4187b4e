package inspect

import "fmt"

// Phase is what the reflector is busy with.
type Phase uint8

// The phases of a reflector. See package reflector for how they follow each
// other.
const (
	PhaseStarting      Phase = iota // created, or about to make the first request
	PhaseListing                    // LIST under way
	PhaseStreamingList              // WATCH with initial events, end marker not seen yet
	PhaseWatching                   // WATCH established
	PhaseBackingOff                 // waiting before the next attempt
	PhaseStopped                    // for good
)

var phaseNames = [...]string{"starting", "listing", "streaming list", "watching", "backing off", "stopped"}

// String returns the phase as the screens and the wire write it.
func (p Phase) String() string { return nameOf(phaseNames[:], uint8(p)) }

// MarshalText writes the phase as String does.
func (p Phase) MarshalText() ([]byte, error) { return []byte(p.String()), nil }

// UnmarshalText reads what MarshalText wrote.
func (p *Phase) UnmarshalText(text []byte) error {
	i, err := indexOf(phaseNames[:], "phase", string(text))
	*p = Phase(i)
	return err
}

// Cause is why a delta was enqueued or a notification sent.
type Cause uint8

// The causes. A queue knows CauseInitial, CauseRelist, CauseWatch and
// CauseResync; HandleDeltas turns CauseRelist into one of the two that say
// whether the relist changed the object; CauseLateJoin is the startup batch of
// a handler added to a running informer.
const (
	CauseWatch Cause = iota
	CauseInitial
	CauseLateJoin
	CauseRelist
	CauseRelistChanged
	CauseRelistUnchanged
	CauseResync
)

var causeNames = [...]string{"watch", "initial", "late join", "relist", "relist changed", "relist unchanged", "resync"}

// String returns the cause as the screens and the wire write it.
func (c Cause) String() string { return nameOf(causeNames[:], uint8(c)) }

// MarshalText writes the cause as String does.
func (c Cause) MarshalText() ([]byte, error) { return []byte(c.String()), nil }

// UnmarshalText reads what MarshalText wrote.
func (c *Cause) UnmarshalText(text []byte) error {
	i, err := indexOf(causeNames[:], "cause", string(text))
	*c = Cause(i)
	return err
}

// Add counts n notifications sent for cause c.
func (n *CauseCounts) Add(c Cause, count uint64) {
	switch c {
	case CauseInitial:
		n.Initial += count
	case CauseLateJoin:
		n.LateJoin += count
	case CauseWatch:
		n.Watch += count
	case CauseRelist, CauseRelistChanged:
		n.RelistChanged += count
	case CauseRelistUnchanged:
		n.RelistUnchanged += count
	case CauseResync:
		n.Resync += count
	}
}

// Total returns the sum over all causes.
func (n CauseCounts) Total() uint64 {
	return n.Initial + n.LateJoin + n.Watch + n.RelistChanged + n.RelistUnchanged + n.Resync
}

// Largest returns the cause with the largest count and that count.
func (n CauseCounts) Largest() (Cause, uint64) {
	best, most := CauseWatch, n.Watch
	for _, c := range []struct {
		cause Cause
		count uint64
	}{
		{CauseInitial, n.Initial},
		{CauseLateJoin, n.LateJoin},
		{CauseRelistChanged, n.RelistChanged},
		{CauseRelistUnchanged, n.RelistUnchanged},
		{CauseResync, n.Resync},
	} {
		if c.count > most {
			best, most = c.cause, c.count
		}
	}
	return best, most
}

func nameOf(names []string, i uint8) string {
	if int(i) < len(names) {
		return names[i]
	}
	return fmt.Sprintf("unknown %d", i)
}

func indexOf(names []string, what, name string) (uint8, error) {
	for i, n := range names {
		if n == name {
			return uint8(i), nil
		}
	}
	return 0, fmt.Errorf("unknown %s %q", what, name)
}
