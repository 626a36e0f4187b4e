package tui

import (
	"context"
	"slices"
	"strings"

	"github.com/informeter/informeter/engine/inspect"
)

// ownIndex is an index that the user has added to an informer.
type ownIndex struct {
	informer string
	inspect.IndexSpec
}

// command is the line that adds it.
func (o *ownIndex) command() string { return ":index add " + o.Name + "=" + o.Expr }

// keepIndex remembers an index that was added, so that it is there again in what
// is opened after this.
func (m *Model) keepIndex(o ownIndex) {
	m.own = slices.DeleteFunc(slices.Clone(m.own), func(old ownIndex) bool { return old.informer == o.informer && old.Name == o.Name })
	m.own = append(m.own, o)
}

// addAgain adds the user's indices to the informers of the same name that were
// opened, and says what has become of them; empty if there were none for these.
// Those of other informers wait until such a one is opened.
func addAgain(ctx context.Context, p inspect.Process, own []ownIndex) (said string, failed bool) {
	var names, lost []string
	for i := range own {
		o := &own[i]
		_, controls, err := p.Informer(o.informer)
		if err != nil {
			continue
		}
		if err = inspect.ErrReadOnly; controls != nil {
			err = controls.AddIndex(ctx, o.IndexSpec)
		}
		if err != nil {
			lost = append(lost, "index "+o.Name+" is lost ("+firstLine(err.Error())+"); to add it again: "+o.command())
			continue
		}
		names = append(names, o.Name)
	}
	switch len(names) {
	case 0:
	case 1:
		said = ", index " + names[0] + " added again"
	default:
		said = ", indices " + strings.Join(names, ", ") + " added again"
	}
	if len(lost) > 0 {
		said += "; " + strings.Join(lost, "; ")
	}
	return said, len(lost) > 0
}
