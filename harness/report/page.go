package report

import (
	"bytes"
	"cmp"
	_ "embed"
	"html/template"
	"slices"
	"strings"

	"dgkip/harness/method"
	"dgkip/harness/report/sheet"
)

var (
	//go:embed page.css
	css string
	//go:embed page.tmpl
	pageText string

	pages = template.Must(template.New("pages").Funcs(template.FuncMap{"capital": capital}).Parse(pageText))
)

// section is what the page shows of an experiment.
type section struct {
	ID, Title, About, Name, Profile, Progress, Selection string
	Problems                                             []string
	Tables                                               []titledTable
	Figures                                              []shown
	Methods                                              []method.Info
	Cells                                                []cellView
	NotRun                                               []string // cells that there is nothing else to say of
}

// titledTable is a table with a heading, "" for the main one.
type titledTable struct {
	Heading string
	Table   template.HTML
}

// section gathers what the page shows of an experiment, with the figures that were
// drawn. The page lies in a folder, and so do files that it shows.
func (r *Results) section(figures []shown, dir string) section {
	s := section{ID: r.stem(), Title: r.Spec.Title, About: r.Spec.About, Name: r.Spec.Name, Profile: r.Spec.Profile,
		Progress: r.progressText(), Selection: r.selection(), Problems: r.Problems, Figures: figures}
	for i, t := range r.sheets {
		heading := ""
		if i > 0 {
			heading = capital(strings.TrimPrefix(t.Title, r.Spec.Title+": "))
		}
		s.Tables = append(s.Tables, titledTable{heading, t.HTML()})
	}
	for _, c := range r.Cells {
		info := c.Cell.Method().Info()
		if !slices.ContainsFunc(s.Methods, func(m method.Info) bool { return m.Name == info.Name }) {
			s.Methods = append(s.Methods, info)
		}
		if c.state() == sheet.NotRun {
			s.NotRun = append(s.NotRun, r.placeName(c.Cell))
			continue
		}
		s.Cells = append(s.Cells, r.cellView(c, dir))
	}
	return s
}

// page is the page of all experiments, those of the paper's own tables and figures
// first. It needs the files beside it, but no script and no network.
func page(sections []section) []byte {
	slices.SortStableFunc(sections, func(a, b section) int { return cmp.Compare(paperRank(a.Name), paperRank(b.Name)) })
	title := "Results"
	if len(sections) == 1 {
		title = sections[0].Title
	}
	var b bytes.Buffer
	err := pages.ExecuteTemplate(&b, "page", struct {
		Title    string
		CSS      template.CSS
		Sections []section
	}{title, template.CSS(css), sections})
	if err != nil {
		panic("report: " + err.Error()) // the template and the fields do not fit each other
	}
	return b.Bytes()
}

// paperRank puts experiments that are named after a table of the paper before those
// that are named after a figure, and others behind.
func paperRank(experiment string) int {
	for i, kind := range []string{"table", "figure"} {
		if n, ok := strings.CutPrefix(experiment, kind); ok && n != "" && strings.Trim(n, "0123456789") == "" {
			return i
		}
	}
	return 2
}
