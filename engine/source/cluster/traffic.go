package cluster

import (
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"
)

const (
	// keptFrames is how many undecodable objects are kept, the newest.
	keptFrames = 16
	// keptBytes is how much of each frame is.
	keptBytes = 4 << 10
)

// Metered is implemented by the ListerWatcher of every Source of this package.
type Metered interface {
	// Traffic says what the watches have received until now.
	Traffic() Traffic
}

// Traffic is what the watches of one resource have received. Streams that only
// client-go can read are not in it.
type Traffic struct {
	// Streams is the number of watches opened.
	Streams uint64
	// Bytes counts what the streams carried, lengths of frames included, and
	// Events what was in them, undecodable ones included.
	Bytes, Events uint64
	// Undecodable is the number of objects that could not be decoded.
	Undecodable uint64
	// Last is the stream that was opened last.
	Last StreamTraffic
	// Quarantine holds the newest undecodable objects, the newest first.
	Quarantine []Undecodable
}

// StreamTraffic is what one watch has received.
type StreamTraffic struct {
	// Opened is when the server's answer began; zero: no stream was opened.
	Opened        time.Time
	Bytes, Events uint64
}

// Undecodable is one object that came in an event and could not be decoded. The
// stream went on without it.
type Undecodable struct {
	At    time.Time
	Event watch.EventType
	// Reason is what the decoder says.
	Reason string
	// Frame is the event as it came, up to its first 4 KiB, and Size its whole
	// length. A Secret's frame is not kept, nor is what the decoder said of it.
	Frame []byte
	Size  int
}

// traffic collects the Traffic of one resource.
type traffic struct {
	hidden bool // frames may hold secrets
	// warn is told of the first undecodable object of each stream.
	warn func(string)
	name string

	mu      sync.Mutex
	streams uint64        // guarded by mu
	past    StreamTraffic // all streams but the last; guarded by mu
	last    *meter        // nil before the first stream; guarded by mu
	lost    uint64        // guarded by mu
	kept    []Undecodable // the newest last, up to keptFrames; guarded by mu
}

// meter counts what one stream receives.
type meter struct {
	opened        time.Time
	bytes, events atomic.Uint64
	warned        atomic.Bool
}

func newTraffic(t *target, warn func(string)) *traffic {
	return &traffic{
		name:   t.name(),
		warn:   warn,
		hidden: t.gvk.GroupKind() == schema.GroupKind{Kind: "Secret"},
	}
}

// begin returns the meter of a stream that has just been opened.
func (t *traffic) begin() *meter {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.last != nil {
		t.past.Bytes += t.last.bytes.Load()
		t.past.Events += t.last.events.Load()
	}
	t.streams++
	t.last = &meter{opened: time.Now()}
	return t.last
}

// setAside enters an object that could not be decoded.
func (t *traffic) setAside(m *meter, event watch.EventType, why error, frame []byte) {
	u := Undecodable{At: time.Now(), Event: event, Size: len(frame)}
	if t.hidden {
		u.Reason = fmt.Sprintf("<hidden: %d bytes>", len(frame))
	} else {
		u.Reason = shortened(why.Error())
		u.Frame = slices.Clone(frame[:min(len(frame), keptBytes)])
	}
	t.mu.Lock()
	t.lost++
	if len(t.kept) == keptFrames {
		t.kept = slices.Delete(t.kept, 0, 1)
	}
	t.kept = append(t.kept, u)
	t.mu.Unlock()
	if !m.warned.Swap(true) {
		t.warn(fmt.Sprintf("%s: an object can't be decoded and is left out: %s", t.name, u.Reason))
	}
}

// shortened returns text, of which decoders make as much as the object is long.
func shortened(text string) string {
	const limit = 500
	if len(text) <= limit {
		return text
	}
	return text[:limit] + "…"
}

// Traffic implements Metered.
func (t *traffic) Traffic() Traffic {
	t.mu.Lock()
	defer t.mu.Unlock()
	sum := Traffic{Streams: t.streams, Bytes: t.past.Bytes, Events: t.past.Events, Undecodable: t.lost}
	if t.last != nil {
		sum.Last = StreamTraffic{Opened: t.last.opened, Bytes: t.last.bytes.Load(), Events: t.last.events.Load()}
		sum.Bytes += sum.Last.Bytes
		sum.Events += sum.Last.Events
	}
	for _, u := range slices.Backward(t.kept) {
		u.Frame = slices.Clone(u.Frame)
		sum.Quarantine = append(sum.Quarantine, u)
	}
	return sum
}

// metered is a ListWatch whose watches are counted.
type metered struct {
	*cache.ListWatch
	*traffic
}
