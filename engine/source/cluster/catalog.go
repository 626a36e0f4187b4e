package cluster

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/restmapper"
)

// discoveryTimeout is how long the server may take to say what it serves.
const discoveryTimeout = 5 * time.Second

// watchVerbs are the verbs without which nothing can be informed of.
func watchVerbs() metav1.Verbs { return metav1.Verbs{"list", "watch"} }

// catalog is what a server serves, or what every server does. It is not changed
// once made.
type catalog struct {
	lists []*metav1.APIResourceList
	// failed are the group versions that are there but did not say what they
	// serve, with the reason.
	failed map[schema.GroupVersion]error
	mapper meta.RESTMapperWithContext
}

// newCatalog returns the catalog of the groups, which are in order of priority,
// and of the lists of what is in them.
func newCatalog(groups []*metav1.APIGroup, lists []*metav1.APIResourceList) *catalog {
	rank := map[string]int{}
	for _, g := range groups {
		for _, v := range g.Versions {
			rank[v.GroupVersion] = len(rank)
		}
	}
	// client-go collects the lists in a map: without an order, a short name that
	// two groups have would mean now one, now the other.
	lists = slices.SortedStableFunc(slices.Values(lists), func(a, b *metav1.APIResourceList) int {
		return cmp.Compare(rank[a.GroupVersion], rank[b.GroupVersion])
	})
	what := listed{groups: groups, lists: lists}
	// The error is that of listed, which has none.
	resources, _ := restmapper.GetAPIGroupResourcesWithContext(context.Background(), what)
	return &catalog{
		lists:  lists,
		mapper: restmapper.NewShortcutExpanderWithContext(restmapper.NewDiscoveryRESTMapperWithContext(resources), what, nil),
	}
}

// listed is the part of a discovery client that a RESTMapper uses, on what was
// discovered already; its other methods must not be called.
type listed struct {
	discovery.DiscoveryInterfaceWithContext
	groups []*metav1.APIGroup
	lists  []*metav1.APIResourceList
}

func (l listed) ServerGroupsAndResourcesWithContext(context.Context) ([]*metav1.APIGroup, []*metav1.APIResourceList, error) {
	return l.groups, l.lists, nil
}

// discover asks the server what it serves. The catalog is complete but for its
// failed groups; an error says that there is none.
func (c *Cluster) discover(ctx context.Context) (*catalog, error) {
	ctx, cancel := context.WithTimeout(ctx, c.patience)
	defer cancel()
	d, err := discovery.NewDiscoveryClientForConfigAndClient(c.config, c.client)
	if err != nil {
		return nil, fmt.Errorf("asking the server what it serves: %w", err)
	}
	groups, lists, err := d.ServerGroupsAndResourcesWithContext(ctx)
	failed, partly := discovery.GroupDiscoveryFailedErrorGroups(err)
	if err != nil && !partly {
		return nil, fmt.Errorf("asking the server what it serves: %w", spoken(err))
	}
	if len(lists) == 0 {
		return nil, fmt.Errorf("asking the server what it serves: %w", cmp.Or(err, errors.New("it lists nothing")))
	}
	served := newCatalog(groups, lists)
	served.failed = failed
	return served, nil
}

// spoken returns err with a message: for a refusal of discovery client-go gives
// the reason and "unknown" for a message.
func spoken(err error) error {
	var status *apierrors.StatusError
	if !errors.As(err, &status) || status.ErrStatus.Message != "unknown" {
		return err
	}
	said := *status
	said.ErrStatus.Message = fmt.Sprintf("%s (%d)", strings.ToLower(string(status.ErrStatus.Reason)), status.ErrStatus.Code)
	return &said
}

// find returns the resource that kubectl would take name for: plural, singular,
// short name or kind, alone or followed by a group or by a version and a group.
func (c *catalog) find(ctx context.Context, name string) (*meta.RESTMapping, bool) {
	full, resource := schema.ParseResourceArg(strings.ToLower(name))
	var gvk schema.GroupVersionKind
	if full != nil {
		gvk, _ = c.mapper.KindForWithContext(ctx, *full)
		// client-go forgets the version where it expands a short name.
		if !gvk.Empty() {
			if m, err := c.mapper.RESTMappingWithContext(ctx, gvk.GroupKind(), full.Version); err == nil {
				return m, true
			}
		}
	}
	if gvk.Empty() {
		gvk, _ = c.mapper.KindForWithContext(ctx, resource.WithVersion(""))
	}
	if !gvk.Empty() {
		m, err := c.mapper.RESTMappingWithContext(ctx, gvk.GroupKind(), gvk.Version)
		return m, err == nil
	}
	fullKind, kind := schema.ParseKindArg(name)
	if fullKind != nil {
		if m, err := c.mapper.RESTMappingWithContext(ctx, fullKind.GroupKind(), fullKind.Version); err == nil {
			return m, true
		}
	}
	m, err := c.mapper.RESTMappingWithContext(ctx, kind)
	return m, err == nil
}

// versionNamed says whether name spells out the version of the resource m.
func versionNamed(name string, m *meta.RESTMapping) bool {
	full, _ := schema.ParseResourceArg(strings.ToLower(name))
	return full != nil && full.Version == m.Resource.Version && full.Group == m.Resource.Group
}

// resource returns what the server says about a resource.
func (c *catalog) resource(gvr schema.GroupVersionResource) (metav1.APIResource, bool) {
	for _, list := range c.lists {
		if list.GroupVersion != gvr.GroupVersion().String() {
			continue
		}
		for _, r := range list.APIResources {
			if r.Name == gvr.Resource {
				return r, true
			}
		}
	}
	return metav1.APIResource{}, false
}

// watchable calls f with every resource that can be listed and watched.
func (c *catalog) watchable(f func(gv schema.GroupVersion, r metav1.APIResource)) {
	for _, list := range c.lists {
		gv, err := schema.ParseGroupVersion(list.GroupVersion)
		if err != nil {
			continue
		}
		for _, r := range list.APIResources {
			if !strings.Contains(r.Name, "/") && canWatch(r) {
				f(gv, r)
			}
		}
	}
}

func canWatch(r metav1.APIResource) bool {
	for _, verb := range watchVerbs() {
		if !slices.Contains(r.Verbs, verb) {
			return false
		}
	}
	return true
}

// members returns the resources of a category, sorted, the core group's first.
func (c *catalog) members(category string) []string {
	core, others := map[string]bool{}, map[string]bool{}
	c.watchable(func(gv schema.GroupVersion, r metav1.APIResource) {
		switch {
		case !slices.Contains(r.Categories, category):
		case gv.Group == "":
			core[r.Name] = true
		default:
			others[r.Name+"."+gv.Group] = true
		}
	})
	return append(slices.Sorted(maps.Keys(core)), slices.Sorted(maps.Keys(others))...)
}

// names returns the names that a mistyped one is compared with: plurals, with
// and without their group, and short names.
func (c *catalog) names() []string {
	set := map[string]bool{}
	c.watchable(func(gv schema.GroupVersion, r metav1.APIResource) {
		for _, n := range append([]string{r.Name}, r.ShortNames...) {
			set[n] = true
		}
		if gv.Group != "" {
			set[r.Name+"."+gv.Group] = true
		}
	})
	return slices.Sorted(maps.Keys(set))
}

// plurals returns the names to offer where a resource is asked for: the plural
// where it means this resource and no other, else the plural with its group.
func (c *catalog) plurals(ctx context.Context) []string {
	set := map[string]bool{}
	c.watchable(func(gv schema.GroupVersion, r metav1.APIResource) {
		m, ok := c.find(ctx, r.Name)
		switch {
		case ok && m.Resource.GroupResource() == (schema.GroupResource{Group: gv.Group, Resource: r.Name}):
			set[r.Name] = true
		case gv.Group != "":
			set[r.Name+"."+gv.Group] = true
		}
	})
	return slices.Sorted(maps.Keys(set))
}
