package sheet

import (
	"strings"
	"unicode"
)

// Plain makes text safe for a terminal. Specs and records may be foreign, and must not move the cursor.
func Plain(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return ' '
		}
		return r
	}, s)
}
