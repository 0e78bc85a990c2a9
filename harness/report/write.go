package report

import (
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
}

// Write writes tables/, figures/ and index.html into a folder, from the records in the store. It
// replaces files of the same names, but no page or RO-Crate of another program (see InTheWay).
//
// A file name begins with the experiment, followed by the profile unless it is the default. The
// main table adds nothing to it. Further tables add -reproduced, -pairs or -claims, the numbers of
// all runs add -runs, the published numbers -comparison, and a figure adds its name.
// With o.Set and o.Only, -set and -selection precede these endings, and the page is index-selection.html, so
// that the files of the whole experiment stay. Files with such names are deleted if their tables or
// figures have no content now.
func Write(dir string, specs []*experiment.Spec, st *store.Store, o Options) (*Report, error) {
	x, out := newReader(st), &Report{}
	for _, s := range specs {
		out.Results = append(out.Results, x.load(s, o))
	}
	w := &writer{dir: dir}
	sections, parts := make([]section, len(out.Results)), make([]writer, len(out.Results))
	var wg sync.WaitGroup
	for i, r := range out.Results {
		wg.Go(func() { sections[i] = parts[i].section(r, dir) })
	}
	wg.Wait()
	for _, part := range parts {
		w.puts, w.removed = append(w.puts, part.puts...), append(w.removed, part.removed...)
	}
	w.put(pageName(o), page(sections, o.UnderWay))
	if pageName(o) == wholePage {
		w.put(crateName, crate(sections, w.puts))
	}
	err := InTheWay(dir, o)
	if err == nil {
		err = w.write()
	}
	if err == nil {
		out.Page = filepath.Join(dir, pageName(o))
	}
	for _, o := range w.puts {
		out.Files = append(out.Files, filepath.Join(dir, o.name))
	}
	for _, r := range out.Results {
		out.Problems = with(out.Problems, r.Problems...)
	}
	return out, err
}

// section collects the files of an experiment, and returns its section of the page in a folder.
func (w *writer) section(r *Results, dir string) section {
	var figures []figure
	if len(r.Cells) > 0 { // otherwise the selection has none of its cells
		w.tables(r)
		figures = w.figures(r)
	}
	return r.section(figures, dir)
}

// wholePage is the page of whole experiments.
const wholePage = "index.html"

func pageName(o Options) string {
	if !o.Only.Empty() || len(o.Set) > 0 {
		return "index-selection.html"
	}
	return wholePage
}

// writer collects the files of a report, and writes them.
type writer struct {
	dir     string
	puts    []output
	removed []string
}

func (w *writer) tables(r *Results) {
	stem := "tables/" + r.stem()
	for i, t := range tables {
		s := r.sheets[i]
		if s == nil {
			w.remove(stem+t.name+".tex", stem+t.name+".md", stem+t.numbers+".csv")
			continue
		}
		w.put(stem+t.name+".tex", s.Latex(r.source()))
		w.put(stem+t.name+".md", s.Markdown())
		w.put(stem+t.numbers+".csv", t.csv(r))
	}
	w.put(stem+"-runs.csv", r.runsCSV())
}

// figures collects the figures, and returns those that were drawn. A figure with nothing to show is
// a problem unless a selection leaves out all of its cells.
func (w *writer) figures(r *Results) []figure {
	var out []figure
	for _, f := range r.Spec.Figures {
		v := r.figure(f)
		file := "figures/" + v.Name + "."
		if v.picture == nil {
			if r.options.Only.Empty() || r.only(f.Only) != nil {
				what := list(slices.Concat(f.Y, f.Y2))
				if what != "" {
					what = ": " + what
				}
				r.problem("figure %s of %s: no record has what it shows%s", f.Name, r.Spec.Name, what)
			}
			for _, format := range append(slices.Clone(chart.Formats), "tex") {
				w.remove(file + format)
			}
			continue
		}
		w.put(file+"tex", v.latex(r.source(), v.pdf()))
		for _, format := range chart.Formats {
			w.put(file+format, chart.Render(v.picture, format))
		}
		out = append(out, v)
	}
	return out
}

// put adds a file to write.
func (w *writer) put(name string, content []byte) {
	w.puts = append(w.puts, output{name, content})
}

// remove adds files of an earlier report to remove.
func (w *writer) remove(names ...string) { w.removed = append(w.removed, names...) }
