//go:build !linux && !darwin

package env

import "os"

func cpuModel() string { return os.Getenv("PROCESSOR_IDENTIFIER") }

func memory() int64 { return 0 }

func peakMemory() int64 { return 0 }

// ResetPeak makes PeakMemory start anew from what is held now, where the system can.
func ResetPeak() {}
