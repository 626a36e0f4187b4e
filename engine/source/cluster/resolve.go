package cluster

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes/scheme"
)

// ask is one thing asked for: a resource, or one object of it.
type ask struct {
	resource string // as it was written
	object   string // empty: all
}

// parse reads arguments, each of which may hold several asks, separated by
// commas.
func parse(args []string) ([]ask, error) {
	var asks []ask
	for _, arg := range args {
		named := false
		for word := range strings.SplitSeq(arg, ",") {
			resource, object, single := strings.Cut(word, "/")
			switch {
			case resource == "":
				return nil, fmt.Errorf("resource %q: a name is missing", arg)
			case strings.ContainsFunc(resource, notInNames):
				return nil, fmt.Errorf(`resource %q: the name of a resource has letters, digits, "-" and "."`, word)
			case single && (object == "" || strings.Contains(object, "/")):
				return nil, fmt.Errorf("resource %q: one object is written TYPE/NAME, as in pods/web-0", word)
			case named && !single:
				return nil, fmt.Errorf("resource %q: a second object is written %s/%s, and another resource apart", arg, asks[len(asks)-1].resource, word)
			}
			named = named || single
			asks = append(asks, ask{resource, object})
		}
	}
	return asks, nil
}

// notInNames says whether no resource's name has a character.
func notInNames(r rune) bool {
	return r != '-' && r != '.' && (r > unicode.MaxASCII || !unicode.IsLetter(r) && !unicode.IsDigit(r))
}

// target is a resource found.
type target struct {
	ask
	gvr        schema.GroupVersionResource
	gvk        schema.GroupVersionKind
	namespaced bool
	// exact: the version was spelled out.
	exact bool
}

// typed says whether the objects have a Go type.
func (t *target) typed() bool { return scheme.Scheme.Recognizes(t.gvk) }

// name is what the resource is called on screen.
func (t *target) name() string {
	name := t.gvr.GroupResource().String()
	if t.exact && t.gvr.Group != "" {
		name = t.gvr.Resource + "." + t.gvr.Version + "." + t.gvr.Group
	}
	if t.object != "" {
		name += "/" + t.object
	}
	return name
}

// resolve finds what is asked for. The result has a nil where nobody can say
// whether there is such a resource, for want of a server's word.
func (c *Cluster) resolve(ctx context.Context, asks []ask) ([]*target, error) {
	targets := make([]*target, len(asks))
	if c.resolveCore(ctx, asks, targets) {
		return targets, nil
	}
	served, err := c.discover(ctx)
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	if err != nil {
		// The reason is met again, and shown, by the informers.
		c.warn(err.Error() + "; going on with what every server serves")
	}
	for i, a := range asks {
		if served == nil {
			if targets[i], err = c.guess(ctx, a); err != nil {
				return nil, err
			}
			continue
		}
		if targets[i], err = c.look(ctx, served, a); err != nil {
			return nil, beside(err, i, targets)
		}
	}
	return targets, nil
}

// beside adds to an error about the i-th thing asked for that it may have been
// meant as the name of an object of the one before.
func beside(err error, i int, targets []*target) error {
	unknown, ok := err.(*UnknownError)
	if ok && len(unknown.Near) == 0 && i > 0 && targets[i-1] != nil && targets[i-1].object == "" {
		unknown.Hint = fmt.Sprintf("one object is written %s/%s", targets[i-1].resource, unknown.Name)
	}
	return err
}

// resolveCore fills in targets and returns true if everything asked for is of
// the core group.
func (c *Cluster) resolveCore(ctx context.Context, asks []ask, targets []*target) bool {
	for i, a := range asks {
		m, ok := c.builtin.find(ctx, a.resource)
		if !ok || m.Resource.Group != "" {
			return false
		}
		targets[i] = newTarget(a, m)
	}
	return true
}

func newTarget(a ask, m *meta.RESTMapping) *target {
	return &target{
		ask:        a,
		gvr:        m.Resource,
		gvk:        m.GroupVersionKind,
		namespaced: m.Scope.Name() == meta.RESTScopeNameNamespace,
		exact:      versionNamed(a.resource, m),
	}
}

// guess finds what is asked for among the built-in types, nil if it is none.
func (c *Cluster) guess(ctx context.Context, a ask) (*target, error) {
	if m, ok := c.builtin.find(ctx, a.resource); ok {
		return newTarget(a, m), nil
	}
	if members := c.builtin.members(a.resource); len(members) > 0 {
		return nil, categoryError(a.resource, members)
	}
	return nil, nil
}

// look finds what is asked for: among the built-in types if the group it is in
// did not answer, else among what the server serves.
func (c *Cluster) look(ctx context.Context, served *catalog, a ask) (*target, error) {
	if m, ok := c.builtin.find(ctx, a.resource); ok {
		if _, failed := served.failed[m.Resource.GroupVersion()]; failed {
			return newTarget(a, m), nil
		}
	}
	if m, ok := served.find(ctx, a.resource); ok {
		if r, ok := served.resource(m.Resource); ok && !canWatch(r) {
			return nil, fmt.Errorf("%s can't be watched: the server offers %s",
				m.Resource.GroupResource(), strings.Join(r.Verbs, ", "))
		}
		return c.known(ctx, served, newTarget(a, m)), nil
	}
	if members := served.members(a.resource); len(members) > 0 {
		return nil, categoryError(a.resource, members)
	}
	if served.mayHide(a.resource) {
		return nil, nil
	}
	return nil, served.unknown(a.resource)
}

// known returns t in a version that has a Go type, if the server has one and the
// user did not ask for another: a server that is newer than this program may
// prefer a version that it does not know.
func (c *Cluster) known(ctx context.Context, served *catalog, t *target) *target {
	if t.typed() || t.exact || !scheme.Scheme.IsGroupRegistered(t.gvk.Group) {
		return t
	}
	mappings, err := served.mapper.RESTMappingsWithContext(ctx, t.gvk.GroupKind())
	if err != nil {
		return t
	}
	i := slices.IndexFunc(mappings, func(m *meta.RESTMapping) bool { return scheme.Scheme.Recognizes(m.GroupVersionKind) })
	if i < 0 {
		return t
	}
	return newTarget(t.ask, mappings[i])
}

// mayHide says whether name spells out a group that did not answer.
func (c *catalog) mayHide(name string) bool {
	for gv := range c.failed {
		if gv.Group != "" && strings.HasSuffix(strings.ToLower(name), "."+gv.Group) {
			return true
		}
	}
	return false
}

func (c *catalog) unknown(name string) error {
	e := &UnknownError{Name: name, Near: c.near(name)}
	if len(c.failed) > 0 {
		var silent []string
		for gv := range c.failed {
			silent = append(silent, gv.String())
		}
		slices.Sort(silent)
		e.Hint = "no answer from " + strings.Join(silent, ", ")
	}
	return e
}

// near returns the names that may have been meant by one that is unknown. Where
// a group was named, it counts for less than the resource.
func (c *catalog) near(name string) []string {
	if near := Near(name, c.names()); len(near) > 0 {
		return near
	}
	base, group, qualified := strings.Cut(strings.ToLower(name), ".")
	if !qualified {
		return nil
	}
	groups := map[string]string{} // by the name to suggest
	c.watchable(func(gv schema.GroupVersion, r metav1.APIResource) {
		names := append([]string{r.Name, r.SingularName, strings.ToLower(r.Kind)}, r.ShortNames...)
		if slices.Contains(names, base) || len(Near(base, []string{r.Name})) > 0 {
			groups[schema.GroupResource{Group: gv.Group, Resource: r.Name}.String()] = gv.Group
		}
	})
	near := slices.Collect(maps.Keys(groups))
	slices.SortFunc(near, func(a, b string) int {
		return cmp.Or(cmp.Compare(distance(group, groups[a]), distance(group, groups[b])), cmp.Compare(a, b))
	})
	return near[:min(len(near), nearest)]
}

func categoryError(name string, members []string) error {
	return fmt.Errorf("%q is a category, not a resource; name what you mean: %s", name, strings.Join(members, ","))
}
