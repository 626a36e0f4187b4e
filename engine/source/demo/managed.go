package demo

import (
	"cmp"
	"fmt"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// The managers that write to the cluster, as managedFields name them.
const (
	controllerManager = "kube-controller-manager"
	kubelet           = "kubelet"
	// kustomize applies the deployments from a repository, on the server's side.
	kustomize = "kustomize-controller"
	// loadBalancer probes pods and writes a readiness gate's condition.
	loadBalancer = "load-balancer-controller"
)

// What the managers own of a pod. In a real cluster this is a large part of a
// pod's size, and so it is here.
const (
	controllerManagerFields = `{"f:metadata":{"f:annotations":{".":{},"f:checksum/config":{}},"f:generateName":{},` +
		`"f:labels":{".":{},"f:app":{},"f:pod-template-hash":{},"f:tier":{}},` +
		`"f:ownerReferences":{".":{},"k:{\"uid\":\"%s\"}":{}}},` +
		`"f:spec":{"f:containers":{"k:{\"name\":\"%s\"}":{".":{},"f:env":{".":{},"k:{\"name\":\"GOMEMLIMIT\"}":{".":{},"f:name":{},"f:value":{}}},` +
		`"f:image":{},"f:imagePullPolicy":{},"f:name":{},"f:ports":{".":{},"k:{\"containerPort\":8080,\"protocol\":\"TCP\"}":{".":{},` +
		`"f:containerPort":{},"f:name":{},"f:protocol":{}}},"f:readinessProbe":{".":{},"f:failureThreshold":{},"f:httpGet":{".":{},"f:path":{},` +
		`"f:port":{},"f:scheme":{}},"f:periodSeconds":{},"f:successThreshold":{},"f:timeoutSeconds":{}},"f:resources":{".":{},"f:limits":{".":{},` +
		`"f:memory":{}},"f:requests":{".":{},"f:cpu":{},"f:memory":{}}},"f:terminationMessagePath":{},"f:terminationMessagePolicy":{}}},` +
		`"f:dnsPolicy":{},"f:enableServiceLinks":{},"f:restartPolicy":{},"f:schedulerName":{},"f:securityContext":{},"f:serviceAccount":{},` +
		`"f:serviceAccountName":{},"f:terminationGracePeriodSeconds":{}}}`
	kubeletFields = `{"f:status":{"f:conditions":{` +
		`"k:{\"type\":\"ContainersReady\"}":{".":{},"f:lastProbeTime":{},"f:lastTransitionTime":{},"f:status":{},"f:type":{}},` +
		`"k:{\"type\":\"Initialized\"}":{".":{},"f:lastProbeTime":{},"f:lastTransitionTime":{},"f:status":{},"f:type":{}},` +
		`"k:{\"type\":\"PodReadyToStartContainers\"}":{".":{},"f:lastProbeTime":{},"f:lastTransitionTime":{},"f:status":{},"f:type":{}},` +
		`"k:{\"type\":\"Ready\"}":{".":{},"f:lastProbeTime":{},"f:lastTransitionTime":{},"f:status":{},"f:type":{}}},` +
		`"f:containerStatuses":{},"f:hostIP":{},"f:hostIPs":{},"f:phase":{},"f:podIP":{},` +
		`"f:podIPs":{".":{},"k:{\"ip\":\"%s\"}":{".":{},"f:ip":{}}},"f:startTime":{}}}`
)

// What the managers own of the other types.
const (
	deploymentFields = `{"f:metadata":{"f:labels":{"f:app":{},"f:tier":{}}},"f:spec":{"f:revisionHistoryLimit":{},"f:selector":{},` +
		`"f:strategy":{"f:rollingUpdate":{"f:maxSurge":{},"f:maxUnavailable":{}},"f:type":{}},` +
		`"f:template":{"f:metadata":{"f:annotations":{"f:checksum/config":{}},"f:labels":{"f:app":{},"f:tier":{}}},` +
		`"f:spec":{"f:containers":{"k:{\"name\":\"%s\"}":{".":{},"f:image":{},"f:name":{},"f:resources":{}},` +
		`"k:{\"name\":\"%s\"}":{".":{},"f:image":{},"f:name":{},"f:resources":{}}},"f:serviceAccountName":{}}}}}`
	deploymentScaleFields  = `{"f:spec":{"f:replicas":{}}}`
	deploymentStatusFields = `{"f:metadata":{"f:annotations":{".":{},"f:deployment.kubernetes.io/revision":{}}},` +
		`"f:status":{"f:availableReplicas":{},"f:conditions":{".":{},` +
		`"k:{\"type\":\"Available\"}":{".":{},"f:lastTransitionTime":{},"f:lastUpdateTime":{},"f:status":{},"f:type":{}},` +
		`"k:{\"type\":\"Progressing\"}":{".":{},"f:lastTransitionTime":{},"f:lastUpdateTime":{},"f:message":{},"f:reason":{},"f:status":{},"f:type":{}}},` +
		`"f:observedGeneration":{},"f:readyReplicas":{},"f:replicas":{},"f:updatedReplicas":{}}}`
	replicaSetFields = `{"f:metadata":{"f:labels":{".":{},"f:app":{},"f:pod-template-hash":{},"f:tier":{}},` +
		`"f:ownerReferences":{".":{},"k:{\"uid\":\"%s\"}":{}}},"f:spec":{"f:replicas":{},"f:selector":{},"f:template":{}}}`
	replicaSetStatusFields = `{"f:status":{"f:availableReplicas":{},"f:fullyLabeledReplicas":{},"f:observedGeneration":{},` +
		`"f:readyReplicas":{},"f:replicas":{}}}`
	nodeFields = `{"f:metadata":{"f:annotations":{".":{}},"f:labels":{".":{},"f:kubernetes.io/arch":{},"f:kubernetes.io/hostname":{},` +
		`"f:kubernetes.io/os":{},"f:node.kubernetes.io/instance-type":{},"f:topology.kubernetes.io/region":{},"f:topology.kubernetes.io/zone":{}}},` +
		`"f:spec":{"f:providerID":{}}}`
	nodeTTLFields    = `{"f:metadata":{"f:annotations":{"f:node.alpha.kubernetes.io/ttl":{}}}}`
	nodeStatusFields = `{"f:status":{"f:allocatable":{},"f:capacity":{},"f:conditions":{` +
		`"k:{\"type\":\"DiskPressure\"}":{"f:lastHeartbeatTime":{}},"k:{\"type\":\"MemoryPressure\"}":{"f:lastHeartbeatTime":{}},` +
		`"k:{\"type\":\"PIDPressure\"}":{"f:lastHeartbeatTime":{}},"k:{\"type\":\"Ready\"}":{"f:lastHeartbeatTime":{}}},"f:nodeInfo":{}}}`
	// probeFields takes the types of the conditions, each as in probeField.
	probeFields = `{"f:status":{"f:conditions":{%s}}}`
	probeField  = `"k:{\"type\":\"%s\"}":{".":{},"f:lastProbeTime":{},"f:lastTransitionTime":{},"f:message":{},"f:reason":{},"f:status":{},"f:type":{}}`
)

// owns returns the entry of a manager that wrote to an object at a time. The
// subresource is empty for the object itself.
func owns(manager, subresource, apiVersion string, at metav1.Time, fields *metav1.FieldsV1) metav1.ManagedFieldsEntry {
	operation := metav1.ManagedFieldsOperationUpdate
	if manager == kustomize {
		operation = metav1.ManagedFieldsOperationApply
	}
	return metav1.ManagedFieldsEntry{
		Manager: manager, Operation: operation, Subresource: subresource,
		APIVersion: apiVersion, Time: &at, FieldsType: "FieldsV1", FieldsV1: fields,
	}
}

// wrote enters what managers wrote in place of what is known of them, in the
// order in which the server keeps it: what was applied first, then by time. The
// list before stays as it is.
func wrote(before []metav1.ManagedFieldsEntry, entries ...metav1.ManagedFieldsEntry) []metav1.ManagedFieldsEntry {
	all := slices.Clone(before)
	for _, e := range entries {
		if i := slices.IndexFunc(all, func(have metav1.ManagedFieldsEntry) bool { return sameManager(have, e) }); i >= 0 {
			all[i] = e
		} else {
			all = append(all, e)
		}
	}
	slices.SortStableFunc(all, func(a, b metav1.ManagedFieldsEntry) int {
		return cmp.Or(cmp.Compare(a.Operation, b.Operation), a.Time.Compare(b.Time.Time),
			cmp.Compare(a.Manager, b.Manager), cmp.Compare(a.Subresource, b.Subresource))
	})
	return all
}

func sameManager(a, b metav1.ManagedFieldsEntry) bool {
	return a.Manager == b.Manager && a.Operation == b.Operation && a.Subresource == b.Subresource
}

// touched returns the entries with the time of all of a manager's moved.
func touched(before []metav1.ManagedFieldsEntry, manager string, at metav1.Time) []metav1.ManagedFieldsEntry {
	var entries []metav1.ManagedFieldsEntry
	for _, e := range before {
		if e.Manager == manager {
			e.Time = &at
			entries = append(entries, e)
		}
	}
	return wrote(before, entries...)
}

func fieldsV1(format string, args ...any) *metav1.FieldsV1 {
	return metav1.NewFieldsV1(fmt.Sprintf(format, args...))
}
