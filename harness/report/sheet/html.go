package sheet

import (
	"bytes"
	_ "embed"
	"html/template"
	"strings"
)

//go:embed html.tmpl
var htmlText string

var htmlTable = template.Must(template.New("sheet").Parse(htmlText))

// HTML returns the table as HTML.
func (s *Sheet) HTML() template.HTML {
	var b bytes.Buffer
	if err := htmlTable.Execute(&b, s); err != nil {
		panic("sheet: " + err.Error()) // the template and the fields do not fit each other
	}
	return template.HTML(b.String())
}

// HTMLCaption is the caption for the template.
func (s *Sheet) HTMLCaption() string { return s.caption("bold", "underlined") }

// HTMLRow is a row as the template shows it.
type HTMLRow struct {
	Class string
	Heads []HTMLHead
	Cells []HTMLCell
}

// HTMLHead is a heading that begins in a row.
type HTMLHead struct {
	Text   string
	Span   int
	Column int
}

// HTMLCell is an entry with the CSS class of its element.
type HTMLCell struct {
	Entry
	Class string
}

// HTMLRows returns the rows for the template.
func (s *Sheet) HTMLRows() []HTMLRow {
	var out []HTMLRow
	for i, l := range s.lines() {
		r := HTMLRow{Class: []string{"", "thin", "rule"}[s.rule(i, l)]}
		for j, h := range l.Heads {
			if l.Spans[j] > 0 {
				r.Heads = append(r.Heads, HTMLHead{h, l.Spans[j], j})
			}
		}
		for _, e := range l.Cells {
			r.Cells = append(r.Cells, HTMLCell{e, e.class(s.Prose)})
		}
		out = append(out, r)
	}
	return out
}

// Value reports whether the entry has a value to show. The template calls it.
func (e Entry) Value() bool { return e.State == Value }

func (e Entry) class(prose bool) string {
	var c []string
	if prose {
		c = append(c, "text")
	}
	switch {
	case e.State == NotRun || e.State == Excluded:
		c = append(c, "none")
	case e.State == Failed || e.State == Damaged || e.Good < 0:
		c = append(c, "bad")
	case e.Good > 0:
		c = append(c, "good")
	}
	return strings.Join(c, " ")
}
