package demo

import (
	corev1 "k8s.io/api/core/v1"
	quantity "k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// template is what the pods of one owner have in common.
type template struct {
	namespace string
	// prefix is what the pods' names begin with, up to the random part.
	prefix   string
	labels   map[string]string
	owner    metav1.OwnerReference
	checksum string
	account  string
	restart  corev1.RestartPolicy
	main     container
	sidecar  container

	// shared is what press made of the above: the parts of a pod that are the
	// same in all of them, and that are never written to.
	shared *sharedParts
}

// sharedParts are stored once for all pods of a template: in the server they are
// immutable, and clients get copies.
type sharedParts struct {
	spec        corev1.PodSpec
	annotations map[string]string
	owners      []metav1.OwnerReference
	managed     *metav1.FieldsV1
}

// container is one container of a template.
type container struct {
	name, image   string
	cpu, memory   string
	port          int32
	probe         string
	memoryLimited bool
}

// press makes the shared parts anew, after the template was changed.
func (w *world) press(t *template) {
	t.shared = &sharedParts{
		spec:        w.podSpec(*t),
		annotations: map[string]string{"checksum/config": t.checksum},
		owners:      []metav1.OwnerReference{t.owner},
		managed:     fieldsV1(controllerManagerFields, t.owner.UID, t.main.name),
	}
}

// newPod returns a pod as its controller creates it: nobody has placed it yet.
func (w *world) newPod(t template) *corev1.Pod {
	created := w.now()
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Name:              t.prefix + w.suffix(5),
			GenerateName:      t.prefix,
			Namespace:         t.namespace,
			UID:               w.uid(),
			CreationTimestamp: created,
			Labels:            t.labels,
			Annotations:       t.shared.annotations,
			OwnerReferences:   t.shared.owners,
			ManagedFields:     []metav1.ManagedFieldsEntry{owns(controllerManager, "", "v1", created, t.shared.managed)},
		},
		Spec: t.shared.spec,
		Status: corev1.PodStatus{
			Phase:    corev1.PodPending,
			QOSClass: corev1.PodQOSBurstable,
		},
	}
}

func (w *world) podSpec(t template) corev1.PodSpec {
	token := "kube-api-access-" + w.suffix(5)
	grace, seconds := int64(30), int64(300)
	links, expires := true, int64(3607)
	policy := corev1.PreemptLowerPriority
	priority := int32(0)
	mode := int32(0o644)
	return corev1.PodSpec{
		Volumes: []corev1.Volume{{
			Name: token,
			VolumeSource: corev1.VolumeSource{Projected: &corev1.ProjectedVolumeSource{
				DefaultMode: &mode,
				Sources: []corev1.VolumeProjection{
					{ServiceAccountToken: &corev1.ServiceAccountTokenProjection{ExpirationSeconds: &expires, Path: "token"}},
					{ConfigMap: &corev1.ConfigMapProjection{
						LocalObjectReference: corev1.LocalObjectReference{Name: "kube-root-ca.crt"},
						Items:                []corev1.KeyToPath{{Key: "ca.crt", Path: "ca.crt"}},
					}},
				},
			}},
		}},
		Containers:                    []corev1.Container{t.main.spec(token), t.sidecar.spec(token)},
		RestartPolicy:                 t.restart,
		TerminationGracePeriodSeconds: &grace,
		DNSPolicy:                     corev1.DNSClusterFirst,
		ServiceAccountName:            t.account,
		DeprecatedServiceAccount:      t.account,
		SecurityContext:               &corev1.PodSecurityContext{},
		SchedulerName:                 corev1.DefaultSchedulerName,
		Tolerations: []corev1.Toleration{
			{Key: corev1.TaintNodeNotReady, Operator: corev1.TolerationOpExists, Effect: corev1.TaintEffectNoExecute, TolerationSeconds: &seconds},
			{Key: corev1.TaintNodeUnreachable, Operator: corev1.TolerationOpExists, Effect: corev1.TaintEffectNoExecute, TolerationSeconds: &seconds},
		},
		Priority:           &priority,
		EnableServiceLinks: &links,
		PreemptionPolicy:   &policy,
	}
}

func (c container) spec(token string) corev1.Container {
	s := corev1.Container{
		Name:                     c.name,
		Image:                    c.image,
		Env:                      []corev1.EnvVar{{Name: "GOMEMLIMIT", Value: c.memory + "B"}},
		ImagePullPolicy:          corev1.PullIfNotPresent,
		TerminationMessagePath:   corev1.TerminationMessagePathDefault,
		TerminationMessagePolicy: corev1.TerminationMessageReadFile,
		VolumeMounts: []corev1.VolumeMount{{
			Name: token, ReadOnly: true, MountPath: "/var/run/secrets/kubernetes.io/serviceaccount",
		}},
		Resources: corev1.ResourceRequirements{
			Requests: corev1.ResourceList{
				corev1.ResourceCPU:    quantity.MustParse(c.cpu),
				corev1.ResourceMemory: quantity.MustParse(c.memory),
			},
		},
	}
	if c.memoryLimited {
		s.Resources.Limits = corev1.ResourceList{corev1.ResourceMemory: quantity.MustParse(c.memory)}
	}
	if c.port > 0 {
		s.Ports = []corev1.ContainerPort{{Name: "http", ContainerPort: c.port, Protocol: corev1.ProtocolTCP}}
	}
	if c.probe != "" {
		s.ReadinessProbe = &corev1.Probe{
			ProbeHandler: corev1.ProbeHandler{HTTPGet: &corev1.HTTPGetAction{
				Path: c.probe, Port: intstr.FromString("http"), Scheme: corev1.URISchemeHTTP,
			}},
			TimeoutSeconds: 1, PeriodSeconds: 5, SuccessThreshold: 1, FailureThreshold: 3,
		}
	}
	return s
}
