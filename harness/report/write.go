package report

import (
	"bytes"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"dgkip/harness/exhibit"
	"dgkip/harness/report/chart"
	"dgkip/harness/report/sheet"
	"dgkip/harness/store"
)

// Outcome says what a report consists of.
type Outcome struct {
	Results  []*Results // one for every experiment
	Files    []string   // written, or found to be right already
	Page     string     // the page among the files
	Problems []string   // what stood in the way of a complete report
}

// Write writes tables/, figures/ and index.html in a folder, from the records in
// the store. Every file appears at once with all its content or stays as it was.
//
// Names are an experiment's, with the profile behind it unless that is the default one,
// and then with what the file holds: the table itself has nothing, further ones
// -reproduced, -verdicts, -elsewhere, -pairs, -claims, -evidence and -parts, the data of all runs
// -runs, that of the published numbers -comparison, and figures their names. What o.Only
// selects has -selection in between, and the page is index-selection.html: the files of
// the whole stay as they were. Files of a table or figure that there is nothing to show
// of any more are removed.
func Write(dir string, specs []*exhibit.Spec, st *store.Store, o Options) (*Outcome, error) {
	x, out := newReader(st), &Outcome{}
	w := &writer{dir: dir}
	var sections []section
	for _, s := range specs {
		r := x.load(s, o)
		out.Results = append(out.Results, r)
		var figures []shown
		if len(r.Cells) > 0 || o.Only.Empty() { // else the selection is of other experiments
			w.tables(r)
			figures = w.figures(r)
		}
		sections = append(sections, r.section(figures, dir))
	}
	name := "index.html"
	if !o.Only.Empty() {
		name = "index-selection.html"
	}
	out.Page = filepath.Join(dir, name)
	w.put(name, page(sections))
	out.Files = w.files
	for _, r := range out.Results {
		out.Problems = with(out.Problems, r.Problems...)
	}
	return out, w.err
}

// writer writes files until the first error.
type writer struct {
	dir   string
	files []string // written, or right already
	err   error
}

func (w *writer) tables(r *Results) {
	if len(r.Cells) == 0 {
		return
	}
	stem := "tables/" + r.stem()
	w.sheet(r.sheets[0], r.source())
	w.put(stem+".csv", r.tableCSV())
	w.put(stem+"-runs.csv", r.runsCSV())
	for _, f := range furtherTables {
		s := r.further(f.name)
		if s == nil {
			for _, format := range []string{"tex", "md", "csv"} {
				w.remove(stem + "-" + f.name + "." + format)
			}
			continue
		}
		w.sheet(s, r.source())
		if f.csv != nil {
			w.put(stem+"-"+f.name+".csv", f.csv(r))
		}
	}
	if len(r.Published) > 0 {
		w.put(stem+"-comparison.csv", r.comparisonCSV())
	} else {
		w.remove(stem + "-comparison.csv")
	}
}

func (w *writer) sheet(s *sheet.Sheet, source string) {
	w.put("tables/"+s.Name+".tex", s.Latex(source))
	w.put("tables/"+s.Name+".md", s.Markdown())
}

// figures writes the figures and returns those that there is something to show of.
func (w *writer) figures(r *Results) []shown {
	var out []shown
	for _, f := range r.Spec.Figures {
		v, p := r.shown(f)
		file := "figures/" + v.Name + "."
		if p == nil {
			for _, format := range append([]string{"tex"}, chart.Formats...) {
				w.remove(file + format)
			}
			continue
		}
		for _, format := range chart.Formats {
			b, err := chart.Render(p, format)
			if err != nil {
				r.problem("figure %s: %v", f.Name, err)
				w.remove(file + format)
				continue
			}
			w.put(file+format, b)
		}
		w.put(file+"tex", figureLatex(v, r.source(), v.pdf()))
		out = append(out, v)
	}
	return out
}

// put writes a file unless it has the content already.
func (w *writer) put(name string, content []byte) {
	if w.err != nil {
		return
	}
	file := filepath.Join(w.dir, name)
	w.files = append(w.files, file)
	if err := WriteFile(file, content); err != nil {
		w.fail(err)
	}
}

// remove removes a file of an earlier report, which this one has nothing for.
func (w *writer) remove(name string) {
	if w.err != nil {
		return
	}
	if err := os.Remove(filepath.Join(w.dir, name)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		w.fail(err)
	}
}

func (w *writer) fail(err error) {
	w.err = fmt.Errorf("cannot write the report: %w\nhint: the records are safe; when the cause is gone, -collect writes the report without computing anything", err)
}

// WriteFile writes a file under another name and renames it into place, unless it has the
// content already. Its folder need not be there.
func WriteFile(file string, content []byte) error {
	if old, err := os.ReadFile(file); err == nil && bytes.Equal(old, content) {
		return nil
	}
	dir := filepath.Dir(file)
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return err
	}
	f, err := os.OpenFile(filepath.Join(dir, ".new-"+rand.Text()), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	if err != nil {
		return err
	}
	defer os.Remove(f.Name())
	_, err = f.Write(content)
	if err := errors.Join(err, f.Sync(), f.Close()); err != nil {
		return err
	}
	return os.Rename(f.Name(), file)
}
