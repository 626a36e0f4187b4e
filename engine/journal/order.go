package journal

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"github.com/informeter/informeter/engine/inspect"
)

// order is one way to sort entries: by number, where those are equal by writer
// if it is an order by that, and in the end by key. The number stands in the view;
// the writer of an entry must not change while it is in a view that is by writer.
type order struct {
	number   func(*entry) uint64 // nil: 0 for all
	byWriter bool
	// byKey: the key is the order, not what decides between equals.
	byKey bool
}

// item is an entry in a view. The number stands beside it, so that finding a
// place in the order touches few entries, and that it may change in the entry.
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
		return order{number: func(e *entry) uint64 { return versionNumber(e.version()) }}, true
	case inspect.SortAge:
		// What is older has the greater age.
		return order{number: func(e *entry) uint64 {
			created := e.created()
			if created == 0 {
				return 0
			}
			return math.MaxUint32 - uint64(created)
		}}, true
	case inspect.SortChanged:
		return order{number: func(e *entry) uint64 { return uint64(e.changed) }}, true
	case inspect.SortUpdates:
		return order{number: func(e *entry) uint64 { return uint64(e.updates) }}, true
	case inspect.SortRate:
		return order{number: func(e *entry) uint64 { return uint64(e.heat) }}, true
	case inspect.SortNoOps:
		return order{number: func(e *entry) uint64 { return uint64(e.noOps) }}, true
	case inspect.SortWriter:
		return order{number: func(e *entry) uint64 { return textNumber(e.author()) }, byWriter: true}, true
	case inspect.SortSize:
		return order{number: func(e *entry) uint64 { return uint64(e.wireSize()) }}, true
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
	case o.byWriter:
		return strings.Compare(a.entry.writer, b.entry.writer)
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

// sort puts items into the order.
func (o *order) sort(items []item) {
	slices.SortFunc(items, func(a, b item) int {
		return cmp.Or(o.compareValues(a, b), strings.Compare(a.entry.key, b.entry.key))
	})
}

// versionNumber returns a number in the order in which apimachinery's
// CompareResourceVersion puts resource versions: by length, then by digits. It
// is 0 for what that cannot compare. Versions that begin with the same 14 digits
// and are of one length count as equal if they have more than 19.
func versionNumber(version string) uint64 {
	if version == "" || version[0] == '0' || len(version) > math.MaxUint8 {
		return 0
	}
	for i := range len(version) {
		if version[i] < '0' || version[i] > '9' {
			return 0
		}
	}
	const (
		digits   = 19 // that fit into a number
		longer   = uint64(1e19)
		compared = 14
	)
	n, leading := uint64(0), version[:min(len(version), digits)]
	if len(version) > digits {
		leading = version[:compared]
	}
	for i := range len(leading) {
		n = 10*n + uint64(leading[i]-'0')
	}
	if len(version) > digits {
		n = longer + uint64(len(version)-digits-1)*1e14 + n
	}
	return n
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
