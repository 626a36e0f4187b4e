package inspect

import "strings"

// Match returns the predicate of a filter as Query and QueueQuery mean it:
// substring, case ignored, inverted by a leading "!". It returns nil for a
// filter that keeps everything.
func Match(filter string) func(string) bool {
	text, inverse := strings.CutPrefix(filter, "!")
	if text == "" {
		return nil
	}
	text = strings.ToLower(text)
	return func(s string) bool { return containsFold(s, text) != inverse }
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
