package engine

import (
	"context"

	"github.com/informeter/informeter/engine/inspect"
)

// VerifyIndex implements inspect.Inspector. It takes as long as calling the index
// function with every object does; deltas are handled in between.
func (i *Informer) VerifyIndex(ctx context.Context, index string) (inspect.IndexCheck, error) {
	return i.store.Verify(ctx, index)
}
