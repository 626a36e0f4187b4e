package engine

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"k8s.io/client-go/tools/cache"

	"github.com/informeter/informeter/engine/inspect"
	"github.com/informeter/informeter/engine/store"
)

// Pause implements inspect.Controls.
func (i *Informer) Pause(context.Context) error {
	i.gate.pause()
	return nil
}

// Resume implements inspect.Controls.
func (i *Informer) Resume(context.Context) error {
	i.gate.resume()
	return nil
}

// Step implements inspect.Controls.
func (i *Informer) Step(_ context.Context, n int) error {
	if n < 1 {
		return fmt.Errorf("step %d deltas: the number must be at least 1", n)
	}
	i.gate.step(n)
	return nil
}

// SetRate implements inspect.Controls.
func (i *Informer) SetRate(_ context.Context, perSecond float64) error {
	i.gate.limit(perSecond)
	return nil
}

// RelistNow implements inspect.Controls. A wait for the next attempt ends, too; a
// list under way is followed by another one.
func (i *Informer) RelistNow(context.Context) error {
	i.lifeMu.Lock()
	defer i.lifeMu.Unlock()
	switch i.state {
	case inspect.StateCreated:
		return errors.New("relist now: the informer has not started; it lists when it does")
	case inspect.StateStopped:
		return fmt.Errorf("relist now: %w", inspect.ErrStopped)
	}
	i.reflector.Relist()
	return nil
}

// AddIndex implements inspect.Controls. It returns when the index is filled; what
// happens to objects meanwhile is handled and not missed. An expression that fails
// on some objects is not an error: IndexVitals counts them.
func (i *Informer) AddIndex(ctx context.Context, s inspect.IndexSpec) error {
	if s.Name == "" {
		return errors.New("add index: it has no name; give it one")
	}
	if i.options.Compiler == nil {
		return fmt.Errorf("add index %s: this program cannot compile expressions: %w", s.Name, inspect.ErrUnsupported)
	}
	fn, err := i.options.Compiler.IndexFunc(s.Expr)
	switch {
	case err != nil:
	case i.IsStopped():
		err = inspect.ErrStopped
	default:
		err = i.store.AddIndex(ctx, s.Name, s.Expr, fn)
		if errors.Is(err, store.ErrTaken) {
			err = fmt.Errorf("%w than %s", err, strings.Join(slices.Sorted(maps.Keys(i.store.GetIndexers())), ", "))
		}
	}
	if err != nil {
		return fmt.Errorf("add index %s: %w", s.Name, err)
	}
	i.generation.Bump()
	return nil
}

// AddHandler implements inspect.Controls. See labHandler for how exact its delay
// is.
func (i *Informer) AddHandler(_ context.Context, s inspect.HandlerSpec) error {
	switch {
	case s.Delay < 0:
		return fmt.Errorf("add handler %s: a delay of %v is negative; 0 is as fast as it goes", s.Name, s.Delay)
	case s.Resync < 0:
		return fmt.Errorf("add handler %s: a resync period of %v is negative; 0 asks for none", s.Name, s.Resync)
	case s.Name == "":
		s.Name = "lab"
	}
	_, err := i.AddNamedEventHandler(s.Name, &labHandler{delay: s.Delay}, cache.HandlerOptions{ResyncPeriod: &s.Resync})
	return err
}

// RemoveHandler implements inspect.Controls.
func (i *Informer) RemoveHandler(_ context.Context, name string) error {
	i.lifeMu.Lock()
	listener, stopped := i.handlerLocked(name), i.state == inspect.StateStopped
	i.lifeMu.Unlock()
	switch {
	case stopped:
		return fmt.Errorf("remove handler %s: %w", name, inspect.ErrStopped)
	case listener == nil && name != explorerName:
		return fmt.Errorf("handler %q: %w", name, inspect.ErrNotFound)
	case listener == nil || !listener.Lab():
		return fmt.Errorf("remove handler %s: only handlers that were added here can be removed: %w", name, inspect.ErrReadOnly)
	}
	return i.RemoveEventHandler(listener)
}
