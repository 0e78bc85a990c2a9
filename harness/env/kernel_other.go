//go:build !linux && !darwin && !windows

package env

// Kernel names the running kernel. Here it is not known.
func Kernel() string { return "" }
