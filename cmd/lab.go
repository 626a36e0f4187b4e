package cmd

import (
	"context"
	"fmt"
	"sync"
	"time"

	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/tools/cache"

	"github.com/informeter/informeter/engine"
	"github.com/informeter/informeter/engine/source"
)

// stopPatience is how long whoever quits waits for the informers to end.
const stopPatience = 2 * time.Second

// lab is the informers of one run.
type lab struct {
	registry  *engine.Registry
	informers []*engine.Informer
	cancel    context.CancelFunc
	running   sync.WaitGroup
}

// startLab runs an informer on each source. Whoever starts it calls stop.
func startLab(ctx context.Context, o opened, queue engine.Queue, resync time.Duration) (*lab, error) {
	l := &lab{registry: engine.NewRegistry()}
	for _, s := range o.sources {
		i := engine.New(s.ListerWatcher, s.Example, engine.Options{
			Name:         s.Name,
			Resource:     s.Resource,
			Scope:        s.Scope,
			Origin:       s.Origin,
			Queue:        queue,
			Resync:       checkPeriod(s, resync),
			Indexers:     s.Indexers,
			Registry:     l.registry,
			HandlerPanic: engine.Contain,
			Scheme:       scheme.Scheme,
			Traffic:      trafficOf(s.ListerWatcher),
		})
		for _, h := range s.Handlers {
			if _, err := i.AddNamedEventHandler(h.Name, h.Handler, cache.HandlerOptions{ResyncPeriod: &h.Resync}); err != nil {
				return nil, fmt.Errorf("informer %s: %w", s.Name, err)
			}
		}
		if resync > 0 {
			if _, err := i.AddNamedEventHandler("resync", cache.ResourceEventHandlerFuncs{}, cache.HandlerOptions{ResyncPeriod: &resync}); err != nil {
				return nil, fmt.Errorf("informer %s: %w", s.Name, err)
			}
		}
		l.informers = append(l.informers, i)
	}
	ctx, l.cancel = context.WithCancel(ctx)
	if o.run != nil {
		l.running.Go(func() { o.run(ctx) })
	}
	for _, i := range l.informers {
		l.running.Go(func() { i.RunWithContext(ctx) })
	}
	return l, nil
}

// checkPeriod is how often an informer has to ask whose turn it is to resync:
// as its source's handlers ask, if nobody said otherwise. An informer that never
// asks grants none of them a period.
func checkPeriod(s source.Source, resync time.Duration) time.Duration {
	for _, h := range s.Handlers {
		if h.Resync > 0 && (resync == 0 || h.Resync < resync) {
			resync = h.Resync
		}
	}
	return resync
}

// stop ends the informers and waits for them, though not for ever: a handler may
// be stuck, and whoever quits wants to be gone.
func (l *lab) stop() {
	l.cancel()
	ended := make(chan struct{})
	go func() {
		l.running.Wait()
		close(ended)
	}()
	select {
	case <-ended:
	case <-time.After(stopPatience):
	}
}
