package findings_test

import (
	"context"
	"flag"
	"fmt"
	"io"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"

	"github.com/informeter/informeter/engine"
	"github.com/informeter/informeter/engine/findings"
	"github.com/informeter/informeter/engine/inspect"
	"github.com/informeter/informeter/engine/source/demo"
)

func TestMain(m *testing.M) {
	// What reflectors warn of is what the tests are about.
	flags := flag.NewFlagSet("klog", flag.PanicOnError)
	klog.InitFlags(flags)
	for name, value := range map[string]string{"logtostderr": "false", "stderrthreshold": "FATAL"} {
		if err := flags.Set(name, value); err != nil {
			panic(err)
		}
	}
	klog.SetOutput(io.Discard)
	// The handler that brakes whoever reports errors does so by a clock of the
	// whole process, which no bubble can stop.
	utilruntime.ErrorHandlers = nil
	m.Run()
}

// onDemo runs informers on the simulated cluster in a bubble, looks at them once
// a second for as long as told, and calls seen after each look.
func onDemo(t *testing.T, o demo.Options, names []string, d time.Duration, seen func(at time.Duration, p inspect.Process, all []findings.Finding)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		c, err := demo.New(o)
		if err != nil {
			t.Fatal(err)
		}
		sources, err := c.Sources(names, "")
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		var running sync.WaitGroup
		registry := engine.NewRegistry()
		for _, s := range sources {
			resync := time.Duration(0)
			for _, h := range s.Handlers {
				if h.Resync > 0 && (resync == 0 || h.Resync < resync) {
					resync = h.Resync
				}
			}
			i := engine.New(s.ListerWatcher, s.Example, engine.Options{
				Name: s.Name, Resource: s.Resource, Resync: resync, Indexers: s.Indexers, Registry: registry, HandlerPanic: engine.Contain,
			})
			for _, h := range s.Handlers {
				if _, err := i.AddNamedEventHandler(h.Name, h.Handler, cache.HandlerOptions{ResyncPeriod: &h.Resync}); err != nil {
					t.Fatal(err)
				}
			}
			release, err := i.Open()
			if err != nil {
				t.Fatal(err)
			}
			defer release()
			running.Go(func() { i.RunWithContext(ctx) })
		}
		running.Go(func() { c.Run(ctx) })
		p, start := findings.NewProcess(registry), time.Now()
		for time.Since(start) < d {
			time.Sleep(time.Second)
			if err := p.Look(ctx, ""); err != nil {
				t.Fatal(err)
			}
			seen(time.Since(start), registry, p.Findings())
		}
		cancel()
		running.Wait()
	})
}

func TestNothingIsWrongWithASteadyCluster(t *testing.T) {
	seeds, d := 3, 10*time.Minute
	if testing.Short() {
		seeds, d = 1, 5*time.Minute
	}
	for seed := range uint64(seeds) {
		t.Run(fmt.Sprintf("seed=%d", seed), func(t *testing.T) {
			t.Parallel()
			said := map[string]bool{}
			names := []string{"pods"}
			if seed == 0 {
				names = []string{"pods", "deployments", "replicasets", "nodes"}
			}
			onDemo(t, demo.Options{Seed: seed}, names, d, func(at time.Duration, _ inspect.Process, all []findings.Finding) {
				for _, f := range all {
					if id := f.Rule + " " + f.Informer + " " + f.Subject; !said[id] {
						said[id] = true
						t.Errorf("after %v: %v %s: %s %q", at, f.Severity, id, f.Title, f.Evidence)
					}
				}
			})
		})
	}
}

func TestEachScenarioShowsWhatItIsAbout(t *testing.T) {
	for scenario, want := range map[string]struct {
		rule, subject string
		severity      findings.Severity // at least
		within        time.Duration
	}{
		demo.SlowHandler: {findings.GrowingBacklog, "billing-export", findings.Warning, 30 * time.Second},
		demo.ResyncStorm: {findings.ResyncStorm, "search-indexer", findings.Warning, time.Minute},
		demo.Expired:     {findings.Expired, "", findings.Info, time.Minute},
		demo.HotKey:      {findings.HotKey, "*", findings.Warning, 30 * time.Second},
		demo.Recreated:   {findings.IdentityChanged, "*", findings.Warning, time.Minute},
	} {
		t.Run(scenario, func(t *testing.T) {
			t.Parallel()
			found := time.Duration(-1)
			said := map[string]bool{}
			onDemo(t, demo.Options{Scenario: scenario, Seed: 3}, []string{"pods"}, 3*time.Minute, func(at time.Duration, _ inspect.Process, all []findings.Finding) {
				for _, f := range all {
					if id := fmt.Sprintf("%v %s %s", f.Severity, f.Rule, f.Subject); !said[id] {
						said[id] = true
						t.Logf("after %v: %s: %s %q", at, id, f.Title, f.Evidence)
					}
					if found < 0 && f.Rule == want.rule && (f.Subject == want.subject || want.subject == "*") && f.Severity >= want.severity {
						found = at
					}
				}
			})
			if found < 0 || found > want.within {
				t.Errorf("%s found after %v, want it within %v", want.rule, found, want.within)
			}
		})
	}
}

func TestTheOutlookOfAHandlerDoesNotChangeWithEachRound(t *testing.T) {
	for _, c := range []struct {
		scenario, handler string
		loses             bool
	}{
		{demo.ResyncStorm, "search-indexer", true},
		{demo.SlowHandler, "billing-export", true},
		{demo.Steady, "audit", false},
	} {
		t.Run(c.scenario, func(t *testing.T) {
			t.Parallel()
			looks := 0
			onDemo(t, demo.Options{Scenario: c.scenario, Seed: 3}, []string{"pods"}, 2*time.Minute, func(at time.Duration, p inspect.Process, _ []findings.Finding) {
				s := snapshotOf(t, p, "pods")
				i := slices.IndexFunc(s.Listeners, func(l inspect.ListenerVitals) bool { return l.Name == c.handler })
				if i < 0 {
					t.Fatalf("no handler %s", c.handler)
				}
				if at < 10*time.Second {
					return
				}
				looks++
				o := s.Listeners[i].Outlook(s.Store.Objects)
				if _, ever := o.CaughtUp(); o.Loses() != c.loses || ever == c.loses {
					t.Errorf("after %v: arriving %.1f/s, handles %.1f/s: loses %v, ever catches up %v", at, o.Arriving, o.Handles, o.Loses(), ever)
				}
			})
			if looks < 100 {
				t.Errorf("looked %d times", looks)
			}
		})
	}
}

func snapshotOf(t *testing.T, p inspect.Process, name string) inspect.Snapshot {
	t.Helper()
	i, _, err := p.Informer(name)
	if err != nil {
		t.Fatal(err)
	}
	s, err := i.Snapshot(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestAFightThatGoesOnIsNotOver(t *testing.T) {
	for seed := range uint64(3) {
		t.Run(fmt.Sprintf("seed=%d", seed), func(t *testing.T) {
			t.Parallel()
			found := false
			onDemo(t, demo.Options{Scenario: demo.HotKey, Seed: seed}, []string{"pods", "deployments", "replicasets", "nodes"}, 3*time.Minute, func(at time.Duration, _ inspect.Process, all []findings.Finding) {
				for _, f := range all {
					found = found || f.Rule == findings.HotKey
					if f.Rule == findings.HotKey && !f.Ended.IsZero() && f.Ended.Equal(f.At.Add(time.Second)) {
						t.Errorf("after %v: over, after %v: %s", at, f.Ended.Sub(f.Since), f.Title)
					}
				}
			})
			if !found {
				t.Error("no hot key")
			}
		})
	}
}
