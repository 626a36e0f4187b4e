package demo

import (
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	quantity "k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// heartbeatPeriod is how often a kubelet reports its node's status.
const heartbeatPeriod = 10 * time.Second

// node is a node and its kubelet.
type node struct {
	current  *corev1.Node
	name, ip string
	// pods is how many pods are placed on it.
	pods int
}

// addNodes creates nodes in three zones.
func (w *world) addNodes(n int) {
	for i := range n {
		zone := string(rune('a' + i%3))
		nd := &node{
			name: fmt.Sprintf("worker-%s%02d", zone, i/3+1),
			ip:   fmt.Sprintf("10.0.%d.%d", i/250, i%250+10),
		}
		nd.current = w.newNode(nd, zone)
		w.server.create(nodes, nd.current)
		w.nodes = append(w.nodes, nd)
	}
}

// scored is how many nodes the scheduler compares.
const scored = 16

// leastLoaded returns the node with the fewest pods; in a large cluster, as the
// scheduler does it, of a part of the nodes.
func (w *world) leastLoaded() *node {
	first := 0
	if len(w.nodes) > scored {
		first = w.random.IntN(len(w.nodes))
	}
	best := w.nodes[first]
	for i := range min(scored, len(w.nodes)) {
		if n := w.nodes[(first+i)%len(w.nodes)]; n.pods < best.pods {
			best = n
		}
	}
	return best
}

func (w *world) newNode(n *node, zone string) *corev1.Node {
	created := w.ago(w.between(30*24*time.Hour, 200*24*time.Hour))
	capacity := corev1.ResourceList{
		corev1.ResourceCPU:              quantity.MustParse("16"),
		corev1.ResourceMemory:           quantity.MustParse("64Gi"),
		corev1.ResourcePods:             quantity.MustParse("110"),
		corev1.ResourceEphemeralStorage: quantity.MustParse("200Gi"),
	}
	return &corev1.Node{
		ObjectMeta: metav1.ObjectMeta{
			Name: n.name, UID: w.uid(), CreationTimestamp: created,
			Labels: map[string]string{
				corev1.LabelHostname:           n.name,
				corev1.LabelTopologyZone:       "eu-1" + zone,
				corev1.LabelTopologyRegion:     "eu-1",
				corev1.LabelInstanceTypeStable: "m16.xlarge",
				corev1.LabelArchStable:         "amd64",
				corev1.LabelOSStable:           "linux",
			},
			Annotations: map[string]string{"node.alpha.kubernetes.io/ttl": "0"},
			ManagedFields: wrote(nil,
				owns(kubelet, "", "v1", created, fieldsV1(nodeFields)),
				owns(controllerManager, "", "v1", created, fieldsV1(nodeTTLFields)),
				owns(kubelet, "status", "v1", created, fieldsV1(nodeStatusFields))),
		},
		Spec: corev1.NodeSpec{ProviderID: "demo://" + n.name},
		Status: corev1.NodeStatus{
			Capacity: capacity, Allocatable: capacity.DeepCopy(),
			Conditions: []corev1.NodeCondition{
				nodeCondition(corev1.NodeMemoryPressure, false, "KubeletHasSufficientMemory", created),
				nodeCondition(corev1.NodeDiskPressure, false, "KubeletHasNoDiskPressure", created),
				nodeCondition(corev1.NodePIDPressure, false, "KubeletHasSufficientPID", created),
				nodeCondition(corev1.NodeReady, true, "KubeletReady", created),
			},
			Addresses: []corev1.NodeAddress{
				{Type: corev1.NodeInternalIP, Address: n.ip},
				{Type: corev1.NodeHostName, Address: n.name},
			},
			NodeInfo: corev1.NodeSystemInfo{
				MachineID: w.hex(32), SystemUUID: string(w.uid()), BootID: string(w.uid()),
				KernelVersion: "6.12.9", OSImage: "Linux", ContainerRuntimeVersion: "containerd://2.1.4",
				KubeletVersion: "v1.37.2", OperatingSystem: "linux", Architecture: "amd64",
			},
		},
	}
}

func nodeCondition(kind corev1.NodeConditionType, holds bool, reason string, since metav1.Time) corev1.NodeCondition {
	status := corev1.ConditionFalse
	if holds {
		status = corev1.ConditionTrue
	}
	return corev1.NodeCondition{
		Type: kind, Status: status, Reason: reason,
		LastHeartbeatTime: since, LastTransitionTime: since,
	}
}

// heartbeat is a kubelet's report that nothing has changed but the time.
func (w *world) heartbeat(n *node) {
	next := n.current.DeepCopy()
	now := w.now()
	for i := range next.Status.Conditions {
		next.Status.Conditions[i].LastHeartbeatTime = now
	}
	next.ManagedFields = wrote(next.ManagedFields, owns(kubelet, "status", "v1", now, fieldsV1(nodeStatusFields)))
	w.server.update(nodes, next)
	n.current = next
}
