package cluster

import (
	"cmp"
	"slices"
	"strings"
)

// nearest is how many names Near returns at most.
const nearest = 3

// Near returns the candidates that somebody who typed name may have meant, the
// nearest first: those that begin with name, and those that differ from it by
// few insertions, deletions, replacements and swaps of neighbours. Case does not
// count. A name that is itself a candidate is not near to itself.
func Near(name string, candidates []string) []string {
	name = strings.ToLower(name)
	type scored struct {
		candidate string
		distance  int
	}
	var near []scored
	for _, c := range candidates {
		lower := strings.ToLower(c)
		limit := tolerance(min(len(name), len(lower)))
		d := distance(name, lower)
		if d > limit && len(name) >= 3 && strings.HasPrefix(lower, name) {
			d = limit + 1
		} else if d > limit || d == 0 {
			continue
		}
		near = append(near, scored{c, d})
	}
	slices.SortFunc(near, func(a, b scored) int {
		return cmp.Or(cmp.Compare(a.distance, b.distance), cmp.Compare(a.candidate, b.candidate))
	})
	near = slices.CompactFunc(near, func(a, b scored) bool { return a.candidate == b.candidate })
	var names []string
	for _, s := range near[:min(len(near), nearest)] {
		names = append(names, s.candidate)
	}
	return names
}

// tolerance is how many edits a name of n bytes may be away: one for names that
// are mostly short names, more the longer it is.
func tolerance(n int) int {
	switch {
	case n < 3:
		return 0
	case n < 6:
		return 1
	case n < 10:
		return 2
	default:
		return 3
	}
}

// distance counts the insertions, deletions, replacements and swaps of
// neighbours that turn a into b, no place being edited twice.
func distance(a, b string) int {
	var older []int
	newer := make([]int, len(b)+1)
	for j := range newer {
		newer[j] = j
	}
	for i := 1; i <= len(a); i++ {
		row := make([]int, len(b)+1)
		row[0] = i
		for j := 1; j <= len(b); j++ {
			replace := newer[j-1]
			if a[i-1] != b[j-1] {
				replace++
			}
			row[j] = min(replace, newer[j]+1, row[j-1]+1)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				row[j] = min(row[j], older[j-2]+1)
			}
		}
		older, newer = newer, row
	}
	return newer[len(b)]
}
