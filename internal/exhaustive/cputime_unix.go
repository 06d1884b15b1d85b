//go:build unix

package exhaustive

import (
	"time"

	"golang.org/x/sys/unix"
)

// cpuTime returns the CPU time that the process has taken, 0 where unknown.
func cpuTime() time.Duration {
	var usage unix.Rusage
	if unix.Getrusage(unix.RUSAGE_SELF, &usage) != nil {
		return 0
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}
