package progress

import (
	"fmt"
	"io"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

type plain struct{ w io.Writer }

// Plain returns a writer that escapes invalid UTF-8 and all control characters except line breaks
// and tabs. Names in messages may come from foreign files, and terminals execute control
// characters. No write may end inside a character.
func Plain(w io.Writer) io.Writer { return plain{Screen(w)} }

// Screen returns the writer that Plain wraps, or w itself.
func Screen(w io.Writer) io.Writer {
	if p, ok := w.(plain); ok {
		return p.w
	}
	return w
}

func (p plain) Write(b []byte) (int, error) {
	if _, err := io.WriteString(p.w, quote(string(b))); err != nil {
		return 0, err
	}
	return len(b), nil
}

func quote(s string) string {
	if utf8.ValidString(s) && strings.IndexFunc(s, controls) < 0 {
		return s
	}
	var b strings.Builder
	for len(s) > 0 {
		r, n := utf8.DecodeRuneInString(s)
		switch {
		case r == utf8.RuneError && n == 1:
			fmt.Fprintf(&b, `\x%02x`, s[0])
		case controls(r):
			b.WriteString(strings.Trim(strconv.QuoteRune(r), "'"))
		default:
			b.WriteString(s[:n])
		}
		s = s[n:]
	}
	return b.String()
}

func controls(r rune) bool { return unicode.IsControl(r) && r != '\n' && r != '\t' }
