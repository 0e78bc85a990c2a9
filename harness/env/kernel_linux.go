package env

import (
	"os"
	"strings"
	"sync"
)

// Kernel names the running kernel, "" if the system does not say: the same for all
// its processes, in containers, too, and another after a restart.
var Kernel = sync.OnceValue(func() string {
	boot, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(boot))
})
