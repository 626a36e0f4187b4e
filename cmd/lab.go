package cmd

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"sync"
	"time"

	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/tools/cache"

	"github.com/informeter/informeter/engine"
	"github.com/informeter/informeter/engine/expr"
	"github.com/informeter/informeter/engine/inspect"
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

// settings say how the informers of a lab work.
type settings struct {
	queue   engine.Queue
	strict  bool
	resync  time.Duration // 0: as the sources' handlers ask
	indices []inspect.IndexSpec
}

// startLab runs an informer on each source. Whoever starts it calls stop.
func startLab(ctx context.Context, o opened, with settings) (*lab, error) {
	l := &lab{registry: engine.NewRegistry()}
	compiler := expr.New()
	for _, s := range o.sources {
		i, err := with.informer(ctx, s, engine.Options{Registry: l.registry, Compiler: compiler})
		if err != nil {
			return nil, fmt.Errorf("informer %s: %w", s.Name, err)
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

// informer returns an informer on a source, with its handlers and indices. What o
// has is what all informers of a lab share.
func (with *settings) informer(ctx context.Context, s source.Source, o engine.Options) (*engine.Informer, error) {
	o.Name, o.Resource, o.Scope, o.Origin = s.Name, s.Resource, s.Scope, s.Origin
	o.Queue, o.Strict = with.queue, with.strict
	o.Resync = checkPeriod(s, with.resync)
	o.Indexers = s.Indexers
	o.HandlerPanic = engine.Contain
	o.Scheme = scheme.Scheme
	o.Traffic = trafficOf(s.ListerWatcher)
	i := engine.New(s.ListerWatcher, s.Example, o)
	for _, h := range s.Handlers {
		if _, err := i.AddNamedEventHandler(h.Name, h.Handler, cache.HandlerOptions{ResyncPeriod: &h.Resync}); err != nil {
			return nil, err
		}
	}
	if with.resync > 0 {
		if _, err := i.AddNamedEventHandler("resync", cache.ResourceEventHandlerFuncs{}, cache.HandlerOptions{ResyncPeriod: &with.resync}); err != nil {
			return nil, err
		}
	}
	for _, spec := range with.indices {
		if err := i.AddIndex(ctx, spec); err != nil {
			return nil, err
		}
	}
	return i, nil
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

// watching runs what the flags and args ask for while use looks at it, for the
// commands that print and end. The context that use is given ends with the first
// interrupt; once use has called stopSignals, the next one ends the process.
func (f *sourceFlags) watching(ctx context.Context, args []string, use func(interrupted context.Context, l *lab, stopSignals func()) error) error {
	log, stopLog, err := startLog(f.logFile)
	if err != nil {
		return err
	}
	defer stopLog()
	interrupted, stopSignals := signal.NotifyContext(ctx, os.Interrupt)
	defer stopSignals()
	what, err := f.open(interrupted, args, false, log)
	if interrupted.Err() != nil {
		return signaled(os.Interrupt) // there is nothing to print yet
	}
	if err != nil {
		return err
	}
	l, err := startLab(ctx, what, f.settings())
	if err != nil {
		return err
	}
	defer l.stop()
	return use(interrupted, l, stopSignals)
}
