package inspect

import "time"

// Snapshot is what every stage of one informer was doing at one moment. The
// stages are read one after another, not under one lock: neighbouring numbers
// may differ by what passed in between.
type Snapshot struct {
	Generation uint64           `json:"generation"`
	At         time.Time        `json:"at"`
	Informer   InformerVitals   `json:"informer"`
	Reflector  ReflectorVitals  `json:"reflector"`
	Queue      QueueVitals      `json:"queue"`
	Handle     HandleVitals     `json:"handle"`
	Store      StoreVitals      `json:"store"`
	Indices    []IndexVitals    `json:"indices"`
	Listeners  []ListenerVitals `json:"listeners"`
	Resync     ResyncVitals     `json:"resync"`
	// Quarantine holds the newest 16 of what was set aside and is not well again,
	// the newest first: an entry goes when a newer state of the object passes the
	// stage where it failed, when the object is deleted, or when a list comes
	// without it.
	Quarantine []Quarantined `json:"quarantine,omitempty"`
	Requests   RequestVitals `json:"requests"`
	Lost       LostVitals    `json:"lost"`
	// Hot holds the few keys with the most updates, the hottest first, and
	// Identities the newest few keys whose object was replaced by another of the
	// same name, the newest first. Both are known only while somebody looks.
	Hot        []HotKey         `json:"hot,omitempty"`
	Identities []IdentityChange `json:"identities,omitempty"`
	// Traffic is what came over the wire; nil where nobody counts it.
	Traffic *TrafficVitals `json:"traffic,omitempty"`
	// Journal is what the explorer itself keeps; nil while nobody looks.
	Journal *JournalVitals `json:"journal,omitempty"`
}

// HotKey is a key that changes often.
type HotKey struct {
	Key      string  `json:"key"`
	Rate     float64 `json:"rate"` // updates a second, as in Row
	Updates  uint64  `json:"updates"`
	NoOps    uint64  `json:"noOps"`
	Compared uint64  `json:"compared"`
	// Writers are the field managers of the newest versions kept, each once, the
	// last one first; Turns how many times in a row the writer changed, and InTurn
	// how many of the Writers, from the first, wrote the versions of these turns.
	Writers []string `json:"writers,omitempty"`
	Turns   int      `json:"turns,omitempty"`
	InTurn  int      `json:"inTurn,omitempty"`
	// Paths are what the newest compared updates changed, noise apart, the most
	// frequent first.
	Paths []string `json:"paths,omitempty"`
}

// IdentityChange is one object that took the name of another without a deletion
// in between that handlers were told of.
type IdentityChange struct {
	Key  string    `json:"key"`
	From string    `json:"fromUID"`
	To   string    `json:"toUID"`
	At   time.Time `json:"at"`
	// Split: handlers were told of it as a deletion and an addition.
	Split bool `json:"split,omitempty"`
}

// TrafficVitals says what an informer's watches carried over the wire.
type TrafficVitals struct {
	Streams uint64 `json:"streams"`
	Bytes   uint64 `json:"bytes"`
	Events  uint64 `json:"events"`
	// ByteRate is bytes a second.
	ByteRate float64 `json:"byteRate"`
	// Undecodable counts objects that could not be decoded; the streams went on
	// without them. Quarantine holds the newest, the newest first.
	Undecodable uint64        `json:"undecodable"`
	Quarantine  []Undecodable `json:"quarantine,omitempty"`
}

// Undecodable is an event whose object could not be decoded.
type Undecodable struct {
	At     time.Time `json:"at"`
	Event  string    `json:"event"`
	Reason string    `json:"reason"`
	// Frame is the event as it came, shortened, unless it may hold secrets; Size
	// is its whole length in bytes.
	Frame string `json:"frame,omitempty"`
	Size  int    `json:"size"`
}

// JournalVitals says how much the explorer remembers, and what that costs.
type JournalVitals struct {
	// Keys is how many keys are kept in order, KeyBytes about how much memory
	// that takes: it grows with the store.
	Keys     int   `json:"keys"`
	KeyBytes int64 `json:"keyBytes"`
	// Events and Versions are what biographies hold, Bytes about how much memory
	// they take; it stays below Bound.
	Events   int   `json:"events"`
	Versions int   `json:"versions"`
	Bytes    int64 `json:"bytes"`
	Bound    int64 `json:"bound"`
	// Since is when it began to look.
	Since time.Time `json:"since"`
}

// State is where an informer stands in its single life.
type State string

// An informer is created, runs once, and is stopped for good.
const (
	StateCreated State = "created"
	StateRunning State = "running"
	StateStopped State = "stopped"
)

// InformerVitals says which informer this is.
type InformerVitals struct {
	// Name is unique in its registry: pods, deployments.apps, pods#2.
	Name string `json:"name"`
	// Type describes the objects, as the reflector names them: *v1.Pod.
	Type string `json:"type"`
	// Resource, Scope and Origin say what is watched, where, and on whose word;
	// they are empty where the embedder did not say.
	Resource string    `json:"resource,omitempty"`
	Scope    string    `json:"scope,omitempty"`
	Origin   string    `json:"origin,omitempty"`
	State    State     `json:"state"`
	Created  time.Time `json:"created"`
	// Started and SyncedAt are the zero time until it happened.
	Started  time.Time `json:"started,omitzero"`
	Synced   bool      `json:"synced"`
	SyncedAt time.Time `json:"syncedAt,omitzero"`
}

// ReflectorVitals says how the informer is connected to its server.
type ReflectorVitals struct {
	Phase Phase     `json:"phase"`
	Since time.Time `json:"since,omitzero"` // when the phase began
	// ResourceVersion is the last one enqueued: what the next WATCH will ask
	// for. The store may still be behind it, see StoreVitals.
	ResourceVersion string `json:"resourceVersion"`
	// Error is the failure that the reflector has not yet recovered from, empty
	// if there is none. ErrorOp names the request that failed ("list",
	// "watch", "watch-list"), ErrorReason the API reason ("Forbidden"), if the
	// server gave one.
	Error       string `json:"error"`
	ErrorOp     string `json:"errorOp,omitempty"`
	ErrorReason string `json:"errorReason,omitempty"`
	// Failures counts the attempts that failed since the last one that worked.
	Failures    int       `json:"failures"`
	NextAttempt time.Time `json:"nextAttempt,omitzero"`
	// Received and Expected are the progress of the LIST or initial stream
	// under way: objects so far and in all. Expected is -1 where nobody knows.
	Received int `json:"received"`
	Expected int `json:"expected"`

	Added     uint64 `json:"added"`
	Updated   uint64 `json:"updated"`
	Deleted   uint64 `json:"deleted"`
	Bookmarks uint64 `json:"bookmarks"`
	// Skipped counts events and listed objects that were not enqueued: of another
	// type than expected, of an unknown kind, or refused by the queue, a transform
	// or the key function. LastSkipped says which one was the last, and why.
	Skipped     uint64 `json:"skipped,omitempty"`
	LastSkipped string `json:"lastSkipped,omitempty"`
	// Relists counts the completed lists and initial streams after the first.
	Relists      uint64    `json:"relists"`
	EventRate    float64   `json:"eventRate"`
	LastEvent    time.Time `json:"lastEvent,omitzero"`
	LastBookmark time.Time `json:"lastBookmark,omitzero"`
}

// QueueVitals says what waits between the reflector and HandleDeltas.
type QueueVitals struct {
	Kind string `json:"kind"` // DeltaFIFO or InOrder
	// Deltas waiting, on how many Keys, standing for how many Objects (the
	// three differ where several deltas wait for one key, or one entry carries
	// a whole list).
	Deltas  int `json:"deltas"`
	Keys    int `json:"keys"`
	Objects int `json:"objects"`
	// InFlight counts deltas popped and not yet applied.
	InFlight int           `json:"inFlight"`
	Age      time.Duration `json:"ageNs"` // of the oldest delta waiting
	// Peak is the most deltas that ever waited.
	Peak int `json:"peak"`
	// Compressed counts deltas that took the place of one before them; 0 unless
	// the queue is told to compress.
	Compressed uint64 `json:"compressed,omitempty"`
	// From BackPressureAt waiting deltas on, the reflector is held back;
	// BackPressure says that it is right now. Held counts how often it was.
	BackPressureAt int     `json:"backPressureAt"`
	BackPressure   bool    `json:"backPressure"`
	Held           uint64  `json:"held"`
	ArrivalRate    float64 `json:"arrivalRate"` // deltas a second in
	PopRate        float64 `json:"popRate"`     // deltas a second out
	// Wait is how long deltas waited from arrival to Pop.
	Wait Latency `json:"wait"`
	Gate Gate    `json:"gate"`
}

// GateMode says what the gate before Pop lets through.
type GateMode string

// A gate is open, closed, or lets through so many a second.
const (
	GateRunning GateMode = "running"
	GatePaused  GateMode = "paused"
	GateLimited GateMode = "limited"
)

// Gate is the state of the gate before Pop.
type Gate struct {
	Mode GateMode `json:"mode"`
	// Rate is how many deltas a second a limited gate lets through.
	Rate float64 `json:"rate,omitempty"`
	// Steps is how many deltas a closed gate still owes.
	Steps int       `json:"steps,omitempty"`
	Since time.Time `json:"since,omitzero"`
}

// HandleVitals says how HandleDeltas fares: the store change, the index moves
// and the hand-over to the processor, for one delta after the other.
type HandleVitals struct {
	Deltas uint64  `json:"deltas"`
	Rate   float64 `json:"rate"`
	// Time is per delta: a batch's time divided by the deltas in it.
	Time Latency `json:"time"`
	// Quarantined counts how often something could not be enqueued or applied and
	// was set aside, what is well again included.
	Quarantined uint64 `json:"quarantined"`
	LastError   string `json:"lastError,omitempty"`
	LastKey     string `json:"lastErrorKey,omitempty"`
}

// Quarantined is one object, or one key's newest failure, that was set aside so
// that its neighbours could go on.
type Quarantined struct {
	// Key is empty where the object has none.
	Key             string `json:"key"`
	ResourceVersion string `json:"resourceVersion,omitempty"`
	// Stage names what failed: "key", "transform" or "apply".
	Stage string    `json:"stage"`
	Error string    `json:"error"`
	At    time.Time `json:"at"`
	// Times counts how often it happened to this key at this stage.
	Times uint64 `json:"times"`
}

// StoreVitals says what the cache holds.
type StoreVitals struct {
	Objects int `json:"objects"`
	// ResourceVersion is how far the store has come: what happened until then has
	// been applied, or set aside and listed in the Quarantine. Behind says that a
	// newer one is on its way: enqueued, and not dealt with yet.
	ResourceVersion string `json:"resourceVersion"`
	Behind          bool   `json:"behind"`
	// Added, Updated and Deleted count changes of the store, Unchanged the
	// writes that put the same resource version again.
	Added     uint64  `json:"added"`
	Updated   uint64  `json:"updated"`
	Unchanged uint64  `json:"unchanged"`
	Deleted   uint64  `json:"deleted"`
	Rate      float64 `json:"rate"`
}

// RequestVitals counts the requests made so far.
type RequestVitals struct {
	Lists      uint64 `json:"lists"`
	WatchLists uint64 `json:"watchLists"`
	Watches    uint64 `json:"watches"`
	// Failed counts those that ended with an error, Expired those among them that
	// asked for a version the server had forgotten (410): a list makes up for that.
	Failed  uint64 `json:"failed"`
	Expired uint64 `json:"expired"`
	// Last holds the newest few, the newest first; Inspector.Requests has more.
	Last []Request `json:"last"`
}

// Unanswered returns the request that the server has not begun to answer; nil if
// there is none.
func (v *RequestVitals) Unanswered() *Request {
	if len(v.Last) == 0 || !v.Last[0].Unanswered {
		return nil
	}
	return &v.Last[0]
}

const (
	// A stream is answered at once, though what it brings comes later; a list when
	// the server has made all of it, which takes several seconds for a large one.
	StreamOverdue = 10 * time.Second
	ListOverdue   = 20 * time.Second
)

// Overdue says whether the server should have begun to answer by now. Whatever says
// so, on any screen and in any finding, says it from here.
func (r *Request) Overdue(now time.Time) bool {
	patience := StreamOverdue
	if r.Verb == VerbList {
		patience = ListOverdue
	}
	return r.Unanswered && now.Sub(r.Started) >= patience
}

// LostVitals counts what bounded buffers had to let go of.
type LostVitals struct {
	// Requests forgotten because only so many are remembered.
	Requests uint64 `json:"requests"`
	// Journal counts notifications the explorer's journal skipped because it
	// was behind its bound; the key list was then rebuilt from the store.
	Journal uint64 `json:"journal"`
	// Moments overwritten before anybody read them.
	Moments uint64 `json:"moments"`
	// Versions and events of biographies let go of to stay within bounds.
	History uint64 `json:"history"`
}

// Latency sums up how long something took, over the last ten to twenty
// seconds in which it happened. Quantiles are exact to one eighth.
type Latency struct {
	Count uint64        `json:"count"`
	P50   time.Duration `json:"p50Ns"`
	P99   time.Duration `json:"p99Ns"`
	Max   time.Duration `json:"maxNs"`
}

// Summary is one informer in one line.
type Summary struct {
	Name     string `json:"name"`
	Type     string `json:"type"`
	Scope    string `json:"scope,omitempty"`
	State    State  `json:"state"`
	Phase    Phase  `json:"phase"`
	Synced   bool   `json:"synced"`
	Error    string `json:"error"`
	Objects  int    `json:"objects"`
	Deltas   int    `json:"deltas"`
	Handlers int    `json:"handlers"`
	// Slowest is the listener with the most pending notifications.
	Slowest        string  `json:"slowest,omitempty"`
	SlowestPending uint64  `json:"slowestPending"`
	EventRate      float64 `json:"eventRate"`
	// Paused says that the gate is closed.
	Paused bool `json:"paused"`
}
