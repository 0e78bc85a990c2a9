package env

import (
	"errors"
	"os"
	"strconv"
	"strings"
	"sync"

	"golang.org/x/sys/unix"
)

// machineID tells restarts and containers apart, in which process numbers mean
// other processes. It is "" if the system does not say both.
var machineID = sync.OnceValue(func() string {
	boot, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		return ""
	}
	container, err := os.Readlink("/proc/self/ns/pid")
	if err != nil {
		return ""
	}
	return "/" + strings.TrimSpace(string(boot)) + "/" + container
})

// stat reads what is known of a process's first thread, which is there as long as
// the process and began with it. Emulators of other processors show a process
// something else as its own /proc/PID/stat than others see.
func stat(pid int) []string {
	n := strconv.Itoa(pid)
	b, err := os.ReadFile("/proc/" + n + "/task/" + n + "/stat")
	if err != nil {
		return nil
	}
	// The second field is the program's name in brackets and may hold blanks.
	s := string(b)
	return strings.Fields(s[strings.LastIndexByte(s, ')')+1:])
}

// processStart is the moment the process began in clock ticks since the start.
func processStart(pid int) string {
	f := stat(pid)
	if len(f) < 20 {
		return ""
	}
	return f[19]
}

// processAlive asks by a signal that is not sent: /proc may be mounted so that it
// hides the processes of others (hidepid).
func processAlive(pid int) (alive, known bool) {
	if errors.Is(unix.Kill(pid, 0), unix.ESRCH) {
		return false, true
	}
	if f := stat(pid); len(f) > 0 && (f[0] == "Z" || f[0] == "X") {
		return false, true // a zombie computes nothing
	}
	return true, true
}
