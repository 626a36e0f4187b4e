package demo

import (
	"fmt"
	"maps"
	"strconv"
	"time"

	corev1 "k8s.io/api/core/v1"
)

// gapLength is how long the watches carry nothing before they expire: as long as
// a pod takes to end.
const gapLength = 3500 * time.Millisecond

// gap is a time in which clients are told nothing: their watches stand still, and
// then they end with 410, so that whoever watched has to list again.
func (w *world) gap() {
	for _, r := range resources() {
		w.server.stall(r.name())
	}
	w.after(gapLength, func() {
		for _, r := range resources() {
			w.server.expire(r.name())
		}
	})
}

// evictions is how many pods are evicted in a gap.
const evictions = 5

// expiries are gaps in which a node's pods are evicted: a client that lists again
// finds them gone.
func expiries(w *world) {
	w.repeat(10*time.Second, func() time.Duration {
		w.gap()
		evicted := 0
		n := w.nodes[w.random.IntN(len(w.nodes))]
		for _, p := range w.pods {
			if p.node == n && p.owner != nil && !p.ending && evicted < evictions {
				w.end(p)
				evicted++
			}
		}
		return w.between(22*time.Second, 32*time.Second)
	})
}

// statefulSet is the controller of pods that have names of their own.
type statefulSet struct {
	name     string
	template template
	// members are its pods, by ordinal.
	members []*pod
}

// buildStateful fills the cluster with the shop and two stateful sets.
func buildStateful(w *world) {
	buildShop(w)
	for _, s := range []struct {
		namespace, name string
		replicas        int
	}{{"platform", "kafka", 5}, {"checkout", "ledger-db", 3}} {
		w.deployStateful(s.namespace, s.name, s.replicas)
	}
}

func (w *world) deployStateful(namespace, name string, replicas int) {
	t := app{namespace: namespace, name: name, tier: "data", sidecar: "log-agent"}.template()
	t.main.image, t.checksum = imageTag(namespace+"/"+name, 4), w.hex(16)
	t.owner = ownerReference("apps/v1", "StatefulSet", name, w.uid())
	t.prefix = name + "-"
	w.press(&t)
	s := &statefulSet{name: name, template: t, members: make([]*pod, replicas)}
	w.statefulSets = append(w.statefulSets, s)
	for ordinal := range replicas {
		o, n := w.newMember(s, ordinal), w.leastLoaded()
		w.settle(o, n, w.between(time.Hour, 40*24*time.Hour))
		p := w.enroll(s, ordinal, o)
		p.node, p.ready = n, true
	}
}

// newMember returns a pod under the name that a stateful set's member of that
// ordinal always has.
func (w *world) newMember(s *statefulSet, ordinal int) *corev1.Pod {
	o := w.newPod(s.template)
	o.Name = fmt.Sprintf("%s-%d", s.name, ordinal)
	o.Labels = maps.Clone(o.Labels)
	o.Labels["apps.kubernetes.io/pod-index"] = strconv.Itoa(ordinal)
	o.Labels["statefulset.kubernetes.io/pod-name"] = o.Name
	return o
}

// enroll adds a member, whose place is taken by another one when it is gone.
func (w *world) enroll(s *statefulSet, ordinal int, o *corev1.Pod) *pod {
	p := w.add(o, nil, "")
	s.members[ordinal] = p
	p.changed = func() {
		if p.gone {
			w.after(w.between(20*time.Millisecond, 90*time.Millisecond), func() {
				w.start(w.enroll(s, ordinal, w.newMember(s, ordinal)))
			})
		}
	}
	return p
}

// recreations are gaps in which members of stateful sets are replaced: a client
// that lists again finds other objects under their names.
func recreations(w *world) {
	next := 0
	w.repeat(8*time.Second, func() time.Duration {
		w.gap()
		s := w.statefulSets[next%len(w.statefulSets)]
		next++
		w.end(s.members[w.random.IntN(len(s.members))])
		return w.between(16*time.Second, 22*time.Second)
	})
}
