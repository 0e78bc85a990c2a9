//go:build unix

package progress

import (
	"cmp"
	"os"

	"golang.org/x/sys/unix"
)

// columns returns the width of the terminal f, or 0 if f is not a terminal.
func columns(f *os.File) int {
	s, err := unix.IoctlGetWinsize(int(f.Fd()), unix.TIOCGWINSZ)
	if err != nil {
		return 0
	}
	return cmp.Or(int(s.Col), 80)
}
