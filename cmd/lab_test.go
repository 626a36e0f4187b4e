package cmd

import (
	"context"
	"testing"
	"time"

	"github.com/informeter/informeter/engine/source/demo"
)

func TestTheHandlersOfASourceAreGrantedTheirResync(t *testing.T) {
	cluster, err := demo.New(demo.Options{Latency: -1})
	if err != nil {
		t.Fatal(err)
	}
	sources, err := cluster.Sources(nil, "")
	if err != nil {
		t.Fatal(err)
	}
	for resync, want := range map[time.Duration]time.Duration{0: 30 * time.Second, 10 * time.Second: 30 * time.Second} {
		l, err := startLab(context.Background(), opened{sources: sources}, settings{resync: resync})
		if err != nil {
			t.Fatal(err)
		}
		s, err := l.informers[0].Snapshot(t.Context())
		l.stop()
		if err != nil {
			t.Fatal(err)
		}
		found := false
		for _, listener := range s.Listeners {
			if listener.Name == "audit" {
				found = true
				if listener.ResyncGranted != want {
					t.Errorf("--resync %v: audit was granted %v, want %v", resync, listener.ResyncGranted, want)
				}
			}
		}
		if !found {
			t.Error("there is no handler called audit")
		}
	}
}
