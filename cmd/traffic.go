package cmd

import (
	"strconv"
	"strings"

	"k8s.io/client-go/tools/cache"

	"github.com/informeter/informeter/engine/inspect"
	"github.com/informeter/informeter/engine/source/cluster"
)

// shownFrame is how many bytes of an undecodable event are shown.
const shownFrame = 512

// trafficOf returns what counts what comes over the wire, nil where nobody does.
func trafficOf(lw cache.ListerWatcher) func() inspect.TrafficVitals {
	m, ok := lw.(cluster.Metered)
	if !ok {
		return nil
	}
	return func() inspect.TrafficVitals { return trafficVitals(m.Traffic()) }
}

func trafficVitals(t cluster.Traffic) inspect.TrafficVitals {
	v := inspect.TrafficVitals{Streams: t.Streams, Bytes: t.Bytes, Events: t.Events, Undecodable: t.Undecodable}
	for _, u := range t.Quarantine {
		v.Quarantine = append(v.Quarantine, inspect.Undecodable{
			At: u.At, Event: string(u.Event), Reason: u.Reason, Frame: frameText(u.Frame), Size: u.Size,
		})
	}
	return v
}

// frameText is the beginning of a frame: JSON as it is, other encodings quoted.
func frameText(frame []byte) string {
	if len(frame) == 0 {
		return ""
	}
	shown := string(frame[:min(len(frame), shownFrame)])
	text := strings.ToValidUTF8(shown, "")
	if frame[0] != '{' {
		text = strconv.QuoteToASCII(shown)
	}
	if len(shown) < len(frame) {
		text += "…"
	}
	return text
}
