package report

import (
	"fmt"
	"path/filepath"
	"slices"
	"sync"

	"dgkip/harness/experiment"
	"dgkip/harness/report/chart"
	"dgkip/harness/store"
)

// Report lists what was written.
type Report struct {
	Results  []*Results // one for every experiment
	Files    []string   // written, or unchanged
	Page     string     // the page among the files
	Problems []string   // what is missing from the report or looks wrong
	LeftOut  []error    // why files were not written
}

// Write writes tables/, figures/ and index.html into a folder, from the records in the store. It
// leaves a page alone that another program wrote, and replaces all other files.
//
// A file name begins with the experiment, followed by the profile unless it is the default. The
// main table adds nothing to it. Further tables add -reproduced, -pairs or -claims, the numbers of
// all runs add -runs, the published numbers -comparison, and a figure adds its name.
// With o.Set and o.Only, -set and -selection come first, and the page is index-selection.html, so
// that the files of the whole experiment stay. Files with such names are deleted if their tables or
// figures have no content now.
func Write(dir string, specs []*experiment.Spec, st *store.Store, o Options) (*Report, error) {
	x, out := newReader(st), &Report{}
	for _, s := range specs {
		out.Results = append(out.Results, x.load(s, o))
	}
	w := &writer{dir: dir}
	var sections []section
	parts := make([]written, len(out.Results))
	var wg sync.WaitGroup
	for i, r := range out.Results {
		wg.Go(func() { parts[i] = r.write(dir) })
	}
	wg.Wait()
	for _, part := range parts {
		w.puts, w.removed = append(w.puts, part.puts...), append(w.removed, part.removed...)
		sections = append(sections, part.section)
	}
	if w.ours(pageName(o), pageSign) {
		out.Page = filepath.Join(dir, pageName(o))
		w.put(pageName(o), page(sections, o.UnderWay))
	}
	if pageName(o) == wholePage && w.ours(crateName, crateSign) {
		w.put(crateName, crate(sections, w.puts))
	}
	w.write()
	out.LeftOut = w.leftOut
	for _, o := range w.puts {
		out.Files = append(out.Files, filepath.Join(dir, o.name))
	}
	for _, r := range out.Results {
		out.Problems = with(out.Problems, r.Problems...)
	}
	return out, w.err
}

// written is what an experiment contributes to the report.
type written struct {
	*writer
	section section
}

// write collects the files of an experiment, and its section of the page in a folder.
func (r *Results) write(dir string) written {
	w := &writer{dir: dir}
	var figures []shown
	if len(r.Cells) > 0 { // otherwise the selection has none of its cells
		w.tables(r)
		figures = w.figures(r)
	}
	return written{w, r.section(figures, dir)}
}

func pageName(o Options) string {
	if !o.Only.Empty() || len(o.Set) > 0 {
		return "index-selection.html"
	}
	return wholePage
}

const wholePage = "index.html"

// writer collects files, and writes them until the first error.
type writer struct {
	dir     string
	puts    []output
	removed []string
	leftOut []error
	err     error
}

func (w *writer) tables(r *Results) {
	stem := "tables/" + r.stem()
	for i, t := range tables {
		s := r.sheets[i]
		if s == nil {
			w.remove(stem + t.name + ".tex")
			w.remove(stem + t.name + ".md")
			w.remove(stem + t.numbers + ".csv")
			continue
		}
		w.put(stem+t.name+".tex", s.Latex(r.source()))
		w.put(stem+t.name+".md", s.Markdown())
		w.put(stem+t.numbers+".csv", t.csv(r))
	}
	w.put(stem+"-runs.csv", r.runsCSV())
}

// figures collects the figures, and returns those that were drawn.
func (w *writer) figures(r *Results) []shown {
	var out []shown
	for _, f := range r.Spec.Figures {
		v, p := r.shown(f)
		file := "figures/" + v.Name + "."
		if p == nil {
			for _, format := range append(slices.Clone(chart.Formats), "tex") {
				w.remove(file + format)
			}
			continue
		}
		w.put(file+"tex", figureLatex(v, r.source(), v.pdf()))
		for _, format := range chart.Formats {
			w.put(file+format, chart.Render(p, format))
		}
		out = append(out, v)
	}
	return out
}

// put adds a file to write.
func (w *writer) put(name string, content []byte) {
	w.puts = append(w.puts, output{name, content})
}

// ours reports whether a file may be replaced, because no other program wrote it.
func (w *writer) ours(name, sign string) bool {
	err := foreign(filepath.Join(w.dir, name), sign)
	if err != nil {
		w.leftOut = append(w.leftOut, err)
	}
	return err == nil
}

// remove adds a file of an earlier report to remove.
func (w *writer) remove(name string) { w.removed = append(w.removed, name) }

func (w *writer) fail(err error) {
	w.err = fmt.Errorf("cannot write the report: %w\nhint: the records are safe; when the cause is gone, -collect writes the report without computing anything", err)
}
