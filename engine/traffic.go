package engine

import (
	"time"

	"github.com/informeter/informeter/engine/inspect"
)

// traffic asks what came over the wire, nil if nobody counts it.
func (i *Informer) traffic(now time.Time) *inspect.TrafficVitals {
	if i.options.Traffic == nil {
		return nil
	}
	v := i.options.Traffic()
	i.statsMu.Lock()
	defer i.statsMu.Unlock()
	v.ByteRate = i.stats.bytes.Sample(now, v.Bytes)
	return &v
}
