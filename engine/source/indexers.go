package source

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/tools/cache"
)

// The names of the indices that sources come with.
const (
	OwnerIndex = "owner"
	NodeIndex  = "node"
	PhaseIndex = "phase"
)

// DefaultIndexers returns the indices that make sense for objects of the
// example's kind: namespace where there are namespaces, owner always, node and
// phase for pods.
func DefaultIndexers(kind string, namespaced, metadataOnly bool) cache.Indexers {
	indexers := cache.Indexers{OwnerIndex: ownerIndex}
	if namespaced {
		indexers[cache.NamespaceIndex] = cache.MetaNamespaceIndexFunc
	}
	if kind == "Pod" && !metadataOnly {
		indexers[NodeIndex] = podField((*podFields).node, "spec", "nodeName")
		indexers[PhaseIndex] = podField((*podFields).phase, "status", "phase")
	}
	return indexers
}

// ownerIndex files an object under its controller, as Kind/name.
func ownerIndex(obj any) ([]string, error) {
	m, err := meta.Accessor(obj)
	if err != nil {
		return nil, err
	}
	owner := metav1.GetControllerOfNoCopy(m)
	if owner == nil {
		return nil, nil
	}
	return []string{owner.Kind + "/" + owner.Name}, nil
}

// podFields names the typed pod's fields that are indexed.
type podFields corev1.Pod

func (p *podFields) node() string  { return p.Spec.NodeName }
func (p *podFields) phase() string { return string(p.Status.Phase) }

// podField files a pod under one field's value, typed or unstructured. A field
// that is not set yet files it under nothing.
func podField(typed func(*podFields) string, path ...string) cache.IndexFunc {
	return func(obj any) ([]string, error) {
		var value string
		switch o := obj.(type) {
		case *corev1.Pod:
			value = typed((*podFields)(o))
		case *unstructured.Unstructured:
			var err error
			if value, _, err = unstructured.NestedString(o.Object, path...); err != nil {
				return nil, err
			}
		}
		if value == "" {
			return nil, nil
		}
		return []string{value}, nil
	}
}
