//go:build unix && !solaris && !illumos && !aix

package store

import (
	"os"
	"strconv"
	"syscall"

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

// inKernel reports whether an error of flock says that another one has the file locked.
func inKernel(err error) bool { return err == unix.EWOULDBLOCK }

// device names the device that a file lies on: whoever mounts a folder for himself sees
// it on one of his own.
func device(f *os.File) string {
	info, err := f.Stat()
	if err != nil {
		return ""
	}
	stat, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return ""
	}
	return strconv.FormatUint(uint64(stat.Dev), 16)
}
