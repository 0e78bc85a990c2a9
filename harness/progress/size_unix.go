//go:build unix

package progress

import (
	"os"

	"golang.org/x/sys/unix"
)

// columns is the width of the terminal, 0 if f is none.
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
