//go:build unix

package journal

import (
	"syscall"
	"time"
)

// cpuTime is what this process has used: on a machine that others use too, it
// says more than the clock.
func cpuTime() time.Duration {
	var used syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &used); err != nil {
		return 0
	}
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}
