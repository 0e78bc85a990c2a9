//go:build unix

package env

import (
	"runtime"
	"time"

	"golang.org/x/sys/unix"
)

// CPU returns the processor time this process has used, by all its threads.
func CPU() time.Duration {
	var u unix.Rusage
	if unix.Getrusage(unix.RUSAGE_SELF, &u) != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// PeakMemory returns the most memory this process has held, in bytes, or 0 if the
// system does not tell.
func PeakMemory() int64 {
	if n := peakMemory(); n > 0 {
		return n
	}
	var u unix.Rusage
	if unix.Getrusage(unix.RUSAGE_SELF, &u) != nil {
		return 0
	}
	n := int64(u.Maxrss)
	if runtime.GOOS != "darwin" && runtime.GOOS != "ios" { // there it is bytes
		n <<= 10
	}
	return n
}
