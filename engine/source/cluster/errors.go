package cluster

import (
	"errors"
	"fmt"
	"strings"
)

// ErrNotConfigured says that there is no kubeconfig, no flag that names a
// server, and no cluster around the process.
var ErrNotConfigured = errors.New("no kubeconfig: there is no default file, KUBECONFIG is not set, and this does not run in a cluster")

// UnknownError says that the server serves no resource of that name.
type UnknownError struct {
	// Name is what was asked for.
	Name string
	// Near are names of resources that are there and may have been meant.
	Near []string
	// Hint, if not empty, is a sentence that says more.
	Hint string
}

// Error says what is unknown and what is near.
func (e *UnknownError) Error() string {
	text := fmt.Sprintf("the server has no resource %q", e.Name)
	if len(e.Near) > 0 {
		text += "; did you mean " + Alternatives(e.Near) + "?"
	}
	if e.Hint != "" {
		text += " (" + e.Hint + ")"
	}
	return text
}

// Alternatives joins names as in "a, b or c".
func Alternatives(names []string) string {
	if len(names) < 2 {
		return strings.Join(names, "")
	}
	last := len(names) - 1
	return strings.Join(names[:last], ", ") + " or " + names[last]
}
