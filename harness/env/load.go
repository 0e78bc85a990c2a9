package env

import (
	"os"
	"strconv"
	"strings"
)

// Load returns the average number of tasks that wanted a processor in the last minute, or 0 if it is
// unknown.
func Load() float64 {
	b, _ := os.ReadFile("/proc/loadavg")
	first, _, _ := strings.Cut(string(b), " ")
	load, _ := strconv.ParseFloat(first, 64)
	return load
}
