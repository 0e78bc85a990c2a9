package env

import "golang.org/x/sys/unix"

func cpuModel() string {
	s, err := unix.Sysctl("machdep.cpu.brand_string")
	if err != nil {
		return ""
	}
	return s
}

func memory() int64 {
	n, err := unix.SysctlUint64("hw.memsize")
	if err != nil {
		return 0
	}
	return int64(n)
}

func peakMemory() int64 { return 0 }

// ResetPeak resets PeakMemory to the memory in use now, if the system supports it.
func ResetPeak() {}
