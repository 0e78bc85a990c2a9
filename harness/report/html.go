package report

import (
	"bytes"
	"fmt"
	"strings"
)

// html writes the table as elements.
func (s *sheet) html() []byte {
	var b bytes.Buffer
	p := func(format string, args ...any) { fmt.Fprintf(&b, format, args...) }
	for _, block := range s.blocks() {
		block.htmlTable(&b)
	}
	if s.caption != "" {
		p("<p class=\"caption\">%s</p>\n", htmlText(s.caption))
	}
	if len(s.notes) > 0 {
		p("<ul class=\"notes\">")
		for _, n := range s.notes {
			p("<li>%s</li>", htmlText(n))
		}
		p("</ul>\n")
	}
	return b.Bytes()
}

func (s *sheet) htmlTable(b *bytes.Buffer) {
	p := func(format string, args ...any) { fmt.Fprintf(b, format, args...) }
	p("<div class=\"scroll\"><table%s>\n", s.class())
	p("<thead>\n")
	rows := 1
	if s.groups != nil {
		rows = 2
		p("<tr>")
		for _, h := range s.heads {
			p("<th rowspan=\"2\" class=\"head\">%s</th>", htmlText(h))
		}
		for _, g := range s.groups {
			class := ""
			if g.title != "" {
				class = " class=\"group\""
			}
			p("<th colspan=\"%d\"%s>%s</th>", g.n, class, htmlText(g.title))
		}
		p("</tr>\n")
	}
	p("<tr>")
	if rows == 1 {
		for _, h := range s.heads {
			p("<th class=\"head\">%s</th>", htmlText(h))
		}
	}
	for _, c := range s.columns {
		p("<th%s>%s</th>", s.class(), htmlText(c))
	}
	p("</tr>\n</thead>\n<tbody>\n")
	for i, r := range s.rows {
		class := ""
		if i > 0 && r.level == 0 && len(s.heads) > 1 {
			class = " class=\"rule\""
		} else if i > 0 && r.level < len(s.heads)-1 {
			class = " class=\"thin\""
		}
		p("<tr%s>", class)
		for _, h := range r.heads {
			switch {
			case h.span > 1:
				p("<th scope=\"rowgroup\" rowspan=\"%d\">%s</th>", h.span, htmlText(h.text))
			case h.span == 1:
				p("<th scope=\"row\">%s</th>", htmlText(h.text))
			}
		}
		for _, e := range r.cells {
			p("<td%s>%s</td>", e.class(s), e.html())
		}
		p("</tr>\n")
	}
	p("</tbody></table></div>\n")
}

func (s *sheet) class() string {
	if s.left {
		return " class=\"text\""
	}
	return ""
}

func (e entry) class(s *sheet) string {
	var c []string
	if s.left {
		c = append(c, "text")
	}
	switch e.state {
	case notRun, excluded:
		c = append(c, "none")
	case failed:
		c = append(c, "bad")
	}
	switch {
	case e.good > 0:
		c = append(c, "good")
	case e.good < 0:
		c = append(c, "bad")
	}
	if c == nil {
		return ""
	}
	return " class=\"" + strings.Join(c, " ") + "\""
}

func (e entry) html() string {
	t := htmlText(e.plain())
	if e.state == value && e.spread != "" {
		t = htmlText(e.text) + "<span class=\"sd\"> ± " + htmlText(e.spread) + "</span>"
		if e.n > 0 {
			t += fmt.Sprintf(" (%d)", e.n)
		}
	}
	switch e.place {
	case 1:
		t = "<b>" + t + "</b>"
	case 2:
		t = "<u>" + t + "</u>"
	}
	if e.marks != "" {
		t += "<sup>" + htmlText(e.marks) + "</sup>"
	}
	return t
}
