package journal

import (
	"math"
	"strings"

	"github.com/informeter/informeter/engine/inspect"
)

// order is one way to sort entries: by number, where those are equal by text,
// and in the end by key. What an entry is sorted by must not change while it is
// in a view.
type order struct {
	number func(*entry) uint64 // nil: 0 for all
	text   func(*entry) string // nil: no text
	// byKey: the key is the order, not what decides between equals.
	byKey bool
	// bySize: the entry's size must be known.
	bySize bool
}

// item is an entry in a view. The number stands beside it, so that finding a
// place in the order touches few entries.
type item struct {
	number uint64
	entry  *entry
}

// orders are the columns that the store can be sorted by.
func orderOf(s inspect.Sort) (order, bool) {
	switch s {
	case inspect.SortKey, "":
		return order{byKey: true}, true
	case inspect.SortVersion:
		return order{
			number: func(e *entry) uint64 { return versionNumber(e.version) },
			text:   func(e *entry) string { return e.version },
		}, true
	case inspect.SortAge:
		// What is older has the greater age.
		return order{number: func(e *entry) uint64 {
			if e.created == 0 {
				return 0
			}
			return math.MaxUint32 - uint64(e.created)
		}}, true
	case inspect.SortChanged:
		return order{number: func(e *entry) uint64 { return uint64(e.changed) }}, true
	case inspect.SortUpdates:
		return order{number: func(e *entry) uint64 { return uint64(e.updates) }}, true
	case inspect.SortRate:
		// The bits of floats that are not negative are in the order of the floats.
		return order{number: func(e *entry) uint64 { return math.Float64bits(e.score) }}, true
	case inspect.SortNoOps:
		return order{number: func(e *entry) uint64 { return uint64(e.noOps) }}, true
	case inspect.SortWriter:
		return order{
			number: func(e *entry) uint64 { return textNumber(e.writer) },
			text:   func(e *entry) string { return e.writer },
		}, true
	case inspect.SortSize:
		return order{number: func(e *entry) uint64 { return uint64(e.size) }, bySize: true}, true
	}
	return order{}, false
}

func (o *order) item(e *entry) item {
	if o.number == nil {
		return item{0, e}
	}
	return item{o.number(e), e}
}

// compareValues compares what the order is by, not the keys that decide between
// equals.
func (o *order) compareValues(a, b item) int {
	switch {
	case a.number < b.number:
		return -1
	case a.number > b.number:
		return 1
	case o.text != nil:
		return strings.Compare(o.text(a.entry), o.text(b.entry))
	case o.byKey:
		return strings.Compare(a.entry.key, b.entry.key)
	}
	return 0
}

func (o *order) less(a, b item) bool {
	if a.number != b.number {
		return a.number < b.number
	}
	if c := o.compareValues(a, b); c != 0 {
		return c < 0
	}
	return a.entry.key < b.entry.key
}

// versionNumber returns a number in the order in which apimachinery's
// CompareResourceVersion puts resource versions: by length, then by digits. It
// is 0 for what that cannot compare. Versions of one number, which begin with
// the same 14 digits and are of one length, compare as texts.
func versionNumber(version string) uint64 {
	const digits = 14 // at four bits each they leave a byte for the length
	if version == "" || version[0] == '0' || len(version) > math.MaxUint8 {
		return 0
	}
	n := uint64(0)
	for i := range digits {
		n <<= 4
		if i < len(version) {
			n |= uint64(version[i] - '0')
		}
	}
	for i := range len(version) {
		if version[i] < '0' || version[i] > '9' {
			return 0
		}
	}
	return uint64(len(version))<<(4*digits) | n
}

// textNumber returns a text's first eight bytes as a number.
func textNumber(text string) uint64 {
	n := uint64(0)
	for i := range 8 {
		n <<= 8
		if i < len(text) {
			n |= uint64(text[i])
		}
	}
	return n
}
