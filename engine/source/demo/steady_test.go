package demo

import (
	"fmt"
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"
)

// handled counts what a handler has been given.
type handled struct {
	cache.ResourceEventHandler
	n atomic.Int64
}

func (h *handled) OnAdd(o any, initial bool) { h.ResourceEventHandler.OnAdd(o, initial); h.n.Add(1) }
func (h *handled) OnUpdate(before, after any) {
	h.ResourceEventHandler.OnUpdate(before, after)
	h.n.Add(1)
}
func (h *handled) OnDelete(o any) { h.ResourceEventHandler.OnDelete(o); h.n.Add(1) }

func TestAuditFallsBehindInAReleaseAndCatchesUp(t *testing.T) {
	run(t, quick(), func(t *testing.T, c *Cluster) {
		s := sourceOf(t, c, "pods", "")
		informer := cache.NewSharedIndexInformer(s.ListerWatcher, s.Example, 0, s.Indexers)
		byName := map[string]*handled{}
		for _, h := range s.Handlers {
			counted := &handled{ResourceEventHandler: h.Handler}
			byName[h.Name] = counted
			if _, err := informer.AddEventHandler(counted); err != nil {
				t.Fatal(err)
			}
		}
		arrived := &handled{ResourceEventHandler: cache.ResourceEventHandlerFuncs{}}
		if _, err := informer.AddEventHandler(arrived); err != nil {
			t.Fatal(err)
		}
		stop, done := make(chan struct{}), make(chan struct{})
		go func() {
			defer close(done)
			informer.Run(stop)
		}()
		time.Sleep(6 * time.Second) // the initial list is a lot of full records
		const frame, frames = time.Second / 30, 3 * 60 * 30
		behind, dozens, most, quickMost := 0, 0, 0, 0
		for range frames {
			time.Sleep(frame)
			synctest.Wait()
			pending := int(arrived.n.Load() - byName["audit"].n.Load())
			quickMost = max(quickMost, int(arrived.n.Load()-byName["deployment-controller"].n.Load()))
			most = max(most, pending)
			if pending > 2 {
				behind++
			}
			if pending >= 24 {
				dozens++
			}
		}
		t.Logf("most pending %d; behind in %d of %d frames, by dozens in %d", most, behind, frames, dozens)
		if most < 40 {
			t.Errorf("audit had at most %d pending, want dozens", most)
		}
		// There are about four releases, and half a second is seen.
		if seconds := float64(dozens) / 30; seconds < 4*0.5 {
			t.Errorf("audit had dozens pending for %.1f s in three minutes, which nobody would see", seconds)
		}
		if share := float64(behind) / frames; share > 0.25 {
			t.Errorf("audit is behind for %.0f%% of the time, want it to catch up", 100*share)
		}
		if quickMost > 30 {
			t.Errorf("deployment-controller had %d pending, want it to keep up", quickMost)
		}
		close(stop)
		<-done
	})
}

// TestPodsLiveLegalLives watches for some minutes and checks each step of each
// pod against the one before.
func TestPodsLiveLegalLives(t *testing.T) {
	run(t, quick(), func(t *testing.T, c *Cluster) {
		w, err := watchFrom(sourceOf(t, c, "pods", "").ListerWatcher, metav1.ListOptions{TimeoutSeconds: seconds(400)})
		if err != nil {
			t.Fatal(err)
		}
		last := map[types.UID]*corev1.Pod{}
		saw := map[string]int{}
		revision := uint64(0)
		for e := range w.ResultChan() {
			p := e.Object.(*corev1.Pod)
			now, err := parseRevision(p.ResourceVersion)
			if err != nil {
				t.Fatal(err)
			}
			before := last[p.UID]
			if before != nil {
				if now <= revision {
					t.Fatalf("%s: revision %d after %d", p.Name, now, revision)
				}
				revision = now
			}
			if err := checkStep(before, p, e.Type); err != nil {
				t.Fatalf("%s: %v", p.Name, err)
			}
			noteStep(saw, before, p, e.Type)
			last[p.UID] = p
		}
		for _, what := range []string{
			"added", "scheduled", "creating", "running", "ready", "unready", "restarted",
			"ending", "deleted", "Succeeded", "Failed",
		} {
			if saw[what] == 0 {
				t.Errorf("no pod was seen %s: %v", what, saw)
			}
		}
	})
}

func checkStep(before, p *corev1.Pod, kind watch.EventType) error {
	if ready := isReady(p); ready && (p.Status.Phase != corev1.PodRunning || p.Status.ContainerStatuses[0].State.Running == nil) {
		return fmt.Errorf("ready in phase %s with the container %+v", p.Status.Phase, p.Status.ContainerStatuses[0].State)
	}
	if before == nil {
		if kind != watch.Added {
			return fmt.Errorf("begins with %s", kind)
		}
		return nil
	}
	order := map[corev1.PodPhase]int{corev1.PodPending: 0, corev1.PodRunning: 1, corev1.PodSucceeded: 2, corev1.PodFailed: 2}
	switch {
	case kind == watch.Added:
		return fmt.Errorf("added twice")
	case order[p.Status.Phase] < order[before.Status.Phase]:
		return fmt.Errorf("went from %s to %s", before.Status.Phase, p.Status.Phase)
	case before.Spec.NodeName != "" && p.Spec.NodeName != before.Spec.NodeName:
		return fmt.Errorf("moved from %s to %s", before.Spec.NodeName, p.Spec.NodeName)
	case before.Status.PodIP != "" && p.Status.PodIP != before.Status.PodIP:
		return fmt.Errorf("changed its address from %s to %s", before.Status.PodIP, p.Status.PodIP)
	case restarts(p) < restarts(before):
		return fmt.Errorf("restarts fell from %d to %d", restarts(before), restarts(p))
	case before.DeletionTimestamp != nil && p.DeletionTimestamp == nil:
		return fmt.Errorf("its deletion was called off")
	case kind == watch.Deleted && p.DeletionTimestamp == nil:
		return fmt.Errorf("deleted without being asked to end")
	}
	return nil
}

func restarts(p *corev1.Pod) int32 {
	if len(p.Status.ContainerStatuses) == 0 {
		return 0
	}
	return p.Status.ContainerStatuses[0].RestartCount
}

func noteStep(saw map[string]int, before, p *corev1.Pod, kind watch.EventType) {
	note := func(what string, happened bool) {
		if happened {
			saw[what]++
		}
	}
	note("deleted", kind == watch.Deleted)
	if before == nil {
		note("added", p.Spec.NodeName == "")
		return
	}
	note("scheduled", before.Spec.NodeName == "" && p.Spec.NodeName != "")
	note("creating", slices.ContainsFunc(p.Status.ContainerStatuses, func(s corev1.ContainerStatus) bool {
		return s.State.Waiting != nil && s.State.Waiting.Reason == "ContainerCreating"
	}))
	note("running", before.Status.Phase == corev1.PodPending && p.Status.Phase == corev1.PodRunning)
	note("ready", !isReady(before) && isReady(p))
	note("unready", isReady(before) && !isReady(p))
	note("restarted", restarts(p) > restarts(before))
	note("ending", before.DeletionTimestamp == nil && p.DeletionTimestamp != nil)
	note(string(p.Status.Phase), before.Status.Phase != p.Status.Phase)
}

func TestAClusterNeitherGrowsNorShrinksInAnHour(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := quick()
		// Only what changes how many there are: status makes no difference.
		o.EventsPerSecond = 1
		c, err := New(o)
		if err != nil {
			t.Fatal(err)
		}
		w := c.world
		agenda := len(w.agenda)
		for range 12 {
			w.runUntil(w.clock + 5*time.Minute)
			if n := len(w.pods); n < 130 || n > 260 {
				t.Fatalf("%d pods after %v", n, w.clock)
			}
			if n := len(w.agenda); n > agenda+1000 {
				t.Fatalf("%d items on the agenda after %v, %d at the start", n, w.clock, agenda)
			}
			onNodes, ofDeployments := 0, 0
			for _, n := range w.nodes {
				onNodes += n.pods
			}
			for _, d := range w.deployments {
				ofDeployments += len(d.pods)
				if len(d.sets) > keptSets+1 {
					t.Fatalf("%s has %d sets after %v", d.current.Name, len(d.sets), w.clock)
				}
			}
			if onNodes > len(w.pods) || ofDeployments > len(w.pods) || c.server.tables[pods].objects.Len() != len(w.pods) {
				t.Fatalf("of %d pods, %d are counted on nodes, %d in deployments, %d on the server",
					len(w.pods), onNodes, ofDeployments, c.server.tables[pods].objects.Len())
			}
		}
	})
}

func TestDeploymentsReachWhatTheyWereAskedFor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, err := New(quick())
		if err != nil {
			t.Fatal(err)
		}
		w := c.world
		w.agenda = nil // no actors: only what the test asks for
		for i, d := range w.deployments {
			switch i % 3 {
			case 0:
				w.rollOut(d)
			case 1:
				w.scale(d, d.replicas+3)
			default:
				w.rollOut(d)
				w.scale(d, d.replicas/2)
			}
		}
		least := map[string]int{}
		for len(w.agenda) > 0 {
			w.runUntil(w.agenda[0].at)
			for _, d := range w.deployments {
				ready := 0
				for _, p := range d.pods {
					if p.ready && !p.ending {
						ready++
					}
				}
				if have, seen := least[d.current.Name]; !seen || ready < have {
					least[d.current.Name] = ready
				}
			}
		}
		for _, d := range w.deployments {
			s := d.current.Status
			if int(s.Replicas) != d.replicas || int(s.ReadyReplicas) != d.replicas || int(s.UpdatedReplicas) != d.replicas || s.UnavailableReplicas != 0 {
				t.Errorf("%s wants %d replicas and has %+v", d.current.Name, d.replicas, s)
			}
			if floor := min(d.usual, d.replicas) - d.replicas/4; least[d.current.Name] < floor {
				t.Errorf("%s had only %d ready on the way, want at least %d", d.current.Name, least[d.current.Name], floor)
			}
			for _, p := range d.pods {
				if p.hash != d.hash() || p.current.Spec.Containers[0].Image != imageTag(d.image, d.version) {
					t.Errorf("%s still has %s with %s", d.current.Name, p.current.Name, p.current.Spec.Containers[0].Image)
				}
			}
		}
	})
}

// runUntil does everything on the agenda up to a time, at once.
func (w *world) runUntil(end time.Duration) {
	for len(w.agenda) > 0 && w.agenda[0].at <= end {
		w.step()
	}
	w.clock = max(w.clock, end)
}
