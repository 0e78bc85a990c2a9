//go:build unix

package progress

import (
	"os"

	"golang.org/x/sys/unix"
)

// columns returns the width of the terminal f, or 0 if f is not a terminal.
func columns(f *os.File) int {
	size, err := unix.IoctlGetWinsize(int(f.Fd()), unix.TIOCGWINSZ)
	if err != nil {
		return 0
	}
	if size.Col == 0 {
		return 80
	}
	return int(size.Col)
}
