package journal

import (
	"fmt"
	"runtime"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/informeter/informeter/engine/inspect"
)

var benchSizes = []int{10_000, 1_000_000}

// richPod has what a small real pod has: labels, a container, conditions, and two
// managers. Which names those, the resource version and the label.
func richPod(key string, which int) *corev1.Pod {
	p := pod(key, fmt.Sprint(1_000_000+which))
	p.Labels = map[string]string{"app": fmt.Sprint("app-", which%100), "tier": "backend"}
	p.ManagedFields = []metav1.ManagedFieldsEntry{
		{Manager: "kube-controller-manager", Time: &metav1.Time{Time: start}, FieldsV1: metav1.NewFieldsV1(`{"f:metadata":{}}`)},
		{Manager: "kubelet", Time: &metav1.Time{Time: start.Add(time.Duration(which) * time.Second)}, FieldsV1: metav1.NewFieldsV1(`{"f:status":{}}`)},
	}
	p.Spec.Containers = []corev1.Container{{
		Name: "main", Image: "registry.example/app:v1", Ports: []corev1.ContainerPort{{ContainerPort: 8080}},
		Env: []corev1.EnvVar{{Name: "GOMEMLIMIT", Value: "100MiB"}}, VolumeMounts: []corev1.VolumeMount{{Name: "token", MountPath: "/var/run"}},
	}}
	p.Status.Phase = corev1.PodRunning
	for _, kind := range []corev1.PodConditionType{"Ready", "Initialized", "ContainersReady", "PodScheduled"} {
		p.Status.Conditions = append(p.Status.Conditions, corev1.PodCondition{Type: kind, Status: "True", LastTransitionTime: metav1.NewTime(start)})
	}
	p.Status.ContainerStatuses = []corev1.ContainerStatus{{Name: "main", Ready: true, Image: "registry.example/app:v1", RestartCount: int32(which)}}
	return p
}

func benchKeys(n int) []string {
	keys := make([]string, n)
	for i := range keys {
		keys[i] = fmt.Sprintf("ns-%d/pod-%07d", i%50, i)
	}
	return keys
}

// benchJournal has n keys, of which some have changed, on a few objects that the
// keys share: what is measured is the journal, not the objects.
func benchJournal(keys []string) (*Journal, []*corev1.Pod) {
	j := New(Options{})
	j.rates.began = start
	objects := make([]*corev1.Pod, 1000)
	for i := range objects {
		objects[i] = richPod("a/x", i)
	}
	for i, key := range keys {
		j.Observe(&Event{Key: key, New: objects[i%len(objects)], Cause: inspect.CauseInitial, At: start})
	}
	return j, objects
}

// whole asks until the answer is complete.
func whole(b *testing.B, j *Journal, q inspect.Query) {
	for {
		if p := page(b, j, q); p.Scanned == p.Total {
			return
		}
	}
}

func BenchmarkPage(b *testing.B) {
	for _, n := range benchSizes {
		keys := benchKeys(n)
		j, objects := benchJournal(keys)
		for i := range n / 10 {
			j.Observe(&Event{Key: keys[i*10], New: objects[i%1000], Cause: inspect.CauseWatch, At: start.Add(time.Duration(i) * time.Millisecond)})
		}
		for _, by := range sorts[1:] {
			for _, filter := range []string{"", "77", "/7[0-9]+7/", "-f p77", "-l app=app-7"} {
				if filter != "" && by != inspect.SortKey && by != inspect.SortRate {
					continue
				}
				for _, desc := range []bool{false, true} {
					b.Run(fmt.Sprintf("keys=%d/sort=%s/desc=%v/filter=%s", n, by, desc, filter), func(b *testing.B) {
						q := inspect.Query{Filter: filter, Sort: by, Desc: desc, Cursor: "ns-25/pod-0000025", Limit: 50}
						whole(b, j, q)
						used := cpuTime()
						b.ResetTimer()
						for b.Loop() {
							page(b, j, q)
						}
						b.ReportMetric(float64(cpuTime()-used)/float64(b.N), "cpu-ns/op")
					})
				}
			}
		}
	}
}

// BenchmarkFirst measures an order or a filter that was not asked for before:
// working it out, and how long the calls it takes are.
func BenchmarkFirst(b *testing.B) {
	for _, n := range benchSizes {
		j, _ := benchJournal(benchKeys(n))
		for _, q := range []inspect.Query{
			{Sort: inspect.SortRate},
			{Sort: inspect.SortVersion},
			{Sort: inspect.SortSize},
			{Sort: inspect.SortWriter},
			{Filter: "77"},
			{Filter: "/7[0-9]+7/"},
			{Filter: "-f p77"},
			{Filter: "-l app=app-7"},
			{Filter: "!nothing"},
		} {
			q.Limit = 50
			b.Run(fmt.Sprintf("keys=%d/sort=%s/filter=%s", n, q.Sort, q.Filter), func(b *testing.B) {
				calls, longest := 0, time.Duration(0)
				for b.Loop() {
					j.views = nil
					for {
						began := time.Now()
						p := page(b, j, q)
						longest = max(longest, time.Since(began))
						calls++
						if p.Scanned == p.Total {
							break
						}
					}
				}
				b.ReportMetric(float64(calls)/float64(b.N), "calls/op")
				b.ReportMetric(float64(longest.Microseconds()), "µs-longest-call")
			})
		}
	}
}

func BenchmarkObserve(b *testing.B) {
	for _, n := range benchSizes {
		keys := benchKeys(n)
		for _, by := range []inspect.Sort{inspect.SortKey, inspect.SortRate, inspect.SortVersion, inspect.SortSize} {
			b.Run(fmt.Sprintf("keys=%d/view=%s", n, by), func(b *testing.B) {
				j, objects := benchJournal(keys)
				whole(b, j, inspect.Query{Sort: by})
				i, at := 0, start
				update := func() {
					at = at.Add(20 * time.Microsecond)
					j.Observe(&Event{
						Key: keys[i*7919%n], Old: objects[i%1000], New: objects[(i*31+1)%1000], Cause: inspect.CauseWatch, At: at,
					})
					i++
				}
				for range n {
					update() // each once
				}
				used := cpuTime()
				b.ResetTimer()
				for b.Loop() {
					update()
				}
				b.ReportMetric(float64(cpuTime()-used)/float64(b.N), "cpu-ns/op")
			})
		}
	}
}

// BenchmarkObserveAll measures updates that come as many at once as the processor
// hands over.
func BenchmarkObserveAll(b *testing.B) {
	for _, n := range benchSizes {
		b.Run(fmt.Sprintf("keys=%d", n), func(b *testing.B) {
			keys := benchKeys(n)
			j, objects := benchJournal(keys)
			i, at := 0, start
			var batch events
			update := func() {
				batch = batch[:0]
				at = at.Add(64 * 20 * time.Microsecond)
				for range 64 {
					batch = append(batch, Event{
						Key: keys[i*7919%n], Old: objects[i%1000], New: objects[(i*31+1)%1000], Cause: inspect.CauseWatch, At: at,
					})
					i++
				}
				j.ObserveAll(batch)
			}
			for range n / 64 {
				update() // each once
			}
			used, before := cpuTime(), i
			b.ResetTimer()
			for b.Loop() {
				update()
			}
			b.ReportMetric(float64(cpuTime()-used)/float64(i-before), "cpu-ns/event")
		})
	}
}

// BenchmarkMemory measures what a key costs that nothing has happened to, its
// text and its object not counted.
func BenchmarkMemory(b *testing.B) {
	for _, n := range benchSizes {
		keys := benchKeys(n)
		for _, by := range []inspect.Sort{inspect.SortKey, inspect.SortRate} {
			b.Run(fmt.Sprintf("keys=%d/view=%s", n, by), func(b *testing.B) {
				var before, after runtime.MemStats
				for b.Loop() {
					runtime.GC()
					runtime.ReadMemStats(&before)
					j, objects := benchJournal(keys)
					whole(b, j, inspect.Query{Sort: by})
					runtime.GC()
					runtime.ReadMemStats(&after)
					runtime.KeepAlive(objects)
					runtime.KeepAlive(j)
				}
				b.ReportMetric(float64(after.HeapAlloc-before.HeapAlloc)/float64(n), "B/key")
			})
		}
	}
}

func BenchmarkCompare(b *testing.B) {
	before, after := richPod("a/x", 1), richPod("a/x", 1)
	var c comparer
	for b.Loop() {
		c.changedPaths(before, after)
	}
}
