package demo

import (
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// pod is a pod's life as its controllers and its kubelet see it.
type pod struct {
	// current is the newest version, which the server owns: it is copied to be
	// changed.
	current *corev1.Pod
	owner   *deployment // nil for the pods of jobs
	hash    string
	node    *node
	// ready follows the condition; ending says that a deletion was asked for;
	// gone that it is over.
	ready, ending, gone bool
	// taken pods are somebody's whose writes are to be seen: chance leaves them
	// alone.
	taken bool
	// at is the pod's place in world.pods.
	at int
	// changed, if set, is told when ready or gone has changed.
	changed func()
}

// change writes a new version of a pod in a manager's name; empty is a write that
// leaves no trace in the managed fields, as a binding and a deletion. The edit may
// write to the status and to plain fields of the rest: what those point to is
// shared with the version before.
func (w *world) change(p *pod, manager string, edit func(*corev1.Pod)) {
	next := &corev1.Pod{TypeMeta: p.current.TypeMeta, ObjectMeta: p.current.ObjectMeta, Spec: p.current.Spec}
	p.current.Status.DeepCopyInto(&next.Status)
	edit(next)
	next.ManagedFields = touched(next.ManagedFields, manager, w.now())
	w.server.update(pods, next)
	w.podWrites++
	p.current = next
}

// add puts a pod into the cluster. What happens to it next is up to the caller.
func (w *world) add(object *corev1.Pod, owner *deployment, hash string) *pod {
	p := &pod{current: object, owner: owner, hash: hash, at: len(w.pods)}
	w.pods = append(w.pods, p)
	w.server.create(pods, object)
	w.podWrites++
	return p
}

// start leads a new pod to its readiness: the scheduler places it, the kubelet
// creates its containers, they run, they are ready.
func (w *world) start(p *pod) {
	w.after(w.between(20*time.Millisecond, 180*time.Millisecond), func() {
		if p.ending {
			return
		}
		p.node = w.leastLoaded()
		p.node.pods++
		w.change(p, "", func(o *corev1.Pod) { w.schedule(o, p.node) })
		w.after(w.between(60*time.Millisecond, 400*time.Millisecond), func() {
			if p.ending {
				return
			}
			w.change(p, kubelet, func(o *corev1.Pod) { w.admit(o, p.node) })
			w.after(w.between(600*time.Millisecond, 2500*time.Millisecond), func() { w.launch(p) })
		})
	})
}

func (w *world) launch(p *pod) {
	if p.ending {
		return
	}
	w.change(p, kubelet, w.running)
	w.after(w.between(700*time.Millisecond, 3*time.Second), func() { w.setReady(p, true) })
}

// schedule is the scheduler's binding.
func (w *world) schedule(o *corev1.Pod, n *node) {
	o.Spec.NodeName = n.name
	o.Status.Conditions = append(o.Status.Conditions, condition(corev1.PodScheduled, true, "", w.now()))
}

// admit is the kubelet's first report: the containers are being created.
func (w *world) admit(o *corev1.Pod, n *node) {
	now := w.now()
	o.Status.HostIP = n.ip
	o.Status.HostIPs = []corev1.HostIP{{IP: o.Status.HostIP}}
	o.Status.StartTime = &now
	setCondition(o, condition(corev1.PodReadyToStartContainers, false, "", now))
	setCondition(o, condition(corev1.PodInitialized, true, "", now))
	setCondition(o, condition(corev1.PodReady, false, "ContainersNotReady", now))
	setCondition(o, condition(corev1.ContainersReady, false, "ContainersNotReady", now))
	o.Status.ContainerStatuses = nil
	for _, c := range o.Spec.Containers {
		stopped := false
		o.Status.ContainerStatuses = append(o.Status.ContainerStatuses, corev1.ContainerStatus{
			Name: c.Name, Image: c.Image, Started: &stopped,
			State: corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: "ContainerCreating"}},
		})
	}
	o.ManagedFields = wrote(o.ManagedFields, owns(kubelet, "status", "v1", now, fieldsV1(kubeletFields, "")))
}

// running reports that all containers run.
func (w *world) running(o *corev1.Pod) {
	now := w.now()
	o.Status.Phase = corev1.PodRunning
	o.Status.PodIP = w.address()
	o.Status.PodIPs = []corev1.PodIP{{IP: o.Status.PodIP}}
	setCondition(o, condition(corev1.PodReadyToStartContainers, true, "", now))
	for i := range o.Status.ContainerStatuses {
		w.startContainer(&o.Status.ContainerStatuses[i], now)
	}
	o.ManagedFields = wrote(o.ManagedFields, owns(kubelet, "status", "v1", now, fieldsV1(kubeletFields, o.Status.PodIP)))
}

func (w *world) startContainer(s *corev1.ContainerStatus, now metav1.Time) {
	started := true
	s.Started = &started
	s.ContainerID = "containerd://" + w.hex(64)
	s.ImageID = "registry.example.com/" + s.Name + "@sha256:" + w.hex(64)
	s.State = corev1.ContainerState{Running: &corev1.ContainerStateRunning{StartedAt: now}}
}

// setReady reports that the readiness probe began to pass, or ceased to.
func (w *world) setReady(p *pod, ready bool) {
	if p.ending || p.ready == ready {
		return
	}
	w.change(p, kubelet, func(o *corev1.Pod) { markReady(o, ready, w.now()) })
	w.becomeReady(p, ready)
}

func markReady(o *corev1.Pod, ready bool, now metav1.Time) {
	reason := ""
	if !ready {
		reason = "ContainersNotReady"
	}
	setCondition(o, condition(corev1.PodReady, ready, reason, now))
	setCondition(o, condition(corev1.ContainersReady, ready, reason, now))
	for i := range o.Status.ContainerStatuses {
		s := &o.Status.ContainerStatuses[i]
		s.Ready = ready && s.State.Running != nil || i > 0 && s.State.Running != nil
	}
}

func (w *world) becomeReady(p *pod, ready bool) {
	p.ready = ready
	if p.changed != nil {
		p.changed()
	}
}

// restart kills a pod's main container and starts it again.
func (w *world) restart(p *pod) {
	if p.ending || !p.ready {
		return
	}
	code, reason := int32(1), "Error"
	if w.random.IntN(3) == 0 {
		code, reason = 137, "OOMKilled"
	}
	w.change(p, kubelet, func(o *corev1.Pod) {
		now := w.now()
		s := &o.Status.ContainerStatuses[0]
		var since metav1.Time
		if s.State.Running != nil {
			since = s.State.Running.StartedAt
		}
		stopped := false
		s.Started = &stopped
		s.State = corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{
			ExitCode: code, Reason: reason, StartedAt: since, FinishedAt: now, ContainerID: s.ContainerID,
		}}
		markReady(o, false, now)
	})
	w.becomeReady(p, false)
	w.after(w.between(900*time.Millisecond, 3*time.Second), func() {
		if p.ending {
			return
		}
		w.change(p, kubelet, func(o *corev1.Pod) {
			s := &o.Status.ContainerStatuses[0]
			s.LastTerminationState = s.State
			s.RestartCount++
			w.startContainer(s, w.now())
		})
		w.after(w.between(700*time.Millisecond, 3*time.Second), func() { w.setReady(p, true) })
	})
}

// end deletes a pod as its controller does: the deletion is asked for, the
// kubelet stops the containers, the pod is gone.
func (w *world) end(p *pod) {
	if p.ending {
		return
	}
	p.ending = true
	w.change(p, "", func(o *corev1.Pod) {
		now := w.now()
		until := metav1.NewTime(now.Add(time.Duration(*o.Spec.TerminationGracePeriodSeconds) * time.Second))
		o.DeletionTimestamp, o.DeletionGracePeriodSeconds = &until, o.Spec.TerminationGracePeriodSeconds
	})
	if p.node == nil {
		w.bury(p)
		return
	}
	w.after(w.between(300*time.Millisecond, 2200*time.Millisecond), func() {
		if len(p.current.Status.ContainerStatuses) > 0 {
			w.change(p, kubelet, func(o *corev1.Pod) { w.stopContainers(o, 0) })
		}
		w.becomeReady(p, false)
		w.after(w.between(50*time.Millisecond, 400*time.Millisecond), func() { w.bury(p) })
	})
}

func (w *world) stopContainers(o *corev1.Pod, code int32) {
	now := w.now()
	reason := "Completed"
	if code != 0 {
		reason = "Error"
	}
	for i := range o.Status.ContainerStatuses {
		s := &o.Status.ContainerStatuses[i]
		done := corev1.ContainerStateTerminated{ExitCode: code, Reason: reason, FinishedAt: now, ContainerID: s.ContainerID}
		if s.State.Running != nil {
			done.StartedAt = s.State.Running.StartedAt
		}
		stopped := false
		s.Started = &stopped
		s.State = corev1.ContainerState{Terminated: &done}
	}
	markReady(o, false, now)
}

// bury removes a pod for good.
func (w *world) bury(p *pod) {
	p.gone = true
	if p.node != nil {
		p.node.pods--
	}
	last := len(w.pods) - 1
	w.pods[p.at] = w.pods[last]
	w.pods[p.at].at = p.at
	w.pods[last] = nil
	w.pods = w.pods[:last]
	w.server.remove(pods, keyOf(p.current))
	w.podWrites++
	if p.changed != nil {
		p.changed()
	}
}

// address returns the next pod's IP.
func (w *world) address() string {
	w.nextIP++
	return fmt.Sprintf("10.%d.%d.%d", 64+w.nextIP/62500%64, w.nextIP/250%250, w.nextIP%250+2)
}

func condition(kind corev1.PodConditionType, holds bool, reason string, now metav1.Time) corev1.PodCondition {
	status := corev1.ConditionFalse
	if holds {
		status = corev1.ConditionTrue
	}
	c := corev1.PodCondition{Type: kind, Status: status, Reason: reason, LastTransitionTime: now}
	if reason == "ContainersNotReady" {
		c.Message = "containers with unready status"
	}
	return c
}

// setCondition sets a condition; the time of its transition stays if its status
// does.
func setCondition(o *corev1.Pod, c corev1.PodCondition) {
	i := slices.IndexFunc(o.Status.Conditions, func(have corev1.PodCondition) bool { return have.Type == c.Type })
	if i < 0 {
		o.Status.Conditions = append(o.Status.Conditions, c)
		return
	}
	if o.Status.Conditions[i].Status == c.Status {
		c.LastTransitionTime = o.Status.Conditions[i].LastTransitionTime
	}
	o.Status.Conditions[i] = c
}
