package tui

import (
	"errors"
	"strings"

	"github.com/informeter/informeter/engine/inspect"
)

// withObjects is a screen whose rows may be objects, which can be filtered by
// their labels.
type withObjects interface{ ofObjects() bool }

func (p *storeScreen) ofObjects() bool   { return true }
func (p *indicesScreen) ofObjects() bool { return p.focus == levelObjects }

// badFilter returns what is wrong with a filter of f; nil if nothing is.
func (m *Model) badFilter(f filtered, text string) *fault {
	parsed, err := inspect.ParseFilter(text)
	if err == nil && parsed.Kind == inspect.FilterLabels {
		if o, ok := f.(withObjects); !ok || !o.ofObjects() {
			return &fault{0, len(text), "labels are of objects, and these rows are none"}
		}
		if m.options.CheckFilter != nil {
			err = m.options.CheckFilter(text)
		}
	}
	if wrong := (*inspect.FilterError)(nil); errors.As(err, &wrong) {
		return &fault{0, len(text), wrong.Reason}
	} else if err != nil {
		return &fault{0, len(text), err.Error()}
	}
	return nil
}

// filterForms says how filters are written, where one has left nothing over;
// objects says that the rows are objects, which have labels.
func (m *Model) filterForms(text string, objects bool) string {
	var b strings.Builder
	const patterns = "^$*+?|()[]{}\\" // no key has them
	if f, err := inspect.ParseFilter(text); err == nil && f.Kind == inspect.FilterSubstring && strings.ContainsAny(f.Text, patterns) {
		b.WriteString("It was taken as it stands; behind a slash it is a regular expression: /" + text + ". ")
	}
	b.WriteString("A filter is part of a name, /regular expression, -f letters in that order")
	if objects {
		b.WriteString(", or -l a label selector")
	}
	b.WriteString("; a ! in front keeps the others. ")
	return b.String() + m.keymap.label(ScopeGlobal, ActionBack) + " takes it away."
}
