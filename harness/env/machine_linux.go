package env

import (
	"os"
	"strconv"
	"strings"
	"sync"
)

func cpuModel() string {
	for _, key := range []string{"model name", "Model", "Hardware", "Processor"} {
		if m := line("/proc/cpuinfo", key); m != "" {
			return m
		}
	}
	return ""
}

func memory() int64 { return kilobytes(line("/proc/meminfo", "MemTotal")) }

func kilobytes(s string) int64 {
	n, err := strconv.ParseInt(strings.TrimSuffix(s, " kB"), 10, 64)
	if err != nil {
		return 0
	}
	return n << 10
}

// peakMemory prefers the kernel's own high-water mark to getrusage, which a
// process inherits from the one that started it.
func peakMemory() int64 { return kilobytes(line("/proc/self/status", "VmHWM")) }

// ResetPeak makes PeakMemory start anew from what is held now, where the system can.
func ResetPeak() { os.WriteFile("/proc/self/clear_refs", []byte("5"), 0) }

// Kernel names the running kernel, "" if the system does not say: the same for all
// its processes, in containers, too, and another after a restart.
var Kernel = sync.OnceValue(func() string {
	boot, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(boot))
})

// line returns what follows key and a colon in the lines of a file such as
// /proc/cpuinfo.
func line(file, key string) string {
	b, err := os.ReadFile(file)
	if err != nil {
		return ""
	}
	for l := range strings.Lines(string(b)) {
		k, v, ok := strings.Cut(l, ":")
		if ok && strings.TrimSpace(k) == key {
			return strings.TrimSpace(v)
		}
	}
	return ""
}
