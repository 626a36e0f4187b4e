package engine

import (
	"context"
	"fmt"

	"github.com/informeter/informeter/engine/inspect"
)

// Biography implements inspect.Inspector.
func (i *Informer) Biography(_ context.Context, r inspect.BiographyRequest) (inspect.Biography, error) {
	return inspect.Biography{}, fmt.Errorf("biography of %s: %w", r.Key, inspect.ErrUnsupported)
}

// Diff implements inspect.Inspector.
func (i *Informer) Diff(_ context.Context, r inspect.DiffRequest) (inspect.Diff, error) {
	return inspect.Diff{}, fmt.Errorf("diff of %s: %w", r.Key, inspect.ErrUnsupported)
}
