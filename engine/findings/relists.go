package findings

import (
	"slices"
	"time"

	"github.com/informeter/informeter/engine/inspect"
)

const (
	// A list of everything is what a watch is there to avoid. Two in five minutes
	// are a restarted server; three are a habit.
	relistWindow = 5 * time.Minute
	relistsMany  = 3
)

// costAList says whether request i of all, the oldest first, is a watch that was
// lost and made up for by a list. One that was asked for does not count.
func costAList(all []inspect.Request, i int) bool {
	r := &all[i]
	asked := r.Outcome == inspect.OutcomeStopped && r.Error == ""
	return !r.Ended.IsZero() && watches(r) && r.Next == nextRelist && !asked &&
		i+1 < len(all) && lists(&all[i+1]) // else the list is still to come
}

// RelistLoops says of each of the requests, the newest first, how many lost watches
// followed one another at most when it was one of them, each of which cost a list of
// everything. Where they were too few, or too far apart, for RelistLoop to be found,
// it is 0. Something else may have explained them meanwhile.
func RelistLoops(requests []inspect.Request) []int {
	all := slices.Clone(requests)
	slices.Reverse(all)
	out := make([]int, len(all))
	var lost []int // indices into all, of one window
	for i := range all {
		if !costAList(all, i) {
			continue
		}
		lost = append(lost, i)
		for all[i].Ended.Sub(all[lost[0]].Ended) > relistWindow {
			lost = lost[1:]
		}
		if len(lost) < relistsMany {
			continue
		}
		for _, k := range lost {
			at := len(all) - 1 - k
			out[at] = max(out[at], len(lost))
		}
	}
	return out
}
