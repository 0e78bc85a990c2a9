//go:build !windows && (!unix || solaris || illumos || aix)

package store

import (
	"errors"
	"os"
)

// flock is not known here: locks are judged by whether they change.
func flock(*os.File, bool) error { return errors.ErrUnsupported }

func inKernel(error) bool { return false }

// device is for files that are locked in the kernel.
func device(*os.File) string { return "" }
