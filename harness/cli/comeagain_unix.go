//go:build unix

package cli

import (
	"os"
	"syscall"
)

// comeAgain are the signals by which batch systems say that a time limit is near.
var comeAgain = []os.Signal{syscall.SIGUSR1}
