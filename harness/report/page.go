package report

import (
	"bytes"
	"cmp"
	_ "embed"
	"html/template"
	"slices"
	"strings"
	"time"

	"dgkip/harness/method"
	"dgkip/harness/report/sheet"
)

var (
	//go:embed page.css
	css string
	//go:embed page.tmpl
	pageText string
	//go:embed page.js
	script string

	pages = template.Must(template.New("pages").Funcs(template.FuncMap{"capital": capital}).Parse(pageText))
)

// section is an experiment as the page shows it.
type section struct {
	ID, Title, About, Name, Profile, Progress, Selection string
	Problems                                             []string
	Tables                                               []titledTable
	Figures                                              []figure
	Cells                                                []cellView
	NotRun                                               []string // names of cells without runs

	methods []method.Info
	runs    []Run
}

// titledTable is a table with its heading and the files with its numbers.
type titledTable struct {
	Heading string
	Table   template.HTML
	Files   []string // in the folder of tables
}

// section returns the section of an experiment, for a page in folder dir, with the figures drawn.
func (r *Results) section(figures []figure, dir string) section {
	s := section{ID: r.stem(), Title: r.Spec.Title, About: r.Spec.About, Name: r.Spec.Name, Profile: r.Spec.Profile,
		Progress: r.progressText(), Selection: r.selection(), Problems: r.Problems, Figures: figures, runs: r.distinct()}
	for i, t := range r.sheets {
		switch {
		case i == 0:
			s.Tables = append(s.Tables, titledTable{"", t.HTML(), []string{r.stem() + ".csv", r.stem() + "-runs.csv"}})
		case t != nil:
			heading := capital(strings.TrimPrefix(t.Title, r.Spec.Title+": "))
			s.Tables = append(s.Tables, titledTable{heading, t.HTML(), []string{r.stem() + tables[i].numbers + ".csv"}})
		}
	}
	for _, c := range r.Cells {
		s.methods = append(s.methods, c.Cell.Method().Info())
		if c.state() == sheet.NotRun {
			s.NotRun = append(s.NotRun, r.placeName(c.Cell))
			continue
		}
		s.Cells = append(s.Cells, r.cellView(c, dir))
	}
	return s
}

// page returns the page of all experiments, with the paper's own tables and figures first. It needs
// the files of the report, but no network. The script sorts, filters and overlays; everything can
// be read without it. The date and the commit come from the newest record, so that the same records
// give the same page. With underWay, it loads itself again every minute.
func page(sections []section, underWay bool) []byte {
	slices.SortStableFunc(sections, func(a, b section) int { return cmp.Compare(paperRank(a.Name), paperRank(b.Name)) })
	view := struct {
		Title, Date, Commit string
		UnderWay            bool
		CSS                 template.CSS
		Script              template.JS
		Sections            []section
		Methods             []method.Info
	}{Title: "Results", UnderWay: underWay, CSS: template.CSS(css), Script: template.JS(script), Sections: sections}
	if len(sections) == 1 {
		view.Title = sections[0].Title
	}
	var runs []Run
	for _, s := range sections {
		runs = append(runs, s.runs...)
		for _, info := range s.methods {
			if !slices.ContainsFunc(view.Methods, func(m method.Info) bool { return m.Name == info.Name }) {
				view.Methods = append(view.Methods, info)
			}
		}
	}
	if finished, commit := newest(runs); !finished.IsZero() {
		view.Date, view.Commit = finished.Format(time.DateOnly), commit
	}
	var b bytes.Buffer
	if err := pages.ExecuteTemplate(&b, "page", view); err != nil {
		panic("report: " + err.Error()) // the template and the fields do not fit each other
	}
	return b.Bytes()
}

// paperRank puts experiments named after tables of the paper first, then those named after
// figures, then the rest.
func paperRank(experiment string) int {
	for i, kind := range []string{"table", "figure"} {
		if n, ok := strings.CutPrefix(experiment, kind); ok && n != "" && strings.Trim(n, "0123456789") == "" {
			return i
		}
	}
	return 2
}
