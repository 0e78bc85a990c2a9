package cli

import (
	"errors"
	"io/fs"
	"strings"
	"syscall"
)

// message returns the text of an error. It adds hints to some operating-system errors.
func message(err error) string {
	text := once(strings.TrimLeft(err.Error(), "\n"))
	switch {
	case errors.Is(err, syscall.EMFILE) || errors.Is(err, syscall.ENFILE):
		text += "\nhint: raise the limit of open files: ulimit -n 256 is enough"
	case errors.Is(err, fs.ErrPermission) && !strings.Contains(text, "hint: "):
		text += "\nhint: change the permissions of that file or folder, or run the program as its owner"
	}
	return text
}

// longestLine is the number of characters shown of a line of a message. Some lines repeat long input.
const longestLine = 600

// once drops repeated hints, because several errors may have the same remedy. It also cuts long
// lines.
func once(message string) string {
	seen := map[string]bool{}
	var lines []string
	for _, line := range strings.Split(message, "\n") {
		if strings.HasPrefix(line, "hint: ") {
			if seen[line] {
				continue
			}
			seen[line] = true
		}
		if r := []rune(line); len(r) > longestLine {
			line = string(r[:longestLine/2]) + " ... " + string(r[len(r)-longestLine/2:])
		}
		lines = append(lines, line)
	}
	return strings.Join(lines, "\n")
}
