package sheet

import (
	"strings"
	"unicode"
)

// Plain replaces control characters by spaces, so that text from specs and records cannot move the
// cursor of a terminal.
func Plain(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return ' '
		}
		return r
	}, s)
}
