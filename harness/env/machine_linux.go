package env

import (
	"io/fs"
	"os"
	"path"
	"slices"
	"strconv"
	"strings"
)

func cpuModel() string {
	for _, key := range []string{"model name", "Model", "Hardware", "Processor"} {
		if m := line("/proc/cpuinfo", key); m != "" {
			return m
		}
	}
	return ""
}

// memory is that of the machine, or as much of it as the process may have.
func memory() int64 {
	all := kilobytes(line("/proc/meminfo", "MemTotal"))
	if may := allowed(os.DirFS("/")); may > 0 && (all == 0 || may < all) {
		return may
	}
	return all
}

// allowed is the smallest limit on memory of the control groups that the process is in, of
// either version, as batch systems and containers set them; 0 if there is none.
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
		for dir := path.Join("/", part[2]); ; dir = path.Dir(dir) { // a group is in those above it
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

// peakMemory prefers the kernel's own high-water mark to getrusage, which a
// process inherits from the one that started it.
func peakMemory() int64 { return kilobytes(line("/proc/self/status", "VmHWM")) }

// ResetPeak makes PeakMemory start anew from what is held now, where the system can.
func ResetPeak() { os.WriteFile("/proc/self/clear_refs", []byte("5"), 0) }

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
