//go:build !windows && (!unix || solaris || illumos || aix)

package store

import (
	"errors"
	"os"
)

// flock is not known here: locks are judged by whether they change.
func flock(*os.File, bool) error { return errors.ErrUnsupported }
