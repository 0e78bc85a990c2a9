package progress

import (
	"fmt"
	"io"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// plain is a writer of messages.
type plain struct{ w io.Writer }

// Plain returns a writer that quotes control characters, but for line breaks and tabs,
// and bytes that are not UTF-8: names in messages come from files of others, and a
// terminal obeys what it reads. Each write must end with a whole character.
func Plain(w io.Writer) io.Writer { return plain{Screen(w)} }

// Screen returns what a writer by Plain writes to, or w.
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
