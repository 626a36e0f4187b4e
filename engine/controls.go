package engine

import (
	"context"
	"fmt"
	"time"

	"github.com/informeter/informeter/engine/inspect"
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

// ResyncNow implements inspect.Controls.
func (i *Informer) ResyncNow(context.Context) error {
	return fmt.Errorf("resync now: %w", inspect.ErrUnsupported)
}

// SetResync implements inspect.Controls.
func (i *Informer) SetResync(_ context.Context, handler string, _ time.Duration) error {
	return fmt.Errorf("resync period of %s: %w", handler, inspect.ErrUnsupported)
}

// RelistNow implements inspect.Controls.
func (i *Informer) RelistNow(context.Context) error {
	return fmt.Errorf("relist now: %w", inspect.ErrUnsupported)
}

// AddIndex implements inspect.Controls.
func (i *Informer) AddIndex(_ context.Context, s inspect.IndexSpec) error {
	return fmt.Errorf("add index %s: %w", s.Name, inspect.ErrUnsupported)
}

// AddHandler implements inspect.Controls.
func (i *Informer) AddHandler(_ context.Context, s inspect.HandlerSpec) error {
	return fmt.Errorf("add handler %s: %w", s.Name, inspect.ErrUnsupported)
}

// RemoveHandler implements inspect.Controls.
func (i *Informer) RemoveHandler(_ context.Context, name string) error {
	return fmt.Errorf("remove handler %s: %w", name, inspect.ErrUnsupported)
}
