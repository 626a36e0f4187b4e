package engine

import (
	"context"
	"fmt"

	"github.com/informeter/informeter/engine/inspect"
)

// Moments implements inspect.Inspector.
func (i *Informer) Moments(context.Context, inspect.MomentQuery) (inspect.MomentPage, error) {
	return inspect.MomentPage{}, fmt.Errorf("moments: %w", inspect.ErrUnsupported)
}
