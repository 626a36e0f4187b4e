package demo

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/informeter/informeter/engine/source"
)

// Sources describes informers on resources, named as for kubectl: plural,
// singular or short name, TYPE.GROUP, TYPE/NAME, several joined by commas; none
// is pods. An empty namespace is Options.Namespace, and if that is empty, all.
// What is named twice is returned once.
func (c *Cluster) Sources(names []string, namespace string) ([]source.Source, error) {
	if len(names) == 0 {
		names = []string{pods}
	}
	var sources []source.Source
	for _, arg := range names {
		last, one := "", false
		for name := range strings.SplitSeq(arg, ",") {
			typeName, object, single := strings.Cut(name, "/")
			switch {
			case typeName == "":
				return nil, fmt.Errorf("resource %q: a name is missing", arg)
			case single && (object == "" || strings.Contains(object, "/")):
				return nil, fmt.Errorf("resource %q: one object is written TYPE/NAME, as in pods/web-0", name)
			case one && !single:
				return nil, fmt.Errorf("resource %q: a second object is written %s/%s, and another resource apart", arg, last, name)
			}
			last, one = typeName, single
			s, err := c.source(name, cmp.Or(namespace, c.options.Namespace))
			if err != nil {
				return nil, err
			}
			if !slices.ContainsFunc(sources, func(other source.Source) bool { return other.Name == s.Name }) {
				sources = append(sources, s)
			}
		}
	}
	return sources, nil
}

func (c *Cluster) source(arg, namespace string) (source.Source, error) {
	typeName, name, one := strings.Cut(arg, "/")
	r, err := findResource(typeName)
	if err != nil {
		return source.Source{}, err
	}
	if one && c.options.LabelSelector != "" {
		return source.Source{}, fmt.Errorf("%s is one object by its name: a label selector has nothing to choose from", arg)
	}
	scope := "cluster"
	switch {
	case !r.namespaced:
		namespace = ""
	case namespace == "":
		scope = "all namespaces"
	default:
		scope = "namespace " + namespace
	}
	e := &endpoint{
		server:    c.server,
		table:     c.server.tables[r.name()],
		namespace: namespace,
		labels:    c.options.LabelSelector,
		fields:    []string{c.options.FieldSelector},
	}
	s := source.Source{
		Name:          r.name(),
		Resource:      r.name(),
		Origin:        "demo: " + c.scenario.Name,
		Example:       r.newObject(),
		ListerWatcher: e,
		Indexers:      source.DefaultIndexers(r.kind, r.namespaced, false),
		Handlers:      c.handlers(r.name()),
	}
	if one {
		s.Name += "/" + name
		e.fields = append(e.fields, "metadata.name="+name)
	}
	if _, err := newSelector(r, []string{e.labels}, e.fields); err != nil {
		return source.Source{}, fmt.Errorf("selectors for %s: %w", r.name(), err)
	}
	for _, text := range []string{c.options.LabelSelector, c.options.FieldSelector} {
		if text != "" {
			scope += ", " + text
		}
	}
	s.Scope = scope
	return s, nil
}

// findResource finds a type by any of its names.
func findResource(name string) (*resource, error) {
	all := resources()
	wanted := strings.ToLower(name)
	served := make([]string, 0, len(all))
	for _, r := range all {
		if slices.Contains(r.names(), wanted) {
			return r, nil
		}
		served = append(served, r.name())
	}
	near := nearResources(wanted)
	if base, _, qualified := strings.Cut(wanted, "."); qualified && len(near) == 0 {
		near = nearResources(base)
	}
	if len(near) > 0 {
		return nil, fmt.Errorf("the simulated cluster has no resource type %q; did you mean %s?",
			name, strings.Join(near, " or "))
	}
	return nil, fmt.Errorf("the simulated cluster has no resource type %q; it has %s",
		name, strings.Join(served, ", "))
}

// nearResources returns the types whose names are the least far from what was
// typed.
func nearResources(wanted string) []string {
	var near []string
	best := len(wanted)
	for _, r := range resources() {
		for _, n := range r.names() {
			d, alike := slip(wanted, n)
			if !alike || d > best || d == best && slices.Contains(near, r.name()) {
				continue
			}
			if d < best {
				best, near = d, nil
			}
			near = append(near, r.name())
		}
	}
	return near
}

// slip reports how far one name is from another, and whether it could be meant:
// it is a beginning of it, or at most a third of its characters are wrong.
func slip(wanted, name string) (int, bool) {
	if len(wanted) >= 3 && strings.HasPrefix(name, wanted) {
		return 0, true
	}
	d := distance(wanted, name)
	return d, wanted != "" && d*3 <= len(name)
}

// distance is how many characters must be added, removed or changed to make one
// string the other.
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			change := diagonal
			if a[i] != b[j] {
				change++
			}
			diagonal = row[j+1]
			row[j+1] = min(change, row[j]+1, diagonal+1)
		}
	}
	return row[len(b)]
}
