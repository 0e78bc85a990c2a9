package sheet

import (
	"strings"
	"unicode"
)

// Plain makes text fit for a terminal: specs and records come from others, and must
// not be able to move the cursor.
func Plain(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return ' '
		}
		return r
	}, s)
}
