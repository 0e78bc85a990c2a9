//go:build unix && !linux

package env

import (
	"errors"

	"golang.org/x/sys/unix"
)

func machineID() string { return "" }

func processStart(int) string { return "" }

func processAlive(pid int) (alive, known bool) {
	err := unix.Kill(pid, 0)
	return !errors.Is(err, unix.ESRCH), true
}
