//go:build unix && !solaris && !illumos && !aix

package store

import (
	"os"

	"golang.org/x/sys/unix"
)

// flock locks a file in the kernel until it is closed or the process ends.
func flock(f *os.File, wait bool) error {
	how := unix.LOCK_EX
	if !wait {
		how |= unix.LOCK_NB
	}
	for {
		if err := unix.Flock(int(f.Fd()), how); err != unix.EINTR {
			return err
		}
	}
}
