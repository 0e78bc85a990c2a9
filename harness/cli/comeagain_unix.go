//go:build unix

package cli

import (
	"os"
	"syscall"
)

// comeAgain lists the signals by which batch systems announce a time limit.
var comeAgain = []os.Signal{syscall.SIGUSR1}
