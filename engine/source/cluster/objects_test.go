package cluster

import (
	"encoding/json"
	"fmt"
	"strconv"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	apiruntime "k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
)

// realisticPod is a pod as a ReplicaSet's are: 1.4 kB as protobuf.
func realisticPod(i int) *corev1.Pod {
	at := metav1.NewTime(time.Unix(1_790_000_000+int64(i), 0))
	app := "app-" + strconv.Itoa(i%100)
	conditions := make([]corev1.PodCondition, 0, 5)
	for _, c := range []corev1.PodConditionType{"PodReadyToStartContainers", corev1.PodInitialized, corev1.PodReady, corev1.ContainersReady, corev1.PodScheduled} {
		conditions = append(conditions, corev1.PodCondition{Type: c, Status: corev1.ConditionTrue, LastTransitionTime: at})
	}
	seconds := int64(300)
	toleration := func(key string) corev1.Toleration {
		return corev1.Toleration{Key: key, Operator: corev1.TolerationOpExists, Effect: corev1.TaintEffectNoExecute, TolerationSeconds: &seconds}
	}
	return &corev1.Pod{
		TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Pod"},
		ObjectMeta: metav1.ObjectMeta{
			Name: fmt.Sprintf("%s-7d9c6f5b8d-%05d", app, i), GenerateName: app + "-7d9c6f5b8d-", Namespace: "ns-" + strconv.Itoa(i%20),
			UID: types.UID(fmt.Sprintf("3f8a1c5e-7b2d-4e69-9a0f-%012d", i)), ResourceVersion: strconv.Itoa(i + 1), CreationTimestamp: at,
			Labels:      map[string]string{"app.kubernetes.io/name": app, "app.kubernetes.io/part-of": "shop", "pod-template-hash": "7d9c6f5b8d"},
			Annotations: map[string]string{"kubectl.kubernetes.io/restartedAt": "2026-09-21T10:11:12Z", "prometheus.io/scrape": "true"},
			OwnerReferences: []metav1.OwnerReference{{
				APIVersion: "apps/v1", Kind: "ReplicaSet", Name: app + "-7d9c6f5b8d", UID: "9c1d2e3f-4a5b-6c7d-8e9f-0a1b2c3d4e5f", Controller: new(true), BlockOwnerDeletion: new(true),
			}},
		},
		Spec: corev1.PodSpec{
			NodeName: "node-" + strconv.Itoa(i%50), ServiceAccountName: "default", RestartPolicy: corev1.RestartPolicyAlways, DNSPolicy: corev1.DNSClusterFirst,
			SchedulerName: "default-scheduler", SecurityContext: &corev1.PodSecurityContext{}, EnableServiceLinks: new(true), Priority: new(int32),
			Tolerations: []corev1.Toleration{toleration("node.kubernetes.io/not-ready"), toleration("node.kubernetes.io/unreachable")},
			Volumes: []corev1.Volume{{Name: "kube-api-access-x7k2p", VolumeSource: corev1.VolumeSource{Projected: &corev1.ProjectedVolumeSource{
				DefaultMode: new(int32), Sources: []corev1.VolumeProjection{
					{ServiceAccountToken: &corev1.ServiceAccountTokenProjection{ExpirationSeconds: &seconds, Path: "token"}},
					{ConfigMap: &corev1.ConfigMapProjection{LocalObjectReference: corev1.LocalObjectReference{Name: "kube-root-ca.crt"}, Items: []corev1.KeyToPath{{Key: "ca.crt", Path: "ca.crt"}}}},
				},
			}}}},
			Containers: []corev1.Container{{
				Name: "server", Image: "registry.example.com/shop/" + app + ":v1.42.0", ImagePullPolicy: corev1.PullIfNotPresent,
				Ports: []corev1.ContainerPort{{Name: "http", ContainerPort: 8080, Protocol: corev1.ProtocolTCP}},
				Env:   []corev1.EnvVar{{Name: "LOG_LEVEL", Value: "info"}, {Name: "POD_NAME", ValueFrom: &corev1.EnvVarSource{FieldRef: &corev1.ObjectFieldSelector{APIVersion: "v1", FieldPath: "metadata.name"}}}},
				Resources: corev1.ResourceRequirements{
					Requests: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("100m"), corev1.ResourceMemory: resource.MustParse("128Mi")},
					Limits:   corev1.ResourceList{corev1.ResourceMemory: resource.MustParse("256Mi")},
				},
				VolumeMounts:             []corev1.VolumeMount{{Name: "kube-api-access-x7k2p", ReadOnly: true, MountPath: "/var/run/secrets/kubernetes.io/serviceaccount"}},
				TerminationMessagePath:   "/dev/termination-log",
				TerminationMessagePolicy: corev1.TerminationMessageReadFile,
			}},
		},
		Status: corev1.PodStatus{
			Phase: corev1.PodRunning, Conditions: conditions, HostIP: "10.0.0.7", PodIP: fmt.Sprintf("10.1.%d.%d", i/250, i%250), StartTime: &at, QOSClass: corev1.PodQOSBurstable,
			PodIPs: []corev1.PodIP{{IP: fmt.Sprintf("10.1.%d.%d", i/250, i%250)}},
			ContainerStatuses: []corev1.ContainerStatus{{
				Name: "server", Ready: true, Started: new(true), State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{StartedAt: at}},
				Image:       "registry.example.com/shop/" + app + ":v1.42.0",
				ImageID:     "registry.example.com/shop/app@sha256:5f70bf18a086007016e948b04aed3b82103a36bea41755b6cddfaf10ace3c6ef",
				ContainerID: fmt.Sprintf("containerd://%064d", i),
			}},
		},
	}
}

// realisticWidget is the same pod as an object of a type that has no Go type.
func realisticWidget(tb testing.TB, i int) *unstructured.Unstructured {
	tb.Helper()
	content, err := apiruntime.DefaultUnstructuredConverter.ToUnstructured(realisticPod(i))
	if err != nil {
		tb.Fatal(err)
	}
	u := &unstructured.Unstructured{Object: content}
	u.SetAPIVersion("example.com/v1")
	u.SetKind("Widget")
	return u
}

// jsonFrame returns a function that encodes watch events as a server does.
func jsonFrame(tb testing.TB) func(watch.EventType, apiruntime.Object) []byte {
	return func(t watch.EventType, obj apiruntime.Object) []byte {
		tb.Helper()
		raw, err := json.Marshal(obj)
		if err != nil {
			tb.Fatal(err)
		}
		frame, err := json.Marshal(metav1.WatchEvent{Type: string(t), Object: apiruntime.RawExtension{Raw: raw}})
		if err != nil {
			tb.Fatal(err)
		}
		return append(frame, '\n')
	}
}
