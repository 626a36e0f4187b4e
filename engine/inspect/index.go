package inspect

import (
	"strings"
	"time"
)

// How controller-runtime names what it makes for IndexField: the index after the
// field, and the buckets of a value once with the object's namespace and, if it
// has one, once with a namespace that stands for all of them.
const (
	fieldIndex    = "field:"
	allNamespaces = "__all_namespaces"
)

// IndexName returns what people call an index: of one that controller-runtime has
// made for a field, the field.
func IndexName(name string) string {
	if field, ok := strings.CutPrefix(name, fieldIndex); ok && field != "" {
		return field
	}
	return name
}

// BucketName returns what people call a bucket of an index: in one that
// controller-runtime has made for a field, the value and where it is looked for,
// as in "n1 in all namespaces" and "n1 in shop".
func BucketName(index, value string) string {
	where, what, found := strings.Cut(value, "/")
	if !found || !strings.HasPrefix(index, fieldIndex) {
		return value
	}
	if what == "" {
		what = `""`
	}
	if where == allNamespaces {
		where = "all namespaces"
	}
	return what + " in " + where
}

// IndexVitals says how one index is filled.
type IndexVitals struct {
	Name    string `json:"name"`
	Buckets int    `json:"buckets"`
	// Entries counts memberships: an object with three values counts thrice.
	Entries int `json:"entries"`
	// Unindexed counts objects for which the function returned no value.
	Unindexed int `json:"unindexed"`
	// Empty is the size of the bucket of the empty value, a frequent accident.
	Empty int `json:"empty"`
	// Largest is the value with the most objects, LargestObjects how many.
	Largest        string `json:"largest"`
	LargestObjects int    `json:"largestObjects"`
	// Errors counts objects the function failed or panicked on; they are in the
	// store and not in this index. LastError is the newest reason, LastErrorKey
	// the object it was about.
	Errors       uint64 `json:"errors"`
	LastError    string `json:"lastError,omitempty"`
	LastErrorKey string `json:"lastErrorKey,omitempty"`
	// Time is how long the function takes an object; measured on some of its
	// calls.
	Time Latency `json:"time"`
	// Expr is what the index was made from, where it was added by expression.
	Expr string `json:"expr,omitempty"`
}

// IndexCheck is what came of computing an index anew.
type IndexCheck struct {
	Index   string        `json:"index"`
	Objects int           `json:"objects"`
	Took    time.Duration `json:"tookNs"`
	// Wrong counts objects whose values are not those they are indexed by: the
	// function is not pure, or somebody wrote into a cached object. Examples are
	// the first few.
	Wrong    int             `json:"wrong"`
	Examples []IndexMismatch `json:"examples,omitempty"`
	// Failed counts objects the function fails on as it did before: they are in
	// no bucket, and not wrong. FailedKey is the first of them, FailedError why.
	Failed      int    `json:"failed"`
	FailedKey   string `json:"failedKey,omitempty"`
	FailedError string `json:"failedError,omitempty"`
}

// IndexMismatch is an object that is in other buckets than its function says.
type IndexMismatch struct {
	Key     string   `json:"key"`
	Indexed []string `json:"indexed"`
	Now     []string `json:"now"`
	Error   string   `json:"error,omitempty"`
	// Unsteady says that a second call at once said something else again: it is
	// the function.
	Unsteady bool `json:"unsteady,omitempty"`
}
