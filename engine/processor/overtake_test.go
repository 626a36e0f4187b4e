package processor

import (
	"testing"
	"testing/synctest"
	"time"

	"k8s.io/client-go/tools/cache"
)

func TestAListenerThatIsTooFarBehindCatchesUpByOtherMeans(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := New(Options{})
		var told []string
		var caughtUp []uint64
		hold := make(chan struct{})
		h := cache.ResourceEventHandlerFuncs{AddFunc: func(obj any) {
			told = append(told, obj.(string))
			if obj == "first" {
				<-hold
			}
		}}
		l, err := p.Add(h, ListenerOptions{
			Name: "x", Explorer: true, Now: time.Now(), Backlog: 100,
			CatchUp: func(lost uint64) { caughtUp = append(caughtUp, lost) },
		}, nil, nil)
		if err != nil {
			t.Fatal(err)
		}
		others := 0
		if _, err := p.Add(cache.ResourceEventHandlerFuncs{AddFunc: func(any) { others++ }}, ListenerOptions{Name: "y", Now: time.Now()}, nil, nil); err != nil {
			t.Fatal(err)
		}
		stop := run(t, p)
		synctest.Wait()
		publish := func(n int, initial bool, text string) {
			batch := make([]Notification, n)
			for i := range batch {
				batch[i] = Notification{Kind: Add, New: text, Initial: initial}
			}
			p.Publish(batch)
		}
		publish(1, false, "first")
		synctest.Wait()
		publish(300, true, "initial")
		publish(500, false, "lost")
		close(hold)
		synctest.Wait()
		publish(100, false, "seen")
		synctest.Wait()
		v := p.Listeners(time.Now())[0]
		if v.Pending != 0 || v.Behind != 0 || !v.Synced || v.InitialDelivered != v.InitialTotal {
			t.Errorf("vitals = %+v", v)
		}
		// The first chunk, once begun, is delivered to its end.
		counts := map[string]int{}
		for _, text := range told {
			counts[text]++
		}
		if counts["first"] != 1 || counts["lost"] != 0 || counts["seen"] != 100 || counts["initial"] > chunkSize {
			t.Errorf("delivered %v", counts)
		}
		if len(caughtUp) != 2 || caughtUp[0] != 0 || caughtUp[1] != 500 {
			t.Errorf("caught up %v, want once at the start and once for 500", caughtUp)
		}
		if others != 901 {
			t.Errorf("the other listener was told of %d, want all 901", others)
		}
		if got := l.addressed(); got != uint64(len(told)) {
			t.Errorf("addressed %d, delivered %d", got, len(told))
		}
		stop()
	})
}
