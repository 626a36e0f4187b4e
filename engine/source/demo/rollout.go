package demo

import (
	"fmt"
	"slices"
	"strconv"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
)

// scale asks for another number of replicas.
func (w *world) scale(d *deployment, replicas int) {
	d.replicas = replicas
	w.respecify(d, controllerManager, "scale")
	w.sync(d)
}

// rollOut asks for the next image.
func (w *world) rollOut(d *deployment) {
	w.setImage(d)
	w.respecify(d, kustomize, "")
	w.newSet(d, w.now())
	w.sync(d)
}

// respecify writes a deployment's spec as its template and scale now are, in a
// manager's name.
func (w *world) respecify(d *deployment, manager, subresource string) {
	next := d.current.DeepCopy()
	next.Generation++
	d.describe(next)
	for i := range next.ManagedFields {
		if e := next.ManagedFields[i]; e.Manager == manager && e.Subresource == subresource {
			next.ManagedFields = wrote(next.ManagedFields, owns(manager, subresource, e.APIVersion, w.now(), e.FieldsV1))
			break
		}
	}
	w.server.update(deployments, next)
	d.current = next
}

// sync books a pass of the deployment's controller, if none is booked.
func (w *world) sync(d *deployment) {
	if d.booked {
		return
	}
	d.booked = true
	w.after(w.between(10*time.Millisecond, 60*time.Millisecond), func() {
		d.booked = false
		w.reconcile(d)
	})
}

// reconcile does one step of a rolling update or of scaling: it creates as many
// pods of the present template as the surge allows, and ends as many others as
// leaves enough of them ready.
func (w *world) reconcile(d *deployment) {
	var fresh, old []*pod
	ready := 0
	for _, p := range d.pods {
		switch {
		case p.ending:
			continue
		case p.hash == d.hash():
			fresh = append(fresh, p)
		default:
			old = append(old, p)
		}
		if p.ready {
			ready++
		}
	}
	surge, unavailable := (d.replicas+1)/2, d.replicas/4
	missing := min(d.replicas-len(fresh), d.replicas+surge-len(fresh)-len(old))
	for range missing {
		p := w.add(w.newPod(d.template), d, d.hash())
		d.adopt(w, p)
		w.start(p)
	}
	for _, p := range old {
		if p.ready {
			if ready <= d.replicas-unavailable {
				continue
			}
			ready--
		}
		w.end(p)
	}
	// The youngest go first.
	for i := len(fresh) - 1; i >= d.replicas; i-- {
		w.end(fresh[i])
	}
	w.syncStatus(d)
}

// syncStatus writes what has changed in the status of the deployment and of its
// sets, and removes sets that are no longer kept.
func (w *world) syncStatus(d *deployment) {
	perSet := map[string]*appsv1.ReplicaSetStatus{}
	for _, s := range d.sets {
		perSet[s.hash] = &appsv1.ReplicaSetStatus{ObservedGeneration: s.current.Generation}
	}
	var status appsv1.DeploymentStatus
	for _, p := range d.pods {
		if p.ending {
			continue
		}
		s := perSet[p.hash]
		s.Replicas++
		s.FullyLabeledReplicas++
		status.Replicas++
		if p.hash == d.hash() {
			status.UpdatedReplicas++
		}
		if p.ready {
			s.ReadyReplicas++
			s.AvailableReplicas++
			status.ReadyReplicas++
			status.AvailableReplicas++
		}
	}
	status.UnavailableReplicas = max(0, int32(d.replicas)-status.ReadyReplicas)
	for _, s := range d.sets {
		w.writeSetStatus(s, *perSet[s.hash])
	}
	w.writeStatus(d, status)
	for len(d.sets) > keptSets && perSet[d.sets[0].hash].Replicas == 0 && !d.hasPods(d.sets[0].hash) {
		w.server.remove(replicaSets, keyOf(d.sets[0].current))
		d.sets = slices.Delete(d.sets, 0, 1)
	}
}

func (d *deployment) hasPods(hash string) bool {
	return slices.ContainsFunc(d.pods, func(p *pod) bool { return p.hash == hash })
}

func (w *world) writeSetStatus(s *replicaSet, status appsv1.ReplicaSetStatus) {
	have := s.current.Status
	if have.Replicas == status.Replicas && have.ReadyReplicas == status.ReadyReplicas {
		return
	}
	next := s.current.DeepCopy()
	replicas := status.Replicas
	if *next.Spec.Replicas != replicas {
		next.Generation++
	}
	status.ObservedGeneration = next.Generation
	next.Spec.Replicas, next.Status = &replicas, status
	next.ManagedFields = wrote(next.ManagedFields, owns(controllerManager, "status", "apps/v1", w.now(), fieldsV1(replicaSetStatusFields)))
	w.server.update(replicaSets, next)
	s.current = next
}

func (w *world) writeStatus(d *deployment, status appsv1.DeploymentStatus) {
	have := d.current.Status
	status.ObservedGeneration = d.current.Generation
	status.Conditions = have.Conditions
	if have.Replicas == status.Replicas && have.UpdatedReplicas == status.UpdatedReplicas &&
		have.ReadyReplicas == status.ReadyReplicas && have.ObservedGeneration == status.ObservedGeneration {
		return
	}
	next := d.current.DeepCopy()
	next.Status = status
	next.Annotations["deployment.kubernetes.io/revision"] = strconv.Itoa(d.revision())
	w.setDeploymentConditions(d, next)
	next.ManagedFields = wrote(next.ManagedFields, owns(controllerManager, "status", "apps/v1", w.now(), fieldsV1(deploymentStatusFields)))
	w.server.update(deployments, next)
	d.current = next
}

// revision counts the templates that the deployment has had.
func (d *deployment) revision() int { return d.version - d.firstVersion + 1 }

func (w *world) setDeploymentConditions(d *deployment, o *appsv1.Deployment) {
	now := w.now()
	available := corev1.ConditionFalse
	if int(o.Status.ReadyReplicas) >= d.replicas-d.replicas/4 {
		available = corev1.ConditionTrue
	}
	reason := "ReplicaSetUpdated"
	message := fmt.Sprintf("ReplicaSet %q is progressing.", d.current.Name+"-"+d.hash())
	if int(o.Status.UpdatedReplicas) == d.replicas && o.Status.ReadyReplicas == o.Status.Replicas {
		reason = "NewReplicaSetAvailable"
		message = fmt.Sprintf("ReplicaSet %q has successfully progressed.", d.current.Name+"-"+d.hash())
	}
	since := now
	for _, c := range o.Status.Conditions {
		if c.Type == appsv1.DeploymentAvailable && c.Status == available {
			since = c.LastTransitionTime
		}
	}
	o.Status.Conditions = []appsv1.DeploymentCondition{
		{Type: appsv1.DeploymentAvailable, Status: available, LastUpdateTime: now, LastTransitionTime: since},
		{
			Type: appsv1.DeploymentProgressing, Status: corev1.ConditionTrue, Reason: reason, Message: message,
			LastUpdateTime: now, LastTransitionTime: o.CreationTimestamp,
		},
	}
}

func imageTag(image string, version int) string {
	return fmt.Sprintf("registry.example.com/%s:1.%d.0", image, version)
}
