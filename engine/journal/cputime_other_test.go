//go:build !unix

package journal

import "time"

// cpuTime is not known here: benchmarks report 0.
func cpuTime() time.Duration { return 0 }
