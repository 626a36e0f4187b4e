package demo

import (
	"time"

	"github.com/informeter/informeter/engine/source"
)

// calmHandlers are handlers that keep up.
func calmHandlers() []source.Handler {
	return []source.Handler{
		{Name: "deployment-controller", Handler: &worker{change: 80 * time.Microsecond, full: 80 * time.Microsecond}},
		{Name: "endpoints", Handler: &worker{change: 700 * time.Microsecond, full: 1200 * time.Microsecond}},
		{Name: "audit", Handler: &worker{change: 2 * time.Millisecond, full: 3 * time.Millisecond}, Resync: time.Minute},
	}
}

// slowHandlers are calmHandlers and one that calls somebody else's API for each
// event: about six a second, of twice as many.
func slowHandlers() []source.Handler {
	return append(calmHandlers(), source.Handler{
		Name: "billing-export", Handler: &worker{change: 160 * time.Millisecond, full: 160 * time.Millisecond},
	})
}

// stormHandlers are calmHandlers and one that would keep up with what changes,
// but not with its resync: 180 pods take it 14 seconds, of ten.
func stormHandlers() []source.Handler {
	return append(calmHandlers(), source.Handler{
		Name: "search-indexer", Handler: &worker{change: 80 * time.Millisecond, full: 80 * time.Millisecond}, Resync: 10 * time.Second,
	})
}
