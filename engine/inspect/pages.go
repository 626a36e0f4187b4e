package inspect

import (
	"encoding/json"
	"time"
)

// Query asks for a window of objects.
//
// The window is anchored at a key, so that it stands still while objects come
// and go above it: it begins Offset rows after (or, negative, before) the first
// row whose key is not less than Cursor. The window is then moved so that it
// lies inside the matching rows: an Offset past the end shows the last rows.
//
// In any other order than that of the keys, the anchor is the row of Cursor,
// wherever that now is; once the key is gone, the rank it had when it was last
// asked for. Without a Cursor the window is anchored by rank alone. Rows that are
// equal in the order stand in the order of their keys, whether Desc or not.
type Query struct {
	// Filter is what ParseFilter takes; empty keeps all.
	Filter string `json:"filter,omitempty"`
	// Sort names the column; empty is SortKey. ErrUnsupported for a column this
	// informer cannot sort by.
	Sort Sort `json:"sort,omitempty"`
	Desc bool `json:"desc,omitempty"`
	// Cursor is the anchor, see above; empty is the first row.
	Cursor string `json:"cursor,omitempty"`
	Offset int    `json:"offset,omitempty"`
	// Limit is how many rows to return at most; 0 returns none, only counts.
	Limit int `json:"limit"`
}

// Sort is a column to sort by.
type Sort string

// The columns to sort by. SortObjects is for buckets only; all but SortKey need
// somebody who looks, see Row. Resource versions are compared as numbers where
// they are numbers, SortNoOps is by how many updates changed nothing.
const (
	SortKey     Sort = "key"
	SortObjects Sort = "objects"
	SortVersion Sort = "rv"
	SortAge     Sort = "age"
	SortChanged Sort = "changed"
	SortUpdates Sort = "updates"
	SortRate    Sort = "rate"
	SortNoOps   Sort = "noops"
	SortWriter  Sort = "writer"
	SortSize    Sort = "size"
)

// The columns to sort a queue by, besides SortKey and SortAge, that of the oldest
// delta: the order in which they will be popped, how many deltas wait for a key,
// and the name of the cause of the newest one that an item holds.
const (
	SortPosition Sort = "position"
	SortDeltas   Sort = "deltas"
	SortCause    Sort = "cause"
)

// Page is a window of objects.
type Page struct {
	Generation uint64 `json:"generation"`
	// Total counts all objects, Matched those that passed the filter.
	Total   int `json:"total"`
	Matched int `json:"matched"`
	// Scanned counts the objects that filter and order have been worked out for.
	// While it is less than Total the page shows what is known so far, and the
	// same query asked again goes on from there.
	Scanned int `json:"scanned"`
	// Start is the rank of the first row among the matching ones.
	Start int   `json:"start"`
	Rows  []Row `json:"rows"`
}

// Row is one object in a list. What is counted is counted since the explorer
// opened.
type Row struct {
	Key             string `json:"key"`
	ResourceVersion string `json:"resourceVersion"`
	// Created is the object's own creation time.
	Created time.Time `json:"created,omitzero"`
	// Changed is when this informer last stored a new version; zero if it has seen
	// none. Updates counts those that replaced one: an addition is no update.
	Changed time.Time `json:"changed,omitzero"`
	Updates uint64    `json:"updates"`
	// Rate is updates a second, a moving average over about a minute.
	Rate float64 `json:"rate,omitempty"`
	// NoOps counts those of the Compared updates that changed nothing but
	// resource version, managed fields and times. Not every update is compared:
	// it is left out where there are more than time for it.
	NoOps    uint64 `json:"noOps,omitempty"`
	Compared uint64 `json:"compared,omitempty"`
	// Writer is the field manager that wrote last, empty if the object does not
	// say.
	Writer string `json:"writer,omitempty"`
	// Size is about how many bytes the object has on the wire; 0: not known.
	Size int `json:"size,omitempty"`
	// Waiting counts the deltas in the queue for this key.
	Waiting int `json:"waiting,omitempty"`
}

// QueueQuery asks for a window of the queue, by rank.
type QueueQuery struct {
	Filter string `json:"filter,omitempty"`
	// Sort names the column; empty is SortPosition, in which keys in flight come
	// first. Rows that are equal in another order stand in that one, whether Desc or
	// not. ErrUnsupported for a column that a queue cannot be sorted by.
	Sort   Sort `json:"sort,omitempty"`
	Desc   bool `json:"desc,omitempty"`
	Offset int  `json:"offset,omitempty"`
	Limit  int  `json:"limit"`
}

// QueuePage is a window of the keys that wait.
type QueuePage struct {
	Generation uint64 `json:"generation"`
	// Deltas and Keys count everything that waits, Matched the keys that passed
	// the filter.
	Deltas  int         `json:"deltas"`
	Keys    int         `json:"keys"`
	Matched int         `json:"matched"`
	Start   int         `json:"start"`
	Items   []QueueItem `json:"items"`
}

// QueueItem is one key in the queue with the deltas that wait for it.
type QueueItem struct {
	Key string `json:"key"`
	// Position counts from the head, 0; -1 while in flight.
	Position int           `json:"position"`
	InFlight bool          `json:"inFlight,omitempty"`
	Age      time.Duration `json:"ageNs"`
	// Deltas holds the oldest few, More counts the rest.
	Deltas []DeltaInfo `json:"deltas"`
	More   int         `json:"more,omitempty"`
}

// DeltaInfo is one delta that waits.
type DeltaInfo struct {
	// Type is client-go's: Added, Updated, Deleted, Replaced, Sync; with an
	// InOrder queue also ReplacedAll, SyncAll and Bookmark.
	Type            string        `json:"type"`
	Cause           Cause         `json:"cause"`
	ResourceVersion string        `json:"resourceVersion"`
	Age             time.Duration `json:"ageNs"`
	// Tombstone marks a deletion that was inferred: the object's last state is
	// unknown (cache.DeletedFinalStateUnknown).
	Tombstone bool `json:"tombstone,omitempty"`
	// Objects is how many objects the entry stands for, 1 for most.
	Objects int `json:"objects"`
}

// BucketQuery asks for a window of an index's buckets. The window is anchored
// as a Query's is, at a value; sorted by objects it begins at rank Offset.
type BucketQuery struct {
	Filter string `json:"filter,omitempty"`
	Sort   Sort   `json:"sort,omitempty"` // SortKey (the value) or SortObjects
	Desc   bool   `json:"desc,omitempty"`
	Cursor string `json:"cursor,omitempty"`
	Offset int    `json:"offset,omitempty"`
	Limit  int    `json:"limit"`
}

// BucketPage is a window of an index's buckets.
type BucketPage struct {
	Generation uint64      `json:"generation"`
	Index      IndexVitals `json:"index"`
	Matched    int         `json:"matched"`
	Start      int         `json:"start"`
	Rows       []BucketRow `json:"rows"`
	// Sizes says how the objects are spread over the matching buckets: Sizes[i]
	// counts those of at least 2^i objects and fewer than 2^(i+1). It is there
	// where the buckets are sorted by objects.
	Sizes []int `json:"sizes,omitempty"`
}

// BucketRow is one bucket of an index.
type BucketRow struct {
	Value   string `json:"value"`
	Objects int    `json:"objects"`
}

// ObjectRequest asks for one object.
type ObjectRequest struct {
	Key string `json:"key"`
	// Version asks for one that was kept, see KeyEvent; 0 for what is in the
	// store now.
	Version uint64 `json:"version,omitempty"`
	// Reveal asks for a Secret's contents in clear. ErrReadOnly unless the
	// process allows it.
	Reveal bool `json:"reveal,omitempty"`
}

// Object is one object as it is in the store.
type Object struct {
	Key string `json:"key"`
	// JSON is canonical: apiVersion and kind are filled in, a Secret's contents
	// are replaced by their sizes.
	JSON            json.RawMessage `json:"json"`
	ResourceVersion string          `json:"resourceVersion"`
	UID             string          `json:"uid"`
	// Redacted says that JSON is not all there is.
	Redacted bool `json:"redacted,omitempty"`
	// Indices says in which buckets the object is, by index name.
	Indices []ObjectIndex `json:"indices"`
}

// ObjectIndex is one index and the values under which it holds an object.
type ObjectIndex struct {
	Index  string   `json:"index"`
	Values []string `json:"values"`
}

// Verb is the kind of a request.
type Verb string

// The requests of a reflector. A WATCH with initial events is a WATCHLIST.
const (
	VerbList      Verb = "LIST"
	VerbWatch     Verb = "WATCH"
	VerbWatchList Verb = "WATCHLIST"
)

// Outcome is how a request ended.
type Outcome string

// The outcomes of a request.
const (
	OutcomeOpen    Outcome = "open"    // still under way
	OutcomeOK      Outcome = "ok"      // LIST: complete; WATCHLIST: end marker seen, now open as a WATCH
	OutcomeClosed  Outcome = "closed"  // the server ended the stream
	OutcomeExpired Outcome = "expired" // 410: the resource version is too old
	OutcomeTooNew  Outcome = "too new" // the server does not know the resource version yet
	OutcomeRefused Outcome = "refused" // WATCHLIST not possible here
	OutcomeFailed  Outcome = "failed"  // any other error
	OutcomeStopped Outcome = "stopped" // by us
)

// Request is one LIST or WATCH, from its parameters to what came after it.
type Request struct {
	ID      uint64    `json:"id"`
	Verb    Verb      `json:"verb"`
	Started time.Time `json:"started"`
	// Ended is the zero time while the request is open.
	Ended    time.Time     `json:"ended,omitzero"`
	Lifetime time.Duration `json:"lifetimeNs"`
	// Unanswered: the server has not begun to answer; it may hang.
	Unanswered bool `json:"unanswered,omitempty"`
	// ResourceVersion asked for, and Match, its resourceVersionMatch.
	ResourceVersion string        `json:"resourceVersion"`
	Match           string        `json:"match,omitempty"`
	Returned        string        `json:"returnedResourceVersion"`
	Limit           int64         `json:"limit,omitempty"`
	Timeout         time.Duration `json:"timeoutNs,omitempty"` // asked of the server
	Pages           int           `json:"pages,omitempty"`
	// Items counts objects (LIST) or events (WATCH), bookmarks apart.
	Items int `json:"items"`
	// Initial counts those of a WATCHLIST that came before its end marker, and
	// Marked is when that came: from then on it is a WATCH like any other. The
	// zero time: not yet.
	Initial   int       `json:"initial,omitempty"`
	Marked    time.Time `json:"marked,omitzero"`
	Bookmarks int       `json:"bookmarks,omitempty"`
	Outcome   Outcome   `json:"outcome"`
	Error     string    `json:"error,omitempty"`
	Code      int       `json:"code,omitempty"` // HTTP status, if the server gave one
	// Next says what followed or will follow: "watch", "relist", "list
	// instead", "retry"; NextAt when, if it has to wait.
	Next   string    `json:"next,omitempty"`
	NextAt time.Time `json:"nextAt,omitzero"`
}
