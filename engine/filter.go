package engine

import (
	"slices"

	"github.com/informeter/informeter/engine/inspect"
	"github.com/informeter/informeter/engine/journal"
)

// CheckFilter says what is wrong with a filter of objects, see
// inspect.ParseFilter; unlike that it reads a selector of labels, too. Its error
// is an *inspect.FilterError.
func CheckFilter(text string) error {
	_, err := journal.ParseFilter(text)
	return err
}

// filterKeys checks a filter of something that is no object, so that labels
// cannot be asked of it; what says what they would have to be of.
func filterKeys(text, what string) error {
	f, err := inspect.ParseFilter(text)
	if err == nil && f.Kind == inspect.FilterLabels {
		err = &inspect.FilterError{Filter: text, Reason: "labels are of objects, not of " + what}
	}
	return err
}

// keysOf returns those of the objects under keys that pass a filter, by their
// keys, in order. It takes time in proportion to all of them.
func keysOf(keys []string, objects []any, f *journal.Filter) []string {
	kept := keys[:0]
	for n, key := range keys {
		if f.KeepObject(key, objects[n]) {
			kept = append(kept, key)
		}
	}
	slices.Sort(kept)
	return kept
}

// windowOf returns the window that a query in the order of keys asks for.
func windowOf(keys []string, q inspect.Query) (shown []string, start int) {
	first, found := slices.BinarySearch(keys, q.Cursor)
	if q.Desc {
		slices.Reverse(keys)
		first = len(keys) - first
		if found {
			first--
		}
	}
	if q.Cursor == "" {
		first = 0
	}
	start, end := inspect.Window(first, q.Offset, q.Limit, len(keys))
	return keys[start:end], start
}
