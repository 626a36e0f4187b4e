package findings

import (
	"strings"

	"github.com/informeter/informeter/engine/inspect"
)

// Unsettled says of which informers nothing can be said yet, and why: those that
// run and have not synced. It is empty if there are none. Where nothing was found,
// this is to be said first.
func Unsettled(informers []inspect.Summary) string {
	var all []string
	for i := range informers {
		s := &informers[i]
		if s.State != inspect.StateRunning || s.Synced {
			continue
		}
		text := clean(s.Name) + " is not synced, " + s.Phase.String()
		if s.Error != "" {
			text += ": " + firstLine(inspect.PlainError(s.Error))
		}
		all = append(all, text)
	}
	if len(all) == 0 {
		return ""
	}
	return strings.Join(all[:min(len(all), 3)], "; ") + more(len(all)-3)
}

// more says that there are others.
func more(n int) string {
	if n <= 0 {
		return ""
	}
	return "; and " + count(n) + " more"
}
