package store

import (
	"os"

	"golang.org/x/sys/windows"
)

// flock locks a file in the kernel until it is closed or the process ends. What is
// locked is a byte far behind its end, for others cannot read what is locked.
func flock(f *os.File, wait bool) error {
	how := uint32(windows.LOCKFILE_EXCLUSIVE_LOCK)
	if !wait {
		how |= windows.LOCKFILE_FAIL_IMMEDIATELY
	}
	return windows.LockFileEx(windows.Handle(f.Fd()), how, 0, 1, 0, &windows.Overlapped{OffsetHigh: 1 << 30})
}

// inKernel reports whether an error of flock says that another one has the file locked.
func inKernel(err error) bool { return err == windows.ERROR_LOCK_VIOLATION }

// device would tell apart what is mounted twice, which is not done here.
func device(*os.File) string { return "" }
