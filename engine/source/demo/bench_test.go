package demo

import (
	"fmt"
	"runtime"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// BenchmarkNew builds clusters; B/pod is what stays allocated for each pod.
func BenchmarkNew(b *testing.B) {
	for _, pods := range []int{180, 10_000, 100_000} {
		b.Run(fmt.Sprintf("pods=%d", pods), func(b *testing.B) {
			var before, after runtime.MemStats
			for b.Loop() {
				runtime.GC()
				runtime.ReadMemStats(&before)
				c, err := New(Options{Pods: pods})
				if err != nil {
					b.Fatal(err)
				}
				runtime.GC()
				runtime.ReadMemStats(&after)
				runtime.KeepAlive(c)
			}
			b.ReportMetric(float64(after.HeapAlloc-before.HeapAlloc)/float64(pods), "B/pod")
		})
	}
}

// BenchmarkList lists all pods.
func BenchmarkList(b *testing.B) {
	for _, pods := range []int{180, 10_000} {
		b.Run(fmt.Sprintf("pods=%d", pods), func(b *testing.B) {
			c, err := New(Options{Pods: pods, Latency: -1})
			if err != nil {
				b.Fatal(err)
			}
			s, err := c.Sources(nil, "")
			if err != nil {
				b.Fatal(err)
			}
			b.ReportAllocs()
			for b.Loop() {
				if _, err := listFrom(s[0].ListerWatcher, metav1.ListOptions{}); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(pods), "ns/pod")
		})
	}
}

// BenchmarkEvent is one write to a pod until each of the watches has it.
func BenchmarkEvent(b *testing.B) {
	for _, watches := range []int{0, 1, 4} {
		b.Run(fmt.Sprintf("watches=%d", watches), func(b *testing.B) {
			c, err := New(Options{Pods: 1000, Latency: -1})
			if err != nil {
				b.Fatal(err)
			}
			s, err := c.Sources(nil, "")
			if err != nil {
				b.Fatal(err)
			}
			told := make(chan struct{})
			for range watches {
				w, err := watchFrom(s[0].ListerWatcher, metav1.ListOptions{ResourceVersion: formatRevision(c.server.revision)})
				if err != nil {
					b.Fatal(err)
				}
				defer w.Stop()
				go func() {
					for range w.ResultChan() {
						told <- struct{}{}
					}
				}()
			}
			b.ReportAllocs()
			for b.Loop() {
				c.world.probe(c.world.pods[c.world.random.IntN(len(c.world.pods))])
				for range watches {
					<-told
				}
			}
			c.server.shutDown()
		})
	}
}
