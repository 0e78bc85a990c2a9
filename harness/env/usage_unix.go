//go:build unix

package env

import (
	"runtime"
	"time"

	"golang.org/x/sys/unix"
)

// CPU returns the processor time that all threads of this process have used.
func CPU() time.Duration {
	var u unix.Rusage
	if unix.Getrusage(unix.RUSAGE_SELF, &u) != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// PeakMemory returns the largest amount of memory this process has used, in bytes, or 0 if it is
// unknown.
func PeakMemory() int64 {
	if n := peakMemory(); n > 0 {
		return n
	}
	var u unix.Rusage
	if unix.Getrusage(unix.RUSAGE_SELF, &u) != nil {
		return 0
	}
	n := int64(u.Maxrss)
	if runtime.GOOS != "darwin" && runtime.GOOS != "ios" { // ru_maxrss is in bytes there
		n <<= 10
	}
	return n
}
