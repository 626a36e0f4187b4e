package cluster

import (
	"context"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/informeter/informeter/engine/source"
)

// Sources returns a source for each resource named, in order, each once. Names
// are those that kubectl takes: pods, po, deployments.apps, deployments.v1.apps,
// pods/web-0, several separated by commas. No name stands for pods. It asks the
// server what it serves where that matters, which takes five seconds at most.
func (c *Cluster) Sources(ctx context.Context, resources []string) ([]source.Source, error) {
	if len(resources) == 0 {
		resources = []string{"pods"}
	}
	asks, err := parse(resources)
	if err != nil {
		return nil, err
	}
	targets, err := c.resolve(ctx, asks)
	if err != nil {
		return nil, err
	}
	var sources []source.Source
	seen := map[string]bool{}
	for i, t := range targets {
		s, id, err := c.source(asks[i], t)
		if err != nil {
			return nil, err
		}
		if !seen[id] {
			seen[id] = true
			sources = append(sources, s)
		}
	}
	return sources, nil
}

// source returns the source of one target, or where there is none yet of what
// was asked for, and what makes it different from others.
func (c *Cluster) source(a ask, t *target) (source.Source, string, error) {
	if err := c.checkOne(a, t == nil || t.namespaced); err != nil {
		return source.Source{}, "", err
	}
	if t == nil {
		return c.lateSource(a), fmt.Sprint(a), nil
	}
	lw, example, err := c.open(t)
	if err != nil {
		return source.Source{}, "", err
	}
	return source.Source{
		Name:          t.name(),
		Resource:      t.gvr.GroupResource().String(),
		Scope:         c.scope(t.namespaced),
		Origin:        c.origin,
		Example:       example,
		ListerWatcher: lw,
		Indexers:      source.DefaultIndexers(t.gvk.Kind, t.namespaced, c.projection == Metadata),
	}, fmt.Sprint(t.gvr, "/", t.object), nil
}

// checkOne returns an error if one object is asked for in a way that kubectl
// refuses, too.
func (c *Cluster) checkOne(a ask, namespaced bool) error {
	switch {
	case a.object == "":
		return nil
	case !c.labels.Empty():
		return fmt.Errorf("%s/%s is one object by its name: a label selector has nothing to choose from", a.resource, a.object)
	case namespaced && c.namespace == metav1.NamespaceAll:
		return fmt.Errorf("%s/%s is one object of one namespace: name that one with --namespace in place of --all-namespaces", a.resource, a.object)
	}
	return nil
}

func (c *Cluster) lateSource(a ask) source.Source {
	var example runtime.Object = &unstructured.Unstructured{}
	if c.projection == Metadata {
		example = &metav1.PartialObjectMetadata{}
	}
	name := a.resource
	if a.object != "" {
		name += "/" + a.object
	}
	return source.Source{
		Name:          name,
		Resource:      a.resource,
		Scope:         c.scope(true),
		Origin:        c.origin,
		Example:       example,
		ListerWatcher: &late{cluster: c, ask: a},
		Indexers:      source.DefaultIndexers("", true, true),
	}
}
