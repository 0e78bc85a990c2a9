package progress

import (
	"os"

	"golang.org/x/sys/windows"
)

// columns returns the width of the console f, or 0 if f is not a console or cannot move its cursor.
func columns(f *os.File) int {
	h := windows.Handle(f.Fd())
	var mode uint32
	if windows.GetConsoleMode(h, &mode) != nil || windows.SetConsoleMode(h, mode|windows.ENABLE_VIRTUAL_TERMINAL_PROCESSING) != nil {
		return 0
	}
	var info windows.ConsoleScreenBufferInfo
	if windows.GetConsoleScreenBufferInfo(h, &info) != nil {
		return 80
	}
	return int(info.Window.Right-info.Window.Left) + 1
}
