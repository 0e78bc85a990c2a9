package toml

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"
)

const (
	shownFaults = 30  // mistakes printed
	keptFaults  = 500 // mistakes collected, of which the first are printed
	shownLine   = 160 // characters printed from a long line
)

// Fault is one mistake in a file.
type Fault struct {
	File      string
	Line, Col int // counted from 1, Col in characters; 0 means the whole file
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

// excerpt returns the line, or the part of a long line around the mistake. It also returns the blanks
// before the caret, and the number of characters to underline.
func (f Fault) excerpt() (line, lead string, length int) {
	text := []rune(f.Source)
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
	// Tabs stay tabs, because the width of a tab depends on the terminal.
	blanks := slices.Clone(text[:from])
	for i, r := range blanks {
		if r != '\t' {
			blanks[i] = ' '
		}
	}
	return before + string(text) + after, strings.Repeat(" ", len(before)) + string(blanks), max(1, min(f.Len, len(text)-from))
}

// Faults are all mistakes in a file.
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
