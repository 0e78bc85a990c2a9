package env

import (
	"errors"
	"fmt"
	"sync"

	"golang.org/x/sys/unix"
)

// machineID is drawn anew at every start of the system.
var machineID = sync.OnceValue(func() string {
	id, err := unix.Sysctl("kern.bootsessionuuid")
	if err != nil || id == "" {
		return ""
	}
	return "/" + id
})

// processStart is the moment the process began.
func processStart(pid int) string {
	info, err := unix.SysctlKinfoProc("kern.proc.pid", pid)
	if err != nil {
		return ""
	}
	return fmt.Sprintf("%d.%06d", info.Proc.P_starttime.Sec, info.Proc.P_starttime.Usec)
}

func processAlive(pid int) (alive, known bool) {
	if errors.Is(unix.Kill(pid, 0), unix.ESRCH) {
		return false, true
	}
	const zombie = 5 // SZOMB
	if info, err := unix.SysctlKinfoProc("kern.proc.pid", pid); err == nil && info.Proc.P_stat == zombie {
		return false, true
	}
	return true, true
}
