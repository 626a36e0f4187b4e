package cluster

import (
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Whether objects of a type live in namespaces.
const (
	namespaced  = true
	clusterWide = false
)

// builtinGroup is one version of one API group. Versions of one group follow
// each other, the preferred one first.
type builtinGroup struct {
	group, version string
	types          []builtinType
}

// builtinType is one type that every current server serves. Its singular name
// is its kind in lower case. Short names and categories are separated by
// spaces.
type builtinType struct {
	plural, kind string
	namespaced   bool
	short        string
	categories   string
}

// builtinGroups lists the stable types of Kubernetes that can be listed and
// watched, in the order in which a server ranks their groups. It stands in for
// a server that does not answer, or may not say what it serves.
func builtinGroups() []builtinGroup {
	return []builtinGroup{
		{"", "v1", []builtinType{
			{"configmaps", "ConfigMap", namespaced, "cm", ""},
			{"endpoints", "Endpoints", namespaced, "ep", ""},
			{"events", "Event", namespaced, "ev", ""},
			{"limitranges", "LimitRange", namespaced, "limits", ""},
			{"namespaces", "Namespace", clusterWide, "ns", ""},
			{"nodes", "Node", clusterWide, "no", ""},
			{"persistentvolumeclaims", "PersistentVolumeClaim", namespaced, "pvc", ""},
			{"persistentvolumes", "PersistentVolume", clusterWide, "pv", ""},
			{"pods", "Pod", namespaced, "po", "all"},
			{"podtemplates", "PodTemplate", namespaced, "", ""},
			{"replicationcontrollers", "ReplicationController", namespaced, "rc", "all"},
			{"resourcequotas", "ResourceQuota", namespaced, "quota", ""},
			{"secrets", "Secret", namespaced, "", ""},
			{"serviceaccounts", "ServiceAccount", namespaced, "sa", ""},
			{"services", "Service", namespaced, "svc", "all"},
		}},
		{"apiregistration.k8s.io", "v1", []builtinType{
			{"apiservices", "APIService", clusterWide, "", "api-extensions"},
		}},
		{"apps", "v1", []builtinType{
			{"controllerrevisions", "ControllerRevision", namespaced, "", ""},
			{"daemonsets", "DaemonSet", namespaced, "ds", "all"},
			{"deployments", "Deployment", namespaced, "deploy", "all"},
			{"replicasets", "ReplicaSet", namespaced, "rs", "all"},
			{"statefulsets", "StatefulSet", namespaced, "sts", "all"},
		}},
		{"events.k8s.io", "v1", []builtinType{
			{"events", "Event", namespaced, "ev", ""},
		}},
		{"autoscaling", "v2", []builtinType{
			{"horizontalpodautoscalers", "HorizontalPodAutoscaler", namespaced, "hpa", "all"},
		}},
		{"autoscaling", "v1", []builtinType{
			{"horizontalpodautoscalers", "HorizontalPodAutoscaler", namespaced, "hpa", "all"},
		}},
		{"batch", "v1", []builtinType{
			{"cronjobs", "CronJob", namespaced, "cj", "all"},
			{"jobs", "Job", namespaced, "", "all"},
		}},
		{"certificates.k8s.io", "v1", []builtinType{
			{"certificatesigningrequests", "CertificateSigningRequest", clusterWide, "csr", ""},
			{"clustertrustbundles", "ClusterTrustBundle", clusterWide, "", ""},
			{"podcertificaterequests", "PodCertificateRequest", namespaced, "", ""},
		}},
		{"networking.k8s.io", "v1", []builtinType{
			{"ingressclasses", "IngressClass", clusterWide, "", ""},
			{"ingresses", "Ingress", namespaced, "ing", ""},
			{"ipaddresses", "IPAddress", clusterWide, "ip", ""},
			{"networkpolicies", "NetworkPolicy", namespaced, "netpol", ""},
			{"servicecidrs", "ServiceCIDR", clusterWide, "", ""},
		}},
		{"policy", "v1", []builtinType{
			{"poddisruptionbudgets", "PodDisruptionBudget", namespaced, "pdb", ""},
		}},
		{"rbac.authorization.k8s.io", "v1", []builtinType{
			{"clusterrolebindings", "ClusterRoleBinding", clusterWide, "", ""},
			{"clusterroles", "ClusterRole", clusterWide, "", ""},
			{"rolebindings", "RoleBinding", namespaced, "", ""},
			{"roles", "Role", namespaced, "", ""},
		}},
		{"storage.k8s.io", "v1", []builtinType{
			{"csidrivers", "CSIDriver", clusterWide, "", ""},
			{"csinodes", "CSINode", clusterWide, "", ""},
			{"csistoragecapacities", "CSIStorageCapacity", namespaced, "", ""},
			{"storageclasses", "StorageClass", clusterWide, "sc", ""},
			{"volumeattachments", "VolumeAttachment", clusterWide, "", ""},
			{"volumeattributesclasses", "VolumeAttributesClass", clusterWide, "vac", ""},
		}},
		{"admissionregistration.k8s.io", "v1", []builtinType{
			{"mutatingadmissionpolicies", "MutatingAdmissionPolicy", clusterWide, "", "api-extensions"},
			{"mutatingadmissionpolicybindings", "MutatingAdmissionPolicyBinding", clusterWide, "", "api-extensions"},
			{"mutatingwebhookconfigurations", "MutatingWebhookConfiguration", clusterWide, "", "api-extensions"},
			{"validatingadmissionpolicies", "ValidatingAdmissionPolicy", clusterWide, "", "api-extensions"},
			{"validatingadmissionpolicybindings", "ValidatingAdmissionPolicyBinding", clusterWide, "", "api-extensions"},
			{"validatingwebhookconfigurations", "ValidatingWebhookConfiguration", clusterWide, "", "api-extensions"},
		}},
		{"apiextensions.k8s.io", "v1", []builtinType{
			{"customresourcedefinitions", "CustomResourceDefinition", clusterWide, "crd crds", "api-extensions"},
		}},
		{"scheduling.k8s.io", "v1", []builtinType{
			{"priorityclasses", "PriorityClass", clusterWide, "pc", ""},
		}},
		{"coordination.k8s.io", "v1", []builtinType{
			{"leases", "Lease", namespaced, "", ""},
		}},
		{"node.k8s.io", "v1", []builtinType{
			{"runtimeclasses", "RuntimeClass", clusterWide, "", ""},
		}},
		{"discovery.k8s.io", "v1", []builtinType{
			{"endpointslices", "EndpointSlice", namespaced, "", ""},
		}},
		{"resource.k8s.io", "v1", []builtinType{
			{"deviceclasses", "DeviceClass", clusterWide, "", ""},
			{"devicetaintrules", "DeviceTaintRule", clusterWide, "", ""},
			{"resourceclaims", "ResourceClaim", namespaced, "", ""},
			{"resourceclaimtemplates", "ResourceClaimTemplate", namespaced, "", ""},
			{"resourceslices", "ResourceSlice", clusterWide, "", ""},
		}},
		{"flowcontrol.apiserver.k8s.io", "v1", []builtinType{
			{"flowschemas", "FlowSchema", clusterWide, "", ""},
			{"prioritylevelconfigurations", "PriorityLevelConfiguration", clusterWide, "", ""},
		}},
		{"storagemigration.k8s.io", "v1", []builtinType{
			{"storageversionmigrations", "StorageVersionMigration", clusterWide, "", ""},
		}},
	}
}

// builtinCatalog returns the built-in types as a server would list them.
func builtinCatalog() *catalog {
	var groups []*metav1.APIGroup
	var lists []*metav1.APIResourceList
	for _, g := range builtinGroups() {
		gv := schema.GroupVersion{Group: g.group, Version: g.version}
		version := metav1.GroupVersionForDiscovery{GroupVersion: gv.String(), Version: g.version}
		if n := len(groups); n > 0 && groups[n-1].Name == g.group {
			groups[n-1].Versions = append(groups[n-1].Versions, version)
		} else {
			groups = append(groups, &metav1.APIGroup{
				Name:             g.group,
				Versions:         []metav1.GroupVersionForDiscovery{version},
				PreferredVersion: version,
			})
		}
		list := &metav1.APIResourceList{GroupVersion: gv.String()}
		for _, t := range g.types {
			list.APIResources = append(list.APIResources, metav1.APIResource{
				Name:         t.plural,
				SingularName: strings.ToLower(t.kind),
				Kind:         t.kind,
				Namespaced:   t.namespaced,
				ShortNames:   strings.Fields(t.short),
				Categories:   strings.Fields(t.categories),
				Verbs:        watchVerbs(),
			})
		}
		lists = append(lists, list)
	}
	return newCatalog(groups, lists)
}
