package engine

import (
	"context"
	"fmt"

	"github.com/informeter/informeter/engine/inspect"
)

// VerifyIndex implements inspect.Inspector.
func (i *Informer) VerifyIndex(_ context.Context, index string) (inspect.IndexCheck, error) {
	return inspect.IndexCheck{}, fmt.Errorf("verify index %s: %w", index, inspect.ErrUnsupported)
}
