package env

import (
	"sync"

	"golang.org/x/sys/unix"
)

// Kernel names the running kernel, "" if the system does not say: the same for all
// its processes, and another after a restart.
var Kernel = sync.OnceValue(func() string {
	id, err := unix.Sysctl("kern.bootsessionuuid")
	if err != nil {
		return ""
	}
	return id
})
