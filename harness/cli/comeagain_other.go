//go:build !unix

package cli

import "os"

// comeAgain lists the signals by which batch systems announce a time limit.
var comeAgain []os.Signal
