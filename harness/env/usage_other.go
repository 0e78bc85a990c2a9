//go:build !unix && !windows

package env

import "time"

// CPU returns 0, because the system does not report it.
func CPU() time.Duration { return 0 }

// PeakMemory returns 0, because the system does not report it.
func PeakMemory() int64 { return 0 }
