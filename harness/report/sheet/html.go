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

// HTML writes the table as elements.
func (s *Sheet) HTML() template.HTML {
	var b bytes.Buffer
	if err := htmlTable.Execute(&b, s); err != nil {
		panic("sheet: " + err.Error()) // the template and the fields do not fit each other
	}
	return template.HTML(b.String())
}

// HTMLRow is what the template shows of a row.
type HTMLRow struct {
	Class string
	Heads []HTMLHead
	Cells []HTMLCell
}

// HTMLHead is a heading of a row that begins there.
type HTMLHead struct {
	Text   string
	Span   int
	Column int
}

// HTMLCell is an entry with the class of its element.
type HTMLCell struct {
	Entry
	Class string
}

// HTMLRows prepares the rows for the template.
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

// Value reports whether there is a value to show, for the template.
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
