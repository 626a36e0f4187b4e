package inspect

import (
	"encoding/json"
	"time"
)

// BiographyRequest asks for what happened to one key.
type BiographyRequest struct {
	Key string `json:"key"`
	// UID, if not empty, finds the key by the UID of an object that has or had
	// it; Key is then ignored.
	UID string `json:"uid,omitempty"`
}

// Biography is what happened to one key since somebody looks.
type Biography struct {
	Generation uint64 `json:"generation"`
	Key        string `json:"key"`
	// Exists says that the key is in the store now.
	Exists bool `json:"exists"`
	// Since is when the explorer began to look.
	Since time.Time `json:"since"`
	// Events are in the order in which they happened; Forgotten counts older
	// ones that were let go of.
	Events    []KeyEvent `json:"events"`
	Forgotten uint64     `json:"forgotten,omitempty"`
}

// KeyEvent is one thing that happened to a key: a delta that was handled, or one
// that was not, and why.
type KeyEvent struct {
	// Seq is the number of the notification in the processor's log; 0 if nobody
	// was notified.
	Seq uint64    `json:"seq,omitempty"`
	At  time.Time `json:"at"`
	// Times is how often it happened in a row, if more than once: resyncs and
	// relists that find nothing new, and updates that were too many to be written
	// down one by one. At and everything else are of the last.
	Times int `json:"times,omitempty"`
	// Type is what handlers were told: added, updated or deleted.
	Type            string `json:"type"`
	Cause           Cause  `json:"cause"`
	ResourceVersion string `json:"resourceVersion,omitempty"`
	UID             string `json:"uid,omitempty"`
	Tombstone       bool   `json:"tombstone,omitempty"`
	// Version can be asked for with ObjectRequest and DiffRequest; 0 if the
	// object is not kept.
	Version uint64 `json:"version,omitempty"`
	Writer  string `json:"writer,omitempty"`
	// Changed are the first few paths that differ from the version before, noise
	// apart; Compared says that they were looked for.
	Changed  []string `json:"changed,omitempty"`
	Compared bool     `json:"compared,omitempty"`
	// Skipped says why handlers were not told, if they were not.
	Skipped string `json:"skipped,omitempty"`
	// Merged counts deltas of the key that waited in the queue together with this
	// one and were not handled by themselves, and MergedWhy says why: this one
	// stands for them.
	Merged    int    `json:"merged,omitempty"`
	MergedWhy string `json:"mergedWhy,omitempty"`
	// Waited is how long the delta took from the reflector to the store, nearly
	// all of it in the queue; 0 if that is not known.
	Waited time.Duration `json:"waitedNs,omitempty"`
	// Deliveries say when each handler got it, as far as that is still known.
	Deliveries []Delivery `json:"deliveries,omitempty"`
}

// The reasons why deltas are merged, as KeyEvent.MergedWhy has them: the queue
// compresses states of which a newer one waits, and one deletion is enough.
const (
	MergedCompressed = "compressed in the queue"
	MergedDeletions  = "deletions of what was about to be deleted"
)

// Delivery is one notification given to one handler.
type Delivery struct {
	Handler string `json:"handler"`
	// Began is when the handler was called, Took how long it took. Began is zero
	// where it is not known when that was, only that it was.
	Began time.Time     `json:"began,omitzero"`
	Took  time.Duration `json:"tookNs"`
	// Pending: it has not been called with it yet. Calling: the call has not
	// returned yet; Took is how long it has taken so far.
	Pending bool `json:"pending,omitempty"`
	Calling bool `json:"calling,omitempty"`
	// Merged: the handler was so far behind that it is not called with it at all,
	// but with what the key has become later, if anything.
	Merged bool `json:"merged,omitempty"`
}

// DiffRequest asks for what differs between two versions of one key.
type DiffRequest struct {
	Key string `json:"key"`
	// From and To are versions as in KeyEvent; 0 for what is in the store now.
	From uint64 `json:"from"`
	To   uint64 `json:"to"`
}

// Diff is what differs between two versions of an object.
type Diff struct {
	Key      string `json:"key"`
	FromRV   string `json:"fromResourceVersion"`
	ToRV     string `json:"toResourceVersion"`
	FromUID  string `json:"fromUID"`
	ToUID    string `json:"toUID"`
	Redacted bool   `json:"redacted,omitempty"`
	// Changes are in the order of their paths.
	Changes []Change `json:"changes"`
}

// Change is one path at which two versions differ. Where a whole object or list
// was added or removed, it is one change.
type Change struct {
	// Path is written as in .spec.containers[0].image; keys that are no plain
	// words stand in ["..."]. The place in a list is the one in the newer
	// version; of what was removed from a list, the one in the older.
	Path string `json:"path"`
	// From and To are the values; nil where there is none.
	From json.RawMessage `json:"from,omitempty"`
	To   json.RawMessage `json:"to,omitempty"`
	// Noise marks what changes with every write: resource version, generation,
	// managed fields and times.
	Noise bool `json:"noise,omitempty"`
	// Hidden says that the values are secret: only that they differ is told.
	Hidden bool `json:"hidden,omitempty"`
}

// MomentQuery asks for the newest moments.
type MomentQuery struct {
	// Key keeps those of one key.
	Key string `json:"key,omitempty"`
	// Handler asks how far one handler has got, in place of the newest: for the
	// Ahead moments that it has not returned from and will be told of first, and
	// the Limit before them that it has. Others are not among them. What it is
	// given to start with because it came late is, until it was given all of it;
	// of that, only the last few that it has returned from are known. A handler
	// of that name need not exist. Since is ignored.
	Handler string `json:"handler,omitempty"`
	Ahead   int    `json:"ahead,omitempty"`
	// Since keeps those with a greater sequence number.
	Since uint64 `json:"since,omitempty"`
	Limit int    `json:"limit"`
}

// MomentPage is the newest moments, the newest first.
type MomentPage struct {
	Generation uint64   `json:"generation"`
	Moments    []Moment `json:"moments"`
	// Lost counts those that were overwritten.
	Lost uint64 `json:"lost"`
}

// Moment is one delta's way through the pipeline.
type Moment struct {
	// Seq is the number of its notification in the processor's log; 0 for what one
	// handler is given to start with because it came late. That never was a delta:
	// it was neither Enqueued nor Popped.
	Seq   uint64 `json:"seq"`
	Key   string `json:"key"`
	Type  string `json:"type"` // added, updated or deleted
	Cause Cause  `json:"cause"`
	// Enqueued is when the reflector put it into the queue, Popped when it was
	// taken out, Published when the store had it and handlers were told.
	Enqueued  time.Time `json:"enqueued"`
	Popped    time.Time `json:"popped"`
	Published time.Time `json:"published"`
	// Deliveries say when each handler got it, as far as that is still known.
	Deliveries []Delivery `json:"deliveries,omitempty"`
}
