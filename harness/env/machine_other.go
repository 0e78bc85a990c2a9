//go:build !linux && !darwin && !windows

package env

func cpuModel() string { return "" }

func memory() int64 { return 0 }

func peakMemory() int64 { return 0 }

// ResetPeak resets PeakMemory to the memory in use now, if the system supports it.
func ResetPeak() {}
