package env

import (
	"errors"
	"io/fs"
	"os"
	"strconv"
	"strings"
)

// machineID tells restarts and containers apart, in which process numbers mean
// other processes.
func machineID() string {
	id := ""
	if b, err := os.ReadFile("/proc/sys/kernel/random/boot_id"); err == nil {
		id += "/" + strings.TrimSpace(string(b))
	}
	if ns, err := os.Readlink("/proc/self/ns/pid"); err == nil {
		id += "/" + ns
	}
	return id
}

func stat(pid int) ([]string, error) {
	b, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return nil, err
	}
	// The second field is the program's name in brackets and may hold blanks.
	s := string(b)
	return strings.Fields(s[strings.LastIndexByte(s, ')')+1:]), nil
}

// processStart is the moment the process began in clock ticks since the start.
func processStart(pid int) string {
	f, err := stat(pid)
	if err != nil || len(f) < 20 {
		return ""
	}
	return f[19]
}

func processAlive(pid int) (alive, known bool) {
	f, err := stat(pid)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		_, err := os.Stat("/proc/self/stat")
		return false, err == nil
	case err != nil || len(f) == 0:
		return false, false
	}
	return f[0] != "Z" && f[0] != "X", true // a zombie computes nothing
}
