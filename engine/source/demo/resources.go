package demo

import (
	"strconv"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// object is what the server stores: one version of one object. A version is
// never written to once it is stored.
type object interface {
	runtime.Object
	metav1.Object
}

// resource describes one type that the server serves.
type resource struct {
	group, version, plural, singular, kind string
	short                                  []string
	namespaced                             bool
	// newObject returns an empty object of the type.
	newObject func() object
	// newList returns a list with deep copies of the items.
	newList func(items []object) runtime.Object
	// fields are what a field selector may name.
	fields map[string]func(object) string
}

// name is the plural name, with the group if there is one.
func (r *resource) name() string {
	if r.group == "" {
		return r.plural
	}
	return r.plural + "." + r.group
}

// names are all the names under which kubectl would find the resource.
func (r *resource) names() []string {
	names := append([]string{r.plural, r.singular, strings.ToLower(r.kind)}, r.short...)
	if r.group == "" {
		return names
	}
	for _, n := range []string{r.plural, r.singular} {
		names = append(names, n+"."+r.group, n+"."+r.version+"."+r.group)
	}
	return names
}

// The names of the resources, as resource.name gives them.
const (
	pods        = "pods"
	deployments = "deployments.apps"
	replicaSets = "replicasets.apps"
	nodes       = "nodes"
)

// resources describes every type that the server serves.
func resources() []*resource {
	return []*resource{
		{
			version: "v1", plural: "pods", singular: "pod", kind: "Pod",
			short: []string{"po"}, namespaced: true,
			newObject: func() object { return &corev1.Pod{} },
			newList:   podList,
			fields: namespacedFields(map[string]func(object) string{
				"spec.nodeName":           func(o object) string { return o.(*corev1.Pod).Spec.NodeName },
				"spec.restartPolicy":      func(o object) string { return string(o.(*corev1.Pod).Spec.RestartPolicy) },
				"spec.schedulerName":      func(o object) string { return o.(*corev1.Pod).Spec.SchedulerName },
				"spec.serviceAccountName": func(o object) string { return o.(*corev1.Pod).Spec.ServiceAccountName },
				"status.phase":            func(o object) string { return string(o.(*corev1.Pod).Status.Phase) },
				"status.podIP":            func(o object) string { return o.(*corev1.Pod).Status.PodIP },
			}),
		},
		{
			group: "apps", version: "v1", plural: "deployments", singular: "deployment", kind: "Deployment",
			short: []string{"deploy"}, namespaced: true,
			newObject: func() object { return &appsv1.Deployment{} },
			newList:   deploymentList,
			fields:    namespacedFields(nil),
		},
		{
			group: "apps", version: "v1", plural: "replicasets", singular: "replicaset", kind: "ReplicaSet",
			short: []string{"rs"}, namespaced: true,
			newObject: func() object { return &appsv1.ReplicaSet{} },
			newList:   replicaSetList,
			fields: namespacedFields(map[string]func(object) string{
				"status.replicas": func(o object) string {
					return strconv.Itoa(int(o.(*appsv1.ReplicaSet).Status.Replicas))
				},
			}),
		},
		{
			version: "v1", plural: "nodes", singular: "node", kind: "Node",
			short:     []string{"no"},
			newObject: func() object { return &corev1.Node{} },
			newList:   nodeList,
			fields: map[string]func(object) string{
				"metadata.name": func(o object) string { return o.GetName() },
				"spec.unschedulable": func(o object) string {
					return strconv.FormatBool(o.(*corev1.Node).Spec.Unschedulable)
				},
			},
		},
	}
}

// namespacedFields adds the two fields that every namespaced type has.
func namespacedFields(fields map[string]func(object) string) map[string]func(object) string {
	all := map[string]func(object) string{
		"metadata.name":      func(o object) string { return o.GetName() },
		"metadata.namespace": func(o object) string { return o.GetNamespace() },
	}
	for name, get := range fields {
		all[name] = get
	}
	return all
}

func podList(items []object) runtime.Object {
	list := &corev1.PodList{Items: make([]corev1.Pod, len(items))}
	for i, item := range items {
		item.(*corev1.Pod).DeepCopyInto(&list.Items[i])
	}
	return list
}

func deploymentList(items []object) runtime.Object {
	list := &appsv1.DeploymentList{Items: make([]appsv1.Deployment, len(items))}
	for i, item := range items {
		item.(*appsv1.Deployment).DeepCopyInto(&list.Items[i])
	}
	return list
}

func replicaSetList(items []object) runtime.Object {
	list := &appsv1.ReplicaSetList{Items: make([]appsv1.ReplicaSet, len(items))}
	for i, item := range items {
		item.(*appsv1.ReplicaSet).DeepCopyInto(&list.Items[i])
	}
	return list
}

func nodeList(items []object) runtime.Object {
	list := &corev1.NodeList{Items: make([]corev1.Node, len(items))}
	for i, item := range items {
		item.(*corev1.Node).DeepCopyInto(&list.Items[i])
	}
	return list
}
