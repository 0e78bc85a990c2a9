package sheet

import (
	"bytes"
	_ "embed"
	"html/template"
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

// Value reports whether the entry has a value to show. The template calls it.
func (e Entry) Value() bool { return e.State == Value }

// Class returns the CSS class of the entry's element. The template calls it.
func (e Entry) Class() string {
	switch {
	case e.State == NotRun || e.State == Excluded:
		return "none"
	case e.State == Failed || e.State == Damaged || e.Good < 0:
		return "bad"
	case e.Good > 0:
		return "good"
	}
	return ""
}
