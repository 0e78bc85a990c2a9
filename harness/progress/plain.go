package progress

import (
	"io"
	"strings"
	"unicode"
	"unicode/utf8"
)

type plain struct{ w io.Writer }

// Plain returns a writer that replaces invalid UTF-8 and all control characters except line breaks
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
	if _, err := io.WriteString(p.w, printable(string(b))); err != nil {
		return 0, err
	}
	return len(b), nil
}

// printable replaces each character that a terminal cannot show by one that it can.
func printable(s string) string {
	return strings.Map(func(r rune) rune { // which decodes invalid bytes as utf8.RuneError
		if unicode.IsControl(r) && r != '\n' && r != '\t' {
			return utf8.RuneError
		}
		return r
	}, s)
}
