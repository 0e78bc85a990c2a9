//go:build !unix && !windows

package env

import "time"

// CPU returns 0: the system does not tell.
func CPU() time.Duration { return 0 }

// PeakMemory returns 0: the system does not tell.
func PeakMemory() int64 { return 0 }
