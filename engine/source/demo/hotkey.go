package demo

import (
	"fmt"
	"maps"
	"time"

	corev1 "k8s.io/api/core/v1"
)

// evictable is the annotation that is fought over.
const evictable = "cluster-autoscaler.kubernetes.io/safe-to-evict"

// rival is one of two managers who do not know of each other. Besides the
// annotation fought over it owns one that nobody disputes.
type rival struct {
	manager, own, ownValue string
	// wants is the value that it writes whenever it finds the other's.
	wants string
}

const (
	rivalFields = `{"f:metadata":{"f:annotations":{"f:%s":{},"f:%s":{}}}}`
	loserFields = `{"f:metadata":{"f:annotations":{"f:%s":{}}}}`
)

// fight lets two managers write one annotation of one pod in turn, each as soon
// as it has seen what the other wrote.
func fight(w *world) {
	rivals := []rival{
		{"cost-optimizer", "cost.example.com/class", "spot", "true"},
		{"backup-operator", "backup.example.com/schedule", "hourly", "false"},
	}
	turn := 0
	w.repeat(time.Second, func() time.Duration {
		if p := w.first("payments"); p != nil {
			p.taken = true
			w.seize(p, rivals[turn%2], rivals[(turn+1)%2])
			turn++
		}
		return w.between(180*time.Millisecond, 420*time.Millisecond)
	})
}

// seize writes a rival's value: the server takes the field from the other.
func (w *world) seize(p *pod, winner, loser rival) {
	w.change(p, winner.manager, func(o *corev1.Pod) {
		o.Annotations = maps.Clone(o.Annotations)
		o.Annotations[evictable], o.Annotations[winner.own] = winner.wants, winner.ownValue
		for i := range o.ManagedFields {
			if e := o.ManagedFields[i]; e.Manager == loser.manager {
				// What is taken from a manager leaves its time as it is.
				e.FieldsV1 = fieldsV1(loserFields, loser.own)
				o.ManagedFields = wrote(o.ManagedFields, e)
				break
			}
		}
		o.ManagedFields = wrote(o.ManagedFields, owns(winner.manager, "", "v1", w.now(), fieldsV1(rivalFields, winner.own, evictable)))
	})
}

// first returns the oldest pod of a deployment that is up, nil if none is.
func (w *world) first(deployment string) *pod {
	for _, d := range w.deployments {
		if d.current.Name != deployment {
			continue
		}
		for _, p := range d.pods {
			if p.node != nil && !p.ending {
				return p
			}
		}
	}
	return nil
}

// idleProbes are those of a load balancer that reports every probe of one pod,
// though nothing has changed but the time: that of each kind once a second.
func idleProbes(w *world) {
	for i, kind := range []string{"tcp", "grpc"} {
		w.repeat(time.Second+time.Duration(i)*500*time.Millisecond, func() time.Duration {
			if p := w.first("event-bus"); p != nil {
				p.taken = true
				w.probed(p, corev1.PodConditionType("target-health.lb.example.com/"+kind), fmt.Sprintf("%s probe passed", kind))
			}
			return time.Second
		})
	}
}
