package engine

import (
	"github.com/informeter/informeter/engine/processor"
	"github.com/informeter/informeter/engine/tap"
)

// RecordMoments records moments without anybody who looks.
func (i *Informer) RecordMoments(on bool) {
	if on {
		i.beginMoments()
	} else {
		i.endMoments()
	}
}

// MomentRecorder returns a function that records a batch of moments, and MomentsKept
// how many stay.
func MomentRecorder() func(batch []processor.Notification) {
	m := &moments{ring: tap.NewRing[moment](momentsKept)}
	return func(batch []processor.Notification) { m.note(batch, nil, 0) }
}

const MomentsKept = momentsKept
