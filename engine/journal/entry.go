package journal

import (
	"time"

	"github.com/informeter/informeter/engine/inspect"
)

// entry is what the journal knows of one key in the store. There may be a
// million: it is laid out to fit 128 bytes.
type entry struct {
	key     string
	object  any    // as it was last observed
	version string // its resource version
	writer  string // its last field manager
	// history is what happened to the key before, and this; nil where this is
	// all there is to know.
	history *history
	// score orders keys by rate, see rates; 0 if the key has not changed.
	score   float64
	changed int64  // when the last new version came, Unix nanoseconds; 0 if none did
	created uint32 // Unix seconds; 0 where the object has no creation time
	updates uint32
	// noOps <= compared <= updates.
	noOps, compared uint32
	// size of object on the wire; 0 until somebody asks.
	size int32
	// When the object came, and when it was last played back or listed again
	// without being new, since it came so many times. In milliseconds since the
	// journal began.
	since, resynced, relisted uint32
	resyncs, relists          uint16
	// views has the bits of the views that have the key among their rows. The
	// bit of a view that has not come to the key yet means nothing.
	views uint8
	kind  Kind // how the object came, and why
	cause inspect.Cause
	round uint8 // of catching up, in which the key was seen last
}

// row is the entry as readers see it.
func (e *entry) row(rates *rates, now time.Time) inspect.Row {
	if e.size == 0 {
		e.size = wireSize(e.object)
	}
	return inspect.Row{
		Key:             e.key,
		ResourceVersion: e.version,
		Created:         fromUnix(e.created),
		Changed:         fromUnixNano(e.changed),
		Updates:         uint64(e.updates),
		Rate:            rates.rate(e.score, now),
		NoOps:           uint64(e.noOps),
		Compared:        uint64(e.compared),
		Writer:          e.writer,
		Size:            int(e.size),
	}
}

// unix is t in Unix seconds, 0 for the zero time and for what does not fit.
func unix(t time.Time) uint32 {
	if s := t.Unix(); s > 0 && s <= 1<<32-1 {
		return uint32(s)
	}
	return 0
}

func fromUnix(s uint32) time.Time {
	if s == 0 {
		return time.Time{}
	}
	return time.Unix(int64(s), 0)
}

func fromUnixNano(ns int64) time.Time {
	if ns == 0 {
		return time.Time{}
	}
	return time.Unix(0, ns)
}
