package inspect

import "strings"

// Match returns the predicate of a filter of keys; see ParseFilter. It returns
// nil for a filter that keeps everything, and matches nothing if it is wrong.
func Match(filter string) func(string) bool {
	f, err := ParseFilter(filter)
	switch {
	case err != nil:
		return func(string) bool { return false }
	case f.All():
		return nil
	}
	return f.Keep
}

// containsFold says whether s contains the lower-case text, ignoring case. Keys
// are nearly always lower case already, so the copy is made only where it must.
func containsFold(s, text string) bool {
	return strings.Contains(s, text) || strings.Contains(strings.ToLower(s), text)
}

// Window returns the half-open range of ranks that a query shows: limit rows
// that begin offset after the anchor's rank, moved to lie inside [0, matched).
func Window(anchor, offset, limit, matched int) (start, end int) {
	limit = max(limit, 0)
	last := max(matched-limit, 0)
	// offset may be as large as an int goes: compare before adding.
	switch {
	case offset > last-anchor:
		start = last
	default:
		start = max(anchor+offset, 0)
	}
	return start, min(start+limit, matched)
}
