package load

import (
	"crypto/sha256"
	"fmt"
	"math/rand/v2"
	"strconv"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// The label by which the pods of this package are found again.
const (
	partOfLabel = "app.kubernetes.io/part-of"
	partOfValue = "informeter-load"
)

// The managers that own fields of a pod, as in a real cluster.
const (
	controllerManager = "kube-controller-manager"
	kubeletManager    = "kubelet"
)

const (
	replicas      = 5 // pods of one ReplicaSet
	podsPerNode   = 100
	namespaces    = 12
	nameAlphabet  = "bcdfghjklmnpqrstvwxz2456789" // what Kubernetes makes names of
	clusterDomain = "svc.cluster.local"
)

// apps are the workloads whose replicas fill the server.
func apps() []string {
	return []string{
		"checkout", "cart", "catalog", "payments", "search", "recommendations",
		"shipping", "identity", "notifications", "inventory", "pricing", "frontend",
	}
}

// newPod returns pod number i of the population, as the ReplicaSet controller
// and the scheduler would leave it. The name is new each time; everything else
// follows from i.
func newPod(i int) *corev1.Pod {
	set := i / replicas
	app := apps()[set%len(apps())]
	release := "r" + strconv.Itoa(set/len(apps()))
	hash := suffix(rand.New(rand.NewPCG(uint64(set), 0)), 10)
	owner := fmt.Sprintf("%s-%s-%s", app, release, hash)
	yes := true
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Name:         owner + "-" + suffix(nil, 5),
			GenerateName: owner + "-",
			Namespace:    namespaceOf(i),
			Labels: map[string]string{
				"app.kubernetes.io/name":     app,
				"app.kubernetes.io/instance": app + "-" + release,
				"app.kubernetes.io/version":  fmt.Sprintf("1.%d.%d", set%20, set%7),
				partOfLabel:                  partOfValue,
				"pod-template-hash":          hash,
				"team":                       []string{"atlas", "borealis", "cygnus", "draco"}[set%4],
			},
			Annotations: map[string]string{
				"prometheus.io/scrape": "true",
				"checksum/config":      fmt.Sprintf("%016x%016x", uint64(set)*0x9e3779b97f4a7c15, uint64(set)*0xc2b2ae3d27d4eb4f),
			},
			OwnerReferences: []metav1.OwnerReference{{
				APIVersion: "apps/v1", Kind: "ReplicaSet", Name: owner,
				UID:        types.UID(fmt.Sprintf("%08x-5f3a-4c1e-9d2b-%012x", set, set)),
				Controller: &yes, BlockOwnerDeletion: &yes,
			}},
		},
		Spec: corev1.PodSpec{
			NodeName:           nodeOf(i),
			ServiceAccountName: app,
			Containers:         []corev1.Container{appContainer(app, set), sidecarContainer()},
			Volumes:            volumes(app),
		},
	}
}

// namespaceOf spreads the ReplicaSets over namespaces, some large, some small.
func namespaceOf(i int) string {
	set := i / replicas
	n := set % (namespaces * 2)
	if n >= namespaces {
		n %= 3
	}
	return fmt.Sprintf("shop-%02d", n)
}

func nodeOf(i int) string {
	n := i / podsPerNode
	return fmt.Sprintf("ip-10-%d-%d-%d.ec2.internal", n%3, n/250, n%250+1)
}

func appContainer(app string, set int) corev1.Container {
	return corev1.Container{
		Name:  app,
		Image: fmt.Sprintf("registry.example.com/shop/%s:1.%d.%d", app, set%20, set%7),
		Ports: []corev1.ContainerPort{
			{Name: "http", ContainerPort: 8080, Protocol: corev1.ProtocolTCP},
		},
		Env: []corev1.EnvVar{
			{Name: "POD_NAME", ValueFrom: fieldRef("metadata.name")},
			{Name: "DATABASE_HOST", Value: app + "-postgres." + clusterDomain},
		},
		Resources:      corev1.ResourceRequirements{Requests: quantities("250m", "256Mi"), Limits: quantities("1", "512Mi")},
		ReadinessProbe: probe("/ready"),
		VolumeMounts:   []corev1.VolumeMount{{Name: "config", MountPath: "/etc/" + app, ReadOnly: true}},
	}
}

func sidecarContainer() corev1.Container {
	return corev1.Container{
		Name:         "proxy",
		Image:        "registry.example.com/mesh/proxy:v1.31.2",
		Args:         []string{"proxy", "sidecar"},
		Resources:    corev1.ResourceRequirements{Requests: quantities("100m", "128Mi")},
		VolumeMounts: []corev1.VolumeMount{{Name: "run", MountPath: "/run/proxy"}},
	}
}

func volumes(app string) []corev1.Volume {
	return []corev1.Volume{
		{Name: "config", VolumeSource: corev1.VolumeSource{ConfigMap: &corev1.ConfigMapVolumeSource{
			LocalObjectReference: corev1.LocalObjectReference{Name: app + "-config"},
		}}},
		{Name: "run", VolumeSource: corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{}}},
	}
}

func fieldRef(path string) *corev1.EnvVarSource {
	return &corev1.EnvVarSource{FieldRef: &corev1.ObjectFieldSelector{APIVersion: "v1", FieldPath: path}}
}

func quantities(cpu, memory string) corev1.ResourceList {
	return corev1.ResourceList{
		corev1.ResourceCPU:    resource.MustParse(cpu),
		corev1.ResourceMemory: resource.MustParse(memory),
	}
}

func probe(path string) *corev1.Probe {
	return &corev1.Probe{
		ProbeHandler: corev1.ProbeHandler{
			HTTPGet: &corev1.HTTPGetAction{Path: path, Port: intstr.FromString("http"), Scheme: corev1.URISchemeHTTP},
		},
		InitialDelaySeconds: 3, TimeoutSeconds: 2, PeriodSeconds: 5, SuccessThreshold: 1, FailureThreshold: 3,
	}
}

// status is what the kubelet reports next for a running pod. A pod that is not
// ready has restarted its first container once more.
func status(pod *corev1.Pod, ready bool, now time.Time) corev1.PodStatus {
	restarts := int32(0)
	if len(pod.Status.ContainerStatuses) > 0 {
		restarts = pod.Status.ContainerStatuses[0].RestartCount
	}
	if !ready {
		restarts++
	}
	address := pod.Status.PodIP
	if address == "" {
		address = fmt.Sprintf("10.%d.%d.%d", 64+rand.IntN(64), rand.IntN(256), 1+rand.IntN(254))
	}
	at := metav1.NewTime(now.UTC().Truncate(time.Second))
	readiness := corev1.ConditionTrue
	if !ready {
		readiness = corev1.ConditionFalse
	}
	condition := func(kind corev1.PodConditionType, state corev1.ConditionStatus) corev1.PodCondition {
		return corev1.PodCondition{Type: kind, Status: state, LastTransitionTime: at}
	}
	return corev1.PodStatus{
		Phase:  corev1.PodRunning,
		HostIP: "10.0.17.41", HostIPs: []corev1.HostIP{{IP: "10.0.17.41"}},
		PodIP: address, PodIPs: []corev1.PodIP{{IP: address}},
		StartTime: &at,
		QOSClass:  corev1.PodQOSBurstable,
		Conditions: []corev1.PodCondition{
			condition(corev1.PodReadyToStartContainers, corev1.ConditionTrue),
			condition(corev1.PodInitialized, corev1.ConditionTrue),
			condition(corev1.PodReady, readiness),
			condition(corev1.ContainersReady, readiness),
			condition(corev1.PodScheduled, corev1.ConditionTrue),
		},
		ContainerStatuses: []corev1.ContainerStatus{
			containerStatus(pod.Spec.Containers[0], restarts, ready, at),
			containerStatus(pod.Spec.Containers[1], 0, true, at),
		},
	}
}

func containerStatus(c corev1.Container, restarts int32, ready bool, at metav1.Time) corev1.ContainerStatus {
	started := true
	return corev1.ContainerStatus{
		Name: c.Name, Image: c.Image, Ready: ready, Started: &started, RestartCount: restarts,
		ImageID:     fmt.Sprintf("%s@sha256:%x", c.Image, sha256.Sum256([]byte(c.Image))),
		ContainerID: fmt.Sprintf("containerd://%016x%016x%016x%016x", rand.Uint64(), rand.Uint64(), rand.Uint64(), rand.Uint64()),
		State:       corev1.ContainerState{Running: &corev1.ContainerStateRunning{StartedAt: at}},
	}
}

// suffix returns n characters of a generated name; a nil source is random.
func suffix(source *rand.Rand, n int) string {
	draw := rand.IntN
	if source != nil {
		draw = source.IntN
	}
	text := make([]byte, n)
	for i := range text {
		text[i] = nameAlphabet[draw(len(nameAlphabet))]
	}
	return string(text)
}
