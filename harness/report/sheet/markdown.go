package sheet

import (
	"bytes"
	"fmt"
	"strings"
	"unicode"
)

// Markdown returns the table in the Markdown of GitHub.
func (s *Sheet) Markdown() []byte {
	var b bytes.Buffer
	if s.Title != "" {
		fmt.Fprintf(&b, "### %s\n\n", markdownText(s.Title))
	}
	for i, block := range s.Blocks() {
		if i > 0 {
			b.WriteByte('\n')
		}
		block.markdownTable(&b)
	}
	if caption := s.caption("bold", "underlined"); caption != "" {
		fmt.Fprintf(&b, "\n%s\n", markdownText(caption))
	}
	if len(s.Footnotes)+len(s.Notes) > 0 {
		b.WriteByte('\n')
	}
	for _, n := range s.Footnotes {
		fmt.Fprintf(&b, "- <sup>%s</sup> %s\n", markdownText(n.Sign), markdownText(n.Text))
	}
	for _, n := range s.Notes {
		fmt.Fprintf(&b, "- %s\n", markdownText(n))
	}
	return b.Bytes()
}

func (s *Sheet) markdownTable(b *bytes.Buffer) {
	align := "--:"
	if s.Wide != nil {
		align = ":--"
	}
	var heads, rule []string
	for _, h := range s.Heads {
		heads, rule = append(heads, markdownText(h)), append(rule, ":--")
	}
	for _, c := range s.fullTitles() {
		heads, rule = append(heads, markdownText(c)), append(rule, align)
	}
	fmt.Fprintf(b, "| %s |\n|%s|\n", strings.Join(heads, " | "), strings.Join(rule, "|"))
	for _, r := range s.Rows {
		var cells []string
		for _, h := range r.Heads {
			cells = append(cells, markdownText(h))
		}
		for _, e := range r.Cells {
			cells = append(cells, e.markdown())
		}
		fmt.Fprintf(b, "| %s |\n", strings.Join(cells, " | "))
	}
}

func (e Entry) markdown() string {
	t := markdownText(e.Plain())
	switch e.Place {
	case 1:
		t = "**" + t + "**"
	case 2:
		t = "<u>" + t + "</u>"
	}
	if e.Marks != "" {
		t += "<sup>" + markdownText(e.Marks) + "</sup>"
	}
	return t
}

// markdownText escapes text for a Markdown table.
func markdownText(s string) string {
	var b strings.Builder
	for _, r := range s {
		switch {
		case strings.ContainsRune("\\`*_[]|~#$", r):
			b.WriteByte('\\')
			b.WriteRune(r)
		case r == '<':
			b.WriteString("&lt;")
		case r == '>':
			b.WriteString("&gt;")
		case r == '&':
			b.WriteString("&amp;")
		case unicode.IsControl(r):
			b.WriteByte(' ')
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}
