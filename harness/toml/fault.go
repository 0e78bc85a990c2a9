package toml

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

const (
	shownFaults = 30  // printed of one file
	keptFaults  = 500 // looked for, so that the first of them can be printed
	shownLine   = 160 // characters printed of a long line
)

// Fault is one mistake in a file.
type Fault struct {
	File      string
	Line, Col int // counted from 1, Col in characters; 0 if the file as a whole is meant
	Len       int // characters to underline
	Source    string
	Message   string
	Hint      string // what to write instead, or ""
}

func (f Fault) String() string {
	var b strings.Builder
	if f.Line == 0 {
		fmt.Fprintf(&b, "%s: %s\n", f.File, f.Message)
	} else {
		fmt.Fprintf(&b, "%s:%d:%d: %s\n", f.File, f.Line, f.Col, f.Message)
		line, lead, length := f.excerpt()
		fmt.Fprintf(&b, "\t%s\n\t%s%s\n", line, lead, strings.Repeat("^", length))
	}
	if f.Hint != "" {
		fmt.Fprintf(&b, "\thint: %s\n", f.Hint)
	}
	return b.String()
}

// excerpt returns the line, or the part of a long one around the mistake, the blanks
// that lead to the caret, and how many characters to underline.
func (f Fault) excerpt() (line, lead string, length int) {
	// One character for each, so that the caret stands below what it is about.
	text := []rune(strings.Map(func(r rune) rune {
		if unicode.IsControl(r) && r != '\t' {
			return utf8.RuneError
		}
		return r
	}, f.Source))
	from := min(f.Col-1, len(text))
	before, after := "", ""
	if len(text) > shownLine {
		start := max(0, min(from-shownLine/2, len(text)-shownLine))
		end := start + shownLine
		if start > 0 {
			before = "..."
		}
		if end < len(text) {
			after = "..."
		}
		text, from = text[start:end], from-start
	}
	// Tabs stay tabs, so that the caret stands where the reader's terminal puts the
	// mistake.
	blanks := slices.Clone(text[:from])
	for i, r := range blanks {
		if r != '\t' {
			blanks[i] = ' '
		}
	}
	return before + string(text) + after, strings.Repeat(" ", len(before)) + string(blanks), max(1, min(f.Len, len(text)-from))
}

// Faults is all that is wrong with a file.
type Faults []Fault

func (f Faults) Error() string {
	var b strings.Builder
	for i, one := range f {
		if i == shownFaults {
			fmt.Fprintf(&b, "%d more mistakes are not shown\n", len(f)-i)
			break
		}
		b.WriteString(one.String())
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// Err returns the faults in the order of the files, or nil if there are none.
func (f Faults) Err() error {
	if len(f) == 0 {
		return nil
	}
	slices.SortStableFunc(f, func(a, b Fault) int {
		return cmp.Or(cmp.Compare(a.File, b.File), a.Line-b.Line, a.Col-b.Col)
	})
	return slices.Compact(f)
}

// Source is the text that a node comes from.
type Source struct{ File, Text string }

// fault returns a fault at bytes [from, to) of the text.
func (s *Source) fault(from, to int, message, hint string) Fault {
	text := s.Text
	from = min(max(from, 0), len(text))
	to = min(max(to, from), len(text))
	start := strings.LastIndexByte(text[:from], '\n') + 1
	end := len(text)
	if i := strings.IndexByte(text[start:], '\n'); i >= 0 {
		end = start + i
	}
	return Fault{
		File: s.File, Message: message, Hint: hint,
		Line:   1 + strings.Count(text[:start], "\n"),
		Col:    1 + utf8.RuneCountInString(text[start:from]),
		Len:    utf8.RuneCountInString(text[from:max(from, min(to, end))]),
		Source: strings.TrimSuffix(text[start:end], "\r"),
	}
}
