package demo

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"

	"github.com/informeter/informeter/engine"
	"github.com/informeter/informeter/engine/inspect"
)

// stage runs a scenario with our own informer on its pods in a bubble. Handlers
// more are added to those of the scenario.
func stage(t *testing.T, scenario string, more cache.ResourceEventHandler, test func(t *testing.T, i *engine.Informer)) {
	t.Helper()
	o := quick()
	o.Scenario = scenario
	run(t, o, func(t *testing.T, c *Cluster) {
		s := sourceOf(t, c, "pods", "")
		resync := time.Duration(0)
		for _, h := range s.Handlers {
			if h.Resync > 0 && (resync == 0 || h.Resync < resync) {
				resync = h.Resync
			}
		}
		i := engine.New(s.ListerWatcher, s.Example, engine.Options{Name: s.Name, Resync: resync, Indexers: s.Indexers})
		for _, h := range s.Handlers {
			if _, err := i.AddNamedEventHandler(h.Name, h.Handler, cache.HandlerOptions{ResyncPeriod: &h.Resync}); err != nil {
				t.Fatal(err)
			}
		}
		if more != nil {
			never := time.Duration(0)
			if _, err := i.AddNamedEventHandler("test", more, cache.HandlerOptions{ResyncPeriod: &never}); err != nil {
				t.Fatal(err)
			}
		}
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan struct{})
		go func() {
			defer close(done)
			i.RunWithContext(ctx)
		}()
		test(t, i)
		cancel()
		<-done
	})
}

func snapshotOf(t *testing.T, i *engine.Informer) inspect.Snapshot {
	t.Helper()
	s, err := i.Snapshot(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// pendingEvery returns how many notifications waited for each handler, at the end
// of each of n periods.
func pendingEvery(t *testing.T, i *engine.Informer, period time.Duration, n int) map[string][]int {
	t.Helper()
	pending := map[string][]int{}
	for range n {
		time.Sleep(period)
		synctest.Wait()
		for _, l := range snapshotOf(t, i).Listeners {
			pending[l.Name] = append(pending[l.Name], int(l.Pending))
		}
	}
	return pending
}

// checkGrowth checks that one handler's backlog grows with every period, and that
// the others are never behind by more than a burst.
func checkGrowth(t *testing.T, pending map[string][]int, slow string) {
	t.Helper()
	if len(pending[slow]) == 0 || len(pending) < 3 {
		t.Fatalf("the handlers are %v", slices.Sorted(maps.Keys(pending)))
	}
	for name, backlog := range pending {
		for n := 1; n < len(backlog); n++ {
			if name == slow && backlog[n] <= backlog[n-1] {
				t.Errorf("%s had %v pending, want it to grow each time", name, backlog)
				break
			}
			if name != slow && backlog[n] > 15 {
				t.Errorf("%s had %v pending, want it to keep up", name, backlog)
				break
			}
		}
	}
}

func TestTheBacklogOfASlowHandlerOnlyGrows(t *testing.T) {
	stage(t, SlowHandler, nil, func(t *testing.T, i *engine.Informer) {
		time.Sleep(25 * time.Second) // audit is played back its cache once a minute
		checkGrowth(t, pendingEvery(t, i, 30*time.Second, 10), "billing-export")
	})
}

func TestAResyncThatTakesLongerThanItsPeriodPilesUp(t *testing.T) {
	stage(t, ResyncStorm, nil, func(t *testing.T, i *engine.Informer) {
		time.Sleep(25 * time.Second)
		pending := pendingEvery(t, i, 30*time.Second, 10)
		checkGrowth(t, pending, "search-indexer")
		for _, l := range snapshotOf(t, i).Listeners {
			if l.Name != "search-indexer" {
				continue
			}
			if round := time.Duration(180) * l.Time.P50; round <= l.ResyncGranted {
				t.Errorf("a round takes %v, want more than the period %v", round, l.ResyncGranted)
			}
			// What changes is a quarter of what it could do at most.
			if share := float64(l.Causes.Watch) / (time.Since(snapshotOf(t, i).Informer.Started).Seconds() / l.Time.P50.Seconds()); share > 0.5 {
				t.Errorf("changes keep it busy for %.0f%% of the time, want it to be the resync", 100*share)
			}
		}
	})
}

func TestPodsThatVanishBetweenWatchesComeAsTombstones(t *testing.T) {
	tombstones := map[string]bool{}
	h := cache.ResourceEventHandlerFuncs{DeleteFunc: func(obj any) {
		if d, ok := obj.(cache.DeletedFinalStateUnknown); ok {
			tombstones[d.Key] = true
		}
	}}
	stage(t, Expired, h, func(t *testing.T, i *engine.Informer) {
		time.Sleep(3 * time.Minute)
		synctest.Wait()
		s := snapshotOf(t, i)
		if s.Reflector.Relists < 4 || s.Reflector.Relists > 12 {
			t.Errorf("%d relists in three minutes, want one about every half minute", s.Reflector.Relists)
		}
		if len(tombstones) < 4*3 {
			t.Errorf("%d tombstones after %d relists, want a handful each", len(tombstones), s.Reflector.Relists)
		}
		expired := 0
		requests, err := i.Requests(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range requests {
			if strings.Contains(r.Error, "too old") {
				expired++
			}
		}
		if expired != int(s.Reflector.Relists) {
			t.Errorf("%d requests expired, want one for each of the %d relists: %+v", expired, s.Reflector.Relists, requests)
		}
		if s.Store.Objects < 160 || s.Reflector.Phase != inspect.PhaseWatching {
			t.Errorf("%d objects, %s: want the informer to go on", s.Store.Objects, s.Reflector.Phase)
		}
	})
}

func TestARecreatedPodIsOneUpdateAcrossTwoUIDs(t *testing.T) {
	crossed := map[string][]types.UID{}
	h := cache.ResourceEventHandlerFuncs{UpdateFunc: func(before, after any) {
		b, a := before.(*corev1.Pod), after.(*corev1.Pod)
		if b.UID != a.UID {
			crossed[a.Name] = append(crossed[a.Name], a.UID)
		}
	}}
	stage(t, Recreated, h, func(t *testing.T, i *engine.Informer) {
		time.Sleep(2 * time.Minute)
		synctest.Wait()
		if len(crossed) < 3 {
			t.Errorf("updates crossed UIDs at %v, want more", slices.Sorted(maps.Keys(crossed)))
		}
		for name := range crossed {
			if !strings.HasPrefix(name, "kafka-") && !strings.HasPrefix(name, "ledger-db-") {
				t.Errorf("%s changed its UID", name)
			}
		}
	})
}

// written is what is known of one write to a pod.
type written struct {
	by, value string
	noise     bool // nothing has changed but times and who wrote
}

func TestHotKeysAreFoughtOverOrChangeNothing(t *testing.T) {
	writes := map[string][]written{}
	h := cache.ResourceEventHandlerFuncs{UpdateFunc: func(before, after any) {
		b, a := before.(*corev1.Pod), after.(*corev1.Pod)
		writes[a.Name] = append(writes[a.Name], written{writer(b, a), a.Annotations[evictable], meaning(b) == meaning(a)})
	}}
	const watched = time.Minute
	stage(t, HotKey, h, func(t *testing.T, _ *engine.Informer) {
		time.Sleep(watched)
		synctest.Wait()
		byRate := slices.SortedFunc(maps.Keys(writes), func(a, b string) int { return len(writes[b]) - len(writes[a]) })
		fought, idle := byRate[0], byRate[1]
		if !strings.HasPrefix(fought, "payments-") || !strings.HasPrefix(idle, "event-bus-") {
			t.Fatalf("the hottest keys are %v", byRate[:3])
		}
		if rate := float64(len(writes[fought])) / watched.Seconds(); rate < 2 || rate > 6 {
			t.Errorf("%s is written %.1f times a second, want a few", fought, rate)
		}
		for _, w := range writes[fought] {
			if w.by != "cost-optimizer" && w.by != "backup-operator" {
				t.Errorf("%s was written by %q, want the two rivals only", fought, w.by)
			}
		}
		turns := 0
		for n := 1; n < len(writes[fought]); n++ {
			if a, b := writes[fought][n-1], writes[fought][n]; a.by != b.by && a.value != b.value {
				turns++
			}
		}
		if share := float64(turns) / float64(len(writes[fought])); share < 0.9 {
			t.Errorf("the value of %s turns at %.0f%% of its writes: %v", fought, 100*share, writes[fought][:10])
		}
		noise := 0
		for _, w := range writes[idle] {
			if w.noise {
				noise++
			}
		}
		if share := float64(noise) / float64(len(writes[idle])); share < 0.9 {
			t.Errorf("%.0f%% of the writes to %s change nothing, want nearly all", 100*share, idle)
		}
		if len(writes[idle]) < 100 || len(writes[byRate[2]]) > len(writes[idle])/3 {
			t.Errorf("%d writes to %s and %d to the next pod", len(writes[idle]), idle, len(writes[byRate[2]]))
		}
	})
}

// writer returns the manager whose entry says that it wrote last: one that has
// gained a field, or else a new time.
func writer(before, after *corev1.Pod) string {
	name := ""
	for _, e := range after.ManagedFields {
		i := slices.IndexFunc(before.ManagedFields, func(b metav1.ManagedFieldsEntry) bool { return sameManager(b, e) })
		if i < 0 || len(e.FieldsV1.GetRawString()) > len(before.ManagedFields[i].FieldsV1.GetRawString()) {
			return e.Manager
		}
		if !e.Time.Equal(before.ManagedFields[i].Time) {
			name = e.Manager
		}
	}
	return name
}

// meaning is a pod without what changes with every write.
func meaning(p *corev1.Pod) string {
	p = p.DeepCopy()
	p.ResourceVersion, p.ManagedFields = "", nil
	for i := range p.Status.Conditions {
		p.Status.Conditions[i].LastProbeTime = metav1.Time{}
	}
	text, err := json.Marshal(p)
	if err != nil {
		panic(err)
	}
	return string(text)
}

// TestScenariosLiveOneHistory lives through each scenario twice.
func TestScenariosLiveOneHistory(t *testing.T) {
	for _, s := range Scenarios() {
		t.Run(s.Name, func(t *testing.T) {
			o := quick()
			o.Scenario = s.Name
			if diff := cmp.Diff(livedThrough(t, o), livedThrough(t, o)); diff != "" {
				t.Errorf("two clusters with one seed differ:\n%s", diff)
			}
		})
	}
}

// livedThrough returns what there is after two minutes, by type and key.
func livedThrough(t *testing.T, o Options) map[string]string {
	t.Helper()
	all := map[string]string{}
	synctest.Test(t, func(t *testing.T) {
		c, err := New(o)
		if err != nil {
			t.Fatal(err)
		}
		c.world.runUntil(2 * time.Minute)
		for _, name := range Resources() {
			for key, version := range versions(t, sourceOf(t, c, name, "").ListerWatcher) {
				all[name+" "+key] = version
			}
		}
	})
	return all
}

// TestManagedFieldsAreThoseOfAServer checks what every object says of its
// managers, at the start and after some minutes.
func TestManagedFieldsAreThoseOfAServer(t *testing.T) {
	for _, s := range Scenarios() {
		o := quick()
		o.Scenario = s.Name
		synctest.Test(t, func(t *testing.T) {
			c, err := New(o)
			if err != nil {
				t.Fatal(err)
			}
			for _, r := range Resources() {
				checkManagers(t, c, s.Name, r)
			}
			c.world.runUntil(3 * time.Minute)
			for _, r := range Resources() {
				checkManagers(t, c, s.Name, r)
			}
		})
	}
}

func checkManagers(t *testing.T, c *Cluster, scenario, resource string) {
	t.Helper()
	c.server.mu.Lock()
	defer c.server.mu.Unlock()
	c.server.tables[resource].objects.Scan(func(key string, o object) bool {
		if err := checkManaged(o.GetManagedFields()); err != nil {
			t.Errorf("%s: %s %s: %v", scenario, resource, key, err)
			return false
		}
		return true
	})
}

func checkManaged(entries []metav1.ManagedFieldsEntry) error {
	if len(entries) == 0 {
		return fmt.Errorf("nobody is said to have written it")
	}
	for i, e := range entries {
		switch {
		case e.Manager == "" || e.APIVersion == "" || e.FieldsType != "FieldsV1" || e.FieldsV1 == nil || e.Time.IsZero():
			return fmt.Errorf("the entry of %q is not complete: %+v", e.Manager, e)
		case e.Operation != metav1.ManagedFieldsOperationApply && e.Operation != metav1.ManagedFieldsOperationUpdate:
			return fmt.Errorf("the operation of %q is %q", e.Manager, e.Operation)
		case i > 0 && e.Operation == entries[i-1].Operation && e.Time.Before(entries[i-1].Time):
			return fmt.Errorf("%q stands before %q and is younger", entries[i-1].Manager, e.Manager)
		case slices.ContainsFunc(entries[:i], func(b metav1.ManagedFieldsEntry) bool { return sameManager(b, e) }):
			return fmt.Errorf("%q has two entries", e.Manager)
		}
		var fields map[string]any
		if err := json.Unmarshal(e.FieldsV1.GetRawBytes(), &fields); err != nil || len(fields) == 0 {
			return fmt.Errorf("the fields of %q are %s: %w", e.Manager, e.FieldsV1.GetRawString(), err)
		}
	}
	return nil
}

func TestSentencesFitTheSmallestScreen(t *testing.T) {
	for _, s := range Scenarios() {
		if n := len(s.Sentence); n == 0 || n > 76 {
			t.Errorf("%s: %d characters in %q, want them in one line", s.Name, n, s.Sentence)
		}
	}
}
