//go:build !linux && !darwin && !windows

package env

func cpuModel() string { return "" }

func memory() int64 { return 0 }

func peakMemory() int64 { return 0 }

// ResetPeak makes PeakMemory start anew from what is held now, where the system can.
func ResetPeak() {}
