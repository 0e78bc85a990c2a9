package report

import (
	"bytes"
	"fmt"
	"strings"
)

// markdown writes the table for GitHub and others who read its tables.
func (s *sheet) markdown() []byte {
	var b bytes.Buffer
	if s.title != "" {
		fmt.Fprintf(&b, "### %s\n\n", markdownText(s.title))
	}
	for i, block := range s.blocks() {
		if i > 0 {
			b.WriteByte('\n')
		}
		block.markdownTable(&b)
	}
	if s.caption != "" {
		fmt.Fprintf(&b, "\n%s\n", markdownText(s.caption))
	}
	for i, n := range s.notes {
		if i == 0 {
			b.WriteByte('\n')
		}
		fmt.Fprintf(&b, "- %s\n", markdownText(n))
	}
	return b.Bytes()
}

func (s *sheet) markdownTable(b *bytes.Buffer) {
	var heads, rule []string
	for _, h := range s.heads {
		heads, rule = append(heads, markdownText(h)), append(rule, ":--")
	}
	titles := s.fullTitles()
	for _, c := range titles {
		heads = append(heads, markdownText(c))
		if s.left {
			rule = append(rule, ":--")
		} else {
			rule = append(rule, "--:")
		}
	}
	fmt.Fprintf(b, "| %s |\n|%s|\n", strings.Join(heads, " | "), strings.Join(rule, "|"))
	for _, r := range s.rows {
		var cells []string
		for _, h := range r.heads {
			cells = append(cells, markdownText(h.text))
		}
		for _, e := range r.cells {
			cells = append(cells, e.markdown())
		}
		fmt.Fprintf(b, "| %s |\n", strings.Join(cells, " | "))
	}
}

// fullTitles are the columns' titles with their groups, for forms that have no
// headings over several columns, where the titles alone would not be unique.
func (s *sheet) fullTitles() []string {
	out := append([]string{}, s.columns...)
	seen, twice := map[string]bool{}, false
	for _, c := range out {
		twice = twice || seen[c]
		seen[c] = true
	}
	if !twice {
		return out
	}
	at := 0
	for _, g := range s.groups {
		for range g.n {
			if g.title != "" {
				out[at] = g.title + ": " + out[at]
			}
			at++
		}
	}
	return out
}

func (e entry) markdown() string {
	t := markdownText(e.plain())
	switch e.place {
	case 1:
		t = "**" + t + "**"
	case 2:
		t = "<u>" + t + "</u>"
	}
	if e.marks != "" {
		t += "<sup>" + markdownText(e.marks) + "</sup>"
	}
	return t
}
