package env

import (
	"io/fs"
	"os"
	"path"
	"slices"
	"strconv"
	"strings"
)

func cpuModel() string { return cpuIn("/proc/cpuinfo") }

// cpuIn reads the model of the processor. On arm64 it may only have numbers.
func cpuIn(file string) string {
	for _, key := range []string{"model name", "Model", "Hardware", "Processor"} {
		if m := line(file, key); m != "" {
			return m
		}
	}
	if part := line(file, "CPU part"); part != "" {
		return line(file, "CPU implementer") + "/" + part
	}
	return ""
}

// memory returns the memory of the machine, or the limit of the process if that is lower.
func memory() int64 {
	all := kilobytes(line("/proc/meminfo", "MemTotal"))
	if may := allowed(os.DirFS("/")); may > 0 && (all == 0 || may < all) {
		return may
	}
	return all
}

// allowed returns the smallest memory limit (cgroup version 1 or 2) of the process, or 0 if there
// is none. Batch systems and containers set such limits.
func allowed(root fs.FS) (least int64) {
	groups, _ := fs.ReadFile(root, "proc/self/cgroup")
	for l := range strings.Lines(string(groups)) {
		part := strings.SplitN(strings.TrimSpace(l), ":", 3) // number, controllers, path
		if len(part) < 3 {
			continue
		}
		top, file := "sys/fs/cgroup", "memory.max"
		if slices.Contains(strings.Split(part[1], ","), "memory") {
			top, file = "sys/fs/cgroup/memory", "memory.limit_in_bytes"
		} else if part[1] != "" {
			continue
		}
		for dir := path.Join("/", part[2]); ; dir = path.Dir(dir) { // the limits of parent groups apply too
			b, _ := fs.ReadFile(root, path.Join(top, dir, file))
			if n, err := strconv.ParseInt(strings.TrimSpace(string(b)), 10, 64); err == nil && n > 0 && (least == 0 || n < least) {
				least = n
			}
			if dir == "/" {
				break
			}
		}
	}
	return least
}

func kilobytes(s string) int64 {
	n, err := strconv.ParseInt(strings.TrimSuffix(s, " kB"), 10, 64)
	if err != nil {
		return 0
	}
	return n << 10
}

// peakMemory reads VmHWM, because the value of getrusage is inherited from the parent process.
func peakMemory() int64 { return kilobytes(line("/proc/self/status", "VmHWM")) }

// ResetPeak resets PeakMemory to the memory in use now, if the system supports it.
func ResetPeak() { os.WriteFile("/proc/self/clear_refs", []byte("5"), 0) }

// line returns the text after key and a colon in a file such as /proc/cpuinfo.
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
