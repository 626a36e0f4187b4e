package inprocess_test

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/cache"
)

func TestTheCacheEqualsTheServer(t *testing.T) {
	f := newFixture(t)
	t.Run("while there is nothing", func(t *testing.T) { f.mustEqualServer(t) })
	t.Run("after 1,000 changes", func(t *testing.T) {
		f.change(t, "first", 200)
		f.mustEqualServer(t)
	})
	t.Run("after a handler joined late", func(t *testing.T) { testLateHandler(t, f) })
	t.Run("after the API server was stopped and started, and objects changed", func(t *testing.T) {
		testRestart(t, f)
	})
	t.Run("after the API server was stopped and started amid changes", func(t *testing.T) { testRestartAmidChanges(t, f) })
}

func testLateHandler(t *testing.T, f *fixture) {
	want := f.listed(t)
	for _, s := range f.subjects {
		late := newRecorder()
		registration, err := s.informer.AddEventHandler(late)
		if err != nil {
			t.Fatal(err)
		}
		s.mustEqual(t, want, late)
		timeout, stop := context.WithTimeout(t.Context(), patience)
		if !cache.WaitForCacheSync(timeout.Done(), registration.HasSynced) {
			t.Errorf("%s: the late handler knows everything and has not synced", s.name)
		}
		stop()
		if err := s.informer.RemoveEventHandler(registration); err != nil {
			t.Errorf("%s: %v", s.name, err)
		}
	}
}

// testRestart changes objects right before the server stops and as soon as it is
// back, when the informer still waits for its next attempt. The new server's
// watch cache does not reach back to the version the informer has, so the
// informer must list again and must notice what was deleted meanwhile.
func testRestart(t *testing.T, f *fixture) {
	f.change(t, "before", 20)
	f.restart(t)
	f.deleteSome(t, 30)
	f.change(t, "after", 20)
	f.mustEqualServer(t)
}

// testRestartAmidChanges stops the server while clients write; some of their
// requests fail, and nobody knows which were carried out.
func testRestartAmidChanges(t *testing.T, f *fixture) {
	var writers sync.WaitGroup
	for w := range 4 {
		writers.Go(func() {
			for i := range 100 {
				name := fmt.Sprintf("amid-%d-%03d", w, i)
				if err := f.fiveChanges(t.Context(), name, i%2 == 0); err != nil {
					time.Sleep(50 * time.Millisecond)
				}
			}
		})
	}
	time.Sleep(300 * time.Millisecond)
	f.restart(t)
	writers.Wait()
	f.mustEqualServer(t)
}

// restart stops and starts the API server.
func (f *fixture) restart(t *testing.T) {
	t.Helper()
	if err := f.cluster.StopAPIServer(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := f.cluster.StartAPIServer(t.Context()); err != nil {
		t.Fatal(err)
	}
}

// deleteSome deletes up to limit of the pods that are there.
func (f *fixture) deleteSome(t *testing.T, limit int64) {
	t.Helper()
	list, err := f.client.CoreV1().Pods("default").List(t.Context(), metav1.ListOptions{Limit: limit})
	if err != nil {
		t.Fatal(err)
	}
	for _, pod := range list.Items {
		if err := f.remove(t.Context(), pod.Name); err != nil {
			t.Fatal(err)
		}
	}
}
