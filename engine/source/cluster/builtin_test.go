package cluster

import (
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes/scheme"
)

func TestBuiltinTypesHaveGoTypes(t *testing.T) {
	// These two are served by every server and not part of client-go.
	foreign := map[string]bool{"apiextensions.k8s.io": true, "apiregistration.k8s.io": true}
	for _, g := range builtinGroups() {
		for _, b := range g.types {
			gvk := schema.GroupVersionKind{Group: g.group, Version: g.version, Kind: b.kind}
			if got := scheme.Scheme.Recognizes(gvk); got == foreign[g.group] {
				t.Errorf("%v: has a Go type: %v", gvk, got)
			}
			if !foreign[g.group] && !scheme.Scheme.Recognizes(gvk.GroupVersion().WithKind(b.kind+"List")) {
				t.Errorf("%v has no list", gvk)
			}
		}
	}
}

func TestBuiltinNamesLeadToTheirTypes(t *testing.T) {
	c := builtinCatalog()
	for _, g := range builtinGroups() {
		gvr := schema.GroupVersionResource{Group: g.group, Version: g.version}
		for _, b := range g.types {
			gvr.Resource = b.plural
			for _, name := range append(strings.Fields(b.short), b.plural, strings.ToLower(b.kind), b.kind) {
				full := name + "." + g.version + "." + g.group
				if m, ok := c.find(t.Context(), full); !ok || m.Resource != gvr {
					t.Errorf("%s leads to %v, want %v", full, m, gvr)
				}
			}
		}
	}
}

// What ownership of a name looks like where two groups have it.
func TestBuiltinGroupsAreRanked(t *testing.T) {
	c := builtinCatalog()
	for name, want := range map[string]schema.GroupVersionResource{
		"events": {Version: "v1", Resource: "events"},
		"ev":     {Version: "v1", Resource: "events"},
		"hpa":    {Group: "autoscaling", Version: "v2", Resource: "horizontalpodautoscalers"},
	} {
		if m, ok := c.find(t.Context(), name); !ok || m.Resource != want {
			t.Errorf("%s leads to %v, want %v", name, m, want)
		}
	}
}
