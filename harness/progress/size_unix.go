//go:build unix

package progress

import (
	"os"

	"golang.org/x/sys/unix"
)

// size returns the width and the height of the terminal f, or 0 if f is not a terminal. A height of 0 is
// unknown.
func size(f *os.File) (columns, rows int) {
	s, err := unix.IoctlGetWinsize(int(f.Fd()), unix.TIOCGWINSZ)
	if err != nil {
		return 0, 0
	}
	if s.Col == 0 {
		return 80, int(s.Row)
	}
	return int(s.Col), int(s.Row)
}
