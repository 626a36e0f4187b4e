package tui

import (
	"strings"

	"github.com/informeter/informeter/engine/inspect"
)

// filterForms says how filters are written, where one has left nothing over;
// objects says that the rows are objects, which have labels.
func (m *Model) filterForms(text string, objects bool) string {
	var b strings.Builder
	const patterns = "^$*+?|()[]{}\\" // no key has them
	if f, err := inspect.ParseFilter(text); err == nil && f.Kind == inspect.FilterSubstring && strings.ContainsAny(f.Text, patterns) {
		b.WriteString("It was taken as it stands; between slashes it is a regular expression: /" + text + "/. ")
	}
	b.WriteString("A filter is part of a name, /a regular expression/, -f letters in that order")
	if objects {
		b.WriteString(", or -l a label selector")
	}
	b.WriteString("; a ! in front keeps the others. ")
	return b.String() + m.keymap.label(ScopeGlobal, ActionBack) + " takes it away."
}
