package engine

import (
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/informeter/informeter/engine/inspect"
)

func TestTrafficIsShownWithItsRateWhereItIsCounted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var bytes atomic.Uint64
		server := newServer()
		i := New(server, &corev1.Pod{}, Options{Traffic: func() inspect.TrafficVitals {
			return inspect.TrafficVitals{Streams: 2, Bytes: bytes.Load(), Events: 7, Undecodable: 1}
		}})
		stop := run(i)
		for range 300 { // nobody asks meanwhile: the informer itself must look
			time.Sleep(100 * time.Millisecond)
			bytes.Add(200)
		}
		s, err := i.Snapshot(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if s.Traffic == nil {
			t.Fatal("there is no traffic")
		}
		if v := *s.Traffic; v.Bytes != 60_000 || v.Streams != 2 || v.Events != 7 || v.Undecodable != 1 {
			t.Errorf("got %+v", v)
		}
		if rate := s.Traffic.ByteRate; rate < 1_900 || rate > 2_100 {
			t.Errorf("%.0f bytes/s, want about 2000", rate)
		}
		stop()
		server.Shutdown()
	})
}

func TestTrafficIsAbsentWhereNobodyCounts(t *testing.T) {
	i := New(newServer(), &corev1.Pod{}, Options{})
	s, err := i.Snapshot(t.Context())
	if err != nil || s.Traffic != nil {
		t.Errorf("got %+v, %v", s.Traffic, err)
	}
}
