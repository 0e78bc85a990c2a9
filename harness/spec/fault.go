package spec

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"
)

// Fault is one mistake in a file.
type Fault struct {
	File      string
	Line, Col int // counted from 1, Col in characters; 0 if the file as a whole is meant
	Len       int // characters to underline
	Source    string
	Message   string
	Hint      string // how to mend it, or ""
}

func (f Fault) String() string {
	var b strings.Builder
	if f.Line == 0 {
		fmt.Fprintf(&b, "%s: %s\n", f.File, f.Message)
	} else {
		fmt.Fprintf(&b, "%s:%d:%d: %s\n", f.File, f.Line, f.Col, f.Message)
		// Tabs stay tabs below, so that the caret stands where the reader's
		// terminal puts the mistake.
		lead := []rune(f.Source)
		if len(lead) >= f.Col {
			lead = lead[:f.Col-1]
		}
		for i, r := range lead {
			if r != '\t' {
				lead[i] = ' '
			}
		}
		fmt.Fprintf(&b, "\t%s\n\t%s%s\n", f.Source, string(lead), strings.Repeat("^", max(1, f.Len)))
	}
	if f.Hint != "" {
		fmt.Fprintf(&b, "\thint: %s\n", f.Hint)
	}
	return b.String()
}

// Faults is all that is wrong with a file.
type Faults []Fault

func (f Faults) Error() string {
	var b strings.Builder
	for _, one := range f {
		b.WriteString(one.String())
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// err returns the faults in the file's order, each once, or nil if there are none.
func (f Faults) err() error {
	if len(f) == 0 {
		return nil
	}
	slices.SortStableFunc(f, func(a, b Fault) int {
		if a.Line != b.Line {
			return a.Line - b.Line
		}
		return a.Col - b.Col
	})
	seen := map[Fault]bool{}
	var once Faults
	for _, one := range f {
		if !seen[one] {
			seen[one] = true
			once = append(once, one)
		}
	}
	return once
}

// fault makes a Fault at bytes [from, to) of text.
func faultAt(file, text string, from, to int, message, hint string) Fault {
	from = min(max(from, 0), len(text))
	to = min(max(to, from), len(text))
	start := strings.LastIndexByte(text[:from], '\n') + 1
	end := len(text)
	if i := strings.IndexByte(text[start:], '\n'); i >= 0 {
		end = start + i
	}
	return Fault{
		File: file, Message: message, Hint: hint,
		Line:   1 + strings.Count(text[:start], "\n"),
		Col:    1 + utf8.RuneCountInString(text[start:from]),
		Len:    utf8.RuneCountInString(text[from:max(from, min(to, end))]),
		Source: strings.TrimSuffix(text[start:end], "\r"),
	}
}
