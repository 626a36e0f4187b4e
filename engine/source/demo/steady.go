package demo

import (
	"fmt"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/informeter/informeter/engine/source"
)

// app is one line of the shop's inventory.
type app struct {
	namespace, name, tier, sidecar string
	replicas                       int
}

// shop returns what runs in a small company's cluster. The replicas add up to
// shopReplicas.
func shop() []app {
	return []app{
		{"storefront", "web", "frontend", "envoy", 24},
		{"storefront", "search", "backend", "envoy", 16},
		{"storefront", "recommendations", "backend", "envoy", 14},
		{"checkout", "cart", "backend", "envoy", 18},
		{"checkout", "payments", "backend", "envoy", 16},
		{"checkout", "fraud-score", "backend", "envoy", 8},
		{"fulfilment", "orders", "backend", "envoy", 20},
		{"fulfilment", "inventory", "backend", "envoy", 14},
		{"fulfilment", "shipping-labels", "worker", "log-agent", 8},
		{"platform", "ingress", "edge", "log-agent", 12},
		{"platform", "event-bus", "data", "log-agent", 16},
		{"platform", "image-resizer", "worker", "log-agent", 10},
	}
}

const (
	shopReplicas = 176
	// podsPerShop is how many pods one copy of the shop may have; a cluster
	// with more has several copies, in namespaces of their own.
	podsPerShop = 2000
	// podsPerNode is what a node is given on average in a large cluster.
	podsPerNode = 100
	fewestNodes = 8
)

// buildShop fills the cluster with copies of the shop, Options.Pods in all.
func buildShop(w *world) {
	want := w.options.Pods
	w.addNodes(max(fewestNodes, want/podsPerNode))
	copies := (want + podsPerShop - 1) / podsPerShop
	for i := range copies {
		share := want*(i+1)/copies - want*i/copies
		before := 0
		for _, a := range shop() {
			// The sum of what came before keeps the rounding from adding up.
			upTo := before + a.replicas
			a.replicas = max(1, upTo*share/shopReplicas-before*share/shopReplicas)
			before = upTo
			if i > 0 {
				a.namespace = fmt.Sprintf("%s-%d", a.namespace, i+1)
			}
			w.deploy(a.template(), a.namespace+"/"+a.name, a.replicas)
			w.server.elsewhere(w.random.IntN(40))
		}
	}
}

func (a app) template() template {
	t := template{
		namespace: a.namespace,
		labels:    map[string]string{"app": a.name, "tier": a.tier},
		account:   a.name,
		restart:   corev1.RestartPolicyAlways,
		main: container{
			name: a.name, cpu: "250m", memory: "384Mi", memoryLimited: true,
			port: 8080, probe: "/healthz",
		},
		sidecar: container{
			name: a.sidecar, image: "registry.example.com/platform/" + a.sidecar + ":2.14.1",
			cpu: "50m", memory: "64Mi", memoryLimited: true,
		},
	}
	return t
}

// releases rolls out several deployments of one namespace at once, now and then:
// a burst.
func releases(w *world) {
	w.repeat(12*time.Second, func() time.Duration {
		d := w.deployments[w.random.IntN(len(w.deployments))]
		for _, other := range w.deployments {
			if other.template.namespace == d.template.namespace {
				w.rollOut(other)
			}
		}
		return w.between(40*time.Second, 55*time.Second)
	})
}

// scaling is an autoscaler: it follows the load of one deployment at a time.
func scaling(w *world) {
	w.repeat(4*time.Second, func() time.Duration {
		d := w.deployments[w.random.IntN(len(w.deployments))]
		low, high := max(1, d.usual*3/4), d.usual*5/4+1
		next := d.replicas + w.random.IntN(2*max(1, d.usual/8)+1) - max(1, d.usual/8)
		if next = min(max(next, low), high); next != d.replicas {
			w.scale(d, next)
		}
		return w.about(7 * time.Second)
	})
}

// batchJobs starts pods that run for a while, complete, and are cleaned up.
func batchJobs(w *world) {
	w.repeat(2*time.Second, func() time.Duration {
		w.job([]string{"nightly-report", "reindex", "mail-digest"}[w.random.IntN(3)])
		return w.about(9 * time.Second)
	})
}

// job runs one pod of a job.
func (w *world) job(name string) {
	job := fmt.Sprintf("%s-%d", name, 29_000_000+int(w.clock/time.Minute))
	t := app{namespace: "platform", name: name, tier: "batch", sidecar: "log-agent"}.template()
	t.restart = corev1.RestartPolicyNever
	t.prefix = job + "-"
	t.labels["batch.kubernetes.io/job-name"] = job
	t.main.image, t.checksum = imageTag("platform/"+name, 7), w.hex(16)
	t.owner = ownerReference("batch/v1", "Job", job, w.uid())
	w.press(&t)
	p := w.add(w.newPod(t), nil, "")
	w.start(p)
	w.after(w.between(8*time.Second, 20*time.Second), func() { w.complete(p) })
	w.after(w.between(35*time.Second, 60*time.Second), func() { w.end(p) })
}

// complete ends a pod's work: seven times in eight well.
func (w *world) complete(p *pod) {
	if p.ending || !p.ready {
		return
	}
	code, phase := int32(0), corev1.PodSucceeded
	if w.random.IntN(8) == 0 {
		code, phase = 1, corev1.PodFailed
	}
	w.change(p, kubelet, func(o *corev1.Pod) {
		o.Status.Phase = phase
		w.stopContainers(o, code)
	})
	w.becomeReady(p, false)
}

// podStatus changes the status of running pods so that, with what the others
// do, there are Options.EventsPerSecond, in waves.
func podStatus(w *world) {
	target := float64(w.options.EventsPerSecond)
	// due is how many writes to pods should still come to keep the pace. A
	// burst by others is paid back for a moment only.
	due, last, written := 0.0, w.clock, w.podWrites
	w.repeat(0, func() time.Duration {
		due += (w.clock-last).Seconds()*target*w.wave() - float64(w.podWrites-written)
		due = max(due, -target/3)
		last, written = w.clock, w.podWrites
		for i := 0; i < 5000 && due >= float64(w.podWrites-written)+1; i++ {
			w.nudge(w.pods[w.random.IntN(len(w.pods))])
		}
		return max(5*time.Millisecond, w.about(time.Duration(float64(time.Second)/target)))
	})
}

// nudge changes something in the status of a pod that is up, if it is.
func (w *world) nudge(p *pod) {
	if !p.ready || p.ending || p.taken {
		return
	}
	switch n := w.random.IntN(100); {
	case n < 3:
		w.restart(p)
	case n < 12:
		w.setReady(p, false)
		w.after(w.between(2*time.Second, 6*time.Second), func() {
			if p.current.Status.ContainerStatuses[0].State.Running != nil {
				w.setReady(p, true)
			}
		})
	default:
		w.probe(p)
	}
}

// targetHealth is a readiness gate's condition, written by the load balancer's
// controller each time it has probed the pod.
const targetHealth corev1.PodConditionType = "target-health.lb.example.com/http"

func (w *world) probe(p *pod) {
	w.probed(p, targetHealth, fmt.Sprintf("200 in %d ms", 2+int(w.random.ExpFloat64()*9)))
}

// probed reports that a probe of a pod went well. The conditions it has from
// former probes of other types stay.
func (w *world) probed(p *pod, kind corev1.PodConditionType, message string) {
	w.change(p, loadBalancer, func(o *corev1.Pod) {
		now := w.now()
		c := condition(kind, true, "Healthy", now)
		c.Message = message
		c.LastProbeTime = now
		setCondition(o, c)
		var fields []string
		for _, c := range o.Status.Conditions {
			if c.Reason == "Healthy" {
				fields = append(fields, fmt.Sprintf(probeField, c.Type))
			}
		}
		o.ManagedFields = wrote(o.ManagedFields, owns(loadBalancer, "status", "v1", now, fieldsV1(probeFields, strings.Join(fields, ","))))
	})
}

// nodeHeartbeats lets every kubelet report in its own rhythm.
func nodeHeartbeats(w *world) {
	for _, n := range w.nodes {
		w.repeat(w.between(0, heartbeatPeriod), func() time.Duration {
			w.heartbeat(n)
			return w.between(heartbeatPeriod-500*time.Millisecond, heartbeatPeriod+500*time.Millisecond)
		})
	}
}

// otherWrites are the writes to types that nobody here looks at.
func otherWrites(w *world) {
	w.repeat(0, func() time.Duration {
		w.server.elsewhere(1 + w.random.IntN(3))
		return w.about(300 * time.Millisecond)
	})
}

// steadyHandlers are two, so that there is something to compare: one that is
// always quick, and one that writes a full record of what appears and disappears,
// which a release makes too much of for a moment.
func steadyHandlers() []source.Handler {
	return []source.Handler{
		{Name: "deployment-controller", Handler: &worker{change: 80 * time.Microsecond, full: 80 * time.Microsecond}},
		{Name: "audit", Handler: &worker{change: 2 * time.Millisecond, full: 28 * time.Millisecond}, Resync: 30 * time.Second},
	}
}
