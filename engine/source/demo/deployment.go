package demo

import (
	"maps"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// deployment is a Deployment and its controller.
type deployment struct {
	current *appsv1.Deployment
	// sets are its ReplicaSets, the newest last. At most keptSets are kept.
	sets     []*replicaSet
	template template
	// image and version make the next image: image:1.version.0.
	image                 string
	version, firstVersion int
	pods                  []*pod
	// replicas is how many pods it should have, usual how many it had at the
	// start.
	replicas, usual int
	// booked says that a sync is on the agenda.
	booked bool
}

type replicaSet struct {
	current *appsv1.ReplicaSet
	hash    string
}

// keptSets is a Deployment's revisionHistoryLimit here.
const keptSets = 3

func (d *deployment) hash() string { return d.sets[len(d.sets)-1].hash }

// deploy creates a Deployment of some age, with its pods running.
func (w *world) deploy(t template, image string, replicas int) *deployment {
	d := &deployment{template: t, image: image, version: 20 + w.random.IntN(60), replicas: replicas, usual: replicas}
	age := w.between(2*24*time.Hour, 90*24*time.Hour)
	limit := int32(keptSets - 1)
	surge, unavailable := intstr.FromString("50%"), intstr.FromString("25%")
	name := t.labels["app"]
	d.current = &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{
			Name: name, Namespace: t.namespace, UID: w.uid(), Generation: 1,
			CreationTimestamp: w.ago(age),
			Labels:            t.labels,
			Annotations:       map[string]string{"deployment.kubernetes.io/revision": "1"},
		},
		Spec: appsv1.DeploymentSpec{
			Selector:             &metav1.LabelSelector{MatchLabels: map[string]string{"app": name}},
			RevisionHistoryLimit: &limit,
			Strategy: appsv1.DeploymentStrategy{
				Type:          appsv1.RollingUpdateDeploymentStrategyType,
				RollingUpdate: &appsv1.RollingUpdateDeployment{MaxSurge: &surge, MaxUnavailable: &unavailable},
			},
		},
	}
	w.setImage(d)
	d.firstVersion = d.version
	d.describe(d.current)
	d.current.ManagedFields = wrote(nil,
		owns(kustomize, "", "apps/v1", d.current.CreationTimestamp, fieldsV1(deploymentFields, t.main.name, t.sidecar.name)),
		owns(controllerManager, "scale", "apps/v1", d.current.CreationTimestamp, fieldsV1(deploymentScaleFields)))
	w.server.create(deployments, d.current)
	w.newSet(d, w.ago(age/2))
	for range replicas {
		w.oldPod(d, w.between(10*time.Minute, age/2))
	}
	w.syncStatus(d)
	w.deployments = append(w.deployments, d)
	return d
}

// oldPod creates a pod that has been running for a while.
func (w *world) oldPod(d *deployment, age time.Duration) {
	o := w.newPod(d.template)
	n := w.leastLoaded()
	w.settle(o, n, age)
	o.Status.ContainerStatuses[0].RestartCount = int32(max(0, w.random.IntN(12)-9))
	p := w.add(o, d, d.hash())
	p.node, p.ready = n, true
	d.adopt(w, p)
}

// settle makes of a new pod one that has been running on a node for a while.
func (w *world) settle(o *corev1.Pod, n *node, age time.Duration) {
	n.pods++
	w.schedule(o, n)
	w.admit(o, n)
	w.running(o)
	markReady(o, true, w.now())
	backdate(o, w.ago(age))
}

// backdate moves everything that happened to a pod to one time.
func backdate(o *corev1.Pod, to metav1.Time) {
	o.CreationTimestamp = to
	o.Status.StartTime = &to
	for i := range o.Status.Conditions {
		o.Status.Conditions[i].LastTransitionTime = to
	}
	for i := range o.Status.ContainerStatuses {
		o.Status.ContainerStatuses[i].State.Running.StartedAt = to
	}
	o.ManagedFields = touched(touched(o.ManagedFields, kubelet, to), controllerManager, to)
}

func (d *deployment) adopt(w *world, p *pod) {
	d.pods = append(d.pods, p)
	p.changed = func() {
		if p.gone {
			d.forget(p)
		}
		w.sync(d)
	}
}

func (d *deployment) forget(p *pod) {
	for i, other := range d.pods {
		if other == p {
			d.pods = append(d.pods[:i], d.pods[i+1:]...)
			return
		}
	}
}

// setImage makes the image of the next revision the template's.
func (w *world) setImage(d *deployment) {
	d.version++
	d.template.main.image = imageTag(d.image, d.version)
	d.template.checksum = w.hex(16)
}

// describe writes what the template and the scale say into a spec.
func (d *deployment) describe(o *appsv1.Deployment) {
	replicas := int32(d.replicas)
	o.Spec.Replicas = &replicas
	o.Spec.Template = corev1.PodTemplateSpec{
		ObjectMeta: metav1.ObjectMeta{
			Labels:      map[string]string{"app": d.template.labels["app"], "tier": d.template.labels["tier"]},
			Annotations: map[string]string{"checksum/config": d.template.checksum},
		},
		Spec: corev1.PodSpec{
			Containers:         []corev1.Container{d.template.main.spec("token"), d.template.sidecar.spec("token")},
			ServiceAccountName: d.template.account,
		},
	}
}

// newSet creates the ReplicaSet of the template as it is.
func (w *world) newSet(d *deployment, created metav1.Time) {
	hash := w.hex(9)
	name := d.current.Name + "-" + hash
	labels := maps.Clone(d.template.labels)
	labels["pod-template-hash"] = hash
	isController := true
	zero := int32(0)
	set := &appsv1.ReplicaSet{
		ObjectMeta: metav1.ObjectMeta{
			Name: name, Namespace: d.template.namespace, UID: w.uid(), Generation: 1,
			CreationTimestamp: created, Labels: labels,
			OwnerReferences: []metav1.OwnerReference{{
				APIVersion: "apps/v1", Kind: "Deployment", Name: d.current.Name, UID: d.current.UID,
				Controller: &isController, BlockOwnerDeletion: &isController,
			}},
		},
		Spec: appsv1.ReplicaSetSpec{
			Replicas: &zero,
			Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": d.current.Name, "pod-template-hash": hash}},
			Template: *d.current.Spec.Template.DeepCopy(),
		},
	}
	set.Spec.Template.Labels = labels
	set.ManagedFields = wrote(nil, owns(controllerManager, "", "apps/v1", created, fieldsV1(replicaSetFields, d.current.UID)))
	w.server.create(replicaSets, set)
	d.sets = append(d.sets, &replicaSet{current: set, hash: hash})
	d.template.labels = labels
	d.template.prefix = name + "-"
	d.template.owner = ownerReference("apps/v1", "ReplicaSet", name, set.UID)
	w.press(&d.template)
}

func ownerReference(version, kind, name string, uid types.UID) metav1.OwnerReference {
	yes := true
	return metav1.OwnerReference{
		APIVersion: version, Kind: kind, Name: name, UID: uid,
		Controller: &yes, BlockOwnerDeletion: &yes,
	}
}
